"""Pairwise comparisons of the entries of a board, either on the same positions of a puzzle or in games against each other."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from arena.api.results import (
    BoardInfo,
    Contrast,
    Contrasts,
    PairedGames,
    Strengths,
    Tally,
    compare_returns,
    contrast,
    find_obstacle,
)
from arena.api.store import Store
from arena.stats import SIGNIFICANCE_LEVEL, EloEstimate, Pair
from arena_compare.measures import MeanComparison, correct_means, count_tests
from arena_compare.puzzle_comparison import Attempts, PuzzleComparison, compare_attempts, par2_limits
from arena_pairings.sprt import AdjustedElo
from arena_pairings.sprt_state import SprtState

if TYPE_CHECKING:
    from arena.stats import Difference, Ratings

NO_PARTNERS, TOO_FEW_ROUNDS = "games of some pairs are missing", "too few rounds differ"
"""The reasons why two entries are not tested."""
Entry = tuple[str, int]
"""An entry: its label and its number."""


@dataclass(frozen=True, slots=True)
class GamesComparison:
    """Two entries in games against each other, or in games with three or more players."""

    one: str
    other: str
    counts: tuple[int, int, int, int, int] | None
    """Pentanomial counts: the numbers of game pairs in which `one` has 0, 0.5, 1, 1.5 and 2 points. None for three or more seats,
    and without games between the two.

    If the board uses no random numbers, pairs with the same games are counted once.
    """
    worth: EloEstimate | None
    """The score over all games between the two; None if `counts` is None. Its interval has the level of `direct`, and
    otherwise that of the ratings.
    """
    p_value: float
    """The two-sided p-value of the difference of the ratings, by the `test`; 1 without a test."""
    p_value_holm: float
    """The p-value after Holm's correction for all tests on the board."""
    test: str
    better: int
    """1 if `one` is better by its rating, -1 if the other entry is, 0 if they cannot be told apart: the decision of the board."""
    table: "Difference"
    """The difference of the ratings in Elo, computed from all games of the board. If the board has no other entries, this is the
    Elo of `worth`. Its interval misses it with probability `chance`.
    """
    direct: Contrast | None
    """The test of the games between the two; None if there are no other entries, so that the ratings say the same."""
    games: int = 0
    """The number of games, including repeated games and incomplete pairs."""
    distinct: int = 0
    """The number of different games; games differ if their seats, positions or actions do. With chance, no game is a repeat."""
    lone: int = 0
    """The number of games without the other game of their pair, which is void, in another shard, or not played yet."""
    verdict: str | None = None
    """The verdict of the sequential test of the board in words, which decides `better`; None without such a test."""
    adjusted: AdjustedElo | None = None
    """The Elo of the scores that the sequential test corrects for luck; None if it does not correct them."""
    untested: str = ""
    """The reason why the ratings are not tested; empty if they are."""
    chance: float = SIGNIFICANCE_LEVEL
    """The level at which Holm's method tests the ratings; that of a single test if they are not tested."""
    unrated: bool = False
    """Whether the board is too large for ratings, so that the games between the two take their place."""
    caveat: str = ""
    """A sentence for the verdict, if the two searched at different speeds under a time limit; otherwise empty."""
    unmet: bool = False
    """Whether the two have not played each other, so that the difference of their ratings comes from other opponents."""


Comparison = PuzzleComparison | GamesComparison | MeanComparison


@dataclass(frozen=True, slots=True)
class Compared:
    """A board with the comparisons of pairs of its entries."""

    sheet: BoardInfo
    pairs: tuple[Comparison, ...]
    tests: int
    """The number of tests for which all p-values and intervals of the board are corrected together."""
    one_position: bool = False
    """Whether all rounds of a puzzle start from the same position, so that the observations are rounds and not positions."""
    tests_by_aspect: Mapping[str, int] = field(default_factory=dict)
    """The same number by aspect (`solved`, `nodes`, ...); empty if there is a single aspect."""
    remarks: tuple[str, ...] = ()
    """Remarks on the board, such as on limits that differ."""
    conditions: tuple[str, ...] = ()
    """The remarks that a paragraph on methods repeats: on unlike speeds and on failures."""


