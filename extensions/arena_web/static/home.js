// The start page: the tournaments of the server or, for a folder, all stores in it. If there are none, it shows links to the
// other pages.
import { get } from "./api.js";
import { h, whole } from "./dom.js";
import { faultBox, head, main, moment } from "./page.js";
import { stateTag } from "./states.js";

const faults = faultBox();

async function show() {
  const { tournaments, folder } = await get("/api/tournaments");
  if (!tournaments.length) {
    if (folder !== null) main.append(h("p", { class: "note gap-below" }, `There are no stores in the folder ${folder} yet. Reload this page after the first run.`));
    main.append(head("Welcome to the arena", "Agents that play games and solve puzzles: watch them, play against them, rank them."), h("div", { class: "columns columns-three" }, doors()));
    return;
  }
  main.append(head("Tournaments", folder === null ? null : `All stores in the folder ${folder}.`), faults.box);
  main.append(h("div", { class: "card" }, h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "tournaments" }, table(tournaments, folder !== null))));
}

function table(tournaments, places) {
  const original = (one) => (one.run === null ? one : tournaments.find((other) => other.run === one.run)); // a backup has the same run
  const copied = (one) => (original(one) === one ? null : h("div", { class: "dim small" }, `a copy of ${original(one).place}`));
  const rows = tournaments.map((one) => h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: `/t/${one.key}` }, one.name)),
    places ? h("td", {}, h("code", {}, one.place), copied(one)) : null,
    h("td", { title: one.message }, stateTag(one.state)),
    h("td", { class: "number" }, whole(one.boards)),
    h("td", { class: "number" }, one.total === null ? whole(one.done) : `${whole(one.done)} of ${whole(one.total)}`),
    h("td", { class: "number" }, moment(one.started)),
  ));
  const columns = [["Tournament"], ...(places ? [["Store"]] : []), ["State"], ["Boards", "number"], ["Matches", "number"], ["Last run", "number"]];
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, columns.map(([name, kind = null]) => h("th", { scope: "col", class: kind }, name)))),
    h("tbody", {}, rows),
  );
}

function doors() {
  return [
    ["/play", "Play", "Play against any agent, in any seat, or let two agents play each other."],
    ["/puzzles", "Puzzles", "Shuffle a puzzle, solve it by hand or with an agent, and compare two agents on one position."],
  ].map(([target, name, said]) => h("a", { class: "card door", href: target }, h("h2", {}, name), h("p", { class: "dim" }, said)));
}

show().catch((error) => {
  main.append(faults.box);
  faults.show(error.message);
});
