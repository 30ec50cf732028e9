"""A season: the matches of a ladder between two changes of who is in play.

It is a run of the store, so all that reads a store reads a ladder: its board has those in play first, then all others that have
played, whose matches count in the ratings for ever.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from arena.format import Pairing
from arena.isolation.describe import Described
from arena.ladder.ladder_spec import LadderSpec
from arena.ladder.ledger import Plan
from arena.match.record import Record
from arena.results.stored_tallies import tallies_of
from arena.results.tally import Tally
from arena.schedule.schedule import Scheduled
from arena.spec import Spec, reload_spec
from arena.store import Run, Store
from arena.store.run import run_of
from arena.tournament.code_check import checked


class Played(NamedTuple):
    """The place of a record on the boards of a season, with the labels of who sat there."""

    number: int
    record: int
    board: int
    round: int
    labels: tuple[str, ...]


@dataclass(slots=True)
class Season:
    """The field of one season and all results so far, those of earlier seasons too."""

    spec: Spec
    run: Run
    tallies: list[Tally]
    """The counts of each board, by the numbers of `run.boards`."""
    known: set[int]
    """The numbers of the matches that have a record."""

    def labels(self, board: int) -> tuple[str, ...]:
        """Everyone who is in play on a board or has played there, those in play first."""
        return self.run.boards[board].labels

    def playing(self, board: int) -> range:
        """The numbers of those in play on a board."""
        return range(len(self.spec.boards[board].seats))

    def matches(self, plan: Plan) -> list[Scheduled]:
        """Both matches of a plan, by the numbers of those in play; none where one of the two is not in play any more."""
        known = {seat.label: number for number, seat in enumerate(self.spec.boards[plan.board].seats)}
        if plan.one not in known or plan.other not in known:
            return []
        pair = known[plan.one], known[plan.other]
        orders = enumerate([pair, pair[::-1]])
        return [Scheduled(2 * plan.number + order, plan.board, Pairing(plan.round, seats)) for order, seats in orders]

    def add(self, scheduled: Scheduled, record: Record) -> None:
        """Count one match."""
        self.known.add(scheduled.number)
        self.tallies[scheduled.board].add(scheduled.number, scheduled.pairing, record)


def begin_season(ladder: LadderSpec, store: Store, agents: Sequence[Mapping[str, Any]], described: Described) -> Season:
    """Begin a season with the house agents and `agents`, entries of a spec with labels; all earlier matches stay on the boards.

    `described` is what was told of their plugins before. SpecError where one of them cannot be loaded any more.
    """
    spec = _spec(ladder, store, agents, described)
    before = played(store)
    run = run_of(spec)
    boards = []
    for number, sheet in enumerate(run.boards):
        others = dict.fromkeys(label for one in before if one.board == number for label in one.labels)
        labels = (*sheet.labels, *(label for label in others if label not in sheet.labels))
        boards.append(replace(sheet, labels=labels, format="ladder", ranked_by="rating", exact=False, anchor=ladder.anchor))
    run = checked(store, spec, replace(run, boards=boards), _nobody)
    entries = [{label: entry for entry, label in enumerate(sheet.labels)} for sheet in boards]
    store.begin(run, [(one.record, _scheduled(one, entries[one.board])) for one in before])
    return Season(spec, run, tallies_of(store, boards), {one.number for one in before})


def _spec(ladder: LadderSpec, store: Store, agents: Sequence[Mapping[str, Any]], described: Described) -> Spec:
    house = ladder.spec
    document = replace(house.document, values={**house.document.values, "agents": [*house.document.values["agents"], *agents]})
    runs = store.runs()
    seed = house.seed if not runs or runs[-1].secret is None else runs[-1].secret
    return reload_spec(document, house.plugins, seed, secret=house.secret, described={**house.described, **described})


def played(store: Store) -> list[Played]:
    """Return the places of all records on the boards of the last run, in the order in which they were planned."""
    runs = store.runs()
    if not runs:
        return []
    labels = [sheet.labels for sheet in runs[-1].boards]
    rows = store.query("SELECT number, record, board, round, seats FROM place ORDER BY number")
    return [
        Played(number, record, board, round_, tuple([labels[board][int(seat)] for seat in seats.split(",")]))
        for number, record, board, round_, seats in rows
    ]


def _scheduled(one: Played, entries: Mapping[str, int]) -> Scheduled:
    return Scheduled(one.number, one.board, Pairing(one.round, tuple([entries[label] for label in one.labels])))


def _nobody(_: object) -> None:
    pass
