"""The mean of values in clusters, with a 95 % interval. A cluster is a round: its matches share dice and deals."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import compress
from math import fsum, inf, isfinite, sqrt
from statistics import NormalDist
from typing import NamedTuple

from arena.stats.distributions import find_unit, list_plain, student_quantile

FOLDS = 5
"""The number of parts into which clusters are divided to fit the coefficient of luck."""
LEVEL = 0.95
"""The confidence level of an interval."""
MAX_ROUNDING = 1e-20
"""The largest sum of squared deviations, as a share of the sum of squares, that may come from rounding alone."""
MIN_CLUSTERS = 10
"""The minimum number of clusters for which the coefficient of luck is fitted."""


class ClusteredMean(NamedTuple):
    """A mean with its 95 % interval. The mean is None without values; the bounds are None for fewer than two clusters, and for
    equal values whose range is unknown.
    """

    mean: float | None
    low: float | None
    high: float | None


def clustered_mean(sums: Sequence[float], counts: Sequence[int], within: tuple[float, float] = (-inf, inf)) -> ClusteredMean:
    """Return the mean of all values with its interval, given the sum and the number of the values of each cluster.

    `within` is the range of the values, which the interval does not leave. If the mean lies outside, so that some values do, too,
    the interval reaches to the mean.

    The mean is a ratio of two sums over clusters, so its variance is linearised (W. Cochran, Sampling Techniques, 1977, chapter
    6). The interval uses Student's t with one degree of freedom less than there are clusters. Clusters are treated as
    independent; nothing is assumed about the values within a cluster.

    If all n clusters have the same value, there is no variance to estimate. Then a cluster may differ with at most the
    probability with which n of them in a row do not in 1 of 20 cases, and if it does, it may be at an end of the range.

    >>> round(clustered_mean([-1.0] * 10, [1] * 10, within=(-1.0, 1.0)).high, 4)
    -0.4823
    """
    clusters = [(total, count) for total, count in zip(list_plain(sums), list_plain(counts), strict=True) if count]
    size = sum(count for _, count in clusters)
    if not size:
        return ClusteredMean(None, None, None)
    if (unit := find_unit([total for total, _ in clusters])) != 1:
        totals = [total / unit for total, _ in clusters]
        return _multiply(clustered_mean(totals, [count for _, count in clusters], _divide(within, unit)), unit)
    mean = sum(total for total, _ in clusters) / size
    if len(clusters) < 2:
        return ClusteredMean(mean, None, None)
    squares = sum((total - mean * count) ** 2 for total, count in clusters)
    if squares <= MAX_ROUNDING * sum(total**2 for total, _ in clusters):
        return ClusteredMean(mean, *_bounds_of_equal(mean, len(clusters), within))
    freedom = len(clusters) - 1
    reach = student_quantile(freedom, (1 + LEVEL) / 2) * sqrt(squares * len(clusters) / freedom) / size
    return _cut_interval(mean, reach, within)


def _divide(within: tuple[float, float], unit: float) -> tuple[float, float]:
    return within[0] / unit, within[1] / unit


def _multiply(found: ClusteredMean, unit: float) -> ClusteredMean:
    return ClusteredMean(*[None if value is None else value * unit for value in found])


def range_of(values: Iterable[float]) -> tuple[float, float]:
    """Return the range of values of which nothing else is known: from 0 to 1 if both of these occur and nothing else, so that
    their mean is a share; otherwise without ends.

    >>> range_of([0.0, 1.0, 1.0]), range_of([1.0, 1.0])
    ((0.0, 1.0), (-inf, inf))
    """
    return (0.0, 1.0) if set(values) == {0.0, 1.0} else (-inf, inf)


class StratifiedMean(NamedTuple):
    """A mean over strata (pairings), of which some may consist of values that are repeats; see `stratify`."""

    mean: float
    deviations: Mapping[int, float]
    """By how much each cluster moves the mean. The variance of the mean is the sum of their squares."""
    sizes: Mapping[int, int]
    """For each cluster, the number of its values in strata that vary."""
    freedom: float
    """The degrees of freedom of the variance; 0 if nothing varies."""

    @property
    def clusters(self) -> float:
        """The effective number of clusters: fewer than there are if some are larger than others (L. Kish, 1965)."""
        return sum(self.sizes.values()) ** 2 / max(1, sum([size**2 for size in self.sizes.values()]))

    def with_interval(self, within: tuple[float, float] = (-inf, inf)) -> ClusteredMean:
        """Return the mean with its interval, as `clustered_mean` does. There is none if fewer than two clusters differ."""
        if self.clusters < 2:
            return ClusteredMean(self.mean, None, None)
        if (unit := find_unit([self.mean, *self.deviations.values()])) != 1:
            divided = {cluster: deviation / unit for cluster, deviation in self.deviations.items()}
            scaled = self._replace(mean=self.mean / unit, deviations=divided)
            return _multiply(scaled.with_interval(_divide(within, unit)), unit)
        squares = sum([deviation**2 for deviation in self.deviations.values()])
        if squares <= MAX_ROUNDING:
            return ClusteredMean(self.mean, *_bounds_of_equal(self.mean, self.clusters, within))
        reach = student_quantile(self.freedom, (1 + LEVEL) / 2) * sqrt(squares)
        return _cut_interval(self.mean, reach, within)


def stratify(strata: Iterable[Mapping[int, tuple[float, int]]]) -> StratifiedMean:
    """Return the mean of all values, given the sum and the number of the values of each cluster in each stratum.

    A repeat of a value belongs to the cluster of the first one, which thereby gets larger. Clusters are compared within each
    stratum, so it does not matter which strata they are from (W. Cochran, Sampling Techniques, 1977, chapters 5 and 6). A stratum
    with a single cluster says nothing about how values vary, so it has no part in the variance. The degrees of freedom are
    Satterthwaite's (An approximate distribution of estimates of variance components, 1946): a stratum with few clusters has few.

    >>> stratify([{0: (0.0, 9)}, {0: (1.0, 1), 1: (-1.0, 1), 2: (1.0, 1)}]).sizes
    {0: 1, 1: 1, 2: 1}
    """
    strata = list(strata)
    if (unit := find_unit([total for stratum in strata for total, _ in stratum.values()])) != 1:
        scaled = stratify([{cluster: (total / unit, count) for cluster, (total, count) in stratum.items()} for stratum in strata])
        multiplied = {cluster: deviation * unit for cluster, deviation in scaled.deviations.items()}
        return scaled._replace(mean=scaled.mean * unit, deviations=multiplied)
    total, size = [sum([cell[place] for stratum in strata for cell in stratum.values()]) for place in (0, 1)]
    deviations: dict[int, float] = defaultdict(float)
    sizes: dict[int, int] = defaultdict(int)
    variances: list[tuple[float, float]] = []
    for stratum in strata:
        if len(stratum) < 2:
            continue
        number = sum([count for _, count in stratum.values()])
        mean = sum([value for value, _ in stratum.values()]) / number
        effective = number**2 / sum([count**2 for _, count in stratum.values()])
        scale = sqrt(effective / (effective - 1)) / size
        found = {cluster: scale * (value - mean * count) for cluster, (value, count) in stratum.items()}
        variances.append((sum([one**2 for one in found.values()]), effective - 1))
        for cluster, (_, count) in stratum.items():
            deviations[cluster] += found[cluster]
            sizes[cluster] += count
    spread = sum([variance**2 / freedom for variance, freedom in variances])
    freedom = sum([variance for variance, _ in variances]) ** 2 / spread if spread else sum([known for _, known in variances])
    return StratifiedMean(total / size if size else 0.0, dict(deviations), dict(sizes), freedom)


class PlainGames:
    """The games without random numbers of some entries in one order of seats, stored in 24 bytes per game."""

    def __init__(self) -> None:
        self.rounds, self.plays, self.kinds = array("q"), array("q"), array("q")
        """For each game: its round, a hash of its moves, and the place of its returns in a list of all returns."""

    def first_rounds(self) -> dict[int, int]:
        """Return the first round in which each game was played; the keys are hashes of the moves."""
        first: dict[int, int] = {}
        for round_, play in zip(self.rounds, self.plays, strict=True):
            first[play] = min(round_, first.get(play, round_))
        return first


Repeats = Mapping[tuple[int, ...], Mapping[int, int]]
"""For each order of seats of the entries that repeated matches: the round of the first equal match, by the round of a match."""


def find_repeated_groups(plain: Mapping[tuple[int, ...], PlainGames]) -> set[tuple[int, ...]]:
    """Return the groups of entries that have repeated games without random numbers."""
    return {tuple(sorted(seats)) for seats, games in plain.items() if len(set(games.plays)) < len(games.plays)}


def find_repeats(plain: Mapping[tuple[int, ...], PlainGames]) -> Repeats:
    """Return the rounds of the games of the groups that repeated any."""
    groups, found = find_repeated_groups(plain), {}
    for seats, games in plain.items():
        if tuple(sorted(seats)) in groups:
            first = games.first_rounds()
            found[seats] = {round_: first[play] for round_, play in zip(games.rounds, games.plays, strict=True)}
    return found


class LoneMatches:
    """The matches with one seat on a board without chance, such as attempts at a puzzle: finds those that repeat others. A match
    takes 17 bytes, and a round 8 bytes.

    Entries that play alone are compared by the positions that they attempted. So a position is one observation, however many
    rounds start from it. If all rounds start from one position, only the random choices of the entries differ, and the rounds
    are observations of these: then a match is a repeat if it has the actions of another one and no random numbers.

    >>> matches = LoneMatches()
    >>> for round_, position in enumerate([70, 71, 70]):
    ...     matches.add_position(round_, position)
    ...     matches.add(0, round_, None)
    >>> matches.find_repeats()
    {(0,): {0: 0, 1: 1, 2: 0}}
    """

    def __init__(self) -> None:
        self._positions = array("q")
        """A hash of the position of each round; 0 if it is unknown."""
        self._rounds: dict[int, array[int]] = defaultdict(lambda: array("q"))
        """The rounds of the matches of each entry. The next two have a hash of their moves, and whether they are random."""
        self._plays: dict[int, array[int]] = defaultdict(lambda: array("q"))
        self._drew: dict[int, bytearray] = defaultdict(bytearray)
        self._found: Repeats | None = None

    def add_position(self, round_: int, position_hash: int) -> None:
        """Add the position of a round, given as a hash."""
        self._positions.extend([0] * (round_ + 1 - len(self._positions)))
        self._positions[round_] = position_hash or 1
        self._found = None

    def add(self, entry: int, round_: int, play_hash: int | None) -> None:
        """Add one match that was not void. `play_hash` is a hash of its moves; None if it used random numbers."""
        self._rounds[entry].append(round_)
        self._plays[entry].append(play_hash or 0)
        self._drew[entry].append(play_hash is None)
        self._found = None

    def positions(self) -> dict[int, int]:
        """Return the first round with the same position, by round."""
        first: dict[int, int] = {}
        return {round_: first.setdefault(one, round_) for round_, one in enumerate(self._positions) if one}

    @property
    def share_position(self) -> bool:
        """Whether there are several rounds and all start from one position."""
        positions = self.positions()
        return len(positions) > 1 == len({*positions.values()})

    def find_repeats(self) -> Repeats:
        """Return the rounds of the matches of the entries that repeated any; the keys have one seat."""
        if self._found is None:
            self._found = self._find_repeats()
        return self._found

    def _find_repeats(self) -> Repeats:
        positions = self.positions()
        several = len({*positions.values()})
        if several == len(positions):
            return {}
        if several > 1:
            return {(entry,): positions for entry in self._rounds}
        found: dict[tuple[int, ...], dict[int, int]] = {}
        for entry, rounds in self._rounds.items():
            first: dict[int, int] = {}
            matches = sorted(zip(rounds, self._plays[entry], self._drew[entry], strict=True))
            same = {round_: round_ if drew else first.setdefault(play, round_) for round_, play, drew in matches}
            if len({*same.values()}) < len(same):
                found[entry,] = same
        return found


class RoundValues:
    """The values of an entry in its matches, by round and, if some of its games repeat others, by strata (see `stratify`).

    >>> values = RoundValues(0, {(0, 1): {0: 0, 1: 0}})
    >>> for round_, opponent, value in [(0, 1, 3.0), (1, 1, 3.0), (0, 2, 5.0), (1, 2, 4.0)]:
    ...     values.add(round_, value, (0, opponent))
    >>> values.by_round(), values.stratify().sizes
    ({0: 4.0, 1: 3.5}, {0: 1, 1: 1})
    """

    def __init__(self, entry: int, repeats: Repeats) -> None:
        self._entry = entry
        self._repeats = {seats: rounds for seats, rounds in repeats.items() if entry in seats}
        self._alone = (entry,) if (entry,) in self._repeats else None
        self._rounds: dict[int, list[float]] = defaultdict(list)
        self._strata: dict[tuple[int, ...], dict[tuple[int, int], tuple[float, int]]] = {(): {}}
        """For each stratum, the sum and the number of the values, by their round and their cluster."""
        self.unknown = False
        """Whether games were repeated and the seats of a value are unknown, so that nothing says how much the values vary."""

    @property
    def has_repeats(self) -> bool:
        """Whether games of the entry are repeats of others."""
        return bool(self._repeats)

    @property
    def attempts(self) -> Mapping[int, int] | None:
        """The clusters of its matches by round, if the entry plays alone and repeated any; otherwise None."""
        return None if self._alone is None else self._repeats[self._alone]

    def add(self, round_: int, value: float, seats: tuple[int, ...] | None) -> None:
        """Add the value of a match. `seats` are the entries of the match in the order of their seats, if they are known."""
        seats = seats or self._alone
        self._rounds[round_].append(value)
        self.unknown |= seats is None and self.has_repeats
        first = self._repeats.get(seats or (), {}).get(round_)
        stratum = self._strata.setdefault(() if first is None else tuple(sorted(seats or ())), {})
        place = round_, round_ if first is None else first
        total, count = stratum.get(place, (0.0, 0))
        stratum[place] = (total + value, count + 1)

    def keep(self, rounds: Collection[int]) -> "RoundValues":
        """Return the values of some rounds only."""
        kept = RoundValues(self._entry, self._repeats)
        kept._rounds.update({round_: values for round_, values in self._rounds.items() if round_ in rounds})
        for group, cells in self._strata.items():
            kept._strata[group] = {place: cell for place, cell in cells.items() if place[0] in rounds}
        kept.unknown = self.unknown
        return kept

    def by_round(self) -> dict[int, float]:
        """Return the mean of each round."""
        return {round_: sum(values) / len(values) for round_, values in self._rounds.items()}

    def stratify(self) -> StratifiedMean:
        """Return the mean over strata: each group of entries that repeated games is a stratum, and all other games form
        one more.
        """
        strata = []
        for cells in self._strata.values():
            stratum: dict[int, tuple[float, int]] = {}
            for (_, cluster), (total, count) in cells.items():
                before = stratum.get(cluster, (0.0, 0))
                stratum[cluster] = (before[0] + total, before[1] + count)
            strata.append(stratum)
        return stratify(strata)

    def mean(self, within: tuple[float, float] = (-inf, inf)) -> ClusteredMean:
        """Return the mean of all values, which are in the range `within`, with its interval. It is None without values."""
        if self.has_repeats and self._rounds:
            found = self.stratify().with_interval(within)
            return ClusteredMean(found.mean, None, None) if self.unknown else found
        values = self._rounds.values()
        return clustered_mean([sum(one) for one in values], [len(one) for one in values], within)


def group_values(values: Mapping[int, float], *clusters: Mapping[int, int] | None) -> list[list[float]]:
    """Return the values of rounds in groups of rounds that are in the same cluster by each of `clusters`, such as those of two
    entries. If one of them is None, every round is a cluster of its own for this entry.

    >>> group_values({0: 1.0, 1: 3.0, 2: 5.0}, {0: 0, 1: 1, 2: 0})
    [[1.0, 5.0], [3.0]]
    """
    if all(one is None for one in clusters):
        return [[value] for value in values.values()]
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for round_, value in values.items():
        groups[tuple([round_ if one is None else one.get(round_, round_) for one in clusters])].append(value)
    return list(groups.values())


def effective_size(groups: Iterable[Sequence[float]]) -> float:
    """Return the number of independent values that say as much about their mean as these values, which are alike within groups.

    The number of values is divided by the design effect 1 + (m - 1) rho (L. Kish, Survey Sampling, 1965). Here m is the mean size
    of a group, weighted by size, and rho the intraclass correlation by analysis of variance, from 0 to 1. If the values of each
    group are equal, rho is 1, so that groups of one size count as one value each. Otherwise the variance comes from few groups,
    so the number is reduced by the ratio of the squared quantiles of the normal distribution and of Student's t.

    >>> effective_size([[1.0] * 3, [0.0] * 3, [1.0] * 3]), effective_size([[1.0], [0.0]]), effective_size([[1.0] * 200])
    (3.0, 2.0, 1.0)
    """
    listed = [list_plain(group) for group in groups if len(group)]
    unit = find_unit([value for group in listed for value in group])
    listed = [[value / unit for value in group] for group in listed]
    number, squares = sum(map(len, listed)), sum([len(group) ** 2 for group in listed])
    if not number or squares == number:
        return float(number)
    means = [fsum(group) / len(group) for group in listed]
    mean = fsum(map(fsum, listed)) / number
    within = fsum([(value - middle) ** 2 for group, middle in zip(listed, means, strict=True) for value in group])
    if len(listed) < 2 or within <= MAX_ROUNDING * fsum([value**2 for group in listed for value in group]):
        return number**2 / squares
    within /= number - len(listed)
    freedom = len(listed) - 1
    between = fsum([len(group) * (middle - mean) ** 2 for group, middle in zip(listed, means, strict=True)]) / freedom
    typical = (number - squares / number) / freedom
    rho = max(0.0, (between - within) / (between + (typical - 1) * within))
    certainty = NormalDist().inv_cdf((1 + LEVEL) / 2) / student_quantile(freedom, (1 + LEVEL) / 2)
    return max(1.0, certainty**2 * number / (1 + (squares / number - 1) * rho))


def _cut_interval(mean: float, reach: float, within: tuple[float, float]) -> ClusteredMean:
    low, high = _include(mean, within)
    return ClusteredMean(mean, max(low, mean - reach), min(high, mean + reach))


def _bounds_of_equal(mean: float, clusters: float, within: tuple[float, float]) -> list[float | None]:
    share = 1 - (1 - LEVEL) ** (1 / clusters)
    return [mean + share * (end - mean) if isfinite(end) else None for end in _include(mean, within)]


def _include(mean: float, within: tuple[float, float]) -> tuple[float, float]:
    """Return the range, extended so that it contains the mean: stores of earlier versions have returns outside their range."""
    return min(within[0], mean), max(within[1], mean)


def remove_luck(returns: Sequence[float], luck: Sequence[float], counts: Sequence[int]) -> list[float] | None:
    """Return the sum of each cluster minus its luck times a coefficient.

    Returns None if there are fewer than MIN_CLUSTERS clusters, or if there was no luck. If the correction does not lower the
    variance, as with rare luck that decides nothing, the sums are returned unchanged.

    Luck has the mean 0, so any coefficient leaves the mean unchanged; the best one is the slope of the regression of returns on
    luck. This slope is 1 if luck decides everything, and near 0 if the better side wins with any dice. The coefficient of a
    cluster is fitted to the clusters of the other FOLDS - 1 folds, so it does not depend on the values that it corrects
    (cross-fitting: V. Chernozhukov and others, Double/debiased machine learning, 2018).

    >>> remove_luck([1.0, -1.0] * 10, [1.0, -1.0] * 10, [1] * 20) == [0.0] * 20
    True
    """
    returns, luck, counts = list_plain(returns), list_plain(luck), list_plain(counts)
    unit, luck_unit = find_unit(returns), find_unit(luck)
    returns, luck = [value / unit for value in returns], [value / luck_unit for value in luck]
    places = [k for k, count in enumerate(counts) if count]
    if len(places) < MIN_CLUSTERS or not any(luck):
        return None
    corrected = list(returns)
    for fold in range(FOLDS):
        others = [k for n, k in enumerate(places) if n % FOLDS != fold]
        mean = sum([returns[k] for k in others]) / sum([counts[k] for k in others])
        squares = sum([luck[k] ** 2 for k in others])
        products = sum([(returns[k] - mean * counts[k]) * luck[k] for k in others])
        for k in places[fold::FOLDS]:
            corrected[k] -= products / squares * luck[k] if squares else 0.0
    before, after = [_scatter(list(compress(sums, counts)), list(compress(counts, counts))) for sums in (returns, corrected)]
    return [value * unit for value in (corrected if after < before else returns)]


def _scatter(sums: Sequence[float], counts: Sequence[int]) -> float:
    """Return the sum of squared deviations of clusters from the mean of all values."""
    mean = sum(sums) / sum(counts)
    return sum([(total - mean * count) ** 2 for total, count in zip(sums, counts, strict=True)])
