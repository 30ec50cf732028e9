"""A season: the matches of a ladder between two changes of the agents in play.

A season is a run in the store, so every tool that reads a store can read a ladder. A board lists the agents in play first, then
all other agents that have played, the ones that have played most recently first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from arena import Pairing, Record, Spec, SpecError, Unavailable
from arena.api.games import gives
from arena.api.match import find_loser
from arena.api.results import Facts, Tally, tallies_of
from arena.api.run import Scheduled, check_code
from arena.api.spec import reload_spec
from arena.api.store import Run, Store, play_hash_of
from arena_isolation.describe import DESCRIBE
from arena_isolation.helper_process import pack
from arena_isolation.versions import CODE, PluginVersion, Told, shared_code
from arena_ladder.ledger import Plan, find_last_run
from arena_ladder.spec import LadderSpec


class Played(NamedTuple):
    """The place of a record on the boards of a season, with the label of the agent in each seat."""

    number: int
    record: int
    board: int
    round: int
    labels: tuple[str, ...]


@dataclass(slots=True)
class Season:
    """The agents of one season and all results so far, including the results of earlier seasons."""

    spec: Spec
    run: Run
    tallies: list[Tally]
    """The counts for each board, in the order of `run.boards`."""
    known: set[int]
    """The numbers of the matches that have a record."""
    _numbers: list[dict[str, int]] = field(init=False)
    """For each board, the number of each agent in play; the keys are the labels of the agents."""

    def __post_init__(self) -> None:
        self._numbers = [{seat.label: number for number, seat in enumerate(board.seats)} for board in self.spec.boards]

    def labels(self, board: int) -> tuple[str, ...]:
        """Return the labels of all agents that are in play on a board or have played there. The agents in play come first,
        and of the others those that have played most recently.
        """
        return self.run.boards[board].labels

    def playing(self, board: int) -> range:
        """Return the numbers of the agents in play on a board."""
        return range(len(self.spec.boards[board].seats))

    @property
    def dealt(self) -> frozenset[int]:
        """The boards on which an agent that knows a round has an advantage: those with dice, deals or hidden information.

        Rounds with given positions are few, so pairs share them. Everybody attempts the same positions of a puzzle.
        """
        return frozenset(
            [
                number
                for number, board in enumerate(self.spec.boards)
                if board.game.players > 1
                and board.positions.texts is None
                and (board.has_chance or gives(board.game, "observation"))
            ]
        )

    def matches(self, plan: Plan) -> list[Scheduled]:
        """Return the matches of a plan; empty if one of its agents has left play, or if both belong to one author. Agents are
        given by their numbers on the board.

        The matches are two games or, if an agent is paired with itself, an attempt to solve a position.
        """
        known = self._numbers[plan.board]
        if plan.one not in known or plan.other not in known or have_one_author(plan.one, plan.other):
            return []
        if plan.one == plan.other:
            return [Scheduled(2 * plan.number, plan.board, Pairing(plan.round, (known[plan.one],)))]
        pair = known[plan.one], known[plan.other]
        orders = enumerate([pair, pair[::-1]])
        return [Scheduled(2 * plan.number + order, plan.board, Pairing(plan.round, seats)) for order, seats in orders]

    def add(self, scheduled: Scheduled, record: Record) -> None:
        """Count one match."""
        self.known.add(scheduled.number)
        count_match(self.tallies[scheduled.board], scheduled, record)


def have_one_author(one: str, other: str) -> bool:
    """Return True if the two labels are of different agents of one author, who may lose to each other on purpose."""
    return one != other and "/" in one and one.partition("/")[0] == other.partition("/")[0]


def count_match(tally: Tally, scheduled: Scheduled, record: Record) -> None:
    """Add one match to a tally that was read from a store, because a ladder needs its ratings after every contest.

    The number of distinct games remains that of the store.
    """
    seats, loser = scheduled.pairing.seats, find_loser(record.termination, record.seat)
    tally.count(Facts.of(seats, record))
    if record.termination == "void":
        tally.unavailable += (record.message or "").startswith(Unavailable.MARK)
        return
    used = record.decisions
    if len(seats) == 1:
        tally.lone.add_position(scheduled.pairing.round, hash(record.position))
    if record.solved is not None:
        nodes, seconds = sum([one.nodes for one in used]), sum([one.seconds for one in used])
        tally.claims.add(
            scheduled.pairing.round,
            seats[0],
            solved=record.solved,
            cost=record.cost,
            termination=record.termination,
            decisions=len(used),
            nodes=nodes,
            seconds=seconds,
        )
        tally.attempts[seats[0]].add(
            scheduled.pairing.round, solved=record.solved, moves=record.moves, cost=record.cost, nodes=nodes, seconds=seconds
        )
    played = play_hash_of(record)
    tally.add_game(scheduled.pairing.round, seats, record.returns, played, any(record.drew), record.adjusted, loser)
    if record.fallbacks:
        tally.add_fallbacks(seats, record.fallbacks, [one.seat for one in used if one.fallback], record.drew)
    for one in used:
        tally.add_effort(seats[one.seat], 1, one.nodes, one.seconds)
        for name, amount in (one.spent or {}).items():
            tally.counts[seats[one.seat]].spent[name] += amount
    tally.add_timing(seats, record.timing)
    if loser is not None:
        tally.add_failure(seats[loser], record.termination, scheduled.number, record.id, record.message)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A submission as an entry of a season, with all known facts about it, so that its processes need not be asked."""

    values: Mapping[str, Any]
    """The entry in the spec, with a label."""
    version: PluginVersion | None = None
    """The code; None if it is a program."""
    told: Told = field(default_factory=dict)
    """Stored answers, so that no process is needed to describe the code."""

    @classmethod
    def of_plugin(cls, version: PluginVersion, agent: str, label: str, claims: Mapping[str, Any], house: Spec) -> "Entrant":
        """Return the entry for a plugin with the description `claims`. All options of its agent have their defaults."""
        told: dict[bytes, Mapping[str, Any]] = {DESCRIBE: claims}
        checked = {"type": "checked", "values": {}, "faults": []}
        told[pack({"type": "options", "agent": agent, "given": {}})] = checked
        defaults = {board.name: board.game.default_heuristic for board in house.boards}
        for game, heuristic in defaults.items():
            if heuristic is not None:
                told[pack({"type": "parameters", "game": game, "heuristic": heuristic, "given": {}})] = checked
        return cls({"agent": agent, "plugin": version.file, "label": label}, version, told)


