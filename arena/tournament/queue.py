"""The matches that remain to be played: those in the schedule that are neither in the store nor assigned to other machines."""

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.match.record import Record, find_loser
from arena.schedule.deals import Deals
from arena.schedule.ranking import Ranking
from arena.schedule.schedule import Batch, Schedule, Scheduled
from arena.spec import Spec
from arena.store import Store
from arena.store.rows import play_hash_of
from arena.store.side_files import check_side_file, open_side_file

MATCHES_PER_LOOKUP = 500
"""The number of matches that are looked up in a store at a time."""


class Shard(NamedTuple):
    """One of `of` shards of a tournament; shards are numbered from 1. The id of a match decides to which shard it belongs."""

    number: int
    of: int

    def has(self, identity: str) -> bool:
        """Return whether a match belongs to this shard."""
        return int(identity, 16) % self.of == self.number - 1


class MatchQueue:
    """Hands out matches and receives their records. Any thread may use it.

    `found` is called for every match that is already in the store.
    """

    def __init__(
        self, spec: Spec, store: Store | None = None, shard: Shard | None = None, found: Callable[[], object] = lambda: None
    ) -> None:
        if store is not None and not store.is_temporary:
            check_side_file(transcript_file(store.path))  # before the first match, whose record would be lost otherwise
        self._spec = spec
        self._plan = Schedule(spec)
        self._deals = Deals(spec)
        self.store = store
        self._shard = shard
        self._found = found
        self._ready: deque[Scheduled] = deque()
        self._lock = threading.RLock()
        self._skips_lookups = shard is None and (store is None or not len(store))
        self._missing = self._after = 0  # matches to play; matches looked up since the first of these
        self.held = 0
        """The number of matches that were already in the store."""
        self.void = 0
        """The number of void matches in the store, which are played again."""
        self.others = 0
        """The number of matches that belong to other shards."""
        self.played = 0
        self.status = self._plan.status
        """Texts on the progress of boards, by the index of the board, if their formats provide such texts."""
        self.expected = self._plan.expected
        """The expected numbers of matches, by the index of the board, if their formats estimate them."""

    def take(self, size: int) -> Batch:
        """Return up to `size` matches to play next; Batch.WAIT if results are missing, Batch.OVER after the last match."""
        with self._lock:
            if self._skips_lookups and not self._deals:
                return self._plan.take(size)
            while len(self._ready) < size:
                batch = self._plan.take(MATCHES_PER_LOOKUP)
                if not batch:
                    if not self._ready:
                        return batch
                    break
                self._sort(batch)
            return Batch([self._ready.popleft() for _ in range(min(size, len(self._ready)))])

    def left(self, total: int) -> float:
        """Estimate how many of `total` matches are left to play. Matches not yet looked up are assumed to be like the others."""
        missing = max(self._missing, self.played)
        return missing - self.played + (total - self.held - self.others - missing) * min(1.0, missing / (self._after + 1))

    def rankings(self) -> dict[int, Ranking]:
        """Return, by board index, the rankings that plugins compute. Raises PluginError if a format fails to rank a board."""
        with self._lock:
            return self._plan.rankings()

    def _sort(self, batch: Sequence[Scheduled]) -> None:
        """Count the matches that are in the store or belong to another shard, and keep the others to be played."""
        ids = [scheduled.match_id(self._spec) for scheduled in batch]
        kept = {} if self.store is None else self.store.has(ids)
        places, missing = [], []
        for scheduled, identity in zip(batch, ids, strict=True):
            self._after += self._missing > 0
            if identity in kept and kept[identity].returns is not None:  # a void match is played again
                number, returns, play_hash, adjusted, loser = kept[identity]
                places.append((number, scheduled))
                self.held += 1
                self._plan.tell(scheduled, returns, play_hash, adjusted, loser)
                self._found()
            elif self._shard is not None and not self._shard.has(identity):
                self.others += 1
                self._plan.tell(scheduled, None)
            else:
                self._missing += 1
                self.void += identity in kept
                missing.append(scheduled)
        self._ready.extend(self._deals.order(missing) if self._deals else missing)
        if places and self.store is not None:
            self.store.place(places)

    def finish(self, scheduled: Scheduled, record: Record) -> None:
        """Store the record of a match that was handed out."""
        with self._lock:
            self.played += 1
            if self.store is not None:
                if record.transcript and not self.store.is_temporary:
                    _keep_transcript(self.store.path, record)
                self.store.add(scheduled, record)
            play_hash = play_hash_of(record) if self._plan.follows(scheduled) and not any(record.drew) else None
            returns = None if record.termination == "void" else record.returns
            self._plan.tell(scheduled, returns, play_hash, record.adjusted, find_loser(record.termination, record.seat))


# Transcripts: the exchanges of agents with their backends, in a file next to the store, with one line of JSON per match


def transcript_file(store: Path) -> Path:
    """Return the file with the transcripts of a store: `cup.transcripts.jsonl` next to `cup.db`."""
    return store.with_name(f"{store.stem}.transcripts.jsonl")


def _keep_transcript(store: Path, record: Record) -> None:
    """Append the transcript of a match: its id and labels, how it ended, and every exchange with its seat.

    A match that is played again gets another line.
    """
    exchanges = [{"seat": seat, **_read_exchange(text)} for seat, text in record.transcript]
    line = {"match": record.id, "labels": record.labels, "termination": record.termination, "exchanges": exchanges}
    number = open_side_file(transcript_file(store), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with open(number, "a", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
        file.write(json.dumps(line) + "\n")


def _read_exchange(text: str) -> dict[str, Any]:
    """Return an exchange from its JSON, or as a text if a node has sent something else."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    return values if isinstance(values, dict) else {"text": text}
