"""Pairwise comparisons of the entries of a board, either on the same positions of a puzzle or in games against each other."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from arena.api.results import BoardInfo, PairedGames, Tally
from arena.api.store import Store
from arena.stats import EloEstimate, Pair
from arena_compare.measures import MeanComparison, compare_means
from arena_compare.paired import flip_signs, holm
from arena_compare.puzzle_comparison import Attempts, PuzzleComparison, compare_attempts, par2_limits

if TYPE_CHECKING:
    from arena.stats import Difference

MAX_EXACT_PAIRS = 40
"""The largest number of game pairs for which an exact test is used."""
Entry = tuple[str, int]
"""An entry: its label and its number."""


@dataclass(frozen=True, slots=True)
class GamesComparison:
    """Two entries in games against each other, or in games with three or more players."""

    one: str
    other: str
    counts: tuple[int, int, int, int, int] | None
    """Pentanomial counts: the numbers of game pairs in which `one` has 0, 0.5, 1, 1.5 and 2 points. None for three or more seats.

    If the board uses no random numbers, pairs with the same games are counted once.
    """
    worth: EloEstimate | None
    """The score over all games between the two; None for three or more seats."""
    p_value: float
    """The two-sided p-value. It comes from an exact test if there are at most MAX_EXACT_PAIRS different pairs, and otherwise from
    the likelihood ratio of the score.
    """
    table: "Difference | None"
    """The difference of the ratings in Elo, computed from all games of the board. If the board has no other entries, this is the
    Elo of `worth`.
    """
    games: int = 0
    """The number of games, including repeated games and incomplete pairs."""
    distinct: int = 0
    """The number of different games; games differ if their seats, positions or actions do."""


Comparison = PuzzleComparison | GamesComparison | MeanComparison


def comparisons(
    sheet: BoardInfo, names: Sequence[str], attempts: Attempts, tally: Tally, distinct: Counter[frozenset[int]]
) -> list[Comparison]:
    """Compare each pair of the given entries that have met on a board.

    `attempts` are the attempts on a puzzle board. `distinct` counts the different games, by the set of entries that play.
    """
    here = [(name, sheet.labels.index(name)) for name in names if name in sheet.labels]
    if sheet.kind == "puzzle":
        optima: dict[int, float] = {}  # the lowest cost for each position, from the entries whose solutions are optimal
        for label in sheet.optimal:
            for position, attempt in attempts.get(sheet.labels.index(label), {}).items():
                if attempt.solved and attempt.cost is not None:
                    optima[position] = min(attempt.cost, optima.get(position, attempt.cost))
        both = [((one, other), (attempts.get(i, {}), attempts.get(j, {}))) for (one, i), (other, j) in combinations(here, 2)]
        limits = par2_limits(sheet, attempts)
        return [compare_attempts(pair, met, optima, limits) for pair, met in both if met[0].keys() & met[1].keys()]
    if sheet.kind == "score":
        return list(compare_means([(name, tally.returns.by_round(entry)) for name, entry in here], repeated=False))
    return list(_of_games(here, sheet, tally, distinct))


def _of_games(here: Sequence[Entry], sheet: BoardInfo, tally: Tally, distinct: Counter[frozenset[int]]) -> Iterator[Comparison]:
    from arena.stats import rate

    pairings, groups = tally.matches.pairings(), tally.matches.ranked
    ratings = rate(tally.matches.results(), range(len(sheet.labels)))
    for (one, i), (other, j) in combinations(here, 2):
        pairs, difference = pairings.get((min(i, j), max(i, j)), []), ratings.difference(i, j)
        if pairs:
            games = pairs if i < j else list(map(Pair.swapped, pairs))
            yield compare_games((one, other), games, difference, distinct[frozenset((i, j))])
        elif any({i, j} <= group for group in groups):  # games of three or more players are compared by their ratings alone
            sure = 0.5 if difference.superiority is None else difference.superiority
            yield GamesComparison(one, other, None, None, _two_sided(sure), difference)


def compare_games(names: tuple[str, str], pairs: list[Pair], table: "Difference | None", distinct: int) -> GamesComparison:
    """Compare two entries by their games, of which `distinct` are different. Pairs that only repeat another pair do not count for
    the interval and the p-value.
    """
    worth, counts = PairedGames.estimate_score(pairs), PairedGames.count_pairs(pairs)
    p_value = _two_sided(worth.superiority)
    if sum(counts) <= MAX_EXACT_PAIRS:
        leads = [pair.games * (2 * pair.score - 1) for pair in pairs if pair.forward.games and pair.backward.games]
        p_value = flip_signs([round(lead) for lead in leads])
    return GamesComparison(*names, counts, worth, p_value, table, round(worth.games), distinct)


def _two_sided(superiority: float) -> float:
    """Return the two-sided p-value for a likelihood of superiority."""
    return min(1.0, 2 * min(superiority, 1 - superiority))


def corrected(pairs: Sequence[Comparison]) -> list[tuple[Comparison, float]]:
    """Return every comparison with its p-value, corrected by Holm's method for several comparisons."""
    return list(zip(pairs, holm([pair.p_value for pair in pairs]), strict=True))


def distinct_of(store: Store) -> dict[int, Counter[frozenset[int]]]:
    """Count the different games on every board of the last run for each set of entries that play."""
    found: dict[int, Counter[frozenset[int]]] = defaultdict(Counter)
    for board, seats, distinct in store.query(_DISTINCT_OF):
        found[board][frozenset(Store.seats_of(seats))] += distinct
    return found


def without_refuted(sheet: BoardInfo, refuted: Collection[str]) -> BoardInfo:
    """Return the board in which `refuted` entries do not claim to find optimal solutions, so that their solutions do not count as
    optimal.
    """
    return replace(sheet, optimal=tuple([label for label in sheet.optimal if label not in refuted]))


_DISTINCT_OF = """
SELECT p.board, p.seats, count(DISTINCT r.play) FROM place p JOIN record r ON r.number = p.record
WHERE r.termination <> 'void' GROUP BY 1, 2
"""
