"""All modules of the views as one script, for a page that is a single file and cannot load any."""

import re
from collections.abc import Mapping
from posixpath import dirname, join, normpath

from arena.views.boards import static_files

_IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}|\* as \w+) from "(?P<file>[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?P<kind>async function|function\*?|const|class) (?P<name>\w+)", re.MULTILINE)


def bundle(entry: str = "player.js") -> str:
    """One script that defines `arena`, an object with what the module `entry` exports.

    It knows the two forms of import and the exported declarations that the modules are written in, and nothing else.
    """
    sources = {name: file.read_text(encoding="utf-8") for name, file in static_files().items() if name.endswith(".js")}
    order: list[str] = []
    _visit(entry, sources, order)
    modules = "\n".join([_module(name, sources[name]) for name in order])
    return f"const arena = (() => {{\n{modules}\nreturn {_variable(entry)};\n}})();\n"


def _visit(name: str, sources: Mapping[str, str], order: list[str]) -> None:
    """Put a module into the order, after all that it imports."""
    for found in _IMPORT.finditer(sources[name]):
        needed = _resolved(name, found["file"])
        if needed not in order:
            _visit(needed, sources, order)
    order.append(name)


def _module(name: str, source: str) -> str:
    """A module as a function that is called at once and returns what the module exports."""
    exported = ", ".join([found["name"] for found in _EXPORT.finditer(source)])
    text = _IMPORT.sub(lambda found: _constant(name, found), source)
    text = _EXPORT.sub(lambda found: f"{found['kind']} {found['name']}", text)
    return f"const {_variable(name)} = (() => {{\n{text}\nreturn {{ {exported} }};\n}})();"


def _constant(name: str, found: re.Match[str]) -> str:
    names = found["names"]
    target = names.removeprefix("* as ") if names.startswith("*") else names.replace(" as ", ": ")
    return f"const {target} = {_variable(_resolved(name, found['file']))};\n"


def _resolved(name: str, file: str) -> str:
    return normpath(join(dirname(name), file))


def _variable(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
