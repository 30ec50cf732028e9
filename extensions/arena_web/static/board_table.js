// Shows one leaderboard: its table, whose headings and cells come as text, the scores between entries, and the failures.
import { breakable, h, prose, s, whole } from "./dom.js";
import { entryAddress, matchesAddress } from "./page.js";

export function boardOf(board, number, key) {
  return h(
    "section",
    { class: "card", "aria-label": board.title },
    h("h2", {}, board.title),
    board.verdict ? h("p", { class: "verdict" }, board.verdict) : null,
    scroll(`leaderboard of ${board.title}`, table(board, number, key)),
    board.cross && board.rows.length > 1 ? [h("h3", { class: "gap" }, `${board.cross_title}; each cell links to its games`), scroll(`cross-table of ${board.title}`, cross(board, number, key))] : null,
    board.bracket_table ? [h("h3", { class: "gap" }, "Bracket"), scroll(`bracket of ${board.title}`, bracket(board.bracket_table))] : null,
    board.remarks.map((line) => h("p", { class: "dim small gap-small" }, prose(line))),
    failures(board, key),
  );
}

// The rounds of a knockout, with a row for each tie.
function bracket({ headings, rows }) {
  return h(
    "table",
    { class: "bracket compact" },
    h("thead", {}, h("tr", {}, headings.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell))))),
  );
}

// The table over all games, whose cells come as text.
export function overallOf({ headings, rows, note }, key) {
  const kind = (place) => (place === 0 ? null : "number");
  return h(
    "section",
    { class: "card overall", "aria-label": "overall" },
    h("h2", {}, "Overall"),
    scroll("leaderboard overall", h(
      "table",
      {},
      h("thead", {}, h("tr", {}, headings.map((name, place) => h("th", { scope: "col", class: kind(place) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => (place === 0 ? h("th", { scope: "row" }, h("a", { href: entryAddress(key, cell) }, breakable(cell))) : h("td", { class: kind(place) }, cell)))))),
    )),
    h("p", { class: "dim small gap-small" }, note),
  );
}

function scroll(name, table) {
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, table);
}

function table(board, number, key) {
  const { agents, columns } = board.table;
  const link = (agent) => h("a", { href: entryAddress(key, agent) }, breakable(agent));
  return h(
    "table",
    { class: "leaderboard" },
    h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", class: kind(column) }, column.heading)))),
    h("tbody", {}, agents.map((agent, place) => h("tr", {}, columns.map((column) => {
      if (column.key === "agent") return h("th", { scope: "row" }, link(agent));
      return h("td", { class: kind(column) }, column.bounds ? interval(column, place) : column.cells[place]);
    })))),
  );
}

function kind({ style, bounds }) {
  return bounds || ["text", "kinds"].includes(style) ? null : "number";
}

// Return the ends of the scale on which a column draws its intervals.
function spread({ style, bounds }) {
  const values = bounds.flat().filter((value) => value !== null);
  return style === "share interval" || !values.length ? [0, 1] : [Math.min(...values), Math.max(...values)];
}

// Draw a value with its interval on a line; an open end reaches to the edge.
function interval(column, row) {
  const [value, low, high] = column.bounds[row], [least, most] = spread(column);
  if (low === null && high === null) return column.cells[row];
  const width = 120, room = Math.max(most - least, 1e-9);
  const place = (at) => 14 + ((at - least) / room) * (width - 28);
  const from = low === null ? 0 : place(low), to = high === null ? width : place(high);
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
      value === null ? null : s("circle", { class: "interval-value", cx: place(value), cy: 10, r: 4.5 }),
    ),
    h("span", { class: "small dim" }, column.cells[row]),
  );
}

function cross(board, number, key) {
  const labels = board.rows.map((row) => row.agent);
  const head = (label, place) => h("th", { scope: "col", title: label, "aria-label": label }, String(place + 1));
  return h(
    "table",
    { class: "cross compact" },
    h("thead", {}, h("tr", {}, h("td"), labels.map(head))),
    h("tbody", {}, board.cross.map((scores, place) => h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "place dim", "aria-hidden": "true" }, String(place + 1)), breakable(labels[place])),
      scores.map((score, other) => cell(score, board.cross_cells[place][other], {
        href: matchesAddress(key, { board: String(number), agent: labels[place], opponent: labels[other] }),
        title: `the games of ${labels[place]} against ${labels[other]}`,
      })),
    ))),
  );
}

// Return a cell with a score that links to the games behind it.
function cell(score, text, link) {
  const node = h("td", { class: "heat" }, score === null ? "" : h("a", link, text));
  if (score !== null) node.style.setProperty("--heat", `${Math.round(Math.abs(score - 0.5) * 90)}%`);
  if (score !== null) node.classList.add(score >= 0.5 ? "heat-high" : "heat-low");
  return node;
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