def compare_entries(
    sheet: BoardInfo, names: Sequence[str], attempts: Attempts, tally: Tally, distinct: Counter[frozenset[int]]
) -> Compared:
    """Compare each pair of the given entries that a board compares, as the board itself does. In games, these are the pairs that
    have met, and those whose ratings have a known difference.

    `attempts` are the attempts on a puzzle board. `distinct` counts the different games, by the set of entries that play. If the
    board has more than MAX_ENTRIES entries, only the given ones are tested.
    """
    places = {label: place for place, label in enumerate(sheet.labels)}
    here = [(name, places[name]) for name in names if name in places]
    few = None if len(places) <= Strengths.MAX_ENTRIES else [place for _, place in here]
    if sheet.kind == "score" or (sheet.kind == "versus" and tally.ranked_by == "returns"):
        every = combinations([(place, sheet.labels[place]) for place in (range(len(places)) if few is None else sorted(few))], 2)
        leads = [(one, other, compare_returns(tally.returns, i, j)) for (i, one), (j, other) in every]
        means = correct_means([(one, other, found) for one, other, found in leads if found is not None])
        return Compared(sheet, tuple(choose(means, names)), count_tests(means))
    if sheet.kind == "puzzle":
        optima = tally.claims.find_optima()
        contrasts, limits, depths = contrast(tally, entries=few), par2_limits(sheet, attempts), find_depths(attempts)
        pairs: list[Comparison] = [
            compare_attempts(
                pair,
                (attempts.get(pair[0][1], {}), attempts.get(pair[1][1], {})),
                contrasts,
                optima,
                limits,
                depths,
                tally.lone,
                path_matters=sheet.path_matters,
            )
            for pair in combinations(here, 2)
            if attempts.get(pair[0][1], {}).keys() & attempts.get(pair[1][1], {}).keys()
        ]
        remarks = tuple(tally.claims.describe_refutations())
        return Compared(sheet, tuple(pairs), contrasts.tests, tally.lone.share_position, contrasts.tests_by_aspect, remarks)
    if (obstacle := find_obstacle(len(places), tally.matches)) is not None:
        contrasts = contrast(tally)
        games = tuple(_compare_games(here, tally, None, contrasts, distinct))
        remark = f"{obstacle} So each pair is compared only through its own games."
        return Compared(sheet, games, contrasts.tests, tests_by_aspect=contrasts.tests_by_aspect, remarks=(remark,))
    from arena.stats import rate

    ratings = rate(tally.matches.results(), range(len(sheet.labels)))
    contrasts = contrast(tally, ratings)
    games = tuple(_compare_games(here, tally, ratings, contrasts, distinct))
    return Compared(sheet, games, contrasts.tests, tests_by_aspect=contrasts.tests_by_aspect)


def choose(pairs: Sequence[MeanComparison], names: Sequence[str]) -> list[MeanComparison]:
    """Return the comparisons of every two entries in `names`, in their order. They stay corrected for all pairs of the board."""
    found = {(pair.one, pair.other): pair for pair in pairs}
    found |= {(pair.other, pair.one): pair.swapped() for pair in pairs}
    return [found[both] for both in combinations(names, 2) if both in found]


def _compare_games(
    here: Sequence[Entry], tally: Tally, ratings: "Ratings[int] | None", contrasts: Contrasts, distinct: Counter[frozenset[int]]
) -> Iterator[GamesComparison]:
    pairings, state = tally.matches.pairings(), tally.test_state()
    for (one, i), (other, j) in combinations(here, 2):
        pairs = pairings.get((min(i, j), max(i, j)), [])
        met = bool(pairs) or j in tally.counts[i].met
        if ratings is None and not pairs:
            continue
        games = pairs if i < j else list(map(Pair.swapped, pairs))
        rated, direct, deciding = contrasts.get(i, j, "rating"), contrasts.get(i, j, "games"), contrasts.deciding(i, j)
        rated, direct = (direct, None) if ratings is None else (rated, direct)
        chance = SIGNIFICANCE_LEVEL if rated is None else rated.chance
        worth = PairedGames.estimate_score(games, chance if direct is None else direct.chance) if pairs else None
        if ratings is not None:
            difference = ratings.difference(i, j, chance=chance)
            if not met and difference.elo is None:
                continue
        else:
            from arena.stats import Difference

            assert worth is not None
            difference = Difference(worth.elo, worth.elo_low, worth.elo_high, worth.superiority, worth.p_value, worth.test)
        found = GamesComparison(
            one,
            other,
            None,
            None,
            1.0 if rated is None else rated.p_value,
            1.0 if rated is None else rated.p_value_holm,
            "" if rated is None else rated.test,
            0 if deciding is None else deciding.better,
            difference,
            direct,
            chance=chance,
            unrated=ratings is None,
            unmet=not met,
        )
        if not found.test:
            alone = ratings is None or len(tally.counts) == 2
            lacking = tally.matches.lacks_partners(i, j) if alone else any(map(tally.matches.lacks_partners, (i, j)))
            found = replace(found, untested=NO_PARTNERS if lacking else TOO_FEW_ROUNDS)
        if isinstance(state, SprtState):
            found = replace(found, verdict=state.conclude(), adjusted=state.adjusted)
        if worth is not None:  # games of three or more players are compared by their ratings alone
            counts = PairedGames.count_pairs(games)
            lone = sum([not pair.is_whole for pair in pairs])
            games_played = round(worth.games)
            different = games_played if tally.sheet.has_chance else distinct[frozenset((i, j))]
            found = replace(found, counts=counts, worth=worth, games=games_played, distinct=different, lone=lone)
        yield found


def distinct_of(store: Store) -> dict[int, Counter[frozenset[int]]]:
    """Count the different games on every board of the last run for each set of entries that play."""
    found: dict[int, Counter[frozenset[int]]] = defaultdict(Counter)
    for board, seats, distinct in store.query(_DISTINCT_OF):
        found[board][frozenset(Store.seats_of(seats))] += distinct
    return found


def find_depths(attempts: Attempts) -> dict[int, int]:
    """Return the number of moves of the shortest solution of each round that any entry has solved."""
    depths: dict[int, int] = {}
    for round_, one in [one for tried in attempts.values() for one in tried.items()]:
        if one.solved and one.moves is not None:
            depths[round_] = min(one.moves, depths.get(round_, one.moves))
    return depths


_DISTINCT_OF = f"""
SELECT p.board, p.seats, count(DISTINCT {Store.MATCH_HASH}) FROM place p JOIN record r ON r.number = p.record
WHERE r.termination <> 'void' GROUP BY 1, 2
"""  # noqa: S608 - the hash is SQL of the store
