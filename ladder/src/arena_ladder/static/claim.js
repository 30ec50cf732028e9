// The page behind a link from the host: it shows the token of an author once. The token is requested only when a button is
// pressed, so that programs that open the links in mails do not use the link up.
import { at } from "./api.js";
import { h } from "./dom.js";
import { faultBox, head, main } from "./page.js";
import { ask, authorToken } from "./token.js";

const code = location.hash.slice(1);
const faults = faultBox();
const got = h("div", { role: "status" });
const take = h("button", { type: "button", class: "primary", onclick: claim }, "Show my token");

main.append(
  head("Your token", "You need this token to hand in agents. Keep it secret, like a password."),
  faults.box,
  h("section", { class: "card", "aria-label": "your token" }, h("p", {}, "The link that the host sent you works only once. Store the token where you keep passwords."), h("div", { class: "row gap" }, take), got),
);
if (!code) {
  take.disabled = true;
  faults.show("This address contains no code: open the complete link from your mail.");
}

async function claim() {
  faults.show(null);
  take.disabled = true;
  try {
    const { name, token } = await ask("/api/claim", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) });
    history.replaceState(null, "", location.pathname);
    authorToken.set(token);
    got.replaceChildren(
      h("p", { class: "note gap" }, `The token of ${name}: `, h("code", { class: "token" }, token)),
      h("p", { class: "gap-small" }, h("a", { class: "button primary", href: at("/hand-in") }, "Hand in an agent")),
    );
  } catch (error) {
    faults.show(error.message);
    take.disabled = error.status === 404;
  }
}
