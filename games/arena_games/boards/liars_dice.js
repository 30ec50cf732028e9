// Liar's dice: `136 ???: 1x2 2x5 liar`, the dice of both seats, then what was said; an action is a bid or `liar`.
import { CELL, square } from "arena/grid.js";

const DIE = 30, ROW = 40, LEFT = 30, TOP = 2 * ROW + 8, BUTTON = 44;
const PIPS = {
  1: [[0, 0]], 2: [[-1, -1], [1, 1]], 3: [[-1, -1], [0, 0], [1, 1]], 4: [[-1, -1], [1, 1], [-1, 1], [1, -1]],
  5: [[-1, -1], [1, 1], [-1, 1], [1, -1], [0, 0]], 6: [[-1, -1], [1, 1], [-1, 1], [1, -1], [-1, 0], [1, 0]],
};

export const style = `
  .die { fill: light-dark(#ffffff, #e9e7e1); stroke: var(--edge); stroke-width: 1.2; }
  .die-hidden { fill: light-dark(#3b5b92, #35507f); stroke: #ffffff66; stroke-width: 1.2; }
  .pip { fill: #23262d; }
  .die-text { fill: #23262d; font-size: 15px; font-weight: 640; }
  .seat-name { fill: var(--text); font-size: 14px; }
  .bid { fill: var(--raised); stroke: var(--line); stroke-width: 1; }
  .bid-0 { fill: light-dark(#d5e6f5, #1f4560); }
  .bid-1 { fill: light-dark(#f8e0cf, #5a3a1c); }
  .bid-last { stroke: var(--accent); stroke-width: 1.8; }
  .bid-text { fill: var(--text); font-size: 13px; pointer-events: none; }
  .bid-past { fill: var(--dim); }
`;

export function parse(text, game) {
  const [thrown, words = ""] = text.trim().split(":");
  const dice = thrown.split(" ").filter(Boolean).map((roll) => [...roll]);
  const said = words.split(" ").filter(Boolean);
  if (dice.length > 2 || said.some((word) => word !== "liar" && !/^\d+x\d$/.test(word))) throw new Error("expected dice and bids");
  return { dice, said, most: 2 * (game.parameters.dice ?? 1), sides: game.parameters.sides ?? 6 };
}

export function extent({ most, sides }) {
  const width = Math.max(sides * CELL, LEFT + (most / 2) * (DIE + 6));
  return { width, height: TOP + most * CELL + BUTTON + 8, most: "23rem" };
}

const over = ({ said }) => said.at(-1) === "liar";

export function draw(scene, model, { actions }) {
  const { width } = extent(model);
  const moving = model.dice.length === 2 && !over(model) ? model.said.length % 2 : null;
  [0, 1].forEach((seat) => {
    scene.put("ground", `n${seat}`, "text", { class: "seat-name", x: 14, y: seat * ROW + 20, text: `${"ab"[seat]}${seat === moving ? " ◂" : ""}` });
    model.dice[seat]?.forEach((face, n) => die(scene, `${seat},${n}`, [LEFT + n * (DIE + 6), seat * ROW + 5], face));
  });
  const last = model.said.findLast((word) => word !== "liar");
  for (let row = 0; row < model.most; row++) {
    for (let face = 1; face <= model.sides; face++) {
      const bid = `${row + 1}x${face}`, turn = model.said.indexOf(bid), at = [(face - 1) * CELL, TOP + row * CELL];
      const past = turn < 0 && actions && !actions.includes(bid) ? " bid-past" : "";
      const kind = turn < 0 ? "bid" : `bid bid-${turn % 2}${bid === last ? " bid-last" : ""}`;
      scene.put("ground", bid, "rect", { class: kind, at, x: 1.5, y: 1.5, width: CELL - 3, height: CELL - 3, rx: 5 });
      scene.put("over", bid, "text", { class: `bid-text${past}`, at, x: CELL / 2, y: CELL / 2, text: bid });
    }
  }
  if (!actions?.includes("liar") && !over(model)) return;
  const y = TOP + model.most * CELL + 4;
  scene.put("ground", "liar", "rect", { class: over(model) ? `bid bid-${(model.said.length - 1) % 2}` : "bid", x: 1.5, y, width: width - 3, height: BUTTON, rx: 6 });
  scene.put("over", "liar", "text", { class: "bid-text", x: width / 2, y: y + BUTTON / 2, text: "liar" });
}

function die(scene, key, at, face) {
  scene.put("pieces", `d${key}`, "rect", { class: face === "?" ? "die-hidden" : "die", at, width: DIE, height: DIE, rx: 6 });
  if (PIPS[face]) PIPS[face].forEach(([x, y], n) => scene.put("over", `p${key},${n}`, "circle", { class: "pip", at, cx: 15 + 8 * x, cy: 15 + 8 * y, r: 2.8 }));
  else if (face !== "?") scene.put("over", `t${key}`, "text", { class: "die-text", at, x: 15, y: 15, text: face });
}

export function targets(actions, model) {
  const { width } = extent(model);
  return actions.map((action) => {
    if (action === "liar") {
      return { key: action, row: model.most, column: 0, x: 0, y: TOP + model.most * CELL + 4, width, height: BUTTON, label: action, actions: [action] };
    }
    const [count, face] = action.split("x").map(Number);
    return square(count - 1, face - 1, `${count} of face ${face}`, [action], 0, TOP);
  });
}

export function describe(model) {
  const hands = model.dice.map((roll, seat) => `${"ab"[seat]} has ${roll.includes("?") ? `${roll.length} dice` : roll.join(" ")}`);
  const said = model.said.map((word, turn) => `${"ab"[turn % 2]} says ${word}`);
  return [...hands, said.join(", ") || "nothing said yet"].join("; ");
}
