// Parts of forms: a game with its parameters, an agent with its options, and limits.
import { mapping, text as textIn } from "./address.js";
import { get } from "./api.js";
import { h, prose } from "./dom.js";
import { main } from "./page.js";

export async function inventory() {
  const loading = h("p", { class: "card empty", role: "status" }, "Loading games and agents…");
  main.append(loading);
  try {
    return await get("/api/inventory");
  } finally {
    loading.remove();
  }
}

// Show the summary of a game or an agent in a line below its fields.
function about(summary) {
  return h("p", { class: "about dim small", hidden: summary === "" }, prose(summary));
}

let count = 0;

// Return a field with its label; `note` is shown below it.
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

// Return the number in a field. If the text is not a number, the server reports that.
export function numberIn(node, empty = null) {
  if (node.validity.badInput) return "no number";
  return node.value === "" ? empty : Number(node.value);
}

// Set a control to a value from the address or another page. Throws an Error if the control does not accept it.
export function put(node, value, what) {
  const text = value === null || value === undefined ? "" : String(value);
  node.value = text;
  if (typeof value === "object" && value !== null || node.value !== text) throw new Error(`${what}: ${JSON.stringify(value)} cannot be chosen`);
}

// Fields for parameters, as described by the inventory. `values()` returns the values that differ from their defaults.
export class Parameters {
  constructor(known, onchange) {
    this.known = known;
    this.controls = known.map(control);
    this.fields = known.map((one, place) => field(one.name.replaceAll("_", " "), this.controls[place]));
    for (const node of this.controls) node.addEventListener("change", onchange);
  }

  values() {
    const found = {};
    this.known.forEach((one, place) => {
      const value = valueOf(one, this.controls[place]);
      if (value !== one.default) found[one.name] = value;
    });
    return found;
  }

  // Set the fields to values that `values()` returned.
  set(values) {
    for (const name of Object.keys(mapping(values, "parameters"))) {
      if (!this.known.some((one) => one.name === name)) throw new Error(`there is no option ${name}`);
    }
    this.known.forEach((one, place) => {
      if (Object.hasOwn(values, one.name)) put(this.controls[place], values[one.name], one.name);
    });
  }
}

function control(one) {
  const none = one.optional ? [["", "none"]] : [];
  if (one.kind === "choice") return select([...none, ...one.choices.map((choice) => [String(choice), String(choice)])], one.default === null ? "" : String(one.default));
  if (one.kind === "flag") return select([...none, ["true", "yes"], ["false", "no"]], String(one.default ?? ""));
  if (one.kind === "text") return h("input", { type: "text", value: one.default ?? "" });
  const placeholder = one.optional ? "none" : null;
  return number(one.default ?? "", { low: one.low, high: one.high, step: one.kind === "integer" ? "1" : "any", placeholder });
}

function valueOf(one, node) {
  const text = node.value.trim();
  if (text === "" && !node.validity.badInput) return one.optional ? null : one.default;
  if (one.kind === "flag") return text === "true";
  if (one.kind === "choice") return one.choices.find((choice) => String(choice) === text);
  if (one.kind === "text") return node.value;
  return numberIn(node);
}

// A game and its parameters. `onchange(other)` is called after every change; `other` says whether a different game was chosen.
// `more` is shown after the fields.
export class GameForm {
  constructor(games, chosen, onchange, more = []) {
    Object.assign(this, { games, onchange, more });
    this.box = h("div", { class: "fields" });
    this.choose(games.find((game) => game.name === chosen) ?? games[0]);
  }

  choose(game) {
    this.game = game;
    this.parameters = new Parameters(game.parameters, () => this.onchange(false));
    const names = this.games.map((one) => [one.name, one.name]);
    const control = select(names, game.name, (name) => {
      this.choose(this.games.find((one) => one.name === name));
      this.box.querySelector("select").focus();
      this.onchange(true);
    });
    this.box.replaceChildren(field("Game", control), ...this.parameters.fields, about(game.summary), ...this.more);
  }

  value() {
    return { name: this.game.name, parameters: this.parameters.values() };
  }

