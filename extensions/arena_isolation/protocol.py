"""The agent protocol: JSON lines between arena and an agent in a process of its own. See docs/protocol.md.

Nothing that an agent sends is trusted: every line is parsed as JSON, and every field is checked for its type and range.
"""

import json
import re
from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

from arena.api.cli import cut
from arena.api.run import pack
from arena.limits import MAX_COUNT, clip_text, is_count
from arena.search import MAX_AMOUNT_NAME_CHARACTERS, MAX_AMOUNTS, MAX_EXCHANGE_CHARACTERS

VERSION = 2
"""The version that arena speaks."""
MAX_LINE_BYTES = 16 << 20
"""Bytes of one line, and so of an answer."""
MAX_ACTION_CHARACTERS = 4 << 10
"""Characters of the text of one action."""
MAX_PATH_CHARACTERS = 4 << 20
"""Characters of all actions of a path."""

MAX_DESCRIPTION_BYTES = 1 << 20
"""Bytes of one line of a process that describes or checks a plugin."""
MAX_CONTAINERS = 10_000
"""Lists and objects in one message."""
MAX_DEPTH = 32
"""Lists and objects inside each other in one message."""
MAX_PARTS = 1_000_000
"""Texts and brackets in one message."""
MAX_STRUCTURE_BYTES = 4 << 20
"""Bytes of one message outside of its texts: what is read of them takes ten times as much memory."""

in_quotes = json.encoder.encode_basestring_ascii
"""A text as JSON writes it."""


class Broken(Exception):
    """An agent does not keep to the protocol; the message says what was expected and what came."""


class Used(NamedTuple):
    """The resources that a decision used, as the agent tells them."""

    nodes: int
    evaluations: int
    depth: int | None
    value: float | None
    spent: Mapping[str, float] | None
    unmetered: int


def choose_line(played: Sequence[str]) -> bytes:
    """The request for an action. Written out, since every move of an isolated agent waits for it."""
    return b'{"type":"choose","played":[%b]}\n' % ",".join(map(in_quotes, played)).encode()


def observed_line(observation: str, legal: Sequence[str]) -> bytes:
    """The request for an action where there is hidden information: what the seat observes, and nothing else."""
    return pack({"type": "choose", "played": [], "observation": observation, "legal": list(legal)})


def action_line(action: str, nodes: int, evaluations: int, used_rng: bool) -> bytes:
    """The answer to it, where there is no more to say; written out for the same reason."""
    used = f'"nodes":{nodes},"evaluations":{evaluations},"drew":{"true" if used_rng else "false"}'
    return f'{{"type":"action","action":{in_quotes(action)},{used}}}\n'.encode()


