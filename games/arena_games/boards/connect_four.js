// Connect four: rows from the top, `x` and `o`; an action is a column from 1.
import { CELL, count, lines, rowsOf } from "arena/grid.js";

export const style = `
  .layer-pieces > *, .layer-over > * { transition: transform 0.34s cubic-bezier(0.5, 0, 0.9, 0.6); }
  .rack { fill: light-dark(#c9d2e3, #343c4d); }
  .hole { fill: var(--surface); }
  .stone { stroke: light-dark(#00000026, #00000059); stroke-width: 1; }
  .stone-x { fill: light-dark(#0f73b5, #3f9fe0); }
  .stone-o { fill: light-dark(#f0a13a, #f2b25c); }
  .stone-sign { fill: none; stroke: light-dark(#ffffffa6, #10141da6); stroke-width: 2.2; stroke-linecap: round; }
  .won-ring { fill: none; stroke: var(--text); stroke-width: 3; }
  .last-ring { fill: none; stroke: var(--text); stroke-width: 1.6; stroke-dasharray: 3 3; }
`;

export function parse(text) {
  return rowsOf(text, "xo.");
}

export function extent(rows) {
  return { width: rows[0].length * CELL + 8, height: rows.length * CELL + 26 };
}

export function draw(scene, rows, { game, last }) {
  const columns = rows[0].length;
  scene.put("ground", "back", "rect", { class: "rack", y: 18, width: columns * CELL + 8, height: rows.length * CELL + 8, rx: 10 });
  const won = lines(rows, game.parameters.in_a_row ?? 4);
  for (let column = 0; column < columns; column++) {
    scene.put("ground", `n${column}`, "text", { class: "coordinate", x: 4 + column * CELL + CELL / 2, y: 11, text: String(column + 1) });
    const top = rows.findIndex((marks) => marks[column] !== ".");
    rows.forEach((marks, row) => {
      const at = [4 + column * CELL, 22 + row * CELL];
      const place = `${row},${column}`;
      scene.put("marks", `h${place}`, "circle", { class: "hole", at, cx: 20, cy: 20, r: 16 });
      if (marks[column] === ".") return;
      const from = [at[0], 22 - CELL];
      const kind = marks[column] === "x" ? "stone-x" : "stone-o";
      scene.put("pieces", `${marks[column]}${place}`, "circle", { class: `stone ${kind}`, at, from, cx: 20, cy: 20, r: 16 });
      scene.put("over", `i${marks[column]}${place}`, marks[column] === "x" ? "path" : "circle", {
        class: "stone-sign", at, from, ...(marks[column] === "x" ? { d: "M15 15 25 25M25 15 15 25" } : { cx: 20, cy: 20, r: 6 }),
      });
      if (won.has(place)) scene.put("over", `w${place}`, "circle", { class: "won-ring", at, cx: 20, cy: 20, r: 17 });
      else if (row === top && String(column + 1) === last) scene.put("over", `l${place}`, "circle", { class: "last-ring", at, cx: 20, cy: 20, r: 17 });
    });
  }
}

export function targets(actions, rows) {
  return actions.map((action) => {
    const column = Number(action) - 1;
    return {
      key: action, row: 0, column, x: 4 + column * CELL, y: 18, width: CELL, height: rows.length * CELL + 8,
      label: `column ${action}`, actions: [action],
    };
  });
}

export function describe(rows, game) {
  if (lines(rows, game.parameters.in_a_row ?? 4).size) return `${count(rows, "x") > count(rows, "o") ? "x" : "o"} has won`;
  if (!count(rows, ".")) return "a draw";
  return `${count(rows, "x") === count(rows, "o") ? "x" : "o"} to move`;
}
