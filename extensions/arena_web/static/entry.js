// One entry of a tournament: what it is, how it stands on each board, whom it met, how it failed, and the panels of plugins.
import { get } from "./api.js";
import { h, whole } from "./dom.js";
import { faultBox, fillPanels, head, main, matchesAddress } from "./page.js";

const key = document.body.dataset.key;
const label = new URLSearchParams(location.search).get("name") ?? "";
const faults = faultBox();
const about = h("section", { class: "card", "aria-label": "what it is" });
const boards = h("div", { class: "stack" }), panels = h("div", { class: "stack" });

main.append(
  head(label, null, h("a", { class: "button", href: matchesAddress(key, { agent: label }) }, "Its matches"), h("a", { class: "button", href: `/t/${key}` }, "Leaderboard")),
  faults.box,
);

const query = new URLSearchParams({ name: label });
Promise.all([get(`/api/t/${key}/entry?${query}`), get(`/api/t/${key}`)]).then(show).catch((error) => faults.show(error.message));

function show([entry, state]) {
  document.title = `${label} in ${entry.name} | arena`;
  main.querySelector(".head h1").after(h("p", {}, `An entry of ${entry.name}.`));
  main.append(about, boards, panels);
  boards.replaceChildren(...entry.boards.map((board) => boardOf(board, state.boards[board.number])));
  get(`/api/t/${key}/entry/facts?${query}`).then(({ entry: found }) => about.replaceChildren(...facts(found))).catch((error) => {
    about.replaceChildren(h("h2", {}, "What it is"), h("p", { class: "dim" }, `This cannot be told without its plugin: ${error.message}`));
  }).then(() => fillPanels(panels, key, { place: "agent", id: label }));
}

// Options, heuristic, limits and source; once for all boards where they are the same.
function facts(found) {
  const told = found.map(({ board, title, ...rest }) => ({ title, rest, text: JSON.stringify(rest) }));
  const kinds = [...new Set(told.map((one) => one.text))];
  return kinds.flatMap((text, place) => {
    const same = told.filter((one) => one.text === text), { rest } = same[0];
    const where = kinds.length > 1 ? `: ${same.map((one) => one.title).join(", ")}` : "";
    return [h("h2", { class: place ? "gap gap-small-below" : "gap-small-below" }, `What it is${where}`), rest.summary ? h("p", { class: "gap-small-below" }, rest.summary) : null, h("dl", { class: "pairs" }, pairs(rest).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))];
  }).filter((node) => node !== null);
}

function pairs({ agent, options, heuristic, limits, moves, isolation, source }) {
  const list = (values) => Object.entries(values).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join(", ");
  const estimate = heuristic && [heuristic.name, ...Object.entries(heuristic.parameters).map(([name, value]) => `${name}=${value}`)].join(", ");
  return [
    ["Agent", agent],
    ["Options", list(options) || "none"],
    ["Heuristic", estimate ?? "none"],
    ["Limits a decision", list(limits) || "none"],
    ["Moves a match", `${whole(moves)} at the most`],
    ["Runs in", isolation === "none" ? "arena's own process" : isolation === "process" ? "a process of its own" : "a sandbox"],
    ["Source", h("code", {}, source)],
  ];
}

function boardOf(board, state) {
  const failures = state.failures.filter((one) => one.agent === label);
  return h(
    "section",
    { class: "card", "aria-label": board.title },
    h("h2", {}, board.title),
    standing(board, state),
    board.meetings.length ? [h("h3", { class: "gap gap-small-below" }, "Against each"), met(board)] : null,
    h("h3", { class: "gap" }, "Failures"),
    failures.length ? h("ul", { class: "failures" }, failures.map((one) => failed(one, board))) : h("p", { class: "dim" }, "None."),
  );
}

// Its row of the leaderboard, heading by heading.
function standing(board, state) {
  const row = state.table.agents.indexOf(label);
  const cells = state.table.columns.filter((column) => column.key !== "agent").map((column) => [column.heading, column.cells[row]]);
  return h("dl", { class: "figures figures-small" }, cells.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text === "" ? "-" : text))));
}

function met(board) {
  const columns = ["Opponent", "Games", "1st seat", "W", "D", "L", "Score"];
  const games = (opponent, result, text) => h("a", { href: matchesAddress(key, { board: String(board.number), agent: label, opponent, result }) }, text);
  const rows = board.meetings.map((one) => h(
    "tr",
    {},
    h("th", { scope: "row" }, games(one.opponent, "", one.opponent)),
    h("td", { class: "number" }, whole(one.games)),
    h("td", { class: "number" }, whole(one.first)),
    [["win", one.wins], ["draw", one.draws], ["loss", one.losses]].map(([result, count]) => h("td", { class: "number" }, count ? games(one.opponent, result, whole(count)) : "0")),
    h("td", { class: "number" }, `${(100 * one.score).toFixed(1)} %`),
  ));
  return h(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": `opponents on ${board.title}` },
    h("table", {}, h("thead", {}, h("tr", {}, columns.map((name, place) => h("th", { scope: "col", class: place ? "number" : null }, name)))), h("tbody", {}, rows)),
  );
}

function failed(one, board) {
  const all = matchesAddress(key, { board: String(board.number), agent: label, ending: one.kind });
  return h("li", {}, h("a", { href: all }, `${one.count === 1 ? "once" : `${whole(one.count)} times`} by ${one.kind}`), `: ${one.message ?? ""} `, h("a", { href: `/t/${key}/match/${one.first}` }, "see the first"));
}
