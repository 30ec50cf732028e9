"""JavaScript modules in the two forms that pages need: served one by one, or as plain scripts for a page in a single file."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from arena_catalog.board_files import EXPORT, IMPORT, list_exports

STATIC = Path(__file__).with_name("static")
"""The folder of the modules of arena and the style sheet."""
PLAYER = "player.js"


def static_files() -> dict[str, Path]:
    """Return every file of the views by the name with which a page requests it, such as `board.js` or `style.css`."""
    return {file.name: file for file in sorted(STATIC.iterdir()) if file.suffix in {".js", ".css"}}


def bundle(*more: str) -> str:
    """Return one script that defines `arenaModules`, with all modules by file name, and `arena`, the module of the player.

    The script contains the player and the modules named in `more`, together with all modules that these import.

    Only the two forms of import and the exported declarations that these modules use are understood.
    """
    sources = {name: file.read_text(encoding="utf-8") for name, file in static_files().items() if name.endswith(".js")}
    order: list[str] = []
    for entry in (PLAYER, *more):
        _visit(entry, sources, order)
    parts = [f"arenaModules[{json.dumps(name)}] = {_wrap(sources[name])};" for name in order]
    return "\n".join(["const arenaModules = {};", *parts, f"const arena = arenaModules[{json.dumps(PLAYER)}];", ""])


def board_script(name: str, source: str) -> str:
    """Return a script that registers the module of a board under the name of its game. It has to come after the script of
    `bundle`.
    """
    return f'arenaModules["board.js"].addBoard({json.dumps(name)}, {_wrap(source)});\n'


def panel_script(name: str, source: str) -> str:
    """Return a script that registers the module of a panel under the name of the panel. It has to come after the script of
    `bundle`.
    """
    return f'arenaModules["panels.js"].addPanel({json.dumps(name)}, {_wrap(source)});\n'


def address_imports(source: str) -> str:
    """Return the module of a board for a page that loads modules: its imports are replaced by addresses on a server."""
    return IMPORT.sub(lambda found: f'import {found["names"]} from "/static/{found["file"]}";', source)


def _visit(name: str, sources: Mapping[str, str], order: list[str]) -> None:
    """Append a module to `order`, after all modules that it imports."""
    for found in IMPORT.finditer(sources[name]):
        if found["file"] not in order:
            _visit(found["file"], sources, order)
    order.append(name)


def _wrap(source: str) -> str:
    """Return an expression that runs a module in its own scope; the value is an object with the exports."""

    def bind_import(found: re.Match[str]) -> str:
        names = re.sub(r"^\*\s+as\s+", "", found["names"])
        target = re.sub(r"(?<!\s)\s+as\s+", ": ", names) if names.startswith("{") else names
        return f"const {target} = arenaModules[{json.dumps(found['file'])}];"

    exported = ", ".join(sorted(list_exports(source)))
    text = EXPORT.sub(lambda found: f"{found['kind']} {found['name']}", IMPORT.sub(bind_import, source))
    return f'(() => {{\n"use strict";\n{text}\nreturn {{ {exported} }};\n}})()'
