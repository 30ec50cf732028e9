"""Leaderboards: the ranked rows of every board of a tournament, made from its records."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from arena.columns import Column
from arena.format import Kind, Pairing
from arena.match.record import Record
from arena.results.rating import SprtState, Strengths, sprt_state, strengths
from arena.results.tally import Count, Failure, Tally, tallies_of
from arena.schedule.board_info import board_info
from arena.spec import Spec
from arena.stats.solved_share import wilson
from arena.store import Store
from arena.store.run import mixed

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table of one board. Rows are plain values with the keys of the JSON output; None if a value is not known."""

    title: str
    game: dict[str, Any]
    kind: Kind
    rows: tuple[Row, ...]
    cross: tuple[tuple[float | None, ...], ...] | None
    """For a versus board, the score of each agent against each, in rank order."""
    games: int
    distinct_games: int
    """The number of matches that differ in seats, position or actions."""
    folded: bool
    """True if pairs of games that only repeat others were counted as one: those in which no seat drew a random number."""
    void: int
    """The number of matches without a score, since the game or arena itself was at fault."""
    fallbacks: int
    """The number of random actions, drawn because a budget ran out before anything was reported."""
    failures: tuple[Failure, ...]
    size: int | None
    """The number of matches of the whole schedule; None if it depends on the results."""
    finished: bool
    """True if all of them are there."""
    timed: tuple[str, ...]
    """Entries with a time limit: their matches need not come out the same again."""
    soft: tuple[str, ...]
    """Those of them whose limit nobody enforces."""
    store: str | None
    """The store that holds the matches; None if they are in memory."""
    columns: tuple[str, ...] | None
    """The columns that the spec wants."""
    sort: str | None
    """The column by which the spec wants rows sorted where they are shown."""
    anchor: str | None
    """The agent whose rating is 0; None where the field's mean is."""
    method: str | None
    """The source of the intervals of ratings, `bootstrap` or `sandwich`; None if there are none."""
    cycles: tuple[tuple[str, ...], ...]
    """Intransitive cycles, each lead of which is significant."""
    test: SprtState | None
    """The state of the test of a head-to-head match."""
    mixed: tuple[str, ...] = ()
    """Plugins of which the matches in the store were played with more than one version."""
    own_columns: tuple[Column, ...] = ()
    """The columns of the board's format."""
    adjudicated: int = 0
    """The number of games that the reported values of the agents ended."""
    unranked: str | None = None
    """The format that has not ranked the board yet, so that it is ranked by its score; None where it has, or never does."""

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON; `finished` is there where it is false."""
        more: dict[str, Any] = {}
        if self.cycles:
            more["cycles"] = [list(circle) for circle in self.cycles]
        if self.test is not None:
            more["test"] = asdict(self.test)
        unfinished = {} if self.finished else {"finished": False, "size": self.size}
        return {
            "game": self.game,
            "kind": self.kind,
            "distinct_games": self.distinct_games,
            "cross": None if self.cross is None else [list(row) for row in self.cross],
            "rows": [dict(row) for row in self.rows],
            **more,
            **unfinished,
        }


class PlayedTournament(Protocol):
    """A tournament whose matches are in memory or in a store, such as `arena.Results`."""

    @property
    def spec(self) -> Spec:
        """What was played."""

    @property
    def store(self) -> Path | None:
        """The file that holds the matches."""

    @property
    def played(self) -> Sequence[tuple[int, int, Pairing, Record]]:
        """The place in the schedule, the board, the pairing and the record of every match."""


def leaderboards(results: PlayedTournament) -> list[Leaderboard]:
    """The leaderboard of every board of a tournament, in the order of the spec."""
    if results.store is not None:
        return stored(results.store)
    tallies = [Tally(board_info(board), board.format) for board in results.spec.boards]
    for number, board, pairing, record in results.played:
        tallies[board].add(number, pairing, record)
    return of_tallies(tallies, finished=True)


def stored(path: str | PathLike[str]) -> list[Leaderboard]:
    """The leaderboards of a store: of the schedule of its last run, also while that goes on."""
    with Store.open(Path(path)) as store, store.snapshot():
        run = store.last()
        tallies = tallies_of(store, run.boards)
        boards = of_tallies(tallies, finished=run.ended is not None, store=str(path))
        several = tuple(mixed(store.runs()))
        return [replace(board, mixed=several) for board in boards] if several else boards


def of_tallies(tallies: Sequence[Tally], *, finished: bool, store: str | None = None) -> list[Leaderboard]:
    """The leaderboards of all boards of a tournament, from what was counted; see `leaderboard`."""
    return _with_means([leaderboard(tally, finished=finished, store=store) for tally in tallies])


def _with_means(boards: list[Leaderboard]) -> list[Leaderboard]:
    """The same boards; of several games, with the means of an agent's ranks and of its ratings over them in every row."""
    if len({board.game["name"] for board in boards}) < 2:
        return boards
    ranks, ratings = defaultdict(list), defaultdict(list)
    for row in [row for board in boards for row in board.rows]:
        if row.get("games", row.get("attempts")):
            ranks[row["agent"]].append(row["rank"])
        if row.get("rating") is not None:
            ratings[row["agent"]].append(row["rating"])

    def means(agent: str) -> Row:
        return {
            "boards": len(ranks[agent]),
            "mean_rank": fmean(ranks[agent]) if ranks[agent] else None,
            "mean_rating": fmean(ratings[agent]) if ratings[agent] else None,
        }

    return [replace(board, rows=tuple([{**row, **means(row["agent"])} for row in board.rows])) for board in boards]


