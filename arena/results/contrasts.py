"""Which entries of a board differ, and by what: one decision for every pair, which boards, pages and `arena compare` all show.

An *aspect* is something in which two entries may differ, such as their ratings or the nodes of their solutions. Every aspect of
every pair on the board is tested, and Holm's method corrects all these tests together, so that the probability of any false claim
about the board is at most 5 %. The aspect that ranks two entries decides whether the board can tell them apart.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, isnan, log, sqrt
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from arena.format import Placing
from arena.results.board_rows import per
from arena.results.pairs import PairedGames
from arena.results.rating import find_obstacle, is_ranked_by_rating, strengths, unknown_ratings
from arena.results.tally import Attempts, MeanReturns, Tally
from arena.stats.clustered import RoundValues, StratifiedMean, group_values
from arena.stats.paired import (
    MCNEMAR,
    SIGN_FLIPS,
    SIGNIFICANCE_LEVEL,
    STUDENT,
    Bounds,
    PairedTest,
    agree,
    holm,
    holm_chances,
    mean_interval_of,
    round_off,
    student_interval,
    student_p_value,
    subtract,
    test_differences,
    test_groups,
)
from arena.stats.shares import PairedShares, difference_interval

if TYPE_CHECKING:
    from arena.stats.ratings import Ratings

Aspect = Literal["rating", "games", "return", "solved", "cost", "moves", "nodes", "seconds"]
MIN_SECONDS = 1e-6
"""Shorter times count as this time, in seconds, because ratios of such short times mean nothing."""
SEQUENTIAL = "sequential test"
"""The name of a test that decides by its verdict instead of a p-value."""
MIN_SHARED = 0.5
"""Two entries have played the same rounds if they share at least this part of all the rounds of either."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The test of one aspect of two entries."""

    lead: float
    """The lead of the first entry; above 0 if it is better. In points, costs or moves, or the logarithm of a ratio."""
    p_value: float
    test: str
    """The name of the test."""
    p_value_holm: float = 1.0
    """The p-value after Holm's correction for all tests on the board."""
    chance: float = SIGNIFICANCE_LEVEL
    """The level at which Holm's method tests it: the probability that an interval for it misses the true value."""
    decided: int | None = None
    """What the sequential test of the board decides, in the same way as `better`; None without such a test. It replaces the
    decision of the p-value, which takes no account of when the test stopped the games.
    """

    @property
    def better(self) -> int:
        """1 if the first entry is better, -1 if the second is, 0 if the test does not decide."""
        if self.decided is not None:
            return self.decided
        return 0 if self.p_value_holm > SIGNIFICANCE_LEVEL else int(self.lead > 0) - int(self.lead < 0)

    def swapped(self) -> "Contrast":
        """Return the same contrast with the two entries exchanged."""
        return replace(self, lead=-self.lead, decided=None if self.decided is None else -self.decided)


class RoundLeads(NamedTuple):
    """How far one entry leads another in the mean of a measure, computed from the values of both in each round."""

    rounds: int
    mean_one: float
    mean_other: float
    lead: float
    test: PairedTest
    values: list[float]
    """Independent values; the lead is their mean."""
    freedom: float | None = None
    """The degrees of freedom of Student's t if games were repeated, so that both tests must agree; otherwise None."""
    sizes: list[int] | None = None
    """For each value, the number of rounds of which it is the mean; None unless entries that play alone repeated attempts."""
    paired: bool = True
    """Whether only rounds count in which both have a value. Otherwise the means are over all rounds of each, because the two
    share too few, and `rounds` are the rounds in which at least one has a value.
    """
    shares: tuple[PairedShares, list[list[float]]] | None = None
    """The counts of the rounds, and their differences in groups, if the values of both are paired and only 0 and 1."""

    def untested(self) -> "RoundLeads":
        """Return the same lead without a test and an interval."""
        return self._replace(test=PairedTest(1.0, ""), values=[], sizes=None, shares=None)

    @property
    def differ(self) -> bool:
        """Whether the two differ in any round. Otherwise there is nothing to test, so the pair does not count as a test."""
        return any(self.values)

    def interval(self, chance: float = SIGNIFICANCE_LEVEL) -> Bounds:
        """Return the interval of the lead, which agrees with the test."""
        bounds: Bounds
        if self.shares is not None:
            bounds = difference_interval(self.shares[0], chance, self.shares[1])
        elif self.test.name == STUDENT or self.freedom is not None:
            bounds = student_interval(self.values, chance, self.freedom)
        else:
            bounds = mean_interval_of(self.values, chance, self.sizes)
        return agree(bounds, decided=self.test.p_value <= chance, value=self.lead)