  set(value) {
    const found = this.games.find((one) => one.name === mapping(value, "game").name);
    if (!found) throw new Error(`there is no ${JSON.stringify(value.name)} among the games on this server`);
    this.choose(found);
    this.parameters.set(value.parameters ?? {});
  }
}

// An agent that can play a game, with its options and heuristic. With `person`, a person at this page can be chosen too.
export class AgentForm {
  constructor(known, game, { chosen = null, name = "Agent", person = false, onchange = () => {} } = {}) {
    Object.assign(this, { known, game, name, person, onchange });
    this.box = h("div", { class: "fields" });
    this.choose(game.agents.includes(chosen) || (person && chosen === "") ? chosen : game.agents[0]);
  }

  choose(agent, heuristic = this.usual) {
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
      fields.push(...this.#estimates(heuristic));
      this.options = new Parameters(this.agent.options, () => this.onchange());
      fields.push(...this.options.fields);
    }
    this.box.replaceChildren(...fields, about(this.agent?.summary ?? ""));
  }

  get usual() {
    return this.game.default_heuristic ?? this.game.heuristics[0]?.name ?? null;
  }

  // Show the fields for the heuristic if the agent uses one and the game has some.
  #estimates(name) {
    const known = this.game.heuristics.find((one) => one.name === name);
    if (!this.agent.uses_heuristic || !known) return [];
    const parameters = new Parameters(known.parameters, () => this.onchange());
    this.heuristic = { name, parameters };
    const control = select(this.game.heuristics.map((one) => [one.name, one.name]), name, (chosen) => {
      const options = this.options.values();
      this.choose(this.agent.name, chosen);
      this.options.set(options);
      this.box.querySelectorAll("select")[1].focus();
      this.onchange();
    });
    return [field("Heuristic", control), ...parameters.fields];
  }

  // Return the value of the form; null if a person plays.
  value() {
    if (!this.agent) return null;
    return { agent: this.agent.name, options: this.options.values(), heuristic: this.#wanted() };
  }

  #wanted() {
    if (!this.heuristic) return null;
    const { name } = this.heuristic, parameters = this.heuristic.parameters.values();
    if (Object.keys(parameters).length) return { name, parameters };
    return name === this.game.default_heuristic ? null : name;
  }

  // Set the form to a value that `value()` returned.
  set(value) {
    if (value === null && this.person) return this.choose("");
    const { agent, options, heuristic } = mapping(value, "agent");
    if (!this.game.agents.includes(agent)) throw new Error(`${JSON.stringify(agent)} is not an agent for ${this.game.name}`);
    const wanted = typeof heuristic === "string" ? { name: heuristic } : heuristic ?? { name: this.usual };
    this.choose(agent, textIn(mapping(wanted, "heuristic").name ?? "", "heuristic"));
    if (heuristic && !this.heuristic) throw new Error(`${JSON.stringify(wanted.name)} is not a heuristic for ${agent} in ${this.game.name}`);
    this.heuristic?.parameters.set(wanted.parameters ?? {});
    return this.options.set(options ?? {});
  }
}

// The limits on a decision.
export class LimitsForm {
  constructor({ nodes = "", seconds = "", onchange = () => {} } = {}) {
    this.usual = [nodes, seconds];
    this.nodes = number(nodes, { low: 1, high: 1e9, placeholder: "no limit" });
    this.seconds = number(seconds, { low: 0.01, high: 60, step: "any", placeholder: "no limit" });
    for (const node of [this.nodes, this.seconds]) node.addEventListener("change", () => onchange());
    this.fields = [field("Nodes per decision", this.nodes), field("Seconds per decision", this.seconds)];
  }

  value() {
    const found = {};
    for (const name of ["nodes", "seconds"]) {
      const value = numberIn(this[name]);
      if (value !== null) found[name] = value;
    }
    return found;
  }

  // The limits for a request. If they are still the ones that the page began with, no random move may replace an agent's own.
  asked() {
    const patient = [this.nodes, this.seconds].every((node, place) => node.value === this.usual[place]);
    return patient ? { ...this.value(), patient } : this.value();
  }

  set(value) {
    const { nodes, seconds } = mapping(value, "limits");
    put(this.nodes, nodes, "nodes");
    put(this.seconds, seconds, "seconds");
  }
}
