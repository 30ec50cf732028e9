"""Pairwise comparisons of the entries of a board: on the same positions of a puzzle, or in games against each other."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from arena.api.match import Stream
from arena.api.results import BoardInfo, Refutation, Tally, count_pairs, estimate_score
from arena.api.store import Store, seats_of
from arena.stats import EloEstimate, Pair, swapped
from arena_compare.measures import MeanComparison, compare_means
from arena_compare.paired import flip_signs, holm
from arena_compare.puzzle_comparison import Attempts, PuzzleComparison, compare_attempts

if TYPE_CHECKING:
    from arena.stats import Difference

MAX_EXACT_PAIRS = 40
"""The most pairs of games for an exact test; from here on a bootstrap gives the intervals of ratings, too."""
Entry = tuple[str, int]
"""The label of an entry and its number."""


@dataclass(frozen=True, slots=True)
class GamesComparison:
    """Two entries in games against each other, or at one table with others."""

    one: str
    other: str
    counts: tuple[int, int, int, int, int] | None
    """Pentanomial counts: pairs of games in which `one` has 0, 0.5, 1, 1.5 and 2 points. None for three or more seats.

    If no seat drew a random number, pairs that only repeat another one are counted once.
    """
    worth: EloEstimate | None
    """The score counts all games, as on the board."""
    p_value: float
    """The two-sided p-value: exact up to MAX_EXACT_PAIRS pairs that differ, by the likelihood ratio of the score beyond."""
    table: "Difference | None"
    """The difference of the ratings, computed from all games of the board, in Elo."""
    games: int = 0
    """The number of games, including repeats and halves of pairs."""
    distinct: int = 0
    """The number of games that differ in seats, position or actions."""


Comparison = PuzzleComparison | GamesComparison | MeanComparison


def comparisons(
    sheet: BoardInfo, names: Sequence[str], attempts: Attempts, tally: Tally, distinct: Counter[frozenset[int]]
) -> list[Comparison]:
    """Compare every two of some entries that have met on a board.

    `attempts` belong to a puzzle board. `distinct` counts the games that differ, by the entries at a table.
    """
    here = [(name, sheet.labels.index(name)) for name in names if name in sheet.labels]
    if sheet.kind == "puzzle":
        optima: dict[int, float] = {}  # the lowest cost of a position, by the entries whose solutions are optimal
        for label in sheet.optimal:
            for position, attempt in attempts.get(sheet.labels.index(label), {}).items():
                if attempt.solved and attempt.cost is not None:
                    optima[position] = min(attempt.cost, optima.get(position, attempt.cost))
        both = [((one, other), (attempts.get(i, {}), attempts.get(j, {}))) for (one, i), (other, j) in combinations(here, 2)]
        board = [attempt for entry in attempts.values() for attempt in entry.values()]
        return [compare_attempts(pair, met, optima, board) for pair, met in both if met[0].keys() & met[1].keys()]
    if sheet.kind == "score":
        return list(compare_means([(name, tally.returns.by_round(entry)) for name, entry in here], repeated=False))
    return list(_at_tables(here, sheet, tally) if tally.matches.rankings() else _of_games(here, sheet, tally, distinct))


def _of_games(here: Sequence[Entry], sheet: BoardInfo, tally: Tally, distinct: Counter[frozenset[int]]) -> Iterator[Comparison]:
    pairings = tally.matches.pairings()
    if not pairings:
        return
    from arena.stats import rate

    rng = Stream(f"bootstrap/{sheet.title}")
    ratings = rate(pairings, range(len(sheet.labels)), rng=rng, openings=sheet.has_openings)
    for (one, i), (other, j) in combinations(here, 2):
        pairs = pairings.get((min(i, j), max(i, j)), [])
        if pairs:
            games = pairs if i < j else list(map(swapped, pairs))
            yield compare_games((one, other), games, ratings.difference(i, j), distinct[frozenset((i, j))])


def compare_games(names: tuple[str, str], pairs: list[Pair], table: "Difference | None", distinct: int) -> GamesComparison:
    """Compare two entries by their games, `distinct` of which differ; interval and p-value come from the pairs that differ."""
    worth, counts = estimate_score(pairs), count_pairs(pairs)
    p_value = _two_sided(worth.superiority)
    if sum(counts) <= MAX_EXACT_PAIRS:
        leads = [pair.games * (2 * pair.score - 1) for pair in pairs if pair.forward.games and pair.backward.games]
        p_value = flip_signs([round(lead) for lead in leads])
    return GamesComparison(*names, counts, worth, p_value, table, round(worth.games), distinct)


def _at_tables(here: Sequence[Entry], sheet: BoardInfo, tally: Tally) -> Iterator[Comparison]:
    """Compare entries that sat at one table with others by their ratings alone."""
    from arena.stats import rate_rankings

    rankings = tally.matches.rankings()
    ratings = rate_rankings(rankings, range(len(sheet.labels)))
    for (one, i), (other, j) in combinations(here, 2):
        if any({i, j} <= set(group) for group in rankings):
            found = ratings.difference(i, j)
            sure = 0.5 if found.superiority is None else found.superiority
            yield GamesComparison(one, other, None, None, _two_sided(sure), found)


def _two_sided(superiority: float) -> float:
    """The two-sided p-value of a likelihood of superiority."""
    return min(1.0, 2 * min(superiority, 1 - superiority))


def corrected(pairs: Sequence[Comparison]) -> list[tuple[Comparison, float]]:
    """Every comparison with its p-value after Holm's correction for several."""
    return list(zip(pairs, holm([pair.p_value for pair in pairs]), strict=True))


def distinct_of(store: Store) -> dict[int, Counter[frozenset[int]]]:
    """Count the games that differ on every board of the last run, by the group of entries at the table."""
    found: dict[int, Counter[frozenset[int]]] = defaultdict(Counter)
    for board, seats, distinct in store.query(_DISTINCT_OF):
        found[board][frozenset(seats_of(seats))] += distinct
    return found


def without_refuted(sheet: BoardInfo, refuted: Sequence[Refutation]) -> BoardInfo:
    """The board without the claims that are refuted, so that no optimum is taken from these entries."""
    return replace(sheet, optimal=tuple([label for label in sheet.optimal if label not in {one.agent for one in refuted}]))


_DISTINCT_OF = """
SELECT p.board, p.seats, count(DISTINCT r.play) FROM place p JOIN record r ON r.number = p.record
WHERE r.termination <> 'void' GROUP BY 1, 2
"""
