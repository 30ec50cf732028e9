// The prisoner's dilemma and rock, paper, scissors: `CC CD` and `rock-paper`, a turn after the other, `-` at first.
// Once seat a has chosen, `chosen ["C"]: ` stands before it, or null for a choice that is hidden.

const WIDTH = 460, COLUMNS = 12, STEP = 34, LEFT = 34;
const SIGNS = { rock: "✊", paper: "✋", scissors: "✌" };
const PAYOFFS = [3, 1, 0, 5];

export const style = `
  .round { fill: var(--raised); stroke: var(--edge); stroke-width: 1; }
  .round-defect { fill: light-dark(#f6c9c4, #6d2f2a); }
  .round-hidden { fill: light-dark(#3b5b92, #35507f); }
  .round-sign { fill: var(--text); font-size: 16px; font-weight: 620; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .round-label { fill: var(--text); font-size: 14px; text-anchor: start; dominant-baseline: central; }
  .choice { fill: var(--raised); stroke: var(--edge); stroke-width: 1.2; }
  .choice-text { fill: var(--text); font-size: 15px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text, game) {
  const [, before, played] = text.trim().match(/^(?:chosen (\[.*?\]): )?(.*)$/);
  const turns = played === "-" ? [] : played.split(/\s+/).map((turn) => (turn.includes("-") ? turn.split("-") : [...turn]));
  if (turns.some((turn) => turn.length !== 2 || turn.some((mark) => !SIGNS[mark] && !"CDcd?".includes(mark)))) throw new Error(`expected turns such as CC or rock-paper, got ${played}`);
  const dilemma = game.name === "prisoners-dilemma";
  return { turns, chosen: before ? JSON.parse(before) : [], payoffs: dilemma ? game.parameters.payoffs ?? PAYOFFS : null, all: game.parameters.turns ?? game.parameters.rounds };
}

export function extent() {
  return { width: WIDTH, height: 176, most: "32rem" };
}

// What a turn is worth to a seat.
function worth({ payoffs }, turn, seat) {
  const [own, other] = [turn[seat], turn[1 - seat]];
  if (!payoffs) {
    const order = Object.keys(SIGNS);
    return [0, 1, -1][(order.indexOf(own) - order.indexOf(other) + 3) % 3];
  }
  if (own === other) return payoffs[own === "C" ? 0 : 1];
  return payoffs[own === "C" ? 2 : 3];
}

function score(model, seat) {
  const done = model.turns.filter((turn) => turn.every((mark) => SIGNS[mark] || "CD".includes(mark)));
  const total = done.reduce((sum, turn) => sum + worth(model, turn, seat), 0);
  return model.payoffs ? (done.length ? total / done.length : 0).toFixed(2) : String(total);
}

export function draw(scene, model, { actions }) {
  const open = model.chosen.length ? [[model.chosen[0] ?? "?", ""]] : [];
  const all = [...model.turns, ...open], first = Math.max(0, all.length - COLUMNS);
  for (const seat of [0, 1]) {
    const y = 10 + seat * 46;
    scene.put("over", `n${seat}`, "text", { class: "round-label", x: 10, y: y + 15, text: "ab"[seat] });
    all.slice(first).forEach((turn, column) => mark(scene, `${seat}-${first + column}`, [LEFT + column * STEP, y], turn[seat]));
  }
  scene.put("over", "score", "text", { class: "round-label", x: 10, y: 108, text: `turn ${model.turns.length} of ${model.all ?? "?"}   a ${score(model, 0)} : ${score(model, 1)} b` });
  actions?.forEach((action, place) => {
    const { x, y, width, height } = button(place, actions.length);
    scene.put("marks", action, "rect", { class: "choice", x, y, width, height, rx: 8 });
    scene.put("over", action, "text", { class: "choice-text", x: x + width / 2, y: y + height / 2, text: SIGNS[action] ? `${SIGNS[action]} ${action}` : action });
  });
}

function mark(scene, key, at, sign) {
  if (sign === "") return;
  const kind = sign === "?" ? " round-hidden" : sign.toUpperCase() === "D" ? " round-defect" : "";
  scene.put("pieces", `r${key}`, "rect", { class: `round${kind}`, at, width: 30, height: 30, rx: 5 });
  if (sign !== "?") scene.put("over", `t${key}`, "text", { class: "round-sign", at, x: 15, y: 15, text: SIGNS[sign] ?? sign });
}

function button(place, count) {
  const width = (WIDTH - 8 * (count - 1)) / count;
  return { x: place * (width + 8), y: 126, width, height: 44 };
}

export function targets(actions) {
  return actions.map((action, place) => ({ key: action, row: 0, column: place, ...button(place, actions.length), label: action, actions: [action] }));
}

export function describe(model) {
  const last = model.turns.at(-1);
  return [`${model.turns.length} turns done`, last ? `last a ${last[0]}, b ${last[1]}` : "", `a ${score(model, 0)}, b ${score(model, 1)}`].filter(Boolean).join("; ");
}
