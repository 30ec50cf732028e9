// TopSpin: the tokens along the ring from token 1 on, `1 3 2 4 5`; an action is the place of the first token that is reversed.
const SIZE = 320, RADIUS = 130;

export const style = `
  .ring { fill: none; stroke: light-dark(#d8d2c4, #343842); stroke-width: 34; }
  .token { fill: light-dark(#fbfaf7, #4a505d); stroke: light-dark(#8d7f63, #808794); stroke-width: 1.5; }
  .turned { stroke: var(--accent); stroke-width: 2.5; }
  .number { fill: var(--text); font-size: 12px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text) {
  const tokens = text.trim().split(/\s+/).map(Number);
  if (tokens.some(Number.isNaN)) throw new Error("expected tokens");
  return tokens;
}

export function extent() {
  return { width: SIZE, height: SIZE, most: "26rem" };
}

// The middle of a place on the ring, the first one at the top.
function middle(place, number) {
  const angle = (2 * Math.PI * place) / number;
  return [SIZE / 2 + RADIUS * Math.sin(angle), SIZE / 2 - RADIUS * Math.cos(angle)];
}

const radius = (number) => Math.min(14, (RADIUS * Math.PI) / number - 1);

export function draw(scene, tokens) {
  scene.put("ground", "ring", "circle", { class: "ring", cx: SIZE / 2, cy: SIZE / 2, r: RADIUS });
  tokens.forEach((token, place) => {
    const at = middle(place, tokens.length), next = tokens[(place + 1) % tokens.length];
    const home = next - token === 1 || next - token === 1 - tokens.length;
    scene.put("pieces", `t${token}`, "circle", { class: home ? "token turned" : "token", at, r: radius(tokens.length) });
    scene.put("over", `n${token}`, "text", { class: "number", at, text: String(token) });
  });
}

export function targets(actions, tokens) {
  const r = radius(tokens.length);
  return actions.map((action) => {
    const [x, y] = middle(Number(action) - 1, tokens.length);
    return { key: action, row: 0, column: Number(action), x: x - r, y: y - r, width: 2 * r, height: 2 * r, label: `reverse from place ${action}`, actions: [action] };
  });
}

export function describe(tokens) {
  return `along the ring ${tokens.join(", ")}`;
}
