"""Leaderboards: the ranked rows of each board of a tournament, computed from its records."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from arena.columns import Column, Shown, with_interval, with_own
from arena.errors import escape_line
from arena.format import Kind, Placing, Tie
from arena.match.record import EXPANDED
from arena.results import figures
from arena.results.board import ShownBoard, describe_zero
from arena.results.board_rows import Row, cpu_per_move, per, puzzle_row, score_row, versus_row
from arena.results.cells import TIMES, board_table, bracket_table
from arena.results.contrasts import Contrasts, contrast, effort_of_ranking, merit, placing_merits
from arena.results.pairs import PairedGames
from arena.results.rating import Strengths, UnknownRatings, find_obstacle, is_ranked_by_rating, strengths, unknown_ratings
from arena.results.stored_tallies import MixedPlugins, find_mixed_plugins, tallies_of
from arena.results.tables import cross_cells, document, failure_lines, overall, render, replay_command
from arena.results.tally import Tally
from arena.schedule.board_info import BoardInfo
from arena.schedule.ranking import Ranking
from arena.store import Store
from arena.store.run import Run

MIN_ROUNDS_OF_INTERVAL = 3
BY_POINTS = "Score of each row against each column"
BY_PLACES = "How often each row finishes ahead of each column (ties count half)"
REPEATS = "No intervals: fewer than three rounds differ. Agents without randomness repeat their games; "
MORE_OPENINGS = "try openings: {plies: 4} in the spec."
OTHER_OPENINGS = "their openings repeat as well; use more plies or positions."
FEW_ROUNDS = "No intervals: they need three rounds; set `rounds` or list more `positions` in the spec."
FEW_ROUNDS_YET = "No intervals yet: they need three rounds."
NO_PARTNERS = "No intervals: games of some pairs are missing, because they are void or in another shard."
NO_PARTNERS_YET = "No intervals yet: games of some pairs are missing."
FEW_OF_EACH = "No intervals: each agent has played too few rounds; set more `rounds` in the spec."
FEW_OF_EACH_YET = "No intervals yet: each agent has played too few rounds."
UNCONNECTED = "No intervals: too few agents are connected by games."
MIN_PAIRS_OF_SEATS = 10
MIN_SHARE_OF_SEATS = 0.8
"""Positions all but decide the games if there are this many pairs of games, and the same seat won both games in this share."""


class PlayedTournament(Protocol):
    """A tournament that has been played, such as `arena.Results`."""

    @property
    def store(self) -> Path | None:
        """The file that holds the matches, if there is one."""

    def open_store(self) -> AbstractContextManager[Store]:
        """Open the store with the matches for reading."""


@dataclass(frozen=True, slots=True)
class Leaderboard(ShownBoard):
    """The table of one board. Rows hold plain values with the keys of the JSON output; an unknown value is None.

    >>> played = arena.run({"game": "tic-tac-toe", "agents": ["minimax", "alpha-beta"], "rounds": 1})
    >>> [board] = Leaderboard.of_results(played)
    >>> board.title, board.games, board.table().headings[:3]
    ('tic-tac-toe', 2, ['Rank', 'Agent', 'Elo'])
    """

    table = board_table
    bracket_table = bracket_table
    cross_cells = cross_cells
    failure_lines = failure_lines
    document, overall = staticmethod(document), staticmethod(overall)
    render, replay_command = staticmethod(render), staticmethod(replay_command)

    @classmethod
    def of_results(cls, results: PlayedTournament) -> list[Self]:
        """Return the leaderboard of every board of a tournament, in the order of the spec."""
        with results.open_store() as store:
            return cls.read(store, None if results.store is None else str(results.store))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> list[Self]:
        """Load the leaderboards for the last run in a store. The run may still be in progress."""
        with Store.open(Path(path)) as store:
            return cls.read(store, str(path))

    @classmethod
    def read(cls, store: Store, path: str | None) -> list[Self]:
        """Return the leaderboards for the last run in an open store. `path` is None if the store is temporary."""
        with store.snapshot():
            run = cls.last_run(store)
            return cls.of_run(store, run, tallies_of(store, run.boards), path)

    @classmethod
    def of_run(cls, store: Store, run: Run, tallies: Sequence[Tally], path: str | None = None) -> list[Self]:
        """Return the leaderboards of a run in an open store, from the tallies of its boards. `path` is the path of the store, if
        it has one.
        """
        mixed = find_mixed_plugins(store, run.boards)
        return cls.of_tallies(tallies, finished=run.ended is not None, store=path, mixed=mixed, shard=run.shard)

    @staticmethod
    def last_run(store: Store) -> Run:
        """Return the last run of `store`, which must be open for reading, with the columns that the `report` key of its
        spec requests.

        If this key leaves out matches, `store` does not show them from then on.
        """
        store.fill_columns()
        run = store.last()
        if not run.spec["values"].get("report"):
            return run
        return import_module("arena_records.report_key").apply_to_store(store, run)  # type: ignore[no-any-return]

    @classmethod
    def of_tallies(
        cls,
        tallies: Sequence[Tally],
        *,
        finished: bool,
        store: str | None = None,
        mixed: Sequence[MixedPlugins] | None = None,
        shard: str | None = None,
    ) -> list[Self]:
        """Return the leaderboards of all boards of a tournament, from their tallies. For the arguments, see `of`."""
        plugins = [None] * len(tallies) if mixed is None else mixed
        return [
            cls.of(tally, finished=finished, store=store, mixed=one, shard=shard)
            for tally, one in zip(tallies, plugins, strict=True)
        ]

    @classmethod
    def of(
        cls,
        tally: Tally,
        *,
        finished: bool,
        store: str | None = None,
        mixed: MixedPlugins | None = None,
        shard: str | None = None,
    ) -> Self:
        """Return the leaderboard of one board. Void matches are counted separately and not scored.

        `tally` holds the counts of the board. If the length of the schedule depends on results, `finished` says whether it has
        ended. `store` is the file with the matches. `mixed` contains the plugins that changed between its matches. `shard` is the
        shard that these matches complete, if they are one. Raises PluginError if the format of the board comes from a plugin and
        fails to rank it.
        """
        ranked = _rank_entries(tally)
        described = _describe_board(tally, ranked, ended=tally.is_complete(ended=finished), mixed=mixed, shard=shard)
        sheet, counts, ranking = tally.sheet, tally.counts, ranked.ranking
        entries = [entry for _, entry in ranked.order]
        cross = None
        if sheet.kind == "versus" and len(entries) <= Strengths.MAX_ENTRIES:
            cross = tuple([tuple([per(counts[one].points[two], counts[one].met[two]) for two in entries]) for one in entries])
        return cls(
            sheet=sheet,
            rows=ranked.rows,
            remarks=tuple(described.remarks),
            explanations=tuple(described.explained) if tally.games else (),
            failures=tally.failures(),
            cross=cross,
            cross_title=BY_PLACES if tally.matches.has_many_seats else BY_POINTS,
            games=tally.games,
            distinct_games=tally.distinct_games,
            void=tally.void,
            store=store,
            test=described.test,
            unrated=frozenset(described.facts.get("unrated", ())),
            ranked_by=_find_merit(sheet.kind, ranking, by_rating=ranked.by_rating, by_returns=ranked.by_returns),
            columns=_list_columns(sheet, () if ranking is None else ranking.columns, by_returns=ranked.by_returns),
            bracket=described.bracket,
            facts=described.facts,
        )


class _RankedEntries(NamedTuple):
    """The order of the entries of a board, and the values that decide it."""

    rated: Strengths | None
    unknown: UnknownRatings | None
    ranking: Ranking | None
    """The ranking of the format; None if it has none of its own."""
    by_rating: bool
    by_returns: bool
    order: Sequence[tuple[int | None, int]]
    contrasts: Contrasts | None
    rows: tuple[Row, ...]


def _rank_entries(tally: Tally) -> _RankedEntries:
    """Rate and rank the entries of a board, and compute its rows."""
    sheet, games = tally.sheet, tally.matches
    versus = sheet.kind == "versus"
    rated = strengths(sheet, games) if versus else None
    played = [entry for entry, count in enumerate(tally.counts) if count.games]
    unknown = None if rated is None else unknown_ratings(rated, games, played)
    ranking = tally.ranking()
    placings = None if ranking is None else ranking.placings
    by_rating = is_ranked_by_rating(tally.ranked_by, sheet, unknown)
    by_returns = ranking is None and (sheet.kind == "score" or tally.ranked_by == "returns")
    order = _order(tally, rated if by_rating else None, placings)
    has_contrasts = rated is not None or ((not versus or by_returns) and len(sheet.labels) <= Strengths.MAX_ENTRIES)
    contrasts = contrast(tally, None if rated is None else rated.ratings, by_rating=by_rating) if has_contrasts else None
    rows = _rows(tally, rated, {} if contrasts is None else contrasts.level(), order, placings)
    return _RankedEntries(rated, unknown, ranking, by_rating, by_returns, order, contrasts, rows)


class _Described(NamedTuple):
    """What a board says besides its rows. For the facts, see `ShownBoard`."""

    remarks: list[str]
    explained: list[str]
    facts: dict[str, Any]
    test: Any
    bracket: tuple[tuple[Tie[str], ...], ...]


def _describe_board(
    tally: Tally, ranked: _RankedEntries, *, ended: bool, mixed: MixedPlugins | None, shard: str | None
) -> _Described:
    """Return the remarks, explanations and facts of a board."""
    sheet, rated, ranking = tally.sheet, ranked.rated, ranked.ranking
    facts: dict[str, Any] = {}
    remarks, explained = list(_describe_matches(tally, shard, ended=ended)), list[str]()
    if ranking is not None:
        remarks.append(ranking.describe(sheet.format))
    if sheet.left:
        remarks.append(f"These agents no longer play, and are ranked below all others: {', '.join(sheet.left)}.")
    if mixed is not None and mixed.names:
        remarks.append(mixed.describe())
    if sheet.kind == "versus" and tally.games:
        by = "return" if ranked.by_returns else "Elo" if ranked.by_rating else "score"
        many = tally.matches.has_many_seats
        ordered = list(_describe_order(ranked.rows, by, many_seats=many)) if ranking is None else []
        remarks += _describe_scale(tally, rated, ordered, facts, shard, ended=ended)
        remarks += () if ranked.unknown is None else ranked.unknown.describe(sheet.labels)
        remarks += _describe_positions(sheet, tally.matches)
    if rated is not None:
        known, said, explained = _describe_ratings(tally, rated, ranked.unknown, by_returns=ranked.by_returns)
        facts |= known
        remarks += said if tally.games else ()
    if tally.untimed:
        facts["untimed"] = tally.untimed
    remarks += _describe_ranking(tally, ranked.contrasts, ranked.rows, ranking)
    times = TIMES if sheet.columns is None else TIMES.intersection(sheet.columns)
    if any(row.get("apart") and any(row.get(key) is not None for key in times) for row in ranked.rows):
        remarks.append("* : the times of this agent include communication with another process.")
    remarks += tally.claims.describe_refutations() + tally.claims.describe_unsolvable(tally.lone.positions())
    remarks += [escape_line(remark) for one in sheet.plugin_columns for remark in one.remarks]
    left_out = {one.column.key: one.fault for one in sheet.plugin_columns if one.fault is not None}
    remarks += [f"The column {key} is left out: {escape_line(fault)}." for key, fault in left_out.items()]
    test = tally.test_state()
    for name, found in (("test", test), ("conclusion", tally.conclusion())):
        if found is not None:
            facts[name] = asdict(found)
            remarks.append(found.describe(finished=ended))
    if bracket := tally.bracket():
        facts["bracket"] = [[tie._asdict() for tie in ties] for ties in bracket]
    if not ended:
        facts |= {"finished": False, "size": sheet.size if sheet.exact else None, **({"shard": shard} if shard else {})}
    remarks += tally.describe()
    return _Described(remarks, explained, facts, test, bracket)


def _describe_ranking(tally: Tally, contrasts: Contrasts | None, rows: Sequence[Row], ranking: Ranking | None) -> Iterator[str]:
    """Yield by what puzzles and boards of scores are ranked, and the remark on agents that cannot be told apart."""
    if not tally.games:
        return
    if ranking is not None:
        pass  # the format ranks them, which is said already
    elif tally.sheet.kind == "puzzle":
        cost = "cost" if any(count.cost_of for count in tally.counts) else "number of moves"
        length = f"then by mean {cost} of solutions, " if tally.sheet.path_matters else ""
        yield f"Ranked by solved attempts, {length}then by {effort_of_ranking(tally)}."
    elif tally.sheet.kind == "score":
        yield "Ranked by mean return."
    too_many = len(tally.counts) > Strengths.MAX_ENTRIES
    if too_many and contrasts is None and (tally.sheet.kind != "versus" or tally.ranked_by == "returns"):
        yield f"No tests of differences: pairs of agents are compared only on boards with at most {Strengths.MAX_ENTRIES} agents."
    if contrasts is None or not any(row.get("level_with") for row in rows):
        return
    tests = figures.listing(contrasts.names()) or "there are too few rounds that differ"
    if not contrasts.names() and any(map(tally.matches.lacks_partners, range(len(tally.counts)))):
        tests = "games of some pairs are missing"
    corrected = f", with Holm's correction for {contrasts.tests:,} tests" if contrasts.tests > 1 else ""
    if ranking is not None and ranking.placings is not None:
        figure = "ratings" if tally.sheet.kind == "versus" else "tests"
        what = (
            f"the {figure} do not distinguish this agent from another one, or contradict their order, which may be due to chance"
        )
    else:
        what = (
            "the figures that rank the board do not distinguish this agent from another one, so their order may be due to chance"
        )
    yield f"~ : {what} ({tests}{corrected})."


def _describe_ratings(
    tally: Tally, rated: Strengths, unknown: UnknownRatings | None, *, by_returns: bool
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return facts, remarks and explanations about the ratings of a board. Boards ranked by returns have no cycles."""
    sheet, facts = tally.sheet, dict[str, Any]()
    remarks, explained = [], []
    if any(low is not None or high is not None for _, low, high in rated.elo.values()):
        paired = any(tally.matches.pairings())  # False for games of three or more seats
        seats = "two agents swap seats" if paired else "each group of agents plays in several orders of seats"
        explained.append(
            "The 95 % intervals are computed from rounds: the games of a round share their position, dice and deals, "
            f"and {seats}."
        )
    if rated.pairing_spread:
        facts["pairing_spread"] = rated.pairing_spread
        explained.append(
            "Some agents do better or worse against particular opponents than their ratings predict: by "
            f"{rated.pairing_spread:.0f} Elo (standard deviation), which is more than chance explains. So ratings depend on "
            "the opponents."
        )
    if unknown is not None and unknown.entries:
        facts["unrated"] = [sheet.labels[entry] for entry in sorted(unknown.entries)]
    if rated.cycles:
        facts["cycles"] = [[sheet.labels[entry] for entry in circle] for circle in rated.cycles]
        if not by_returns:
            for circle in rated.cycles:
                links = pairwise([*circle, circle[0]])
                told = [
                    f"{sheet.labels[one]} beats {sheet.labels[two]} ({figures.share(per(points[two], met[two]), 0)})"
                    for one, two in links
                    for points, met in [(tally.counts[one].points, tally.counts[one].met)]
                ]
                remarks.append(f"{', '.join(told)}: a cycle that is unlikely to be due to chance. Ratings cannot show it.")
    return facts, remarks, explained


