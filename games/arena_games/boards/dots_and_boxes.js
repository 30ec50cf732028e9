// Dots and boxes: rows of horizontal and vertical lines in turn, the owners of the boxes, the seat to move; actions are `h12`, `v31`.
import { count } from "arena/grid.js";

const STEP = 56, EDGE = 22;

export const style = `
  .dot { fill: var(--text); }
  .drawn { stroke: var(--text); stroke-width: 5; stroke-linecap: round; }
  .newest { stroke: var(--accent); stroke-width: 5; stroke-linecap: round; }
  .open { stroke: var(--line); stroke-width: 2; stroke-dasharray: 3 5; }
  .box-a { fill: var(--x); opacity: 0.35; }
  .box-b { fill: var(--o); opacity: 0.35; }
  .owner { fill: var(--text); font-size: 20px; text-anchor: middle; dominant-baseline: central; }
`;

export function parse(text) {
  const [lines, boxes, mover] = text.trim().split(" ");
  const rows = lines.split("/").map((row) => [...row]);
  if (rows.length % 2 === 0) throw new Error("expected a board of boxes");
  return { rows, boxes: boxes.split("/").map((row) => [...row]), mover };
}

export function extent({ boxes }) {
  return { width: boxes[0].length * STEP + 2 * EDGE, height: boxes.length * STEP + 2 * EDGE, most: "28rem" };
}

export function draw(scene, { rows, boxes }, { last }) {
  boxes.forEach((owners, row) => owners.forEach((owner, column) => {
    if (owner === ".") return;
    const at = [EDGE + column * STEP, EDGE + row * STEP];
    scene.put("ground", `box ${row},${column}`, "rect", { class: `box-${owner}`, at, width: STEP, height: STEP });
    scene.put("over", `owner ${row},${column}`, "text", { class: "owner", at, x: STEP / 2, y: STEP / 2, text: owner });
  }));
  rows.forEach((marks, number) => marks.forEach((mark, column) => {
    const flat = number % 2 === 0, row = Math.floor(number / 2), name = `${flat ? "h" : "v"}${row + 1}${column + 1}`;
    const x = EDGE + column * STEP, y = EDGE + row * STEP;
    const kind = mark === "." ? "open" : name === last ? "newest" : "drawn";
    scene.put(mark === "." ? "ground" : "marks", name, "line", { class: kind, x1: x, y1: y, x2: flat ? x + STEP : x, y2: flat ? y : y + STEP });
  }));
  for (let row = 0; row <= boxes.length; row++) {
    for (let column = 0; column <= boxes[0].length; column++) {
      scene.put("over", `dot ${row},${column}`, "circle", { class: "dot", cx: EDGE + column * STEP, cy: EDGE + row * STEP, r: 5 });
    }
  }
}

// Around the middle of a line, next to its dots.
export function targets(actions) {
  return actions.map((action) => {
    const flat = action[0] === "h", row = Number(action[1]) - 1, column = Number(action[2]) - 1;
    const x = EDGE + column * STEP + (flat ? 10 : -16), y = EDGE + row * STEP + (flat ? -16 : 10);
    const [width, height] = flat ? [STEP - 20, 32] : [32, STEP - 20];
    return { key: action, row: 2 * row + (flat ? 0 : 1), column, x, y, width, height, label: action, actions: [action] };
  });
}

export function describe({ boxes, mover }) {
  return `${count(boxes, "a")} boxes of a, ${count(boxes, "b")} of b, ${count(boxes, ".")} open, ${mover} to move`;
}
