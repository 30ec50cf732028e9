// Tic-tac-toe: `x../.o./...`, an action is a cell from 1, row by row.
import { CELL, count, lines, rowsOf, square } from "arena/grid.js";

export const style = `
  .felt { fill: var(--raised); }
  .rule { stroke: var(--edge); stroke-width: 1.4; stroke-linecap: round; }
  .cross { fill: none; stroke: var(--x); stroke-width: 4.5; stroke-linecap: round; }
  .nought { fill: none; stroke: var(--o); stroke-width: 4.5; }
`;

export function parse(text) {
  return rowsOf(text, "xo.");
}

export function extent(rows) {
  return { width: rows[0].length * CELL, height: rows.length * CELL, most: "23rem" };
}

export function draw(scene, rows, { game, last }) {
  const { width, height } = extent(rows);
  scene.put("ground", "back", "rect", { class: "felt", width, height, rx: 6 });
  for (let row = 1; row < rows.length; row++) {
    scene.put("ground", `r${row}`, "line", { class: "rule", x1: 4, x2: width - 4, y1: row * CELL, y2: row * CELL });
  }
  for (let column = 1; column < rows[0].length; column++) {
    scene.put("ground", `c${column}`, "line", { class: "rule", y1: 4, y2: height - 4, x1: column * CELL, x2: column * CELL });
  }
  const won = lines(rows, game.parameters.in_a_row ?? 3);
  rows.forEach((marks, row) => marks.forEach((mark, column) => {
    const at = [column * CELL, row * CELL];
    const number = row * marks.length + column + 1;
    if (won.has(`${row},${column}`)) scene.put("marks", `w${number}`, "rect", { class: "won", at, x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 5 });
    else if (String(number) === last) scene.put("marks", `l${number}`, "rect", { class: "last", at, x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 5 });
    if (mark === "x") scene.put("pieces", `x${number}`, "path", { class: "cross", at, d: "M12 12 28 28M28 12 12 28" });
    if (mark === "o") scene.put("pieces", `o${number}`, "circle", { class: "nought", at, cx: 20, cy: 20, r: 9.5 });
  }));
}

export function targets(actions, rows) {
  const columns = rows[0].length;
  return actions.map((action) => {
    const cell = Number(action) - 1, row = Math.floor(cell / columns), column = cell % columns;
    return square(row, column, `row ${row + 1}, column ${column + 1}`, [action]);
  });
}

export function describe(rows, game) {
  if (lines(rows, game.parameters.in_a_row ?? 3).size) return `${count(rows, "x") > count(rows, "o") ? "x" : "o"} has won`;
  if (!count(rows, ".")) return "a draw";
  return `${count(rows, "x") === count(rows, "o") ? "x" : "o"} to move`;
}
