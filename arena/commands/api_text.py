"""The parts of the manual that are made from docstrings, as Markdown for a terminal: signatures and what they promise."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

DIRECTIVE = re.compile(r"^\.\. (?P<kind>[\w:]+):: (?P<name>\S+)(?P<rest>(?:\n(?: .*)?)*)", re.MULTILINE)
"""One directive of a block for Sphinx, with the lines that belong to it."""
PLACES = re.compile(r"\b(?:collections\.abc|typing|pathlib)\.")
"""Modules whose names a reader of a signature can do without."""


def spelled_out(block: str) -> str:
    """Return a block of Sphinx's directives as Markdown; those that name no Python object keep their text."""
    return "\n".join([line for found in DIRECTIVE.finditer(block) for line in _lines(found)])


def _lines(found: re.Match[str]) -> Iterator[str]:
    kind, name = found["kind"], found["name"]
    if kind.startswith("auto"):
        value = _named(name)
        yield from _object(name.removeprefix("arena."), value)
        if inspect.isclass(value) and ":members:" in found["rest"]:
            for member, one in vars(value).items():
                if not member.startswith("_") and (inspect.isroutine(one) or isinstance(one, property)):
                    yield from _object(f"{value.__name__}.{member}", one)
    elif kind == "click":
        yield "`arena --help` lists the commands, `arena COMMAND --help` the options of each.\n"
    else:
        yield f"**{name}**\n\n{inspect.cleandoc(found['rest'])}\n"


def _named(name: str) -> Any:
    """The module, class or function of a dotted name."""
    try:
        return import_module(name)
    except ImportError:
        module, _, last = name.rpartition(".")
        return getattr(import_module(module), last)


def _object(name: str, value: Any) -> Iterator[str]:
    """The signature and the docstring of a class, a function or a property."""
    said = inspect.getdoc(value) or ""
    try:
        signature = PLACES.sub("", str(inspect.signature(value))) if callable(value) else ""
    except (TypeError, ValueError):
        signature = ""
    if not inspect.ismodule(value):
        yield f"**`{name}{signature}`**\n"
    yield f"{said}\n"
