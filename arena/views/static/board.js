// The board of any game, from the text of a position: drawn where there is a module for it, else as text.
import { h, s } from "./dom.js";
import { Scene } from "./scene.js";
import * as ticTacToe from "./boards/tic_tac_toe.js";
import * as connectFour from "./boards/connect_four.js";
import * as othello from "./boards/othello.js";
import * as slidingTiles from "./boards/sliding_tiles.js";
import * as nQueens from "./boards/n_queens.js";
import * as sudoku from "./boards/sudoku.js";

const BOARDS = {
  "tic-tac-toe": ticTacToe,
  "connect-four": connectFour,
  "othello": othello,
  "sliding-tiles": slidingTiles,
  "n-queens": nQueens,
  "sudoku": sudoku,
};

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// Whether positions of a game are drawn.
export function drawn(name) {
  return Object.hasOwn(BOARDS, name);
}

// Put a board for `game`, `{name, parameters}`, into an element.
//
// `onMove(action)` is called with the text of a legal action that was chosen on the board; `onChoose(actions)` where a square
// stands for several. Returns `show(text, {rendered, actions, last, start, animate})` and `destroy()`: `text` is the position,
// `rendered` what is shown where nothing is drawn, `actions` are the texts of the legal actions, `last` is that of the action
// before, `start` the position from which it all began.
export function mount(element, game, { onMove = null, onChoose = null } = {}) {
  const board = drawn(game.name) ? BOARDS[game.name] : null;
  const view = board ? new Drawing(element, game, board, onMove, onChoose) : null;
  const text = new Text(element);
  return {
    show(position, { rendered = null, actions = [], last = null, start = null, animate = true } = {}) {
      const seen = view?.show(position, { actions, last, start, animate }) ?? false;
      if (view) view.hide(!seen);
      text.show(seen ? null : rendered ?? position);
    },
    destroy() {
      element.replaceChildren();
    },
  };
}

class Text {
  constructor(element) {
    this.element = element;
    this.node = null;
  }

  show(text) {
    this.node ??= this.element.appendChild(h("pre", { class: "board-text", tabindex: "0", role: "group", "aria-label": "position" }));
    this.node.hidden = text === null;
    this.node.textContent = text ?? "";
  }
}

class Drawing {
  constructor(element, game, board, onMove, onChoose) {
    Object.assign(this, { game, board, onMove, onChoose });
    this.name = game.name.replaceAll("-", " ");
    this.svg = element.appendChild(s("svg", { class: `board board-${game.name}`, role: onMove ? "group" : "img" }));
    this.scene = new Scene(this.svg);
    this.buttons = new Map();
    this.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  hide(hidden) {
    this.svg.classList.toggle("hidden", hidden);
  }

  // Draw a position; false where its text cannot be read.
  show(text, { actions, last, start, animate }) {
    let model, first;
    try {
      model = this.board.parse(text, this.game);
      first = start === null ? null : this.board.parse(start, this.game);
    } catch {
      return false;
    }
    const { width, height } = this.board.extent(model, this.game);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", `${this.name}: ${this.board.describe(model, this.game)}`);
    this.svg.classList.toggle("still", !animate);
    this.scene.begin(animate);
    this.board.draw(this.scene, model, { game: this.game, last, start: first, actions: this.onMove ? actions : null });
    this.scene.end();
    if (this.onMove) this.#offer(this.board.targets(actions, model, this.game));
    return true;
  }

  #offer(targets) {
    const focused = [...this.buttons].find(([, node]) => node === document.activeElement)?.[0];
    const inside = focused !== undefined;
    for (const node of this.buttons.values()) node.remove();
    this.buttons = new Map();
    this.targets = new Map(targets.map((target) => [target.key, target]));
    for (const target of targets) {
      const { x, y, width, height } = target;
      const node = s(
        "g",
        { role: "button", class: "target", tabindex: "-1", "aria-label": target.label, onclick: () => this.#choose(target) },
        s("rect", { x, y, width, height, rx: 4 }),
      );
      this.buttons.set(target.key, this.scene.layers.targets.appendChild(node));
    }
    const first = this.buttons.has(focused) ? focused : targets[0]?.key;
    if (first === undefined) return;
    this.buttons.get(first).setAttribute("tabindex", "0");
    if (inside) this.buttons.get(first).focus();
  }

  #choose(target) {
    if (target.actions.length === 1) this.onMove(target.actions[0]);
    else this.onChoose?.(target.actions);
  }

  #key(event) {
    const key = [...this.buttons].find(([, node]) => node === event.target)?.[0];
    if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = this.targets.get(key);
    if (event.key === "Enter" || event.key === " ") this.#choose(target);
    else if (target.keys?.[event.key.toUpperCase()]) this.onMove(target.keys[event.key.toUpperCase()]);
    else if (ARROWS[event.key]) this.#go(key, target, ARROWS[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // To the nearest target in a direction.
  #go(key, from, [down, right]) {
    let best = null;
    for (const [other, target] of this.targets) {
      const rows = target.row - from.row, columns = target.column - from.column;
      const ahead = rows * down + columns * right, aside = Math.abs(rows * right) + Math.abs(columns * down);
      if (ahead > 0 && (best === null || ahead + 3 * aside < best.far)) best = { other, far: ahead + 3 * aside };
    }
    if (best === null) return;
    this.buttons.get(key).setAttribute("tabindex", "-1");
    this.buttons.get(best.other).setAttribute("tabindex", "0");
    this.buttons.get(best.other).focus();
  }
}