def _find_merit(kind: Kind, ranking: Ranking | None, *, by_rating: bool, by_returns: bool) -> str:
    """Return the key of the rows by which a board is ranked."""
    if ranking is not None and ranking.columns and ranking.placings is not None:
        return "rank"
    if kind == "puzzle":
        return "solved"
    return "mean_return" if by_returns or kind == "score" else "rating" if by_rating and ranking is None else "score"


def _list_columns(sheet: BoardInfo, own: Iterable[Column], *, by_returns: bool) -> tuple[Column, ...]:
    """Return all columns of a board and its format. Mean returns are shown if they rank the board or depend on chance."""
    shown: Shown = "always" if by_returns or sheet.has_chance else "named"
    computed: list[Column] = []
    for one in sheet.plugin_columns:
        computed += [one.column] if one.amount is not None else with_interval(one.column)
    found = with_own(sheet.kind, own, computed)
    return tuple([replace(column, shown=shown) if column.shown == "returns" else column for column in found])


def _describe_matches(tally: Tally, shard: str | None, *, ended: bool) -> Iterator[str]:
    sheet = tally.sheet
    what = "game" if sheet.kind == "versus" else "attempt"
    different = "all" if tally.distinct_games == tally.games else f"{tally.distinct_games:,}"
    distinct = f", {different} different"
    if sheet.has_chance or tally.games < 2:  # with chance, no match counts as a repeat
        distinct = ""
    repeats = ""
    if tally.matches.folded:
        which = "Repeated games without random numbers" if tally.matches.drew else "Repeated games"
        repeats = f" {which} give no new information about the agents."
    if found := tally.lone.find_repeats():
        positions = len({*tally.lone.positions().values()})
        repeated = [label for entry, label in enumerate(sheet.labels) if (entry,) in found]
        whom = "the agents" if len(repeated) == len(sheet.labels) else figures.listing(repeated)
        repeats = f" All games start from the same position, and repeated games give no new information about {whom}."
        if positions > 1:
            repeats = f" They start from {positions:,} positions, each of which counts once in intervals and tests."
    yield f"{figures.amount(tally.games, what)}{distinct}.{repeats}"
    if not ended and shard is not None:
        number, _, of = shard.partition("/")
        yield (
            f"Shard {number} of {of} is complete; all shards together have {figures.amount(sheet.size, 'match')}. "
            "When all are complete, join their stores with `arena merge OUT.db IN.db ...`."
        )
    elif not ended:
        left = sheet.size - tally.games - tally.void - sheet.left_out
        missing = (
            f"{left:,} of {figures.amount(sheet.size, 'match')} {'is' if left == 1 else 'are'} missing" if sheet.exact else ""
        )
        yield f"The run is not finished{missing and ': '}{missing}."


