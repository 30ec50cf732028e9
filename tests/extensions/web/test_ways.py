"""Links between pages are followed in a real browser: from a list to a board, an agent, its games, and on from a position."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import run
from tests.extensions.web.conftest import HOSTILE
from tests.extensions.web.test_pages import board, until

SIZES = [(1280, 800), (390, 844)]


@pytest.fixture
def phone(browser: Any, server: Any, visiting: Any) -> Iterator[Any]:
    """Open a page on a screen of the size of a phone. Its checks are made at the width of a laptop's screen too."""
    made = visiting(browser, server.address, SIZES[1][0])
    made.page.set_viewport_size({"width": SIZES[1][0], "height": SIZES[1][1]})
    yield made
    made.end()


@pytest.fixture
def laptop(browser: Any, server: Any, visiting: Any) -> Iterator[Any]:
    """Open a page on a laptop's screen, for tests that do not depend on the size."""
    made = visiting(browser, server.address, SIZES[0][0])
    yield made
    made.end()


SEEN = """(() => {
  const box = document.querySelector('.stage')?.firstElementChild?.getBoundingClientRect();
  return box !== undefined && scrollY === 0 && box.top >= 0 && box.height > 0 && box.bottom <= innerHeight;
})()"""


def check_seen(page: Any) -> None:
    """Assert that a board is completely visible on each screen."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        until(page, SEEN)


def test_boards_are_visible_without_scrolling(phone: Any) -> None:
    """This holds for every game, on the pages to play, of puzzles and of a match. The controls below a match are visible, too."""
    page = phone.go("/play")
    for game in ("tic-tac-toe", "connect-four", "othello", "pebbles"):
        page.get_by_label("Game", exact=True).select_option(game)
        page.wait_for_selector(".board-text" if game == "pebbles" else f"svg.board-{game}")
        check_seen(page)
    page = phone.go("/puzzles")
    for game in ("sliding-tiles", "n-queens", "sudoku"):
        page.get_by_label("Game", exact=True).select_option(game)
        page.wait_for_selector(f"svg.board-{game}")
        check_seen(page)
    page = phone.go("/t/cup/matches?board=0")
    page.locator("tbody a").first.click()
    page.wait_for_selector("svg.board")
    page.wait_for_selector(".ways a")
    check_seen(page)
    assert page.evaluate("document.querySelector('.buttons').getBoundingClientRect().bottom <= innerHeight")


def test_the_cross_table_links_to_games_and_their_neighbours(phone: Any) -> None:
    """A cell links to the games of two agents. The links to older games, to swapped seats and back keep this selection."""
    page = phone.go("/t/cup")
    page.wait_for_selector(".cross")
    row = page.locator(".cross").first.locator("tbody tr").filter(has=page.get_by_role("rowheader", name="lookahead"))
    row.get_by_role("link").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-label=matches] tbody tr")
    assert page.get_by_label("Agent").input_value() == "lookahead"
    rival = page.get_by_label("Opponent").input_value()
    assert page.get_by_role("status").inner_text().startswith("12 matches")
    page.get_by_label("Result").select_option("win")
    until(page, "location.search.includes('result=win')")
    page.get_by_label("Fewest moves").fill("3")
    page.get_by_label("Fewest moves").press("Tab")
    until(page, "location.search.includes('shortest=3')")
    assert page.locator("tbody td:nth-child(4)").all_inner_texts() == ["lookahead wins"] * page.locator("tbody tr").count()
    phone.check(SIZES[0][0])
    page.reload()
    page.wait_for_selector("[aria-label=matches] tbody tr")
    assert page.get_by_label("Result").input_value() == "win"
    page.locator("tbody a").first.click()
    page.wait_for_selector("svg.board")
    page.wait_for_selector(".ways a")
    assert page.get_by_role("link", name="Newer").get_attribute("aria-disabled") == "true"
    title = page.locator("h1").inner_text()
    page.get_by_role("link", name="Seats swapped").click()
    first, dash, second = title.partition(" \N{EN DASH} ")
    page.wait_for_selector(f"h1:has-text('{second}{dash}{first}')")
    page.go_back()
    page.wait_for_selector(".ways a")
    page.get_by_role("link", name="Older").click()
    page.wait_for_selector("svg.board")
    page.wait_for_selector(".ways a")
    assert rival in page.locator("h1").inner_text()
    phone.check(SIZES[0][0])
    page.get_by_role("link", name="All matches").click()
    page.wait_for_selector("[aria-label=matches] tbody tr")
    assert page.get_by_label("Result").input_value() == "win"


def test_the_page_of_an_agent_links_to_its_games(phone: Any) -> None:
    """The leaderboard links to the page, which shows facts about the agent."""
    page = phone.go("/t/cup")
    page.wait_for_selector(".leaderboard")
    page.locator(".leaderboard").first.get_by_role("link", name="<script>").click()
    page.wait_for_selector("dl.pairs")
    assert page.locator("h1").inner_text() == HOSTILE
    assert "chatty" in page.locator("dl.pairs").first.inner_text()
    page.wait_for_selector("section[aria-label='Over the run'] svg")
    assert page.get_by_role("img", name="tic-tac-toe: from").count() == 1
    phone.check(SIZES[0][0])
    row = page.get_by_role("region", name="opponents on tic-tac-toe").locator("tbody tr").filter(has_text="lookahead")
    losses = row.locator("td").nth(3)
    count = losses.inner_text()
    losses.get_by_role("link").click()
    page.wait_for_selector("[aria-label=matches] tbody tr")
    assert page.get_by_role("status").inner_text().startswith(f"{count} matches")


def test_a_person_continues_from_a_position_of_a_match(laptop: Any) -> None:
    """The person takes either seat, against the same agent with its options, and can undo earlier moves."""
    page = laptop.go("/t/cup/matches?board=0&agent=lookahead&opponent=random&shortest=5")
    page.locator("tbody a").first.click()
    page.wait_for_selector("svg.board")
    until(page, "document.querySelectorAll('.player-main > .row a').length === 2")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shown = board(page).get_attribute("aria-label")
    page.get_by_role("link", name="Continue in place of random").click()
    page.wait_for_url("**/play#**")
    page.wait_for_selector("svg.board")
    chosen = [page.get_by_label(f"Seat {seat}").input_value() for seat in (1, 2)]
    assert sorted(chosen) == ["", "lookahead"]
    assert page.get_by_label("depth").input_value() == "3"
    assert page.get_by_label("Heuristic").input_value() == "open-lanes"
    until(page, "document.querySelector('.turn').textContent === 'Your turn'")
    page.locator(".move").nth(2).click()
    assert board(page).get_attribute("aria-label") == shown
    assert laptop.errors == []


def test_choosing_a_game_changes_the_board(laptop: Any) -> None:
    """A parameter changes it at once, too. An agent that uses a heuristic is offered the heuristics of the game."""
    page = laptop.go("/play")
    page.wait_for_selector("svg.board-tic-tac-toe")
    page.get_by_label("columns").fill("5")
    page.get_by_label("columns").press("Tab")
    until(page, "document.querySelectorAll('.target').length === 15")
    page.get_by_label("Game", exact=True).select_option("connect-four")
    page.wait_for_selector("svg.board-connect-four .target")
    page.get_by_label("Seat 2").select_option("alpha-beta")
    assert page.get_by_label("Heuristic").locator("option").all_inner_texts() == ["centre", "open-lines"]
    page.get_by_label("Seat 2").select_option("random")
    assert page.get_by_label("Heuristic").count() == 0


def test_an_address_opens_a_game(laptop: Any) -> None:
    """An author can share such an address. An unknown game opens the first one."""
    laptop.go("/play?game=othello").wait_for_selector("svg.board-othello")
    laptop.go("/puzzles?game=n-queens").wait_for_selector("svg.board-n-queens")
    laptop.go("/play?game=chess").wait_for_selector("svg.board-tic-tac-toe")


def test_a_page_shows_limits_and_versions_and_offers_downloads(laptop: Any) -> None:
    page = laptop.go("/t/cup")
    page.wait_for_selector(".leaderboard")
    told = dict(zip(page.locator(".figures dt").all_inner_texts(), page.locator(".figures dd").all_inner_texts(), strict=True))
    assert told["Limits per decision"] == "none"
    assert re.fullmatch(r"arena [\d.]+\S*, python 3\.\d+\.\d+(, \w+ [\d.]+)*", told["Versions"])
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Spec, YAML").click()
    assert waiting.value.suggested_filename == "cup-spec.yaml"


SLOW = """
import time
from arena import Agent, hookimpl


