// Nim: the heaps and the seat to move, `1 3 5 7 a`; the action `3:2` takes two sticks from the third heap.
import { CELL, square } from "arena/grid.js";

export const style = `
  .table { fill: light-dark(#e9e2d3, #2b2a27); }
  .stick { fill: light-dark(#8a4b14, #e0b074); }
`;

export function parse(text) {
  const words = text.trim().split(" "), mover = words.pop();
  const heaps = words.map(Number);
  if (heaps.some(Number.isNaN) || !"ab".includes(mover)) throw new Error("expected heaps");
  return { heaps, mover };
}

const most = ({ heaps }, game) => Math.max(...(game?.parameters.heaps ?? heaps), ...heaps, 1);

export function extent(model, game) {
  return { width: most(model, game) * CELL, height: model.heaps.length * CELL, most: "40rem" };
}

export function draw(scene, model, { game, last }) {
  const { width, height } = extent(model, game);
  scene.put("ground", "table", "rect", { class: "table", width, height, rx: 8 });
  model.heaps.forEach((sticks, heap) => {
    if (last?.startsWith(`${heap + 1}:`)) {
      scene.put("marks", "last", "rect", { class: "last", at: [0, heap * CELL], x: 3, y: 3, width: width - 6, height: CELL - 6, rx: 6 });
    }
    for (let stick = 0; stick < sticks; stick++) {
      scene.put("pieces", `${heap},${stick}`, "rect", { class: "stick", at: [stick * CELL, heap * CELL], x: 16, y: 5, width: 8, height: 30, rx: 3 });
    }
  });
}

// A click on a stick takes it and all sticks to its right.
export function targets(actions, model) {
  return actions.map((action) => {
    const [heap, taken] = action.split(":").map(Number);
    return square(heap - 1, model.heaps[heap - 1] - taken, `heap ${heap}, take ${taken}`, [action]);
  });
}

export function describe({ heaps, mover }) {
  return `heaps of ${heaps.join(", ")} sticks, ${mover} to move`;
}