def compare_values(one: RoundValues, other: RoundValues, *, paired: bool = False) -> RoundLeads | None:
    """Compare the mean values of two entries, see `compare_rounds`; None if one has none, or if they are `paired` and share no
    round. Repeated games count as in `compare_returns`.

    There is no test if games were repeated and the seats of values are unknown.
    """
    mine, theirs = one.by_round(), other.by_round()
    if one.attempts is not None or other.attempts is not None:
        return compare_rounds(mine, theirs, paired=paired, clusters=(one.attempts, other.attempts))
    found = compare_rounds(mine, theirs, paired=paired)
    if not (one.has_repeats or other.has_repeats) or found is None:
        return found
    if paired:
        one, other = one.keep(theirs), other.keep(mine)
    found = _compare_strata(found, (one.stratify(), other.stratify()))
    return found.untested() if found is not None and (one.unknown or other.unknown) else found


Clusters = tuple[Mapping[int, int] | None, Mapping[int, int] | None]
"""For each of two entries that play alone, the clusters of its rounds; None if it repeated nothing. See `LoneMatches`."""


def compare_rounds(
    one: Mapping[int, float], other: Mapping[int, float], *, paired: bool = False, clusters: Clusters = (None, None)
) -> RoundLeads | None:
    """Compare the values of two entries by round; None if one has none, or if they are `paired` and share no round.

    If they have played the same rounds, so with the same positions and dice, the values of each round are paired, and rounds that
    only one has played are left out. Otherwise, the means over all rounds are compared, with the covariance of shared rounds.
    This needs values of all rounds that each has played. If a value is missing because of the result, for example the cost of a
    position that was not solved, the means are of different positions: then the values must be `paired`.

    Rounds that are in the same cluster for both entries are one observation, and their mean is its value.
    """
    shared, every, alike = sorted(one.keys() & other.keys()), sorted(one.keys() | other.keys()), clusters != (None, None)
    if not one or not other or (paired and not shared):
        return None
    if paired or len(shared) >= MIN_SHARED * len(every):
        mine, theirs = [fmean([values[round_] for round_ in shared]) for values in (one, other)]
        leads = {round_: subtract(one[round_], other[round_]) for round_ in shared}
        groups, lead = group_values(leads, *clusters), fmean(leads.values())
        test = test_groups(groups) if alike else test_differences(leads.values())
        shares = None
        if {one[round_] for round_ in shared} | {other[round_] for round_ in shared} <= {0, 1}:
            pairs = PairedShares.of([(bool(one[round_]), bool(other[round_])) for round_ in shared])
            test, shares = _name_mcnemar(test, groups), (pairs, groups)
        return _lead_of_groups(groups, RoundLeads(len(shared), mine, theirs, lead, test, list(leads.values()), shares=shares))
    mine, theirs = fmean(one.values()), fmean(other.values())
    lead, size = mine - theirs, len(every)
    leads = {
        round_: lead
        + (size / len(one) * (one[round_] - mine) if round_ in one else 0.0)
        - (size / len(other) * (other[round_] - theirs) if round_ in other else 0.0)
        for round_ in every
    }
    groups = group_values(leads, *clusters)
    scale = len(groups) / size  # the mean is a ratio of two sums over groups, so its variance is linearised
    values = [lead + scale * (sum(group) - lead * len(group)) for group in groups] if alike else list(leads.values())
    test = PairedTest(student_p_value(values), STUDENT)
    return _lead_of_groups([[value] for value in values], RoundLeads(size, mine, theirs, lead, test, values, paired=False))


