"""The messages between a worker process and its parent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.match.record import Record
from arena.plugins.syntax import Parsed, Stamp
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.schedule import Scheduled
from arena.spec import Document

CUT_OFF = 74
"""The exit code of a worker whose pipe is gone."""


class Recipe(NamedTuple):
    """From what a worker makes the spec again; the first thing it is sent."""

    document: Document
    plugins: tuple[str, ...]
    seed: int
    files: Mapping[Path, tuple[Stamp, Parsed]]
    """What the parent has read of the code, so that the worker need not parse it again."""
    core: int | None = None
    """The core on which the worker and its agent processes run; None leaves it to the system."""


class MatchOrder(NamedTuple):
    """Matches to play, in order. Where a match is `alone`, the worker tells every turn before it is taken."""

    matches: Sequence[Scheduled]
    alone: bool


class Ready(NamedTuple):
    """The worker has loaded the spec, with the plugins as they were on the disk by then."""

    code: Mapping[str, Fingerprint]


class WorkerFailed(NamedTuple):
    """The worker cannot go on, through no agent's fault."""

    message: str


class Turn(NamedTuple):
    """A seat is to move."""

    seat: int


class Done(NamedTuple):
    """Records, in the order of the matches. `seconds` ends an order: what it took; matches without a record are handed back."""

    records: list[Record]
    seconds: float | None
