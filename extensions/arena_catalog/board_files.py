"""Finds, checks and reads board modules. A board module is a JavaScript file next to the code of a game; it draws the states of
the game. For an invalid module, users see a note instead.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from arena import ArenaError, Game
from arena.api.games import gives
from arena.api.results import figures

MAX_MODULE_BYTES = 1 << 20
"""The maximum size of a board module in bytes."""
HELPERS = ("dom.js", "grid.js", "scene.js")
"""Modules of arena that a board module may import, each as `arena/NAME`."""
NEEDED = frozenset({"parse", "extent", "draw"})
"""Names that every board module must export."""
IMPORT = re.compile(
    r"""^import\s+(?P<names>\{[^{}]*\}|\*\s+as\s+\w+)\s+from\s+(?P<quote>["'])(?:\./|arena/)(?P<file>[\w.-]+)"""
    r"(?P=quote)[ \t]*;?",
    re.MULTILINE,
)
EXPORT = re.compile(r"^export\s+(?P<kind>(?:async\s+)?function(?:\s*\*)?|const|let|var|class)\s+(?P<name>[\w$]+)", re.MULTILINE)
_STATEMENT = re.compile(r"^[ \t]*(?P<statement>(?:import\s*[\w{*\"']|export\s*[\w{*]).*)", re.MULTILINE)


class BoardFault(ArenaError):
    """A board module cannot be used. The message begins with the path that the game gives."""


class BoardModule(NamedTuple):
    """The module that draws the states of a game, or the reason why it cannot be used."""

    source: str | None = None
    """The JavaScript source; None if states are drawn as a grid or shown as text."""
    note: str | None = None
    """The fault of the module; None if the module is valid or the game names none."""


def load_board_module(kind: type[Game]) -> BoardModule:
    """Return the module that the class of a game names. For a module that cannot be used, the result has a note instead."""
    file = getattr(kind, "board", None)
    if not isinstance(file, str):  # an older plugin may use the name for something else
        return BoardModule()
    try:
        return BoardModule(_read(_find_place(kind, file), file))
    except BoardFault as fault:
        instead = "drawn as a grid" if gives(kind, "grid") else "shown as text"
        return BoardModule(note=f"board {fault}; states are {instead}")


def _find_place(kind: type[Game], file: str) -> Path:
    """Return the path of a module. Raises BoardFault if the module is outside the package of the class; for a class in a single
    file, if the module is outside the folder of this file.

    A class can inherit its board module. The path is relative to the file of the class that sets the path.
    """
    owner = next(base for base in kind.__mro__ if "board" in vars(base))
    module = sys.modules.get(owner.__module__)
    written = getattr(module, "__file__", None)
    if written is None:
        raise BoardFault(f"{file}: the source file of {owner.__qualname__} was not found")
    package = sys.modules.get(owner.__module__.partition(".")[0])
    folders = [Path(folder) for folder in getattr(package, "__path__", [])] or [Path(written).parent]
    try:
        place = (Path(written).parent / file).resolve()
        inside = any(place.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError) as error:  # such as a null character in the path, or circular links
        raise BoardFault(f"{file}: {error}") from error
    if not inside:
        raise BoardFault(f"{file}: expected a file in the folder of its package, {figures.listing([*map(str, folders)])}")
    return place


def _read(place: Path, file: str) -> str:
    try:
        if not place.is_file():
            raise BoardFault(f"{file}: no such file: {place}")
        if place.stat().st_size > MAX_MODULE_BYTES:
            raise BoardFault(f"{file}: expected at most {MAX_MODULE_BYTES:,} bytes, got {place.stat().st_size:,}")
        source = place.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BoardFault(f"{file}: {error}") from error
    wrong = check_module(source)
    if wrong is not None:
        raise BoardFault(f"{file}: {wrong}")
    return source


def check_module(source: str, needed: frozenset[str] = NEEDED) -> str | None:
    """Return the reason why a module cannot be put into a report or served to a page; None for a valid module. The module is not
    run.
    """
    for found in IMPORT.finditer(source):
        if "arena/" not in found[0] or found["file"] not in HELPERS:
            return f"expected imports only from {', '.join([f'arena/{name}' for name in HELPERS])}, got {found[0]}"
    left = _STATEMENT.search(EXPORT.sub("", IMPORT.sub("", source)))
    if left is not None:
        known = "`import {...} from`, `import * as ... from` and exported declarations"
        return f"expected {known}, got {left['statement'].strip()[:80]}"
    lacking = needed - list_exports(source)
    return f"missing exports: {', '.join(sorted(lacking))}; a module must export {', '.join(sorted(needed))}" if lacking else None


def list_exports(source: str) -> set[str]:
    """Return the names that a module exports."""
    return {found["name"] for found in EXPORT.finditer(source)}
