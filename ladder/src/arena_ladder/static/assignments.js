// The list of the ladders that one process hosts.
import { get } from "./api.js";
import { h } from "./dom.js";
import { faultBox, head, main, moment } from "./page.js";

const faults = faultBox();
const list = h("div", { class: "stack" });
main.append(head("Assignments", "Each assignment is a separate ladder. Your token is valid in all of them."), faults.box, list);
get("/api/assignments").then(({ rows }) => list.replaceChildren(...rows.map(card))).catch((error) => faults.show(error.message));

function card({ address, name, games, state, closes }) {
  const open = closes && new Date(closes) > new Date();
  return h(
    "a",
    { class: "card door", href: address },
    h("h2", {}, name),
    h("p", {}, games.join(", ")),
    h("p", { class: "dim small gap-small" }, `${state === "idle" ? "no more matches needed" : state}${closes ? `; ${open ? "open until" : "closed since"} ${moment(closes)}` : ""}`),
  );
}
