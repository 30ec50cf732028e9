"""The server computes the page of a comparison on request."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from arena import run
from arena_web.command_process import Comparisons

pytestmark = pytest.mark.process

HOSTILE = "<script>window.hit = 1</script>"


def test_the_page_compares_two_entries(server: Any) -> None:
    """A browser first gets a page that requests the comparison, and afterwards the comparison from the cache. The comparison
    names only these entries. Its own policy forbids all scripts, and the label is text.
    """
    address, browser = f"/t/cup/compare?agent=lookahead&agent={quote(HOSTILE)}", {"accept": "text/html,*/*"}
    waiting = server.ask(address, **browser)
    assert (waiting.status, "compare.js" in waiting.text, "comparison" in waiting.text) == (200, True, False)
    done = server.ask(address, accept="*/*")
    assert done.status == 200
    assert done.headers["content-type"].startswith("text/html")
    assert done.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline'; base-uri")
    assert "<h1>lookahead and &lt;script&gt;" in done.text
    assert "<script" not in done.text
    assert done.text.count('<div class="card comparison">') == 2, "there is one pair on each of two boards"
    assert 'href="/t/cup">Leaderboard<' in done.text
    assert 'href="/t/cup/compare">All entries<' in done.text
    assert {server.ask(address, **browser).text, server.ask(address, accept="*/*").text} == {done.text}


def test_a_cached_comparison_is_renewed_after_its_store_has_grown(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old page is renewed at once. A recent one is served for a while, so that a store that grows all the time has a page,
    too.
    """
    store, spec = tmp_path / "grown.db", {"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1}
    run(spec, store=store)

    async def visit() -> list[bool]:
        comparisons = Comparisons()
        found = [await comparisons.find(store, []) is not None]
        await comparisons.page(store, [])
        for rounds, seconds in ((1, 0), (2, 30), (2, 0)):
            run({**spec, "rounds": rounds}, store=store)
            monkeypatch.setattr("arena_web.command_process.KEPT_SECONDS", seconds)
            found.append(await comparisons.find(store, []) is not None)
        return found

    assert asyncio.run(visit()) == [False, True, True, False]


def test_an_invalid_comparison_is_refused(server: Any) -> None:
    """Words of an address are labels, never options."""
    done = server.ask("/t/cup/compare?agent=--help&agent=random")
    assert done.status == 400
    assert "unknown entry of" in done.json["error"]
    assert "--help" in done.json["error"]
    assert server.ask("/t/nowhere/compare").status == 404


def test_the_leaderboard_links_to_comparisons(browser: Any, server: Any, visiting: Any) -> None:
    """The page links to the comparison and has a form for two agents. The second list leaves out the first agent."""
    made = visiting(browser, server.address, 390)
    page = made.go("/t/cup")
    page.wait_for_selector(".leaderboard")
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector(".comparison")
    assert page.locator("h1").inner_text() == "3 entries compared"
    made.check(1280)
    page = made.go("/t/cup")
    page.wait_for_selector(".leaderboard")
    first, second = [page.get_by_role("combobox", name=name) for name in ("Agent", "Against")]
    assert first.locator("option").all_inner_texts() == [HOSTILE, "lookahead", "random"]
    first.focus()
    page.keyboard.press("End")
    assert (first.input_value(), second.locator("option").all_inner_texts()) == ("random", [HOSTILE, "lookahead"])
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".comparison")
    assert page.locator("h1").inner_text() == "random and lookahead"
    made.end()