def _describe_scale(
    tally: Tally, rated: Strengths | None, ranked: Sequence[str], facts: dict[str, Any], shard: str | None, *, ended: bool
) -> list[str]:
    """Return the remarks on the order, the scale and the intervals of a versus board. May add the fact `zero`."""
    sheet = tally.sheet
    played = [entry for entry, count in enumerate(tally.counts) if count.games]
    if rated is not None and rated.anchor is None and len(rated.zero) < len(played):
        facts["zero"] = [sheet.labels[entry] for entry in rated.zero]
    if rated is None or all(rated.elo[entry][1:] == (None, None) for entry in played):
        if rated is None and (obstacle := find_obstacle(len(sheet.labels), tally.matches)) is not None:
            return [*ranked, obstacle]
        if max([len(tally.returns.by_round(entry)) for entry in played], default=0) < MIN_ROUNDS_OF_INTERVAL:
            return [*ranked, FEW_ROUNDS if ended else FEW_ROUNDS_YET]
        if any(map(tally.matches.lacks_partners, played)):
            return [*ranked, NO_PARTNERS if ended or shard is not None else NO_PARTNERS_YET]
        folded = REPEATS + (OTHER_OPENINGS if sheet.has_openings else MORE_OPENINGS)
        if rated is not None and not tally.matches.folded and any(rated.elo[entry][0] is not None for entry in played):
            return [*ranked, FEW_OF_EACH if ended else FEW_OF_EACH_YET]
        return [*ranked, folded if tally.matches.folded else UNCONNECTED]
    zero = describe_zero(None if rated.anchor is None else sheet.anchor, facts.get("zero"))
    lead = "finishing ahead of the other agent in 91 % of the games" if tally.matches.has_many_seats else "91 % of the points"
    return [" ".join([*ranked, f"Elo 0 is {zero}; a lead of 400 means {lead}."])]