def season_spec(house: Spec, entrants: Sequence[Entrant], seed: int | str) -> Spec:
    """Return the spec for a season with the house agents and `entrants`. Raises SpecError if one of them cannot be set up."""
    agents = [*house.document.values["agents"], *(one.values for one in entrants)]
    document = replace(house.document, values={**house.document.values, "agents": agents})
    plugins = [(one.values["agent"], one.version, one.told) for one in entrants if one.version is not None]
    code = replace(
        shared_code(house.shared),
        versions={(agent, True, version.text): version for agent, version, _ in plugins},
        claims={version.plugin: told for _, version, told in plugins},
    )
    return reload_spec(document, house.plugins, seed, secret=house.secret, shared={**house.shared, CODE: code})


def entry_faults(error: SpecError, house: Spec) -> dict[int, str]:
    """Return the faults in a spec that concern entrants; the keys are the numbers of the entrants."""
    first = len(house.document.values["agents"])
    found: dict[int, str] = {}
    for fault in error.faults:
        number = fault.where.removeprefix("agents[").partition("]")[0]
        if fault.where.startswith("agents[") and number.isdecimal() and int(number) >= first:
            found.setdefault(int(number) - first, fault.message)
    return found


def begin_season(ladder: LadderSpec, store: Store, entrants: Sequence[Entrant], banned: frozenset[str] = frozenset()) -> Season:
    """Begin a season with the house agents and `entrants`. All earlier matches stay on the boards, except for matches of `banned`
    authors and those between agents of one author, whose records are kept only in the store.

    Raises SpecError if one of the entrants cannot be set up.
    """
    last = find_last_run(store)
    seed = ladder.spec.seed if last is None or last.secret is None else last.secret
    spec = season_spec(ladder.spec, entrants, seed)
    before = [
        one
        for one in played_matches(store)
        if not have_one_author(one.labels[0], one.labels[-1])
        and banned.isdisjoint([label.partition("/")[0] for label in one.labels])
    ]
    run = Run.of(spec)
    boards = []
    order: Literal["rating", "seconds", "score"] = "rating"
    if ladder.solvers is not None:  # "score": by solved share, then cost, then nodes
        order = "seconds" if ladder.solvers.effort == "seconds" else "score"
    for number, sheet in enumerate(run.boards):
        others = dict.fromkeys(label for one in reversed(before) if one.board == number for label in one.labels)
        labels = (*sheet.labels, *(label for label in others if label not in sheet.labels))
        ladder_board = replace(sheet, labels=labels, format="ladder", ranked_by=order, exact=False, anchor=ladder.anchor)
        boards.append(replace(ladder_board, left=labels[len(sheet.labels) :]))
    run = check_code(store, spec, replace(run, boards=boards), lambda _: None)
    entries = [{label: entry for entry, label in enumerate(sheet.labels)} for sheet in boards]
    places = []
    for one in before:
        seats = tuple([entries[one.board][label] for label in one.labels])
        places.append((one.record, Scheduled(one.number, one.board, Pairing(one.round, seats))))
    store.begin(run, places)
    return Season(spec, run, tallies_of(store, boards), {one.number for one in before})


def played_matches(store: Store) -> list[Played]:
    """Return the places of all records on the boards of the last run, in the order of their plans."""
    last = find_last_run(store)
    if last is None:
        return []
    labels = [sheet.labels for sheet in last.boards]
    rows = store.query("SELECT number, record, board, round, seats FROM place ORDER BY number")
    return [
        Played(number, record, board, round_, tuple([labels[board][int(seat)] for seat in seats.split(",")]))
        for number, record, board, round_, seats in rows
    ]
