"""The built manual in a real browser: on no screen a page is wider than it, and code is read without scrolling."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("index", "tutorial/agent", "tutorial/puzzle", "how-to/compare-heuristics", "reference/cli", "reference/api", "genindex")
WIDE = """() => [...document.querySelectorAll("article pre")].filter(block => block.scrollWidth > block.clientWidth + 1)
    .map(block => block.innerText)"""

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_on_every_screen(name: str, built: Path, browser: "Browser") -> None:
    """Nothing scrolls sideways but code on a phone. The page is read once, and the window changes its width."""
    page = browser.new_page()
    try:
        page.goto((built / f"{name}.html").as_uri())
        assert "Copyright" not in page.inner_text("footer")
        for width in (390, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if width > 390:
                assert page.evaluate(WIDE) == [], width
    finally:
        page.close()
