"""Leaderboards: the ranked rows of every board of a tournament, made from its records."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from arena.columns import Column, Shown, with_interval, with_own
from arena.format import Kind, Pairing, Placing, Tie
from arena.match.record import Record
from arena.results.board_rows import Row, cpu_per_move, level_by_returns, level_by_solved, per, puzzle_row, score_row, versus_row
from arena.results.rating import Strengths, UnknownRatings, strengths, unknown_ratings
from arena.results.stored_tallies import tallies_of
from arena.results.tally import Failure, Tally
from arena.schedule.board_info import BoardInfo, describe_board
from arena.schedule.plugin_columns import fill_columns
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena.store import Store
from arena.store.run import list_mixed_plugins

REPEATS = "No intervals: no two pairs of games differ. Agents that draw nothing by lot repeat themselves; "
MORE_OPENINGS = "try openings: {plies: 4} in the spec."
OTHER_OPENINGS = "their openings repeat, too: more plies give more of them."
ONE_ROUND = "No intervals: they take a second round, with dice and deals of its own; `rounds` in the spec."


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table of one board. Rows are plain values with the keys of the JSON output; None if a value is not known."""

    sheet: BoardInfo
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]
    """Remarks on how far to trust the board, as sentences. The agents' failures are not included."""
    failures: tuple[Failure, ...]
    cross: tuple[tuple[float | None, ...], ...] | None
    """For a versus board, the score of each agent against each, in rank order."""
    games: int
    distinct_games: int
    """The number of matches that differ in seats, position or actions."""
    void: int
    """The number of matches without a score, because the game or arena itself was at fault."""
    store: str | None
    """The store that holds the matches; None if they are in memory."""
    method: str | None
    """The source of the intervals of ratings, `bootstrap` or `sandwich`; None if there are none."""
    test: Any
    """The state of the board's sequential test, as its format gives it; None without one."""
    unrated: frozenset[str]
    """The agents with hidden ratings."""
    columns: tuple[Column, ...]
    """All columns of boards of this kind and format, with the columns of plugins."""
    bracket: tuple[tuple[Tie[str], ...], ...]
    """The rounds of a knockout, the first one first."""
    facts: dict[str, Any]
    """Keys that only some boards have in JSON: `cycles`, the circles of wins beyond chance; `unmetered`, the states that each
    agent generated past its view; `openings_favour` and `pairing_spread`, standard deviations in Elo; `unrated`,
    the agents with hidden ratings, because their intervals are too wide or open; `test`; `bracket`; `finished`, which is
    false, and `size` if matches of the schedule are missing."""

    @property
    def title(self) -> str:
        """The title of the board."""
        return self.sheet.title

    @property
    def game(self) -> dict[str, Any]:
        """The name and the parameters of the game."""
        return self.sheet.game

    @property
    def kind(self) -> Kind:
        """The kind of the board."""
        return self.sheet.kind

    @property
    def anchor(self) -> str | None:
        """The agent with the rating 0; None if the field's mean is 0."""
        return self.sheet.anchor if self.sheet.anchor in self.sheet.labels else None

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON."""
        return {
            "game": self.game,
            "kind": self.kind,
            "distinct_games": self.distinct_games,
            "cross": None if self.cross is None else [list(row) for row in self.cross],
            "rows": [dict(row) for row in self.rows],
            **self.facts,
        }


class PlayedTournament(Protocol):
    """A tournament with its matches in memory or in a store, such as `arena.Results`."""

    @property
    def spec(self) -> Spec:
        """The spec of the tournament."""

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
    registry, boards = results.spec.registry, results.spec.boards
    sheets = [describe_board(board, registry) for board in boards]
    sheets = fill_columns(registry, sheets, lambda: ((one[3], Scheduled(*one[:3])) for one in results.played))
    tallies = [Tally(sheet, board.format) for sheet, board in zip(sheets, boards, strict=True)]
    for number, board, pairing, record in results.played:
        tallies[board].add(number, pairing, record)
    return of_tallies(tallies, finished=True)


def stored(path: str | PathLike[str]) -> list[Leaderboard]:
    """The leaderboards of a store: of the schedule of its last run, also during that run."""
    with Store.open(Path(path)) as store, store.snapshot():
        run = store.last()
        tallies = tallies_of(store, run.boards)
        return of_tallies(tallies, finished=run.ended is not None, store=str(path), mixed=list_mixed_plugins(store.runs()))


def of_tallies(
    tallies: Sequence[Tally], *, finished: bool, store: str | None = None, mixed: Collection[str] = ()
) -> list[Leaderboard]:
    """Return the leaderboards of all boards of a tournament, from their tallies; see `leaderboard`.

    If there are several games, every row has the means of an agent's ranks and ratings over all boards.
    """
    boards = [leaderboard(tally, finished=finished, store=store, mixed=mixed) for tally in tallies]
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


def leaderboard(tally: Tally, *, finished: bool, store: str | None = None, mixed: Collection[str] = ()) -> Leaderboard:
    """Return the leaderboard of one board. Void matches are counted separately and not scored.

    `tally` holds its counts. `finished` is True if a schedule whose length depends on results has ended. `store` holds the
    matches. Matches with the plugins `mixed` were played with more than one version. PluginError if a plugin's format cannot rank
    the board.
    """
    sheet, counts, games = tally.sheet, tally.counts, tally.matches
    versus = sheet.kind == "versus"
    rated = strengths(sheet, games) if versus else None
    unknown = None if rated is None else unknown_ratings(rated, games, [n for n, count in enumerate(counts) if count.games])
    ranking = tally.ranking()
    placings = None if ranking is None else ranking.placings
    by_rating = tally.ranked_by == "rating" and unknown is not None and not unknown.entries
    by_returns = ranking is None and (sheet.kind == "score" or tally.ranked_by == "returns")
    order = _order(tally, rated if by_rating else None, placings)
    refuted = tally.claims.refuted()
    rows = _rows(tally, rated, _level(tally, rated, by_returns=by_returns), order, placings, {one.agent for one in refuted})
    ended = complete(tally, ended=finished)
    facts: dict[str, Any] = {}
    remarks = list(_describe_matches(tally, ended=ended))
    if ranking is not None and placings is None:
        remarks.append(f"Ranked by score: the format {sheet.format} ranks the board when `arena run` comes to its end.")
    if mixed:
        remarks.append(f"The store has matches of more than one version of {', '.join(mixed)}.")
    if versus and tally.games:
        own = ranking is not None and (ranking.columns or placings is None)  # its columns show how it ranks
        by = "return" if by_returns else "Elo" if by_rating and ranking is None else "score"
        ranked = [] if own else _describe_order(rows, by, folded=games.folded)
        remarks += _describe_scale(sheet, rows, rated, ranked)
        remarks += [] if unknown is None else unknown.describe(sheet.labels)
    if rated is not None:
        found, said = _describe_ratings(sheet, rated, unknown, by_returns=by_returns)
        facts |= found
        remarks += said if tally.games else ()
    if unmetered := {label: count.unmetered for label, count in zip(sheet.labels, counts, strict=True) if count.unmetered}:
        facts["unmetered"] = unmetered
    if tally.games and any(row.get("level_with") for row in rows):
        of = "" if versus else " of the solved share"
        remarks.append(f"~ : the interval{of} overlaps with another's, so the order is not certain.")
    if 0 < len(sheet.apart) < len(sheet.labels):
        remarks.append(f"The time of {', '.join(sheet.apart)} has the way to another process and back in it.")
    remarks += [one.describe() for one in refuted]
    remarks += [f"The column {one.column.key} is left out: {one.fault}." for one in sheet.plugin_columns if one.fault is not None]
    if (test := tally.test_state()) is not None:
        facts["test"] = asdict(test)
        remarks.append(test.describe(finished=ended))
    if bracket := tally.bracket():
        facts["bracket"] = [[tie._asdict() for tie in ties] for ties in bracket]
    if not ended:
        facts |= {"finished": False, "size": sheet.size if sheet.exact else None}
    remarks += tally.describe()
    entries = [entry for _, entry in order]
    cross = tuple([tuple([per(counts[one].points[two], counts[one].met[two]) for two in entries]) for one in entries])
    return Leaderboard(
        sheet=sheet,
        rows=rows,
        remarks=tuple(remarks),
        failures=tally.failures(),
        cross=cross if versus else None,
        games=tally.games,
        distinct_games=tally.distinct_games,
        void=tally.void,
        store=store,
        method=None if rated is None else rated.method,
        test=test,
        unrated=frozenset(facts.get("unrated", ())),
        columns=_list_columns(sheet, () if ranking is None else ranking.columns, by_returns=by_returns),
        bracket=bracket,
        facts=facts,
    )


def _level(tally: Tally, rated: Strengths | None, *, by_returns: bool) -> Mapping[int, Collection[int]]:
    """Return for each entry the others with overlapping intervals, by the values that rank the board."""
    if tally.sheet.kind == "puzzle":
        return level_by_solved(tally)
    if by_returns and tally.sheet.kind == "versus":
        return level_by_returns(tally)
    return {} if rated is None else rated.level


def _describe_ratings(
    sheet: BoardInfo, rated: Strengths, unknown: UnknownRatings | None, *, by_returns: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the facts and the remarks of the ratings of a board. Cycles concern wins, so a board by returns has none."""
    facts: dict[str, Any] = {}
    remarks = []
    if rated.favour:
        facts["openings_favour"] = rated.favour
        remarks.append(f"Openings favour a seat by {rated.favour:.0f} Elo (standard deviation); the ratings allow for it.")
    if rated.pairing_spread:
        facts["pairing_spread"] = rated.pairing_spread
        spread = f"{rated.pairing_spread:.0f} Elo (standard deviation)"
        remarks.append(f"Pairings differ from the ratings by {spread}, beyond chance; the intervals allow for it.")
    if unknown is not None and unknown.entries:
        facts["unrated"] = [sheet.labels[entry] for entry in sorted(unknown.entries)]
    if rated.cycles:
        facts["cycles"] = [[sheet.labels[entry] for entry in circle] for circle in rated.cycles]
        if not by_returns:
            remarks += [f"{' beats '.join([*circle, circle[0]])}: a circle beyond chance." for circle in facts["cycles"]]
    return facts, remarks


