// Sudoku: the cells row by row, `.` for an empty one; an action is `r1c2=7`.
import { CELL, square } from "arena/grid.js";

export const style = `
  .paper { fill: var(--surface); }
  .given { fill: var(--raised); }
  .may-square { fill: var(--accent-soft); }
  .line-thin { stroke: var(--line); stroke-width: 1; }
  .line-thick { stroke: var(--edge); stroke-width: 2; stroke-linecap: square; }
  .digit { font-size: 21px; pointer-events: none; }
  .digit-given { fill: var(--text); font-weight: 640; }
  .digit-filled { fill: var(--accent); font-weight: 480; }
  .digit-clash { fill: var(--bad); font-weight: 700; text-decoration: underline; }
`;

export function parse(text, game) {
  const cells = [...text.trim()];
  const side = Math.round(Math.sqrt(cells.length));
  const box = game.parameters.box ?? Math.round(Math.sqrt(side));
  if (side * side !== cells.length || box * box !== side) throw new Error("expected a grid of boxes");
  return { cells, side, box };
}

export function extent({ side }) {
  return { width: side * CELL + 4, height: side * CELL + 4 };
}

export function draw(scene, { cells, side, box }, { start, last, actions }) {
  const edge = side * CELL;
  scene.put("ground", "back", "rect", { class: "paper", x: 2, y: 2, width: edge, height: edge });
  for (let n = 0; n <= side; n++) {
    const kind = n % box ? "line-thin" : "line-thick";
    const layer = n % box ? "marks" : "over";
    scene.put(layer, `r${n}`, "line", { class: kind, x1: 2, x2: edge + 2, y1: 2 + n * CELL, y2: 2 + n * CELL });
    scene.put(layer, `c${n}`, "line", { class: kind, y1: 2, y2: edge + 2, x1: 2 + n * CELL, x2: 2 + n * CELL });
  }
  const conflicts = clashes(cells, side, box);
  const open = new Set((actions ?? []).map((action) => placeOf(action).join()));
  cells.forEach((mark, cell) => {
    const row = Math.floor(cell / side), column = cell % side;
    const at = [2 + column * CELL, 2 + row * CELL];
    const given = start ? start.cells[cell] !== "." : true;
    if (given && mark !== ".") scene.put("ground", `g${cell}`, "rect", { class: "given", at, width: CELL, height: CELL });
    if (last?.startsWith(`r${row + 1}c${column + 1}=`)) scene.put("ground", `l${cell}`, "rect", { class: "last", at, width: CELL, height: CELL });
    else if (open.has(`${row},${column}`)) scene.put("ground", `o${cell}`, "rect", { class: "may-square", at, width: CELL, height: CELL });
    if (mark === ".") return;
    const kind = conflicts.has(cell) ? "digit digit-clash" : given ? "digit digit-given" : "digit digit-filled";
    scene.put("pieces", `d${cell}`, "text", { class: kind, at, x: CELL / 2, y: CELL / 2 + 1, text: mark });
  });
}

// Cells whose digit stands twice in a row, a column or a box.
function clashes(cells, side, box) {
  const found = new Set(), seen = new Map();
  cells.forEach((mark, cell) => {
    if (mark === ".") return;
    const row = Math.floor(cell / side), column = cell % side;
    const block = Math.floor(row / box) * box + Math.floor(column / box);
    for (const key of [`r${row} ${mark}`, `c${column} ${mark}`, `b${block} ${mark}`]) {
      if (seen.has(key)) found.add(cell).add(seen.get(key));
      seen.set(key, cell);
    }
  });
  return found;
}

function placeOf(action) {
  const [, row, column] = /^r(\d+)c(\d+)=/.exec(action) ?? [];
  return [Number(row) - 1, Number(column) - 1];
}

export function targets(actions) {
  const cells = new Map();
  for (const action of actions) {
    const [row, column] = placeOf(action);
    const target = cells.get(`${row},${column}`) ?? square(row, column, `row ${row + 1}, column ${column + 1}`, [], 2, 2);
    target.actions.push(action);
    target.keys = { ...target.keys, [action.split("=")[1]]: action };
    cells.set(target.key, target);
  }
  for (const target of cells.values()) target.label += `: ${Object.keys(target.keys).join(" or ")}`;
  return [...cells.values()];
}

export function describe({ cells, side, box }) {
  const filled = cells.filter((mark) => mark !== ".").length;
  const wrong = clashes(cells, side, box).size ? ", with contradictions" : "";
  return `${filled} of ${cells.length} cells are filled${wrong}`;
}
