// The state of a tournament, in one word.
import { h } from "./dom.js";

const KINDS = { running: "tag tag-live", starting: "tag tag-live", failed: "tag tag-bad" };

export function stateTag(state) {
  return h("span", { class: KINDS[state] ?? "tag" }, state);
}
