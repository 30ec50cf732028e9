// The token of an author: kept for this tab alone, and sent with what is his.
import { h } from "./dom.js";

const KEY = "arena-ladder-token";

export function token() {
  return sessionStorage.getItem(KEY) ?? "";
}

export function setToken(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

// Ask with the token; an Error has the ladder's own words.
export async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...options.headers, authorization: `Bearer ${token()}` } });
  } catch {
    throw new Error("the ladder does not answer");
  }
  const answer = await response.json().catch(() => ({ error: `the ladder answered with status ${response.status}`, hint: "load the page again" }));
  if (!response.ok) throw Object.assign(new Error(`${answer.error}; ${answer.hint}`), { status: response.status });
  return answer;
}

// A field for the token.
export function tokenField(onchange) {
  const input = h("input", { type: "password", autocomplete: "current-password", value: token(), oninput: () => { setToken(input.value.trim()); onchange?.(); } });
  return h("label", { class: "field" }, h("span", {}, "Your token"), input, h("small", {}, "The host of the ladder has given it to you. It stays in this tab."));
}