def _name_mcnemar(test: PairedTest, groups: Sequence[Sequence[float]]) -> PairedTest:
    """Return a test of differences of 0 and 1 by its usual name: without repeats, sign flips are McNemar's test."""
    is_mcnemar = test.name == SIGN_FLIPS and len({abs(sum(one)) for one in groups} - {0.0}) < 2
    return test._replace(name=MCNEMAR) if is_mcnemar else test


def _lead_of_groups(groups: Sequence[Sequence[float]], found: RoundLeads) -> RoundLeads:
    """Return a lead whose independent values are the means of groups of values; without a test if there is only one group."""
    if len(groups) == found.rounds:
        return found
    if len(groups) < 2:
        return found.untested()
    return found._replace(values=[fmean(group) for group in groups], sizes=[len(group) for group in groups])


def compare_returns(returns: MeanReturns, one: int, other: int) -> RoundLeads | None:
    """Compare the mean returns of two entries; None if one has not played.

    If games were repeated, the lead is still that of all games, and is tested by the rounds with games that differ: the value of
    a round is the lead, plus the deviation of this round from what the same pairings have in other rounds.
    """
    attempts = returns.attempts(one), returns.attempts(other)
    if attempts != (None, None):
        return compare_rounds(returns.by_round(one), returns.by_round(other), clusters=attempts)
    repeated = returns.has_repeats(one) or returns.has_repeats(other)
    strata = (returns.stratified(one), returns.stratified(other)) if repeated else None
    return _compare_strata(compare_rounds(returns.by_round(one), returns.by_round(other)), strata)


def _compare_strata(found: RoundLeads | None, strata: tuple[StratifiedMean, StratifiedMean] | None) -> RoundLeads | None:
    """Return the comparison of two means over strata; `found` is their comparison by round, and the result without strata."""
    if found is None or strata is None:
        return found
    mine, theirs = strata
    rounds, lead = sorted(mine.sizes.keys() | theirs.sizes.keys()), mine.mean - theirs.mean
    if len(rounds) < 2:
        return RoundLeads(found.rounds, mine.mean, theirs.mean, lead, PairedTest(1.0, ""), [], paired=found.paired)
    scale = sqrt(len(rounds) * (len(rounds) - 1))
    leads = [mine.deviations.get(round_, 0.0) - theirs.deviations.get(round_, 0.0) for round_ in rounds]
    size = max(abs(mine.mean), abs(theirs.mean), *[scale * abs(one) for one in leads])
    values = [round_off(lead + scale * one, size) for one in leads]
    freedom = min([one.freedom for one in (mine, theirs) if one.freedom])
    test = test_differences(values)
    if len(set(values)) > 1:  # sign flips do not know that some of the values count for few or many games
        test = max(test, PairedTest(student_p_value(values, freedom), STUDENT))
    return RoundLeads(found.rounds, mine.mean, theirs.mean, lead, test, values, freedom, paired=found.paired)


