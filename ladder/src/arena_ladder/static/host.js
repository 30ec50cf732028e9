// The page of the host: all submissions with their authors, and for each submission the findings, code, log, and messages.
import { at } from "./api.js";
import { h, whole } from "./dom.js";
import { feedbackBox } from "./feedback.js";
import { button, faultBox, head, main, moment } from "./page.js";
import { ask, hostToken, tokenField } from "./token.js";

const TAGS = { playing: "tag tag-live", refused: "tag tag-bad", suspended: "tag tag-bad" };
const STATUSES = ["queued", "checking", "playing", "refused", "withdrawn", "suspended"];
const SHOWN = 200, LOOK = 5000;

const faults = faultBox();
const search = h("input", { type: "search", placeholder: "name, id, team or agent", oninput: list });
const status = h("select", { onchange: list }, h("option", { value: "" }, "any status"), STATUSES.map((one) => h("option", { value: one }, one)));
const twins = h("input", { type: "checkbox", onchange: list });
const summary = h("p", { class: "dim small gap-small", role: "status" });
const table = h("div", { class: "gap" });
const detail = h("div", { class: "gap below-top", tabindex: "-1" });
const pairs = h("div", { class: "gap-small", role: "status" });
const downloads = h("div", { class: "row" });
const wanted = h("section", { class: "card gap", "aria-label": "submissions", hidden: true },
  h("div", { class: "fields" }, h("label", { class: "field" }, h("span", {}, "Find"), search), h("label", { class: "field" }, h("span", {}, "Status"), status)), h("label", { class: "row gap-small" }, twins, h("span", {}, "Only identical files")),
  summary, table, h("div", { class: "gap-small" }, downloads), pairs);
let rows = [], told = "", waiting = null;

main.append(head("Host", "All submissions with their authors, code and logs. This page needs the host's token."), faults.box, h("section", { class: "card", "aria-label": "who you are" }, tokenField(look, hostToken)), wanted, detail);
look();

async function look() {
  clearTimeout(waiting);
  const used = hostToken.get();
  if (!used) return hide();
  try {
    const found = await askHost("/api/host/submissions");
    if (used !== hostToken.get()) return; // another token was typed meanwhile
    faults.show(null);
    const text = JSON.stringify(found);
    if (text !== told) {
      told = text;
      rows = found.rows;
      wanted.hidden = false;
      downloads.replaceChildren(button("Download code and logs (zip)", () => download(`/api/host/archive?${filters()}`, "submissions.zip")), found.marks ? button("Download the marks (CSV)", () => download("/api/host/marks", "marks.csv")) : "", button("Compare code and moves", compare));
      list();
    }
    waiting = setTimeout(look, LOOK);
  } catch (error) {
    faults.show(error.message);
    if (error.status === 401) hide();
    else waiting = setTimeout(look, LOOK);
  }
}

function hide() {
  wanted.hidden = true;
  table.replaceChildren();
  pairs.replaceChildren();
  detail.replaceChildren();
  rows = [];
  told = "";
}

function askHost(path, options) {
  return ask(path, options, hostToken);
}

function filters() {
  return new URLSearchParams(status.value ? { status: status.value } : {});
}

// Return the persons behind a submission as text.
function persons(row) {
  return row.people.map((one) => (one.name ? `${one.name} (${one.id})` : one.id)).join(", ");
}

