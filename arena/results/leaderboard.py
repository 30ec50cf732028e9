"""Leaderboards: what the records of a tournament say about each agent."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any

from arena.format import Kind
from arena.results.rating import Decision, Strengths, decision, strengths
from arena.results.tally import Count, Failure, Tally, tallies_of
from arena.schedule.board_info import BoardInfo, board_info
from arena.stats import wilson
from arena.stats.bracket import Slot, advances, first_round, next_round
from arena.stats.tiebreaks import Encounter, standings
from arena.store import Store
from arena.store.run import mixed
from arena.tournament.results import Results

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
    folded: bool
    """Whether pairs of games that only repeat others count as one: those in which no seat drew a random number."""
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
    columns: tuple[str, ...] | None
    """The columns that the spec wants."""
    sort: str | None
    """The column by which the spec wants rows sorted where they are shown."""
    anchor: str | None
    """The agent whose rating is 0; None where the field's mean is."""
    method: str | None
    """Where the intervals of ratings come from; None where there are none."""
    cycles: tuple[tuple[str, ...], ...]
    """Who beats whom in a circle, each by more than chance."""
    decision: Decision | None
    """How the test of a head-to-head match stands."""
    mixed: tuple[str, ...] = ()
    """Plugins of which the matches in the store were played with more than one version."""

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON; `finished` is there where it is false."""
        more: dict[str, Any] = {}
        if self.cycles:
            more["cycles"] = [list(circle) for circle in self.cycles]
        if self.decision is not None:
            more["test"] = asdict(self.decision)
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


def leaderboards(results: Results) -> list[Leaderboard]:
    """The leaderboard of every board of a tournament, in the order of the spec."""
    if results.store is not None:
        return stored(results.store)
    tallies = [Tally(board_info(board)) for board in results.spec.boards]
    for played in results.played:
        tallies[played.board].add(played.number, played.pairing, played.record)
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
    """The same boards; where there are several games, rows tell the means of an agent's ranks and of its ratings over them."""
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

    `finished` tells whether a schedule whose length depends on results has come to its end; `store` is where the matches can
    be looked up.
    """
    sheet, counts = tally.sheet, tally.counts
    versus = sheet.kind == "versus"
    rated = strengths(sheet, tally.matches) if versus else None
    swiss = _tie_breaks(sheet, tally) if sheet.format == "swiss" else {}
    won = _rounds_won(sheet, counts) if sheet.format == "knockout" else {}
    merits = [_merits(entry, tally, rated, swiss, won) for entry in range(len(counts))]
    order = sorted(range(len(counts)), key=lambda entry: (merits[entry], entry))
    ranks = _ranks([merits[entry] for entry in order])
    rows = [
        {**_versus_row(rank, entry, tally, rated, swiss), **({"rounds_won": won[entry]} if won else {})}
        if versus
        else _puzzle_row(rank, sheet.labels[entry], counts[entry])
        for rank, entry in zip(ranks, order, strict=True)
    ]
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
        decision=decision(sheet, tally.matches),
    )


def complete(tally: Tally, *, ended: bool) -> bool:
    """Whether all matches of a board are there: by their number, or, where that depends on results, by the run's having ended."""
    return tally.games + tally.void == tally.sheet.size if tally.sheet.exact else ended


def _merits(
    entry: int,
    tally: Tally,
    rated: Strengths | None,
    swiss: Mapping[int, tuple[float, float, float]],
    won: Mapping[int, int],
) -> tuple[float, ...]:
    """What an entry is ranked by, the smallest first."""
    if entry in won:
        return (-won[entry],)
    if entry in swiss:
        return tuple([-value for value in swiss[entry]])
    if tally.sheet.format == "gauntlet" and rated is not None:
        return (-rated.elo[entry][0],)  # scores against different opponents do not compare
    return _merit(tally.counts[entry], tally.sheet.kind == "versus")


def _tie_breaks(sheet: BoardInfo, tally: Tally) -> dict[int, tuple[float, float, float]]:
    """Score, Buchholz and Sonneborn-Berger of every entry of a Swiss board, byes included."""
    agents = [str(entry) for entry in range(len(sheet.labels))]
    history = []
    for number, met in sorted(tally.matches.rounds().items()):
        history += [Encounter(str(one), str(two), share) for (one, two), share in met.items()]
        seen = {entry for pair in met for entry in pair}
        if number >= 0 and len(agents) % 2 and len(seen) == len(agents) - 1:
            history += [Encounter(agent, None) for agent in agents if int(agent) not in seen]
    return {int(row.agent): (row.score, row.buchholz, row.sonneborn_berger) for row in standings(agents, history)}


def _rounds_won(sheet: BoardInfo, counts: Sequence[Count]) -> dict[int, int]:
    """How many rounds of a bracket every entry has won so far, byes included."""
    seeds = [str(entry) for entry in range(len(sheet.labels))]
    won = dict.fromkeys(range(len(seeds)), 0)
    slots: tuple[Slot, ...] = first_round(seeds)
    while slots:
        met = [two is None or counts[int(one)].met[int(two)] for one, two in slots]
        if not all(met):
            break
        shares = [
            1.0 if two is None else counts[int(one)].points[int(two)] / counts[int(one)].met[int(two)] for one, two in slots
        ]
        winners = [advances(slot, share, seeds) for slot, share in zip(slots, shares, strict=True)]
        for winner in winners:
            won[int(winner)] += 1
        slots = next_round(winners)
    return won


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


def _versus_row(
    rank: int, entry: int, tally: Tally, rated: Strengths | None, swiss: Mapping[int, tuple[float, float, float]]
) -> Row:
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
    if entry in swiss:
        row["swiss_score"], row["buchholz"], row["sonneborn_berger"] = swiss[entry]
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
