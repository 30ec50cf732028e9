// The choice of two agents of a tournament, with a link to the page that compares them.
import { h } from "./dom.js";

export function pairChoice(key) {
  const first = h("select", { onchange: arrange }), second = h("select", { onchange: arrange });
  const link = h("a", { class: "button" }, "Side by side");
  const box = h("section", { class: "card gap", "aria-label": "two agents", hidden: true }, h("h2", {}, "Two agents compared"), h("div", { class: "pair" }, field("Agent", first), field("Against", second), link));
  let boards = [];

  // Offer the agents of the boards; the current choice is kept.
  function show(found) {
    const labels = found.map((board) => board.games > 0 ? board.rows.map((row) => row.agent) : []);
    if (JSON.stringify(labels) === JSON.stringify(boards)) return;
    boards = labels;
    arrange();
  }

  // Offer as the second agent every agent that shares a board with the first.
  function arrange() {
    const met = (label) => [...new Set(boards.filter((labels) => labels.includes(label)).flat())].filter((other) => other !== label);
    fill(first, [...new Set(boards.flat())].filter((label) => met(label).length));
    fill(second, met(first.value));
    box.hidden = !second.value;
    link.href = `/t/${key}/compare?${new URLSearchParams([["agent", first.value], ["agent", second.value]])}`;
  }

  return { box, show };
}

function field(name, select) {
  return h("label", { class: "field" }, h("span", {}, name), select);
}

// Fill a select with options. They are sorted alphabetically so that they stay in place, and the value is kept if it is among
// them.
function fill(select, labels) {
  const chosen = select.value, sorted = labels.sort((one, other) => one.localeCompare(other, "en"));
  if ([...select.options].map((option) => option.value).join("\n") === sorted.join("\n")) return;
  select.replaceChildren(...sorted.map((label) => h("option", { value: label, selected: label === chosen }, label)));
}