function list() {
  const text = search.value.trim().toLowerCase();
  const fits = (row) => (!status.value || row.status === status.value) && (!twins.checked || row.identical.length) && [row.agent, row.author, row.id, ...row.people.flatMap((one) => Object.values(one))].some((value) => value.toLowerCase().includes(text));
  const found = rows.filter(fits);
  const counts = STATUSES.map((name) => [name, rows.filter((row) => row.status === name).length]).filter(([, count]) => count);
  summary.textContent = `${whole(found.length)} of ${whole(rows.length)} submissions${found.length > SHOWN ? `; the latest ${SHOWN} are listed` : ""}. ${counts.map(([name, count]) => `${name}: ${whole(count)}`).join(", ")}`;
  const held = document.activeElement?.dataset?.id;
  table.replaceChildren(
    found.length
      ? h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "list of submissions" }, h("table", {}, h("thead", {}, h("tr", {}, ["Agent", "Author", "Received", "Status"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, found.slice(0, SHOWN).map(line))))
      : h("p", { class: "empty" }, rows.length ? "No submissions match." : "There are no submissions yet."),
  );
  if (held) table.querySelector(`[data-id="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

function line(row) {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("button", { type: "button", class: "link", "data-id": row.id, onclick: () => open(row.id) }, row.agent)),
    h("td", {}, persons(row), row.people[0].team ? h("span", { class: "dim" }, ` ${row.people[0].team}`) : null),
    h("td", {}, moment(row.received)),
    h("td", {}, h("span", { class: TAGS[row.status] ?? "tag" }, row.status), row.identical.length ? h("span", { class: "tag tag-bad", title: `identical to a file of ${row.identical.join(", ")}` }, "identical") : null),
  );
}

async function open(id, said = "") {
  try {
    const row = await askHost(`/api/host/submissions/${id}`);
    detail.replaceChildren(card(row, said));
    detail.focus({ preventScroll: true });
    detail.scrollIntoView({ block: "start" });
  } catch (error) {
    faults.show(error.message);
  }
}

function card(row, said) {
  const box = faultBox();
  const act = (what, done) => async () => {
    try {
      await askHost(`/api/host/submissions/${row.id}/${what}`, { method: "POST" });
      await open(row.id, done);
      look();
    } catch (error) {
      box.show(error.message);
    }
  };
  const waits = ["queued", "checking"].includes(row.status);
  return h(
    "section",
    { class: "card", "aria-label": row.agent },
    h("div", { class: "row" }, h("h2", {}, row.agent), h("span", { class: TAGS[row.status] ?? "tag" }, row.status)),
    h("p", { class: "dim small gap-small" }, `${row.file}, ${moment(row.received)}, ${row.id}`),
    h("ul", { class: "plain-list gap-small" }, row.people.map((one) => h("li", {}, [one.name, one.id, one["e-mail"], one.team].filter(Boolean).join(", ")))),
    row.reason ? h("p", { class: "fault gap-small" }, row.reason) : null,
    row.identical.length ? h("p", { class: "fault gap-small" }, `The file is identical to a file of ${row.identical.join(", ")}.`) : null,
    row.faults ? h("p", { class: "bad gap-small" }, `Consecutive matches lost through its own faults: ${row.faults}.`) : null,
    box.box,
    h("p", { role: "status", class: "gap-small" }, said),
    h("div", { class: "row gap-small" }, waits ? null : button("Check again", act("check", "The submission is waiting for its check.")), waits || row.status === "playing" ? button("Withdraw", act("withdraw", "The submission was withdrawn.")) : null, button("Load again", () => open(row.id))),
    row.findings.length ? findings(row.findings) : null,
    row.lost.length ? lost(row) : null,
    feedbackBox(row),
    section("Log", row.log ? h("pre", { class: "code log", tabindex: "0", "aria-label": "output of the agent" }, row.log) : h("p", { class: "dim" }, "The agent has printed nothing.")),
    section("Code", row.files.flatMap((file) => [h("h3", { class: "gap-small gap-small-below" }, file.name), file.text === null ? h("p", { class: "dim" }, "This file is not text; it is in the zip.") : h("pre", { class: "code log", tabindex: "0", "aria-label": file.name }, file.text), file.cut ? h("p", { class: "dim" }, "The rest is in the zip.") : null])),
    messages(row),
  );
}

function section(title, ...content) {
  return h("details", { class: "gap-small" }, h("summary", {}, title), ...content);
}

function findings(all) {
  const broken = all.filter((one) => !one.kept);
  return section(
    broken.length ? `${broken.length} of ${all.length} checks failed` : `${all.length} checks`,
    h("ul", { class: "failures" }, all.map((one) => h("li", {}, h("strong", { class: one.kept ? "" : "bad" }, one.kept ? (one.reached ? "ok " : "not checked ") : "failed "), `${one.game}, ${one.check}: ${one.promise}`, one.found ? h("pre", { class: "code gap-small", tabindex: "0" }, one.found) : null))),
  );
}

function lost(row) {
  const link = (one) => h("a", { href: at(`/t/${document.body.dataset.key}/match/${one.match}?${new URLSearchParams({ agent: row.agent })}`) }, one.labels.join(" – "));
  return section("Latest matches that the agent lost through its own fault", h("ul", { class: "failures" }, row.lost.map((one) => h("li", {}, link(one), `: ${one.termination}${one.message ? `, ${one.message}` : ""}`))));
}

function messages(row) {
  const text = h("textarea", { rows: 4, maxlength: 4000, required: true });
  const box = faultBox();
  return h(
    "form",
    { class: "gap", "aria-label": "message", onsubmit: send },
    h("h3", {}, "Messages to this author"),
    h("ul", { class: "failures" }, row.messages.map((one) => h("li", {}, h("span", { class: "dim" }, `${moment(1000 * one.time)} `), one.text))),
    h("label", { class: "field gap-small" }, h("span", {}, "A new message"), text, h("small", {}, "The author, or every member of the team, can read it on the page “Yours”.")),
    box.box,
    h("div", { class: "row gap-small" }, h("button", { type: "submit" }, "Send")),
  );

  async function send(event) {
    event.preventDefault();
    try {
      await askHost("/api/host/messages", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ author: row.author, text: text.value }) });
      await open(row.id, "The message was sent.");
    } catch (error) {
      box.show(error.message);
    }
  }
}

// Show the pairs of authors that are most alike.
async function compare(event) {
  event.target.disabled = true;
  pairs.replaceChildren(h("p", { class: "dim" }, "Comparing all pairs of authors; this may take a minute."));
  try {
    const found = await askHost("/api/host/similar");
    const share = (value) => (value === null ? "-" : `${Math.round(100 * value)} %`);
    const columns = [["Authors"], ["Equal code", "number"], ["Equal moves", "number"], ["Expected", "number"], ["Positions", "number"]];
    pairs.replaceChildren(
      h("h2", {}, "Similar agents"),
      h("p", { class: "dim small gap-small" }, "Equal code ignores names, comments and the starter file. Equal moves are the share of equal moves in the positions that both agents have met. Expected is the share of equal moves to expect in these positions, estimated from the moves of other authors of about the same strength. A mark means that a pair is far more similar than other pairs in the class. This is evidence, not proof: read both files."),
      found.pairs.length
        ? h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "similar agents" }, h("table", {}, h("thead", {}, h("tr", {}, columns.map(([name, kind = null]) => h("th", { scope: "col", class: kind }, name)))), h("tbody", {}, found.pairs.map((pair) => h("tr", {}, h("th", { scope: "row" }, `${pair.one}, ${pair.other}`, pair.is_unusual ? h("span", { class: "tag tag-bad" }, "unusual") : null), h("td", { class: "number" }, share(pair.code)), h("td", { class: "number" }, share(pair.equal)), h("td", { class: "number" }, share(pair.expected)), h("td", { class: "number" }, whole(pair.shared)))))))
        : h("p", { class: "dim" }, "There is nothing to compare yet: fewer than two authors have submitted code."),
    );
  } catch (error) {
    pairs.replaceChildren(h("p", { class: "fault" }, error.message));
  } finally {
    event.target.disabled = false;
  }
}

// Download a file. A link cannot send the token, so the file is fetched first and then saved by the browser.
async function download(path, name) {
  try {
    const answer = await fetch(at(path), { headers: { authorization: `Bearer ${hostToken.get()}` } });
    if (!answer.ok) throw new Error((await answer.json()).error);
    const address = URL.createObjectURL(await answer.blob());
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  } catch (error) {
    faults.show(error.message);
  }
}