class Slow(Agent):
    name = "slow"

    def choose(self, game, state, search):
        time.sleep(0.02)
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Slow]
"""


def test_rate_and_time_left_are_shown_during_a_run(
    serve: Callable[..., Any], browser: Any, visiting: Any, tmp_path: Path
) -> None:
    """The agents mostly sleep, so that the page gets the processor."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "long.yaml").write_text(
        "game: tic-tac-toe\nrounds: 3000\nplugins: [slow.py]\nagents: [random, slow]\nlimits: {nodes: 400}\n"
    )
    with serve(tmp_path, "long.yaml") as server:
        made = visiting(browser, server.address, 1280)
        page = made.go("/")
        page.wait_for_selector(".tag:has-text('running')")
        until(page, "document.querySelector('progress').value > 0")
        until(page, "[...document.querySelectorAll('.figures dd')].some((node) => node.textContent.endsWith(' a second'))")
        names = page.locator(".figures dt").all_inner_texts()
        assert names == ["Matches", "Rate", "Time left", "Seed", "Limits per decision", "Versions"]
        assert page.locator(".figures dd").nth(2).inner_text() != "-"
        assert page.locator(".figures dd").nth(4).inner_text() == "400 nodes"
        made.end()


def test_a_folder_of_stores_is_listed(serve: Callable[..., Any], browser: Any, visiting: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(
            {"name": f"Cup {name}", "game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]},
            store=tmp_path / f"{name}.db",
        )
    with serve(tmp_path, ".") as server:
        made = visiting(browser, server.address, 390)
        page = made.go("/")
        page.wait_for_selector("[aria-label=tournaments]")
        assert page.locator("tbody th").all_inner_texts() == ["Cup one", "Cup two"]
        assert page.locator("tbody code").all_inner_texts() == ["one.db", "two.db"]
        made.check(1280)
        page.get_by_role("link", name="Cup two").press("Enter")
        page.wait_for_url("**/t/two")
        made.end()
