// The page of puzzles. A person can shuffle a puzzle, solve it, ask for a hint, or let an agent solve it, also step by step. Two
// agents can work side by side on the same position.
import { begin as open, keep, list, mapping, text as textIn } from "./address.js";
import { givenUp, post } from "./api.js";
import { duration, figure as written, h, whole } from "./dom.js";
import { AgentForm, GameForm, LimitsForm, inventory } from "./forms.js";
import { Line } from "./line.js";
import { Moves } from "./moves.js";
import { button, counted, faultBox, figure, gameAsked, head, lot, main } from "./page.js";

const LONG = 200;

const faults = faultBox();
const text = h("input", { type: "text", id: "position", spellcheck: "false", autocomplete: "off" });
const columns = h("div", { class: "columns" });
const compare = h("input", { type: "checkbox", id: "compare", onchange: () => arrange().then(remember) });
const both = button("Solve both", () => panels.forEach((panel) => panel.run()), "primary");
const limits = new LimitsForm({ seconds: "10", onchange: () => remember() });
let known, games, panels = [], position = null;

main.classList.add("board-first");
main.append(head("Puzzles", "Shuffle a board and solve it, or watch agents solve it.", button("Shuffle", () => games && shuffle(false), "primary")), faults.box);
inventory().then(build).catch((error) => faults.show(error.message));

function build(found) {
  known = found;
  games = new GameForm(found.games.filter((game) => game.puzzle), known.first.puzzle, shuffle, limits.fields);
  const setup = h(
    "section",
    { class: "card stack-small", "aria-label": "position" },
    games.box,
    h("form", { class: "row position", onsubmit: (event) => { event.preventDefault(); place({ state: text.value }); } },
      h("label", { for: "position", class: "field grow" }, h("span", {}, "Position"), text),
      h("button", { type: "submit" }, "Set up")),
    h("div", { class: "row" }, h("label", { class: "row check", for: "compare" }, compare, "Compare two agents"), both),
  );
  main.append(h("div", { class: "columns columns-board" }, columns, setup));
  return open(faults, restore, () => {
    games.choose(gameAsked(games.games, known.first.puzzle));
    compare.checked = false;
    return shuffle(true);
  });
}

// Set up the page as the address describes it.
async function restore(saved) {
  games.set(saved.game);
  limits.set(saved.limits ?? {});
  const told = list(saved.panels, "panels").map((panel) => mapping(panel, "panel"));
  if (told.length < 1 || told.length > 2) throw new Error("panels: expected one or two");
  compare.checked = told.length > 1;
  await setUp({ state: textIn(saved.state, "position") }, told);
}

function remember() {
  if (position === null || panels.some((panel) => !panel.line.frames.length)) return;
  const told = (panel, actions) => ({ agent: panel.agent.value(), actions });
  const found = { game: position.game, limits: limits.value(), state: position.state };
  keep(
    { ...found, panels: panels.map((panel) => told(panel, panel.line.story.actions)) },
    () => ({ ...found, panels: panels.map((panel) => told(panel, [])) }),
  );
}

async function shuffle(anew) {
  if (anew) panels = [];
  await place({ seed: lot() });
}

// Set up the same position in all panels. If a newer request was sent meanwhile, the answer to the older one is ignored.
let asked = 0, arriving = 0;

async function place(start) {
  const before = asked;
  faults.show(null);
  try {
    await setUp(start);
  } catch (error) {
    if (asked === before + 1 && !givenUp(error)) faults.show(error.message);
  }
}

async function setUp(start, told = []) {
  const mine = ++asked;
  panels.forEach((panel) => panel.halt());
  const game = games.value();
  arriving++; // the boards show the previous position meanwhile
  try {
    const found = await post("/api/position", { game, ...start });
    if (mine !== asked) return;
    position = { game, state: found.frame.state };
    text.value = found.frame.state;
    await arrange(true, told);
  } finally {
    arriving--;
  }
  remember();
}

// Show as many panels as are wanted. `told` has the agents and the actions for new panels.
async function arrange(moved = false, told = []) {
  const wanted = compare.checked ? 2 : 1;
  both.hidden = wanted < 2;
  while (panels.length > wanted) panels.pop().halt();
  const old = moved ? panels.length : 0;
  await Promise.all(panels.slice(0, old).map((panel) => panel.begin()));
  const fresh = [];
  while (panels.length < wanted) {
    const panel = new Panel(panels.length);
    const saved = told[panels.length];
    if (saved) panel.agent.set(saved.agent);
    panels.push(panel);
    fresh.push(panel.begin(saved ? list(saved.actions, "actions") : []));
  }
  columns.className = wanted > 1 ? "columns columns-two panels" : "columns panels";
  columns.replaceChildren(...panels.map((panel) => panel.box));
  await Promise.all(fresh);
}

