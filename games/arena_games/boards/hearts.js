// Hearts: four hands joined by |, `?13` for a hidden one, then who led first and the cards that were played, `/ 0: 2C KC`, or `/ -` in the deal.

const CARD = { width: 33, height: 44, rx: 5 }, STEP = 36, LEFT = 62, ROW = 52;
const RANKS = "23456789TJQKA", SUITS = { C: "♣", D: "♦", H: "♥", S: "♠" };
const TRICK = 4 * ROW + 16;

export const style = `
  .cloth { fill: light-dark(#3f8f68, #245440); }
  .card { fill: light-dark(#ffffff, #f1efe9); stroke: #00000040; stroke-width: 1; }
  .card-open { stroke: light-dark(#f0b429, #f7c948); stroke-width: 3; }
  .card-back { fill: light-dark(#3b5b92, #35507f); stroke: #ffffff66; stroke-width: 1.5; }
  .rank { fill: #20232a; font-size: 15px; font-weight: 640; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .rank-red { fill: #b3261e; }
  .seat { fill: #ffffff; font-size: 13px; text-anchor: start; dominant-baseline: central; }
  .seat-moving { font-weight: 700; }
`;

export function parse(text) {
  const [hands, played] = text.trim().split(" / ");
  const found = hands.split("|").map((hand) => (hand === "-" ? [] : hand.startsWith("?") ? Array(Number(hand.slice(1))).fill("?") : hand.split(" ")));
  const [first, cards] = played === "-" ? [null, ""] : played.split(":");
  const all = cards.trim() ? cards.trim().split(" ") : [];
  if (found.length !== 4 || [...found.flat(), ...all].some((card) => card !== "?" && !(RANKS.includes(card[0]) && SUITS[card[1]]))) throw new Error("expected four hands and cards such as QS");
  return { hands: found, ...replayed(first === null ? null : Number(first), all) };
}

// Who leads the trick that is under way, what was played to it and before, and the points of each seat.
function replayed(first, all) {
  const points = [0, 0, 0, 0];
  let leader = first, last = [];
  for (let start = 0; start + 4 <= all.length; start += 4) {
    const trick = all.slice(start, start + 4);
    last = trick.map((card, place) => [(leader + place) % 4, card]);
    leader = last.filter(([, card]) => card[1] === trick[0][1]).reduce((best, one) => (RANKS.indexOf(one[1][0]) > RANKS.indexOf(best[1][0]) ? one : best))[0];
    points[leader] += trick.reduce((sum, card) => sum + (card === "QS" ? 13 : card[1] === "H" ? 1 : 0), 0);
  }
  const open = all.slice(all.length - (all.length % 4)).map((card, place) => [(leader + place) % 4, card]);
  const mover = leader === null || all.length === 52 ? null : (leader + open.length) % 4;
  return { points, trick: open.length ? open : last, mover };
}

export function extent() {
  return { width: LEFT + 13 * STEP + 6, height: TRICK + CARD.height + 30, most: "40rem" };
}

export function draw(scene, model, { actions }) {
  const { width, height } = extent();
  scene.put("ground", "cloth", "rect", { class: "cloth", width, height, rx: 10 });
  model.hands.forEach((hand, seat) => {
    const y = 8 + seat * ROW;
    scene.put("over", `n${seat}`, "text", { class: `seat${seat === model.mover ? " seat-moving" : ""}`, x: 8, y: y + 22, text: `${"abcd"[seat]}${seat === model.mover ? " ◂" : ""}  ${model.points[seat]}` });
    hand.forEach((mark, place) => card(scene, mark === "?" ? `${seat}-${place}` : mark, [LEFT + place * STEP, y], mark, seat === model.mover && actions?.includes(mark)));
  });
  model.trick.forEach(([seat, mark], place) => {
    const at = [LEFT + place * 2 * STEP, TRICK];
    scene.put("over", `w${place}`, "text", { class: "seat", at, x: 12, y: CARD.height + 14, text: "abcd"[seat] });
    card(scene, mark, at, mark, false);
  });
}

function card(scene, key, at, mark, open) {
  const hidden = mark === "?";
  scene.put("pieces", `c${key}`, "rect", { class: hidden ? "card-back" : `card${open ? " card-open" : ""}`, at, ...CARD });
  if (!hidden) scene.put("over", `t${key}`, "text", { class: `rank${"DH".includes(mark[1]) ? " rank-red" : ""}`, at, x: CARD.width / 2, y: CARD.height / 2, text: (mark[0] === "T" ? "10" : mark[0]) + SUITS[mark[1]] });
}

export function targets(actions, model) {
  const hand = model.mover === null ? [] : model.hands[model.mover];
  return actions.filter((action) => hand.includes(action)).map((action) => {
    const place = hand.indexOf(action);
    return { key: action, row: model.mover, column: place, x: LEFT + place * STEP, y: 8 + model.mover * ROW, width: CARD.width, height: CARD.height, label: action, actions: [action] };
  });
}

export function describe(model) {
  const trick = model.trick.map(([seat, mark]) => `${"abcd"[seat]} ${mark}`).join(", ");
  return [`points ${model.points.join(", ")}`, trick ? `trick ${trick}` : "", model.mover === null ? "" : `${"abcd"[model.mover]} to move`].filter(Boolean).join("; ");
}
