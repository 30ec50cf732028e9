"""A faulty board or grid affects nothing else: states are shown as text, with a note that gives the reason."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from arena import run
from tests.conftest import arena_in
from tests.eventually import DEADLINE_SECONDS
from tests.extensions.web.conftest import Served

Missing = Callable[[str, str], None]
PLUGIN = """
from arena import Game, hookimpl

class Dots(Game):
    "Take one dot; the player who takes the last one has won."
    name = "dots"
    def initial(self, rng): return (3, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [1] if state[0] else []
    def result(self, state, action): return (state[0] - 1, 1 - state[1])
    def returns(self, state): return (-1, 1) if state[1] == 0 else (1, -1)
    def render(self, state): return "dots: " + "*" * state[0]

class Absent(Dots):
    name = "absent"
    board = "boards/absent.js"

class Unwritten(Dots):
    name = "unwritten"
    board = "unwritten.js"

class Raises(Dots):
    name = "raises"
    board = "raises.js"

class Ragged(Dots):
    name = "ragged"
    def grid(self, state): return [["*"] * state[0], [""] * 4]

class Elsewhere(Dots):
    name = "elsewhere"
    def grid(self, state): raise LookupError("no grid of states")

class Spare(Dots):
    name = "spare"
    board = "boards/absent.js"
    def grid(self, state): return [["*" if n < state[0] else "" for n in range(3)]]

@hookimpl
def arena_games():
    return [Absent, Unwritten, Raises, Ragged, Elsewhere, Spare]
"""
PARTS = """
export const parse = (text) => text;
export const extent = () => ({ width: 10, height: 10 });
export const draw = () => { %s };
"""
RAGGED = "grid: expected rows of equal length, each a list of texts of at most 8 characters, and at most 4,096 cells, got "
NOTES = {
    "absent": "board boards/absent.js: no such file: {}/boards/absent.js; states are shown as text",
    "unwritten": "The board of unwritten cannot be used: ",
    "raises": "The board of raises cannot be used: not today",
    "ragged": RAGGED + "rows of 3 and 4 cells; such states are shown as text",
    "elsewhere": RAGGED + "LookupError: no grid of states",
    "spare": "board boards/absent.js: no such file: {}/boards/absent.js; states are drawn as a grid",
}

pytestmark = [pytest.mark.process, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the plugin, and with a store of matches of all its games."""
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "dots.py").write_text(PLUGIN)
    (folder / "unwritten.js").write_text(PARTS % "}}} this is no JavaScript")
    (folder / "raises.js").write_text(PARTS % 'throw new Error("not today")')
    run(
        {"games": list(NOTES), "rounds": 1, "plugins": [str(folder / "dots.py")], "agents": ["random", "greedy"]},
        store=folder / "cup.db",
    )
    return folder


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * DEADLINE_SECONDS)
    yield page
    context.close()


def test_a_report_shows_notes_on_stderr_and_below_the_position(faulty: Path, page: Any, missing: Missing) -> None:
    if find_spec("matplotlib") is None:
        missing("report", "plots need matplotlib: pip install '.[report]'")
    done = arena_in(faulty)("report", "cup.db", "-o", "cup.html", "--plugin", "dots.py")
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    known = {game: note.format(faulty) for game, note in NOTES.items() if not note.startswith("The board")}
    assert len(notes) == len(known)  # failures in the browser are unknown so far
    assert all(any(note.startswith(f"note: game {game}: {text}") for note in notes) for game, text in known.items())
    page.goto((faulty / "cup.html").as_uri())
    page.wait_for_selector("#match .player")
    for game, note in NOTES.items():
        page.select_option("label:has-text('Board') select", label=game)
        page.click(".entry >> nth=0")
        page.wait_for_selector(f"#match h3 + p:has-text('{game}')")
        page.wait_for_selector("#match .board-note:visible")
        assert page.inner_text("#match .board-note").startswith(note.format(faulty))
        if game == "spare":
            assert page.locator("#match .mark").count() == 3
        elif not note.startswith("The board"):
            assert page.inner_text("#match .board-text") == "dots: ***"
        else:
            assert page.inner_text("#match .board-text") == "(3, 0)"
    page.select_option("label:has-text('Board') select", label="ragged")
    page.click(".entry >> nth=0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#match .board-text") == "dots: *"


def test_pages_of_a_server_show_the_notes(faulty: Path, page: Any) -> None:
    """The server's own process does not load the plugin, but shows the notes of the process that does."""
    pytest.importorskip("fastapi")
    server = Served(faulty, "cup.db", "--plugin", "dots.py")
    try:
        page.goto(f"{server.address}play")
        for game, note in NOTES.items():
            page.get_by_label("Game", exact=True).select_option(game)
            page.get_by_role("button", name="New game").click()
            page.wait_for_selector("[aria-busy]", state="detached")
            page.wait_for_selector(".status:not(:has-text('1. You'))")  # the new game, and not the one before it
            page.wait_for_selector(f".board-note:visible:has-text('{note.format(faulty)[:60]}')")
            assert page.inner_text(".board-note").startswith(note.format(faulty))
            page.get_by_role("group", name="legal moves").get_by_role("button", name="1").click()
            page.wait_for_selector(".status:has-text('1. You: 1')")
    finally:
        code, said = server.end()
    noted = [line for line in said.splitlines() if line.startswith("note: ")]
    known = [f"note: game {game}: {NOTES[game].format(faulty)}" for game in ("absent", "spare")]
    assert (code, noted) == (0, known)


def test_show_and_check_report_the_notes(faulty: Path) -> None:
    arena = arena_in(faulty)
    absent = NOTES["absent"].format(faulty)
    assert f"  note: {absent}" in arena("show", "absent", "--plugin", "dots.py").stdout.splitlines()
    checked = arena("check", "dots.py", "--matches", "2")
    assert checked.returncode == 1
    told = checked.stdout
    assert f"  note    {absent}" in told.splitlines()
    assert told.count("  FAILED  grid: ") == 2
    assert "got: rows of 3 and 4 cells" in told
    assert "got: LookupError: no grid of states" in told
    assert told.count("  ok      grid: ") == 1
