"""Plays some of the matches again that nodes have played, and holds their records against that.

The rules cannot tell whether an agent would have moved so, or has raised what is said of it. Every fault of a match without a
time limit is played again, and of all other matches one in a hundred, by lot, in a worker process of the coordinator's machine.
What is by lot takes no more than a share of the coordinator's time.

Where an entry brings code of its own, a difference may as well be the doing of that: it may find out that it is on a node, and do
otherwise there, so that nodes would be refused one by one. Then what is played here counts, no node is to blame, and from then on
the matches of the entry are all played here.
"""

from collections.abc import Callable, Sequence
from random import Random, SystemRandom
from time import perf_counter
from typing import Any

from arena.cluster.entry_code import is_submitted
from arena.cluster.slot import NodeSlot
from arena.match.record import FAULTS, Record
from arena.schedule.schedule import Scheduled, asks_outside, timed
from arena.spec import Spec

PART = 0.01
"""How many matches are played again by lot, of those that would come out the same."""
SHARE = 0.2
"""Of the time since the start, how much may go into these."""


def _nothing(*_: Any) -> None:
    pass


class Doubts:
    """Plays matches again. `lot` is one that no node can foretell; `say` is told of agents that do otherwise on nodes.

    `check` is asked meanwhile; what it raises is passed on.
    """

    def __init__(
        self,
        spec: Spec,
        lot: Random | None = None,
        *,
        say: Callable[[str], object] = _nothing,
        check: Callable[[], None] = _nothing,
    ) -> None:
        self._spec = spec
        self._lot = lot or SystemRandom()
        self._say = say
        self._check = check
        self._slot: NodeSlot | None = None
        self._began = perf_counter()
        self._spent = 0.0
        self._suspects: list[frozenset[str]] = []
        """Groups of entries with code of their own, one of each of which does otherwise on nodes."""

    def judged(self, node: str, played: Sequence[Scheduled], records: Sequence[Record]) -> tuple[Sequence[Record], str | None]:
        """Return what counts of some records of a node, and the first difference that is its fault; None where there is none.

        An agent that does not play the same twice here, either, proves nothing.
        """
        counts = list(records)
        for number, (scheduled, record) in enumerate(zip(played, records, strict=True)):
            if self._doubted(scheduled, record):
                began = perf_counter()
                again = self._again(scheduled)
                key = self._other_key(scheduled, record, again)
                if key is not None and self._other_key(scheduled, record, self._again(scheduled)) == key:
                    suspects = self._submitted(scheduled)
                    if not suspects:
                        return counts, f"match {record.id}: {key} is not what its agents do here"
                    self._suspect(suspects, node, record)
                    counts[number] = again
                self._spent += perf_counter() - began
        return counts, None

    def close(self) -> None:
        """End the worker process."""
        if self._slot is not None:
            self._slot.close()

    def _doubted(self, scheduled: Scheduled, record: Record) -> bool:
        if record.termination == "void" or asks_outside(self._spec, scheduled):
            return False
        if timed(self._spec, scheduled):
            return self._never_began(scheduled, record)
        affordable = self._spent <= SHARE * (perf_counter() - self._began)
        certain = record.termination in FAULTS or any(not group.isdisjoint(record.labels) for group in self._suspects)
        return certain or (self._lot.random() < PART and affordable)

    def _never_began(self, scheduled: Scheduled, record: Record) -> bool:
        """Tell whether an entry's own code could not even be loaded, such as for a package that is not there."""
        if record.termination not in FAULTS or record.termination == "timeout" or record.seat is None:
            return False
        own = record.labels[record.seat] in self._submitted(scheduled)
        return own and not any(decision.seat == record.seat for decision in record.decisions)

    def _other_key(self, scheduled: Scheduled, record: Record, again: Record) -> str | None:
        if not timed(self._spec, scheduled):
            return _other_key(record, again)
        same = (again.termination, again.seat) == (record.termination, record.seat)
        return None if same or again.termination == "void" else "termination"

    def _suspect(self, suspects: frozenset[str], node: str, record: Record) -> None:
        """Take in that one of some entries does otherwise on a node: with every match there are fewer that it may be."""
        known = next((group for group in self._suspects if group & suspects), None)
        if known is None:
            reason = f" ({record.message})" if record.message else ""
            self._say(f"{' or '.join(sorted(suspects))} does otherwise on {node} than here{reason}; what is played here counts")
            self._suspects.append(suspects)
        else:
            self._suspects[self._suspects.index(known)] = known & suspects

    def _submitted(self, scheduled: Scheduled) -> frozenset[str]:
        """The entries of a match that bring code of their own."""
        seats = self._spec.boards[scheduled.board].seats
        return frozenset([seats[entry].label for entry in scheduled.pairing.seats if is_submitted(seats[entry])])

    def _again(self, scheduled: Scheduled) -> Record:
        if self._slot is None:
            self._slot = NodeSlot(self._spec)
        return self._slot.play([scheduled], self._check).records[0]


def _other_key(record: Record, again: Record) -> str | None:
    """The first key by which two records differ; texts for people, which may name files of a machine, are not compared."""
    one, other = record.timeless(), again.timeless()
    keys: list[str] = [key for key in one if key not in ("message", "traceback", "seed") and one[key] != other[key]]
    return keys[0] if keys and again.termination != "void" else None
