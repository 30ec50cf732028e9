"""The transcripts of language models, which are in a file next to a store. Texts that look like API keys are replaced before they
are shown.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from arena import Limits, Record
from arena.api.errors import escape_line
from arena.api.run import transcript_file
from arena.api.store import Store

MAX_LINE_CHARACTERS = 1 << 25
"""A file with a line of so many characters is not read further. A line contains the transcript of a match."""
MAX_DEPTH = 32
"""The maximum nesting of lists and objects in a line; what is deeper is left out."""
COUNTS = ("seat", "decision", "request", "tokens_in", "tokens_out")
"""The keys of an exchange with whole numbers as values."""
MAX_TEXT_CHARACTERS = 6_000
"""The maximum number of characters of a text; the middle of a longer text is left out."""
SECRET = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|key)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer\s+[^\s\"']{8,}")
"""Matches texts that look like an API key."""


def read_lines(store: Store, part: str) -> Iterator[dict[str, Any]]:
    """Yield the transcripts of a store, one from each line that contains `part`.

    The file may come from a stranger, so every line is checked here: `match` is the id of a match, `exchanges` are mappings, and
    if an exchange has `messages` and counts, they are a list of mappings and whole numbers. All texts can be written as UTF-8.
    """
    place = transcript_file(store.path)
    if not place.is_file():
        return
    with place.open(encoding="utf-8", errors="replace") as file:
        while text := file.readline(MAX_LINE_CHARACTERS):
            if len(text) == MAX_LINE_CHARACTERS:
                return  # a file of another kind, which may have no end
            if part not in text:
                continue
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):  # the last line of a run that was killed may be incomplete
                continue
            match, exchanges = (line.get("match"), line.get("exchanges")) if isinstance(line, dict) else (None, None)
            if isinstance(match, str) and _MATCH_ID.fullmatch(match) and isinstance(exchanges, list):
                yield {**_clean(line), "exchanges": [_clean_exchange(one) for one in exchanges if isinstance(one, dict)]}


_MATCH_ID = re.compile("[0-9a-f]{32}")


def _clean_exchange(given: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _clean(given)
    if "messages" in found:
        messages = found["messages"] if isinstance(found["messages"], list) else []
        found["messages"] = [one for one in messages if isinstance(one, dict)]
    numbers = [(key, found[key]) for key in COUNTS if key in found]
    return {**found, **{key: value if Limits.is_count(value) else None for key, value in numbers}}


def _clean(value: Any, depth: int = 0) -> Any:
    """Return a value from JSON with surrogates escaped, and with None for numbers that JSON does not have."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, (dict, list)) and depth == MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {_clean(key): _clean(each, depth + 1) for key, each in value.items()}
    return [_clean(each, depth + 1) for each in value] if isinstance(value, list) else value


def label_of(line: Mapping[str, Any], exchange: Mapping[str, Any]) -> str:
    """Return the label of the agent in an exchange, or `?` if it is not known."""
    labels, seat = line.get("labels"), exchange.get("seat")
    return str(labels[seat]) if isinstance(labels, list) and isinstance(seat, int) and 0 <= seat < len(labels) else "?"


def find_decision(record: Record, exchange: Mapping[str, Any]) -> int | None:
    """Return the index of the decision in `record` that an exchange belongs to; None if the exchange does not name it.

    If the match ended before this decision, the decision has the next index after those in the record.
    """
    number, seat = exchange.get("decision"), exchange.get("seat")
    if not isinstance(number, int):
        return None
    own = [place for place, decision in enumerate(record.decisions) if decision.seat == seat]
    return own[number] if 0 <= number < len(own) else len(record.decisions)


def describe_exchanges(store: Store, match: str) -> Iterator[str]:
    """Yield the lines that show the exchanges of a match, in the order of its decisions. If the match was played several times,
    only the last time counts. A message is shown only once.
    """
    found = [line for line in read_lines(store, match) if line["match"] == match]
    shown: set[tuple[str, str, str]] = set()
    record, _ = store.record(match)
    exchanges = [(find_decision(record, one), one) for one in (found[-1]["exchanges"] if found else ())]
    exchanges.sort(key=lambda pair: -1 if pair[0] is None else pair[0])
    counts = Counter(number for number, _ in exchanges)
    for number, one in exchanges:
        label, texts = label_of(found[-1], one), list[tuple[str, str]]()
        for message in one.get("messages", ()):
            told = (label, str(message.get("role")), str(message.get("content")))
            if told not in shown and told[1] != "assistant":  # earlier answers are shown with their own exchanges
                shown.add(told)
                texts.append(("rules" if told[1] == "system" else "question", told[2]))
        texts += [(key, str(one[key])) for key in ("thoughts", "answer", "fault") if one.get(key)]
        judged = f"{one.get('outcome') or 'other'}{', truncated' if one.get('truncated') else ''}"
        which = "" if number is None else f"decision {number + 1}, "
        answer = "" if number is None or counts[number] == 1 else f", answer {one.get('request')} of {counts[number]}"
        yield f"{which}{escape_line(label)}{escape_line(answer)}: {escape_line(judged)}"
        for name, text in texts:
            yield f"  {name}:"
            yield from (f"    {escape_line(line)}" for line in shorten(hide_secrets(text)).splitlines())


def hide_secrets(text: str) -> str:
    """Return a text in which `[secret]` replaces the values of environment variables that hold API keys, and everything that
    looks like an API key.

    >>> hide_secrets("Authorization: Bearer abcdefgh12")
    'Authorization: [secret]'
    """
    for name, value in os.environ.items():
        if name.endswith(("_API_KEY", "_TOKEN", "_SECRET")) and len(value) >= 6:
            text = text.replace(value, "[secret]")
    return SECRET.sub("[secret]", text)


def shorten(text: str) -> str:
    """Return a text; if it is longer than MAX_TEXT_CHARACTERS, its middle is left out."""
    if len(text) <= MAX_TEXT_CHARACTERS:
        return text
    half = MAX_TEXT_CHARACTERS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters ...]\n{text[-half:]}"
