"""Adds a panel to the web pages of a store. It shows the verdict of `arena verify` on a bundle."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena import hookimpl
from arena_web.api import Panel

if TYPE_CHECKING:
    from arena.api.store import Store

SCRIPT = """import { h } from "arena/dom.js";

// Let a long hash break into several lines.
const broken = (text) => text.split(/(?<=[0-9a-f]{8})(?=[0-9a-f]{8})/).flatMap((part) => [part, h("wbr")]);

export function draw(element, data) {
  for (const { title, sentences } of data) {
    const one = sentences.length === 1 ? h("p", {}, broken(sentences[0])) : null;
    element.append(h("h4", {}, title), one ?? h("ul", {}, sentences.map((sentence) => h("li", {}, broken(sentence)))));
  }
}
"""
"""The module that draws the panel: a heading for each list of sentences."""


@hookimpl
def arena_panels() -> Sequence[Panel]:
    """Return the panel below each leaderboard. If `arena verify --store` has written the store, the panel shows the verdict."""

    def show_verdict(store: "Store", board: int) -> list[dict[str, Any]] | None:
        from arena_bundle.panel import describe_verdict  # only when a page needs it, so that plugins load fast

        return describe_verdict(store)

    return [Panel("verification", "board", "Verification", show_verdict, SCRIPT)]
