// N queens: the rows from 1 by column, `-` for the empty board; an action is the row of the queen in the next column.
import { CELL, square } from "arena/grid.js";

const DRAWN = 64;
const PLOT = 512;
const CROWN = "M9 31h22v-3H9zM9.5 26 7 13l7.5 6L20 9l5.5 10L33 13l-2.5 13z";

export const style = `
  .square-light { fill: light-dark(#f2ede2, #5b6270); }
  .square-dark { fill: light-dark(#cbbfa8, #3b414d); }
  .queen { fill: light-dark(#23252b, #f4f1ea); }
  .queen-given { fill: light-dark(#6a5d45, #b9c3d6); }
  .queen-attacked { fill: light-dark(#a3170f, #ff9a8f); }
  .attack { stroke: light-dark(#c2271d, #ff7d70); stroke-width: 2.4; stroke-dasharray: 6 5; stroke-linecap: round; pointer-events: none; }
  .last { fill: light-dark(#9db8ef, #47639f); }
`;

export function parse(text, game) {
  const words = text.trim() === "-" ? [] : text.trim().split(/\s+/);
  const queens = words.map(Number);
  const n = game.parameters.n ?? Math.max(queens.length, 1);
  if (queens.some((row) => !(row >= 1 && row <= n)) || queens.length > n) throw new Error("a queen is off the board");
  return { queens, n };
}

export function extent({ n }) {
  return n > DRAWN ? { width: PLOT, height: PLOT } : { width: n * CELL, height: n * CELL };
}

export function draw(scene, board, context) {
  if (board.n > DRAWN) plot(scene, board);
  else squares(scene, board, context);
}

function squares(scene, { queens, n }, { start, last }) {
  scene.put("ground", "light", "rect", { class: "square-light", width: n * CELL, height: n * CELL });
  let dark = "";
  for (let row = 0; row < n; row++) {
    for (let column = (row + 1) % 2; column < n; column += 2) dark += `M${column * CELL} ${row * CELL}h${CELL}v${CELL}h-${CELL}z`;
  }
  scene.put("ground", "dark", "path", { class: "square-dark", d: dark });
  const given = start && start.queens.length < n ? start.queens.length : 0;
  const pairs = attacked(queens);
  const attacking = new Set(pairs.flat());
  queens.forEach((row, column) => {
    const at = [column * CELL, (row - 1) * CELL];
    const kind = attacking.has(column) ? "queen queen-attacked" : column < given ? "queen queen-given" : "queen";
    if (column === queens.length - 1 && last === String(row)) scene.put("marks", "last", "rect", { class: "last", at, width: CELL, height: CELL });
    scene.put("pieces", `q${column}`, "path", { class: kind, at, d: CROWN });
  });
  for (const [one, two] of pairs) {
    scene.put("over", `p${one}-${two}`, "line", {
      class: "attack", x1: (one + 0.5) * CELL, x2: (two + 0.5) * CELL, y1: (queens[one] - 0.5) * CELL, y2: (queens[two] - 0.5) * CELL,
    });
  }
}

// Pairs of columns whose queens attack each other with no queen between them.
function attacked(queens) {
  const pairs = [];
  for (const line of [(row) => row, (row, column) => row + column, (row, column) => row - column]) {
    const before = new Map();
    queens.forEach((row, column) => {
      const key = line(row, column);
      if (before.has(key)) pairs.push([before.get(key), column]);
      before.set(key, column);
    });
  }
  return pairs;
}

function plot(scene, { queens, n }) {
  const scale = PLOT / n, side = Math.max(scale, 2);
  scene.put("ground", "light", "rect", { class: "square-light", width: PLOT, height: PLOT });
  const dots = queens.map((row, column) => `M${(column * scale).toFixed(1)} ${((row - 1) * scale).toFixed(1)}h${side}v${side}h-${side}z`);
  scene.put("pieces", "all", "path", { class: "queen", d: dots.join("") });
}

export function targets(actions, { queens, n }) {
  if (n > DRAWN) return [];
  return actions.map((action) => square(Number(action) - 1, queens.length, `queen in column ${queens.length + 1} on row ${action}`, [action]));
}

export function describe({ queens, n }) {
  const pairs = attacked(queens).length;
  const said = pairs === 0 ? "no two attack each other" : pairs === 1 ? "one pair attacks each other" : `${pairs} pairs attack each other`;
  return `${queens.length} queens on a board of ${n} by ${n}, ${said}`;
}
