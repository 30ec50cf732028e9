"""Words of the command line as values of a spec: `lookahead:depth=2`, `rows=4`.

One notation for everything: `KEY=VALUE`, several joined by commas, values as in a spec. An agent is written as its name, then a
colon, its options and any other keys of an entry in a spec: `greedy:heuristic=centre,limits={nodes: 50}`.
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from arena import ArenaError
from arena.api.spec import parse_document

EXAMPLE = "lookahead:depth=2"
_OPENING, _CLOSING = "([{", ")]}"


def entry_of(word: str) -> dict[str, Any]:
    """Return the entry of a spec for the word of an agent or a program; raises ArenaError if the word is invalid."""
    name, colon, options = word.partition(":")
    command = command_of(name)
    if command is not None:
        return {"agent": {"command": command}, **(values_of([options], what=name) if colon else {})}
    if name.endswith(".py"):
        raise ArenaError(
            f"{word}: a Python file; put --plugin {name} and the name of the agent that it brings, or 'python3 {name}'"
        )
    if not name.strip() or (colon and not options.strip()):
        raise ArenaError(f"{word!r}: expected an agent, as in {EXAMPLE}")
    if "(" in name:
        raise ArenaError(f"{word}: options come after a colon, as in {EXAMPLE}")
    given = values_of([options], what=name) if colon else {}
    if "agent" in given:
        raise ArenaError(f"{word}: the name of the agent stands before the colon, as in {EXAMPLE}")
    return {"agent": name.strip(), **given}


def command_of(word: str) -> list[str] | None:
    """The command that a word of the command line means: a file that is not Python, or a program with its arguments.

    None for anything else, such as the name of an agent; whether the command can be started is not checked.
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
    """Return the values of all words `KEY=VALUE,...` in one dictionary; raises ArenaError if a word is invalid."""
    found: dict[str, Any] = {}
    for word in words:
        for piece in _split(word):
            key, equals, text = piece.partition("=")
            key = key.strip()
            if not equals or not re.fullmatch(r"[A-Za-z_]\w*", key):
                raise ArenaError(f"{what}: expected KEY=VALUE, as in depth=2, got {piece!r}")
            if key in found:
                raise ArenaError(f"{what}: {key} is given twice")
            found[key] = _parse_value(text, f"{what}: {key}")
    return found


def _split(word: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
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
        document = parse_document(what, f"value: {text}", Path())
    except ArenaError:
        document = None
    if document is None or document.faults or set(document.values) != {"value"}:
        raise ArenaError(f"{what}: expected a value as in a spec, got {text!r}")
    return document.values["value"]
