// 2048: `0,0,2/4,0,0/8,2,0 16 +1`, the rows, the score and the tiles to come; an action is a direction.
import { CELL } from "arena/grid.js";

const EDGE = 5, TOP = 26;
const PAPER = ["#eee4da", "#ede0c8", "#f2b179", "#f59563", "#f67c5f", "#f65e3b", "#edcf72", "#edcc61", "#edc850", "#edc53f", "#edc22e"];

export const style = `
  .tray { fill: light-dark(#bbada0, #3a352f); }
  .hollow { fill: light-dark(#cdc1b4, #4a443d); }
  .tile-text { font-size: 17px; font-weight: 680; text-anchor: middle; dominant-baseline: central; pointer-events: none; }
  .tile-long { font-size: 12px; }
  .tile-longer { font-size: 9px; }
  .tile-longest { font-size: 7.5px; }
  .ink-low { fill: #4d443b; }
  .ink-high { fill: #1d1a16; }
  .tile-new { stroke: var(--accent); stroke-width: 2; }
  .points { fill: var(--text); font-size: 14px; font-weight: 600; text-anchor: start; dominant-baseline: central; }
  ${PAPER.map((color, power) => `.tile-${power + 1} { fill: ${color}; }`).join("\n")}
  .tile-high { fill: #f0b429; }
`;

export function parse(text) {
  const [board, score, coming] = text.trim().split(" ");
  const rows = board.split("/").map((row) => row.split(",").map(Number));
  if (rows.some((row) => row.length !== rows[0].length || row.some(Number.isNaN))) throw new Error("expected rows of tiles");
  return { rows, score: Number(score), coming: Number(coming ?? 0) };
}

export function extent({ rows }) {
  return { width: rows[0].length * CELL + 2 * EDGE, height: rows.length * CELL + 2 * EDGE + TOP, most: "25rem" };
}

export function draw(scene, model, { last, chance }) {
  const { width, height } = extent(model);
  scene.put("ground", "points", "text", { class: "points", x: EDGE, y: 13, text: `score ${model.score.toLocaleString("en")}` });
  scene.put("ground", "back", "rect", { class: "tray", y: TOP, width, height: height - TOP, rx: 7 });
  model.rows.forEach((tiles, row) => tiles.forEach((tile, column) => {
    const at = [EDGE + column * CELL, TOP + EDGE + row * CELL];
    const size = { x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 4 };
    scene.put("ground", `h${row},${column}`, "rect", { class: "hollow", at, ...size });
    if (!tile) return;
    const power = Math.log2(tile), name = `${row},${column}`;
    const fresh = [last, ...chance].includes(`r${row + 1}c${column + 1}=${tile}`) ? " tile-new" : "";
    scene.put("marks", name, "rect", { class: `${power <= PAPER.length ? `tile-${power}` : "tile-high"}${fresh}`, at, ...size });
    const length = tile > 99999 ? " tile-longest" : tile > 9999 ? " tile-longer" : tile > 999 ? " tile-long" : "";
    const ink = power <= 2 ? "ink-low" : "ink-high";
    scene.put("over", name, "text", { class: `tile-text ${ink}${length}`, at, x: CELL / 2, y: CELL / 2 + 0.5, text: String(tile) });
  }));
}

// The third of the board on the side to which the tiles slide; with the focus there arrows are moves.
export function targets(actions, model) {
  const { width, height } = extent(model);
  const across = width / 3, down = (height - TOP) / 3;
  const places = {
    up: { row: 0, column: 1, x: across, y: TOP, width: across, height: down },
    left: { row: 1, column: 0, x: 0, y: TOP + down, width: across, height: down },
    right: { row: 1, column: 2, x: 2 * across, y: TOP + down, width: across, height: down },
    down: { row: 2, column: 1, x: across, y: TOP + 2 * down, width: across, height: down },
  };
  const known = actions.filter((action) => places[action]), keys = Object.fromEntries(known.map((action) => [`ARROW${action.toUpperCase()}`, action]));
  return known.map((action) => ({ key: action, ...places[action], label: action, actions: [action], keys }));
}

export function describe({ rows, score, coming }) {
  const board = rows.map((row) => row.map((tile) => tile || "empty").join(" ")).join(", ");
  return `score ${score}, ${board}${coming ? `, ${coming} to come` : ""}`;
}
