"""Boards and grids of plugins are drawn in a real browser on a phone, in light and dark: in a report, in a replay,
and in play.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import arena_in
from tests.eventually import DEADLINE_SECONDS
from tests.extensions.web.conftest import Served, find_violations, served

Missing = Callable[[str, str], None]
PHONE = {"width": 390, "height": 844}
CELLS = """() => [...document.querySelectorAll(".layer-ground > rect")].map((rect) => {
    const place = rect.style.transform;
    const text = [...document.querySelectorAll(".layer-pieces > text")].find((other) => other.style.transform === place);
    return [getComputedStyle(rect).fill, text?.textContent ?? "", text ? getComputedStyle(text).fill : null];
})"""

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture(scope="module")
def report(drawn: Path, missing: Missing) -> Path:
    """Return the report on the store."""
    if find_spec("matplotlib") is None:
        missing("report", "plots need matplotlib: pip install '.[report]'")
    done = arena_in(drawn)("report", "cup.db", "-o", "cup.html", "--plugin", "domineering.py", "--plugin", "marienbad.py")
    assert (done.returncode, "note" in done.stderr) == (0, False), done.stderr
    return drawn / "cup.html"


@pytest.fixture(scope="module")
def server(drawn: Path) -> Iterator[Served]:
    """Run a server that knows both games."""
    pytest.importorskip("fastapi")
    with served(drawn, "cup.db", "--plugin", "domineering.py", "--plugin", "marienbad.py") as running:
        yield running


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    """Open a page on a phone. Any output on its console makes the test fail."""
    context = browser.new_context(viewport=PHONE, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * DEADLINE_SECONDS)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    yield page
    context.close()
    assert trouble == []


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours `rgb(r, g, b)`, by the Web Content Accessibility Guidelines 2.1."""

    def luminance(color: str) -> float:
        parts = [int(part) / 255 for part in color.removeprefix("rgb(").removesuffix(")").split(",")]
        red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def fits(page: Any) -> None:
    """Assert that the page fits the screen and breaks no accessibility rule in light and dark."""
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert find_violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_violations(page, ["color-contrast"]) == []
    page.emulate_media(color_scheme="light")


def opened(page: Any, report: Path, board: str) -> None:
    page.goto(report.as_uri())
    page.wait_for_selector("#match .player")
    page.select_option("label:has-text('Board') select", label=board)
    page.click(".entry >> nth=0")
    page.wait_for_selector(f"#match .board-{board}:visible")


def test_a_report_draws_a_grid(phone: Any, report: Path) -> None:
    """Each cell of a domino has a mark in a readable colour, both cells of the last domino are framed, and the other cells are
    empty.
    """
    opened(phone, report, "domineering")
    assert {mark for _, mark, _ in phone.evaluate(CELLS)} == {""}
    assert phone.locator(".changed").count() == 0
    phone.keyboard.press("End")
    moves = phone.locator("#match tbody tr").count() - 1
    cells = phone.evaluate(CELLS)
    assert len(cells) == 25
    assert sum(mark != "" for _, mark, _ in cells) == 2 * moves
    assert {(paper, ink) for paper, mark, ink in cells if mark == "|"} == {("rgb(36, 86, 198)", "rgb(255, 255, 255)")}
    assert {(paper, ink) for paper, mark, ink in cells if mark == "-"} == {("rgb(255, 215, 0)", "rgb(0, 0, 0)")}
    assert phone.locator(".changed").count() == 2
    label = phone.locator("#match .board").get_attribute("aria-label")
    assert label.startswith("domineering: 5 by 5; ")
    assert label.count("|") + label.count("-") == 2 * moves
    fits(phone)


def test_marks_are_readable_on_any_colour(phone: Any, report: Path) -> None:
    """WCAG requires a contrast of 4.5. The cells have colours, no colour, an invalid colour and a transparent one."""
    opened(phone, report, "domineering")
    colors = {"a": "#777777", "b": "rebeccapurple", "c": "#f00", "d": "nonsense", "e": "transparent"}
    phone.evaluate(
        """(colors) => {
            const stage = document.querySelector("#match .stage");
            stage.replaceChildren();
            const board = arena.mountBoard(stage, { name: "domineering", parameters: {}, board: null, colors });
            board.show("", { grid: [["a", "b", "c", "d", "e", "f", "", "eight888"]] });
        }""",
        colors,
    )
    for scheme in ("dark", "light"):
        phone.emulate_media(color_scheme=scheme)
        cells = phone.evaluate(CELLS)
        assert [mark for _, mark, _ in cells] == ["a", "b", "c", "d", "e", "f", "", "eight888"]
        assert [paper for paper, *_ in cells[:3]] == ["rgb(119, 119, 119)", "rgb(102, 51, 153)", "rgb(255, 0, 0)"]
        assert len({paper for paper, *_ in cells[3:]}) == 1
        assert all(contrast(paper, ink) >= 4.5 for paper, _, ink in cells if ink is not None)
    wide = phone.locator(".layer-pieces > text").last.bounding_box()
    cell = phone.locator(".layer-ground > rect").last.bounding_box()
    assert cell["x"] <= wide["x"]
    assert wide["x"] + wide["width"] <= cell["x"] + cell["width"]


