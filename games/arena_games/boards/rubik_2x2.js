// The 2x2x2 cube: the colours of the faces U, R, F, D, L, B, each row by row; actions are quarter turns such as `U` and `R'`.
import { CELL, square } from "arena/grid.js";

const PLACES = { U: [2, 0], L: [0, 2], F: [2, 2], R: [4, 2], B: [6, 2], D: [2, 4] };
const COLOURS = { U: "#f5f5f0", R: "#c8382f", F: "#2f9a4c", D: "#f2cf2b", L: "#ef8a2b", B: "#2f62c8" };
const TURNS = ["U", "U'", "R", "R'", "F", "F'"], TOP = 6.5 * CELL;

export const style = `
  .sticker { stroke: #15171b; stroke-width: 2; }
  .face { fill: none; stroke: var(--text); stroke-width: 3; }
  .turned { stroke: var(--accent); }
  .choice { fill: var(--raised); stroke: var(--edge); stroke-width: 1.2; }
  .choice-text { fill: var(--text); font-size: 15px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text) {
  const faces = text.trim().split(/\s+/);
  if (faces.length !== 6 || faces.some((face) => face.length !== 4)) throw new Error("expected six faces");
  return Object.fromEntries([..."URFDLB"].map((name, number) => [name, faces[number]]));
}

export function extent() {
  return { width: 8 * CELL, height: 8 * CELL, most: "26rem" };
}

export function draw(scene, faces, { last, actions }) {
  for (const [name, [left, top]] of Object.entries(PLACES)) {
    [...faces[name]].forEach((colour, number) => {
      const at = [(left + (number % 2)) * CELL, (top + Math.floor(number / 2)) * CELL];
      scene.put("ground", `${name}${number}`, "rect", { class: "sticker", at, width: CELL, height: CELL, fill: COLOURS[colour] });
    });
    const kind = last?.[0] === name ? "face turned" : "face";
    scene.put("marks", name, "rect", { class: kind, x: left * CELL + 1, y: top * CELL + 1, width: 2 * CELL - 2, height: 2 * CELL - 2, rx: 4 });
  }
  for (const { key, x, y, width, height, label } of actions ? targets(actions) : []) {
    scene.put("marks", `c${key}`, "rect", { class: "choice", x: x + 2, y: y + 2, width: width - 4, height: height - 4, rx: 6 });
    scene.put("over", `t${key}`, "text", { class: "choice-text", x: x + width / 2, y: y + height / 2, text: label });
  }
}

export function targets(actions) {
  return actions.map((action) => square(0, TURNS.indexOf(action), action, [action], CELL, TOP));
}

export function describe(faces) {
  return Object.entries(faces).map(([name, colours]) => `${name} ${colours}`).join(", ");
}