class Contrasts:
    """All contrasts of a board. Entries are given by their indices."""

    def __init__(
        self,
        found: Mapping[tuple[int, int, Aspect], Contrast],
        ranked_by: Mapping[tuple[int, int], Aspect],
        merits: Sequence[tuple[float, ...]] | None = None,
        untimed: int = 0,
        level: Mapping[tuple[int, int, Aspect], Contrast] = MappingProxyType({}),
    ) -> None:
        """`merits` are sort keys of the entries, the best is the smallest; None if the order cannot contradict a test. `untimed`
        is the number of tests of seconds that could not be made. `level` has contrasts without a test, because no value differs.

        Tests of seconds count whether they could be made or not, and are the last that Holm's method rejects, so that the other
        p-values do not depend on the clock.
        """
        self._found: dict[tuple[int, int, Aspect], Contrast] = {**level}
        self.tests = len(found) + untimed
        """The number of tests for which p-values are corrected."""
        self.tests_by_aspect = Counter[str]([aspect for _, _, aspect in found])
        """The same number by aspect."""
        if untimed:
            self.tests_by_aspect["seconds"] += untimed
        for last in (False, True):
            tested = {key: one for key, one in found.items() if last or key[2] != "seconds"}
            p_values = [one.p_value for one in tested.values()]
            p_values += [1.0] * (self.tests - len(p_values))
            corrected = zip(tested.items(), holm(p_values), holm_chances(p_values), strict=False)
            for (key, one), p_value, chance in corrected:
                self._found.setdefault(key, replace(one, p_value_holm=p_value, chance=chance))
        self._ranked_by = ranked_by
        self._merits = merits

    def get(self, one: int, other: int, aspect: Aspect) -> Contrast | None:
        """Return the contrast of two entries in an aspect; None if it was not tested, for example because no value
        differs.
        """
        if one > other:
            found = self._found.get((other, one, aspect))
            return None if found is None else found.swapped()
        return self._found.get((one, other, aspect))

    def deciding(self, one: int, other: int) -> Contrast | None:
        """Return the contrast of two entries in the aspect that ranks them.

        None if it was not tested, or if the test finds the entry better that ranks lower: the order of the means over
        all rounds or positions can differ from that of the differences on those that the two share.
        """
        aspect = self._ranked_by.get((min(one, other), max(one, other)))
        found = None if aspect is None else self.get(one, other, aspect)
        if found is None or not found.better or self._merits is None:
            return found
        first, second = self._merits[one], self._merits[other]
        return found if found.better == (first < second) - (first > second) else None

    def level(self) -> dict[int, tuple[int, ...]]:
        """Return, for each entry, the others from which it cannot be told apart by what ranks them."""
        level: dict[int, list[int]] = {}
        for one, other in self._ranked_by:
            found = self.deciding(one, other)
            for entry, rival in ((one, other), (other, one)):
                known = level.setdefault(entry, [])
                if found is None or not found.better:
                    known.append(rival)
        return {entry: tuple(sorted(others)) for entry, others in level.items()}

    def names(self) -> list[str]:
        """Return the names of the tests of the figure that ranks entries, the most frequent first."""
        found = [self.deciding(one, other) for one, other in self._ranked_by]
        names = [one.test if one.decided is None else SEQUENTIAL for one in found if one is not None]
        return [name for name, _ in Counter(names).most_common()]


def contrast(
    tally: Tally,
    ratings: "Ratings[int] | None" = None,
    *,
    by_rating: bool | None = None,
    entries: Collection[int] | None = None,
) -> Contrasts:
    """Return the contrasts of a board. `ratings` are those of its games, and `by_rating` says whether they rank the board, if
    this is known already.

    With `entries`, only these are compared by puzzles and returns. If the board is too large for ratings, the games between two
    entries decide.
    """
    sheet = tally.sheet
    compared = range(len(tally.counts)) if entries is None else sorted(entries)
    played = [entry for entry in compared if tally.counts[entry].games]
    if sheet.kind == "puzzle":
        return _contrast_puzzles(tally, played)
    if sheet.kind == "score" or tally.ranked_by == "returns":
        return _contrast_returns(tally, played)
    if find_obstacle(len(sheet.labels), tally.matches) is not None:
        found, level = _contrast_pairs(tally)
        return Contrasts(found, dict.fromkeys(tally.matches.pairings(), "games"), level=level)
    if ratings is None:
        from arena.stats.ratings import rate

        ratings = rate(tally.matches.results(), range(len(sheet.labels)))
    if by_rating is None:
        rated = strengths(sheet, tally.matches, with_cycles=False) if tally.ranked_by == "rating" else None
        unknown = None if rated is None else unknown_ratings(rated, tally.matches, played)
        by_rating = is_ranked_by_rating(tally.ranked_by, sheet, unknown)
    return _contrast_games(tally, played, ratings, by_rating=by_rating)


