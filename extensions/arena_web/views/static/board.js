// The board of any game. It is drawn by the module that the plugin brings, or as a grid of cells; otherwise it is shown as text.
import * as cells from "./cells.js";
import { h, s, visible } from "./dom.js";
import { Scene } from "./scene.js";

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const modules = new Map();
const dressed = new WeakSet();

// Register the module of a board under its address, for pages that do not load modules.
export function addBoard(address, module) {
  modules.set(address, module);
}

async function load(address) {
  if (!address.startsWith("/")) throw new Error("it did not start");
  addBoard(address, await import(address));
  return modules.get(address);
}

// Put a board for `game` into an element. `game` is `{name, parameters, board, colors, note}`: `board` is the address of a module
// or null, `colors` are the colours of a grid, and `note` says why a board cannot be used.
//
// `onMove(action)` is called with the text of a legal action that was chosen on the board; `onChoose(actions)` is called if a
// square stands for several actions. Returns `show(text, {rendered, grid, note, before, actions, cells, last, chance, start,
// animate})` and `destroy()`. `text` is the position, `grid` has its cells, and `before` has the cells of the position before.
// `rendered` is shown if nothing can be drawn, with `note` below it. `actions` are the texts of the legal actions, and `cells`
// the cells of a grid that stand for each of them. `last` is the previous action, `chance` are the outcomes after it, and `start`
// is the first position.
export function mount(element, game, { onMove = null, onChoose = null } = {}) {
  return new Board(element, game, onMove, onChoose);
}

class Board {
  constructor(element, game, onMove, onChoose) {
    Object.assign(this, { element, game, onMove, onChoose });
    this.text = new Text(element);
    this.drawing = null;
    this.module = game.board ? modules.get(game.board) ?? null : cells;
    this.trouble = game.note ?? null;
    if (this.module === null) this.#load();
  }

  async #load() {
    try {
      this.module = await load(this.game.board);
    } catch (error) {
      this.#fail(error);
    }
    if (this.shown) this.show(...this.shown);
  }

  #fail(error) {
    this.module = cells;
    this.drawing?.hide(true);
    this.drawing = null;
    this.trouble = `The board of ${this.game.name} cannot be used: ${error.message}`;
  }

  show(position, { rendered = null, grid = null, note = null, before = null, actions = [], cells: aims = {}, last = null, chance = [], start = null, animate = true } = {}) {
    this.shown = [position, { rendered, grid, note, before, actions, cells: aims, last, chance, start, animate }];
    if (this.module === null) return;
    const seen = this.#draw(this.module === cells ? grid : position, { before, actions, aims, last, chance, start, animate });
    this.drawing?.hide(!seen);
    this.text.show(seen ? null : rendered ?? position, this.trouble ?? note);
  }

  #draw(position, options) {
    if (position === null) return false;
    try {
      this.drawing ??= new Drawing(this.element, this.game, this.module, this.onMove, this.onChoose);
      return this.drawing.show(position, options);
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  destroy() {
    this.shown = null;
    this.element.replaceChildren();
  }
}

class Text {
  constructor(element) {
    this.element = element;
    this.node = null;
  }

  show(text, trouble) {
    if (text === null && trouble === null && this.node === null) return;
    this.node ??= this.element.appendChild(h("pre", { class: "board-text", tabindex: "0", role: "group", "aria-label": "position" }));
    this.note ??= this.element.appendChild(h("p", { class: "dim small board-note" }));
    this.node.hidden = text === null;
    this.node.textContent = visible(text ?? "");
    this.note.textContent = visible(trouble ?? "");
    this.note.hidden = trouble === null;
  }
}

// Apply the styles of a module to the boards of its game only.
function dress(module, game) {
  if (module.style === undefined || dressed.has(module)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`.board-${game.name} { ${module.style} }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  dressed.add(module);
}

class Drawing {
  constructor(element, game, board, onMove, onChoose) {
    Object.assign(this, { game, board, onMove, onChoose });
    dress(board, game);
    this.name = game.name.replaceAll("-", " ");
    this.svg = element.appendChild(s("svg", { class: `board board-${game.name}`, role: onMove && board.targets && (board !== cells || game.aims) ? "group" : "img" }));
    this.scene = new Scene(this.svg);
    this.buttons = new Map();
    this.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  hide(hidden) {
    this.svg.classList.toggle("hidden", hidden);
  }

  // Draw a position; returns false if its text cannot be read.
  show(text, { before, actions, aims, last, chance, start, animate }) {
    let model, first;
    try {
      model = this.board.parse(text, this.game);
      first = start === null || this.board === cells ? null : this.board.parse(start, this.game);
    } catch {
      return false;
    }
    const { width, height, most = "" } = this.board.extent(model, this.game);
    const said = this.board.describe?.(model, this.game);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", said ? `${this.name}: ${said}` : this.name);
    this.svg.classList.toggle("still", !animate);
    this.svg.style.setProperty("--most", most);
    this.scene.begin(animate);
    this.board.draw(this.scene, model, { game: this.game, before, last, chance, start: first, actions: this.onMove ? actions : null });
    this.scene.end();
    if (this.onMove) this.#offer(this.board.targets?.(actions, model, this.game, aims) ?? []);
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

  // Move to the nearest target in a direction.
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
