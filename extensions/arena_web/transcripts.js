// Shows exchanges with language models: a choice of outcomes, a search, and the texts of each exchange.
import { h, whole } from "arena/dom.js";

const SHOWN = { all: () => true, legal: (one) => one.outcome === "legal", illegal: (one) => one.outcome === "illegal", unreadable: (one) => one.outcome === "unreadable", truncated: (one) => one.truncated };
const STEP = 100;

export function draw(element, { exchanges, left_out, counts }) {
  const list = h("ol", { class: "failures transcripts" }), said = h("p", { class: "dim", role: "status" });
  let limit = STEP;
  const outcome = h("select", { "aria-label": "Outcome", onchange: fill }, Object.keys(SHOWN).map((name) => h("option", { value: name }, name)));
  const words = h("input", { type: "search", "aria-label": "Search transcripts", placeholder: "Search", oninput: fill });
  const more = h("button", { type: "button", onclick: () => { limit += STEP; fill(); } }, "More");
  function fill() {
    const wanted = words.value.toLowerCase();
    const found = exchanges.filter((one) => SHOWN[outcome.value](one) && [one.asked, one.thoughts, one.answer, one.fault].some((text) => text.toLowerCase().includes(wanted)));
    list.replaceChildren(...found.slice(0, limit).map(exchange));
    more.hidden = found.length <= limit;
    said.textContent = `${whole(found.length)} of ${whole(exchanges.length)} exchanges.${left_out ? ` ${whole(left_out)} more are in the transcript file.` : ""}`;
  }
  const sums = counts ? h("p", {}, Object.entries(counts).map(([name, count]) => `${whole(count)} ${name}`).join(", ")) : null;
  element.append(...[sums, h("p", {}, outcome, " ", words), said, list, more].filter(Boolean));
  fill();
}

function exchange(one) {
  const parts = [["Question", one.asked], ["Thoughts", one.thoughts], ["Answer", one.answer], ["Refused", one.fault]];
  return h(
    "li",
    { "data-outcome": one.outcome },
    h(
      "details",
      {},
      h("summary", {}, `${one.agent}: ${one.outcome}${one.truncated ? ", truncated" : ""}, ${one.answer.slice(0, 80) || "an empty answer"}`),
      parts.filter(([, text]) => text).map(([name, text]) => [h("p", {}, h("strong", {}, name)), h("pre", {}, text)]).flat(),
      h("p", { class: "dim" }, `Match ${one.match.slice(0, 12)}${one.model ? `, ${one.model}` : ""}`),
    ),
  );
}
