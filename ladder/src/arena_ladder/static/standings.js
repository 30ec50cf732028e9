// The live standings of a ladder: the rating, its interval and history, the games and the faults of every agent in play. For a
// puzzle, the page shows the solved share, the cost and the effort.
import { at } from "./api.js";
import { amount, figure as written, h, s, whole } from "./dom.js";
import { entryAddress, faultBox, main } from "./page.js";
import { ask, token } from "./token.js";

const WIDTH = 88, HEIGHT = 26;
const STATES = { playing: "playing", checking: "checking submissions first", reviewing: "reviewing matches", idle: "no more matches needed", final: "final", paused: "paused", over: "over", starting: "starting", stopped: "stopped" };

const key = document.body.dataset.key;
const faults = faultBox();
const title = h("h1", {}, "Standings"), said = h("p", {}), tag = h("span", { class: "tag", role: "status" });
const boards = h("div", { class: "stack" });
const search = h("input", { type: "search", placeholder: "author or agent", oninput: () => last && show(last) });
const mine = h("input", { type: "checkbox", onchange: () => last && show(last) });
const only = h("label", { class: "row", hidden: true }, mine, h("span", {}, "Only mine"));
const find = h("div", { class: "row gap gap-below" }, h("label", { class: "row" }, h("span", {}, "Find"), search), only);
let last = null, author = null;
main.append(h("div", { class: "head" }, h("div", {}, title, said), h("div", { class: "row" }, tag, h("a", { class: "button primary", href: at("/hand-in") }, "Hand in an agent"))), faults.box, find, boards);
if (token()) {
  ask("/api/submissions").then((found) => {
    author = found.author;
    only.hidden = false;
    if (last) show(last);
  }, () => {});
}

const events = new EventSource(at("/api/events"));
events.addEventListener("standings", (event) => {
  faults.show(null);
  show(JSON.parse(event.data));
});
events.addEventListener("error", () => faults.show("The ladder does not answer; this page continues when it does."));

function show(told) {
  last = told;
  const { boards: found, state, matches, interval, anchor, name, positions, effort, hidden } = told;
  title.textContent = name;
  said.textContent = positions !== null ? (hidden ? `Ordered by the share of ${whole(positions)} hidden positions that an agent solves, then by mean cost, rounded to two digits. An agent's figures appear when it has attempted all positions; until then, it is marked with ….` : `Ordered by the share of ${whole(positions)} positions that an agent solves, then by mean cost, then by ${effort}. … marks agents that have not attempted all of them.`) : `Elo relative to ${anchor}, which has rating 0, with 95 % intervals. Agents of one author do not play each other. ${interval === null ? "Games are played until every mark is decided." : `Games are played until every interval is within ±${written(interval)}; … marks the agents whose interval is still wider.`}`;
  tag.textContent = STATES[state] ?? state;
  tag.className = state === "playing" ? "tag tag-live" : STATES[state] ? "tag" : "tag tag-bad";
  tag.title = `${amount(matches, "match", "matches")} since the ladder was started`;
  const held = document.activeElement?.getAttribute?.("href");
  boards.replaceChildren(...found.map((board) => boardOf(board, found.length > 1)));
  if (held) boards.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

function boardOf({ title: named, rows, kind }, several) {
  const numbers = kind === "puzzle" ? [["Solved", "95 % interval"], ["Attempts", "Mean cost", "Generated", "Seconds", "Faults"]] : [["Elo", "95 % interval"], ["Games", "Score", "Faults"]];
  const [before, after] = numbers.map((names) => names.map((name) => [name, "number"]));
  const columns = [["Rank", "number"], ["Agent"], ...before, ["Course"], ...after], draw = kind === "puzzle" ? solverRow : rowOf;
  return h(
    "section",
    { class: "card", "aria-label": named },
    several ? h("h2", {}, named) : null,
    h(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": `standings of ${named}` },
      h("table", {}, h("thead", {}, h("tr", {}, columns.map(([text, kind = null]) => h("th", { scope: "col", class: kind }, text)))), h("tbody", {}, rows.filter(wanted).map(draw))),
    ),
  );
}

// Return true if a row fits the search.
function wanted({ agent }) {
  return agent.toLowerCase().includes(search.value.trim().toLowerCase()) && (!mine.checked || agent.startsWith(`${author}/`));
}

function rowOf(row) {
  const sign = (value) => `${value > 0 ? "+" : ""}${Math.round(value)}`;
  const interval = row.rating_low === null && row.rating_high === null ? "-" : `${row.rating_low === null ? "?" : sign(row.rating_low)} to ${row.rating_high === null ? "?" : sign(row.rating_high)}`;
  return h(
    "tr",
    author !== null && row.agent.startsWith(`${author}/`) ? { class: "own" } : {},
    h("td", { class: "number" }, String(row.rank)),
    h("th", { scope: "row" }, h("a", { href: entryAddress(key, row.agent) }, row.agent)),
    h("td", { class: "number" }, row.rating === null ? "-" : sign(row.rating)),
    h("td", { class: "number" }, interval, row.settled ? null : h("span", { class: "dim", title: "wider than the ladder's target, so the agent plays more matches" }, " …")),
    h("td", {}, course(row)),
    h("td", { class: "number" }, whole(row.games)),
    h("td", { class: "number" }, row.score === null ? "-" : `${(100 * row.score).toFixed(1)} %`),
    faultsOf(row),
  );
}

function solverRow(row) {
  const share = (value) => (value === null ? "-" : `${(100 * value).toFixed(1)} %`), number = (value) => h("td", { class: "number" }, value === null ? "-" : written(value));
  return h(
    "tr",
    author !== null && row.agent.startsWith(`${author}/`) ? { class: "own" } : {},
    h("td", { class: "number" }, String(row.rank)),
    h("th", { scope: "row" }, h("a", { href: entryAddress(key, row.agent) }, row.agent)),
    h("td", { class: "number" }, share(row.solved)),
    h("td", { class: "number" }, row.solved_low === null ? "-" : `${share(row.solved_low)} to ${share(row.solved_high)}`, row.settled ? null : h("span", { class: "dim", title: "it has not attempted all positions yet" }, " …")),
    h("td", {}, course(row)),
    h("td", { class: "number" }, whole(row.attempts)),
    number(row.mean_cost ?? row.mean_moves),
    number(row.nodes_per_attempt),
    number(row.seconds_per_attempt),
    faultsOf(row),
  );
}

function faultsOf(row) {
  return h("td", { class: row.failures ? "number bad" : "number", title: Object.entries(row.failures_by_kind).map(([kind, count]) => `${kind}: ${count}`).join(", ") }, whole(row.failures));
}

// Draw the latest ratings or shares as a line.
function course({ trend, agent }) {
  if (trend.length < 2) return null;
  const least = Math.min(...trend), room = Math.max(Math.max(...trend) - least, 10);
  const points = trend.map((value, place) => `${((place / (trend.length - 1)) * (WIDTH - 4) + 2).toFixed(1)},${(HEIGHT - 3 - ((value - least) / room) * (HEIGHT - 6)).toFixed(1)}`);
  return s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": `${agent}: from ${Math.round(trend[0])} to ${Math.round(trend.at(-1))}` }, s("polyline", { class: "chart-line chart-own", points: points.join(" ") }));
}
