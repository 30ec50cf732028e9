// Shows the review of a match: the value over its decisions, a mark at each mistake, and the better action. A click shows the
// position. In costly positions, the reader can look for a better action, which is not shown until then.
import { figure, h, s } from "arena/dom.js";

const WIDTH = innerWidth < 640 ? 340 : 1040, HEIGHT = 160, EDGE = { left: 52, right: 12, top: 12, bottom: 12 };

export function draw(element, review) {
  const exercises = review.decisions.filter((one) => one.options.length);
  const asked = /^#(\d+)-learn$/.exec(location.hash);
  const first = asked ? exercises.findIndex((one) => one.number === Number(asked[1])) : -1;
  const show = (number) => element.dispatchEvent(new CustomEvent("arena-position", { bubbles: true, detail: number }));
  if (first >= 0) learn(element, review, exercises, first, show);
  else overview(element, review, exercises, show);
}

function overview(element, review, exercises, show) {
  const { decisions, first, labels, whose } = review;
  const mistakes = decisions.filter((one) => one.grade !== null && one.grade !== "best");
  element.replaceChildren(
    ...(decisions.some((one) => one.worth !== null) ? [curve(decisions, whose, show)] : []),
    mistakes.length ? h("ul", { class: "failures" }, mistakes.map((one) => said(one, one.number === first, labels, show))) : h("p", { class: "dim" }, "No mistake was found."),
    ...(exercises.length ? [h("button", { type: "button", onclick: () => learn(element, review, exercises, 0, show) }, "Find the better moves yourself")] : []),
  );
}

// Ask the reader for a better action in each costly position, one position after the other.
function learn(element, review, exercises, place, show) {
  const one = exercises[place], answer = h("p", { role: "status" });
  const judge = ({ action, grade, loss }) => {
    const lost = loss === null ? "" : `, and loses ${figure(loss)}`;
    answer.textContent = grade === "best" ? `Right: ${action} loses nothing.` : grade === null ? `No judge has a verdict on ${action}.` : `No: ${action} is a ${grade}, too${lost}.`;
  };
  const best = one.options.filter((option) => option.grade === "best").map((option) => option.action);
  const button = (text, onclick) => h("button", { type: "button", onclick }, text);
  element.replaceChildren(
    h("p", {}, `${review.labels[one.seat]} played ${one.action} here, a ${one.grade}. Find a better move.`),
    h("div", { class: "row" }, one.options.filter((option) => option.action !== one.action).map((option) => button(option.action, () => judge(option)))),
    answer,
    h(
      "div",
      { class: "row gap-small" },
      button("Show the answer", () => { answer.textContent = best.length ? `Good: ${best.join(", ")}.` : `Good: ${one.best}.`; }),
      place + 1 < exercises.length ? button("Next position", () => learn(element, review, exercises, place + 1, show)) : null,
      button("Show the review", () => overview(element, review, exercises, show)),
    ),
  );
  show(one.number);
}

function said(one, decisive, labels, show) {
  const lost = one.loss === null ? "" : `, lost ${figure(one.loss)}`, better = one.best === null ? "" : `, best was ${one.best}`;
  const text = `${one.ply + 1}. ${labels[one.seat]}: ${one.action}, ${one.grade}${lost}${better}${decisive ? " (the first decisive one)" : ""}`;
  return h("li", {}, h("button", { type: "button", onclick: () => show(one.number) }, text));
}

function curve(decisions, whose, show) {
  const known = decisions.filter((one) => one.worth !== null);
  const values = known.map((one) => one.worth), least = Math.min(...values), most = Math.max(...values), room = Math.max(most - least, 1e-9);
  const last = Math.max(decisions.at(-1).number, 1);
  const x = (number) => (EDGE.left + (number / last) * (WIDTH - EDGE.left - EDGE.right)).toFixed(1);
  const y = (value) => (HEIGHT - EDGE.bottom - ((value - least) / room) * (HEIGHT - EDGE.top - EDGE.bottom)).toFixed(1);
  const marks = known.filter((one) => one.grade !== null && one.grade !== "best");
  return h(
    "figure",
    { class: "values" },
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": `${whose}: from ${figure(values[0])} to ${figure(values.at(-1))}, ${marks.length} mistakes` },
      [least, most].map((value) => [s("line", { class: "chart-zero", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }), s("text", { class: "chart-text chart-end", x: EDGE.left - 6, y: y(value) }, figure(value))]).flat(),
      s("polyline", { class: "chart-line chart-own", points: known.map((one) => `${x(one.number)},${y(one.worth)}`).join(" ") }),
      marks.map((one) => s("circle", { class: "interval-value", cx: x(one.number), cy: y(one.worth), r: one.grade === "decisive mistake" ? 6 : 4, onclick: () => show(one.number) })),
    ),
    h("figcaption", { class: "gap-small" }, `${whose}, before each decision. Each mark is a mistake; large marks are decisive mistakes. Click a mark to see its position.`),
  );
}
