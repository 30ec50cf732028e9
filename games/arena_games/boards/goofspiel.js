// Goofspiel: `7:2<5 3:4=4 9`, turns with a prize and two bids, ? where one is hidden, then the prize that is up; an action is a card.
// Once seat a has bid, `chosen ["6"]: ` stands before it, or null for a bid that is hidden.

const CARD = { width: 34, height: 46, rx: 5 }, STEP = 38, EDGE = 30;
const ROWS = { 1: 10, prize: 66, 0: 122, hand: 190 };

export const style = `
  .cloth { fill: light-dark(#3f8f68, #245440); }
  .bid-card { fill: light-dark(#ffffff, #f1efe9); stroke: #00000040; stroke-width: 1; }
  .bid-won { stroke: light-dark(#f0b429, #f7c948); stroke-width: 3; }
  .bid-prize { fill: light-dark(#fde8b0, #e9cf86); }
  .bid-up { stroke: #20232a; stroke-width: 2.4; }
  .bid-back { fill: light-dark(#3b5b92, #35507f); stroke: #ffffff66; stroke-width: 1.5; }
  .bid-rank { fill: #20232a; font-size: 17px; font-weight: 640; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .bid-seat { fill: #ffffff; font-size: 15px; font-weight: 640; text-anchor: middle; dominant-baseline: central; }
  .bid-score { fill: var(--text); font-size: 14px; text-anchor: start; dominant-baseline: central; }
  .bid-choice { fill: var(--raised); stroke: var(--edge); stroke-width: 1.2; }
  .bid-choice-text { fill: var(--text); font-size: 17px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text, game) {
  const [, before, played] = text.trim().match(/^(?:chosen (\[.*?\]): )?(.*)$/);
  const words = played === "-" ? [] : played.split(/\s+/);
  const up = /^\d+$/.test(words.at(-1) ?? "") ? words.pop() : null;
  const turns = words.map((word) => {
    const found = word.match(/^(\d+):(\d+|\?)([<=>])(\d+|\?)$/);
    if (!found) throw new Error(`expected a turn such as 7:2<5, got ${word}`);
    return { prize: found[1], bids: [found[2], found[4]], winner: { "<": 1, "=": null, ">": 0 }[found[3]] };
  });
  return { turns, up, chosen: before ? JSON.parse(before).map((bid) => bid ?? "?") : [], cards: game.parameters.cards ?? 13 };
}

export function extent({ cards }) {
  return { width: EDGE + cards * STEP + 6, height: 246, most: "40rem" };
}

function place(column, row) {
  return [EDGE + column * STEP, ROWS[row]];
}

// The prizes that a seat has won.
function won({ turns }, seat) {
  return turns.filter(({ winner }) => winner === seat).reduce((sum, { prize }) => sum + Number(prize), 0);
}

export function draw(scene, model, { actions }) {
  const { width } = extent(model);
  scene.put("ground", "cloth", "rect", { class: "cloth", width, height: 176, rx: 10 });
  for (const seat of [0, 1]) scene.put("over", `n${seat}`, "text", { class: "bid-seat", x: EDGE / 2, y: ROWS[seat] + 23, text: "ab"[seat] });
  model.turns.forEach(({ prize, bids, winner }, turn) => {
    card(scene, `p${turn}`, place(turn, "prize"), prize, "bid-card bid-prize");
    for (const seat of [0, 1]) card(scene, `b${seat}-${turn}`, place(turn, seat), bids[seat], `bid-card${winner === seat ? " bid-won" : ""}`);
  });
  const turn = model.turns.length;
  if (model.up) card(scene, `p${turn}`, place(turn, "prize"), model.up, "bid-card bid-prize bid-up");
  model.chosen.forEach((bid, seat) => card(scene, `b${seat}-${turn}`, place(turn, seat), bid, "bid-card"));
  actions?.forEach((action) => {
    if (!/^\d+$/.test(action)) return;
    const [x, y] = place(Number(action) - 1, "hand");
    scene.put("marks", `h${action}`, "rect", { class: "bid-choice", x, y, ...CARD });
    scene.put("over", `h${action}`, "text", { class: "bid-choice-text", x: x + CARD.width / 2, y: y + CARD.height / 2, text: action });
  });
  if (!actions?.length) scene.put("over", "score", "text", { class: "bid-score", x: EDGE, y: 208, text: `a ${won(model, 0)} : ${won(model, 1)} b` });
}

// A card with its number, or its back.
function card(scene, key, at, number, kind) {
  const hidden = number === "?";
  const sort = hidden ? kind.replace("bid-card", "bid-back") : kind;
  scene.put("pieces", key, "rect", { class: sort, at, ...CARD });
  if (!hidden) scene.put("over", key, "text", { class: "bid-rank", at, x: CARD.width / 2, y: CARD.height / 2, text: number });
}

export function targets(actions) {
  return actions.map((action) => {
    const [x, y] = place(Number(action) - 1, "hand");
    return { key: action, row: 0, column: Number(action) - 1, x, y, width: CARD.width, height: CARD.height, label: `bid ${action}`, actions: [action] };
  });
}

export function describe(model) {
  const score = `a has won ${won(model, 0)}, b ${won(model, 1)}`;
  const turns = model.turns.map(({ prize, bids, winner }) => `${prize}: ${bids.map((bid) => (bid === "?" ? "hidden" : bid)).join(" to ")}, ${winner === null ? "discarded" : `to ${"ab"[winner]}`}`);
  return [score, model.up ? `the prize is ${model.up}` : "", ...turns].filter(Boolean).join("; ");
}
