// Steps through a match, with a board, buttons, a slider, keys, and the list of moves with the resources of each decision.
import { mount } from "./board.js";
import { amount, duration, figure, h, s, visible, whole, worth } from "./dom.js";

const PACE = 700;
const CHART = { width: 320, height: 64 };

export const mountBoard = mount;

// Put a match, as returned by `arena_web.views.view`, into an element.
//
// With `keys`, the arrow keys, space, home and end work on the whole page; otherwise only while the player has the focus. With
// `onMove` and `onChoose`, the board accepts the legal moves that a frame lists in `actions`. `onShow(frame, number)` is called
// when a frame is shown. Returns the player, with `go(number)`, `load(match, number)`, `toggle()`, `stop()`, `destroy()`, and the
// current number `at`.
export function mountPlayer(element, match, { keys = false, onMove = null, onChoose = null, onShow = null } = {}) {
  return new Player(element, match, { keys, onMove, onChoose, onShow });
}

export class Player {
  constructor(element, match, options) {
    this.options = options;
    this.at = 0;
    this.timer = null;
    this.element = element;
    this.stage = h("div", { class: "stage" });
    this.status = h("p", { class: "status", "aria-live": "polite" });
    this.controls = this.#controls();
    this.side = h("div", { class: "player-side" });
    const main = h("div", { class: "player-main" }, this.stage, this.status, this.controls);
    element.append(h("div", { class: "player-box" }, h("div", { class: "player" }, main, this.side)));
    this.listener = (event) => this.#key(event);
    this.listens = options.keys ? document : element;
    this.listens.addEventListener("keydown", this.listener);
    this.load(match, 0);
  }

  // Show another match, or the same match after further moves.
  load(match, number) {
    const other = !this.match || JSON.stringify(this.match.game) !== JSON.stringify(match.game);
    this.match = match;
    this.frames = match.frames;
    if (other) this.#cover();
    this.rows = [];
    this.slider.max = String(Math.max(this.frames.length - 1, 0));
    this.side.replaceChildren(...[chart(match) ?? seats(match), this.#moves()].filter((part) => part !== null));
    this.go(number);
  }

  destroy() {
    this.stop();
    this.listens.removeEventListener("keydown", this.listener);
    this.element.replaceChildren();
  }

  go(number) {
    const before = this.at;
    this.at = Math.max(0, Math.min(number, this.frames.length - 1));
    const frame = this.frames[this.at];
    if (!frame) return;
    if (frame.state === null) this.#cover();
    else this.#draw(frame, {
      rendered: frame.rendered,
      grid: frame.grid,
      note: frame.note,
      before: this.frames[this.at - 1]?.grid,
      last: frame.untold ? null : frame.action,
      chance: frame.chance ?? [],
      start: this.frames[0].state,
      actions: frame.actions ?? [],
      cells: frame.cells ?? {},
      animate: Math.abs(this.at - before) === 1,
    });
    this.status.textContent = visible(said(frame, this.match));
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", this.status.textContent);
    this.rows[before]?.removeAttribute("aria-current");
    this.rows[this.at]?.setAttribute("aria-current", "step");
    this.#reveal(this.rows[this.at]);
    this.element.querySelector(".chart-now")?.setAttribute("x1", place(this.at, this.frames.length));
    this.element.querySelector(".chart-now")?.setAttribute("x2", place(this.at, this.frames.length));
    const first = this.at === 0, last = this.at === this.frames.length - 1;
    for (const [name, off] of [["first", first], ["back", first], ["forward", last], ["last", last]]) {
      this.buttons[name].setAttribute("aria-disabled", String(off));
    }
    if (last) this.stop();
    this.options.onShow?.(frame, this.at);
  }

