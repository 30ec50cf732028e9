"""Converts words of the command line to values of a spec: `lookahead:depth=2`, `rows=4`.

The same notation is used everywhere: `KEY=VALUE`, several joined by commas, with values as in a spec. An agent is written as its
name, a colon, and its options and any other keys of an entry in a spec: `greedy:heuristic=centre,limits={nodes: 50}`. A heuristic
is written as its name, a colon, and its parameters: `pattern-db:tokens=4`.
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arena import ArenaError
from arena.api.spec import Document

EXAMPLE = "lookahead:depth=2"
_OPENING, _CLOSING = "([{", ")]}"


def entry_of(word: str) -> dict[str, Any]:
    """Return the entry of a spec for a word that names an agent or a program; raises ArenaError if the word is not valid."""
    name, colon, options = word.partition(":")
    command = command_of(name)
    if command is not None:
        return {"agent": {"command": command}, **(values_of([options], what=name) if colon else {})}
    if name.endswith(".py"):
        program = shlex.quote(shlex.join(["python3", name]))
        raise ArenaError(
            f"{word} is a Python file; write --plugin {shlex.quote(name)} and the name of the agent in it, or {program}"
        )
    if not name.strip() or (colon and not options.strip()):
        raise ArenaError(f"{word!r}: expected an agent, as in {EXAMPLE}")
    if "(" in name:
        raise ArenaError(f"{word}: options come after a colon, as in {EXAMPLE}")
    given = values_of([options], what=name) if colon else {}
    if "agent" in given:
        raise ArenaError(f"{word}: the name of the agent comes before the colon, as in {EXAMPLE}")
    return {"agent": name.strip(), **given}


def heuristic_of(word: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a heuristic for a word such as `pattern-db:tokens=4`; raises ArenaError if the word
    is not valid.
    """
    name, colon, options = word.partition(":")
    if not name.strip() or (colon and not options.strip()):
        raise ArenaError(f"{word!r}: expected a heuristic, as in pattern-db:tokens=4")
    given = values_of([options], what=name) if colon else {}
    if "name" in given:
        raise ArenaError(f"{word}: the name of the heuristic comes before the colon, as in pattern-db:tokens=4")
    return name.strip(), given


def command_of(word: str) -> list[str] | None:
    """Return the command if a word of the command line names a program with its arguments, or a file that is not Python.

    The result is None for anything else, such as the name of an agent. It is not checked whether the command can be started.
    """
    try:
        words = shlex.split(word)
    except ValueError:
        return None
    if len(words) > 1:
        return words if shutil.which(words[0]) else None
    if not words or words[0].endswith(".py"):
        return None
    if "/" in words[0]:
        return words
    return [f"./{words[0]}"] if "." in words[0] and Path(words[0]).is_file() else None


def values_of(words: Iterable[str], *, what: str) -> dict[str, Any]:
    """Return the values of all words `KEY=VALUE,...` in one dictionary; raises ArenaError if a word is not valid."""
    found: dict[str, Any] = {}
    for word in words:
        for piece in split_at_commas(word):
            key, equals, text = piece.partition("=")
            key = key.strip()
            if not equals or not re.fullmatch(r"[A-Za-z_]\w*", key):
                raise ArenaError(f"{what}: expected KEY=VALUE, as in depth=2, got {piece!r}")
            if key in found:
                raise ArenaError(f"{what}: {key} is given twice")
            found[key] = _parse_value(text, f"{what}: {key}")
    return found


def options_of(values: Mapping[str, Any]) -> str:
    """Return values as `KEY=VALUE,...`; None is written as `null`."""
    return ",".join([f"{key}={_write_value(value)}" for key, value in values.items()])


def _write_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{key}: {_write_value(inner)}" for key, inner in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_write_value, value)) + "]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def split_at_commas(word: str) -> Iterator[str]:
    """Split a text at the commas that are outside brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(word):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and depth <= 0:
            yield word[start:place]
            start = place + 1
    yield word[start:]


def _parse_value(text: str, what: str) -> Any:
    """Parse a value as in a spec: `4` is a number, `true` a boolean, `blank-first` text."""
    try:
        document = Document.parse(what, f"value: {text}", Path())
    except ArenaError:
        document = None
    if document is None or document.faults or set(document.values) != {"value"}:
        raise ArenaError(f"{what}: expected a value as in a spec, got {text!r}")
    return document.values["value"]
