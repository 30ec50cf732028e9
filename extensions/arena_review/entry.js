// Shows the positions that cost an entry most, each with a link to its match. There, a user looks for a better move, and can
// continue from the position.
import { figure, h } from "arena/dom.js";

export function draw(element, { summary, positions }) {
  const key = location.pathname.split("/")[2];
  const cells = (one) => [
    h("code", {}, one.position),
    one.action,
    one.best === null ? "-" : h("details", {}, h("summary", {}, "show"), one.best),
    one.grade,
    one.lost === null ? "-" : figure(one.lost),
    String(one.games),
    location.protocol === "file:" ? "" : h("a", { href: `/t/${key}/match/${one.match}#${one.number}-learn` }, "Try it"),
  ];
  element.append(
    h("p", {}, summary),
    h(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": "costly positions" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["Position", "Played", "Best", "Class", "Lost", "Games", ""].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, positions.map((one) => h("tr", {}, cells(one).map((cell) => h("td", {}, cell))))),
      ),
    ),
  );
}
