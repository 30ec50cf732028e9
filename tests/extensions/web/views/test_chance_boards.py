"""Boards of games with chance are drawn in a real browser: a report of random matches is stepped through to the end."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from arena import run
from tests.conftest import arena_in
from tests.eventually import DEADLINE_SECONDS

ENDS = {
    "pig": " has won",
    "backgammon": " has won",
    "kuhn-poker": "a holds ",
    "leduc-poker": "a holds ",
    "liars-dice": " says liar",
}
"""Each game has words that describe its last position."""

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, missing: Callable[[str, str], None]) -> Path:
    """Return a report with one match of each game in both orders of seats."""
    if find_spec("matplotlib") is None:
        missing("report", "plots need matplotlib: pip install '.[report]'")
    folder = tmp_path_factory.mktemp("chance")
    agents = [{"agent": "random", "label": label} for label in ("one", "two")]
    run({"name": "chance", "games": [*ENDS], "rounds": 1, "agents": agents}, store=folder / "cup.db")
    done = arena_in(folder)("report", "cup.db", "-o", "cup.html")
    assert done.returncode == 0, done.stderr
    return folder / "cup.html"


def test_a_report_draws_every_position_of_a_match(browser: Any, report: Path) -> None:
    """No position of the match is shown as text, not even before a chance event, and the console of the browser is empty."""
    page = browser.new_page()
    page.set_default_timeout(1000 * DEADLINE_SECONDS)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(report.as_uri())
    for game, words in ENDS.items():
        page.select_option("label:has-text('Board') select", label=game)
        page.click(".entry >> nth=0")
        page.wait_for_selector(f"#match .board-{game}:visible")
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "End"):
            page.keyboard.press(key)
            assert page.locator("#match .board").is_visible()
            assert page.locator("#match .board-text:visible, #match .board-note:visible").count() == 0
        assert words in page.locator("#match .board").get_attribute("aria-label")
    page.close()
    assert trouble == []
