// A form for a small tournament, and the spec that it describes.
import { begin, keep as remember, list, mapping } from "./address.js";
import { givenUp, post } from "./api.js";
import { amount, h } from "./dom.js";
import { AgentForm, GameForm, LimitsForm, field, inventory, number, numberIn, put, select } from "./forms.js";
import { button, faultBox, head, main } from "./page.js";

const WAIT = 250;
const MOST = 16;

const SWEEPS = "Several values separated by commas, such as 1, 2, 3, are a sweep. For an option of an agent, each value makes an entry; for a parameter of the game, each value makes a board.";

const faults = faultBox();
const name = h("input", { type: "text", value: "My tournament", maxlength: "100" });
const rounds = number("20", { low: 1, high: 1000 });
const plies = number("", { low: 1, high: 1000, placeholder: "none" });
const seed = number("0", { low: 0, high: 2 ** 31 });
const limits = new LimitsForm({ onchange: changed });
const entries = h("div", { class: "stack-small" });
const yaml = h("pre", { class: "code", tabindex: "0", role: "group", "aria-label": "spec as YAML" });
const said = h("p", { class: "dim small", role: "status" });
const save = button("Save", () => keep("/api/save"));
const start = button("Save and start", () => keep("/api/start"), "primary");
const add = button("Add an agent", () => { addEntry(); changed(); });
let known, games, formats, agents = [], timer = null, asking = null;

main.append(head("New tournament", "Choose the game and the agents; the spec below shows what will be played."), faults.box);
inventory().then(build).catch((error) => faults.show(error.message));

function build(found) {
  known = found;
  formats = h("div", { class: "field" });
  games = new GameForm(found.games, known.first.game, (other) => { if (other) gameChanged(); changed(); }, [], { sweeps: true });
  for (const control of [name, rounds, plies, seed]) control.addEventListener("input", changed);
  const form = h(
    "form",
    { class: "card stack-small", "aria-label": "tournament", onsubmit: (event) => event.preventDefault() },
    field("Name", name),
    games.box,
    h("div", { class: "fields" }, formats, field("Rounds", rounds), field("Opening plies", plies), field("Seed", seed), limits.fields),
    h("fieldset", {}, h("legend", {}, "Agents"), h("p", { class: "dim small gap-small-below" }, SWEEPS), entries, h("div", { class: "row gap-small" }, add)),
  );
  const spec = h("section", { class: "card stack-small sticky", "aria-label": "spec" }, h("h2", {}, "Spec"), faults.box, yaml, said, h("div", { class: "row" }, start, save));
  main.append(h("div", { class: "columns columns-board" }, form, spec));
  return begin(faults, restore, () => {
    games.choose(games.games.find((game) => game.name === known.first.game) ?? games.games[0]);
    gameChanged();
    changed();
  });
}

// Fill the form with the values in the address.
function restore(saved) {
  games.set(saved.game);
  gameChanged();
  for (const [what, node] of Object.entries({ name, rounds, plies, seed })) put(node, saved[what], what);
  limits.set(saved.limits ?? {});
  put(formats.querySelector("select"), saved.format, "format");
  clearEntries();
  for (const agent of list(saved.agents, "agents").slice(0, MOST)) {
    addEntry();
    agents.at(-1).form.set(agent);
    put(agents.at(-1).label, mapping(agent, "agent").label, "label");
  }
  changed();
}

function clearEntries() {
  agents = [];
  entries.replaceChildren();
}

function gameChanged() {
  const game = games.game;
  const fit = known.formats.filter((format) => (format.kind === "puzzle") === game.alone);
  formats.replaceChildren(...field("Format", select(fit.map((format) => [format.name, format.name]), game.alone ? "benchmark" : "round-robin", changed)).childNodes);
  clearEntries();
  (game.entries.length ? game.entries : game.agents.slice(0, 2)).forEach((chosen, place, all) => {
    const earlier = all.slice(0, place).filter((other) => other === chosen).length;
    addEntry(chosen, earlier ? `${chosen} ${earlier + 1}` : "");
  });
}

function addEntry(chosen = null, called = "") {
  const label = h("input", { type: "text", value: called, maxlength: "100", placeholder: "name of the agent", oninput: changed });
  const row = h("fieldset", { class: "entry" });
  const entry = { label, row };
  const remove = button("Remove", () => {
    agents = agents.filter((other) => other !== entry);
    row.remove();
    changed();
    add.focus();
  });
  entry.form = new AgentForm(known.agents, games.game, { chosen, sweeps: true, onchange: changed, more: [field("Label", label), remove] });
  row.append(h("legend", { class: "visually-hidden" }, `Agent ${agents.length + 1}`), entry.form.box);
  agents.push(entry);
  entries.append(row);
}

function value() {
  return {
    name: name.value,
    game: games.value(),
    format: formats.querySelector("select").value,
    rounds: numberIn(rounds),
    plies: numberIn(plies),
    seed: numberIn(seed),
    limits: limits.value(),
    agents: agents.map(({ form, label }) => ({ ...form.value(), label: label.value.trim() || null })),
  };
}

function changed() {
  add.disabled = agents.length >= MOST;
  clearTimeout(timer);
  timer = setTimeout(preview, WAIT);
}

async function preview() {
  asking?.abort();
  asking = new AbortController();
  const tournament = value();
  remember(tournament);
  try {
    const found = await post("/api/spec", { tournament }, asking.signal);
    yaml.textContent = found.yaml;
    yaml.classList.remove("stale");
    said.textContent = `${amount(found.matches, "match", "matches")}${found.notes.length ? `; ${found.notes.join("; ")}` : ""}`;
    faults.show(null);
    save.disabled = start.disabled = false;
  } catch (error) {
    if (givenUp(error)) return;
    showFaults(error);
    yaml.classList.add("stale");
    said.textContent = yaml.textContent === "" ? "Correct these mistakes to see the spec." : "This is the last correct spec; it does not contain the changes with mistakes.";
    save.disabled = start.disabled = true;
  }
}

async function keep(path) {
  save.disabled = start.disabled = true;
  try {
    const found = await post(path, { tournament: value() });
    if (found.key) location.assign(`/t/${found.key}`);
    else said.textContent = `Saved as ${found.file}; play it with: arena run ${found.file}`;
  } catch (error) {
    showFaults(error);
  }
  save.disabled = start.disabled = false;
}

// Show the faults beside the spec. An agent is named by its place in the form and its name rather than by its index.
function showFaults(error) {
  const named = (_, number, dot) => {
    const form = agents[number]?.form;
    return `agent ${Number(number) + 1}${form ? ` (${form.agent.name})` : ""}${dot ? ", " : ""}`;
  };
  faults.list((error.faults ?? [error.message]).map((fault) => fault.replace(/^agents\[(\d+)\](\.?)/, named)));
}
