"""The boards of docs/examples in a real browser, light on a desk and dark on a phone; pictures go to build/screenshots."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.extensions.web.conftest import Served, served

EXAMPLES = ROOT / "docs" / "examples"
SHOTS = ROOT / "build" / "screenshots"

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that knows both games."""
    pytest.importorskip("fastapi")
    folder: Path = tmp_path_factory.mktemp("served")
    with served(folder, "--plugin", str(EXAMPLES / "kalah.py"), "--plugin", str(EXAMPLES / "hex.py")) as running:
        yield running


@pytest.fixture(params=[("light", 1280), ("dark", 390)], ids=lambda one: f"{one[0]}-{one[1]}")
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    """A page of a width in a scheme; whatever it writes to its console fails the test."""
    scheme, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(45_000)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.shot = f"{scheme}-{width}.png"
    yield page
    context.close()
    assert trouble == []


def begun(page: Any, server: Served, game: str) -> None:
    """A new game of two people."""
    page.goto(f"{server.address}play")
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Seat 2", exact=True).select_option(label="You")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector(f"svg.board-{game}")


def sound(page: Any, name: str) -> None:
    """Keep a picture; nothing sticks out of the screen, and no rule of accessibility is broken."""
    from axe_playwright_python.sync_playwright import Axe

    SHOTS.mkdir(parents=True, exist_ok=True)
    page.evaluate("document.querySelector('.stage').scrollIntoView({block: 'center'})")
    page.screenshot(path=SHOTS / f"{name}-{page.shot}")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"] == []


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
    sound(page, "hex")


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
    sound(page, "kalah")
