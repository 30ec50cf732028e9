"""A module that draws a game is found beside the game. Otherwise states are shown as text, with a note."""

import sys
from pathlib import Path

import pytest

from arena import load_plugins
from arena.game import Game
from arena_catalog.board_files import check_module, load_board_module
from arena_web.views.bundle import address_imports, board_script

MODULE = """import { CELL } from "arena/grid.js";
export const parse = (text) => text;
export function extent() { return { width: CELL, height: CELL }; }
export function draw(scene) {}
"""
GAME = """
from arena import Game, hookimpl

class Dots(Game):
    "A game of which only the board matters."
    name = "dots"
    board = {board!r}
    def initial(self, rng): return 0
    def to_move(self, state): return 0
    def actions(self, state): return [1] if state < 2 else []
    def result(self, state, action): return state + 1
    def returns(self, state): return (0.0, 0.0)

@hookimpl
def arena_games():
    return [Dots]
"""


def game(folder: Path, board: str) -> type[Game]:
    """Return the game of a plugin file in a folder, with this path of its board."""
    folder.mkdir(exist_ok=True)
    (folder / "dots.py").write_text(GAME.format(board=board))
    return load_plugins([folder / "dots.py"]).game("dots")


def test_a_module_is_beside_its_game_or_in_a_subfolder(tmp_path: Path) -> None:
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "dots.js").write_text(MODULE)
    assert load_board_module(game(tmp_path, "boards/dots.js")) == (MODULE, None)


@pytest.mark.parametrize("place", ["absolute", "above", "by a link", "by a folder that is a link"])
def test_a_module_outside_the_folder_is_not_read(tmp_path: Path, place: str) -> None:
    (tmp_path / "dots.js").write_text(MODULE)
    inner = tmp_path / "plugin"
    inner.mkdir()
    (inner / "link.js").symlink_to(tmp_path / "dots.js")
    (inner / "beyond").symlink_to(tmp_path)
    board = {
        "absolute": str(tmp_path / "dots.js"),
        "above": "../dots.js",
        "by a link": "link.js",
        "by a folder that is a link": "beyond/dots.js",
    }[place]
    source, note = load_board_module(game(inner, board))
    assert source is None
    assert note == f"board {board}: expected a file in the folder of its package, {inner}; states are shown as text"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "no such file: "),
        (b"", "missing exports: draw, extent, parse; a module must export draw, extent, parse"),
        (b"\xff\xfe", "can't decode byte"),
        (b"//" + b"x" * (1 << 20), "expected at most 1,048,576 bytes, got 1,048,578"),
        (
            MODULE.replace("arena/grid.js", "./own.js").encode(),
            "expected imports only from arena/dom.js, arena/grid.js, arena/scene.js",
        ),
        (MODULE.replace("arena/grid.js", "arena/player.js").encode(), "expected imports only from arena/dom.js"),
        (MODULE.replace("arena/grid.js", "https://x.example/a.js").encode(), "got import { CELL } from"),
        (MODULE.replace("export function draw", "export default function draw").encode(), "got export default function draw"),
        (b"import grid from 'arena/grid.js';\n" + MODULE.encode(), "got import grid from 'arena/grid.js'"),
        (MODULE.encode() + b"export { draw as paint };\n", "got export { draw as paint }"),
    ],
)
def test_an_unusable_module_is_left_out_with_a_note(tmp_path: Path, content: bytes | None, fault: str) -> None:
    if content is not None:
        (tmp_path / "dots.js").write_bytes(content)
    source, note = load_board_module(game(tmp_path, "dots.js"))
    assert source is None
    assert fault in str(note)
    assert str(note).startswith("board dots.js: ")
    assert str(note).endswith("; states are shown as text")


@pytest.mark.parametrize("board", ["\0.js", "x" * 300 + ".js", "circle/dots.js", ".js"])
def test_an_invalid_path_has_a_note(tmp_path: Path, board: str) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert load_board_module(game(tmp_path, board)).note is not None


def test_a_package_may_have_modules_anywhere_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A derived class in another package has the board of its base."""
    for package in ("dotted", "derived"):
        (tmp_path / package / "rules").mkdir(parents=True)
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / "dotted" / "boards").mkdir()
    (tmp_path / "dotted" / "boards" / "dots.js").write_text(MODULE)
    (tmp_path / "dotted" / "rules" / "__init__.py").write_text(GAME.format(board="../boards/dots.js"))
    (tmp_path / "derived" / "rules" / "__init__.py").write_text(
        "from arena import hookimpl\nfrom dotted.rules import Dots\n"
        "class More(Dots):\n    name = 'more'\n@hookimpl\ndef arena_games(): return [More]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        registry = load_plugins(["dotted.rules", "derived.rules"])
        assert load_board_module(registry.game("dots")) == load_board_module(registry.game("more")) == (MODULE, None)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("dotted", "derived")]:
            del sys.modules[name]


def test_only_addresses_of_imports_are_changed() -> None:
    odd = "import *  as grid from 'arena/grid.js'\n" + MODULE.replace(
        '{ CELL } from "arena/grid.js"', '{\n  CELL,\n  lines as rows } from "arena/grid.js"'
    )
    assert check_module(odd) is None
    assert address_imports(odd).splitlines()[0] == 'import *  as grid from "/static/grid.js";'
    assert address_imports(odd).count("/static/grid.js") == 2
    assert address_imports(odd).partition("export")[2] == odd.partition("export")[2]
    assert "const {\n  CELL,\n  lines: rows } = arenaModules[" in board_script("dots", odd)
