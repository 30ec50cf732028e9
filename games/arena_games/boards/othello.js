// Othello: rows from the top, then who is to move; an action is a square such as `d3`, or `pass`.
import { CELL, count, rowsOf, square } from "arena/grid.js";

const LETTERS = "abcdefgh";
const EDGE = 18;

export const style = `
  .cloth { fill: light-dark(#3f8f68, #2d6a4d); }
  .seam { stroke: light-dark(#2b6b4c, #1d4a35); stroke-width: 1.2; }
  .disc { stroke: #0000004d; stroke-width: 1; transition: fill 0.25s; }
  .disc-x { fill: #17181b; }
  .disc-o { fill: #f6f4ee; }
  .last-dot { fill: #e0534a; stroke: #ffffff; stroke-width: 1; }
  .may { fill: #ffffff59; }
`;

export function parse(text) {
  const [board, mover] = text.trim().split(" ");
  return { rows: rowsOf(board, "xo."), mover };
}

export function extent({ rows }) {
  return { width: rows.length * CELL + EDGE + 4, height: rows.length * CELL + EDGE + 4 };
}

export function draw(scene, { rows }, { last, actions }) {
  const size = rows.length, side = size * CELL;
  scene.put("ground", "back", "rect", { class: "cloth", x: EDGE, y: EDGE, width: side, height: side });
  for (let n = 0; n <= size; n++) {
    scene.put("ground", `r${n}`, "line", { class: "seam", x1: EDGE, x2: EDGE + side, y1: EDGE + n * CELL, y2: EDGE + n * CELL });
    scene.put("ground", `c${n}`, "line", { class: "seam", y1: EDGE, y2: EDGE + side, x1: EDGE + n * CELL, x2: EDGE + n * CELL });
    if (n === size) break;
    scene.put("ground", `a${n}`, "text", { class: "coordinate", x: EDGE + (n + 0.5) * CELL, y: 9, text: LETTERS[n] });
    scene.put("ground", `n${n}`, "text", { class: "coordinate", x: 8, y: EDGE + (n + 0.5) * CELL, text: String(n + 1) });
  }
  rows.forEach((marks, row) => marks.forEach((mark, column) => {
    const at = [EDGE + column * CELL, EDGE + row * CELL];
    const name = `${LETTERS[column]}${row + 1}`;
    if (mark !== ".") scene.put("pieces", name, "circle", { class: mark === "x" ? "disc disc-x" : "disc disc-o", at, cx: 20, cy: 20, r: 16 });
    if (name === last) scene.put("over", `l${name}`, "circle", { class: "last-dot", at, cx: 20, cy: 20, r: 4 });
    if (mark === "." && actions?.includes(name)) scene.put("over", `m${name}`, "circle", { class: "may", at, cx: 20, cy: 20, r: 5 });
  }));
}

export function targets(actions) {
  return actions.filter((action) => action !== "pass").map((action) => {
    const column = LETTERS.indexOf(action[0]), row = Number(action.slice(1)) - 1;
    return square(row, column, action, [action], EDGE, EDGE);
  });
}

export function describe({ rows, mover }) {
  return `${count(rows, "x")} discs of x, dark, ${count(rows, "o")} of o, light, ${mover} to move`;
}