def _list_columns(sheet: BoardInfo, own: Iterable[Column], *, by_returns: bool) -> tuple[Column, ...]:
    """All columns of a board with those of its format; mean returns are shown by default if they rank or vary by chance."""
    shown: Shown = "always" if by_returns or sheet.has_chance else "named"
    computed: list[Column] = []
    for one in sheet.plugin_columns:
        computed += [one.column] if one.amount is not None else with_interval(one.column)
    found = with_own(sheet.kind, own, computed)
    return tuple([replace(column, shown=shown) if column.shown == "returns" else column for column in found])


def _describe_matches(tally: Tally, *, ended: bool) -> Iterator[str]:
    sheet = tally.sheet
    what = "games" if sheet.kind == "versus" else "attempts"
    distinct = "" if sheet.has_chance else f", {tally.distinct_games:,} distinct"  # with chance, no match counts as a repeat
    repeats = " Repeated games say nothing new about the agents." if tally.matches.folded else ""
    yield f"{tally.games:,} {what}{distinct}.{repeats}"
    if not ended:
        left = sheet.size - tally.games - tally.void
        missing = f"{left:,} of {sheet.size:,} matches are missing" if sheet.exact else ""
        yield f"The run is not finished{missing and ': '}{missing}."


def _describe_scale(sheet: BoardInfo, rows: Sequence[Row], rated: Strengths | None, ranked: Iterable[str]) -> list[str]:
    """The remarks on the scale of a versus board and its intervals, after the remarks on its order."""
    if rated is None or all(row["rating_low"] is None and row["rating_high"] is None for row in rows):
        return [*ranked, ONE_ROUND if sheet.has_chance else REPEATS + (OTHER_OPENINGS if sheet.has_openings else MORE_OPENINGS)]
    about = sheet.anchor if sheet.anchor in sheet.labels else "the field's mean"
    sample = "rounds" if sheet.has_chance else "pairs of games"
    scale = f"Elo about {about}: 400 are ten wins to one loss, draws apart; 95 % intervals from {sample} ({rated.method})."
    return [" ".join([*ranked, scale])]


