"""Parts of pages are never cut without a hint, unlabelled or repeated, on wide and narrow screens in a real browser."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from arena import run
from tests.eventually import eventually

LONG = "lookahead(depth=3)"
WIDE = 1280


@pytest.fixture(scope="module")
def server(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Serve two stores: one with many columns and an agent with code in its description, and one with long names and slow
    moves.
    """
    folder = tmp_path_factory.mktemp("fits")
    run(
        {"game": "pig", "rank": "returns", "rounds": 2, "seed": 1, "limits": {"moves": 200},
         "agents": ["random", "greedy", {"agent": "hold-at", "at": 20}]},
        store=folder / "pig.db",
    )  # fmt: skip
    run(
        {"games": ["connect-four", "tic-tac-toe"], "rounds": 1, "seed": 1,
         "agents": [{"agent": "lookahead", "depth": 3, "label": LONG}, {"agent": "alpha-beta", "depth": 3}]},
        store=folder / "four.db",
    )  # fmt: skip
    (folder / "backup").mkdir()
    shutil.copy(folder / "four.db", folder / "backup" / "four.db")
    with serve(folder, ".") as running:
        yield running


@pytest.fixture
def visit(browser: Any, server: Any, visiting: Any) -> Iterator[Any]:
    """Open a page on a narrow screen. Its checks are made on a wide screen too."""
    made = visiting(browser, server.address, 390)
    yield made
    made.end()


def test_a_wide_leaderboard_shows_that_it_continues_and_keeps_the_names_visible(visit: Any) -> None:
    """Its right edge fades until it is scrolled into view, and the names of the agents stay visible."""
    page = visit.go("/t/pig")
    page.wait_for_selector("table.leaderboard")
    region = page.get_by_role("region", name="leaderboard of pig")
    hidden = "node => node.scrollWidth - node.clientWidth"
    fade = "node => parseFloat(getComputedStyle(node).getPropertyValue('--fade'))"
    assert region.evaluate(hidden) > 10
    assert region.evaluate(fade) > 20
    region.evaluate("node => node.scrollTo(node.scrollWidth, 0)")
    page.wait_for_timeout(100)
    assert region.evaluate(fade) < 1
    box, name = region.bounding_box(), region.get_by_role("link", name="hold-at").bounding_box()
    assert box["x"] <= name["x"] < box["x"] + box["width"] / 2
    region.evaluate("node => node.scrollTo(0, 0)")
    visit.check(WIDE)


def test_the_table_of_moves_shows_all_columns(visit: Any, server: Any) -> None:
    match = server.ask("/api/t/four/matches?board=0").json["matches"][0]["id"]
    page = visit.go(f"/t/four/match/{match}")
    page.wait_for_selector(".moves table")
    assert page.locator(".moves thead th").all_text_contents() == ["agent", "move", "value", "depth", "nodes", "time"]
    assert page.locator(".moves").evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    visit.check(WIDE)


@pytest.mark.parametrize(("address", "more"), [("/t/pig/entry?name=hold-at", "at"), (f"/t/four/entry?name={LONG}", "open-lines")])
def test_an_agent_is_described_once(visit: Any, address: str, more: str) -> None:
    """This holds if the agent plays on several boards, too. Code in a description looks like code."""
    page = visit.go(address)
    page.wait_for_selector("dl.pairs dd")
    told = page.locator("main").inner_text()
    assert told.count("About this agent") == 1
    assert "`" not in told
    where = "dl.pairs code" if "pig" in address else "dl.pairs dd"
    assert any(text.startswith(more) for text in page.locator(where).all_text_contents())
    visit.check(WIDE)


def test_the_position_field_has_a_label(visit: Any) -> None:
    page = visit.go("/puzzles")
    page.wait_for_selector("svg.board")
    assert page.get_by_label("Position", exact=True).input_value()
    assert page.get_by_text("Position", exact=True).bounding_box()["height"] > 10
    visit.check(WIDE)


def test_a_copy_of_a_store_is_marked_as_a_copy(visit: Any) -> None:
    """The copy contains the same run under the same name, and is listed below the store."""
    page = visit.go("/")
    page.wait_for_selector("tbody tr")
    rows = [row.locator("td").first.inner_text() for row in page.locator("tbody tr").all()]
    assert [row.split("\n") for row in rows] == [["four.db"], ["pig.db"], ["backup/four.db", "a copy of four.db"]]
    visit.check(WIDE)


@pytest.mark.parametrize(
    ("address", "told"), [("/play?game=pig", "A seat rolls as often as it likes"), ("/puzzles", "Slide tiles")]
)
def test_a_game_and_its_agent_are_described(visit: Any, address: str, told: str) -> None:
    """The rules are in a line below the fields, so a user does not need the terminal."""
    page = visit.go(address)
    page.wait_for_selector("svg.board")
    said = page.locator(".about:visible").all_inner_texts()
    assert any(text.startswith(told) for text in said)
    assert len(said) == 2
    assert "`" not in "".join(said)


def test_a_list_of_matches_shows_the_winners(visit: Any) -> None:
    """No cell extends beyond the edge, even if several boards have long names."""
    page = visit.go("/t/four/matches")
    page.wait_for_selector("tbody tr")
    table = page.get_by_role("region", name="matches", exact=True)
    assert table.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    edge = table.bounding_box()
    for cell in table.locator("tbody tr").first.locator("th, td:visible").all():
        box = cell.bounding_box()
        assert edge["x"] <= box["x"] <= box["x"] + box["width"] <= edge["x"] + edge["width"] + 1
    assert page.get_by_label("Agent").evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    visit.check(WIDE)


def test_play_and_solve_wait_for_the_position(visit: Any) -> None:
    """Otherwise the page would continue from the previous position, or show its figures."""
    page = visit.go("/puzzles")
    page.wait_for_selector("svg.board")
    held: list[Any] = []
    page.route("**/api/position", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    page.get_by_label("Position", exact=True).fill("1 2 3 / 4 5 6 / 7 . 8")
    page.get_by_role("button", name="Set up").click()
    solve = page.get_by_role("button", name="Solve", exact=True)
    played: list[Any] = []
    page.on("request", lambda request: played.append(request.url) if request.url.endswith("/api/apply") else None)
    for disabled in (False, True):  # the first request is from the page, the second from its board
        eventually(lambda: held, page=page)
        assert solve.is_disabled() == disabled
        page.locator(".target").first.click()
        page.locator(".legal-move").first.click()
        held.pop().continue_()
    assert played == []  # clicks on the previous position do not count
    page.unroute("**/api/position")
    eventually(solve.is_enabled, page=page)
    solve.click()
    page.wait_for_selector("dl.figures dd")
    assert page.locator("dl.figures dd").all_inner_texts()[:2] == ["solved", "1"]


@pytest.mark.parametrize("address", ["/play", "/puzzles"])
def test_a_page_shows_a_message_while_its_games_are_loaded(visit: Any, address: str) -> None:
    """The first request loads the plugins, which takes seconds on a busy machine."""
    held: list[Any] = []
    visit.page.route("**/api/inventory", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    page = visit.go(address)
    eventually(lambda: held, page=page)
    waiting = page.get_by_text("Loading games and agents")
    assert waiting.is_visible()
    held.pop().continue_()
    page.wait_for_selector("select")
    assert waiting.count() == 0
