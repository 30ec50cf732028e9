// Hex: rows from the top, each half a cell farther right; an action is a cell such as `c2`. x joins top and bottom, o left and right.
import { count, rowsOf } from "arena/grid.js";

const WIDE = 40, HIGH = 34.64, EDGE = 26;
const LETTERS = "abcdefghijklmnopqrs";
const CORNERS = [[0, -23.09], [20, -11.55], [20, 11.55], [0, 23.09], [-20, 11.55], [-20, -11.55]];

export const style = `
  .cell { fill: light-dark(#efe9dc, #2a2d33); stroke: light-dark(#b9ad94, #4a4f58); stroke-width: 1.5; }
  .side { fill: none; stroke-width: 6; stroke-linecap: round; stroke-linejoin: round; }
  .side-x { stroke: light-dark(#c2410c, #f08a4b); }
  .side-o { stroke: light-dark(#1d4fae, #7aa7f7); }
  .stone { stroke: #00000040; stroke-width: 1; }
  .stone-x { fill: light-dark(#c2410c, #f08a4b); }
  .stone-o { fill: light-dark(#1d4fae, #7aa7f7); }
  .newest { fill: none; stroke: light-dark(#ffffff, #14161a); stroke-width: 2.5; }
  .path { fill: light-dark(#f3d27a, #6d5a1f); stroke: light-dark(#b9ad94, #4a4f58); stroke-width: 1.5; }
`;

export function parse(text) {
  const rows = rowsOf(text, "xo.");
  if (rows.length !== rows[0].length) throw new Error("expected a square board");
  return rows;
}

// The middle of a cell.
function middle(row, column) {
  return [EDGE + (column + row / 2 + 0.5) * WIDE, EDGE + (row + 0.5) * HIGH + 6];
}

export function extent(rows) {
  const size = rows.length;
  const [x, y] = middle(size - 1, size - 1);
  return { width: x + WIDE / 2 + EDGE, height: y + HIGH / 2 + EDGE, most: "40rem" };
}

export function draw(scene, rows, { last }) {
  const won = joined(rows);
  rows.forEach((marks, row) => marks.forEach((mark, column) => {
    const at = middle(row, column), name = LETTERS[column] + (row + 1);
    scene.put("ground", name, "polygon", { class: won.has(name) ? "path" : "cell", at, points: CORNERS.join(" ") });
    if (mark !== ".") scene.put("pieces", name, "circle", { class: `stone stone-${mark}`, at, r: 14 });
    if (name === last) scene.put("over", "newest", "circle", { class: "newest", at, r: 7 });
  }));
  sides(scene, rows.length);
}

// The four sides in the colours of their players, with letters and numbers.
function sides(scene, size) {
  const outline = { top: [], bottom: [], left: [], right: [] };
  for (let n = 0; n < size; n++) {
    outline.top.push(...around(0, n, [5, 0, 1]));
    outline.bottom.push(...around(size - 1, n, [4, 3, 2]));
    outline.left.push(...around(n, 0, [5, 4, 3]));
    outline.right.push(...around(n, size - 1, [0, 1, 2]));
    const [x, top] = middle(0, n), [left, y] = middle(n, 0);
    scene.put("ground", `letter ${n}`, "text", { class: "coordinate", x: x - 8, y: top - 33, text: LETTERS[n] });
    scene.put("ground", `number ${n}`, "text", { class: "coordinate", x: left - 32, y: y + 4, text: String(n + 1) });
  }
  for (const [side, points] of Object.entries(outline)) {
    const mark = side === "top" || side === "bottom" ? "x" : "o";
    scene.put("marks", side, "polyline", { class: `side side-${mark}`, points: points.join(" ") });
  }
}

// Some corners of a cell.
function around(row, column, corners) {
  const [x, y] = middle(row, column);
  return corners.map((corner) => [x + CORNERS[corner][0], y + CORNERS[corner][1]]);
}

// The cells of the group that joins the sides of its player; none as long as play goes on.
function joined(rows) {
  const size = rows.length, ends = { x: (row) => row === size - 1, o: (_, column) => column === size - 1 };
  for (const mark of "xo") {
    const found = new Map();
    const open = rows.map((_, n) => (mark === "x" ? [0, n] : [n, 0]));
    while (open.length) {
      const [row, column] = open.pop(), name = LETTERS[column] + (row + 1);
      if (rows[row]?.[column] !== mark || found.has(name)) continue;
      found.set(name, [row, column]);
      for (const [down, right] of [[0, 1], [0, -1], [1, 0], [-1, 0], [1, -1], [-1, 1]]) open.push([row + down, column + right]);
    }
    if ([...found.values()].some((place) => ends[mark](...place))) return new Set(found.keys());
  }
  return new Set();
}

export function targets(actions) {
  return actions.map((action) => {
    const column = LETTERS.indexOf(action[0]), row = Number(action.slice(1)) - 1;
    const [x, y] = middle(row, column);
    return { key: action, row, column, x: x - 17, y: y - 17, width: 34, height: 34, label: action, actions: [action] };
  });
}

export function describe(rows) {
  return `${rows.length} by ${rows.length}; ${count(rows, "x")} stones of x, top to bottom, ${count(rows, "o")} of o, left to right`;
}
