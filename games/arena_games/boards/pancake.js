// Pancakes: the sizes from the top, `3 1 2`, below zero if the burnt side is up; an action is the number of pancakes that turn over.
const UNIT = 16, HIGH = 22, EDGE = 8, ROOM = 26;

export const style = `
  .pancake { fill: light-dark(#e8b866, #b5803a); stroke: light-dark(#b98434, #7c5421); stroke-width: 1; }
  .burnt { fill: light-dark(#6b3d17, #2c1a0c); }
  .size { fill: light-dark(#4a2d0c, #fff3df); font-size: 11px; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .plate { fill: light-dark(#c9ced8, #4a515e); }
  .spatula { stroke: var(--accent); stroke-width: 2.5; stroke-linecap: round; }
`;

export function parse(text) {
  const sizes = text.trim().split(/\s+/).map(Number);
  if (sizes.some(Number.isNaN)) throw new Error("expected sizes");
  return sizes;
}

export function extent(sizes) {
  return { width: unit(sizes) * sizes.length + ROOM + 2 * EDGE, height: sizes.length * HIGH + 2 * EDGE + 8, most: "26rem" };
}

// The width of the smallest pancake: less in a tall stack.
function unit(sizes) {
  return Math.min(UNIT, 480 / sizes.length);
}

export function draw(scene, sizes, { last }) {
  const step = unit(sizes), middle = EDGE + (step * sizes.length + ROOM) / 2;
  sizes.forEach((size, place) => {
    const wide = Math.abs(size) * step + ROOM, at = [middle - wide / 2, EDGE + place * HIGH];
    scene.put("pieces", `p${Math.abs(size)}`, "rect", { class: "pancake", at, y: 1, width: wide, height: HIGH - 2, rx: 9 });
    const burnt = sizes.some((other) => other < 0);
    if (burnt) scene.put("over", `b${Math.abs(size)}`, "rect", { class: "burnt", at, x: 6, y: size < 0 ? 2 : HIGH - 6, width: wide - 12, height: 4, rx: 2 });
    scene.put("over", `n${Math.abs(size)}`, "text", { class: "size", at, x: wide / 2, y: HIGH / 2, text: String(Math.abs(size)) });
  });
  const { width } = extent(sizes), floor = EDGE + sizes.length * HIGH;
  scene.put("ground", "plate", "rect", { class: "plate", x: EDGE / 2, y: floor + 2, width: width - EDGE, height: 6, rx: 3 });
  if (last) {
    const y = EDGE + Number(last) * HIGH;
    scene.put("marks", "spatula", "line", { class: "spatula", x1: 1, x2: width - 1, y1: y, y2: y });
  }
}

export function targets(actions, sizes) {
  const { width } = extent(sizes);
  return actions.map((action) => {
    const row = Number(action) - 1;
    return { key: action, row, column: 0, x: 0, y: EDGE + row * HIGH, width, height: HIGH, label: `turn over ${action}`, actions: [action] };
  });
}

export function describe(sizes) {
  return `from the top ${sizes.map((size) => (size < 0 ? `${-size} burnt side up` : size)).join(", ")}`;
}