def _describe_positions(sheet: BoardInfo, games: PairedGames) -> Iterator[str]:
    what = "dice and deals" if sheet.has_chance else "positions"
    by_seat, pairs = games.count_decided_by_seat()
    if pairs >= MIN_PAIRS_OF_SEATS and by_seat >= MIN_SHARE_OF_SEATS * pairs:
        yield (
            f"In {figures.share(by_seat / pairs, 0)} of {pairs:,} pairs of games, the same seat won both games: the {what} "
            "mostly decide the games, so all ratings lie close together."
        )


def _describe_order(rows: Sequence[Row], by: str, *, many_seats: bool = False) -> Iterator[str]:
    if by == "return":
        rest = "Elo rates the order in which agents finish, and score counts" if many_seats else "Elo and score count"
        yield f"Ranked by mean return; {rest} only wins and draws."
        lacking = [row["agent"] for row in rows if row["games"] and row["return_low"] is None and row["return_high"] is None]
        if lacking:
            of = "" if len(lacking) == len(rows) else f" of {', '.join(lacking)}"
            yield f"Intervals of mean returns{of} need at least two rounds that differ."
        return
    yield f"Ranked by {by}."
    known = [(row["score"], row["mean_return"]) for row in rows if row["games"]]
    if any(one[0] > two[0] and one[1] < two[1] for one in known for two in known):
        yield "Ranking by mean return would give a different order; to use it, write `rank: returns` in the spec."
    adjusted = [(row["score"], row["adjusted"]) for row in rows if row["games"] and row["adjusted"] is not None]
    if any(one[0] > two[0] and one[1] < two[1] for one in adjusted for two in adjusted):
        yield "Ranking by adjusted return, from which luck is subtracted, would give a different order."


