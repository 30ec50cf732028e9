"""The agent protocol: JSON lines between arena and an agent in a separate process. See docs/reference/protocol.md.

No message from an agent is trusted: every line is parsed as JSON, and the type and the range of every field are checked.
"""

import json
import re
from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

from arena import Limits, Search
from arena.api.errors import cut
from arena_isolation.helper_process import pack

VERSION = 2
"""The protocol version that arena uses."""
MAX_LINE_BYTES = 16 << 20
"""Maximum size of one line, and so of one answer, in bytes."""
MAX_ACTION_CHARACTERS = 4 << 10
"""Maximum length of the text of one action, in characters."""
MAX_PATH_CHARACTERS = 4 << 20
"""Maximum length of all actions of a path together, in characters."""
MAX_STATE_CHARACTERS = 256 << 10
"""Maximum length of the text of the state in an answer, in characters. Arena parses this text itself."""
MAX_DESCRIPTION_BYTES = 1 << 20
"""Maximum size of one line from a process that describes a plugin, in bytes."""
MAX_CONTAINERS = 10_000
"""Maximum number of lists and objects in one message."""
MAX_DEPTH = 32
"""Maximum nesting of lists and objects in one message."""
MAX_PARTS = 1_000_000
"""Maximum number of strings and brackets in one message."""
MAX_STRUCTURE_BYTES = 4 << 20
"""Maximum size of one message outside its strings, in bytes. The parsed message takes ten times as much memory."""

in_quotes = json.encoder.encode_basestring_ascii
"""Encode a text as a JSON string."""


class Broken(Exception):
    """An agent violates the protocol. The message names the expected and the received value."""


class Used(NamedTuple):
    """Resources that a decision used, as reported by the agent."""

    nodes: int
    evaluations: int
    depth: int | None
    value: float | None
    spent: Mapping[str, float] | None
    exact: bool


def choose_line(played: Sequence[str]) -> bytes:
    """Return the request for an action. The JSON is put together by hand to save time, because every move of an isolated agent
    needs a request.
    """
    return b'{"type":"choose","played":[%b]}\n' % ",".join(map(in_quotes, played)).encode()


def observed_line(observation: str, legal: Sequence[str]) -> bytes:
    """Return the request for an action in a game with hidden information. It contains only the observation of the seat."""
    return pack({"type": "choose", "played": [], "observation": observation, "legal": list(legal)})


def action_line(action: str, nodes: int, evaluations: int, used_rng: bool) -> bytes:
    """Return a simple answer to a request for an action. Like the request, it is put together by hand."""
    used = f'"nodes":{nodes},"evaluations":{evaluations},"drew":{"true" if used_rng else "false"}'
    return f'{{"type":"action","action":{in_quotes(action)},{used}}}\n'.encode()


def parse(text: bytes) -> dict[str, Any]:
    """Parse a line. Raises Broken unless it is a JSON object with a `type` and has a plausible shape."""
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
    """Raise Broken for a message that would need far more memory or stack depth than ordinary ones. The message is not parsed for
    this.
    """
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
        most = f"{MAX_CONTAINERS:,} lists and objects, {MAX_DEPTH} deep, {MAX_PARTS:,} strings"
        raise Broken(f"expected at most {most} and {MAX_STRUCTURE_BYTES:,} bytes beside them, got {quote(text)}")


_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""Matches strings (even unterminated ones) and brackets. The pattern is possessive and its string part never fails, so it takes
linear time.
"""
_QUOTE = ord('"')


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):  # such as NaN and 1e999, which are not JSON numbers
        raise ValueError(text)
    return number


_decode = json.JSONDecoder(parse_constant=_finite, parse_float=_finite).decode


def quote(text: bytes) -> str:
    """Return the start of a line, quoted and short enough for an error message."""
    shown = ascii(text[:80].decode("utf-8", "replace").rstrip("\n"))
    return f"{shown}..." if len(text) > 80 else shown


def expect(message: Mapping[str, Any], *kinds: str) -> None:
    """Raise Broken if a message has none of these types."""
    if message["type"] not in kinds:
        raise Broken(f"expected a message of type {' or '.join(kinds)}, got {str(message['type'])[:40]!r}")


def read_used(message: Mapping[str, Any]) -> Used:
    """Return the resources of a decision from an answer or a report. Missing values are 0 or None."""
    return Used(
        _count(message, "nodes"),
        _count(message, "evaluations"),
        None if message.get("depth") is None else _count(message, "depth"),
        _number(message, "value"),
        None if message.get("spent") is None else _amounts(message),
        flag(message, "exact", default=False) and message.get("value") is not None,
    )


def read_transcript(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the transcript lines in an answer. Raises Broken if `Search.transcribe` would not accept them."""
    told = message.get("transcript", [])
    if (
        not isinstance(told, list)
        or not all(isinstance(one, str) for one in told)
        or sum(map(len, told)) > Search.MAX_EXCHANGE_CHARACTERS
    ):
        raise Broken(
            f"{message['type']}: transcript: expected strings of at most {Search.MAX_EXCHANGE_CHARACTERS:,} characters in all"
        )
    return tuple(told)


