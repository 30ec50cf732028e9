// Parts of forms: a game with its parameters, an agent with its options, limits.
import { get } from "./api.js";
import { h } from "./dom.js";

export function inventory() {
  return get("/api/inventory");
}

let count = 0;

// A field with its label; `note` stands below it.
export function field(name, control, note = null) {
  const id = `field-${++count}`;
  control.id = id;
  return h("div", { class: "field" }, h("label", { for: id }, name), control, note ? h("small", {}, note) : null);
}

export function select(options, chosen, onchange = null) {
  const node = h("select", {}, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  if (onchange) node.addEventListener("change", () => onchange(node.value));
  return node;
}

export function number(value, { low = null, high = null, step = "1", placeholder = null } = {}) {
  return h("input", { type: "number", inputmode: step === "1" ? "numeric" : "decimal", value, min: low, max: high, step, placeholder });
}

// Fields for parameters as the inventory describes them; `values()` holds those that differ from their defaults.
export class Parameters {
  constructor(known, onchange) {
    this.known = known;
    this.controls = known.map((one) => control(one));
    this.fields = known.map((one, place) => field(one.name.replaceAll("_", " "), this.controls[place]));
    for (const node of this.controls) node.addEventListener("change", onchange);
  }

  values() {
    const found = {};
    this.known.forEach((one, place) => {
      const value = valueOf(one, this.controls[place].value);
      if (value !== one.default) found[one.name] = value;
    });
    return found;
  }
}

function control(one) {
  const none = one.optional ? [["", "none"]] : [];
  if (one.kind === "choice") return select([...none, ...one.choices.map((choice) => [String(choice), String(choice)])], one.default === null ? "" : String(one.default));
  if (one.kind === "flag") return select([...none, ["true", "yes"], ["false", "no"]], String(one.default ?? ""));
  if (one.kind === "text") return h("input", { type: "text", value: one.default ?? "" });
  return number(one.default ?? "", { low: one.low, high: one.high, step: one.kind === "integer" ? "1" : "any", placeholder: one.optional ? "none" : null });
}

function valueOf(one, text) {
  if (text === "") return one.optional ? null : one.default;
  if (one.kind === "flag") return text === "true";
  if (one.kind === "choice") return one.choices.find((choice) => String(choice) === text);
  return one.kind === "text" ? text : Number(text);
}

// A game and its parameters; `onchange` is called when they are other ones. `more` stands behind.
export class GameForm {
  constructor(games, chosen, onchange, more = []) {
    this.games = games;
    this.onchange = onchange;
    this.more = more;
    this.box = h("div", { class: "fields" });
    this.choose(games.find((game) => game.name === chosen) ?? games[0]);
  }

  choose(game) {
    this.game = game;
    this.parameters = new Parameters(game.parameters, () => this.onchange());
    const names = this.games.map((one) => [one.name, one.name]);
    const control = select(names, game.name, (name) => {
      this.choose(this.games.find((one) => one.name === name));
      this.box.querySelector("select").focus();
      this.onchange();
    });
    this.box.replaceChildren(field("Game", control), ...this.parameters.fields, ...this.more);
  }

  value() {
    return { name: this.game.name, parameters: this.parameters.values() };
  }
}

// An agent that can play a game, with its options and heuristic; with `person`, also somebody at this page. `more` stands behind.
export class AgentForm {
  constructor(known, game, { chosen = null, name = "Agent", person = false, more = [], onchange = () => {} } = {}) {
    Object.assign(this, { known, game, name, person, more, onchange });
    this.box = h("div", { class: "fields" });
    this.choose(game.agents.includes(chosen) || (person && chosen === "") ? chosen : game.agents[0]);
  }

  choose(agent) {
    this.agent = this.known.find((one) => one.name === agent) ?? null;
    const names = [...(this.person ? [["", "You"]] : []), ...this.game.agents.map((one) => [one, one])];
    const control = select(names, agent, (chosen) => {
      this.choose(chosen);
      this.box.querySelector("select").focus();
      this.onchange();
    });
    const fields = [field(this.name, control)];
    this.options = null;
    this.heuristic = null;
    if (this.agent) {
      if (this.agent.wants_heuristic && this.game.heuristics.length > 1) {
        this.heuristic = select(this.game.heuristics.map((one) => [one, one]), this.game.default_heuristic ?? this.game.heuristics[0], () => this.onchange());
        fields.push(field("Heuristic", this.heuristic));
      }
      this.options = new Parameters(this.agent.options, () => this.onchange());
      fields.push(...this.options.fields);
    }
    this.box.replaceChildren(...fields, ...this.more);
  }

  // Null where a person plays.
  value() {
    if (!this.agent) return null;
    const heuristic = this.heuristic?.value;
    return {
      agent: this.agent.name,
      options: this.options.values(),
      heuristic: heuristic && heuristic !== this.game.default_heuristic ? heuristic : null,
    };
  }
}

// Limits of a decision.
export class LimitsForm {
  constructor({ nodes = "", seconds = "", onchange = () => {} } = {}) {
    this.nodes = number(nodes, { low: 1, high: 1e9, placeholder: "no limit" });
    this.seconds = number(seconds, { low: 0.01, high: 60, step: "any", placeholder: "no limit" });
    for (const node of [this.nodes, this.seconds]) node.addEventListener("change", () => onchange());
    this.fields = [field("Nodes a decision", this.nodes), field("Seconds a decision", this.seconds)];
  }

  value() {
    const found = {};
    if (this.nodes.value) found.nodes = Number(this.nodes.value);
    if (this.seconds.value) found.seconds = Number(this.seconds.value);
    return found;
  }
}