  // Remove the board and everything that belongs to it from the page, because the position must not be seen.
  #cover() {
    this.board?.destroy();
    this.board = null;
  }

  #draw(frame, options) {
    this.board ??= mount(this.stage, this.match.game, this.options);
    this.board.show(frame.state, options);
  }

  // Draw the current position again with actions that have become known.
  offer(actions) {
    const frame = this.frames[this.at];
    frame.actions = actions;
    this.#draw(frame, { rendered: frame.rendered, grid: frame.grid, note: frame.note, last: frame.action, start: this.frames[0].state, actions, cells: frame.cells ?? {} });
  }

  get playing() {
    return this.timer !== null;
  }

  toggle() {
    if (this.timer !== null) return this.stop();
    if (this.at === this.frames.length - 1) this.go(0);
    this.status.setAttribute("aria-live", "off"); // a screen reader cannot keep up with this speed
    this.timer = setInterval(() => this.go(this.at + 1), PACE);
    return this.#label();
  }

  stop() {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.status.setAttribute("aria-live", "polite");
    this.#label();
  }

  #label() {
    const playing = this.timer !== null;
    this.buttons.play.setAttribute("aria-label", playing ? "pause" : "play");
    this.buttons.play.replaceChildren(icon(playing ? "pause" : "play"));
  }

  #controls() {
    const acts = {
      first: () => this.#jump(0), back: () => this.#jump(this.at - 1), play: () => this.toggle(),
      forward: () => this.#jump(this.at + 1), last: () => this.#jump(this.frames.length - 1),
    };
    this.buttons = Object.fromEntries(Object.entries(acts).map(([name, act]) => [
      name,
      h("button", { type: "button", class: `icon${name === "play" ? " icon-play" : ""}`, "aria-label": name, onclick: act }, icon(name)),
    ]));
    this.slider = h("input", {
      type: "range", min: "0", max: "0", value: "0", step: "1", "aria-label": "position",
      oninput: () => this.#jump(Number(this.slider.value)),
    });
    return h("div", { class: "controls" }, h("div", { class: "buttons" }, Object.values(this.buttons)), this.slider);
  }

  #moves() {
    const measured = this.frames.some((frame) => frame.nodes !== null && frame.nodes !== undefined);
    const list = measured ? this.#table() : this.#chips();
    const several = this.match.labels.length > 2; // then the marks do not show which player moved
    return h("div", { class: several ? "moves several" : "moves", role: "group", "aria-label": "moves", tabindex: "0" }, list);
  }

  // Show what the decisions used; a column without known values is left out.
  #table() {
    const columns = [["value", (value, frame) => worth(value, frame.exact)], ["depth", whole], ["nodes", whole], ["time", duration, "seconds"]]
      .map(([name, shown, key = name]) => ({ name, shown, key }))
      .filter(({ key }) => this.frames.some((frame) => frame[key] !== null && frame[key] !== undefined));
    const body = this.frames.map((frame, place) => h(
      "tr",
      {},
      h("td", { class: "number dim" }, frame.number > 0 ? String(frame.number) : ""),
      h("td", { class: "who" }, frame.label ? h("span", { class: frame.seat === null ? "dim" : `seat seat-${frame.seat}`, title: frame.label }, frame.label) : ""),
      h("td", {}, this.#button(frame, place), dealt(frame)),
      columns.map(({ key, shown }) => h("td", { class: "number" }, frame.action === null ? "" : shown(frame[key], frame))),
    ));
    const heads = [h("td"), h("th", { scope: "col", class: "who" }, "agent"), h("th", { scope: "col" }, "move")];
    const more = columns.map(({ name }) => h("th", { scope: "col", class: "number" }, name));
    return h("table", { class: "compact" }, h("thead", {}, h("tr", {}, heads, more)), h("tbody", {}, body));
  }

  #chips() {
    return h("ol", { class: "chips" }, this.frames.map((frame, place) => h("li", {}, this.#button(frame, place), dealt(frame))));
  }

  #button(frame, place) {
    const text = frame.action ?? (frame.number < 0 ? "answer" : "start");
    this.rows[place] = h("button", { type: "button", class: frame.untold ? "move untold" : "move", onclick: () => this.#jump(place) }, text);
    return this.rows[place];
  }

  #jump(number) {
    this.stop();
    this.go(number);
  }

  // Scroll the list to a move, but not the page.
  #reveal(button) {
    const list = this.element.querySelector(".moves");
    if (!button || !list) return;
    const box = button.getBoundingClientRect(), frame = list.getBoundingClientRect();
    if (box.top < frame.top + 32) list.scrollTop -= frame.top + 32 - box.top;
    else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom + 8;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === this.slider) return;
    const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
    const pressing = event.key === " " && event.target.closest?.("button, a, summary");
    if (typing || pressing) return;
    const acts = {
      ArrowLeft: () => this.go(this.at - 1), ArrowRight: () => this.go(this.at + 1), " ": () => this.toggle(),
      Home: () => this.go(0), End: () => this.go(this.frames.length - 1),
    };
    if (!acts[event.key]) return;
    if (event.key !== " ") this.stop();
    acts[event.key]();
    event.preventDefault();
  }
}

