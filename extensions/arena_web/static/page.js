// What pages have in common.
import { get } from "./api.js";
import { h } from "./dom.js";
import { panelOf } from "./panels.js";

export const main = document.getElementById("main");

// The heading of a page, with what stands beside it.
export function head(title, said, ...beside) {
  return h("div", { class: "head" }, h("div", {}, h("h1", {}, title), said ? h("p", {}, said) : null), beside.length ? h("div", { class: "row" }, beside) : null);
}

// A place for messages of what went wrong, read out when one comes.
export function faultBox() {
  const box = h("div", { role: "alert" });
  return {
    box,
    show(message) {
      box.replaceChildren(...(message ? [h("p", { class: "fault" }, message)] : []));
    },
    // Several at once, as a list.
    list(messages) {
      if (messages.length < 2) return this.show(messages[0]);
      return box.replaceChildren(h("div", { class: "fault" }, h("p", {}, `${messages.length} faults:`), h("ul", {}, messages.map((one) => h("li", {}, one)))));
    },
  };
}

// A figure: what it is, and its value.
export function figure(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

// What the moves of a match are: of an answer, which comes at once, the steps that its agent counted.
export function counted(view) {
  return view.frames.some((frame) => frame.number < 0) ? "Steps" : "Moves";
}

// A time of the server as people write it where they are; `-` for none.
export function moment(text) {
  return text ? new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "-";
}

// The address of the page of an entry.
export function entryAddress(key, label) {
  return `/t/${key}/entry?${new URLSearchParams({ name: label })}`;
}

// The address of a list of matches, with what it is filtered by.
export function matchesAddress(key, filters) {
  const given = Object.entries(filters).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== 0);
  return given.length ? `/t/${key}/matches?${new URLSearchParams(given)}` : `/t/${key}/matches`;
}

export function button(text, onclick, kind = "") {
  return h("button", { type: "button", class: kind, onclick }, text);
}

// The game that the address asks for, as in /play?game=othello, else the usual one.
export function gameAsked(games, usual) {
  const name = new URLSearchParams(location.search).get("game");
  return games.find((game) => game.name === name) ?? games.find((game) => game.name === usual) ?? games[0];
}

// A random seed.
export function lot() {
  return Math.floor(Math.random() * 2 ** 31);
}

// Put the panels of plugins into a place: those of `{ place, id }`, of which a title may say more.
export async function fillPanels(place, key, wanted, titled = (title) => title) {
  try {
    const { panels } = await get(`/api/t/${key}/panels?${new URLSearchParams(wanted)}`);
    place.replaceChildren(...panels.map((panel) => panelOf({ ...panel, title: titled(panel.title) })));
  } catch (error) {
    place.replaceChildren(h("p", { class: "dim" }, `The panels of plugins cannot be shown: ${error.message}`));
  }
}
