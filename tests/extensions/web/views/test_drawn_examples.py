"""The boards of hex and kalah in a real browser, light and dark, on a desk and on a phone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import DEADLINE_SECONDS
from tests.extensions.web.conftest import Served, find_violations, served

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server."""
    pytest.importorskip("fastapi")
    folder: Path = tmp_path_factory.mktemp("served")
    with served(folder) as running:
        yield running


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page on a phone; whatever it writes to its console fails the test."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * DEADLINE_SECONDS)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    yield page
    context.close()
    assert trouble == []


def begun(page: Any, server: Served, game: str) -> None:
    """A new game of two people."""
    page.goto(f"{server.address}play")
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Seat 2", exact=True).select_option(label="You")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    page.wait_for_selector(f"svg.board-{game}")


def check_page(page: Any) -> None:
    """Check that no rule of accessibility is broken, light and dark, and that nothing sticks out, on a phone and on a desk."""
    assert find_violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_violations(page, ["color-contrast"]) == []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hex_is_played_by_clicks_until_a_path_shines(page: Any, server: Served) -> None:
    """Seven stones of x from top to bottom, in a board of 49 cells; targets can be hit with a finger."""
    begun(page, server, "hex")
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


def test_kalah_is_a_grid_that_darkens_with_its_stones(page: Any, server: Served) -> None:
    """After pit 3, whose last stone falls into the store, whoever began moves again."""
    begun(page, server, "kalah")
    page.get_by_role("group", name="legal moves").get_by_role("button", name="3", exact=True).click()
    page.wait_for_selector(".layer-pieces > text:has-text('a: 1')")
    texts = page.locator(".layer-pieces > text").all_text_contents()
    assert sorted(texts) == sorted(["b: 0", *"444444", "4", "4", "0", "5", "5", "5", "a: 1"])
    fills = page.evaluate("[...document.querySelectorAll('.layer-ground > rect')].map((rect) => getComputedStyle(rect).fill)")
    assert fills.count("rgb(207, 182, 140)") == 8  # four stones
    assert fills.count("rgb(198, 171, 126)") == 3  # five
    legal = page.get_by_role("group", name="legal moves").get_by_role("button")
    assert legal.all_text_contents() == ["1", "2", "4", "5", "6"]  # the other would have six
    check_page(page)
