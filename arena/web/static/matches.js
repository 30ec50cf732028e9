// The matches of a tournament, some at a time.
import { get } from "./api.js";
import { h, whole } from "./dom.js";
import { button, faultBox, main } from "./page.js";
import { result } from "./player.js";

const key = document.body.dataset.key;
const asked = new URLSearchParams(location.search);
const state = { page: Number(asked.get("page")) || 0, board: asked.get("board") ?? "", agent: asked.get("agent") ?? "", ending: asked.get("ending") ?? "" };
const faults = faultBox();
const title = h("h1", {}, "Matches");
const filters = h("div", { class: "fields gap-below" });
const list = h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "matches" });
const foot = h("div", { class: "row between gap" });
let boards = [];

main.append(
  h("div", { class: "head" }, title, h("a", { class: "button", href: `/t/${key}` }, "Leaderboard")),
  faults.box,
  h("section", { class: "card", "aria-label": "list" }, filters, list, foot),
);
show();

async function show() {
  const query = new URLSearchParams({ page: state.page });
  if (state.board !== "") query.set("board", state.board);
  if (state.ending) query.set("ending", state.ending);
  const place = state.agent ? labels().indexOf(state.agent) : -1;
  if (state.agent && !boards.length) {
    boards = (await pageOf(new URLSearchParams({ page: 0 })))?.boards ?? [];
    return boards.length ? show() : undefined;
  }
  if (place >= 0) query.set("agent", place);
  const found = await pageOf(query);
  if (!found) return undefined;
  boards = found.boards;
  document.title = `Matches of ${found.name} | arena`;
  title.textContent = `Matches of ${found.name}`;
  filters.replaceChildren(...choices());
  list.replaceChildren(found.matches.length ? table(found.matches) : h("p", { class: "empty" }, "No match is like that."));
  foot.replaceChildren(...pager(found));
  const shown = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== "" && value !== 0));
  history.replaceState(null, "", shown.size ? `?${shown}` : location.pathname);
  return undefined;
}

async function pageOf(query) {
  try {
    faults.show(null);
    return await get(`/api/t/${key}/matches?${query}`);
  } catch (error) {
    faults.show(error.message);
    return null;
  }
}

// The entries of the board that is chosen, or of the first; with several boards an agent is looked for on one of them.
function labels() {
  return boards[Number(state.board) || 0]?.labels ?? [];
}

function choices() {
  const found = [];
  if (boards.length > 1) found.push(select("Board", "board", [["", "all boards"], ...boards.map((board, number) => [String(number), board.title])]));
  if (boards.length === 1 || state.board !== "") found.push(select("Agent", "agent", [["", "all agents"], ...labels().map((label) => [label, label])]));
  const puzzles = boards.some((board) => board.kind === "puzzle");
  found.push(select("Ending", "ending", [["", "any ending"], ["failed", "failures"], ...(puzzles ? [["unsolved", "unsolved"], ["gave-up", "gave up"]] : []), ["move-limit", "move limit"]]));
  return found;
}

function select(name, what, options) {
  const node = h("select", { onchange: () => change(what, node.value) }, options.map(([value, text]) => h("option", { value, selected: value === state[what] }, text)));
  return h("label", { class: "field" }, h("span", {}, name), node);
}

function change(what, value) {
  state[what] = value;
  state.page = 0;
  if (what === "board") state.agent = "";
  show();
}

function table(matches) {
  const several = boards.length > 1;
  const columns = ["", several ? "Board" : null, "Match", "Result", "Round", "Moves"].filter((name) => name !== null);
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, columns.map((name) => (name ? h("th", { scope: "col", class: ["Round", "Moves"].includes(name) ? "number" : null }, name) : h("td"))))),
    h("tbody", {}, matches.map((match) => h(
      "tr",
      {},
      h("td", { class: "number dim" }, whole(match.number)),
      several ? h("td", {}, match.board) : null,
      h("th", { scope: "row" }, h("a", { href: `/t/${key}/match/${match.id}` }, match.labels.join(" – "))),
      h("td", {}, ["normal", "adjudicated", "move-limit", "gave-up", "stuck"].includes(match.termination) ? result(match) : h("span", { class: "bad" }, result(match))),
      h("td", { class: "number" }, whole(match.round)),
      h("td", { class: "number" }, whole(match.moves)),
    ))),
  );
}

function pager(found) {
  const turn = (by) => { state.page += by; show().then(() => list.focus()); };
  const back = button("Previous", () => turn(-1)), on = button("Next", () => turn(1));
  back.disabled = found.page === 0;
  on.disabled = found.page >= found.pages - 1;
  return [h("p", { class: "dim", role: "status" }, `${whole(found.total)} matches, page ${whole(found.page + 1)} of ${whole(found.pages)}`), h("div", { class: "row" }, back, on)];
}