def _contrast_games(tally: Tally, played: Sequence[int], ratings: "Ratings[int]", *, by_rating: bool) -> Contrasts:
    """Contrast ratings and, if there are more than two entries, the games between the two."""
    found: dict[tuple[int, int, Aspect], Contrast] = {}
    level: dict[tuple[int, int, Aspect], Contrast] = {}
    for one, other in combinations(played, 2):
        p_value, test = ratings.test(one, other)
        if test:
            found[one, other, "rating"] = Contrast(ratings.lead(one, other), p_value, test)
    decided = getattr(tally.test_state(), "better", None)
    if decided is not None:  # a board with a sequential test has two entries
        (found if (0, 1, "rating") in found else level)[0, 1, "rating"] = replace(
            found.get((0, 1, "rating"), Contrast(0.0, 1.0, "")), decided=decided
        )
    if len(played) > 2:
        games, games_level = _contrast_pairs(tally)
        found |= games
        level |= games_level
    ranking = tally.ranking()
    merits = None if by_rating else _merits(tally)  # the scores may contradict the ratings, if opponents differ
    if ranking is not None and ranking.placings is not None:
        merits = placing_merits(ranking.placings)
    ranked_by: dict[tuple[int, int], Aspect] = dict.fromkeys(combinations(played, 2), "rating")
    return Contrasts(found, ranked_by, merits, level=level)


def _contrast_pairs(tally: Tally) -> tuple[dict[tuple[int, int, Aspect], Contrast], dict[tuple[int, int, Aspect], Contrast]]:
    """Return the contrasts of the games of every two entries that met, and apart from them those in which nothing differs."""
    found: dict[tuple[int, int, Aspect], Contrast] = {}
    level: dict[tuple[int, int, Aspect], Contrast] = {}
    for (one, other), pairs in tally.matches.pairings().items():
        worth = PairedGames.estimate_score(pairs)
        if worth.score_low is not None:
            differs = any(pair.score != 0.5 for pair in pairs if pair.is_whole)
            (found if differs else level)[one, other, "games"] = Contrast(worth.score - 0.5, worth.p_value, worth.test)
    return found, level


def _contrast_returns(tally: Tally, played: Sequence[int]) -> Contrasts:
    found: dict[tuple[int, int, Aspect], Contrast] = {}
    for one, other in combinations(played, 2):
        leads = compare_returns(tally.returns, one, other)
        if leads is not None and leads.differ:
            found[one, other, "return"] = Contrast(leads.lead, *leads.test)
    return Contrasts(found, dict.fromkeys(combinations(played, 2), "return"), _merits(tally))


def _merits(tally: Tally) -> list[tuple[float, ...]]:
    return [merit(entry, tally) for entry in range(len(tally.counts))]


def placing_merits(placings: Sequence[Placing]) -> list[tuple[float, ...]]:
    """Return the sort keys of all entries if their format ranks them, smallest first."""
    return [tuple([-round_off(number) for number in placing.merit]) for placing in placings]


def merit(entry: int, tally: Tally, rating: float | None = None) -> tuple[float, ...]:
    """Return the usual sort key of an entry, smallest first: the mean return if it ranks the board, else the rating or score.

    Solvers are sorted by the solved share, then the mean cost (or moves), then the mean nodes of an attempt. A format may ask for
    the mean seconds instead, which count if they can be compared. Among solvers that are equal in what comes before, a missing
    amount is the last. If only the final state of a puzzle counts, a solution has no cost, and its moves are those of the search.
    """
    count = tally.counts[entry]
    if tally.sheet.kind == "score" or tally.ranked_by == "returns":
        mean = tally.returns.of(entry).mean
        return (inf if mean is None else -round_off(mean),)
    if tally.sheet.kind == "versus":
        return (-round_off((count.score if rating is None else rating) or 0.0),)
    mean = per(count.cost, count.cost_of) if count.cost_of else per(count.moves, count.moves_of)
    length = 0.0 if not tally.sheet.path_matters else inf if mean is None else round_off(mean)
    if effort_of_ranking(tally) == "seconds":
        effort = per(count.seconds, count.games) or None
    else:
        effort = per(count.nodes, count.games) if count.searches else None
    return (
        -(per(count.solved, count.games) or 0.0),
        length,
        inf if effort is None else effort,  # None if none were counted
    )


class Figures(NamedTuple):
    """What an entry took for its solution of a position. Unknown figures are NaN."""

    cost: float
    moves: float
    nodes: float
    seconds: float


