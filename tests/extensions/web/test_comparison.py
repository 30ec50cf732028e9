"""The page of a comparison, made by the server on demand."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from arena import ArenaError, run
from arena_web.command_process import Comparisons

HOSTILE = "<script>window.hit = 1</script>"


def test_the_page_compares_two_entries(server: Any) -> None:
    """It names both and nobody else, has a policy of its own that forbids every script, and the label is text."""
    done = server.ask(f"/t/cup/compare?agent=lookahead&agent={quote(HOSTILE)}")
    assert done.status == 200
    assert done.headers["content-type"].startswith("text/html")
    assert done.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline'; base-uri")
    assert "<h1>lookahead and &lt;script&gt;" in done.text
    assert "<script" not in done.text
    assert done.text.count('<div class="card comparison">') == 2, "one pair on each of two boards"


def test_a_browser_does_not_wait_before_an_empty_page(server: Any) -> None:
    """It gets a page at once, which asks for the comparison; after that it gets the comparison, from memory."""
    address, browser = "/t/cup/compare?agent=lookahead&agent=random", {"accept": "text/html,*/*"}
    began = time.monotonic()
    waiting = server.ask(address, **browser)
    waited = time.monotonic() - began
    assert (waiting.status, "compare.js" in waiting.text, "comparison" in waiting.text) == (200, True, False)
    began = time.monotonic()
    made = server.ask(address, accept="*/*")
    took = time.monotonic() - began
    began = time.monotonic()
    kept = [server.ask(address, **browser), server.ask(address, accept="*/*")]
    again = time.monotonic() - began
    assert waited < took / 2
    assert again < took / 2
    assert {one.text for one in kept} == {made.text}
    assert 'href="/t/cup">Leaderboard<' in made.text
    assert 'href="/t/cup/compare">All entries<' in made.text


def test_a_kept_page_is_made_anew_when_its_store_has_grown(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once if it is old, else after a while, so that a store that grows all the time has a page, too."""
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


@pytest.mark.parametrize(
    ("asked", "told"),
    [("agent=nobody&agent=random", "nobody"), ("agent=--help", "--help"), ("agent=random", "two different entries")],
)
def test_what_cannot_be_compared_is_told(server: Any, asked: str, told: str) -> None:
    """An entry that is not there, and one alone: words of an address are labels, never options."""
    done = server.ask(f"/t/cup/compare?{asked}")
    assert done.status == 400
    assert told in done.json["error"]
    assert server.ask("/t/nowhere/compare").status == 404


def test_without_the_extension_there_is_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says in one line what is missing."""
    monkeypatch.setitem(sys.modules, "arena_compare", None)
    with pytest.raises(ArenaError, match=r"^a page of comparisons needs the extension arena_compare, which is not installed$"):
        asyncio.run(Comparisons().page(Path("cup.db"), []))


@pytest.mark.slow
def test_the_leaderboard_leads_to_the_page(browser: Any, server: Any, visiting: Any) -> None:
    """By a link beside that to the matches."""
    made = visiting(browser, server.address, 1280)
    page = made.go("/t/cup")
    page.wait_for_selector(".leaderboard")
    made.check("pair")
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector(".comparison")
    assert page.locator("h1").inner_text() == "3 entries compared"
    made.check("compare")
    made.end()


@pytest.mark.slow
def test_two_agents_are_chosen_by_keys(browser: Any, server: Any, visiting: Any) -> None:
    """The second is never the first; the link leads to the page of these two alone."""
    made = visiting(browser, server.address, 390)
    page = made.go("/t/cup")
    page.wait_for_selector(".leaderboard")
    first, second = [page.get_by_role("combobox", name=name) for name in ("Agent", "Against")]
    assert first.locator("option").all_inner_texts() == [HOSTILE, "lookahead", "random"]
    first.focus()
    page.keyboard.press("End")
    assert (first.input_value(), second.locator("option").all_inner_texts()) == ("random", [HOSTILE, "lookahead"])
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    made.check("pair")
    second.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".comparison")
    assert page.locator("h1").inner_text() == "random and lookahead"
    made.end()
