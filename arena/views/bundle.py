"""JavaScript modules as pages need them: served one by one, or as plain scripts for a page that is a single file."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

STATIC = Path(__file__).with_name("static")
"""The folder of arena's own modules and the style sheet."""
HELPERS = ("dom.js", "grid.js", "scene.js")
"""Modules of arena that the module of a board may import, each as `arena/NAME`."""
NEEDED = frozenset({"parse", "extent", "draw"})
"""Names that the module of a board exports at least."""
_IMPORT = re.compile(
    r"""^import\s+(?P<names>\{[^}]*\}|\*\s+as\s+\w+)\s+from\s+(?P<quote>["'])(?:\./|arena/)(?P<file>[\w.-]+)(?P=quote)[ \t]*;?""",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export\s+(?P<kind>async\s+function\s*\*?|function\s*\*?|const|let|var|class)\s+(?P<name>[\w$]+)", re.MULTILINE
)
_STATEMENT = re.compile(r"^[ \t]*(?P<statement>(?:import\s*[\w{*\"']|export\s*[\w{*]).*)", re.MULTILINE)


def static_files() -> dict[str, Path]:
    """Return every file of the views, by the name under which a page asks for it: `board.js`, `style.css`."""
    return {file.name: file for file in sorted(STATIC.iterdir()) if file.suffix in {".js", ".css"}}


def bundle(entry: str = "player.js") -> str:
    """Return one script that defines `arenaModules`, all that `entry` needs by their file names, and `arena`, which is `entry`.

    It knows the two forms of import and the exported declarations that the modules are written in, and nothing else.
    """
    sources = {name: file.read_text(encoding="utf-8") for name, file in static_files().items() if name.endswith(".js")}
    order: list[str] = []
    _visit(entry, sources, order)
    parts = [f"arenaModules[{json.dumps(name)}] = {_called(sources[name])};" for name in order]
    return "\n".join(["const arenaModules = {};", *parts, f"const arena = arenaModules[{json.dumps(entry)}];", ""])


def board_script(name: str, source: str) -> str:
    """Return a script that makes the module of a board known by the name of its game; it stands behind that of `bundle`."""
    return f'arenaModules["board.js"].addBoard({json.dumps(name)}, {_called(source)});\n'


def served(source: str) -> str:
    """Return the module of a board for a page that loads modules: what it imports has the addresses of a server."""
    return _IMPORT.sub(lambda found: f'import {found["names"]} from "/static/{found["file"]}";', source)


def check_module(source: str) -> str | None:
    """Return the fault of a module that cannot be bundled and served alike; None for a sound one. Nothing is run."""
    for found in _IMPORT.finditer(source):
        if "arena/" not in found[0] or found["file"] not in HELPERS:
            return f"expected imports of {', '.join([f'arena/{name}' for name in HELPERS])} alone, got {found[0]}"
    left = _STATEMENT.search(_EXPORT.sub("", _IMPORT.sub("", source)))
    if left is not None:
        known = "`import {...} from`, `import * as ... from` and exported declarations"
        return f"expected {known}, got {left['statement'].strip()[:80]}"
    lacking = NEEDED - _exports(source)
    return f"expected exports of {', '.join(sorted(NEEDED))}, got no {', '.join(sorted(lacking))}" if lacking else None


def _visit(name: str, sources: Mapping[str, str], order: list[str]) -> None:
    """Append a module to `order`, after all that it imports."""
    for found in _IMPORT.finditer(sources[name]):
        if found["file"] not in order:
            _visit(found["file"], sources, order)
    order.append(name)


def _called(source: str) -> str:
    """Return an expression that runs a module in a scope of its own; its value is an object of the exports."""
    exported = ", ".join(sorted(_exports(source)))
    text = _EXPORT.sub(lambda found: f"{found['kind']} {found['name']}", _IMPORT.sub(_constant, source))
    return f'(() => {{\n"use strict";\n{text}\nreturn {{ {exported} }};\n}})()'


def _exports(source: str) -> set[str]:
    return {found["name"] for found in _EXPORT.finditer(source)}


def _constant(found: re.Match[str]) -> str:
    names = re.sub(r"^\*\s+as\s+", "", found["names"])
    target = re.sub(r"\s+as\s+", ": ", names) if names.startswith("{") else names
    return f"const {target} = arenaModules[{json.dumps(found['file'])}];"
