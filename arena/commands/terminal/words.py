"""What a person types on the command line, as the values of a spec: `lookahead:depth=2`, `rows=4`.

One notation for everything: `KEY=VALUE`, several joined by commas, values as in a spec. An agent is its name, and after a
colon its options and whatever else an entry of a spec may have: `greedy:heuristic=centre,limits={nodes: 50}`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.errors import ArenaError
from arena.spec.document import document_of
from arena.spec.external import command_of

EXAMPLE = "lookahead:depth=2"
_OPENING, _CLOSING = "[{", "]}"


def entry_of(word: str) -> dict[str, Any]:
    """The entry of a spec that an agent's word stands for, or a program's; ArenaError says what is wrong with the word."""
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


def values_of(words: Iterable[str], *, what: str) -> dict[str, Any]:
    """The values of `KEY=VALUE,...`, of several such words together; ArenaError says what is wrong with them."""
    found: dict[str, Any] = {}
    for word in words:
        for piece in _pieces(word):
            key, equals, text = piece.partition("=")
            key = key.strip()
            if not equals or not re.fullmatch(r"[A-Za-z_]\w*", key):
                raise ArenaError(f"{what}: expected KEY=VALUE, as in depth=2, got {piece!r}")
            if key in found:
                raise ArenaError(f"{what}: {key} is given twice")
            found[key] = _value(text, f"{what}: {key}")
    return found


def _pieces(word: str) -> Iterator[str]:
    """The parts between commas that stand in no brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(word):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and depth <= 0:
            yield word[start:place]
            start = place + 1
    yield word[start:]


def _value(text: str, what: str) -> Any:
    """A value as a spec would have it: `4` a number, `true` a truth value, `blank-first` text."""
    try:
        document = document_of(what, f"value: {text}", Path())
    except ArenaError:
        document = None
    if document is None or document.faults or set(document.values) != {"value"}:
        raise ArenaError(f"{what}: expected a value as in a spec, got {text!r}")
    return document.values["value"]


def options_of(values: Mapping[str, Any]) -> str:
    """Values as `KEY=VALUE,...`, none as `null`."""
    return ",".join([f"{key}={_written(value)}" for key, value in values.items()])


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{key}: {_written(inner)}" for key, inner in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def call_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options that `play` and `solve` share, as the fields of their calls; ArenaError says what is wrong with one of them."""
    call = {key: value for key, value in asked.items() if key not in ("given", "limits", "nodes", "seconds")}
    call["parameters"] = values_of(asked["given"], what="--set")
    call["limits"] = _limits(asked["limits"], {key: asked[key] for key in ("nodes", "seconds") if asked[key] is not None})
    return call


def _limits(word: str | None, more: Mapping[str, Any]) -> dict[str, Any] | None:
    """The limits of a call; None where it says nothing of them, empty where it lifts them."""
    if word is None:
        return dict(more) or None
    limits = {} if word.strip() == "none" else values_of([word], what="--limits")
    for key, value in more.items():
        if key in limits:
            raise ArenaError(f"--{key}: given twice, here and in --limits")
        limits[key] = value
    return limits
