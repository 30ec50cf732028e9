// What a submission has printed and how it lost matches by its own faults: read when its author opens it, and again while it plays.
import { h } from "./dom.js";
import { ask } from "./token.js";

const LIVE = ["queued", "checking", "playing"];
const boxes = new Map();

// The box of a submission, one and the same whatever is drawn around it: what was opened stays open. `open` where it is to be at first, and when the status changes.
export function logBox(row, open) {
  if (!boxes.has(row.id)) {
    const body = h("div", {});
    const box = h("details", { class: "gap-small", open, ontoggle: () => refresh(row.id) }, h("summary", {}, "Log: its faults in matches, and what it printed"), body);
    boxes.set(row.id, { box, body, row: null, seen: "", told: "" });
  }
  const one = boxes.get(row.id);
  if (open && one.row && one.row.status !== row.status) one.box.open = true;
  one.row = row;
  return one.box;
}

// Read those again that are open, and of which there may be more.
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
    row.version === null ? "" : told.lost.length ? h("h3", { class: "gap-small" }, "The latest matches that it lost by its own fault") : h("p", { class: "dim gap-small" }, "It has lost no match by its own fault."),
    told.lost.length ? h("ul", { class: "failures" }, [...ways.values()].map((matches) => way(matches, row))) : "",
    told.log ? h("h3", { class: "gap-small gap-small-below" }, row.version === null ? "What it printed in its check" : "What it printed last, in its check and in matches") : h("p", { class: "dim gap-small" }, "It has printed nothing."),
    told.log ? h("pre", { class: "code log", tabindex: "0", "aria-label": "what it printed" }, told.log) : "",
  ];
}

// The matches that were lost in the same way: what happened is told once.
function way(matches, row) {
  const { termination, message, traceback } = matches[0];
  const link = (one) => h("a", { href: `/t/${document.body.dataset.key}/match/${one.match}?${new URLSearchParams({ agent: row.agent })}` }, one.labels.join(" – "));
  return h(
    "li",
    {},
    h("strong", { class: "bad" }, message ? `${termination}, ${message}` : termination),
    traceback ? h("pre", { class: "code log gap-small gap-small-below", tabindex: "0", "aria-label": "traceback" }, traceback) : ": ",
    matches.flatMap((one, number) => [number ? ", " : "", link(one)]),
  );
}
