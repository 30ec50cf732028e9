"""Takes the pictures for how-to/web.md and how-to/board.md: `make screenshots`. It plays a tournament, serves it, and opens its
pages in Chromium.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Page, sync_playwright

from arena import run

IMAGES = Path(__file__).with_name("images")
WIDE, NARROW = 1280, 375
BOARDS = {"kalah": "3 6 1 4 2", "hex": "d4 c5 c4 b5 e2 d3 e3 d2 f3 e4 b6 a6 c3 a7 d5"}
"""The actions after which the picture of a game is taken."""
CUP: dict[str, Any] = {
    "name": "Connect-four cup",
    "game": "connect-four",
    "rounds": 20,
    "openings": {"plies": 2},
    "agents": ["random", "greedy", *({"agent": "alpha-beta", "depth": depth} for depth in (1, 2, 3))],
}


def main() -> None:
    """Take all pictures."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("no chromium; install the package chromium")
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        run(CUP, store=Path(folder) / "cup.db", workers=2)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with served(Path(folder)) as address:
            for name, visit, width, theme in PICTURES:
                context = browser.new_context(
                    viewport={"width": width, "height": 812}, color_scheme=theme, reduced_motion="reduce"
                )
                page = context.new_page()
                page.goto(address)
                visit(page, address)
                page.mouse.move(0, 0)
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=IMAGES / f"{name}.png", full_page=width == WIDE)
                context.close()
            for game, actions in BOARDS.items():
                board(browser.new_page(device_scale_factor=2), address, game, actions)
        browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start a server, and yield its address."""
    command = [sys.executable, "-m", "arena", "serve", "cup.db", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)


def leaderboard(page: Page, address: str) -> None:
    """Show the leaderboard of the cup."""
    page.wait_for_selector(".leaderboard")


def replay(page: Page, address: str) -> None:
    """Show a match between the two best agents, near its end."""
    page.goto(f"{address}t/cup/matches?agent=alpha-beta(depth%3D3)")
    page.get_by_role("link", name="alpha-beta(depth=2)").first.click()
    page.wait_for_selector("svg.board")
    for _ in range(14):
        page.keyboard.press("ArrowRight")


def agent(page: Page, address: str) -> None:
    """Show the page of the best agent of the cup."""
    page.goto(f"{address}t/cup/entry?name=alpha-beta(depth%3D3)")
    page.get_by_text("Failures").wait_for()
    page.get_by_text("Rating over the run").wait_for()


def play(page: Page, address: str) -> None:
    """Play the first moves of othello."""
    page.goto(f"{address}play")
    page.get_by_label("Game", exact=True).select_option("othello")
    page.get_by_role("button", name="New game").click()
    for moves in (2, 4, 6):
        page.locator(".board-othello .target").first.click()
        page.locator(".move").nth(moves).wait_for()
    page.wait_for_timeout(500)


def puzzles(page: Page, address: str) -> None:
    """Compare two agents on the hardest position of the 8-puzzle; on a narrow page, let one agent solve it."""
    page.goto(f"{address}puzzles")
    page.wait_for_selector(".target")
    page.get_by_role("textbox", name="Position").fill("8 6 7 / 2 5 4 / 3 . 1")
    page.get_by_role("button", name="Set up").click()
    if (page.viewport_size or {"width": 0})["width"] == WIDE:
        page.get_by_label("Compare two agents").check()
        page.wait_for_timeout(600)
        page.get_by_role("button", name="Solve both").click()
    else:
        page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_selector(".figures dt")
    page.wait_for_timeout(1500)


def board(page: Page, address: str, game: str, actions: str) -> None:
    """Take the picture of a game's board after some actions in a game between two people."""
    page.goto(f"{address}play")
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Seat 2", exact=True).select_option(label="You")
    page.get_by_role("button", name="New game").click()
    for action in actions.split():
        page.locator(f"svg.board-{game}").wait_for()
        page.get_by_role("button", name=action, exact=True).first.click()
        page.wait_for_timeout(600)
    page.mouse.move(0, 0)
    page.locator("svg.board").screenshot(path=IMAGES / f"{game}.png")
    page.close()


PICTURES = [
    ("leaderboard", leaderboard, WIDE, "light"),
    ("agent", agent, WIDE, "light"),
    ("replay", replay, WIDE, "light"),
    ("play", play, WIDE, "dark"),
    ("puzzles", puzzles, WIDE, "light"),
    ("phone", puzzles, NARROW, "dark"),
]

if __name__ == "__main__":
    main()
