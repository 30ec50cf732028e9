// Sliding tiles: `1 2 3 / 4 5 6 / 7 8 .`, an action is the number of the tile that slides.
import { CELL, square } from "arena/grid.js";

const EDGE = 5;

export const style = `
  .tray { fill: light-dark(#ddd8ce, #0e1013); }
  .tile { fill: light-dark(#fbfaf7, #3a404c); stroke: light-dark(#cfc9bc, #4c5361); stroke-width: 0.8; }
  /* A tile at home is paler than the others and has no colour, because colours mark moves. */
  .tile-home { fill: light-dark(#e9e6df, #262a32); stroke: light-dark(#d6d1c6, #333944); }
  .tile-last { stroke: var(--accent); stroke-width: 1.8; }
  .tile-number { fill: light-dark(#2b2e35, #f0f1f4); font-size: 17px; font-weight: 640; pointer-events: none; }
  .tile-number-home { fill: light-dark(#575b63, #b3b9c5); }
  .tile-small { font-size: 13px; }
  .tile-tiny { font-size: 10px; }
`;

export function parse(text, game) {
  const tiles = text.replaceAll("/", " ").trim().split(/\s+/).map((word) => (word === "." ? 0 : Number(word)));
  const columns = game.parameters.columns ?? 3;
  if (tiles.some(Number.isNaN) || tiles.length % columns) throw new Error("expected complete rows of tiles");
  return { tiles, columns };
}

export function extent({ tiles, columns }) {
  return { width: columns * CELL + 2 * EDGE, height: (tiles.length / columns) * CELL + 2 * EDGE, most: "25rem" };
}

export function draw(scene, board, { game, last }) {
  const { width, height } = extent(board);
  const first = game.parameters.goal === "blank-first";
  scene.put("ground", "back", "rect", { class: "tray", width, height, rx: 8 });
  board.tiles.forEach((tile, cell) => {
    if (!tile) return;
    const at = [EDGE + (cell % board.columns) * CELL, EDGE + Math.floor(cell / board.columns) * CELL];
    const home = tile === (first ? cell : cell + 1);
    const kind = `tile${home ? " tile-home" : ""}${String(tile) === last ? " tile-last" : ""}`;
    const size = tile > 999 ? " tile-tiny" : tile > 99 ? " tile-small" : "";
    scene.put("pieces", `t${tile}`, "rect", { class: kind, at, x: 1.5, y: 1.5, width: CELL - 3, height: CELL - 3, rx: 5 });
    scene.put("over", `n${tile}`, "text", { class: `tile-number${size}${home ? " tile-number-home" : ""}`, at, x: CELL / 2, y: CELL / 2 + 0.5, text: String(tile) });
  });
}

export function targets(actions, { tiles, columns }) {
  return actions.map((action) => {
    const cell = tiles.indexOf(Number(action));
    return square(Math.floor(cell / columns), cell % columns, `slide tile ${action}`, [action], EDGE, EDGE);
  });
}

export function describe({ tiles, columns }) {
  const rows = [];
  for (let start = 0; start < tiles.length; start += columns) {
    rows.push(tiles.slice(start, start + columns).map((tile) => tile || "blank").join(" "));
  }
  return rows.join(", ");
}
