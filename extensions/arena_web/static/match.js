// The page of one match, position by position, with links to the next match and to pages that continue from a position.
import { at, get } from "./api.js";
import { h, visible, whole } from "./dom.js";
import { entryAddress, faultBox, fillPanels, lot, main } from "./page.js";
import { mountPlayer, result } from "./player.js";

const MAX_ADDRESS_CHARACTERS = 10000;

const { key, id } = document.body.dataset;
const faults = faultBox();
const title = h("h1", {}, "Match");
const said = h("span", {}), numbered = h("span", {});
const ways = h("nav", { class: "row ways", "aria-label": "other matches" });
const place = h("section", { class: "card", "aria-label": "replay" });
const on = h("div", { class: "row centred gap-small" });
const panels = h("div", { class: "stack" }), related = h("div");
let player = null;

main.classList.add("board-first");
main.append(h("div", { class: "head" }, h("div", { class: "titles" }, title, h("p", {}, numbered, said)), ways), faults.box);

const loading = h("p", { class: "card empty", role: "status" }, "Loading the match…");
main.append(loading);
get(`/api/t/${key}/match/${id}`).then(show).catch((error) => faults.show(error.message)).finally(() => loading.remove());
get(`/api/t/${key}/match/${id}/around${location.search}`).then(showWays).catch((error) => faults.show(error.message));

function show({ view, play_on: forms }) {
  title.replaceChildren(...view.labels.flatMap((label, seat) => [...(seat ? [" – "] : []), h("a", { href: entryAddress(key, label) }, label)]));
  title.title = visible(view.labels.join(" – ")); // the title may be cut if it is too long
  document.title = visible(`${view.labels.join(" – ")} | arena`);
  const adjudicated = view.termination === "adjudicated"; // then the message gives the reason, and it is not a fault
  said.textContent = visible(`${view.game.name}, ${result(view)}${adjudicated ? `: ${view.message}` : ""}`);
  if (view.message && !adjudicated) faults.show(`${view.seat === null ? "" : `${view.labels[view.seat]}: `}${view.termination}: ${view.message}`);
  main.append(place, panels, related);
  if (view.differences.length) main.append(h("p", { class: "fault" }, `The record does not follow the rules: ${view.differences.join("; ")}`));
  player = mountPlayer(place, view, { keys: true, onShow: () => player && offer(view, forms) });
  place.querySelector(".player-main").append(on);
  offer(view, forms);
  fillPanels(panels, key, { place: "match", id });
  panels.addEventListener("arena-position", ({ detail }) => player.go(detail)); // a panel requests a position
  const asked = /^#(\d+)(-\w+)?$/.exec(location.hash); // the word after the number is for panels
  if (asked) player.go(Number(asked[1]));
}

// Show links to the next and the previous match in the list from which this match was opened, and to related matches.
function showWays({ newer, older, related: others, number, board }) {
  const link = (text, target) => (target === null
    ? h("a", { class: "button", role: "link", "aria-disabled": "true" }, text)
    : h("a", { class: "button", href: at(`/t/${key}/match/${target}${location.search}`) }, text));
  const twin = others.filter((one) => one.labels.length === 2);
  ways.replaceChildren(
    link("Newer", newer),
    link("Older", older),
    ...twin.map((one) => h("a", { class: "button", href: at(`/t/${key}/match/${one.id}${location.search}`) }, "Seats swapped")),
    h("a", { class: "button", href: at(`/t/${key}/matches${location.search}`) }, "All matches"),
  );
  numbered.textContent = number === null ? "" : `Match ${whole(number)}: `;
  const rest = others.filter((one) => one.labels.length !== 2);
  if (rest.length) {
    related.className = "card gap";
    related.replaceChildren(
      h("h2", {}, rest[0].labels.length === 1 ? "Other attempts at this position" : "Matches from this position with other seats"),
      h("ul", { class: "failures" }, rest.map((one) => h("li", {}, h("a", { href: at(`/t/${key}/match/${one.id}?board=${board}`) }, one.labels.join(" – ")), `: ${result(one)}`))),
    );
  }
}

// Show links that continue from the position shown: with a person in one of the seats, or on the page of puzzles.
function offer(view, forms) {
  const frame = view.frames[player.at];
  const end = player.at === view.frames.length - 1 && !["move-limit", "gave-up", "out-of-budget", "adjudicated"].includes(view.termination);
  if (!forms?.game || frame.number < 0 || (end && player.at > 0)) return on.replaceChildren();
  if (forms.puzzle) return on.replaceChildren(...(forms.agents[0] ? [go("Continue solving from here", puzzleAddress(forms, frame))] : []));
  const seats = view.labels.map((_, seat) => seat).filter((seat) => forms.agents.every((form, other) => other === seat || form));
  return on.replaceChildren(...seats.map((seat) => go(`Continue in place of ${view.labels[seat]}`, gameAddress(view, forms, seat))));
}

function go(text, href) {
  return h("a", { class: "button", href }, text);
}

function puzzleAddress({ game, agents, limits }, frame) {
  return `/puzzles#${encoded({ game, limits: limits[0], state: frame.state, panels: [{ agent: agents[0], actions: [] }] })}`;
}

// Return an address with all actions up to the position, so that they can be taken back; if there are too many, it has only the
// position.
function gameAddress(view, { game, agents, limits }, seat) {
  const actions = view.frames.slice(1, player.at + 1).map((frame) => frame.action);
  const rival = limits.find((_, other) => other !== seat) ?? {};
  const saved = { game, agents: agents.map((form, other) => (other === seat ? null : form)), limits: rival, seed: lot() };
  const long = encoded({ ...saved, line: { state: view.frames[0].state, actions } });
  const dealt = view.frames.some((frame) => frame.action !== null && frame.seat === null); // then continue from the position, where chance draws anew
  const short = () => encoded({ ...saved, line: { state: view.frames[player.at].state, actions: [] } });
  return `/play#${long.length > MAX_ADDRESS_CHARACTERS || view.left_out || dealt ? short() : long}`;
}

function encoded(values) {
  return encodeURIComponent(JSON.stringify(values));
}
