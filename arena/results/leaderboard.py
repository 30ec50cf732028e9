"""Leaderboards: the ranked rows of every board of a tournament, made from its records."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from arena.columns import Column
from arena.format import Kind, Pairing, Placing
from arena.match.record import Record
from arena.results.board_rows import Row, cpu_per_move, level_by_returns, per, puzzle_row, score_row, spent_cells, versus_row
from arena.results.claims import Refutation
from arena.results.rating import SprtState, Strengths, UnknownRatings, sprt_state, strengths, unknown_ratings
from arena.results.stored_tallies import tallies_of
from arena.results.tally import Count, Failure, Tally
from arena.schedule.board_info import BoardInfo, board_info
from arena.spec import Spec
from arena.stats.bracket import Tie
from arena.store import Store
from arena.store.run import mixed


class FallbackShare(NamedTuple):
    """How many decisions of an agent were drawn at random."""

    agent: str
    fallbacks: int
    decisions: int


class UnratedAgents(NamedTuple):
    """The agents whose ratings a board does not show; see `arena.results.rating.UnknownRatings`."""

    agents: frozenset[str]
    swept: tuple[str, ...]
    decisive: int
    needed: int | None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table of one board. Rows are plain values with the keys of the JSON output; None if a value is not known."""

    sheet: BoardInfo
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
    store: str | None
    """The store that holds the matches; None if they are in memory."""
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
    refuted: tuple[Refutation, ...] = ()
    """The claims of optimal solutions that a match refutes."""
    by_rating: bool = False
    """True if a versus board is ranked by ratings, all of which are known well enough to be shown."""
    unrated: UnratedAgents | None = None
    """The agents whose ratings are not shown; None where all are."""
    fallen_back: tuple[FallbackShare, ...] = ()
    """The agents of whom decisions were drawn at random."""
    unclear: tuple[str, ...] = ()
    """Agents among whom fallbacks cannot be shared out."""
    bracket: tuple[tuple[Tie[str], ...], ...] = ()
    """The rounds of a knockout, the first one first."""
    by_returns: bool = False
    """True if it is ranked by mean returns."""
    unmetered: tuple[tuple[str, int], ...] = ()
    """The agents that have generated states past their views, and how many were seen."""

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON; `finished` is there where it is false."""
        more: dict[str, Any] = {}
        if self.cycles:
            more["cycles"] = [list(circle) for circle in self.cycles]
        if self.test is not None:
            more["test"] = asdict(self.test)
        if self.bracket:
            more["bracket"] = [[tie._asdict() for tie in ties] for ties in self.bracket]
        if self.unmetered:
            more["unmetered"] = dict(self.unmetered)
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
    played = [entry for entry, count in enumerate(counts) if count.games]
    unknown = None if rated is None else unknown_ratings(rated, tally.matches, played)
    ranking = tally.ranking()
    placings = None if ranking is None else ranking.placings
    by_rating = tally.ranked_by == "rating" and unknown is not None and not unknown.entries
    order = _order(tally, rated if by_rating else None, placings)
    refuted = tally.claims.refuted()
    by_returns = ranking is None and (sheet.kind == "score" or tally.ranked_by == "returns")
    level = level_by_returns(tally) if versus and by_returns else {} if rated is None else rated.level
    return Leaderboard(
        sheet=sheet,
        title=sheet.title,
        game=sheet.game,
        kind=sheet.kind,
        rows=_rows(tally, rated, level, order, placings, refuted),
        cross=_cross(counts, [entry for _, entry in order]) if versus else None,
        games=tally.games,
        distinct_games=tally.distinct_games,
        folded=tally.matches.folded,
        void=tally.void,
        fallbacks=tally.fallbacks,
        failures=tally.failures(),
        size=sheet.size if sheet.exact else None,
        finished=complete(tally, ended=finished),
        store=store,
        anchor=sheet.anchor if sheet.anchor in sheet.labels else None,
        method=None if rated is None else rated.method,
        cycles=_cycles(rated, sheet.labels),
        test=sprt_state(sheet, tally.matches),
        adjudicated=tally.adjudicated,
        own_columns=() if ranking is None else ranking.columns,
        unranked=sheet.format if ranking is not None and placings is None else None,
        refuted=refuted,
        by_rating=by_rating and ranking is None,
        unrated=_unrated(unknown, sheet.labels),
        fallen_back=_fallen_back(tally),
        unclear=tuple([label for label, count in zip(sheet.labels, counts, strict=True) if count.fallbacks is None]),
        bracket=tally.bracket(),
        by_returns=by_returns,
        unmetered=tuple([(label, count.unmetered) for label, count in zip(sheet.labels, counts, strict=True) if count.unmetered]),
    )


def _cycles(rated: Strengths | None, labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return () if rated is None else tuple([tuple([labels[entry] for entry in circle]) for circle in rated.cycles])


def _order(tally: Tally, rated: Strengths | None, placings: Sequence[Placing] | None) -> list[tuple[int, int]]:
    """The rank and the number of each entry, the first one first: by its format, or by rating or score."""
    if placings is None:
        merits = [_merit(entry, tally, rated) for entry in range(len(tally.counts))]
    else:
        merits = [tuple([-merit for merit in placing.merit]) for placing in placings]
    order = sorted(range(len(merits)), key=lambda entry: (merits[entry], entry))
    return list(zip(_ranks([merits[entry] for entry in order]), order, strict=True))


def _rows(
    tally: Tally,
    rated: Strengths | None,
    level: Mapping[int, Collection[int]],
    order: Sequence[tuple[int, int]],
    placings: Sequence[Placing] | None,
    refuted: Sequence[Refutation],
) -> tuple[Row, ...]:
    """The rows in that order, with what the format shows of each entry, which claims are refuted where any is, and processor time
    where that was measured.
    """
    kind, labels = tally.sheet.kind, tally.sheet.labels
    measured = any(count.cpu is not None for count in tally.counts)
    paid = {name for count in tally.counts for name, amount in count.spent.items() if amount}
    rows = []
    for rank, entry in order:
        if kind == "versus":
            row = versus_row(rank, entry, tally, rated, level.get(entry, ()))
        else:
            row = score_row(rank, entry, tally) if kind == "score" else puzzle_row(rank, labels[entry], tally.counts[entry])
        of_format: Mapping[str, Any] = {} if placings is None else placings[entry].values
        marks: Row = {"refuted": any(labels[entry] == one.agent for one in refuted)} if refuted else {}
        if measured:
            marks["cpu_per_move"] = cpu_per_move(tally.counts[entry])
        if paid:
            marks |= spent_cells(tally.counts[entry], paid)
        rows.append({**row, **marks, **of_format})
    return tuple(rows)


def _unrated(unknown: UnknownRatings | None, labels: Sequence[str]) -> UnratedAgents | None:
    if unknown is None or not unknown.entries:
        return None
    swept = tuple([labels[entry] for entry in unknown.swept])
    return UnratedAgents(frozenset([labels[entry] for entry in unknown.entries]), swept, unknown.decisive, unknown.needed)


def _fallen_back(tally: Tally) -> tuple[FallbackShare, ...]:
    named = zip(tally.sheet.labels, tally.counts, strict=True)
    return tuple([FallbackShare(label, count.fallbacks, count.decisions) for label, count in named if count.fallbacks])


def complete(tally: Tally, *, ended: bool) -> bool:
    """Tell whether all matches of a board are there: by their number, or, if it depends on results, by the end of the run."""
    return tally.games + tally.void == tally.sheet.size if tally.sheet.exact else ended


def _merit(entry: int, tally: Tally, rated: Strengths | None) -> tuple[float, ...]:
    """The usual order of a board, the smallest first: the mean return where that ranks, else the rating if `rated`, else the
    score; of solvers the solved share, then the mean cost (moves without costs), then the nodes of an attempt.
    """
    count = tally.counts[entry]
    if tally.sheet.kind == "score" or tally.ranked_by == "returns":
        mean = tally.returns.of(entry).mean
        return (float("inf") if mean is None else -mean,)
    if tally.sheet.kind == "versus":
        return (-(count.score or 0.0 if rated is None else rated.elo[entry][0]),)
    mean = per(count.cost, count.cost_of) if count.cost_of else per(count.moves, count.moves_of)
    return (
        -(per(count.solved, count.games) or 0.0),
        float("inf") if mean is None else mean,
        per(count.nodes, count.games) or 0.0,
    )


def _ranks(merits: Sequence[tuple[float, ...]]) -> list[int]:
    """Ranks from 1; equals share the best of their ranks."""
    return [merits.index(merit) + 1 for merit in merits]


def _cross(tallies: Sequence[Count], order: Sequence[int]) -> tuple[tuple[float | None, ...], ...]:
    def against(entry: int, other: int) -> float | None:
        return per(tallies[entry].points[other], tallies[entry].met[other])

    return tuple([tuple([against(entry, other) for other in order]) for entry in order])
