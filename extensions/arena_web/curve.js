// Draws how the rating, the solved share or the mean return of an entry changes over the run, for each of its boards.
import { figure, h, s, whole } from "arena/dom.js";

const WIDTH = innerWidth < 640 ? 340 : 1040, HEIGHT = 200, EDGE = { left: 52, right: 12, top: 12, bottom: 26 };
const HEADINGS = { versus: "Rating over the run, in Elo", puzzle: "Solved share over the run", score: "Mean return over the run" };
const FIELDS = { versus: "lowest to the highest rating", puzzle: "smallest to the largest share", score: "smallest to the largest mean" };

export function draw(element, boards) {
  element.append(...boards.flatMap((board) => [
    h("h3", { class: "gap gap-small-below" }, boards.length > 1 ? `${board.title}: ${HEADINGS[board.kind]}` : HEADINGS[board.kind]),
    curve(board),
  ]));
}

// Draw the line of the entry in front of a band, which extends from the lowest to the highest value of all entries.
function curve({ points, kind, title }) {
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
    h("figcaption", { class: "gap-small" }, `Each point uses all matches up to that time. The band ranges from the ${FIELDS[kind]} of all agents.`),
  );
}