def test_a_report_draws_the_board_of_a_plugin(phone: Any, report: Path) -> None:
    opened(phone, report, "marienbad")
    assert phone.locator("#match .stick").count() == 1 + 3 + 5 + 7
    assert phone.locator("#match .board").get_attribute("aria-label") == "marienbad: heaps of 1, 3, 5, 7 sticks"
    for scheme, brown in (("dark", "rgb(224, 176, 116)"), ("light", "rgb(138, 75, 20)")):
        phone.emulate_media(color_scheme=scheme)
        assert phone.evaluate("getComputedStyle(document.querySelector('.stick')).fill") == brown
    phone.keyboard.press("End")
    assert phone.locator("#match .stick").count() == 0
    fits(phone)


@pytest.mark.parametrize("game", ["domineering", "marienbad"])
def test_a_replay_draws_boards_and_grids(phone: Any, server: Served, game: str) -> None:
    listed = server.ask("/api/t/cup/matches").json
    match = next(one for one in listed["matches"] if one["board"] == game)
    phone.goto(f"{server.address}t/cup/match/{match['id']}")
    phone.wait_for_selector(f"svg.board-{game}")
    phone.keyboard.press("ArrowRight")
    assert phone.locator(".status").inner_text().startswith("1. ")
    assert phone.locator(".board-text").count() == 0


def test_a_grid_is_played_by_clicks_and_by_buttons(phone: Any, server: Served) -> None:
    """The domino covers cell 7, in the second row and third column, and the cell below it."""
    phone.goto(f"{server.address}play")
    phone.get_by_label("Game", exact=True).select_option("domineering")
    phone.get_by_role("button", name="New game").click()
    phone.wait_for_selector("[aria-busy]", state="detached")
    phone.wait_for_selector("svg.board-domineering")
    assert phone.locator("svg.board").get_attribute("role") == "group"
    assert phone.locator("svg.board .target").count() == 20, "upright dominoes on 5 by 5"
    phone.get_by_role("group", name="legal moves").get_by_role("button", name="7", exact=True).click()
    phone.wait_for_selector(".layer-pieces > text >> nth=1")
    assert [number for number, (_, mark, _) in enumerate(phone.evaluate(CELLS)) if mark == "|"] == [7, 12]
    fits(phone)
    phone.get_by_role("button", name="New game").click()
    phone.wait_for_selector("[aria-busy]", state="detached")
    phone.get_by_role("button", name="row 2, column 3: 7").click()
    phone.wait_for_selector(".layer-pieces > text >> nth=1")
    assert [number for number, (_, mark, _) in enumerate(phone.evaluate(CELLS)) if mark == "|"] == [7, 12]


def test_a_board_of_a_plugin_is_played_by_clicks(phone: Any, server: Served) -> None:
    """The module is loaded from the server, and its style works under the policy of the pages."""
    asked: list[str] = []
    phone.on("request", lambda request: asked.append(request.url))
    phone.goto(f"{server.address}play")
    phone.get_by_label("Game", exact=True).select_option("marienbad")
    phone.get_by_role("button", name="New game").click()
    phone.wait_for_selector("[aria-busy]", state="detached")
    phone.get_by_role("button", name="heap 4, leave 2").click()
    phone.wait_for_selector(".status:has-text('4:2')")
    assert phone.evaluate("getComputedStyle(document.querySelector('.stick')).fill") in ("rgb(138, 75, 20)", "rgb(224, 176, 116)")
    (module,) = [url for url in asked if "/modules/" in url][-1:]
    answer = server.ask(module.removeprefix(server.address.rstrip("/")))
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/javascript")
    assert 'from "/static/grid.js"' in answer.text
    fits(phone)
