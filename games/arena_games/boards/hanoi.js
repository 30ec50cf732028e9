// Hanoi: the discs of each peg from the bottom, `4 3 / 2 1 / - / -`; the action `ad` moves a disc from peg a to peg d.
const LETTERS = "abcdefgh", HIGH = 18, EDGE = 10;

export const style = `
  .peg { fill: light-dark(#b9a88c, #5d5344); }
  .base { fill: light-dark(#9c8a6c, #4a4236); }
  .disc { stroke: light-dark(#00000033, #ffffff33); stroke-width: 1; }
  .disc-moved { stroke: var(--text); stroke-width: 2; }
  .number { fill: #ffffff; font-size: 11px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .choice { fill: var(--raised); stroke: var(--edge); stroke-width: 1.2; }
  .choice-text { fill: var(--text); font-size: 13px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
`;

export function parse(text) {
  return text.trim().split("/").map((tower) => tower.trim().split(/\s+/).filter((disc) => disc !== "-").map(Number));
}

const total = (towers) => towers.flat().length;
const wide = (towers) => 34 + 7 * total(towers);
const floor = (towers) => EDGE + (total(towers) + 1) * HIGH;

export function extent(towers) {
  return { width: towers.length * (wide(towers) + EDGE) + EDGE, height: floor(towers) + 30 + towers.length * 34, most: "44rem" };
}

export function draw(scene, towers, { last, actions }) {
  const span = wide(towers), bottom = floor(towers);
  scene.put("ground", "base", "rect", { class: "base", x: EDGE / 2, y: bottom, width: extent(towers).width - EDGE, height: 8, rx: 3 });
  towers.forEach((tower, peg) => {
    const middle = EDGE + peg * (span + EDGE) + span / 2;
    scene.put("ground", `peg ${peg}`, "rect", { class: "peg", x: middle - 3, y: EDGE, width: 6, height: bottom - EDGE, rx: 3 });
    scene.put("ground", `name ${peg}`, "text", { class: "coordinate", x: middle, y: bottom + 19, text: LETTERS[peg] });
    tower.forEach((disc, height) => {
      const width = 24 + 7 * disc, at = [middle - width / 2, bottom - (height + 1) * HIGH];
      const moved = last && height === tower.length - 1 && LETTERS[peg] === last[1];
      const fill = `hsl(${Math.round((300 * disc) / total(towers))} 55% 45%)`;
      scene.put("pieces", `d${disc}`, "rect", { class: moved ? "disc disc-moved" : "disc", at, y: 1, width, height: HIGH - 2, rx: 7, fill });
      scene.put("over", `n${disc}`, "text", { class: "number", at, x: width / 2, y: HIGH / 2, text: String(disc) });
    });
  });
  for (const { key, x, y, width, height, label } of actions ? targets(actions, towers) : []) {
    scene.put("marks", `c${key}`, "rect", { class: "choice", x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 6 });
    scene.put("over", `t${key}`, "text", { class: "choice-text", x: x + width / 2, y: y + height / 2, text: label });
  }
}

// Below each peg a button for every peg to which its uppermost disc can move.
export function targets(actions, towers) {
  const span = wide(towers);
  return actions.map((action) => {
    const column = LETTERS.indexOf(action[0]), row = LETTERS.indexOf(action[1]);
    const x = EDGE + column * (span + EDGE), y = floor(towers) + 28 + row * 34;
    return { key: action, row, column, x, y, width: span, height: 34, label: `${action[0]} to ${action[1]}`, actions: [action] };
  });
}

export function describe(towers) {
  return towers.map((tower, peg) => `peg ${LETTERS[peg]}: ${tower.join(", ") || "empty"}`).join("; ");
}
