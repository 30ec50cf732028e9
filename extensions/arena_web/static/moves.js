// The legal moves as buttons.
import { h } from "./dom.js";

const MOST = 120;

export class Moves {
  constructor(onMove) {
    this.onMove = onMove;
    this.list = h("div", { class: "legal", role: "group", "aria-label": "legal moves" });
    this.box = h("div", { class: "legal-box gap", hidden: true }, h("h2", { class: "minor" }, "Legal moves"), this.list);
    this.shown = "";
  }

  show(actions, hint = null) {
    const text = JSON.stringify([actions, hint]);
    if (text === this.shown) return;
    this.shown = text;
    this.box.hidden = actions.length === 0;
    const inside = this.list.contains(document.activeElement);
    const more = actions.length > MOST ? [h("span", { class: "dim" }, `and ${actions.length - MOST} more`)] : [];
    this.list.replaceChildren(...actions.slice(0, MOST).map((action) => h(
      "button",
      { type: "button", class: action === hint ? "legal-move hinted" : "legal-move", onclick: () => this.onMove(action) },
      action,
    )), ...more);
    if (inside) this.list.querySelector("button")?.focus();
  }

  // Move the focus to the first of these actions.
  point(actions) {
    [...this.list.querySelectorAll("button")].find((node) => actions.includes(node.textContent))?.focus();
  }
}