// Describe in words the action that led to a position.
function said(frame, match) {
  const left = match.left_out ? `; ${amount(match.left_out, "position")} before the last one ${match.left_out === 1 ? "is" : "are"} not shown` : "";
  if (frame.number < 0) return `the answer of ${match.labels[0]}${left}`;
  const chance = frame.chance?.length ? `; chance: ${frame.chance.join(", ")}` : "";
  if (frame.action === null) return `start${chance}`;
  const end = frame === match.frames.at(-1) && match.solved === null && match.returns.length ? `; ${result(match)}` : "";
  return `${frame.number}. ${frame.label}: ${frame.action}${chance}${end}${frame === match.frames.at(-1) ? left : ""}`;
}

// Return the outcome of chance after an action, for the list of moves.
function dealt({ chance }) {
  return chance?.length ? h("span", { class: "dealt dim", title: "chance" }, chance.join(", ")) : "";
}

// Return how a match ended, in words.
export function result(match) {
  if (match.termination === "void") return "void";
  if (match.solved === true) return "solved";
  if (match.solved === false) return `not solved (${match.termination})`;
  const how = match.termination === "normal" ? "" : ` (${match.termination})`;
  if (match.labels.length === 1) return `score ${figure(match.returns[0], 6)}${how}`;
  const first = winners(match);
  return first.length === match.labels.length ? `a draw${how}` : `${win(first)}${how}`;
}

// Return the labels of the seats with the best result of a game. A seat that lost by a fault is none of them, whatever it got.
export function winners(match) {
  const results = match.returns.map((got, seat) => (seat === match.seat ? -Infinity : got));
  const best = Math.max(...results);
  return match.labels.filter((_, seat) => results[seat] === best);
}

const LIST = new Intl.ListFormat("en-GB");

// Return who wins, in words; the person at the page is called You.
export function win(labels) {
  if (labels.length > 1) return `${LIST.format(labels)} share the win`;
  return labels[0] === "You" ? "You win" : `${labels[0]} wins`;
}

function place(number, frames) {
  return (4 + (number / Math.max(frames - 1, 1)) * (CHART.width - 8)).toFixed(1);
}

// Draw the values that the agents reported during the match, as seen by the first seat; null if there are fewer than two values.
function chart(match) {
  const values = match.frames.map((frame) => frame.value).filter((value) => value !== null && value !== undefined);
  if (match.labels.length !== 2 || values.length < 2) return null;
  const top = Math.max(...values.map(Math.abs)) || 1;
  const height = (value) => (CHART.height / 2 - (value / top) * (CHART.height / 2 - 4)).toFixed(1);
  const lines = match.labels.map((_, seat) => {
    const points = match.frames
      .map((frame, number) => [frame, number])
      .filter(([frame]) => frame.seat === seat && typeof frame.value === "number")
      .map(([frame, number]) => `${place(number, match.frames.length)},${height(seat === 0 ? frame.value : -frame.value)}`);
    return s("polyline", { class: `chart-line chart-${seat}`, points: points.join(" ") });
  });
  const picture = s(
    "svg",
    { viewBox: `0 0 ${CHART.width} ${CHART.height}`, class: "chart", role: "img", "aria-label": "values along the match" },
    s("line", { class: "chart-zero", x1: 4, x2: CHART.width - 4, y1: CHART.height / 2, y2: CHART.height / 2 }),
    s("line", { class: "chart-now", x1: 4, x2: 4, y1: 2, y2: CHART.height - 2 }),
    lines,
  );
  return h(
    "figure",
    { class: "values" },
    h("figcaption", {}, "Value for ", match.labels[0], ", as seen by ", h("span", { class: "seat seat-0" }, match.labels[0]), " and ", h("span", { class: "seat seat-1" }, match.labels[1]), `; the height is ±${Number(top.toPrecision(2))}`),
    picture,
  );
}

// Show which mark belongs to whom, for screens on which the table of moves has no room for names.
function seats(match) {
  if (match.labels.length !== 2) return null;
  return h("p", { class: "seats" }, match.labels.map((label, seat) => h("span", { class: `seat seat-${seat}` }, label)));
}

const ICONS = {
  first: "M6 5v14M19 5 9 12l10 7z",
  back: "M17 5 7 12l10 7z",
  play: "M7 4v16l13-8z",
  pause: "M7 5v14M17 5v14",
  forward: "M7 5l10 7-10 7z",
  last: "M5 5l10 7-10 7zM18 5v14",
};

function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", class: "glyph", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
}