def parse(text: bytes) -> dict[str, Any]:
    """The message of a line; Broken for anything but a JSON object with a `type`, and for one of a shape that no message has."""
    if len(text) > MAX_STRUCTURE_BYTES or text.count(b"[") + text.count(b"{") > MAX_DEPTH:
        _check_shape(text)
    try:
        message = _decode(text.decode())
    except (ValueError, RecursionError):
        raise Broken(f"expected a line of JSON, got {quote(text)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Broken(f"expected a JSON object with a type, got {quote(text)}")
    return message


def _check_shape(text: bytes) -> None:
    """Raise Broken for a message that would take far more memory, or a deeper stack, than an honest one. Nothing is parsed."""
    containers = depth = deepest = in_texts = parts = 0
    for part in _PARTS.finditer(text):
        parts += 1
        start, end = part.span()
        if text[start] == _QUOTE:
            in_texts += end - start
        elif text[start] in b"[{":
            containers, depth = containers + 1, depth + 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
        if containers > MAX_CONTAINERS or deepest > MAX_DEPTH or parts > MAX_PARTS:
            break
    if containers > MAX_CONTAINERS or deepest > MAX_DEPTH or parts > MAX_PARTS or len(text) - in_texts > MAX_STRUCTURE_BYTES:
        most = f"{MAX_CONTAINERS:,} lists and objects, {MAX_DEPTH} deep, {MAX_PARTS:,} texts"
        raise Broken(f"expected at most {most} and {MAX_STRUCTURE_BYTES:,} bytes beside them, got {quote(text)}")


_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""Texts, also one without an end, and brackets. It is possessive and a text never fails, so the time is linear whatever comes."""
_QUOTE = ord('"')


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):  # such as 1e999, which is not what JSON means by a number
        raise ValueError(text)
    return number


_decode = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite).decode


def quote(text: bytes) -> str:
    """The start of a line, fit for a message."""
    shown = ascii(text[:80].decode("utf-8", "replace").rstrip("\n"))
    return f"{shown}..." if len(text) > 80 else shown


def expect(message: Mapping[str, Any], *kinds: str) -> None:
    """Broken where a message is of another type."""
    if message["type"] not in kinds:
        raise Broken(f"expected a message of type {' or '.join(kinds)}, got {str(message['type'])[:40]!r}")


def read_used(message: Mapping[str, Any]) -> Used:
    """The resources of a decision, from an answer or a report; missing ones are 0 or None."""
    return Used(
        _count(message, "nodes"),
        _count(message, "evaluations"),
        None if message.get("depth") is None else _count(message, "depth"),
        _number(message, "value"),
        None if message.get("spent") is None else _amounts(message),
        _count(message, "unmetered"),
    )


def read_transcript(message: Mapping[str, Any]) -> tuple[str, ...]:
    """What an agent adds to the transcript with an answer; Broken where `Search.transcribe` would not take it."""
    told = message.get("transcript", [])
    if (
        not isinstance(told, list)
        or not all(isinstance(one, str) for one in told)
        or sum(map(len, told)) > MAX_EXCHANGE_CHARACTERS
    ):
        raise Broken(f"{message['type']}: transcript: expected texts of at most {MAX_EXCHANGE_CHARACTERS:,} characters in all")
    return tuple(told)


def text_of(message: Mapping[str, Any], key: str) -> str:
    """A text of a message; Broken where it is missing."""
    value = message.get(key)
    if not isinstance(value, str):
        raise Broken(f"{message['type']}: {key}: expected text, got {cut(repr(value))}")
    return value


def action_of(message: Mapping[str, Any]) -> str:
    """The text of an action; Broken where it is missing or too long."""
    text = text_of(message, "action")
    if len(text) > MAX_ACTION_CHARACTERS:
        raise Broken(f"{message['type']}: action: expected at most {MAX_ACTION_CHARACTERS:,} characters, got {len(text):,}")
    return text


def path_of(message: Mapping[str, Any]) -> Sequence[str]:
    """The texts of the actions of a path; Broken where they are too long."""
    texts = texts_of(message, "actions")
    longest, whole = max(map(len, texts), default=0), sum(map(len, texts))
    if longest > MAX_ACTION_CHARACTERS or whole > MAX_PATH_CHARACTERS:
        expected_most = f"at most {MAX_ACTION_CHARACTERS:,} characters an action and {MAX_PATH_CHARACTERS:,} in all"
        raise Broken(f"{message['type']}: actions: expected {expected_most}, got {longest:,} and {whole:,}")
    return texts


def message_of(message: Mapping[str, Any], key: str) -> str | None:
    """A text for people, cut where it is too long; None where there is none."""
    value = message.get(key)
    if value is None:
        return None
    return clip_text(text_of(message, key))


def texts_of(message: Mapping[str, Any], key: str) -> Sequence[str]:
    """A list of texts; Broken for anything else."""
    value = message.get(key)
    if not isinstance(value, list) or not all(type(item) is str for item in value):
        raise Broken(f"{message['type']}: {key}: expected a list of texts, got {cut(repr(value))}")
    return value


def object_of(message: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object within a message, which is of the message's type for what is said of it; Broken for anything else."""
    value = message.get(key)
    if not isinstance(value, dict):
        raise Broken(f"{message['type']}: {key}: expected an object, got {cut(repr(value))}")
    return {**value, "type": message["type"]}


def flag(message: Mapping[str, Any], key: str, default: bool) -> bool:
    """A boolean of a message."""
    value = message.get(key, default)
    if type(value) is not bool:
        raise Broken(f"{message['type']}: {key}: expected true or false, got {cut(repr(value))}")
    return value


def steps_of(message: Mapping[str, Any]) -> int | None:
    """The steps of an answer, None where the solver did not count."""
    return None if message.get("steps") is None else _count(message, "steps")


def _count(message: Mapping[str, Any], key: str) -> int:
    value = message.get(key, 0)
    if not is_count(value):
        raise Broken(f"{message['type']}: {key}: expected a whole number from 0 to {MAX_COUNT:,}, got {cut(repr(value))}")
    return value


def _amounts(message: Mapping[str, Any]) -> Mapping[str, float]:
    """What an agent says that it spent; Broken where `Search.spend` would not take it."""
    value = message["spent"]
    sound = (
        isinstance(value, dict) and len(value) <= MAX_AMOUNTS and all(len(name) <= MAX_AMOUNT_NAME_CHARACTERS for name in value)
    )
    if not sound or not all(type(one) in (int, float) and 0 <= one <= MAX_COUNT for one in value.values()):
        raise Broken(f"{message['type']}: spent: expected amounts from 0 to {MAX_COUNT:,} by name, got {cut(repr(value))}")
    return dict(value)


def _number(message: Mapping[str, Any], key: str) -> float | None:
    value = message.get(key)
    if value is None:
        return None
    try:
        number = float(value) if type(value) in (int, float) else inf
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise Broken(f"{message['type']}: {key}: expected a finite number or null, got {cut(repr(value))}")
    return number
