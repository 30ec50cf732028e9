"""The transcripts of language models on pages. A transcript consists of exchanges. An exchange has a question, the thoughts, the
answer, and the reason if the answer was refused.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.api.store import Store
from arena_records.transcripts import hide_secrets, label_of, read_lines, shorten

MAX_SHOWN_CHARACTERS = 700_000
"""The maximum number of characters of all texts of a panel; later exchanges are left out."""
MAX_PER_OUTCOME = 40
"""The number of exchanges with each outcome that the page of an entry shows."""
OUTCOMES = ("unreadable", "illegal", "legal", "other")
"""The outcomes of answers, in the order in which a page shows them."""


def match_transcript(store: Store, match: str) -> dict[str, Any] | None:
    """Return the exchanges from the last time that a match was played; None if there are none."""
    found = [line for line in read_lines(store, match) if line["match"] == match]
    return _pack([(found[-1], one) for one in found[-1]["exchanges"]]) if found else None


def entry_transcripts(store: Store, label: str) -> dict[str, Any] | None:
    """Return some exchanges with each outcome for an entry, with their matches; None if there are none."""
    shown: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    counts: Counter[str] = Counter()
    for line in read_lines(store, json.dumps(label)[1:-1]):
        for one in line["exchanges"]:
            if label_of(line, one) == label:
                counts[_outcome(one)] += 1
                if counts[_outcome(one)] <= MAX_PER_OUTCOME:
                    shown.append((line, one))
    shown.sort(key=lambda pair: OUTCOMES.index(_outcome(pair[1])))
    return {**_pack(shown), "counts": dict(counts)} if shown else None


def read_exchanges(store: Store) -> Iterator[tuple[Mapping[str, Any], str, Mapping[str, Any]]]:
    """Yield every exchange in a store, with the line of the transcript file that contains it and the label of the agent. If a
    match has several lines, only the last one is used.
    """
    last = {line["match"]: number for number, line in enumerate(read_lines(store, ""))}
    for number, line in enumerate(read_lines(store, "")):
        if last[line["match"]] == number:
            yield from ((line, label_of(line, one), one) for one in line["exchanges"])


def all_transcripts(store: Store, _: object) -> dict[str, Any] | None:
    """Return the exchanges of all matches, for a report."""
    shown = [(line, one) for line in read_lines(store, "") for one in line["exchanges"]]
    return _pack(shown) if shown else None


def _outcome(exchange: Mapping[str, Any]) -> str:
    outcome = exchange.get("outcome")
    return outcome if outcome in OUTCOMES else "other"


def _pack(shown: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, Any]:
    """Return exchanges in the form that the script of the panel needs. A question is shown without the messages that earlier
    questions have shown.
    """
    packed: list[dict[str, Any]] = []
    size = 0
    for line, one in shown:
        messages = one.get("messages", [])
        fresh = [each for each in messages if each.get("role") != "assistant"]
        again = len(fresh) < len(messages)
        asked = "\n\n".join(str(each.get("content", "")) for each in (fresh[-1:] if again else fresh))
        keys = ("answer", "thoughts", "fault")
        texts = {"asked": asked, **{key: one.get(key) or "" for key in keys}}
        if not messages:
            rest = {key: value for key, value in one.items() if key not in ("seat", "outcome", *keys)}
            texts["answer"] = texts["answer"] or json.dumps(rest)
        told = {
            "match": line["match"],
            "agent": label_of(line, one),
            "outcome": _outcome(one),
            "truncated": bool(one.get("truncated")),
            "model": hide_secrets(str(one.get("model") or "")),
            **{key: shorten(hide_secrets(str(text))) for key, text in texts.items()},
        }
        size += len(json.dumps(told))
        if size > MAX_SHOWN_CHARACTERS:
            break
        packed.append(told)
    return {"exchanges": packed, "left_out": len(shown) - len(packed)}
