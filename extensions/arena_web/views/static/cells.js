// The board of a game that gives its states as a grid: one square for each cell with its mark, in the colours that the game
// names.
import { CELL, square } from "./grid.js";

const EDGE = 1;
const INKS = ["#000000", "#ffffff"];
const LARGEST = 64;
let palette = null;

export function parse(rows) {
  return rows;
}

export function extent(rows) {
  const columns = rows[0].length;
  return { width: columns * CELL + 2 * EDGE, height: rows.length * CELL + 2 * EDGE, most: `${columns * 5.5}rem` };
}

export function draw(scene, rows, { game, before }) {
  rows.forEach((marks, row) => marks.forEach((mark, column) => {
    const at = [EDGE + column * CELL, EDGE + row * CELL];
    const place = `${row},${column}`;
    const color = opaque(game.colors?.[mark]);
    const paper = color === null ? { class: "cell cell-plain" } : { class: "cell", fill: color };
    scene.put("ground", place, "rect", { ...paper, at, width: CELL, height: CELL });
    if (before && before[row]?.[column] !== mark) {
      const frame = color === null ? { class: "changed changed-plain" } : { class: "changed", stroke: readable(color) };
      scene.put("over", place, "rect", { ...frame, at, x: 3, y: 3, width: CELL - 6, height: CELL - 6, rx: 3 });
    }
    if (mark === "") return;
    const ink = color === null ? { class: "mark mark-plain" } : { class: "mark", fill: readable(color) };
    const size = Math.min(19, 52 / [...mark].length).toFixed(1);
    scene.put("pieces", place, "text", { ...ink, at, x: CELL / 2, y: CELL / 2 + 0.5, "font-size": size, text: mark });
  }));
}

// Return the squares that stand for actions. `cells` has the squares of each action, by its text.
export function targets(actions, rows, game, cells) {
  const found = new Map();
  for (const action of actions) {
    for (const [row, column] of cells[action] ?? []) {
      const place = `${row},${column}`;
      if (!found.has(place)) found.set(place, square(row, column, "", [], EDGE, EDGE));
      if (!found.get(place).actions.includes(action)) found.get(place).actions.push(action);
    }
  }
  return [...found.values()].map((target) => ({
    ...target,
    label: `row ${target.row + 1}, column ${target.column + 1}: ${target.actions.join(" or ")}`,
  }));
}

// Return a colour as `#rrggbb`; null if it is missing, invalid or not opaque.
function opaque(color) {
  if (color === undefined) return null;
  palette ??= document.createElement("canvas").getContext("2d");
  const found = INKS.map((other) => {
    palette.fillStyle = other; // the value stays if the next line has no valid colour
    palette.fillStyle = color;
    return palette.fillStyle;
  });
  return found[0] === found[1] && found[0].length === 7 ? found[0] : null;
}

// Return the ink with the larger contrast on a colour. The contrast is never below 4.5, as the Web Content Accessibility
// Guidelines 2 define it.
function readable(color) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const part = parseInt(color.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? INKS[0] : INKS[1];
}

export function describe(rows) {
  const size = `${rows.length} by ${rows[0].length}`;
  if (rows.length * rows[0].length <= LARGEST) return `${size}; ${rows.map((marks) => marks.map((mark) => mark || "empty").join(" ")).join(", ")}`;
  const counts = new Map();
  for (const mark of rows.flat()) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  return `${size}; ${[...counts].map(([mark, count]) => `${count} ${mark || "empty"}`).join(", ")}`;
}
