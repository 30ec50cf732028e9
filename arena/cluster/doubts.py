"""Plays some of the matches again that nodes have played, and holds their records against that.

The rules cannot tell whether an agent would have moved so, or has raised what is said of it. Every fault of a match without a
time limit is played again, and of all other matches one in a hundred, by lot, in a worker process of the coordinator's machine.
What is by lot takes no more than a share of the coordinator's time.
"""

from collections.abc import Sequence
from random import Random, SystemRandom
from time import perf_counter
from typing import Any

from arena.cluster.slot import NodeSlot
from arena.match.record import FAULTS, Record
from arena.schedule.schedule import Scheduled, asks_outside, timed
from arena.spec import Spec

PART = 0.01
"""How many matches are played again by lot, of those that would come out the same."""
SHARE = 0.2
"""Of the time since the start, how much may go into these."""


class Doubts:
    """Plays matches again. `lot` is one that no node can foretell."""

    def __init__(self, spec: Spec, lot: Random | None = None) -> None:
        self._spec = spec
        self._lot = lot or SystemRandom()
        self._slot: NodeSlot | None = None
        self._began = perf_counter()
        self._spent = 0.0

    def difference(self, played: Sequence[Scheduled], records: Sequence[Record]) -> str | None:
        """Return the first difference between some records and what is played here; None where none was found.

        An agent that does not play the same twice here, either, proves nothing.
        """
        for scheduled, record in zip(played, records, strict=True):
            if self._doubted(scheduled, record):
                began = perf_counter()
                key = _other_key(record, self._again(scheduled))
                if key is not None and _other_key(record, self._again(scheduled)) == key:
                    return f"match {record.id}: {key} is not what its agents do here"
                self._spent += perf_counter() - began
        return None

    def close(self) -> None:
        """End the worker process."""
        if self._slot is not None:
            self._slot.close()

    def _doubted(self, scheduled: Scheduled, record: Record) -> bool:
        if record.termination == "void" or timed(self._spec, scheduled) or asks_outside(self._spec, scheduled):
            return False
        affordable = self._spent <= SHARE * (perf_counter() - self._began)
        return record.termination in FAULTS or (self._lot.random() < PART and affordable)

    def _again(self, scheduled: Scheduled) -> Record:
        if self._slot is None:
            self._slot = NodeSlot(self._spec)
        return self._slot.play([scheduled], _nothing).records[0]


def _other_key(record: Record, again: Record) -> str | None:
    """The first key by which two records differ; texts for people, which may name files of a machine, are not compared."""
    one, other = record.timeless(), again.timeless()
    keys: list[str] = [key for key in one if key not in ("message", "traceback", "seed") and one[key] != other[key]]
    return keys[0] if keys and again.termination != "void" else None


def _nothing(*_: Any) -> None:
    pass
