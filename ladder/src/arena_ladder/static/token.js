// The tokens of an author and of the host. They are kept only in this tab, and sent with requests for their data.
import { at } from "./api.js";
import { h, prose } from "./dom.js";

export const authorToken = kept("arena-ladder-token", "Your token", "The host of the ladder gave it to you. It stays in this tab.");
export const hostToken = kept("arena-ladder-host", "The host's token", "`arena ladder admin SPEC host-token` prints it. It stays in this tab.");

function kept(key, label, hint) {
  return {
    label,
    hint,
    get: () => sessionStorage.getItem(key) ?? "",
    set(value) {
      if (value) sessionStorage.setItem(key, value);
      else sessionStorage.removeItem(key);
    },
  };
}

export function token() {
  return authorToken.get();
}

// Send a request with the token. If it fails, throw an Error with the message of the ladder.
export async function ask(path, options = {}, whose = authorToken) {
  let response;
  try {
    response = await fetch(at(path), { ...options, headers: { ...options.headers, authorization: `Bearer ${whose.get()}` } });
  } catch {
    throw new Error("the ladder does not answer");
  }
  const answer = await response.json().catch(() => ({ error: `the ladder answered with status ${response.status}`, hint: "reload the page" }));
  if (!response.ok) throw Object.assign(new Error(`${answer.error}; ${answer.hint}`), { status: response.status });
  return answer;
}

// Return a field for a token.
export function tokenField(onchange, whose = authorToken) {
  const input = h("input", { type: "password", autocomplete: "current-password", value: whose.get(), oninput: () => { whose.set(input.value.trim()); onchange?.(); } });
  return h("label", { class: "field" }, h("span", {}, whose.label), input, h("small", {}, prose(whose.hint)));
}
