// The page of one entry: its options, its results on each board and against each opponent, its failures, and the panels of
// plugins.
import { get } from "./api.js";
import { breakable, h, prose, whole } from "./dom.js";
import { faultBox, fillPanels, head, main, matchesAddress } from "./page.js";

const key = document.body.dataset.key;
const label = new URLSearchParams(location.search).get("name") ?? "";
const RESULTS = { wins: "Won", draws: "Drawn", losses: "Lost" };
const faults = faultBox();
const about = h("section", { class: "card", "aria-label": "about this agent" });
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
  const heading = h("h2", { class: "gap-small-below" }, "About this agent");
  about.replaceChildren(heading, h("p", { class: "dim", role: "status" }, "Loading…"));
  get(`/api/t/${key}/entry/facts?${query}`).then(({ entry: found }) => about.replaceChildren(heading, facts(found))).catch((error) => {
    about.replaceChildren(heading, h("p", { class: "dim" }, `The plugin of this agent could not be loaded: ${error.message}. If it is in a file, start the server with `, h("code", {}, "arena serve STORE --plugin FILE"), "."));
  }).then(() => fillPanels(panels, key, { place: "agent", id: label }));
}

// Show options, heuristic, limits and source, one line for each. If a value differs between boards, the boards are named.
function facts(found) {
  const boards = found.map(pairs);
  return h("dl", { class: "pairs" }, boards[0].flatMap(([name], place) => {
    const texts = boards.map((lines) => lines[place][1]), distinct = [...new Set(texts)];
    const shown = name === "Source" ? (text) => h("code", {}, text) : prose;
    const where = (text) => found.filter((_, number) => texts[number] === text).map((one) => one.title).join(", ");
    if (distinct.every((text) => text === "")) return [];
    const values = distinct.map((text) => h("dd", {}, shown(text), distinct.length > 1 ? h("span", { class: "dim" }, ` (${where(text)})`) : null));
    return [h("dt", {}, name), ...values];
  }));
}

function pairs({ agent, summary, options, heuristic, limits, moves, isolation, source }) {
  const list = (values) => Object.entries(values).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join(", ");
  const estimate = heuristic && [heuristic.name, ...Object.entries(heuristic.parameters).map(([name, value]) => `${name}=${value}`)].join(", ");
  return [
    ["Agent", agent],
    ["How it plays", summary],
    ["Options", list(options) || "none"],
    ["Heuristic", estimate ?? "none"],
    ["Limits per decision", list(limits) || "none"],
    ["Moves per match", moves === null ? "" : `at most ${whole(moves)}`],
    ["Runs in", isolation === null ? "" : isolation === "none" ? "arena's own process" : isolation === "process" ? "its own process" : "a sandbox"],
    ["Source", source],
  ];
}

function boardOf(board, state) {
  const failures = state.failures.filter((one) => one.agent === label);
  return h(
    "section",
    { class: "card", "aria-label": board.title },
    h("h2", {}, board.title),
    standing(board, state),
    board.meetings.length ? [h("h3", { class: "gap gap-small-below" }, "Results against each opponent"), met(board)] : null,
    h("h3", { class: "gap" }, "Failures"),
    failures.length ? h("ul", { class: "failures" }, failures.map((one) => failed(one, board))) : h("p", { class: "dim" }, "None."),
  );
}

// Show the row of the entry on the leaderboard, with the heading of each column.
function standing(board, state) {
  const row = state.table.agents.indexOf(label);
  const cells = state.table.columns.filter((column) => column.key !== "agent").map((column) => [RESULTS[column.key] ?? column.heading, column.cells[row]]);
  return h("dl", { class: "figures figures-small" }, cells.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text === "" ? "-" : text))));
}

function met(board) {
  const columns = ["Opponent", "Score", ...Object.values(RESULTS), "Games", "In 1st seat"];
  const games = (opponent, result, text) => h("a", { href: matchesAddress(key, { board: String(board.number), agent: label, opponent, result }) }, text);
  const rows = board.meetings.map((one) => h(
    "tr",
    {},
    h("th", { scope: "row" }, games(one.opponent, "", breakable(one.opponent))),
    h("td", { class: "number" }, `${(100 * one.score).toFixed(1)} %`),
    [["win", one.wins], ["draw", one.draws], ["loss", one.losses]].map(([result, count]) => h("td", { class: "number" }, count ? games(one.opponent, result, whole(count)) : "0")),
    h("td", { class: "number" }, whole(one.games)),
    h("td", { class: "number" }, whole(one.first)),
  ));
  return h(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": `opponents on ${board.title}` },
    h("table", { class: "leaderboard" }, h("thead", {}, h("tr", {}, columns.map((name, place) => h("th", { scope: "col", class: place ? "number" : null }, name)))), h("tbody", {}, rows)),
  );
}

function failed(one, board) {
  const all = matchesAddress(key, { board: String(board.number), agent: label, ending: one.kind });
  return h("li", {}, h("a", { href: all }, `${one.count === 1 ? "once" : `${whole(one.count)} times`} by ${one.kind}`), `: ${one.message ?? ""} `, h("a", { href: `/t/${key}/match/${one.first}` }, "see the first"));
}
