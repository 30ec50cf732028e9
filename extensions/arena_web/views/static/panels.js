// Panels: sections that plugins add to a page. A panel is drawn by its own module, or by this one as figures or a table.
import { figure, h } from "./dom.js";

const modules = new Map();

// Register the module of a panel under its name, for pages that do not load modules.
export function addPanel(name, module) {
  modules.set(name, module);
}

// Return a panel as a section. `panel` is `{name, title, script, data, error}`; `script` is the address of its module, or null if
// it has none.
export function panelOf(panel, heading = "h2") {
  const inside = h("div");
  draw(panel, inside).catch((error) => inside.replaceChildren(h("p", { class: "fault" }, `This panel cannot be shown: ${error.message}`)));
  return h("section", { class: "card", "aria-label": panel.title }, h(heading, { class: "gap-small-below" }, panel.title), inside);
}

async function draw({ name, title, script, data, error }, inside) {
  if (error !== null) throw new Error(error);
  if (script === null) return inside.append(Array.isArray(data) ? table(title, data) : figures(data));
  return (await load(name, script)).draw(inside, data);
}

async function load(name, script) {
  if (!modules.has(name) && !script.startsWith("/")) throw new Error("its script did not start");
  return modules.get(name) ?? import(script);
}

function text(value) {
  if (typeof value === "number") return figure(value, 6);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "-" : value;
}

function figures(data) {
  const found = Object.entries(data).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, text(value))));
  return h("dl", { class: "figures figures-small" }, found);
}

function table(title, rows) {
  if (!rows.length) return h("p", { class: "dim" }, "None.");
  const names = Object.keys(rows[0]);
  const kind = (name) => (rows.every((row) => typeof row[name] === "number" || row[name] === null) ? "number" : null);
  return h(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": `table of ${title}` },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: kind(name) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, names.map((name) => h("td", { class: kind(name) }, text(row[name])))))),
    ),
  );
}

// Put the panels of a report into their places: the elements of class `panels`, found by the name in `data-panels`.
export function placePanels(found) {
  for (const place of document.querySelectorAll(".panels")) {
    place.append(...found[place.dataset.panels].map((panel) => panelOf(panel, "h3")));
  }
}
