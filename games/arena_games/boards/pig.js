// Pig: `40:35 +12 a`, both scores, the points gathered and the seat; with a `?` behind while the die is rolling.
import { CELL } from "arena/grid.js";

const WIDTH = 6 * CELL, ROW = 46, LEFT = 14, LENGTH = WIDTH - 2 * LEFT;
const PIPS = { 1: [[0, 0]], 2: [[-1, -1], [1, 1]], 3: [[-1, -1], [0, 0], [1, 1]], 4: [[-1, -1], [1, 1], [-1, 1], [1, -1]] };
PIPS[5] = [...PIPS[4], [0, 0]];
PIPS[6] = [...PIPS[4], [-1, 0], [1, 0]];

export const style = `
  .track { fill: light-dark(#e4e6ec, #2a2f39); }
  .scored-a { fill: var(--x); }
  .scored-b { fill: var(--o); }
  .gathered { fill: var(--accent); opacity: 0.45; }
  .seat-name { fill: var(--text); font-size: 14px; text-anchor: start; dominant-baseline: central; }
  .seat-score { fill: var(--text); font-size: 17px; font-weight: 640; text-anchor: end; dominant-baseline: central; }
  .die { fill: light-dark(#ffffff, #e9e7e1); stroke: var(--edge); stroke-width: 1.4; }
  .pip { fill: #23262d; }
  .die-text { fill: #23262d; font-size: 20px; font-weight: 640; text-anchor: middle; dominant-baseline: central; }
  .turn-text { fill: var(--text); font-size: 14px; text-anchor: start; dominant-baseline: central; }
  .choice { fill: var(--raised); stroke: var(--edge); stroke-width: 1.2; }
  .choice-text { fill: var(--text); font-size: 14px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text) {
  const [, first, second, gathered, seat, rolling] = /^(\d+):(\d+) \+(\d+) ([ab])(\??)$/.exec(text.trim());
  return { scores: [Number(first), Number(second)], gathered: Number(gathered), seat: seat === "a" ? 0 : 1, rolling: rolling === "?" };
}

export function extent() {
  return { width: WIDTH, height: 2 * ROW + 3 * CELL, most: "26rem" };
}

const goal = (game) => game.parameters.target ?? 100;
const over = (model, game) => model.scores.some((score) => score >= goal(game));

export function draw(scene, model, { game, last, chance, actions }) {
  const target = goal(game);
  model.scores.forEach((score, seat) => {
    const top = 6 + seat * ROW, name = "ab"[seat];
    const moving = seat === model.seat && !over(model, game);
    scene.put("ground", `n${name}`, "text", { class: "seat-name", x: LEFT, y: top + 10, text: `${name}${moving ? " ◂" : ""}` });
    scene.put("ground", `s${name}`, "text", { class: "seat-score", x: WIDTH - LEFT, y: top + 10, text: String(score) });
    scene.put("ground", `t${name}`, "rect", { class: "track", x: LEFT, y: top + 24, width: LENGTH, height: 12, rx: 6 });
    const reach = (points) => (LENGTH * Math.min(points, target)) / target;
    if (moving && model.gathered) scene.put("marks", "gathered", "rect", { class: "gathered", x: LEFT, y: top + 24, width: reach(score + model.gathered), height: 12, rx: 6 });
    if (score) scene.put("marks", `p${name}`, "rect", { class: `scored-${name}`, x: LEFT, y: top + 24, width: reach(score), height: 12, rx: 6 });
  });
  die(scene, model, Number(chance.at(-1) ?? last));
  const words = over(model, game) ? `${model.scores[0] >= target ? "a" : "b"} has won` : `${model.gathered} gathered`;
  scene.put("ground", "turn", "text", { class: "turn-text", x: LEFT + 56, y: 2 * ROW + 32, text: words });
  if (!actions) return;
  ["roll", "hold"].forEach((action, place) => {
    if (!actions.includes(action)) return;
    const { x, y, width, height } = button(place);
    scene.put("marks", action, "rect", { class: "choice", x, y, width, height, rx: 8 });
    scene.put("over", action, "text", { class: "choice-text", x: x + width / 2, y: y + height / 2, text: action });
  });
}

// The face that was thrown last, or a question mark while the die is in the air.
function die(scene, model, face) {
  const at = [LEFT, 2 * ROW + 10];
  scene.put("pieces", "die", "rect", { class: "die", at, width: 44, height: 44, rx: 8 });
  const known = !model.rolling && face > 0;
  if (known && PIPS[face]) {
    PIPS[face].forEach(([x, y], n) => scene.put("over", `pip${n}`, "circle", { class: "pip", at, cx: 22 + 11 * x, cy: 22 + 11 * y, r: 4 }));
  } else {
    scene.put("over", "face", "text", { class: "die-text", at, x: 22, y: 23, text: model.rolling ? "?" : known ? String(face) : "" });
  }
}

function button(place) {
  const width = (LENGTH - 12) / 2;
  return { x: LEFT + place * (width + 12), y: 2 * ROW + 2 * CELL - 12, width, height: 44 };
}

export function targets(actions) {
  return ["roll", "hold"].flatMap((action, place) => {
    if (!actions.includes(action)) return [];
    return [{ key: action, row: 0, column: place, ...button(place), label: action, actions: [action] }];
  });
}

export function describe(model, game) {
  const scores = `a has ${model.scores[0]} of ${goal(game)}, b has ${model.scores[1]}`;
  if (over(model, game)) return `${scores}, ${model.scores[0] >= goal(game) ? "a" : "b"} has won`;
  return `${scores}, ${"ab"[model.seat]} has gathered ${model.gathered}${model.rolling ? " and rolls" : ""}`;
}
