// Chess: a FEN, and the moves since then behind `moves`; an action is a move such as `e2e4` or `e7e8q`.
import { CELL, square } from "arena/grid.js";

const LETTERS = "abcdefgh";
const EDGE = 18;
const GLYPHS = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };

export const style = `
  .pale { fill: light-dark(#efe3cf, #8d8672); }
  .dusk { fill: light-dark(#b58a62, #5a5042); }
  .from-to { fill: #e8c53a66; }
  .man { font-size: 34px; text-anchor: middle; dominant-baseline: central; }
  .man-w { fill: #ffffff; stroke: #17181b; stroke-width: 1; }
  .man-b { fill: #17181b; stroke: #ffffff66; stroke-width: 0.6; }
  .may { fill: #2456c677; }
`;

const place = (name) => [8 - Number(name[1]), LETTERS.indexOf(name[0])];

// No move behind `moves` takes anything or is a pawn's: those begin a text anew. A king that goes two files has castled.
function move(rows, text) {
  const [[r, c], [s, d]] = [place(text.slice(0, 2)), place(text.slice(2, 4))];
  const man = rows[r][c];
  rows[s][d] = man;
  rows[r][c] = "";
  if (man.toLowerCase() === "k" && Math.abs(c - d) === 2) {
    const [corner, beside] = d > c ? [7, d - 1] : [0, d + 1];
    rows[r][beside] = rows[r][corner];
    rows[r][corner] = "";
  }
}

export function parse(text) {
  const [fen, moves] = text.split(" moves ");
  const [men, first] = fen.split(" ");
  const rows = men.split("/").map((row) => [...row].flatMap((mark) => (/\d/.test(mark) ? Array(Number(mark)).fill("") : [mark])));
  const played = moves ? moves.split(" ") : [];
  played.forEach((one) => move(rows, one));
  return { rows, mover: (first === "w") === (played.length % 2 === 0) ? "white" : "black" };
}

export function extent() {
  return { width: 8 * CELL + EDGE + 4, height: 8 * CELL + EDGE + 4 };
}

export function draw(scene, { rows }, { last, actions }) {
  const marked = last ? [last.slice(0, 2), last.slice(2, 4)] : [];
  rows.forEach((men, row) => {
    scene.put("ground", `n${row}`, "text", { class: "coordinate", x: 8, y: (row + 0.5) * CELL, text: String(8 - row) });
    scene.put("ground", `a${row}`, "text", { class: "coordinate", x: EDGE + (row + 0.5) * CELL, y: 8 * CELL + 9, text: LETTERS[row] });
    men.forEach((man, column) => {
      const [x, y, name] = [EDGE + column * CELL, row * CELL, `${LETTERS[column]}${8 - row}`];
      const side = { x, y, width: CELL, height: CELL };
      scene.put("ground", `s${name}`, "rect", { class: (row + column) % 2 ? "dusk" : "pale", ...side });
      if (marked.includes(name)) scene.put("ground", `t${name}`, "rect", { class: "from-to", ...side });
      if (man) {
        const color = man === man.toUpperCase() ? "man man-w" : "man man-b";
        scene.put("pieces", name, "text", { class: color, x: x + CELL / 2, y: y + CELL / 2, text: GLYPHS[man.toLowerCase()] });
      }
      const may = actions?.some((action) => action.slice(0, 2) === name);
      if (may) scene.put("over", `m${name}`, "circle", { class: "may", cx: x + CELL - 6, cy: y + 6, r: 3 });
    });
  });
}

// A click on a man offers its moves; all of them stand below the board, too.
export function targets(actions) {
  const groups = new Map();
  for (const action of actions) groups.set(action.slice(0, 2), [...(groups.get(action.slice(0, 2)) ?? []), action]);
  return [...groups].map(([name, group]) => {
    const [row, column] = place(name);
    return square(row, column, `${name}: ${group.length === 1 ? group[0] : `${group.length} moves`}`, group, EDGE, 0);
  });
}

export function describe({ rows, mover }) {
  const men = (from, to) => rows.flat().filter((man) => man >= from && man <= to).length;
  return `${men("A", "Z")} men of white, ${men("a", "z")} of black, ${mover} to move`;
}