def _describe_order(rows: Sequence[Row], by: str, *, folded: bool) -> Iterator[str]:
    if by == "return":
        yield "Ranked by mean return; Elo and score are from wins and draws alone."
        if not folded and all(row["return_low"] is None for row in rows):
            yield "Mean returns have no intervals before there is a second round."
        return
    yield f"Ranked by {by}."
    known = [(row["score"], row["mean_return"]) for row in rows if row["games"]]
    if any(one[0] > two[0] and one[1] < two[1] for one in known for two in known):
        yield "Mean returns order the agents otherwise, since not all wins are alike; rank: returns in the spec goes by them."


def _order(tally: Tally, rated: Strengths | None, placings: Sequence[Placing] | None) -> list[tuple[int, int]]:
    """Return the rank and the number of each entry, best first: by its format, or by rating or score. Equals share a rank."""
    if placings is None:
        merits = [_merit(entry, tally, rated) for entry in range(len(tally.counts))]
    else:
        merits = [tuple([-merit for merit in placing.merit]) for placing in placings]
    sorted_merits = sorted(merits)
    order = sorted(range(len(merits)), key=lambda entry: (merits[entry], entry))
    return [(sorted_merits.index(merits[entry]) + 1, entry) for entry in order]


def _rows(
    tally: Tally,
    rated: Strengths | None,
    level: Mapping[int, Collection[int]],
    order: Sequence[tuple[int, int]],
    placings: Sequence[Placing] | None,
    refuted: Collection[str],
) -> tuple[Row, ...]:
    """Return the rows in that order, with the format's columns, the refuted claims if there are any, and processor time if it was
    measured.
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
        marks: Row = {"refuted": labels[entry] in refuted} if refuted else {}
        if kind == "puzzle" and any(level.values()):
            marks["level_with"] = [labels[other] for other in level.get(entry, ())]
        if measured:
            marks["cpu_per_move"] = cpu_per_move(tally.counts[entry])
        spent = tally.counts[entry].spent
        if paid:
            marks["spent"] = dict(sorted(spent.items()))
        for column in tally.sheet.plugin_columns:
            if column.amount is None or column.amount in paid:
                marks |= column.row_values(entry, spent, repeated=tally.matches.folded)
        rows.append({**row, **marks, **of_format})
    return tuple(rows)


def complete(tally: Tally, *, ended: bool) -> bool:
    """Return whether all matches of a board exist: by their number, or, if it depends on results, by the end of the run."""
    return tally.games + tally.void == tally.sheet.size if tally.sheet.exact else ended


def _merit(entry: int, tally: Tally, rated: Strengths | None) -> tuple[float, ...]:
    """Return the usual sort key of a board, the smallest first: the mean return if it ranks, else the rating if `rated`, else the
    score. For solvers: the solved share, then the mean cost (moves without costs), then the nodes of an attempt.
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