def leaderboard(tally: Tally, *, finished: bool, store: str | None = None) -> Leaderboard:
    """The leaderboard of one board. Void matches are counted apart and not scored.

    `finished` is True if a schedule whose length depends on results has come to its end; `store` holds the matches. PluginError
    if the format of a plugin cannot rank the board.
    """
    sheet, counts = tally.sheet, tally.counts
    versus = sheet.kind == "versus"
    rated = strengths(sheet, tally.matches) if versus else None
    ranking = tally.ranking()
    placings = None if ranking is None else ranking.placings
    merits = [_merit(entry, tally, rated) for entry in range(len(counts))]
    if placings is not None:
        merits = [tuple([-merit for merit in placing.merit]) for placing in placings]
    order = sorted(range(len(counts)), key=lambda entry: (merits[entry], entry))
    rows = [
        _versus_row(rank, entry, tally, rated) if versus else _puzzle_row(rank, sheet.labels[entry], counts[entry])
        for rank, entry in zip(_ranks([merits[entry] for entry in order]), order, strict=True)
    ]
    if placings is not None:
        rows = [{**row, **placings[entry].values} for row, entry in zip(rows, order, strict=True)]
    return Leaderboard(
        title=sheet.title,
        game=sheet.game,
        kind=sheet.kind,
        rows=tuple(rows),
        cross=_cross(counts, order) if versus else None,
        games=tally.games,
        distinct_games=tally.distinct_games,
        folded=tally.matches.folded,
        void=tally.void,
        fallbacks=tally.fallbacks,
        failures=tally.failures(),
        size=sheet.size if sheet.exact else None,
        finished=complete(tally, ended=finished),
        timed=sheet.timed,
        soft=sheet.soft,
        store=store,
        columns=sheet.columns,
        sort=sheet.sort,
        anchor=sheet.anchor if sheet.anchor in sheet.labels else None,
        method=None if rated is None else rated.method,
        cycles=() if rated is None else tuple([tuple([sheet.labels[entry] for entry in circle]) for circle in rated.cycles]),
        test=sprt_state(sheet, tally.matches),
        adjudicated=tally.adjudicated,
        own_columns=() if ranking is None else ranking.columns,
        unranked=sheet.format if ranking is not None and placings is None else None,
    )


def complete(tally: Tally, *, ended: bool) -> bool:
    """Tell whether all matches of a board are there: by their number, or, if it depends on results, by the end of the run."""
    return tally.games + tally.void == tally.sheet.size if tally.sheet.exact else ended


def _merit(entry: int, tally: Tally, rated: Strengths | None) -> tuple[float, ...]:
    """The usual order of a board, the smallest first: score or rating; or solved share, then mean cost (moves without costs)."""
    count = tally.counts[entry]
    if tally.sheet.kind == "versus":
        return (-(rated.elo[entry][0] if rated is not None and tally.ranked_by == "rating" else count.score or 0.0),)
    mean = _per(count.cost, count.cost_of) if count.cost_of else _per(count.moves, count.moves_of)
    return (-_share(count.solved, count.games), float("inf") if mean is None else mean)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _per(total: float, count: int) -> float | None:
    return total / count if count else None


def _ranks(merits: Sequence[tuple[float, ...]]) -> list[int]:
    """Ranks from 1; equals share the best of their ranks."""
    return [merits.index(merit) + 1 for merit in merits]


def _versus_row(rank: int, entry: int, tally: Tally, rated: Strengths | None) -> Row:
    count, labels = tally.counts[entry], tally.sheet.labels
    seconds = _per(count.seconds, count.decisions)
    rating, low, high = (None, None, None) if rated is None or not count.games else rated.elo[entry]
    points, games = tally.matches.in_first_seat(entry)
    row = {
        "rank": rank,
        "agent": labels[entry],
        "rating": rating,
        "rating_low": low,
        "rating_high": high,
        "level_with": [] if rated is None else [labels[other] for other in rated.level[entry] if tally.counts[other].games],
        "games": count.games,
        "wins": count.wins,
        "draws": count.draws,
        "losses": count.losses,
        "score": count.score,
        "score_first": _per(points, int(games)),
        "score_second": _per(count.wins + count.draws / 2 - points, count.games - int(games)) if games else None,
        "failures": count.faults.total(),
        "failures_by_kind": dict(sorted(count.faults.items())),
        "nodes_per_move": _per(count.nodes, count.decisions),
        "ms_per_move": None if seconds is None else seconds * 1000,
    }
    if rated is not None:
        better = zip(labels, rated.superiority[entry], strict=True)
        row["superiority"] = {label: likelihood for label, likelihood in better if likelihood is not None}
    return row


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
