// The page of an agent of a ladder: its rating over time with the interval, its score against each other agent, and its latest
// matches. For a puzzle, it shows the solved share and the latest attempts.
import { at, get } from "./api.js";
import { figure as written, h, s, whole } from "./dom.js";
import { entryAddress, faultBox, figure, head, main, matchesAddress } from "./page.js";

const WIDTH = innerWidth < 640 ? 340 : 1040, HEIGHT = 220, EDGE = { left: 52, right: 12, top: 12, bottom: 28 }, LATEST = 12;

const key = document.body.dataset.key;
const label = new URLSearchParams(location.search).get("name") ?? "";
const query = new URLSearchParams({ name: label });
const faults = faultBox();
document.title = `${label} | arena`;
main.append(head(label, null, h("a", { class: "button", href: matchesAddress(key, { agent: label }) }, "Its matches"), h("a", { class: "button", href: at("/") }, "Standings")), faults.box);

get("/api/live")
  .then(async (live) => (live.hidden ? showHidden(live) : show(await Promise.all([get(`/api/t/${key}/entry?${query}`), live, get(`/api/t/${key}/matches?${new URLSearchParams({ agent: label })}`)]))))
  .catch((error) => faults.show(error.message));

// Show the figures of an agent while its attempts are hidden.
function showHidden(live) {
  const boards = live.boards.filter((board) => board.rows.some((one) => one.agent === label));
  main.querySelector(".head h1").after(h("p", {}, `${boards.length ? "Plays" : "Does not play"} at ${live.name}.`));
  main.append(h("div", { class: "stack" }, boards.map((board) => boardOf(board, [], live)), h("p", { class: "note" }, "Attempts are hidden until the ladder is final, because an agent could send positions through them.")));
}

function show([entry, live, found]) {
  const row = live.boards.flatMap((board) => board.rows).find((one) => one.agent === label);
  main.querySelector(".head h1").after(h("p", {}, row ? `Plays at ${live.name}.` : `No longer plays at ${live.name}; its matches are kept.`));
  main.append(h("div", { class: "stack" }, entry.boards.map((board) => boardOf(board, entry.course.filter((point) => point.board === board.number), live)), latest(found)));
}

function boardOf(board, course, live) {
  const row = live.boards.find((one) => one.title === board.title)?.rows.find((one) => one.agent === label);
  const puzzle = board.kind === "puzzle";
  return h(
    "section",
    { class: "card", "aria-label": board.title },
    h("h2", {}, board.title),
    row ? (puzzle ? solving(row) : standing(row)) : null,
    course.length > 1 ? [h("h3", { class: "gap gap-small-below" }, puzzle ? "Solved share over time, in percent" : "Rating over time, in Elo"), chart(course, puzzle)] : null,
    puzzle ? null : h("h3", { class: "gap gap-small-below" }, "Results against each opponent"),
    puzzle ? null : board.meetings.length ? met(board) : h("p", { class: "dim" }, "No games yet."),
  );
}

function standing(row) {
  const sign = (value) => (value === null ? "?" : `${value > 0 ? "+" : ""}${Math.round(value)}`);
  return h(
    "dl",
    { class: "figures figures-small" },
    figure("Rank", String(row.rank)),
    figure("Elo", sign(row.rating)),
    figure("95 % interval", `${sign(row.rating_low)} to ${sign(row.rating_high)}`),
    figure("Games", whole(row.games)),
    figure("Score", row.score === null ? "-" : `${(100 * row.score).toFixed(1)} %`),
    figure("Faults", whole(row.failures)),
  );
}

function solving(row) {
  const share = (value) => (value === null ? "?" : `${(100 * value).toFixed(1)} %`), number = (value) => (value === null ? "-" : written(value));
  return h(
    "dl",
    { class: "figures figures-small" },
    figure("Rank", String(row.rank)),
    figure("Solved", share(row.solved)),
    figure("95 % interval", `${share(row.solved_low)} to ${share(row.solved_high)}`),
    figure("Attempts", whole(row.attempts)),
    figure("Mean cost", number(row.mean_cost ?? row.mean_moves)),
    figure("Generated", number(row.nodes_per_attempt)),
    figure("Seconds", number(row.seconds_per_attempt)),
    figure("Faults", whole(row.failures)),
  );
}

