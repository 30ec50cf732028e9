"""The report is opened from the disk in a real browser, at several widths, in light and dark, and used by mouse and keyboard."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arena import run
from arena.store import Store
from tests.extensions.web.conftest import find_violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Missing = Callable[[str, str], None]
Opened = Callable[..., "Page"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]


@pytest.fixture
def opened(browser: "Browser", html: Path) -> Iterator[Opened]:
    """Return a function that opens the page. Any output on the console and any network request make the test fail."""
    trouble: list[str] = []
    contexts = []

    def opened(width: int = 1280, scheme: Any = "light", *, fragment: str = "") -> "Page":
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda request: None if request.url.startswith(html.as_uri()) else trouble.append(request.url))
        page.goto(f"{html.as_uri()}{fragment}")
        page.wait_for_selector("#match .player")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def test_the_report_is_accessible_and_fits_the_screen(opened: Opened) -> None:
    """The page breaks no rule of axe in light and dark. Only tables scroll sideways, and no script of a label has run."""
    page = opened(375)
    page.evaluate("document.querySelector('details').open = true")
    page.evaluate("document.querySelectorAll('.entry:nth-child(n+12)').forEach((one) => one.remove())")  # all entries are alike
    assert find_violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_violations(page, ["color-contrast"]) == []
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_revealed_seed_fits_the_screen(browser: "Browser", invoke: Callable[..., Any], played: Path) -> None:
    """The seed has 32 digits and its commitment 64, and only the width of their box can wrap them."""
    run({"game": "tic-tac-toe", "seed": "secret", "agents": ["random", "greedy"]}, store=played / "secret.db")
    assert invoke("report", "secret.db", "-o", "secret.html").returncode == 0
    page = browser.new_page()
    page.goto((played / "secret.html").as_uri())
    with Store.open(played / "secret.db") as store:
        assert str(store.last().seed) in page.inner_text(".head")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_failures_are_readable_on_a_phone(opened: Opened) -> None:
    """Messages are as wide as the card, and no part of the table extends beyond its edge."""
    page = opened(375)
    box = page.locator(".failures .scroll").first
    assert box.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0
    inner = box.evaluate("(node) => node.querySelector('tbody').clientWidth")
    assert page.locator(".fault-message").first.evaluate("(node) => node.clientWidth") == inner >= 280
    assert (
        page.locator(".drawing text").first.evaluate(
            "(node) => node.getScreenCTM().a * parseFloat(getComputedStyle(node).fontSize)"
        )
        > 9.8
    )


def test_plots_fill_both_columns_equally(opened: Opened) -> None:
    """The columns of a board's plots differ in height by at most one plot."""
    page = opened(1280)
    for plots in page.locator(".plots").all():
        columns = plots.evaluate(
            "(node) => [...node.children].map((column) => [...column.querySelectorAll('figure')].map((one) => one.offsetHeight))"
        )
        assert len(columns) == 2
        assert abs(sum(columns[0]) - sum(columns[1])) <= max(map(max, columns))


def test_plots_follow_the_theme(opened: Opened) -> None:
    """The same drawing has dark ink in the light theme and light ink in the dark theme. The button overrides the system."""
    ink = "getComputedStyle(document.querySelector('.drawing text')).fill"

    def brightness(page: "Page") -> int:
        return sum(int(part) for part in page.evaluate(ink).removeprefix("rgb(").removesuffix(")").split(","))

    page = opened(1280, "light")
    assert brightness(page) < 380
    page.emulate_media(color_scheme="dark")
    dark = brightness(page)
    assert dark > 380
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: dark"
    assert brightness(page) == dark


def test_a_match_is_stepped_through_by_keyboard(opened: Opened) -> None:
    """Tab and Enter open a match. Arrows, End and Home then change the board and the text."""
    page = opened()
    page.select_option("label:has-text('Board') select", label="tic-tac-toe")
    page.select_option("label:has-text('Result') select", label="won")
    page.select_option("label:has-text('Ending') select", label="normal")
    page.focus(".entry >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector(".entry[aria-current]")
    status = page.locator("#match .status")
    assert status.inner_text() == "start"
    marks = page.locator("#match .board .layer-pieces > *")
    assert marks.count() == 0
    for number in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        assert status.inner_text().startswith(f"{number}. ")
        assert marks.count() == number
    page.keyboard.press("ArrowLeft")
    assert status.inner_text().startswith("2. ")
    page.keyboard.press("End")
    assert "wins" in status.inner_text()
    page.keyboard.press("Home")
    assert status.inner_text() == "start"
    name = page.inner_text("#match h3")
    address = page.url
    again = opened(fragment=address[address.index("#") :])
    assert again.inner_text("#match h3") == name, "the address opens the same match"


def test_matches_are_filtered_by_agent_result_ending_and_text(opened: Opened) -> None:
    """Each filter reduces the list accordingly. A hostile label is found as plain text."""
    page = opened()
    count = page.locator(".count")

    def number() -> int:
        return int(count.inner_text().split(" of ")[0].replace(",", ""))

    total = number()
    page.select_option("label:has-text('Agent') select", label="<script>alert(1)</script>")
    mine = number()
    assert 0 < mine < total
    page.select_option("label:has-text('Result') select", label="won")
    won = number()
    page.select_option("label:has-text('Result') select", label="lost")
    lost = number()
    assert won + lost < mine
    assert min(won, lost) > 0
    page.select_option("label:has-text('Ending') select", label="exception")
    assert number() == 0, "the agent never fails"
    page.select_option("label:has-text('Result') select", label="any")
    assert number() > 0, "others fail against the agent"
    for label in ("Agent", "Ending"):
        page.select_option(f"label:has-text('{label}') select", index=0)
    page.fill("label:has-text('Search') input", "stumbles take-away")
    found = page.locator(".entry").all_inner_texts()
    assert found
    assert all("stumbles" in text and "take-away" in text for text in found)
    page.fill("label:has-text('Search') input", "no such words")
    assert number() == 0


def test_a_game_without_a_board_is_shown_as_rendered_text(opened: Opened) -> None:
    page = opened()
    page.select_option("label:has-text('Board') select", label="take-away")
    page.click(".entry >> nth=0")
    page.wait_for_selector("#match .board-text:visible")
    assert page.inner_text("#match .board-text") == "counters: *******"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#match .board-text") in {"counters: *****", "counters: ******"}


def test_puzzles_are_drawn(opened: Opened) -> None:
    page = opened(375, "dark")
    for board in ("sliding-tiles", "n-queens"):
        page.select_option("label:has-text('Board') select", label=board)
        page.select_option("label:has-text('Result') select", label="solved")
        page.click(".entry >> nth=0")
        page.wait_for_selector(f"#match .board-{board}:visible")
        page.keyboard.press("End")
        assert page.locator(f"#match .board-{board}").bounding_box()["width"] > 200  # type: ignore[index]
