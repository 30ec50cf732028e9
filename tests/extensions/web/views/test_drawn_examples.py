"""The boards of hex and kalah are drawn in a real browser, in light and dark, on a desktop and on a phone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import DEADLINE_SECONDS
from tests.extensions.web.conftest import Served, find_violations, served

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run a server without a store."""
    pytest.importorskip("fastapi")
    folder: Path = tmp_path_factory.mktemp("served")
    with served(folder) as running:
        yield running


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Open a page on a phone. Any output on its console makes the test fail."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * DEADLINE_SECONDS)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    yield page
    context.close()
    assert trouble == []


def begin_game(page: Any, server: Served, game: str) -> None:
    """Start a new game of two persons."""
    page.goto(f"{server.address}play")
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Seat 2", exact=True).select_option(label="You")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    page.wait_for_selector(f"svg.board-{game}")


def check_page(page: Any) -> None:
    """Assert that the page breaks no accessibility rule in light and dark, and fits the screens of a phone and a desktop."""
    assert find_violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_violations(page, ["color-contrast"]) == []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hex_is_played_by_clicks_until_a_path_is_marked(page: Any, server: Served) -> None:
    """Seven stones of x connect top and bottom on a board of 49 cells. The targets are large enough for a finger."""
    begin_game(page, server, "hex")
    assert page.locator("polygon.cell").count() == 49
    target = page.get_by_label("d4", exact=True).bounding_box()
    assert min(target["width"], target["height"]) >= 24  # WCAG 2.2, target size (minimum)
    for number in range(1, 8):
        page.get_by_label(f"d{number}", exact=True).click()
        page.wait_for_selector(f".stone-x >> nth={number - 1}")
        if number < 7:
            page.get_by_label(f"a{number}", exact=True).click()
            page.wait_for_selector(f".stone-o >> nth={number - 1}")
    page.wait_for_selector("polygon.path >> nth=6")
    assert page.locator("polygon.path").count() == 7
    label = page.locator("svg.board-hex").get_attribute("aria-label")
    assert label == "hex: 7 by 7; 7 stones of x, top to bottom, 6 of o, left to right"
    check_page(page)


def test_kalah_is_drawn_as_a_grid_coloured_by_the_number_of_stones(page: Any, server: Served) -> None:
    """The last stone from pit 3 falls into the store, so the same player moves again."""
    begin_game(page, server, "kalah")
    page.get_by_role("group", name="legal moves").get_by_role("button", name="3", exact=True).click()
    page.wait_for_selector(".layer-pieces > text:has-text('a: 1')")
    texts = page.locator(".layer-pieces > text").all_text_contents()
    assert sorted(texts) == sorted(["b: 0", *"444444", "4", "4", "0", "5", "5", "5", "a: 1"])
    fills = page.evaluate("[...document.querySelectorAll('.layer-ground > rect')].map((rect) => getComputedStyle(rect).fill)")
    assert fills.count("rgb(207, 182, 140)") == 8  # four stones
    assert fills.count("rgb(198, 171, 126)") == 3  # five
    legal = page.get_by_role("group", name="legal moves").get_by_role("button")
    assert legal.all_text_contents() == ["1", "2", "4", "5", "6"]  # pit 3 is empty
    check_page(page)
