"""A season: the matches of a ladder between two changes of who is in play.

It is a run of the store, so all that reads a store reads a ladder: its board has those in play first, then all others that have
played, whose matches count in the ratings for ever.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from arena.api.match import Record
from arena.api.results import Tally, tallies_of
from arena.api.run import Pairing, Scheduled
from arena.api.spec import Spec, reload_spec
from arena.api.store import Run, Store, run_of
from arena.tournament.code_check import check_code
from arena_isolation.versions import CODE, Described, shared_code
from arena_ladder.ledger import Plan
from arena_ladder.spec import LadderSpec


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
    before = played_matches(store)
    run = run_of(spec)
    boards = []
    for number, sheet in enumerate(run.boards):
        others = dict.fromkeys(label for one in before if one.board == number for label in one.labels)
        labels = (*sheet.labels, *(label for label in others if label not in sheet.labels))
        boards.append(replace(sheet, labels=labels, format="ladder", ranked_by="rating", exact=False, anchor=ladder.anchor))
    run = check_code(store, spec, replace(run, boards=boards), lambda _: None)
    entries = [{label: entry for entry, label in enumerate(sheet.labels)} for sheet in boards]
    places = []
    for one in before:
        seats = tuple([entries[one.board][label] for label in one.labels])
        places.append((one.record, Scheduled(one.number, one.board, Pairing(one.round, seats))))
    store.begin(run, places)
    return Season(spec, run, tallies_of(store, boards), {one.number for one in before})


def _spec(ladder: LadderSpec, store: Store, agents: Sequence[Mapping[str, Any]], described: Described) -> Spec:
    house = ladder.spec
    document = replace(house.document, values={**house.document.values, "agents": [*house.document.values["agents"], *agents]})
    runs = store.runs()
    seed = house.seed if not runs or runs[-1].secret is None else runs[-1].secret
    code = shared_code(house.shared)
    shared = {**house.shared, CODE: replace(code, described={**code.described, **described})}
    return reload_spec(document, house.plugins, seed, secret=house.secret, shared=shared)


def played_matches(store: Store) -> list[Played]:
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
