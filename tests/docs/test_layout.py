"""The built manual in a real browser: on no screen a page is wider than it, and code is read without scrolling."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("index", "tutorial/agent", "tutorial/puzzle", "how-to/compare-heuristics", "reference/cli", "reference/api", "genindex")
WIDE = """() => [...document.querySelectorAll("article pre")].filter(block => block.scrollWidth > block.clientWidth + 1)
    .map(block => block.innerText)"""

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.mark.parametrize("width", [390, 1024, 1280, 1366, 1440, 1920])
def test_pages_fit_on_the_screen(width: int, built: Path, browser: "Browser") -> None:
    """Nothing scrolls sideways but code on a phone."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    try:
        for name in PAGES:
            page.goto((built / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            if width in (1280, 1920):
                assert page.evaluate(WIDE) == [], name
            assert "Copyright" not in page.inner_text("footer")
    finally:
        page.close()
