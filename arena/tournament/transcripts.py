"""What agents said to their backends: a file beside the store, with a line of JSON for each match."""

import json
from pathlib import Path
from typing import Any

from arena.match.record import Record


def transcript_file(store: Path) -> Path:
    """Return the file with the transcripts of a store: `cup.transcripts.jsonl` beside `cup.db`."""
    return store.with_name(f"{store.stem}.transcripts.jsonl")


def keep_transcript(store: Path, record: Record) -> None:
    """Add the transcript of a match, if there is one: its id and labels, how it ended, and every exchange with its seat.

    A match that is played again has a line for each time.
    """
    if not record.transcript:
        return
    exchanges = [{"seat": seat, **_exchange(text)} for seat, text in record.transcript]
    told = {"match": record.id, "labels": record.labels, "termination": record.termination, "exchanges": exchanges}
    with transcript_file(store).open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")


def _exchange(text: str) -> dict[str, Any]:
    """An exchange from its JSON; as a text where a node has sent something else."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    return told if isinstance(told, dict) else {"text": text}
