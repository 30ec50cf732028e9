// The page with the submissions of an author, which only the author can see: what the checks found, the results, and the logs.
import { at } from "./api.js";
import { amount, h, whole } from "./dom.js";
import { feedbackBox } from "./feedback.js";
import { button, entryAddress, faultBox, head, main, moment } from "./page.js";
import { logBox, refreshLogs } from "./submission_log.js";
import { ask, token, tokenField } from "./token.js";

const LOOK = 2000;
const TAGS = { playing: "tag tag-live", refused: "tag tag-bad", suspended: "tag tag-bad" };

const key = document.body.dataset.key;
const faults = faultBox();
const list = h("div", { class: "stack", tabindex: "-1" });
const foot = h("div", { class: "row between gap" });
const letters = h("div", { class: "gap" });
const name = h("p", {});
let waiting = null, told = "", page = 0;

main.append(head("Yours", "Your submissions, the results of their checks, feedback on their matches, their output and their failures. Only you can see this page.", h("a", { class: "button primary", href: at("/hand-in") }, "Hand in an agent")), faults.box, h("section", { class: "card", "aria-label": "who you are" }, tokenField(look), name), letters, h("div", { class: "gap" }, list), foot);
look();

async function look() {
  clearTimeout(waiting);
  if (!token()) {
    list.replaceChildren(h("p", { class: "empty" }, "Your token opens this page."));
    letters.replaceChildren();
    foot.replaceChildren();
    name.textContent = told = "";
    return;
  }
  try {
    const wanted = page;
    const { author, id, name: own, team, rows, total, pages, messages } = await ask(`/api/submissions?page=${wanted}`);
    if (wanted !== page) return;
    faults.show(null);
    const shown = author === id ? "" : ` Tables and pages call ${team ? "your team" : "you"} ${author}.`;
    name.textContent = `You are ${own ? `${own} (${id})` : id}${team ? ` of the team ${team}` : ""}.${shown}`;
    letters.replaceChildren(messages.length ? h("section", { class: "card", "aria-label": "messages from the host" }, h("h2", {}, "Messages from the host"), h("ul", { class: "failures" }, messages.map((one) => h("li", {}, h("span", { class: "dim" }, `${moment(one.time)} `), one.text)))) : "");
    const text = JSON.stringify([rows, total, page]);
    if (text !== told) {
      const open = new Set([...list.querySelectorAll("details[open]")].map((one) => one.dataset.id));
      const refused = rows.find((row) => row.status === "refused");
      list.replaceChildren(...(rows.length ? rows.map((row) => card(row, open, row.status === "suspended" || row === refused)) : [h("p", { class: "empty" }, "Nothing yet.")]));
      foot.replaceChildren(...(pages > 1 ? pager(total, pages) : []));
      told = text;
    }
    refreshLogs();
    waiting = setTimeout(look, LOOK);
  } catch (error) {
    faults.show(error.message);
    list.replaceChildren();
    letters.replaceChildren();
    foot.replaceChildren();
    told = "";
  }
}

function pager(total, pages) {
  const turn = (by) => { page += by; look().then(() => list.focus()); };
  const back = button("Newer", () => turn(-1)), on = button("Older", () => turn(1));
  back.disabled = page === 0;
  on.disabled = page >= pages - 1;
  return [h("p", { class: "dim", role: "status" }, `${amount(total, "submission", "submissions")}, page ${whole(page + 1)} of ${whole(pages)}`), h("div", { class: "row" }, back, on)];
}

function card(row, open, unwell) {
  const title = row.agent ?? `${row.name ?? row.file}`;
  return h(
    "section",
    { class: "card", "aria-label": title },
    h("div", { class: "row" }, h("h2", {}, row.agent && row.status !== "refused" ? h("a", { href: entryAddress(key, row.agent) }, title) : title), h("span", { class: TAGS[row.status] ?? "tag" }, row.status)),
    h("p", { class: "dim small gap-small" }, `${row.file}, handed in ${moment(row.received)}, ${row.id}`),
    row.reason ? h("p", { class: row.status === "withdrawn" ? "note gap-small" : "fault gap-small" }, row.reason) : null,
    row.faults && row.status === "playing" ? h("p", { class: "bad gap-small" }, `It has lost its last ${row.faults === 1 ? "match" : `${row.faults} matches`} through its own fault.`) : null,
    row.findings.length ? findings(row, open) : null,
    feedbackBox(row),
    logBox(row, unwell),
    ["playing", "queued", "checking"].includes(row.status) ? h("div", { class: "row gap-small" }, h("button", { type: "button", onclick: () => withdraw(row.id) }, "Withdraw")) : null,
  );
}

function findings(row, open) {
  const broken = row.findings.filter((one) => !one.kept);
  return h(
    "details",
    { class: "gap-small", "data-id": row.id, open: open.has(row.id) || (broken.length > 0 && row.status === "refused") },
    h("summary", {}, broken.length ? `${broken.length} of ${row.findings.length} checks failed` : `${row.findings.length} checks`),
    h("ul", { class: "failures" }, row.findings.map((one) => h("li", {}, h("strong", { class: one.kept ? "" : "bad" }, one.kept ? (one.reached ? "ok " : "not checked ") : "failed "), `${one.game}, ${one.check}: ${one.promise}`, one.found ? h("pre", { class: "code gap-small", tabindex: "0" }, one.found) : null))),
  );
}

async function withdraw(id) {
  try {
    await ask(`/api/submissions/${id}/withdraw`, { method: "POST" });
    look();
  } catch (error) {
    faults.show(error.message);
  }
}
