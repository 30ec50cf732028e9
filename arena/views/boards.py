"""Which games have a board, and the files that draw them."""

from pathlib import Path

from arena.plugins.registry import Registry

STATIC = Path(__file__).with_name("static")
"""The folder of the modules and the style sheet."""


def board_modules(registry: Registry) -> dict[str, str]:
    """The games that are drawn on a board: for each the file of its module in STATIC. The others are shown as text."""
    found = {}
    for name in registry.games:
        file = f"boards/{name.replace('-', '_')}.js"
        if (STATIC / file).is_file():
            found[name] = file
    return found


def static_files() -> dict[str, Path]:
    """Every file of the views, by the name under which a page asks for it: `board.js`, `boards/sudoku.js`, `style.css`."""
    files = [file for file in sorted(STATIC.rglob("*")) if file.suffix in {".js", ".css"}]
    return {file.relative_to(STATIC).as_posix(): file for file in files}
