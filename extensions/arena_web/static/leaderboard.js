// The page of the leaderboards of a tournament, which is updated while matches are played.
import { post } from "./api.js";
import { boardOf, overallOf } from "./board_table.js";
import { h, whole } from "./dom.js";
import { button, faultBox, figure, fillPanels, main, moment } from "./page.js";
import { pairChoice } from "./pair.js";
import { stateTag } from "./states.js";

const key = document.body.dataset.key;
const faults = faultBox();
const title = h("h1", {}, "Loading…");
const tag = h("span", { class: "state", role: "status" });
const bar = h("progress", { "aria-label": "matches played", max: "1", value: "0" });
const figures = h("dl", { class: "figures figures-small" });
const message = h("div");
const boards = h("div", { class: "stack" }), panels = h("div", { class: "stack" });
const compare = h("a", { class: "button", href: `/t/${key}/compare`, hidden: true }, "Compare");
const pair = pairChoice(key);
const stop = button("Stop", halt);
stop.hidden = true;

main.append(
  h("div", { class: "head" }, h("div", { class: "row" }, title, tag), h("div", { class: "row" }, stop, compare, h("a", { class: "button", href: `/t/${key}/matches` }, "All matches"))),
  faults.box,
  message,
  h("section", { class: "card", "aria-label": "progress" }, bar, figures),
  boards,
  panels,
  pair.box,
  h("section", { class: "card gap", "aria-label": "downloads" }, h("h2", {}, "Downloads"), h("ul", { class: "plain-list row" }, downloads())),
);

let panelled = null;

const source = new EventSource(`/api/t/${key}/events`);
source.addEventListener("state", (event) => show(JSON.parse(event.data)));
source.addEventListener("error", () => faults.show(source.readyState === EventSource.CLOSED ? "The server no longer responds." : "The connection was lost; the page is trying to reconnect."));
source.addEventListener("open", () => faults.show(null));
addEventListener("pagehide", () => source.close());

function show(state) {
  document.title = `${state.name} | arena`;
  title.textContent = state.name;
  tag.replaceChildren(stateTag(state.state));
  const boardsWithPairs = state.boards.filter((board) => board.kind !== "score"); // on these, agents can be compared in pairs
  const compared = document.body.dataset.comparisons === "no" ? [] : boardsWithPairs; // without arena_compare there is no such page
  compare.hidden = !compared.some((board) => board.games > 0 && board.rows.length > 1);
  stop.hidden = !(state.own && ["running", "starting"].includes(state.state));
  message.replaceChildren(...(state.message ? [h("p", { class: "fault" }, state.message)] : []));
  const total = state.total ?? state.expected;
  if (total) {
    bar.max = total;
    bar.value = state.done;
  } else if (state.state === "running" || state.state === "starting") bar.removeAttribute("value");
  else bar.value = bar.max;
  figures.replaceChildren(...progress(state));
  pair.show(compared);
  const focused = document.activeElement?.getAttribute("href");
  const inside = boards.contains(document.activeElement);
  const region = [...boards.querySelectorAll(".scroll")].indexOf(document.activeElement);
  const before = [...boards.querySelectorAll(".scroll")].map((node) => node.scrollLeft);
  const cards = state.boards.map((board, number) => boardOf(board, number, key));
  boards.replaceChildren(...(state.overall ? [overallOf(state.overall, key)] : []), ...cards);
  boards.querySelectorAll(".scroll").forEach((node, number) => { node.scrollLeft = before[number] ?? 0; });
  if (region >= 0) boards.querySelectorAll(".scroll")[region]?.focus({ preventScroll: true });
  if (inside && focused) boards.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
  const phase = `${state.state} ${state.started}`; // a store may have one run after the other
  if (panelled !== phase) showPanels(state.boards, phase);
}

// Show the panels of the boards, one board after the other. They are requested when the page opens, and when a run begins or
// ends.
async function showPanels(found, phase) {
  panelled = phase;
  const filled = [];
  for (const [number, board] of found.entries()) {
    const place = h("div", { class: "stack" });
    await fillPanels(place, key, { place: "board", id: String(number) }, (title) => (found.length > 1 ? `${board.title}: ${title}` : title));
    if (panelled !== phase) return;
    if (place.childElementCount) filled.push(place);
  }
  panels.replaceChildren(...filled);
}

// Show the progress of the run, its pace and its conditions. A time that is not known yet is shown as a dash. For a sequential
// test, the number of matches is a forecast.
function progress(state) {
  const running = state.state === "running", pace = state.pace ?? null;
  const total = state.total ?? state.expected, about = state.total === null && total ? "about " : "";
  const left = running && total && pace ? `${about}${span(Math.max(0, total - state.done) / pace)}` : "-";
  const found = [["Matches", total ? `${whole(state.done)} of ${about}${whole(total)}` : whole(state.done)]];
  if (running) found.push(["Rate", pace === null ? "-" : `${pace.toFixed(pace < 10 ? 1 : 0)} a second`], ["Time left", left]);
  if (!running && state.started) found.push(["Last run", moment(state.started)]);
  if (state.seed !== undefined) found.push(["Seed", String(state.seed)], ["Limits per decision", state.limits], ["Versions", state.versions]);
  return found.map(([name, value]) => figure(name, value));
}

function downloads() {
  const files = { "matches.csv": "Matches, CSV", "matches.jsonl": "Matches, JSON lines", "leaderboards.json": "Leaderboards, JSON", "spec.yaml": "Spec, YAML" };
  return Object.entries(files).map(([name, text]) => h("li", {}, h("a", { class: "button", href: `/t/${key}/download/${name}`, download: "" }, text)));
}

function span(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

async function halt() {
  stop.disabled = true;
  try {
    await post(`/api/t/${key}/stop`, {});
  } catch (error) {
    faults.show(error.message);
  }
  stop.disabled = false;
}