// A board with an agent beside it.
class Panel {
  constructor(number) {
    const game = games.game;
    const usual = game.proposed;
    this.agent = new AgentForm(known.agents, game, { chosen: usual[number] ?? usual[0] ?? game.agents[0], onchange: () => { remember(); if (this.line.player) this.show(this.line.frame); } });
    this.stage = h("div");
    this.said = h("p", { class: "turn", role: "status" });
    this.facts = h("dl", { class: "figures figures-small" });
    this.faults = faultBox();
    this.moves = new Moves((action) => this.line.tryPlay(action));
    this.working = null;
    this.solved = false;
    this.buttons = {
      solve: button("Solve", () => (this.working ? this.halt() : this.run()), "primary"),
      step: button("Step", () => this.step()),
      hint: button("Hint", () => this.hint()),
      undo: button("Undo", () => this.line.back(1)),
    };
    this.line = new Line(this.stage, {
      labels: () => [this.whose],
      onChange: () => panels.includes(this) && remember(),
      onShow: (frame) => this.show(frame),
      onFault: (error) => this.fault(error),
      onChoose: (actions) => this.moves.point(actions),
      mine: () => arriving === 0 && this.working === null,
    });
    this.whose = "you";
    this.box = h(
      "section",
      { class: "card panel", "aria-label": `board ${number + 1}` },
      h("div", { class: "row between above" }, this.said, h("div", { class: "row" }, Object.values(this.buttons))), this.faults.box, this.stage, this.facts, this.moves.box,
      h("div", { class: "gap" }, this.agent.box),
    );
  }

  async begin(actions = []) {
    this.halt();
    this.facts.replaceChildren();
    this.faults.show(null);
    this.whose = "you";
    this.#allow(false); // otherwise the position that is still shown would be solved
    try {
      await this.line.begin(position.game, { state: position.state, actions });
    } catch (error) {
      if (actions.length) await this.begin();
      this.fault(error);
    }
    this.#allow(true);
  }

  #allow(allowed) {
    for (const name of ["solve", "step", "hint"]) this.buttons[name].disabled = !allowed;
  }

  show(frame) {
    this.moves.show(frame.actions ?? []);
    this.buttons.undo.disabled = this.line.at === 0;
    if (this.working) return;
    if (frame.over === true || frame.number < 0) this.said.textContent = this.over(frame);
    else if (this.line.at < this.line.frames.length - 1) this.said.textContent = this.under(this.line.at, this.line.frames.length - 1);
    else this.said.textContent = `Solve it by hand, or let ${this.agent.agent.name} solve it`;
  }

  // Return text that says which move of the solution is shown.
  under(at, last) {
    const way = this.solved ? "solution" : "failed attempt";
    return `Move ${whole(at)} of ${whole(last)} (${way} by ${this.whose})`;
  }

  over(frame) {
    const won = frame.returns ? frame.returns[0] === 1 : this.solved;
    return won ? "Solved" : "Not solved";
  }

  async solve() {
    const frame = this.line.frame;
    const found = await this.ask("/api/solve", "is working…");
    if (!found) return false;
    if (this.line.frame !== frame) { // another position was chosen meanwhile
      this.show(this.line.frame);
      return false;
    }
    const { view } = found;
    this.solved = view.solved;
    this.facts.replaceChildren(...facts(view));
    if (view.message) this.faults.show(`${view.termination}: ${view.message}`);
    this.whose = view.labels[0];
    const more = view.frames.slice(1);
    if (view.solved && more.length) Object.assign(more.at(-1), { over: true, returns: view.returns });
    this.line.extend(more);
    if (view.frames.length < 2 && !view.solved) this.said.textContent = `${this.whose} did not solve it: ${view.termination}`;
    return view.frames.length > 1;
  }

  // Solve the puzzle and show the solution, step by step if that does not take too long.
  async run() {
    if (this.buttons.solve.disabled || !(await this.solve())) return;
    const { player, frames } = this.line;
    if (frames.length > 2 && frames.length <= LONG) player.toggle();
    else player.go(frames.length - 1);
  }

  async ask(path, doing) {
    this.halt();
    this.faults.show(null);
    this.working = new AbortController();
    this.line.player.stop();
    const mine = this.working;
    this.said.textContent = `${this.agent.agent.name} ${doing}`;
    this.buttons.solve.textContent = "Stop";
    try {
      const { game, frame } = this.line;
      return await post(path, { game, state: frame.state, agent: this.agent.value(), limits: limits.asked(), seed: 0 }, mine.signal);
    } catch (error) {
      this.said.textContent = "";
      this.fault(error);
      return null;
    } finally {
      if (this.working === mine) this.working = null;
      this.buttons.solve.textContent = "Solve";
    }
  }

  // Show one step of a solution. If there is none yet, request one.
  async step() {
    const { line } = this;
    if (line.at === line.frames.length - 1 && !(line.frame.over || line.frame.number < 0)) await this.solve();
    line.player.stop();
    line.player.go(line.at + 1);
  }

  async hint() {
    const { line } = this;
    const next = line.frames[line.at + 1]?.action;
    let action = next;
    if (!action) {
      const found = await this.ask("/api/move", "is thinking…");
      if (!found) return;
      action = found.frame.action;
    }
    this.said.textContent = `Hint: ${action}`;
    this.moves.show(line.frame.actions ?? [], action);
  }

  halt() {
    this.working?.abort();
    this.working = null;
    this.line.player?.stop();
  }

  fault(error) {
    if (!givenUp(error)) this.faults.show(error.message);
  }
}

function facts(view) {
  const [total] = view.totals;
  const depth = view.frames.find((frame) => frame.depth !== null)?.depth;
  return [
    figure("Result", view.solved ? "solved" : view.termination),
    figure(counted(view), whole(view.moves)),
    view.cost === null || view.cost === view.moves ? null : figure("Cost", written(view.cost, 6)),
    figure("Nodes", whole(total.nodes)),
    figure("Evaluations", whole(total.evaluations)),
    figure("Time", duration(total.seconds)),
    depth ? figure("Depth", whole(depth)) : null,
  ].filter((one) => one !== null);
}
