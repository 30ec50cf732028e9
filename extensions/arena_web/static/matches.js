// The list of the matches of a tournament, page by page, filtered by player, ending and length.
import { at, get } from "./api.js";
import { amount, h, whole } from "./dom.js";
import { button, entryAddress, faultBox, main, matchesAddress } from "./page.js";
import { result } from "./player.js";

const key = document.body.dataset.key;
const asked = new URLSearchParams(location.search);
const NAMES = ["board", "agent", "opponent", "result", "ending", "shortest", "longest"];
const state = { page: Number(asked.get("page")) || 0, ...Object.fromEntries(NAMES.map((name) => [name, asked.get(name) ?? ""])) };
const faults = faultBox();
const title = h("h1", {}, "Matches");
const filters = h("div", { class: "pair filters-of-list gap-below" });
const list = h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "matches" });
const foot = h("div", { class: "row between gap" });
let boards = [];

main.append(
  h("div", { class: "head" }, title, h("a", { class: "button", href: at(`/t/${key}`) }, "Leaderboard")),
  faults.box,
  h("section", { class: "card", "aria-label": "list" }, filters, list, foot),
);
show();

async function show() {
  let found;
  try {
    faults.show(null);
    found = await get(`/api/t/${key}/matches?${new URLSearchParams(state)}`);
  } catch (error) {
    return faults.show(error.message);
  }
  boards = found.boards;
  document.title = `Matches of ${found.name} | arena`;
  title.textContent = `Matches of ${found.name}`;
  const focused = filters.contains(document.activeElement) ? document.activeElement.name : null;
  filters.replaceChildren(...choices());
  if (focused) filters.querySelector(`[name="${focused}"]`)?.focus();
  list.replaceChildren(found.matches.length ? table(found.matches) : h("p", { class: "empty" }, "No matches fit these filters."));
  foot.replaceChildren(...pager(found));
  return history.replaceState(null, "", matchesAddress(key, state));
}

// Return the chosen boards and all their entries.
function chosen() {
  return state.board === "" ? boards : boards.filter((_, number) => String(number) === state.board);
}

function choices() {
  const labels = [...new Set(chosen().flatMap((board) => board.labels))];
  const puzzles = chosen().some((board) => board.kind === "puzzle"), games = chosen().some((board) => board.kind === "versus");
  const found = [];
  if (boards.length > 1) found.push(select("Board", "board", [["", "all boards"], ...boards.map((board, number) => [String(number), board.title])]));
  found.push(select("Agent", "agent", [["", "all agents"], ...labels.map((label) => [label, label])]));
  if (games && state.agent) found.push(select("Opponent", "opponent", [["", "all opponents"], ...labels.filter((label) => label !== state.agent).map((label) => [label, label])]));
  found.push(select("Result", "result", results(puzzles, games)));
  found.push(select("Ending", "ending", [["", "any ending"], ["failed", "failures"], ...(puzzles ? [["gave-up", "gave up"], ["out-of-budget", "out of budget"]] : []), ...(games ? [["adjudicated", "adjudicated"]] : []), ["move-limit", "move limit"]]));
  return [...found, bound("Fewest moves", "shortest"), bound("Most moves", "longest")];
}

// Name the results as seen by the chosen agent, or by the first seat if none is chosen.
function results(puzzles, games) {
  const whose = state.agent ? "" : "first seat ";
  const words = games ? { win: `${whose}won`, draw: "drawn", loss: `${whose}lost` } : {};
  if (puzzles) Object.assign(words, { win: [words.win, "solved"].filter(Boolean).join(", "), loss: [words.loss, "not solved"].filter(Boolean).join(", ") });
  return [["", "any result"], ...Object.entries(words)];
}

function select(name, what, options) {
  const known = options.some(([value]) => value === state[what]) ? options : [...options, [state[what], state[what]]];
  const node = h("select", { name: what, onchange: () => change(what, node.value) }, known.map(([value, text]) => h("option", { value, selected: value === state[what] }, text)));
  return h("label", { class: "field" }, h("span", {}, name), node);
}

function bound(name, what) {
  const node = h("input", { name: what, type: "number", min: "0", inputmode: "numeric", placeholder: "any", value: state[what], onchange: () => change(what, node.value) });
  return h("label", { class: "field" }, h("span", {}, name), node);
}

function change(what, value) {
  state[what] = value;
  state.page = 0;
  const there = new Set(chosen().flatMap((board) => board.labels));
  if (!there.has(state.agent)) state.agent = "";
  if (state.opponent === state.agent || !there.has(state.opponent) || !state.agent) state.opponent = "";
  show();
}

function table(matches) {
  const several = boards.length > 1;
  const columns = ["No.", several ? "Board" : null, "Match", "Result", "Round", "Moves"].filter((name) => name !== null);
  const query = matchesAddress("", { ...state, page: 0 }).split("?")[1];
  return h(
    "table",
    { class: "matches" },
    h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col", class: ["No.", "Round", "Moves"].includes(name) ? "number" : null }, name)))),
    h("tbody", {}, matches.map((match) => h(
      "tr",
      {},
      h("td", { class: "number number-of dim" }, whole(match.number)),
      several ? h("td", { class: "of-board" }, match.board) : null,
      h("th", { scope: "row", class: "match-of" }, h("a", { href: at(`/t/${key}/match/${match.id}${query ? `?${query}` : ""}`) }, match.labels.join(" – "))),
      h("td", { class: "result-of" }, ["normal", "adjudicated", "move-limit", "gave-up", "out-of-budget", "stuck"].includes(match.termination) ? result(match) : h("span", { class: "bad" }, result(match))),
      h("td", { class: "number round-of" }, whole(match.round)),
      h("td", { class: `number moves-of${match.moves === null ? " unknown" : ""}` }, whole(match.moves)),
    ))),
  );
}

function pager(found) {
  const turn = (by) => { state.page += by; show().then(() => list.focus()); };
  const back = button("Newer", () => turn(-1)), on = button("Older", () => turn(1));
  back.disabled = found.page === 0;
  on.disabled = found.page >= found.pages - 1;
  const whose = state.agent ? [h("a", { class: "button", href: entryAddress(key, state.agent) }, `About ${state.agent}`)] : [];
  return [h("p", { class: "dim", role: "status" }, `${amount(found.total, "match", "matches")}, page ${whole(found.page + 1)} of ${whole(found.pages)}`), h("div", { class: "row" }, whose, back, on)];
}
