// Kuhn and Leduc poker: `JK:pb` and `J1Q2K1:crc/r`, the cards as they were dealt, then what was done in each round.
import { CELL } from "arena/grid.js";

const WIDTH = 7.5 * CELL, CARD = { width: 46, height: 64, rx: 6 };
const WORDS = { p: "pass", b: "bet", c: "call", r: "raise", f: "fold" };
const PLACES = { 0: [16, 118], 1: [16, 14], 2: [127, 66] };
const SUITS = { 1: "♠", 2: "♥" };

export const style = `
  .cloth { fill: light-dark(#3f8f68, #245440); }
  .card { fill: light-dark(#ffffff, #f1efe9); stroke: #00000040; stroke-width: 1; }
  .card-back { fill: light-dark(#3b5b92, #35507f); stroke: #ffffff66; stroke-width: 1.5; }
  .card-none { fill: none; stroke: #ffffff4d; stroke-width: 1.2; stroke-dasharray: 4 4; }
  .rank { fill: #20232a; font-size: 24px; font-weight: 660; text-anchor: middle; dominant-baseline: central; }
  .rank-red { fill: #b3261e; }
  .suit { font-size: 15px; }
  .said { fill: #ffffff; font-size: 13px; text-anchor: start; dominant-baseline: central; }
  .said-moving { font-weight: 680; }
  .choice { fill: var(--raised); stroke: var(--edge); stroke-width: 1.2; }
  .choice-text { fill: var(--text); font-size: 14px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text, game) {
  const [dealt, done] = text.trim().split(":");
  const leduc = game.name === "leduc-poker";
  const cards = leduc ? dealt.match(/../g) ?? [] : [...dealt];
  const rounds = leduc ? done.split("/") : [done];
  if (cards.some((card) => !"JQK?".includes(card[0])) || rounds.some((letters) => [...letters].some((letter) => !WORDS[letter]))) throw new Error("unknown card or action");
  return { leduc, cards, rounds };
}

export function extent() {
  return { width: WIDTH, height: 252, most: "27rem" };
}

// What a seat has done, round after round.
function said({ rounds }, seat) {
  return rounds.map((letters) => [...letters].filter((_, turn) => turn % 2 === seat).map((letter) => WORDS[letter]).join(", ")).filter(Boolean).join(" · ");
}

// The chips that both seats have put in: an ante each, and what their actions cost.
function chips({ rounds }) {
  const put = [1, 1];
  rounds.forEach((letters, round) => [...letters].forEach((letter, turn) => {
    const most = Math.max(...put);
    if (letter === "b") put[turn % 2] += 1;
    if (letter === "c") put[turn % 2] = most;
    if (letter === "r") put[turn % 2] = most + (round ? 4 : 2);
  }));
  return put;
}

// Who is to move: nobody while cards are dealt, and at the end.
function mover({ leduc, cards, rounds }) {
  const letters = leduc && cards.length === 3 ? rounds[1] : rounds[0];
  const ended = leduc ? /f$|cc$|rc$/.test(letters) : /^(pp|bp|bb|pbp|pbb)$/.test(letters);
  return cards.length < 2 || ended ? null : letters.length % 2;
}

export function draw(scene, model, { actions }) {
  scene.put("ground", "cloth", "rect", { class: "cloth", width: WIDTH, height: 196, rx: 10 });
  const put = chips(model), moving = mover(model);
  for (const seat of [0, 1, ...(model.leduc ? [2] : [])]) card(scene, seat, model.cards[seat]);
  for (const seat of [0, 1]) {
    const [x, y] = PLACES[seat], left = x + 58;
    const words = said(model, seat);
    scene.put("over", `s${seat}`, "text", { class: `said${seat === moving ? " said-moving" : ""}`, x: left, y: y + (seat ? 14 : 36), text: `${"ab"[seat]}${seat === moving ? " ◂" : ""}   ${put[seat]} in` });
    scene.put("over", `d${seat}`, "text", { class: "said", x: left, y: y + (seat ? 32 : 54), text: words });
  }
  actions?.forEach((action, place) => {
    const { x, y, width, height } = button(place, actions.length);
    scene.put("marks", action, "rect", { class: "choice", x, y, width, height, rx: 8 });
    scene.put("over", action, "text", { class: "choice-text", x: x + width / 2, y: y + height / 2, text: action });
  });
}

function card(scene, seat, mark) {
  const at = PLACES[seat];
  const kind = mark === undefined ? "card-none" : mark[0] === "?" ? "card-back" : "card";
  scene.put("pieces", `c${seat}`, "rect", { class: kind, at, from: [WIDTH, 66], ...CARD });
  if (kind !== "card") return;
  const red = mark[1] === "2" ? " rank-red" : "";
  scene.put("over", `r${seat}`, "text", { class: `rank${red}`, at, x: 23, y: mark[1] ? 25 : 33, text: mark[0] });
  if (mark[1]) scene.put("over", `u${seat}`, "text", { class: `rank suit${red}`, at, x: 23, y: 48, text: SUITS[mark[1]] });
}

function button(place, count) {
  const width = (WIDTH - 8 * (count - 1)) / count;
  return { x: place * (width + 8), y: 204, width, height: 44 };
}

export function targets(actions) {
  return actions.map((action, place) => ({ key: action, row: 0, column: place, ...button(place, actions.length), label: action, actions: [action] }));
}

export function describe(model) {
  const names = ["a holds", "b holds", "the public card is"];
  const cards = model.cards.map((mark, seat) => `${names[seat]} ${mark[0] === "?" ? "a card" : mark}`);
  const done = [0, 1].map((seat) => said(model, seat) && `${"ab"[seat]}: ${said(model, seat)}`);
  const moving = mover(model);
  return [...cards, ...done, moving === null ? "" : `${"ab"[moving]} to move`].filter(Boolean).join("; ");
}
