// Breakthrough: rows from the top, `w` and `b`, then the side to move; an action is `a2-a3`, or `a2xb3` for a capture.
import { CELL, count, rowsOf } from "arena/grid.js";

const EDGE = 20, LETTERS = "abcdefghijklmno";

export const style = `
  .light { fill: light-dark(#f1ead9, #4a4d55); }
  .dark { fill: light-dark(#cdb98f, #33363d); }
  .piece { stroke-width: 1.6; }
  .piece-w { fill: light-dark(#ffffff, #f2efe8); stroke: light-dark(#7b6a45, #8d8672); }
  .piece-b { fill: light-dark(#2e3138, #15171b); stroke: light-dark(#0d0e11, #9097a5); }
`;

export function parse(text) {
  const [board, mover] = text.trim().split(" ");
  return { rows: rowsOf(board, "wb."), mover };
}

export function extent({ rows }) {
  return { width: rows[0].length * CELL + EDGE, height: rows.length * CELL + EDGE, most: "30rem" };
}

// The row and the column of a square such as `a2`.
function place(square, rows) {
  return [rows.length - Number(square.slice(1)), LETTERS.indexOf(square[0])];
}

export function draw(scene, { rows }, { last }) {
  rows.forEach((marks, row) => {
    scene.put("ground", `n${row}`, "text", { class: "coordinate", x: EDGE / 2, y: row * CELL + CELL / 2, text: String(rows.length - row) });
    marks.forEach((mark, column) => {
      const at = [EDGE + column * CELL, row * CELL];
      scene.put("ground", `${row},${column}`, "rect", { class: (row + column) % 2 ? "dark" : "light", at, width: CELL, height: CELL });
      if (mark !== ".") scene.put("pieces", `${row},${column}`, "circle", { class: `piece piece-${mark}`, at, cx: 20, cy: 20, r: 14 });
    });
  });
  rows[0].forEach((_, column) => {
    scene.put("ground", `l${column}`, "text", { class: "coordinate", x: EDGE + column * CELL + CELL / 2, y: rows.length * CELL + EDGE / 2, text: LETTERS[column] });
  });
  for (const square of last ? last.split(/[-x]/) : []) {
    const [row, column] = place(square, rows);
    scene.put("marks", `m${square}`, "rect", { class: "last", at: [EDGE + column * CELL, row * CELL], x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 5 });
  }
}

// A click on a piece; the page asks for one of its steps.
export function targets(actions, { rows }) {
  const from = group(actions);
  return [...from].map(([square, own]) => {
    const [row, column] = place(square, rows);
    return { key: square, row, column, x: EDGE + column * CELL, y: row * CELL, width: CELL, height: CELL, label: square, actions: own };
  });
}

function group(actions) {
  const found = new Map();
  for (const action of actions) {
    const square = action.split(/[-x]/)[0];
    found.set(square, [...(found.get(square) ?? []), action]);
  }
  return found;
}

export function describe({ rows, mover }) {
  return `${count(rows, "w")} white pieces, ${count(rows, "b")} black ones, ${mover === "w" ? "white" : "black"} to move`;
}
