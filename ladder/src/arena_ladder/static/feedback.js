// Shows the feedback on a submission: the positions that cost it most, each with the board, the move, and a better move.
import { at, get } from "./api.js";
import { mount } from "./board.js";
import { figure, h } from "./dom.js";
import { moment } from "./page.js";

const RETRY = 1500, TRIES = 20;
const shown = new Map();

// Return the box with the feedback on a submission; null if there is none. The same box is used whenever the page is drawn again.
export function feedbackBox(row) {
  if (!row.feedback) return null;
  const told = JSON.stringify(row.feedback);
  if (shown.get(row.id)?.told !== told) shown.set(row.id, { told, box: made(row) });
  return shown.get(row.id).box;
}

function made(row) {
  const { time, matches, decisions, judged, costly } = row.feedback;
  const places = costly.map((one) => ({ one, board: h("div", { class: "stage" }) }));
  const looked = `${matches === 1 ? "1 match was" : `${matches} matches were`} reviewed, with ${judged} of ${decisions} decisions judged.`;
  const box = h(
    "details",
    { class: "gap-small" },
    h("summary", {}, `Feedback of ${moment(time)}: ${costly.length ? `the ${costly.length === 1 ? "position" : `${costly.length} positions`} that cost most` : "no costly decision was found"}`),
    h("p", { class: "dim small gap-small" }, looked),
    places.map(({ one, board }) => positionOf(row, one, board)),
  );
  box.addEventListener("toggle", async () => {
    for (const { one, board } of box.open ? places : []) if (!board.hasChildNodes()) await draw(one, board);
  });
  return box;
}

function positionOf(row, one, board) {
  const link = at(`/t/${document.body.dataset.key}/match/${one.match}?${new URLSearchParams({ agent: row.agent })}#${one.number}`);
  const cost = one.lost === null ? "" : one.times === 1 ? `This decision lost ${figure(one.lost)}. ` : `In ${one.times} matches, this decision lost ${figure(one.lost)} in total. `;
  return h(
    "section",
    { class: "gap", "aria-label": `position ${one.position}` },
    board,
    h("p", { class: "gap-small" }, "Played: ", h("strong", { class: "bad" }, one.action), ` (${one.grade}). `, cost, one.best === null ? "" : ["Better: ", h("strong", {}, one.best), ". "], h("a", { href: link }, "The match")),
  );
}

// Draw the position in the same way as the page of the match. If the ladder is busy, try again.
async function draw(one, board) {
  const text = h("pre", { class: "board-text", tabindex: "0", role: "group", "aria-label": "position" }, one.position);
  board.replaceChildren(text);
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      const { view } = await get(`/api/t/${document.body.dataset.key}/match/${one.match}`);
      const frame = view.frames.find((found) => found.number === one.number);
      if (!frame) return;
      text.remove();
      mount(board, view.game).show(frame.state, { rendered: frame.rendered, grid: frame.grid, note: frame.note, last: frame.action, start: view.frames[0].state, animate: false });
      return;
    } catch (error) {
      if (error.status !== 429) return; // the text of the position stays
      await new Promise((done) => { setTimeout(done, RETRY); });
    }
  }
}