def _contrast_puzzles(tally: Tally, played: Sequence[int]) -> Contrasts:
    attempts = {entry: _by_position(tally.attempts[entry]) for entry in played}
    costs = any(one is not None and subtract(one.cost, one.moves) for known in attempts.values() for one in known.values())
    untimed, repeats = 0, tally.lone.find_repeats()
    found: dict[tuple[int, int, Aspect], Contrast] = {}
    for one, other in combinations(played, 2):
        met = {round_: (mine, attempts[other][round_]) for round_, mine in attempts[one].items() if round_ in attempts[other]}
        timed = tally.counts[one].way is not None and tally.counts[one].way == tally.counts[other].way
        search = tally.counts[one].nodes > 0 and tally.counts[other].nodes > 0  # random moves do not search with few nodes
        for aspect, leads in _leads(met, costs=costs):
            groups = group_values(leads, repeats.get((one,)), repeats.get((other,)))
            if len(groups) < 2 or (aspect in {"cost", "moves"} and not tally.sheet.path_matters):
                continue
            if aspect == "seconds" and not timed:
                untimed += 1
            elif any(leads.values()) and (search or aspect != "nodes"):
                test = test_groups(groups)
                test = _name_mcnemar(test, groups) if aspect == "solved" else test
                found[one, other, aspect] = Contrast(fmean(leads.values()), *test)
    ranked_by = {pair: _ranking_aspect(tally, *pair, costs=costs) for pair in combinations(played, 2)}
    return Contrasts(found, ranked_by, _merits(tally), untimed)


def _by_position(attempts: Attempts) -> dict[int, Figures | None]:
    """Return the figures of an entry by round; None for a round without a solution."""
    figures = map(Figures, attempts.cost, attempts.moves, attempts.nodes, attempts.seconds)
    return {
        round_: found if solved else None for round_, solved, found in zip(attempts.rounds, attempts.solved, figures, strict=True)
    }


def _leads(met: Mapping[int, tuple[Figures | None, Figures | None]], *, costs: bool) -> Iterator[tuple[Aspect, dict[int, float]]]:
    """Yield the leads of one entry over another in each aspect, by round. All but the first are of rounds that both solved.

    Costs are left out if they are the numbers of moves.
    """
    yield "solved", {round_: float(mine is not None) - float(theirs is not None) for round_, (mine, theirs) in met.items()}
    both = {round_: (mine, theirs) for round_, (mine, theirs) in met.items() if mine is not None and theirs is not None}
    if costs:
        yield "cost", _differences({round_: (mine.cost, theirs.cost) for round_, (mine, theirs) in both.items()})
    yield "moves", _differences({round_: (mine.moves, theirs.moves) for round_, (mine, theirs) in both.items()})
    yield "nodes", {round_: log(max(1.0, theirs.nodes)) - log(max(1.0, mine.nodes)) for round_, (mine, theirs) in both.items()}
    yield (
        "seconds",
        {
            round_: log(max(MIN_SECONDS, theirs.seconds)) - log(max(MIN_SECONDS, mine.seconds))
            for round_, (mine, theirs) in both.items()
        },
    )


def _differences(pairs: Mapping[int, tuple[float, float]]) -> dict[int, float]:
    return {round_: subtract(theirs, mine) for round_, (mine, theirs) in pairs.items() if not isnan(mine) and not isnan(theirs)}


def _ranking_aspect(tally: Tally, one: int, other: int, *, costs: bool) -> Aspect:
    """Return the aspect that ranks two solvers: the first in the order of the ranking in which they differ."""
    (solved, cost, _), (solved_other, cost_other, _) = merit(one, tally), merit(other, tally)
    if solved != solved_other:
        return "solved"
    if cost != cost_other and inf not in (cost, cost_other):
        return "cost" if costs and tally.counts[one].cost_of and tally.counts[other].cost_of else "moves"
    return effort_of_ranking(tally)


def effort_of_ranking(tally: Tally) -> Literal["nodes", "seconds"]:
    """Return by what solvers are ranked that solve equally often at the same cost: by seconds if their format asks for it and the
    times of all can be compared.
    """
    by_seconds = tally.ranked_by == "seconds" and all(map(tally.is_timed, range(len(tally.counts))))
    return "seconds" if by_seconds else "nodes"
