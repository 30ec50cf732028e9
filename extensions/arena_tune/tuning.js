// Shows the course of a search: the score of the best trial so far and, for each option, the scores of all trials over its values.
import { amount, figure, h, s } from "arena/dom.js";

const NARROW = innerWidth < 640;
const CURVE = { width: NARROW ? 340 : 1040, height: 180 }, SLICE = { width: 340, height: 180 };
const EDGE = { left: 52, right: 14, top: 12, bottom: 26 };

export function draw(element, { best, options, level, unit }) {
  element.append(
    h("h4", { class: "gap-small-below" }, "Best so far"),
    curve(best, level, unit),
    h("h4", { class: "gap gap-small-below" }, "Options"),
    h("div", { class: "row" }, options.map((option) => slice(option, level, unit))),
    h("p", { class: "dim small" }, "Each circle is a trial; its area shows the number of its matches. Good options have large circles, because the search drops bad options early."),
  );
}

// Return the functions that place numbers in a drawing, and its frame: two lines with their values, and the level of the default.
function frame({ width, height }, values, level, unit) {
  const all = level === null ? values : [...values, level];
  const least = Math.min(...all), most = Math.max(...all), room = Math.max(most - least, 1e-9);
  const y = (value) => (height - EDGE.bottom - ((value - least) / room) * (height - EDGE.top - EDGE.bottom)).toFixed(1);
  const x = (share) => (EDGE.left + share * (width - EDGE.left - EDGE.right)).toFixed(1);
  const text = (value) => (unit === "%" ? `${Math.round(100 * value)} %` : figure(value));
  const lines = [...new Set([least, most])].flatMap((value) => [
    s("line", { class: "chart-zero", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
    s("text", { class: "chart-text chart-end", x: EDGE.left - 6, y: y(value) }, text(value)),
  ]);
  const base = level === null ? [] : [s("line", { class: "chart-now", x1: EDGE.left, x2: width - EDGE.right, y1: y(level), y2: y(level) })];
  return { x, y, text, lines: [...lines, ...base] };
}

function curve(points, level, unit) {
  const { x, y, text, lines } = frame(CURVE, points.map((point) => point.score), level, unit);
  const last = points.at(-1);
  const at = (point) => x(point.matches / last.matches);
  return h(
    "figure",
    { class: "values" },
    s(
      "svg",
      { viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, class: "chart", role: "img", "aria-label": `best so far: ${text(last.score)} after ${amount(last.matches, "match", "matches")}` },
      lines,
      s("polyline", { class: "chart-line chart-own", points: points.map((point) => `${at(point)},${y(point.score)}`).join(" ") }),
      s("circle", { class: "interval-value", cx: at(last), cy: y(last.score), r: 4 }),
      s("text", { class: "chart-text", x: EDGE.left, y: CURVE.height - 8 }, "0"),
      s("text", { class: "chart-text chart-end", x: CURVE.width - EDGE.right, y: CURVE.height - 8 }, `${amount(last.matches, "match", "matches")}`),
    ),
    h("figcaption", { class: "gap-small" }, `Now: ${last.options}. The curve shows the mean result of the best trial among the trials with the most matches; it falls if a trial was merely lucky.${level === null ? "" : " The horizontal line shows the default."}`),
  );
}

function slice({ name, values, ticks }, level, unit) {
  const { x, y, text, lines } = frame(SLICE, values.map((one) => one.score), level, unit);
  const most = Math.max(...values.map((one) => one.matches));
  const ends = ticks.map(({ at, text: tick }) => s("text", { class: `chart-text${at > 0.5 ? " chart-end" : ""}`, x: x(at), y: SLICE.height - 8 }, tick));
  return h(
    "figure",
    { class: "values" },
    h("figcaption", {}, name),
    s(
      "svg",
      { viewBox: `0 0 ${SLICE.width} ${SLICE.height}`, class: "chart", role: "img", "aria-label": `${name}: ${values.length} trials` },
      lines,
      values.map((one) => s("circle", { class: "interval-value", cx: x(one.at), cy: y(one.score), r: (2 + 5 * Math.sqrt(one.matches / most)).toFixed(1), "fill-opacity": "0.5" }, s("title", {}, `${one.value}: ${text(one.score)} in ${amount(one.matches, "match", "matches")}`))),
      ends,
    ),
  );
}
