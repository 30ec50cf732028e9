// The standings of a ladder as they move: rating, interval, course, games and faults of every agent in play.
import { figure as written, h, s, whole } from "./dom.js";
import { entryAddress, faultBox, main } from "./page.js";

const WIDTH = 88, HEIGHT = 26;
const STATES = { playing: "playing", idle: "nothing left to learn", paused: "paused", over: "over", starting: "starting", stopped: "stopped" };

const key = document.body.dataset.key;
const faults = faultBox();
const title = h("h1", {}, "Standings"), said = h("p", {}), tag = h("span", { class: "tag", role: "status" });
const boards = h("div", { class: "stack" });
main.append(h("div", { class: "head" }, h("div", {}, title, said), h("div", { class: "row" }, tag, h("a", { class: "button primary", href: "/hand-in" }, "Hand in an agent"))), faults.box, boards);

const events = new EventSource("/api/events");
events.addEventListener("standings", (event) => {
  faults.show(null);
  show(JSON.parse(event.data));
});
events.addEventListener("error", () => faults.show("The ladder does not answer; this page goes on when it does."));

function show({ boards: found, state, matches, interval, anchor, name }) {
  title.textContent = name;
  said.textContent = `Elo about ${anchor}, whose rating is 0, with 95 % intervals. Games are played until every interval is within ±${written(interval)}.`;
  tag.textContent = STATES[state] ?? state;
  tag.className = state === "playing" ? "tag tag-live" : STATES[state] ? "tag" : "tag tag-bad";
  tag.title = `${whole(matches)} matches since the ladder was started`;
  const held = document.activeElement?.getAttribute?.("href");
  boards.replaceChildren(...found.map((board) => boardOf(board, found.length > 1)));
  if (held) boards.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

function boardOf({ title: named, rows }, several) {
  const columns = [["Rank", "number"], ["Agent"], ["Elo", "number"], ["95 % interval", "number"], ["Course"], ["Games", "number"], ["Score", "number"], ["Faults", "number"]];
  return h(
    "section",
    { class: "card", "aria-label": named },
    several ? h("h2", {}, named) : null,
    h(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": `standings of ${named}` },
      h("table", {}, h("thead", {}, h("tr", {}, columns.map(([text, kind = null]) => h("th", { scope: "col", class: kind }, text)))), h("tbody", {}, rows.map(rowOf))),
    ),
  );
}

function rowOf(row) {
  const sign = (value) => `${value > 0 ? "+" : ""}${Math.round(value)}`;
  const interval = row.rating_low === null && row.rating_high === null ? "-" : `${row.rating_low === null ? "?" : sign(row.rating_low)} to ${row.rating_high === null ? "?" : sign(row.rating_high)}`;
  return h(
    "tr",
    {},
    h("td", { class: "number" }, String(row.rank)),
    h("th", { scope: "row" }, h("a", { href: entryAddress(key, row.agent) }, row.agent)),
    h("td", { class: "number" }, row.rating === null ? "-" : sign(row.rating)),
    h("td", { class: "number" }, interval, row.settled ? null : h("span", { class: "dim", title: "wider than asked for: it plays on" }, " …")),
    h("td", {}, course(row)),
    h("td", { class: "number" }, whole(row.games)),
    h("td", { class: "number" }, row.score === null ? "-" : `${(100 * row.score).toFixed(1)} %`),
    h("td", { class: row.failures ? "number bad" : "number", title: Object.entries(row.failures_by_kind).map(([kind, count]) => `${kind}: ${count}`).join(", ") }, whole(row.failures)),
  );
}

// The latest ratings as a line.
function course({ trend, agent }) {
  if (trend.length < 2) return null;
  const least = Math.min(...trend), room = Math.max(Math.max(...trend) - least, 10);
  const points = trend.map((value, place) => `${((place / (trend.length - 1)) * (WIDTH - 4) + 2).toFixed(1)},${(HEIGHT - 3 - ((value - least) / room) * (HEIGHT - 6)).toFixed(1)}`);
  return s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": `${agent}: from ${Math.round(trend[0])} to ${Math.round(trend.at(-1))}` }, s("polyline", { class: "chart-line chart-own", points: points.join(" ") }));
}