// Draw the rating, or the solved share, in front of its interval, over the number of games.
function chart(points, puzzle) {
  const noun = puzzle ? "attempts" : "games", value = puzzle ? "solved share" : "rating";
  const bound = (point, part) => point[part] ?? point.elo;
  const least = Math.min(...points.map((point) => bound(point, "low"))), most = Math.max(...points.map((point) => bound(point, "high")));
  const first = points[0], end = points.at(-1), span = Math.max(1, end.games - first.games), room = Math.max(most - least, 1);
  const x = (point) => (EDGE.left + ((point.games - first.games) / span) * (WIDTH - EDGE.left - EDGE.right)).toFixed(1);
  const y = (value) => (HEIGHT - EDGE.bottom - ((value - least) / room) * (HEIGHT - EDGE.top - EDGE.bottom)).toFixed(1);
  const band = [...points.map((point) => `${x(point)},${y(bound(point, "high"))}`), ...points.toReversed().map((point) => `${x(point)},${y(bound(point, "low"))}`)];
  return h(
    "figure",
    { class: "values" },
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": `${value} of ${label}: ${Math.round(first.elo)} after ${whole(first.games)} ${noun}, ${Math.round(end.elo)} after ${whole(end.games)}` },
      s("polygon", { class: "chart-band", points: band.join(" ") }),
      [least, most].flatMap((value) => [s("line", { class: "chart-zero", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }), s("text", { class: "chart-text chart-end", x: EDGE.left - 6, y: y(value) }, String(Math.round(value)))]),
      s("polyline", { class: "chart-line chart-own", points: points.map((point) => `${x(point)},${y(point.elo)}`).join(" ") }),
      s("circle", { class: "interval-value", cx: x(end), cy: y(end.elo), r: 4 }),
      s("text", { class: "chart-text", x: EDGE.left, y: HEIGHT - 8 }, `${whole(first.games)} ${noun}`),
      s("text", { class: "chart-text chart-end", x: WIDTH - EDGE.right, y: HEIGHT - 8 }, `${whole(end.games)} ${noun}`),
    ),
    h("figcaption", { class: "gap-small" }, "The band is the 95 % interval at that time."),
  );
}

function met(board) {
  const columns = ["Opponent", "Games", "W", "D", "L", "Score"];
  const games = (opponent, result, text) => h("a", { href: matchesAddress(key, { board: String(board.number), agent: label, opponent, result }) }, text);
  const rows = board.meetings.map((one) => h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: entryAddress(key, one.opponent) }, one.opponent)),
    h("td", { class: "number" }, games(one.opponent, "", whole(one.games))),
    [["win", one.wins], ["draw", one.draws], ["loss", one.losses]].map(([result, count]) => h("td", { class: "number" }, count ? games(one.opponent, result, whole(count)) : "0")),
    h("td", { class: "number" }, `${(100 * one.score).toFixed(1)} %`),
  ));
  return table(`opponents on ${board.title}`, columns, rows);
}

function table(named, columns, rows) {
  return h(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": named },
    h("table", {}, h("thead", {}, h("tr", {}, columns.map((name, place) => h("th", { scope: "col", class: place ? "number" : null }, name)))), h("tbody", {}, rows)),
  );
}

// The list begins with the latest matches.
function latest(found) {
  const rows = found.matches.slice(0, LATEST).map((one) => {
    const seat = one.labels.indexOf(label), got = one.returns[seat], other = one.returns[1 - seat];
    const result = one.solved !== null ? (one.solved ? "solved" : "unsolved") : one.termination === "void" ? "void" : got > other ? "won" : got < other ? "lost" : "drawn";
    return h("tr", {}, h("th", { scope: "row" }, h("a", { href: at(`/t/${key}/match/${one.id}?${new URLSearchParams({ agent: label })}`) }, one.labels.join(" – "))), h("td", { class: "number" }, result), h("td", { class: "number" }, one.termination), h("td", { class: "number" }, one.moves === null ? "-" : whole(one.moves)));
  });
  return h("section", { class: "card", "aria-label": "latest matches" }, h("h2", {}, "Latest matches"), rows.length ? table("list of the latest matches", ["Match", "Result", "Ending", "Moves"], rows) : h("p", { class: "dim" }, "None yet."));
}

