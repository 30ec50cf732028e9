// One match, position by position.
import { get } from "./api.js";
import { duration, figure as written, h, whole } from "./dom.js";
import { counted, faultBox, figure, main } from "./page.js";
import { mountPlayer, result } from "./player.js";

const { key, id } = document.body.dataset;
const faults = faultBox();
const title = h("h1", {}, "Match");
const said = h("p", {});
const place = h("section", { class: "card", "aria-label": "replay" });

main.append(
  h("div", { class: "head" }, h("div", {}, title, said), h("div", { class: "row" }, h("a", { class: "button", href: `/t/${key}/matches` }, "All matches"))),
  faults.box,
);

get(`/api/t/${key}/match/${id}`).then(({ view }) => show(view)).catch((error) => faults.show(error.message));

function show(view) {
  title.textContent = view.labels.join(" – ");
  document.title = `${title.textContent} | arena`;
  const adjudicated = view.termination === "adjudicated";  // then the message says why, and is nobody's fault
  said.textContent = `${view.game.name}, ${result(view)}${adjudicated ? `: ${view.message}` : ""}`;
  if (view.message && !adjudicated) faults.show(`${view.seat === null ? "" : `${view.labels[view.seat]}: `}${view.termination}: ${view.message}`);
  main.append(place, h("section", { class: "card", "aria-label": "what it took" }, facts(view)));
  if (view.differences.length) main.append(h("p", { class: "fault" }, `The rules say otherwise: ${view.differences.join("; ")}`));
  mountPlayer(place, view, { keys: true });
}

function facts(view) {
  const found = [];
  if (view.moves !== null) found.push(figure(counted(view), whole(view.moves)));
  if (view.cost !== null) found.push(figure("Cost", written(view.cost)));
  for (const total of view.totals) {
    const whose = view.totals.length > 1 ? ` of ${total.label}` : "";
    found.push(figure(`Nodes${whose}`, whole(total.nodes)), figure(`Time${whose}`, duration(total.seconds)));
  }
  if (view.fallbacks) found.push(figure("Random for want of budget", whole(view.fallbacks)));
  return h("dl", { class: "figures figures-small" }, found, figure("Match", h("code", {}, view.id.slice(0, 12))));
}
