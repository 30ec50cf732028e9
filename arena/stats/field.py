"""Fits the ratings of a whole field. Competitors are indices; the module `ratings` explains the terms, and gives them names.

Leads are in natural units, where they say nothing else. This module imports numpy; two competitors do not need it, see
`MatchFit`.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import hypot, inf, isnan, log, nan, sqrt
from typing import Any, Generic, NamedTuple, TypeAlias

import numpy as np

from arena.stats.calculator import MAX_HALVINGS, SWEEP, UNKNOWN_LEAD, EloEstimate, Lead, estimate_match
from arena.stats.distributions import chi_squared_tail, student_cdf, student_quantile
from arena.stats.elo import ELO
from arena.stats.likelihood import MIN_OUTCOMES
from arena.stats.observations import Competitor, GameResults
from arena.stats.paired import SIGNIFICANCE_LEVEL

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Places: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]
MIN_SCATTER = 1.0
"""A variance is at least what it would be if this many rounds varied as the fitted model says, and the others not at all. So an
interval has a width even if all rounds had the same result."""
MIN_ROUNDS_OF_SPREAD = 10
"""The fewest rounds of every pairing with which the spread between pairings is estimated."""
MAX_CHANCE = 0.05
"""If chance alone makes pairings differ this much with at least this probability, there is no spread between them."""
MAX_LAST_STEP = 1e-9
"""The largest last step of a lead in natural units. The error is about the square of it."""
MIN_LIKELY_ROUNDS = 20
"""The fewest rounds with which a likelihood of superiority is given that is not exact."""
MIN_SWEPT_RANKINGS = 2
"""The fewest rounds with which the lead of a tier over another one is known in games with three or more seats. One round says who
was ahead, and not by how much: the lead with an even chance of one result may be 0."""
MAX_CELLS = 1 << 22
"""The largest size of a table that is only a part of the computation. Larger ones are made in parts."""
MAX_ADDED_WIDTH, DENSE_SHARE = 8, 1 / 14
"""Choices among more competitors than the first, and among at least this share of all competitors, are added up as products of
matrices. That is quicker for them, and slower for others."""
RATED_ROUNDS = "Student's t of the ratings"


class _Choices(NamedTuple):
    """Points that were divided among competitors. Each row is a choice among some of them."""

    members: Places
    """The indices of the competitors. An index that is too large stands for none."""
    points: Array
    bonus: Array
    """What is added to the ratings of the competitors, in natural units."""


class _Crossings(NamedTuple):
    """The games between two tiers of which one took all points."""

    pairs: Places
    """For each of these results, the better and the other tier."""
    leads: Array
    """The lead within the mean ratings of the two tiers, in natural units."""
    rows: Places
    """The choice of each result."""
    losers: Places
    """The index of the competitor that is not in the better tier."""
    weights: Array
    """The weights of the results. The weights of two tiers add up to the number of their independent observations; in games with
    three or more seats, each choice has this weight by which all members of the better tier come before one of the other tier."""
    counts: Array
    """The number of observations, with a row for the better tier and a column for the other one. A single game without the other
    game of its pair is none."""


class _Bounds(NamedTuple):
    """The lower bounds of the leads of tiers over others. Matrices have a row for the better tier, a column for the other one."""

    leads: Array
    """The bounds of the leads of mean ratings, in natural units; -inf if there is none."""
    counts: Array
    """The number of observations that they come from."""
    edges: Places
    """For tiers that met, the row of `slopes`."""
    stops: Places
    """A tier in between if the bound is the sum of two others, otherwise -1."""
    slopes: Array
    """The derivatives of the bounds between tiers that met by the ratings of all competitors in tiers of two or more."""

    def find_slope(self, tier: int, other: int) -> Array:
        """Return the derivatives of the bound of the lead of a tier over another one."""
        stop = int(self.stops[tier, other])
        if stop < 0:
            slope: Array = self.slopes[self.edges[tier, other]]
            return slope
        return self.find_slope(tier, stop) + self.find_slope(stop, other)


class FieldFit(Generic[Competitor]):
    """The ratings of a field, of which `anchor` is an index."""

    def __init__(self, agents: tuple[Competitor, ...], anchor: int | None, games: GameResults[Competitor]) -> None:
        self._agents, self._games = agents, games
        self._paired, size = games.paired, len(agents)
        self._bounds: dict[float, _Bounds] = {}
        self._duels: dict[tuple[int, int, float], EloEstimate] = {}
        known = {agent: k for k, agent in enumerate(agents)}
        width = max(map(len, games.rows), default=2)
        members = np.full((len(games.rows), width), size, dtype=np.intp)
        counts = [len(numbers) for numbers, _ in games.rows.values()]
        self._rows, row = np.zeros((sum(counts), width)), 0
        for k, (group, (numbers, shares)) in enumerate(games.rows.items()):
            members[k, : len(group)] = [known[agent] for agent in group]
            self._rows[row : row + len(numbers), : len(group)] = np.frombuffer(shares).reshape(-1, len(group))
            row += len(numbers)
        rounds = np.frombuffer(b"".join([numbers.tobytes() for numbers, _ in games.rows.values()]), np.int64)
        self._round_of_row = np.unique(rounds, return_inverse=True)[1]
        self._group_of_row = np.repeat(np.arange(len(members)), counts)
        self._members, points = members, np.zeros(members.shape)
        np.add.at(points, self._group_of_row, self._rows)
        takers = np.nonzero(points > 0)
        took = np.eye(size + 1, dtype=bool)
        took[members[takers][:, None], members[takers[0]]] = True
        reach = _close(took[:size, :size])
        tops, self._tiers = np.unique((reach & reach.T).argmax(axis=1) if size else [], return_inverse=True)
        self._sizes = np.bincount(self._tiers)
        self._tied = np.flatnonzero(self._sizes[self._tiers] > 1)
        """The indices of all competitors in tiers of two or more."""
        self._reach: Any = reach[np.ix_(tops, tops)]
        """For every two tiers, whether the first took points from the second, perhaps by way of others."""
        self._connected = _close(self._reach | self._reach.T).argmax(axis=1) if size else self._tiers
        """For each tier, the first tier to which it is connected by games."""
        tiers = np.append(self._tiers, -1)
        self._winners = tiers[members[np.arange(len(members)), points.argmax(axis=1)]]
        self._inside = _Choices(np.where(tiers[members] == self._winners[:, None], members, size), points, np.zeros(points.shape))
        self._within = _climb(self._inside, self._tiers)
        self.strengths: Array = self._within + self._offsets()[self._tiers]
        """The ratings in natural units, up to a common number. Between tiers, they are those with which the better tier would win
        everything with a probability of about one half; competitors that are not connected by games have the same mean."""
        self.zero: tuple[int, ...] = self._find_zero() if anchor is None else (anchor,)
        """The indices of the competitors whose mean rating is 0."""

    def lead(self, one: int, two: int) -> float:
        """Return the lead of a competitor over another one in Elo, by their strengths."""
        return float(self.strengths[one] - self.strengths[two]) * ELO

    def test(self, one: int, two: int) -> tuple[float, str, bool]:
        """Return the p-value of a difference, the name of its test, and whether a likelihood of superiority may be given.

        The name is empty if there is no test.
        """
        tier = self._tiers[one]
        if one == two:
            return 1.0, "", False
        if tier != self._tiers[two]:
            return self._test_sweep(one, two)
        if self._sizes[tier] == 2 and self._paired:
            duel = self._duel(*sorted((one, two)))
            return duel.p_value, "" if duel.elo_low is None else duel.test, True
        rounds = float(min(self._round_counts[1][one], self._round_counts[1][two]))
        if rounds < MIN_OUTCOMES:
            return 1.0, "", False
        inverse, covariance = [float(found[one, one] + found[two, two] - 2 * found[one, two]) for found in self._covariances]
        t = float(self._within[one] - self._within[two]) / _error(inverse, covariance, rounds)
        return 2 * student_cdf(rounds - 1, -abs(t)), RATED_ROUNDS, rounds >= MIN_LIKELY_ROUNDS

    def _test_sweep(self, one: int, two: int) -> tuple[float, str, bool]:
        """Test the lead of a competitor of one tier over one of another tier, as `test`.

        If n pairs were swept, the p-value is 2 to the power of 1 - n, as in the exact two-sided sign test (W. J. Dixon and A. M.
        Mood, The statistical sign test, 1946). In general, it is the smallest power of 1/2 at which the interval leaves out 0.
        """
        tiers = self._tiers[one], self._tiers[two]
        counts = self._bounds_at(SIGNIFICANCE_LEVEL).counts
        count = float(max(counts[tiers], counts[tiers[::-1]]))
        if self.find_lead(one, (two,))[1:] == (None, None):
            return 1.0, "", False

        def is_apart(halvings: int) -> bool:
            _, low, high = self.find_lead(one, (two,), 0.5**halvings)
            return (low is not None and low > 0) or (high is not None and high < 0)

        single = self._sizes[tiers[0]] == self._sizes[tiers[1]] == 1
        halvings, most = 0, min(MAX_HALVINGS, int(count + 1e-9))
        while halvings < most:
            middle = (halvings + most + 1) // 2
            halvings, most = (middle, most) if is_apart(middle) else (halvings, middle - 1)
        return 0.5**halvings, SWEEP, bool(single or count >= MIN_LIKELY_ROUNDS)

    @cached_property
    def information(self) -> Array:
        """Minus the second derivatives of the log-likelihood of all games at `strengths`, in natural units."""
        return _information(_Choices(self._members, self._inside.points, self._inside.bonus), self.strengths)

    def find_spread(self) -> float:
        """Return the standard deviation of leads about the differences of ratings, in Elo; 0 if chance may explain them.

        Strengths that are not transitive have such a spread. It is estimated from the pairings within tiers, as the variance
        between studies is in a meta-analysis (R. DerSimonian and N. Laird, Meta-analysis in clinical trials, 1986).
        """
        if not self._paired:
            return 0.0
        residuals, groups, played = self._residuals()[:, 0], len(self._members), self._pair_counts
        known = (self._inside.members < len(self._agents)).all(axis=1)
        if not known.any() or played[known].min() < MIN_ROUNDS_OF_SPREAD:
            return 0.0
        freedom = int(known.sum()) - len(_list_distinct(self._inside.members[known])) + len(_list_distinct(self._winners[known]))
        chance = _chances(self._inside, self._within)[:, 0]
        information = (self._inside.points.sum(axis=1) * chance * (1 - chance))[known]
        played = played[known]
        scatter = np.bincount(self._group_of_row, residuals**2, groups)[known] * played / (played - 1)
        scatter = np.maximum(scatter, MIN_SCATTER * information / played)
        excess = float((np.bincount(self._group_of_row, residuals, groups)[known] ** 2 / scatter).sum())
        if freedom < 1 or chi_squared_tail(freedom, excess) > MAX_CHANCE:
            return 0.0
        return sqrt((excess / freedom - 1) / float((information**2 / scatter).mean())) * ELO

    def _find_zero(self) -> tuple[int, ...]:
        played = _list_distinct(self._members[self._members < len(self._agents)])
        if not played:
            return ()
        sizes = self._sizes
        games = np.bincount(self._winners, self._inside.points.sum(axis=1), len(sizes))
        largest = max(range(len(sizes)), key=lambda tier: (sizes[tier], games[tier]))
        return tuple(np.flatnonzero(self._tiers == largest).tolist() if sizes[largest] > 1 else played)

    def find_lead(self, one: int, others: Sequence[int], chance: float = SIGNIFICANCE_LEVEL) -> Lead:
        """Return the lead of a competitor over the mean of others, in Elo."""
        contrast = np.zeros(len(self._agents))
        contrast[one] = 1
        contrast[[*others]] -= 1 / max(1, len(others))
        if not contrast.any():
            return 0.0, None, None
        masses = np.bincount(self._tiers, contrast)
        own = self._tiers[one]
        rest = [int(tier) for tier in np.flatnonzero(masses < -1e-9) if tier != own]
        related = self._connected[rest] == self._connected[own]
        if len(rest) == 1:
            related = self._reach[own, rest] | self._reach[rest, own]
        if not others or not related.all():
            return UNKNOWN_LEAD
        if rest and not self._paired:
            met = self._bounds_at(chance).counts
            if np.maximum(met[own, rest], met[rest, own]).min() < MIN_SWEPT_RANKINGS:
                return UNKNOWN_LEAD
        elo = float(contrast @ self.strengths) * ELO
        named = [one, *others] if len(others) == 1 else [one]
        if min(self._round_counts[0][k] for k in named) < MIN_OUTCOMES:
            return elo, None, None
        if not rest:
            below, above = self._reach_of(contrast, named, chance)
            return (elo, None, None) if isnan(below) else (elo, elo - below, elo + above)
        bounds = self._bounds_at(chance)
        bound = [float(-masses[rest] @ found) * ELO for found in (bounds.leads[own, rest], bounds.leads[rest, own])]
        if max(bound) == -inf:
            return elo, None, None
        ahead = bound[0] > -inf
        middle = float(contrast @ self._within) * ELO
        for tier in rest:  # a rating of which the bound depends may also be in the contrast; only the sum of the two is uncertain
            slope = bounds.find_slope(own, tier) if ahead else -bounds.find_slope(tier, own)
            contrast[self._tied] -= masses[tier] * slope
        below, above = self._reach_of(contrast, named, chance)
        if isnan(below):
            return elo, None, None
        counts = bounds.counts[own, rest] if ahead else bounds.counts[rest, own]
        few = 2 ** (1 - float(counts.min())) > chance  # by the sign test
        if ahead:
            low = min(elo, middle + bound[0] - below)
            return elo, min(low, 0.0) if few else low, None
        high = max(elo, middle - bound[1] + above)
        return elo, None, max(high, 0.0) if few else high

    def _reach_of(self, contrast: Array, named: Sequence[int], chance: float) -> tuple[float, float]:
        """Return how far the interval of a contrast reaches below and above it within tiers, in Elo; NaN if that is unknown.

        The rounds within a tier are those of its members in `named`. If it has none, they are those of the members whose weights
        differ from the most frequent one.
        """
        below = above = 0.0
        for tier in _list_distinct(self._tiers[np.flatnonzero(contrast)]):
            inside = np.flatnonzero(self._tiers == tier)
            weights = contrast[inside]
            if np.ptp(weights) < 1e-12:
                continue
            if len(inside) == 2 and self._paired:
                first, second = inside.tolist()
                found, share = self._duel(first, second, chance), float(weights[0] - weights[1]) / 2
                if found.elo is None or found.elo_low is None or found.elo_high is None:
                    return nan, nan
                down, up = (found.elo - found.elo_low) * abs(share), (found.elo_high - found.elo) * abs(share)
                down, up = (down, up) if share > 0 else (up, down)
            else:
                members = [k for k in named if self._tiers[k] == tier]
                if not members:
                    values, sizes = np.unique(weights.round(12), return_counts=True)
                    members = inside[np.abs(weights - values[sizes.argmax()]) > 1e-9].tolist()
                rounds = float(min([self._round_counts[1][k] for k in members]))
                if rounds < MIN_OUTCOMES:
                    return nan, nan
                used, weights = inside[weights != 0], weights[weights != 0]
                inverse, covariance = [float(weights @ one[used][:, used] @ weights) for one in self._covariances]
                down = up = student_quantile(rounds - 1, 1 - chance / 2) * _error(inverse, covariance, rounds) * ELO
            below, above = hypot(below, down), hypot(above, up)
        return below, above

    def _duel(self, one: int, two: int, chance: float = SIGNIFICANCE_LEVEL) -> EloEstimate:
        """Return the score of the first of two competitors against the second."""
        if (one, two, chance) not in self._duels:
            self._duels[one, two, chance] = estimate_match(self._games, self._agents[one], self._agents[two], chance)
        return self._duels[one, two, chance]

    def _residuals(self) -> Array:
        """Return, for each row, by how much the points of its members exceed the expected points."""
        expected = _chances(self._inside, self._within)[self._group_of_row]
        residuals: Array = self._rows - expected * self._rows.sum(axis=1, keepdims=True)
        return residuals

    @cached_property
    def _pair_games(self) -> Array:
        """The number of games of each row; 0 for a single game whose pair is incomplete, because seats may decide it."""
        games: Array = self._rows.sum(axis=1)
        return np.where(games > 1, games, 0.0) if self._paired else games

    @cached_property
    def _pair_counts(self) -> Array:
        """The effective number of pairs of each pairing: repeats of a pair add games to it, and not pairs (after L. Kish)."""
        sums, squares = [np.bincount(self._group_of_row, self._pair_games**power, len(self._members)) for power in (1, 2)]
        counts: Array = sums**2 / np.maximum(squares, 1e-300)
        return counts

    @cached_property
    def _varying(self) -> Any:
        """Whether a row says how results vary: it does unless it is the only pair of its pairing, over and over again."""
        alone = np.bincount(self._group_of_row, minlength=len(self._members)) == 1
        return ~(alone[self._group_of_row] & (self._rows.sum(axis=1) > 2))

    @cached_property
    def _round_counts(self) -> tuple[Array, Array]:
        """For each competitor, the effective number of rounds in which it has played, and in which it has played in its tier."""
        size, counts = len(self._agents), []
        inside = self._inside.members < size
        games = self._pair_games[:, None] * self._varying[:, None]
        for members in (self._members, np.where(inside & (inside.sum(axis=1, keepdims=True) > 1), self._inside.members, size)):
            sums, squares = np.zeros(size), np.zeros(size)
            for added in self._add_by_round(members[self._group_of_row], games):
                played = added if self._paired else (added > 0).astype(float)
                sums += played.sum(axis=1)
                squares += (played**2).sum(axis=1)
            counts.append(sums**2 / np.maximum(squares, 1e-300))
        return counts[0], counts[1]

    def _add_by_round(self, members: Places, values: Array) -> Iterator[Array]:
        """Yield the sums of values with a row for each competitor and a column for each round, for some rounds at a time.

        `members` contains the competitors of each row, and `values` the value of each of them, or one for all.
        """
        size, rounds = len(self._agents), int(self._round_of_row.max(initial=0)) + 1
        order = np.argsort(self._round_of_row, kind="stable")
        sorted_rounds, step = self._round_of_row[order], max(1, MAX_CELLS // (size + 1))
        for start in range(0, rounds, step):
            part = order[slice(*np.searchsorted(sorted_rounds, [start, start + step]))]
            added = np.zeros((size + 1, min(step, rounds - start)))
            np.add.at(added, (members[part], self._round_of_row[part][:, None] - start), values[part])
            yield added[:size]

    @cached_property
    def _covariances(self) -> tuple[Array, Array]:
        """The inverse of the information within tiers, and the sandwich: the covariance of ratings relative to their tier."""
        size, level, residuals = len(self._agents), _level(self._tiers), self._residuals()
        members = np.where(self._varying[:, None], self._inside.members[self._group_of_row], size)

        def add_scores() -> Iterator[tuple[Array, Any]]:
            """Yield the scores of some rounds at a time, and whether each competitor has played in them."""
            counted = self._add_by_round(members, np.ones((len(members), 1)))
            for scores, times in zip(self._add_by_round(members, residuals), counted, strict=True):
                yield scores, times > 0

        sums, numbers = np.zeros(size), np.zeros(size)
        for scores, played in add_scores():
            sums += scores.sum(axis=1)
            numbers += played.sum(axis=1)
        inverse = np.linalg.inv(_information(self._inside, self._within) + level) - level
        means, covariance = sums / np.maximum(numbers, 1), np.zeros((size, size))
        for scores, played in add_scores():
            influence = inverse @ (scores - played * means[:, None])
            covariance += influence @ influence.T
        return inverse, covariance

    @cached_property
    def _crossings(self) -> _Crossings:
        size, tiers, count = len(self._agents), np.append(self._tiers, -1), len(self._reach)
        crossing = (self._members < size) & (self._inside.members == size)
        row, column = np.nonzero(crossing)
        within = np.append(self._within, -np.inf)
        losers = self._members[row, column]
        leads = np.logaddexp.reduce(within[self._inside.members], axis=1, initial=-np.inf)[row] - within[losers]
        codes = np.where(crossing, self._winners[:, None] * count + tiers[self._members], -1)
        keys = codes[row, column]
        weights = self._pair_counts[row] if self._paired else self._inside.points.sum(axis=1)[row]
        counts: Array = np.bincount(keys, weights, count**2).astype(float)
        if not self._paired:
            last = (self._inside.members < size).sum(axis=1)[row] == 1  # the choices after which the better tier is complete
            counts = np.bincount(keys[last], weights[last], count**2).astype(float)
            rounds, of_rows = self._round_of_row.max(initial=0) + 1, codes[self._group_of_row]
            met = np.unique((of_rows * rounds + self._round_of_row[:, None])[of_rows >= 0])
            weights = weights / counts[keys]
            counts = np.bincount(met // rounds, minlength=count**2).astype(float)
            weights *= counts[keys]
        pairs = np.stack([keys // count, keys % count], axis=1)
        return _Crossings(pairs, leads, row, losers, weights, counts.reshape(count, count))

    def _offsets(self) -> Array:
        """Return the mean ratings of tiers. One that took all points has an even chance of that: it gets the points that are
        expected of it with the lead at which the chance is even.
        """
        found = self._crossings
        codes = found.pairs[:, 0] * len(self._reach) + found.pairs[:, 1]
        choices, even = self._find_sweeps(0.5)
        share = np.where(choices[codes] > 0, np.exp(-np.logaddexp(0, -found.leads - even[codes])), 0.5)
        points = np.where(choices[codes] > 0, found.weights, 1.0)[:, None] * np.stack([share, 1 - share], axis=1)
        return _climb(_Choices(found.pairs, points, np.stack([found.leads, 0 * found.leads], axis=1)), self._connected)

    def _find_sweeps(self, chance: float) -> tuple[Array, Array]:
        """Return, for each two tiers in both orders, the number of choices that the first won from the second, and the lead at
        which the probability of winning all of them is `chance`.
        """
        pairs, leads, weights, size = self._crossings.pairs, self._crossings.leads, self._crossings.weights, len(self._reach)
        codes = pairs[:, 0] * size + pairs[:, 1]
        total: Array = np.bincount(codes, weights, size * size).astype(float)
        found = -(np.bincount(codes, weights * leads, size * size) - log(chance)) / np.maximum(total, 1e-300)
        for _ in range(100):  # Newton's method for a convex decreasing function, from the left
            odds = np.exp(-np.logaddexp(0, leads + found[codes]))
            excess = np.bincount(codes, weights * np.logaddexp(0, -leads - found[codes]), size * size) + log(chance)
            step = excess / np.maximum(np.bincount(codes, weights * odds, size * size), 1e-300)
            found += np.where(total > 0, step, 0.0)
            if np.abs(step[total > 0]).max(initial=0.0) < MAX_LAST_STEP:
                break
        return total, found

    def _bounds_at(self, chance: float) -> _Bounds:
        """Return the lower bounds of the leads of tiers over others.

        A bound is the lead at which the probability of a clean sweep is `chance`. Bounds on a way from tier to tier are added up;
        the sum is wrong only if one of them is, and of several ways the highest sum counts, since every way was swept.
        """
        if chance in self._bounds:
            return self._bounds[chance]
        pairs, leads, rows, losers, weights, counts = self._crossings
        size = len(self._reach)
        codes = pairs[:, 0] * size + pairs[:, 1]
        total, bounds = self._find_sweeps(chance)
        shares = weights * np.exp(-np.logaddexp(0, leads + bounds[codes]))
        shares /= np.maximum(np.bincount(codes, shares, size * size), 1e-300)[codes]
        met, edge = np.unique(codes, return_inverse=True)
        columns, tied = np.full(len(self._agents) + 1, len(self._tied)), len(self._tied)
        columns[self._tied] = np.arange(tied)
        slopes, some = np.zeros((len(met), tied + 1)), max(1, MAX_CELLS // max(1, self._members.shape[1]))
        chances = _chances(self._inside, self._within)
        for start in range(0, len(rows), some):
            part = slice(start, start + some)
            better = rows[part]
            places = edge[part][:, None], columns[self._inside.members[better]]
            np.add.at(slopes, places, -shares[part][:, None] * chances[better])
        np.add.at(slopes, (edge, columns[losers]), shares)
        edges, stops = np.full(size * size, -1), np.full((size, size), -1)
        edges[met] = np.arange(len(met))
        found = np.where(total > 0, bounds, -np.inf).reshape(size, size)
        counts = counts.copy()
        for tier in range(size):
            sums = found[:, tier, None] + found[None, tier]
            stops[sums > found] = tier
            found = np.maximum(found, sums)
            counts = np.maximum(counts, np.minimum(counts[:, tier, None], counts[None, tier]))
        self._bounds[chance] = _Bounds(found, counts, edges.reshape(size, size), stops, slopes[:, :-1])
        return self._bounds[chance]


def _error(inverse: float, covariance: float, rounds: float) -> float:
    """Return a standard error, given what the inverse of the information and the sandwich say of the variance."""
    return sqrt(max(covariance * rounds / (rounds - 1), inverse * MIN_SCATTER / rounds))


def _list_distinct(numbers: Places) -> list[int]:
    """Return the different numbers, the smallest first. `np.unique` would import `numpy.ma`, which takes 5 ms."""
    return sorted(set(numbers.ravel().tolist()))


def _close(relation: Any) -> Any:
    """Return the transitive closure of a reflexive relation, a Boolean matrix."""
    while True:
        further = (relation.astype(np.float32) @ relation.astype(np.float32)) > 0
        if (further == relation).all():
            return relation
        relation = further


def _level(blocks: Places) -> Array:
    """Return the matrix that replaces the ratings of each block by their mean. It makes the information regular."""
    same: Array = (blocks[:, None] == blocks[None]).astype(float)
    same /= np.maximum(same.sum(axis=1, keepdims=True), 1)
    return same


def _chances(choices: _Choices, ratings: Array) -> Array:
    """Return the probability with which each member is chosen."""
    logits = np.where(choices.members < len(ratings), np.append(ratings, 0.0)[choices.members] + choices.bonus, -np.inf)
    weights = np.exp(logits - logits.max(axis=1, initial=-np.inf, keepdims=True))
    chances: Array = weights / weights.sum(axis=1, keepdims=True)
    return chances


def _information(choices: _Choices, ratings: Array) -> Array:
    """Return minus the second derivatives of the log-likelihood."""
    chances, size = _chances(choices, ratings), len(ratings) + 1
    weighted = choices.points.sum(axis=1, keepdims=True) * chances
    information, width = np.zeros((size, size)), choices.members.shape[1]
    np.add.at(information, (choices.members, choices.members), weighted)
    dense = width > max(MAX_ADDED_WIDTH, DENSE_SHARE * size)
    step = max(1, MAX_CELLS // (size if dense else width**2))
    for start in range(0, len(chances), step):
        part = slice(start, start + step)
        members, one, two = choices.members[part], weighted[part], chances[part]
        if dense:
            tables = np.zeros((2, len(members), size))
            for table, values in zip(tables, (one, two), strict=True):
                np.put_along_axis(table, members, values, axis=1)
            information -= tables[0].T @ tables[1]
        else:
            np.add.at(information, (members[:, :, None], members[:, None, :]), -one[:, :, None] * two[:, None, :])
    return information[:-1, :-1]


def _climb(choices: _Choices, blocks: Places) -> Array:
    """Return the ratings with the largest likelihood, which must exist. Within each block, their mean is 0.

    Newton's method. A step that changes leads by x is shortened to ln(1 + x), with which the method converges from everywhere
    (T. Sun and Q. Tran-Dinh, Generalized self-concordant functions, 2019).
    """
    ratings, level = np.zeros(len(blocks)), _level(blocks)
    taken = choices.members < len(ratings)
    for _ in range(1000):
        surplus = choices.points - choices.points.sum(axis=1, keepdims=True) * _chances(choices, ratings)
        gradient = np.bincount(choices.members[taken], surplus[taken], len(ratings))
        step = np.linalg.solve(_information(choices, ratings) + level, gradient)
        moves = np.append(step, 0.0)[choices.members]
        largest = np.where(taken, moves, -np.inf).max(axis=1) - np.where(taken, moves, np.inf).min(axis=1)
        change = float(largest.max(initial=0.0))
        ratings += step * (np.log1p(change) / change if change else 0.0)
        if change < MAX_LAST_STEP:
            break
    return ratings