def _order(tally: Tally, rated: Strengths | None, placings: Sequence[Placing] | None) -> list[tuple[int | None, int]]:
    """Return the rank and index of each entry, best first. Equal entries share a rank. The format, ratings or scores decide.

    Unless the format decides, entries that have not played come last and have no rank.
    """
    waiting = [placings is None and not count.games for count in tally.counts]
    if placings is None:
        left = [label in (tally.sheet.left or ()) for label in tally.sheet.labels]
        ratings = [None if rated is None else rated.elo[entry][0] for entry in range(len(tally.counts))]
        merits = [  # scores order the entries whose ratings are unknown, below the others: scores and Elo have different scales
            (waiting[entry], left[entry], rated is not None and rating is None, *merit(entry, tally, rating))
            for entry, rating in enumerate(ratings)
        ]
    else:
        merits = placing_merits(placings)
    sorted_merits = sorted(merits)
    order = sorted(range(len(merits)), key=lambda entry: (merits[entry], entry))
    return [(None if waiting[entry] else sorted_merits.index(merits[entry]) + 1, entry) for entry in order]


def _rows(
    tally: Tally,
    rated: Strengths | None,
    level: Mapping[int, Collection[int]],
    order: Sequence[tuple[int | None, int]],
    placings: Sequence[Placing] | None,
) -> tuple[Row, ...]:
    """Return the rows in the given order, with the columns of the format and, if known, processor time."""
    kind, labels = tally.sheet.kind, tally.sheet.labels
    measured = any(count.cpu is not None for count in tally.counts)
    paid = {name for count in tally.counts for name, amount in count.spent.items() if amount and name != EXPANDED}
    expanding = kind == "puzzle" and any(EXPANDED in count.spent for count in tally.counts)
    rows = []
    for rank, entry in order:
        if kind == "versus":
            row = versus_row(rank, entry, tally, rated, level.get(entry, ()))
        else:
            row = score_row(rank, entry, tally) if kind == "score" else puzzle_row(rank, entry, tally)
        of_format: Mapping[str, Any] = {} if placings is None else placings[entry].values
        marks: Row = {}
        if 0 < len(tally.sheet.apart) < len(labels):
            marks["apart"] = labels[entry] in tally.sheet.apart
        if kind != "versus" and any(level.values()):
            marks["level_with"] = [labels[other] for other in level.get(entry, ())]
        if measured:
            marks["cpu_per_move"] = cpu_per_move(tally.counts[entry]) if tally.is_timed(entry) else None
        spent = tally.counts[entry].spent
        if expanding:
            marks["expanded_per_attempt"] = per(spent[EXPANDED], tally.counts[entry].games) if EXPANDED in spent else None
        if paid:
            marks["spent"] = {name: spent[name] for name in sorted(spent) if name != EXPANDED}
        for column in tally.sheet.plugin_columns:
            if column.amount is None or column.amount in paid:
                marks |= column.row_values(entry, spent)
        rows.append({**row, **marks, **of_format})
    return tuple(rows)
