// Waits for a page of comparisons, which takes some seconds to generate, and then shows it.
import { get } from "./api.js";
import { h } from "./dom.js";
import { faultBox, head, main } from "./page.js";

const key = document.body.dataset.key;
const faults = faultBox();
const agents = new URLSearchParams(location.search).getAll("agent");
const waiting = h("p", { class: "card empty", role: "status" }, agents.length ? `Comparing ${new Intl.ListFormat("en-GB").format(agents)}…` : "Comparing every two entries, which takes a few seconds…");

main.append(head("Comparison", null, h("a", { class: "button", href: `/t/${key}` }, "Leaderboard")), faults.box, waiting);
get(location.pathname + location.search).then(() => location.reload()).catch((error) => {
  waiting.remove();
  faults.show(error.message);
});
