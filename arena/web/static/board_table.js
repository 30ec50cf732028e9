// One leaderboard: its table, who scored what against whom, and what went wrong.
import { brief, h, s, whole } from "./dom.js";
import { percent } from "./page.js";

const elo = (value) => (value === null ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(0)}`);

// A column: its heading, what a cell shows, and whether that is a number.
const VERSUS = [
  ["#", (row) => (row.level_with?.length ? `${row.rank} ~` : String(row.rank))],
  ["Agent", null],
  ["Elo", (row) => elo(row.rating)],
  ["95 % interval", (row, board) => interval(row.rating, row.rating_low, row.rating_high, spread(board), elo)],
  ["Score", (row) => percent(row.score)],
  ["Games", (row) => whole(row.games)],
  ["W", (row) => whole(row.wins)],
  ["D", (row) => whole(row.draws)],
  ["L", (row) => whole(row.losses)],
  ["1st seat", (row) => percent(row.score_first)],
  ["2nd seat", (row) => percent(row.score_second)],
  ["Nodes/move", (row) => brief(row.nodes_per_move)],
  ["ms/move", (row) => brief(row.ms_per_move)],
  ["Failures", (row) => kinds(row)],
];
const PUZZLE = [
  ["#", (row) => String(row.rank)],
  ["Agent", null],
  ["Solved", (row) => percent(row.solved)],
  ["95 % interval", (row) => interval(row.solved, row.solved_low, row.solved_high, [0, 1], percent)],
  ["Attempts", (row) => whole(row.attempts)],
  ["Mean moves", (row) => brief(row.mean_moves)],
  ["Mean cost", (row) => brief(row.mean_cost)],
  ["Nodes", (row) => brief(row.nodes_per_attempt)],
  ["Seconds", (row) => brief(row.seconds_per_attempt)],
  ["Failures", (row) => kinds(row)],
];

export function boardOf(board, number, key) {
  const versus = board.kind === "versus";
  return h(
    "section",
    { class: "card", "aria-label": board.title },
    h("div", { class: "card-head" }, h("h2", {}, board.title), h("p", { class: "dim small" }, counted(board))),
    scroll(`leaderboard of ${board.title}`, table(board, number, key)),
    versus && board.rows.length > 1 ? [h("h3", { class: "gap" }, "Score of each row against each column"), scroll(`cross-table of ${board.title}`, cross(board))] : null,
    remarks(board),
    failures(board, key),
  );
}

// The table over all games: its cells come as text.
export function overallOf({ headings, rows, note }) {
  const kind = (place) => (place === 0 ? null : "number");
  return h(
    "section",
    { class: "card overall", "aria-label": "overall" },
    h("h2", {}, "Overall"),
    scroll("leaderboard overall", h(
      "table",
      {},
      h("thead", {}, h("tr", {}, headings.map((name, place) => h("th", { scope: "col", class: kind(place) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => (place === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: kind(place) }, cell)))))),
    )),
    h("p", { class: "dim small gap-small" }, note),
  );
}

function scroll(name, table) {
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, table);
}

function counted(board) {
  const what = board.kind === "versus" ? "games" : "attempts";
  return `${whole(board.games)}${board.size === null || board.finished ? "" : ` of ${whole(board.size)}`} ${what}, ${whole(board.distinct_games)} distinct`;
}

function table(board, number, key) {
  const usual = board.kind === "versus" ? VERSUS : PUZZLE;
  const columns = usual.filter(([name, cell]) => name !== "Failures" || board.rows.some((row) => cell(row)));
  return h(
    "table",
    { class: "leaderboard" },
    h("thead", {}, h("tr", {}, columns.map(([name]) => h("th", { scope: "col", class: ["Agent", "95 % interval"].includes(name) ? null : "number" }, name)))),
    h("tbody", {}, board.rows.map((row) => h(
      "tr",
      {},
      columns.map(([name, cell]) => {
        if (name === "Agent") return h("th", { scope: "row" }, h("a", { href: `/t/${key}/matches?board=${number}&agent=${encodeURIComponent(row.agent)}` }, row.agent));
        return h("td", { class: name === "95 % interval" ? null : "number" }, cell(row, board));
      }),
    ))),
  );
}

function kinds(row) {
  return Object.entries(row.failures_by_kind).map(([kind, count]) => `${kind} ${whole(count)}`).join(", ");
}

function spread(board) {
  const values = board.rows.flatMap((row) => [row.rating, row.rating_low, row.rating_high]).filter((value) => value !== null);
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
}

// A value with its interval on a line; open ends go to the edge.
function interval(value, low, high, [least, most], words) {
  if (value === null || (low === null && high === null)) return "–";
  const width = 120, room = Math.max(most - least, 1e-9);
  const place = (at) => 14 + ((at - least) / room) * (width - 28);
  const from = low === null ? 0 : place(low), to = high === null ? width : place(high);
  const said = low === null ? `below ${words(high)}` : high === null ? `above ${words(low)}` : `${words(low)} to ${words(high)}`;
  const tip = (at, towards) => s("path", { class: "interval-tip", d: `M${at} 10 l${-7 * towards} -6 v12 Z` });
  return h(
    "div",
    { class: "interval" },
    s(
      "svg",
      { viewBox: `0 0 ${width} 20`, "aria-hidden": "true" },
      s("line", { class: "interval-axis", x1: 0, x2: width, y1: 10, y2: 10 }),
      s("line", { class: "interval-range", x1: low === null ? 7 : from, x2: Math.max(high === null ? width - 7 : to, from + 1), y1: 10, y2: 10 }),
      low === null ? tip(0, -1) : null,
      high === null ? tip(width, 1) : null,
      s("circle", { class: "interval-value", cx: place(value), cy: 10, r: 4.5 }),
    ),
    h("span", { class: "small dim" }, said),
  );
}

function cross(board) {
  const labels = board.rows.map((row) => row.agent);
  const head = (label, place) => h("th", { scope: "col", title: label, "aria-label": label }, String(place + 1));
  return h(
    "table",
    { class: "cross compact" },
    h("thead", {}, h("tr", {}, h("td"), labels.map(head))),
    h("tbody", {}, board.cross.map((scores, place) => h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "place dim", "aria-hidden": "true" }, String(place + 1)), labels[place]),
      scores.map(cell),
    ))),
  );
}

function cell(score) {
  const node = h("td", { class: "heat" }, score === null ? "" : (100 * score).toFixed(0));
  if (score !== null) node.style.setProperty("--heat", `${Math.round(Math.abs(score - 0.5) * 90)}%`);
  if (score !== null) node.classList.add(score >= 0.5 ? "heat-high" : "heat-low");
  return node;
}

function remarks(board) {
  const lines = [];
  if (board.void) lines.push(`${whole(board.void)} void matches are not scored: the game or arena itself is at fault.`);
  if (board.fallbacks) lines.push(`${whole(board.fallbacks)} actions were drawn at random: a budget ran out before anything was reported.`);
  if (board.kind === "versus" && board.method) lines.push(`Elo about ${board.anchor ?? "the field’s mean"}; intervals from pairs of games (${board.method}). ~ marks ranks whose intervals overlap.`);
  if (board.test) lines.push(`Test: ${board.test.verdict ? `${board.test.verdict} accepted` : "not decided"}, LLR ${board.test.llr.toFixed(2)} (${board.test.lower.toFixed(2)} to ${board.test.upper.toFixed(2)}).`);
  return lines.map((line) => h("p", { class: "dim small gap-small" }, line));
}

function failures(board, key) {
  if (!board.failures.length) return null;
  return h(
    "div",
    { class: "gap" },
    h("h3", {}, "Failures"),
    h("ul", { class: "failures" }, board.failures.map((one) => h(
      "li",
      {},
      h("strong", {}, one.agent), ` failed ${one.count === 1 ? "once" : `${whole(one.count)} times`} by ${one.kind}: ${one.message ?? ""} `,
      h("a", { href: `/t/${key}/match/${one.first}` }, `see match ${one.first.slice(0, 8)}`),
    ))),
  );
}
