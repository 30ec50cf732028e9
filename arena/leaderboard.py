"""Leaderboards: what the records of a tournament say about each agent."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.format import Kind
from arena.record import FAULTS, Record
from arena.spec import Board
from arena.stats import wilson
from arena.tournament import Played, Results

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """The matches that an agent lost by one kind of fault, with the first of them."""

    agent: str
    kind: str
    count: int
    first: Record


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table of one board. Rows are plain values with the keys of the JSON output; None stands for nothing to say."""

    title: str
    game: dict[str, Any]
    kind: Kind
    rows: tuple[Row, ...]
    cross: tuple[tuple[float | None, ...], ...] | None
    """For a versus board, the score of each agent against each, in rank order."""
    games: int
    distinct_games: int
    """How many matches differ in who sat where, the position or the actions."""
    void: int
    """How many matches could not be scored, since the game or arena itself was at fault."""
    fallbacks: int
    """How many actions were drawn at random because a budget ran out before anything was reported."""
    failures: tuple[Failure, ...]

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON."""
        return {
            "game": self.game,
            "kind": self.kind,
            "distinct_games": self.distinct_games,
            "cross": None if self.cross is None else [list(row) for row in self.cross],
            "rows": [dict(row) for row in self.rows],
        }


@dataclass(slots=True)
class Tally:
    """What one agent has to show on one board."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    solved: int = 0
    nodes: int = 0
    seconds: float = 0.0
    decisions: int = 0
    moves: list[int] = field(default_factory=list)
    moves_failed: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    points: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    met: Counter[int] = field(default_factory=Counter)

    @property
    def score(self) -> float | None:
        """Points over games: a win is 1, a draw a half."""
        return (self.wins + self.draws / 2) / self.games if self.games else None


def leaderboards(results: Results) -> list[Leaderboard]:
    """The leaderboard of every board of a tournament, in the order of the spec."""
    shared: list[list[Played]] = [[] for _ in results.spec.boards]
    for played in results.played:
        shared[played.board].append(played)
    return [leaderboard(board, played) for board, played in zip(results.spec.boards, shared, strict=True)]


def leaderboard(board: Board, played: Iterable[Played]) -> Leaderboard:
    """The leaderboard of one board. Void matches are counted apart and not scored."""
    everything = list(played)
    scored = [one for one in everything if one.record.termination != "void"]
    tallies = [Tally() for _ in board.seats]
    for one in scored:
        _count(one, tallies)
    versus = board.format.kind == "versus"
    order = sorted(range(len(tallies)), key=lambda entry: (_merit(tallies[entry], versus), entry))
    ranks = _ranks([_merit(tallies[entry], versus) for entry in order])
    labels = [seat.label for seat in board.seats]
    row = _versus_row if versus else _puzzle_row
    return Leaderboard(
        title=board.title,
        game={"name": board.name, **board.parameters},
        kind=board.format.kind,
        rows=tuple([row(rank, labels[entry], tallies[entry]) for rank, entry in zip(ranks, order, strict=True)]),
        cross=_cross(tallies, order) if versus else None,
        games=len(scored),
        distinct_games=len({(one.pairing.seats, one.record.position, one.record.actions, one.record.answer) for one in scored}),
        void=len(everything) - len(scored),
        fallbacks=sum(one.record.fallbacks for one in scored),
        failures=_failures(labels, scored),
    )


def _count(one: Played, tallies: Sequence[Tally]) -> None:
    record, seats = one.record, one.pairing.seats
    for seat, entry in enumerate(seats):
        tally = tallies[entry]
        tally.games += 1
        got = record.returns[seat]
        rivals = record.returns[:seat] + record.returns[seat + 1 :]
        best = max(rivals, default=0.0)
        tally.wins += got > best
        tally.draws += got == best
        tally.losses += got < best
        for other, theirs in zip(seats[:seat] + seats[seat + 1 :], rivals, strict=True):
            tally.points[other] += 1.0 if got > theirs else 0.5 if got == theirs else 0.0
            tally.met[other] += 1
        if record.seat == seat and record.termination in FAULTS:
            tally.faults[record.termination] += 1
    for decision in record.decisions:
        tally = tallies[seats[decision.seat]]
        tally.decisions += 1
        tally.nodes += decision.nodes
        tally.seconds += decision.seconds
    if record.solved is not None:
        _count_solution(record, tallies[seats[0]])


def _count_solution(record: Record, tally: Tally) -> None:
    tally.solved += record.solved is True
    if record.moves is not None:
        (tally.moves if record.solved else tally.moves_failed).append(record.moves)
    if record.solved and record.cost is not None:
        tally.costs.append(record.cost)


def _merit(tally: Tally, versus: bool) -> tuple[float, ...]:
    """What a board is sorted by, the smallest first: score, or solved share and then mean cost (moves without costs)."""
    if versus:
        return (-(tally.score or 0.0),)
    mean = _mean(tally.costs or tally.moves)
    return (-_share(tally.solved, tally.games), float("inf") if mean is None else mean)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _per(total: float, count: int) -> float | None:
    return total / count if count else None


def _ranks(merits: Sequence[tuple[float, ...]]) -> list[int]:
    """Ranks from 1; equals share the best of theirs."""
    return [merits.index(merit) + 1 for merit in merits]


def _versus_row(rank: int, label: str, tally: Tally) -> Row:
    seconds = _per(tally.seconds, tally.decisions)
    return {
        "rank": rank,
        "agent": label,
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "score": tally.score,
        "failures": tally.faults.total(),
        "failures_by_kind": dict(sorted(tally.faults.items())),
        "nodes_per_move": _per(tally.nodes, tally.decisions),
        "ms_per_move": None if seconds is None else seconds * 1000,
    }


def _puzzle_row(rank: int, label: str, tally: Tally) -> Row:
    low, high = wilson(tally.solved, tally.games)
    return {
        "rank": rank,
        "agent": label,
        "attempts": tally.games,
        "solved": _per(tally.solved, tally.games),
        "solved_low": low if tally.games else None,
        "solved_high": high if tally.games else None,
        "mean_moves": _mean(tally.moves),
        "mean_moves_failed": _mean(tally.moves_failed),
        "mean_cost": _mean(tally.costs),
        "nodes_per_attempt": _per(tally.nodes, tally.games),
        "seconds_per_attempt": _per(tally.seconds, tally.games),
        "failures": tally.faults.total(),
        "failures_by_kind": dict(sorted(tally.faults.items())),
    }


def _cross(tallies: Sequence[Tally], order: Sequence[int]) -> tuple[tuple[float | None, ...], ...]:
    def against(entry: int, other: int) -> float | None:
        return _per(tallies[entry].points[other], tallies[entry].met[other])

    return tuple([tuple([against(entry, other) for other in order]) for entry in order])


def _failures(labels: Sequence[str], scored: Iterable[Played]) -> tuple[Failure, ...]:
    first: dict[tuple[str, str], Record] = {}
    count: Counter[tuple[str, str]] = Counter()
    for one in scored:
        record = one.record
        if record.termination in FAULTS and record.seat is not None:
            key = (labels[one.pairing.seats[record.seat]], record.termination)
            first.setdefault(key, record)
            count[key] += 1
    return tuple([Failure(*key, count[key], first[key]) for key in first])
