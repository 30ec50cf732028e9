// Shows the log of a submission: its output, and the matches that it lost through its own faults. The log is requested when the author
// opens its box, and again while the submission plays.
import { at } from "./api.js";
import { h } from "./dom.js";
import { ask } from "./token.js";

const LIVE = ["queued", "checking", "playing"];
const boxes = new Map();

// Return the box of a submission. The same box is used whenever the page is drawn again, so an open box stays open. `open` says
// whether it is open at first and after the status changes.
export function logBox(row, open) {
  if (!boxes.has(row.id)) {
    const body = h("div", {});
    const box = h("details", { class: "gap-small", open, ontoggle: () => refresh(row.id) }, h("summary", {}, "Log: faults in matches, and output"), body);
    boxes.set(row.id, { box, body, row: null, seen: "", told: "" });
  }
  const one = boxes.get(row.id);
  if (open && one.row && one.row.status !== row.status) one.box.open = true;
  one.row = row;
  return one.box;
}

// Read the open logs again if more may have been added to them.
export function refreshLogs() {
  for (const id of boxes.keys()) refresh(id);
}

async function refresh(id) {
  const one = boxes.get(id);
  const seen = JSON.stringify(one.row);
  if (!one.box.open || !one.box.isConnected || (one.seen === seen && !LIVE.includes(one.row.status))) return;
  try {
    const told = await ask(`/api/submissions/${id}/log`);
    one.seen = seen;
    if (JSON.stringify(told) !== one.told) {
      one.told = JSON.stringify(told);
      one.body.replaceChildren(...content(told, one.row));
      const log = one.body.querySelector(".log:last-child");
      log?.scrollTo(0, log.scrollHeight);
    }
  } catch (error) {
    one.body.replaceChildren(h("p", { class: "bad gap-small" }, error.message));
  }
}

function content(told, row) {
  const ways = Map.groupBy(told.lost, (one) => JSON.stringify([one.termination, one.message, one.traceback]));
  return [
    row.version === null || told.hidden ? "" : told.lost.length ? h("h3", { class: "gap-small" }, "Latest matches that the agent lost through its own fault") : h("p", { class: "dim gap-small" }, "The agent has not lost any match through its own fault."),
    told.lost.length ? h("ul", { class: "failures" }, [...ways.values()].map((matches) => way(matches, row))) : "",
    told.hidden ? h("p", { class: "note gap-small" }, "Lost matches and the output of matches are hidden until the ladder is final, because they could show hidden positions.") : "",
    told.log ? h("h3", { class: "gap-small gap-small-below" }, told.hidden ? "Output of the agent during its check" : row.version === null ? "Output of the agent during its check" : "Latest output of the agent, from its check and from matches") : h("p", { class: "dim gap-small" }, "The agent has printed nothing."),
    told.log ? h("pre", { class: "code log", tabindex: "0", "aria-label": "output of the agent" }, told.log) : "",
  ];
}

// Return one item for all matches that were lost in the same way: the description, and a link to each match.
function way(matches, row) {
  const { termination, message, traceback } = matches[0];
  const link = (one) => h("a", { href: at(`/t/${document.body.dataset.key}/match/${one.match}?${new URLSearchParams({ agent: row.agent })}`) }, one.labels.join(" – "));
  return h(
    "li",
    {},
    h("strong", { class: "bad" }, message ? `${termination}, ${message}` : termination),
    traceback ? h("pre", { class: "code log gap-small gap-small-below", tabindex: "0", "aria-label": "traceback" }, traceback) : ": ",
    matches.flatMap((one, number) => [number ? ", " : "", link(one)]),
  );
}
