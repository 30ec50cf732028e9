// Helpers that pages share.
import { at, get } from "./api.js";
import { h } from "./dom.js";
import { panelOf } from "./panels.js";

export const main = document.getElementById("main");

// Return the heading of a page, with further elements beside it.
export function head(title, said, ...beside) {
  return h("div", { class: "head" }, h("div", {}, h("h1", {}, title), said ? h("p", {}, said) : null), beside.length ? h("div", { class: "row" }, beside) : null);
}

// Return an element for error messages, which screen readers read out when a message appears.
export function faultBox() {
  const box = h("div", { role: "alert" });
  return {
    box,
    show(message) {
      box.replaceChildren(...(message ? [h("p", { class: "fault" }, message)] : []));
    },
  };
}

// Return a figure: its name and its value.
export function figure(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

// Return the word for the moves of a match. A match that ends with an answer has no moves, but steps that its agent counted.
export function counted(view) {
  return view.frames.some((frame) => frame.number < 0) ? "Steps" : "Moves";
}

// Return a time of the server in the local format of the reader; `-` if there is none.
export function moment(text) {
  return text ? new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "-";
}

// The address of the page of an entry.
export function entryAddress(key, label) {
  return at(`/t/${key}/entry?${new URLSearchParams({ name: label })}`);
}

// Return the address of the list of matches with a filter.
export function matchesAddress(key, filters) {
  const given = Object.entries(filters).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== 0);
  return at(given.length ? `/t/${key}/matches?${new URLSearchParams(given)}` : `/t/${key}/matches`);
}

export function button(text, onclick, kind = "") {
  return h("button", { type: "button", class: kind, onclick }, text);
}

// Return the game that the address names, as in /play?game=othello, or the default game.
export function gameAsked(games, usual) {
  const name = new URLSearchParams(location.search).get("game");
  return games.find((game) => game.name === name) ?? games.find((game) => game.name === usual) ?? games[0];
}

// Return a random seed.
export function lot() {
  return Math.floor(Math.random() * 2 ** 31);
}

// Put the panels of plugins into an element. `wanted` is `{ place, id }` and names the panels. `titled` may extend the title of
// a panel.
export async function fillPanels(place, key, wanted, titled = (title) => title) {
  try {
    const { panels } = await get(`/api/t/${key}/panels?${new URLSearchParams(wanted)}`);
    place.replaceChildren(...panels.map((panel) => panelOf({ ...panel, title: titled(panel.title) })));
  } catch (error) {
    place.replaceChildren(h("p", { class: "dim" }, `The panels of plugins cannot be shown: ${error.message}`));
  }
}
