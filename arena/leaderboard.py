"""Leaderboards: what the records of a tournament say about each agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from arena.format import Kind
from arena.sheet import sheet_of
from arena.stats import wilson
from arena.store import Store
from arena.tally import Count, Failure, Tally, tallies_of
from arena.tournament import Results

Row = dict[str, Any]


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
    size: int | None
    """How many matches there are to be; None where that depends on the results."""
    finished: bool
    """Whether all of them are there."""
    timed: tuple[str, ...]
    """Entries with a time limit: their matches need not come out the same again."""
    soft: tuple[str, ...]
    """Those of them whose limit nobody enforces."""
    store: str | None
    """Where the matches can be looked up."""

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON; `finished` is there where it is false."""
        unfinished = {} if self.finished else {"finished": False, "size": self.size}
        return {
            "game": self.game,
            "kind": self.kind,
            "distinct_games": self.distinct_games,
            "cross": None if self.cross is None else [list(row) for row in self.cross],
            "rows": [dict(row) for row in self.rows],
            **unfinished,
        }


def leaderboards(results: Results) -> list[Leaderboard]:
    """The leaderboard of every board of a tournament, in the order of the spec."""
    if results.store is not None:
        return stored(results.store)
    tallies = [Tally(sheet_of(board)) for board in results.spec.boards]
    for played in results.played:
        tallies[played.board].add(played.number, played.pairing.seats, played.record)
    return [leaderboard(tally, finished=True) for tally in tallies]


def stored(path: str | PathLike[str]) -> list[Leaderboard]:
    """The leaderboards of a store: of the schedule of its last run, also while that goes on."""
    with Store.open(Path(path)) as store:
        run = store.last()
        tallies = tallies_of(store, run.boards)
        return [leaderboard(tally, finished=run.ended is not None, store=str(path)) for tally in tallies]


def leaderboard(tally: Tally, *, finished: bool, store: str | None = None) -> Leaderboard:
    """The leaderboard of one board. Void matches are counted apart and not scored.

    `finished` tells whether a schedule whose length depends on results has come to its end; `store` is where the matches can
    be looked up.
    """
    sheet, counts = tally.sheet, tally.counts
    versus = sheet.kind == "versus"
    order = sorted(range(len(counts)), key=lambda entry: (_merit(counts[entry], versus), entry))
    ranks = _ranks([_merit(counts[entry], versus) for entry in order])
    row = _versus_row if versus else _puzzle_row
    played = tally.games + tally.void
    missing = sheet.size - played if sheet.exact else None if finished else -1
    return Leaderboard(
        title=sheet.title,
        game=sheet.game,
        kind=sheet.kind,
        rows=tuple([row(rank, sheet.labels[entry], counts[entry]) for rank, entry in zip(ranks, order, strict=True)]),
        cross=_cross(counts, order) if versus else None,
        games=tally.games,
        distinct_games=tally.distinct_games,
        void=tally.void,
        fallbacks=tally.fallbacks,
        failures=tally.failures(),
        size=sheet.size if sheet.exact else None,
        finished=missing == 0 or missing is None,
        timed=sheet.timed,
        soft=sheet.soft,
        store=store,
    )


def _merit(tally: Count, versus: bool) -> tuple[float, ...]:
    """What a board is sorted by, the smallest first: score, or solved share and then mean cost (moves without costs)."""
    if versus:
        return (-(tally.score or 0.0),)
    mean = _per(tally.cost, tally.cost_of) if tally.cost_of else _per(tally.moves, tally.moves_of)
    return (-_share(tally.solved, tally.games), float("inf") if mean is None else mean)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _per(total: float, count: int) -> float | None:
    return total / count if count else None


def _ranks(merits: Sequence[tuple[float, ...]]) -> list[int]:
    """Ranks from 1; equals share the best of theirs."""
    return [merits.index(merit) + 1 for merit in merits]


def _versus_row(rank: int, label: str, tally: Count) -> Row:
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


def _puzzle_row(rank: int, label: str, tally: Count) -> Row:
    low, high = wilson(tally.solved, tally.games)
    return {
        "rank": rank,
        "agent": label,
        "attempts": tally.games,
        "solved": _per(tally.solved, tally.games),
        "solved_low": low if tally.games else None,
        "solved_high": high if tally.games else None,
        "mean_moves": _per(tally.moves, tally.moves_of),
        "mean_moves_failed": _per(tally.moves_failed, tally.moves_failed_of),
        "mean_cost": _per(tally.cost, tally.cost_of),
        "nodes_per_attempt": _per(tally.nodes, tally.games),
        "seconds_per_attempt": _per(tally.seconds, tally.games),
        "failures": tally.faults.total(),
        "failures_by_kind": dict(sorted(tally.faults.items())),
    }


def _cross(tallies: Sequence[Count], order: Sequence[int]) -> tuple[tuple[float | None, ...], ...]:
    def against(entry: int, other: int) -> float | None:
        return _per(tallies[entry].points[other], tallies[entry].met[other])

    return tuple([tuple([against(entry, other) for other in order]) for entry in order])
