// One entry of a tournament: what it is, how it stands on each board, whom it met, how it failed, and its rating over the run.
import { get } from "./api.js";
import { figure, h, s, whole } from "./dom.js";
import { faultBox, head, main, matchesAddress } from "./page.js";

const WIDTH = innerWidth < 640 ? 340 : 1040, HEIGHT = 200, EDGE = { left: 52, right: 12, top: 12, bottom: 26 };

const key = document.body.dataset.key;
const label = new URLSearchParams(location.search).get("name") ?? "";
const faults = faultBox();
const about = h("section", { class: "card", "aria-label": "what it is" });
const boards = h("div", { class: "stack" });

main.append(
  head(label, null, h("a", { class: "button", href: matchesAddress(key, { agent: label }) }, "Its matches"), h("a", { class: "button", href: `/t/${key}` }, "Leaderboard")),
  faults.box,
);

const query = new URLSearchParams({ name: label });
Promise.all([get(`/api/t/${key}/entry?${query}`), get(`/api/t/${key}`)]).then(show).catch((error) => faults.show(error.message));

function show([entry, state]) {
  document.title = `${label} in ${entry.name} | arena`;
  main.querySelector(".head h1").after(h("p", {}, `An entry of ${entry.name}.`));
  main.append(about, boards);
  boards.replaceChildren(...entry.boards.map((board) => boardOf(board, state.boards[board.number])));
  get(`/api/t/${key}/entry/facts?${query}`).then(({ entry: found }) => about.replaceChildren(...facts(found))).catch((error) => {
    about.replaceChildren(h("h2", {}, "What it is"), h("p", { class: "dim" }, `This cannot be told without its plugin: ${error.message}`));
  });
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
    board.curve.length > 1 ? [h("h3", { class: "gap gap-small-below" }, CURVES[board.kind]), curve(board)] : null,
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

const CURVES = { versus: "Rating over the run, in Elo", puzzle: "Solved share over the run", score: "Mean return over the run" };

// A line in front of the band between the field's least and largest value.
function curve({ curve: points, kind, title }) {
  const share = kind === "puzzle";
  const lows = share ? [0] : points.map((point) => point[2]), highs = share ? [1] : points.map((point) => point[3]);
  const least = Math.min(...lows), most = Math.max(...highs), room = Math.max(most - least, 1e-9), last = points.at(-1)[0];
  const x = (played) => (EDGE.left + (played / last) * (WIDTH - EDGE.left - EDGE.right)).toFixed(1);
  const y = (value) => (HEIGHT - EDGE.bottom - ((value - least) / room) * (HEIGHT - EDGE.top - EDGE.bottom)).toFixed(1);
  const text = (value) => (share ? `${Math.round(100 * value)} %` : kind === "score" ? figure(value) : String(Math.round(value)));
  const at = (point, part) => `${x(point[0])},${y(point[part])}`;
  const band = [...points.map((point) => at(point, 3)), ...points.toReversed().map((point) => at(point, 2))].join(" ");
  const first = points[0], end = points.at(-1);
  return h(
    "figure",
    { class: "values" },
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": `${title}: from ${text(first[1])} after ${whole(first[0])} matches to ${text(end[1])} after ${whole(end[0])}` },
      s("polygon", { class: "chart-band", points: band }),
      [least, most].map((value) => [s("line", { class: "chart-zero", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }), s("text", { class: "chart-text chart-end", x: EDGE.left - 6, y: y(value) }, text(value))]).flat(),
      s("polyline", { class: "chart-line chart-own", points: points.map((point) => at(point, 1)).join(" ") }),
      s("circle", { class: "interval-value", cx: x(end[0]), cy: y(end[1]), r: 4 }),
      s("text", { class: "chart-text", x: EDGE.left, y: HEIGHT - 8 }, "0"),
      s("text", { class: "chart-text chart-end", x: WIDTH - EDGE.right, y: HEIGHT - 8 }, `${whole(last)} matches`),
    ),
    h("figcaption", { class: "gap-small" }, `Fitted anew to all matches until then; the band reaches from the ${{ versus: "lowest to the highest rating", puzzle: "least to the largest share", score: "least to the largest mean" }[kind]} of the field.`),
  );
}