def text_of(message: Mapping[str, Any], key: str) -> str:
    """Return a string of a message. Raises Broken if it is missing."""
    value = message.get(key)
    if not isinstance(value, str):
        raise Broken(f"{message['type']}: {key}: expected text, got {cut(repr(value))}")
    return value


def action_of(message: Mapping[str, Any]) -> str:
    """Return the text of an action. Raises Broken if it is missing or too long."""
    text = text_of(message, "action")
    if len(text) > MAX_ACTION_CHARACTERS:
        raise Broken(f"{message['type']}: action: expected at most {MAX_ACTION_CHARACTERS:,} characters, got {len(text):,}")
    return text


def state_of(message: Mapping[str, Any]) -> str:
    """Return the text of the state of an answer. Raises Broken if it is missing or too long."""
    text = text_of(message, "state")
    if len(text) > MAX_STATE_CHARACTERS:
        raise Broken(f"{message['type']}: state: expected at most {MAX_STATE_CHARACTERS:,} characters, got {len(text):,}")
    return text


def path_of(message: Mapping[str, Any]) -> Sequence[str]:
    """Return the texts of the actions of a path. Raises Broken if they are too long."""
    texts = texts_of(message, "actions")
    longest, whole = max(map(len, texts), default=0), sum(map(len, texts))
    if longest > MAX_ACTION_CHARACTERS or whole > MAX_PATH_CHARACTERS:
        expected_most = f"at most {MAX_ACTION_CHARACTERS:,} characters per action and {MAX_PATH_CHARACTERS:,} in all"
        raise Broken(f"{message['type']}: actions: expected {expected_most}, got {longest:,} and {whole:,}")
    return texts


def message_of(message: Mapping[str, Any], key: str) -> str | None:
    """Return a text that people will read, shortened if it is too long; None if there is none."""
    value = message.get(key)
    if value is None:
        return None
    return Limits.clip_text(text_of(message, key))


def texts_of(message: Mapping[str, Any], key: str) -> Sequence[str]:
    """Return a list of strings. Raises Broken for anything else."""
    value = message.get(key)
    if not isinstance(value, list) or not all(type(item) is str for item in value):
        raise Broken(f"{message['type']}: {key}: expected a list of strings, got {cut(repr(value))}")
    return value


def object_of(message: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object inside a message. It also gets the type of the message, because errors name this type. Raises Broken if
    the value is not an object.
    """
    value = message.get(key)
    if not isinstance(value, dict):
        raise Broken(f"{message['type']}: {key}: expected an object, got {cut(repr(value))}")
    return {**value, "type": message["type"]}


def flag(message: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return a boolean of a message."""
    value = message.get(key, default)
    if type(value) is not bool:
        raise Broken(f"{message['type']}: {key}: expected true or false, got {cut(repr(value))}")
    return value


def steps_of(message: Mapping[str, Any]) -> int | None:
    """Return the steps of an answer; None if the solver did not count them."""
    return None if message.get("steps") is None else _count(message, "steps")


def _count(message: Mapping[str, Any], key: str) -> int:
    value = message.get(key, 0)
    if not Limits.is_count(value):
        raise Broken(f"{message['type']}: {key}: expected a whole number from 0 to {Limits.MAX_COUNT:,}, got {cut(repr(value))}")
    return value


def _amounts(message: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the amounts that an agent reports as spent. Raises Broken if `Search.spend` would not accept them."""
    value = message["spent"]
    sound = (
        isinstance(value, dict)
        and len(value) <= Search.MAX_AMOUNTS
        and all(len(name) <= Search.MAX_AMOUNT_NAME_CHARACTERS for name in value)
    )
    if not sound or not all(type(one) in (int, float) and 0 <= one <= Limits.MAX_COUNT for one in value.values()):
        expected = f"an object that maps names to amounts from 0 to {Limits.MAX_COUNT:,}"
        raise Broken(f"{message['type']}: spent: expected {expected}, got {cut(repr(value))}")
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
