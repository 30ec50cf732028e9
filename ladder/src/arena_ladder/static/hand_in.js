// The page for handing in agents. The author drops a file or chooses one. The page also shows how to hand in from a terminal.
import { at, get } from "./api.js";
import { h, whole } from "./dom.js";
import { faultBox, head, main, moment } from "./page.js";
import { ask, authorToken, tokenField } from "./token.js";

const KINDS = { python: "a Python file", zip: "a zip file of Python files with agent.py at the top level", program: "a program that begins with #! and speaks the protocol" };

const faults = faultBox();
const done = h("div", { role: "status" });
const until = h("p", { class: "gap-small" });
let chosen = null;

get("/api/ladder").then(show).catch((error) => faults.show(error.message));
main.append(head("Hand in an agent", "The ladder checks the agent first. If it passes, it starts to play at once."), until, faults.box);

function show(rules) {
  if (rules.closes) until.textContent = `${new Date(rules.closes) > new Date() ? "Submissions are accepted until" : "Submissions closed at"} ${moment(rules.closes)}.`;
  main.append(h("div", { class: "columns columns-two" }, form(rules), h("div", {}, howTo(rules), rules.open ? register() : null)));
}

function form(rules) {
  const file = h("input", { type: "file", id: "file", onchange: () => choose(file.files[0]) });
  const named = h("p", { class: "dim" }, "No file chosen.");
  const name = h("input", { type: "text", maxlength: 40, pattern: "[a-z][a-z0-9\\-]*", autocomplete: "off" });
  const drop = h("div", { class: "drop", ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); }, ondragleave: () => drop.classList.remove("over"), ondrop: dropped }, h("label", { class: "field" }, h("span", {}, "The file: drop it here, or choose it"), file), named);
  const send = h("button", { type: "submit", class: "primary" }, "Hand in");
  return h(
    "form",
    { class: "card", "aria-label": "hand in", onsubmit: (event) => { event.preventDefault(); submit(send, name.value.trim()); } },
    h("h2", {}, "The agent"),
    tokenField(),
    h("div", { class: "gap" }, drop),
    h("label", { class: "field gap" }, h("span", {}, "Name of the agent (may be empty)"), name, h("small", {}, "If empty, the agent keeps the name from its code. Use lowercase letters, digits and dashes.")),
    h("div", { class: "row gap" }, send),
    done,
    h("p", { class: "dim small gap" }, `Accepted: ${rules.kinds.map((kind) => KINDS[kind]).join("; ")}. At most ${whole(rules.size_kb)} KiB, ${whole(rules.per_day)} submissions per day; at most ${whole(rules.agents)} agents play, each with its latest ${whole(rules.keep)} versions.${rules.packages === null ? "" : ` Packages that the agent may import: ${rules.packages.join(", ") || "none"}.`}`),
  );

  function choose(found) {
    chosen = found ?? null;
    named.textContent = chosen ? `${chosen.name}, ${whole(chosen.size)} bytes` : "No file chosen.";
  }

  function dropped(event) {
    event.preventDefault();
    drop.classList.remove("over");
    choose(event.dataTransfer.files[0]);
  }
}

async function submit(send, name) {
  faults.show(null);
  done.replaceChildren();
  if (!chosen) {
    faults.show("Choose a file first.");
    return;
  }
  const body = new FormData();
  body.append("file", chosen);
  if (name) body.append("name", name);
  send.disabled = true;
  try {
    const { id } = await ask("/api/submissions", { method: "POST", body });
    done.replaceChildren(h("p", { class: "note gap" }, `Accepted as ${id}. `, h("a", { href: at("/yours") }, "See its status"), "."));
  } catch (error) {
    faults.show(error.message);
  } finally {
    send.disabled = false;
  }
}

function howTo(rules) {
  const address = `${location.origin}${at("")}`;
  const wheels = rules.wheels.map((wheel) => ` ${address}/dist/${wheel}`).join("");
  const command = rules.install ?? (wheels ? `pip install${wheels}` : null);
  return h(
    "section",
    { class: "card", "aria-label": "how to begin" },
    h("h2", {}, "How to begin"),
    h("ol", { class: "steps" },
      h("li", {}, "Take the ", h("a", { href: at("/starter.py"), download: "my_agent.py" }, "starter file"), `: an agent for ${rules.games.join(", ")} that plays without changes.`),
      h("li", {}, "Try it on your machine: ", command ? h("code", {}, command) : "install arena as the host does", " and ", h("code", {}, "arena try my_agent.py"), "."),
      h("li", {}, "Hand it in here or from a terminal:")),
    h("pre", { class: "code gap-small", tabindex: "0" }, `export ARENA_TOKEN=...\narena submit my_agent.py --to ${address}`),
    h("p", { class: "gap-small dim small" }, "Programs can use the API: ", h("a", { href: at("/openapi.json") }, "its description"), "."),
  );
}

function register() {
  const name = h("input", { type: "text", required: true, maxlength: 40, pattern: "[a-z][a-z0-9\\-]*", autocomplete: "username" });
  const told = h("div", { role: "status" });
  return h(
    "form",
    { class: "card", "aria-label": "register", onsubmit: join },
    h("h2", {}, "No token yet?"),
    h("label", { class: "field" }, h("span", {}, "Your name on this ladder"), name, h("small", {}, "Lowercase letters, digits and dashes. The name is public.")),
    h("div", { class: "row gap" }, h("button", { type: "submit" }, "Register")),
    told,
  );

  async function join(event) {
    event.preventDefault();
    faults.show(null);
    try {
      const answer = await ask("/api/authors", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: name.value.trim() }) });
      authorToken.set(answer.token);
      document.querySelector("input[type=password]").value = answer.token;
      told.replaceChildren(h("p", { class: "note gap" }, "Your token, shown this once: ", h("code", {}, answer.token)));
    } catch (error) {
      faults.show(error.message);
    }
  }
}
