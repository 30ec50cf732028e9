"""`arena docs` on a terminal renders Markdown as text, and sends pages longer than the screen to a pager."""

from collections.abc import Callable
from typing import Any


def test_a_short_page_is_printed_without_markup(terminal: Callable[..., Any]) -> None:
    shown = terminal("docs", "explanation/nodes", columns=80, lines=100)
    text = shown.until("Leaderboards show")
    assert "What a node is" in text
    assert "# What" not in text
    assert "`" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_long_page_goes_through_the_pager(terminal: Callable[..., Any]) -> None:
    """PAGER names the pager, which gets the whole page."""
    shown = terminal("docs", "spec", columns=80, lines=24, PAGER="sed -e s/^/|/")
    assert "|" in shown.until("The spec of a tournament")
    shown.until("memory_mb")
