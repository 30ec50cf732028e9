"""Ratings for games in which positions favour a seat: the model in `bradley_terry` with a random effect of the position.

Both games of a pair begin from the same position. If the position favours the first seat by u, the first seat leads by d + u in
both games, and the wins of both sides cancel out in the score of the pair. A model without u treats such pairs as drawn matches
and moves all ratings towards each other, however many pairs there are (J. Neuhaus, J. Kalbfleisch and W. Hauck, A Comparison of
Cluster-Specific and Population-Averaged Approaches, 1991). Here u is normal with the mean 0 and one standard deviation for all
positions, the `spread`. The likelihood of a pair is the mean over u, by Gauss-Hermite quadrature.

For a fixed spread, the log-likelihood is concave in everything else: the log-likelihood of the games is concave in leads and u
together, the normal density is log-concave, and integrating over u keeps this property (A. Prekopa, 1973). The spread itself is
the root of the slope of the profile likelihood.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from arena.errors import ArenaError
from arena.stats.bradley_terry import Fit
from arena.stats.newton import Array, Slope, constrained_inverse, find_root, maximise
from arena.stats.observations import Competitor, Pair, Pairings, kinds_of
from arena.stats.pairing_spread import ALIKE, Differences
from arena.stats.prior import Model, virtual_games
from arena.stats.sandwich import Sandwich, score_pairing, stratum_of

NODES = 15
"""The number of nodes in the quadrature."""
PRIOR_SPREAD = 4.0
"""The prior standard deviation of the spread, in natural units (700 Elo). It is needed because a position in which the same seat
always wins gives no information about the size of the spread.
"""
MAX_SPREAD = 20.0
"""The largest spread that is tried."""
SPREAD_ACCURACY = 1e-4
"""The accuracy of the spread, in natural units: 0.02 Elo."""
MIN_GAIN = 1.35
"""The effect counts as real if it raises the log-likelihood by this much: a one-sided test at 95 %, as no spread is below 0."""


def _quadrature(count: int) -> tuple[Array, Array, Array]:
    """Return the nodes, weights that add up to 1, and the powers 0 to 2 of the nodes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / weights.sum(), np.stack([np.ones(count), nodes, nodes**2], axis=1)


_QUADRATURE, _WITHOUT_SPREAD = _quadrature(NODES), _quadrature(2)  # without a spread, only means and variances matter


class Kinds(NamedTuple):
    """The distinct pairs of all pairings, one per row. Counts are divided by the number of games in each order of seats."""

    pairing: "np.ndarray[Any, np.dtype[np.intp]]"
    """The index of the pairing for each pair."""
    counts: Array
    """The wins, draws and losses of the first seat: first if competitor one has this seat, then if competitor two has it."""
    times: Array
    """The number of times that each pair was played, including repeats."""


class Scores(NamedTuple):
    """The log-likelihoods of some kinds of pairs, with slopes and information for lead, first-mover term, draws and spread."""

    value: Array
    slope: Array
    information: Array


def score_pairs(lead: Array, first_mover: float, log_draws: float | None, spread: float, counts: Array) -> Scores:
    """Return the marginal log-likelihoods of pairs at the leads of their first competitors, with their derivatives."""
    draws = -np.inf if log_draws is None else log_draws
    nodes, weights, powers = _QUADRATURE if spread else _WITHOUT_SPREAD
    favour = first_mover + spread * nodes
    value = np.zeros((len(lead), len(nodes)))
    # For each node, in rows: the slopes by lead, first-mover term, draws and spread; and five curvatures for the information.
    slopes, curves = np.zeros((len(lead), 4, len(nodes))), np.zeros((len(lead), 5, len(nodes)))
    for order, sign in enumerate((1.0, -1.0)):
        wins, drawn, losses = counts[:, 3 * order : 3 * order + 3].T[:, :, None]
        games = wins + drawn + losses
        up = (sign * lead[:, None] + favour) / 2
        height = np.maximum(np.abs(up), max(draws, 0.0))  # subtracted to prevent overflow
        win, draw, loss = np.exp(up - height), np.exp(draws - height), np.exp(-up - height)
        total = win + draw + loss
        net, draw = (win - loss) / total, draw / total
        value += (wins - losses) * up - games * (np.log(total) + height)
        slope, curve, crossed = (wins - losses - games * net) / 2, games * (1 - draw - net * net) / 4, games * net * draw / 2
        slopes[:, 0] += sign * slope
        slopes[:, 1] += slope
        curves[:, 0] += curve
        curves[:, 1] += sign * curve
        curves[:, 2] -= crossed
        curves[:, 3] -= sign * crossed
        if log_draws is not None:
            value += drawn * draws
            slopes[:, 2] += drawn - games * draw
            curves[:, 4] += games * draw * (1 - draw)
    slopes[:, 3] = nodes * slopes[:, 1]
    best = value.max(axis=1, keepdims=True)
    weights = weights * np.exp(value - best)
    total = weights.sum(axis=1, keepdims=True)
    weights /= total
    weighted = slopes * weights[:, None]
    slope = weighted.sum(axis=2)
    # The information is the mean of the information at the nodes, minus the variance of their slopes.
    information = slope[:, :, None] * slope[:, None, :] - weighted @ slopes.transpose(0, 2, 1)
    means = (curves * weights[:, None]) @ powers  # the means of each curvature times 1, x and x squared
    both, apart, with_draws, against_draws, of_draws = means.transpose(1, 2, 0)
    for i, j, more in (
        (0, 0, both[0]), (1, 1, both[0]), (3, 3, both[2]), (1, 3, both[1]), (0, 1, apart[0]), (0, 3, apart[1]),
        (2, 2, of_draws[0]), (1, 2, with_draws[0]), (2, 3, with_draws[1]), (0, 2, against_draws[0]),
    ):  # fmt: skip
        information[:, i, j] += more
        if i != j:
            information[:, j, i] += more
    return Scores((best + np.log(total))[:, 0], slope, information)


def count_kinds(pairings: Sequence[Sequence[Pair]]) -> Kinds:
    """Count the distinct pairs of each pairing."""
    kinds = [(number, pair, count) for number, pairs in enumerate(pairings) for pair, count in kinds_of(pairs) if pair.games]
    single = {key: reduce_pair(pair) for key, pair in {id(pair): pair for _, pair, _ in kinds}.items()}
    rows = [(number, *single[id(pair)], count) for number, pair, count in kinds]
    return Kinds(
        np.array([row[0] for row in rows], dtype=np.intp),
        np.array([row[1] for row in rows], dtype=float).reshape(-1, 6),
        np.array([repeats * count for _, _, repeats, count in rows], dtype=float),
    )


def reduce_pair(pair: Pair) -> tuple[tuple[float, ...], float]:
    """Return the counts of a pair, scaled to one game in each order of seats, and how often the pair was played.

    A repeat of a pair counts as another pair with the same result.
    """
    repeats = max(pair.forward.games, pair.backward.games)
    return tuple([count / repeats for count in (*pair.forward, *pair.backward)]), repeats


class _Posterior:
    """The log-posterior of some kinds of pairs at one spread, as a function of free ratings, then shared terms."""

    def __init__(
        self, pairings: Pairings[Competitor], agents: Sequence[Competitor], model: Model, held: Mapping[Competitor, float]
    ) -> None:
        index = {agent: k for k, agent in enumerate(agents)}
        met = {(index[one], index[two]): pairs for (one, two), pairs in pairings.items() if any(pair.games for pair in pairs)}
        self._kinds = count_kinds(list(met.values()))
        self._one, self._two = np.array(list(met), dtype=np.intp).reshape(-1, 2)[self._kinds.pairing].T
        self._model, self._count = model, len(agents)
        self._start = np.array([held.get(agent, 0.0) for agent in agents] + [0.0] * (model.first_mover + model.draws))
        self.free = np.array([k for k in range(len(self._start)) if k >= len(agents) or agents[k] not in held], dtype=np.intp)
        self.free_ratings = len(agents) - len(held)
        self.spread = 0.0

    def everyone(self, place: Array) -> Array:
        """Return all ratings and shared terms: the free ones as given, the held ones unchanged."""
        full = self._start.copy()
        full[self.free] = place
        return full

    def __call__(self, place: Array) -> Slope:
        found = self.with_spread(place)
        return Slope(found.value, found.gradient[:-1], found.information[:-1, :-1])

    def with_spread(self, place: Array) -> Slope:
        """Return the slope at a place, with the spread as the last parameter."""
        scores, times, count = self._score(place), self._kinds.times, self._count
        slope, information = scores.slope * times[:, None], scores.information * times[:, None, None]
        columns = columns_of(self._model)[1:]
        size = count + len(columns)
        gradient, total = np.zeros(size), np.zeros((size, size))
        ends = ((self._one, 1.0), (self._two, -1.0))
        for end, sign in ends:
            np.add.at(gradient, end, sign * slope[:, 0])
            for other, turn in ends:
                np.add.at(total, (end, other), sign * turn * information[:, 0, 0])
        gradient[count:] = slope[:, columns].sum(axis=0)
        for k, column in enumerate(columns, count):
            for end, sign in ends:
                np.add.at(total[:, k], end, sign * information[:, 0, column])
            total[k, :count] = total[:count, k]
            total[k, count:] = information[:, column][:, columns].sum(axis=0)
        virtual = virtual_games(place, self._model)
        free = np.append(self.free, size - 1)
        gradient, total = gradient[free], total[np.ix_(free, free)]
        gradient[:-1] += virtual.slope
        total[range(len(place)), range(len(place))] += virtual.information
        gradient[-1] -= self.spread / PRIOR_SPREAD**2
        total[-1, -1] += 1 / PRIOR_SPREAD**2
        prior = float(virtual.value.sum()) - (self.spread / PRIOR_SPREAD) ** 2 / 2
        return Slope(float(times @ scores.value) + prior, gradient, total)

    def slope_of_variance(self, place: Array) -> tuple[float, float]:
        """Return the slope of the log-likelihood with respect to the variance of the effect, at 0, and the sum of squared slopes.

        The slope is above 0 if pairs vary more than single games would.
        """
        scores = self._score(place)
        slopes = (scores.slope[:, 1] ** 2 - scores.information[:, 1, 1]) / 2
        return float(self._kinds.times @ slopes), float(self._kinds.times @ slopes**2)

    def _score(self, place: Array) -> Scores:
        full = self.everyone(place)
        first_mover = float(full[self._count]) if self._model.first_mover else 0.0
        log_draws = float(full[-1]) if self._model.draws else None
        return score_pairs(full[self._one] - full[self._two], first_mover, log_draws, self.spread, self._kinds.counts)


def columns_of(model: Model) -> list[int]:
    """Return the columns of `Scores` that a model fits."""
    return [0, *[1] * model.first_mover, *[2] * model.draws, 3]


def fit_at_spread(
    pairings: Pairings[Competitor],
    agents: Sequence[Competitor],
    spread: float,
    *,
    model: Model,
    held: Mapping[Competitor, float] | None = None,
    start: Fit[Competitor] | None = None,
) -> Fit[Competitor]:
    """Fit the ratings for a fixed spread; some ratings may be held, too. The arguments are as for `bradley_terry.fit`."""
    posterior = _Posterior(pairings, agents, model, held or {})
    posterior.spread = spread
    near = np.array([*start.ratings, *start.shared])[posterior.free] if start else np.zeros(len(posterior.free))
    place, _ = maximise(posterior, near, ratings=posterior.free_ratings)
    return _make_fit(agents, posterior, place, model)


def fit_positions(pairings: Pairings[Competitor], plain: Fit[Competitor]) -> Fit[Competitor]:
    """Fit the ratings with a random effect of the position. If the pairs show no effect, return `plain`, the fit without it.

    There is an effect if both games of a pair are won by the same seat more often than independent games would be.
    """
    posterior = _Posterior(pairings, plain.agents, plain.model, {})
    place = np.array([*plain.ratings, *plain.shared])
    slope, scatter = posterior.slope_of_variance(place)
    if slope <= 0 or slope * slope < MIN_GAIN * scatter:  # the expected gain is below half of MIN_GAIN
        return plain
    without = posterior(place).value
    try:
        place = _find_spread(posterior, place, slope)
        fitted = _make_fit(plain.agents, posterior, place, plain.model)
        constrained_inverse(fitted.information, len(plain.agents))
    except ArenaError:  # tiny tables, in which any spread is possible
        return plain
    return fitted if fitted.log_likelihood - without >= MIN_GAIN else plain


def _find_spread(posterior: _Posterior, place: Array, slope: float) -> Array:
    """Set the likeliest spread; return its best place. `slope` is the slope with respect to the variance, at variance 0."""

    def climb(spread: float) -> float:
        """Move to the best place at a spread. Return minus the slope with respect to the spread there."""
        nonlocal place
        posterior.spread = spread
        place, _ = maximise(posterior, place, ratings=posterior.free_ratings)
        return -float(posterior.with_spread(place).gradient[-1])

    def climb_with_spread(whole: Array) -> Slope:
        posterior.spread = float(whole[-1])
        return posterior.with_spread(whole[:-1])

    low, high = (0.0, -2 * slope), (1.0, climb(1.0))
    while high[1] < 0 and high[0] < MAX_SPREAD:
        low, high = high, (2 * high[0], climb(2 * high[0]))
    try:
        whole, _ = maximise(climb_with_spread, np.append(place, high[0]), ratings=posterior.free_ratings)
    except ArenaError:
        whole = np.zeros(1)
    if low[0] < whole[-1] < high[0]:
        posterior.spread = float(whole[-1])
        return whole[:-1]
    # The likelihood is not concave in the spread, so Newton's method may leave the region around the maximum.
    climb(find_root(climb, low, high, accuracy=SPREAD_ACCURACY))
    return place


def _make_fit(agents: Sequence[Competitor], posterior: _Posterior, place: Array, model: Model) -> Fit[Competitor]:
    full, found = posterior.everyone(place), posterior.with_spread(place)
    return Fit(
        tuple(agents),
        tuple(full[: len(agents)].tolist()),
        float(full[len(agents)]) if model.first_mover else 0.0,
        float(full[-1]) if model.draws else None,
        model,
        found.value,
        found.information,
        posterior.spread,
    )


def sandwich_of_positions(fit: Fit[Competitor], pairings: Pairings[Competitor], differences: Differences = ALIKE) -> Sandwich:
    """Return the sandwich for ratings with the effect of positions. A pair is a cluster, with its repeats. See `sandwich`."""
    index = {agent: k for k, agent in enumerate(fit.agents)}
    terms = list(range(len(fit.agents), len(fit.information)))
    met = {seats: [pair for pair in pairs if pair.games] for seats, pairs in pairings.items()}
    met = {seats: pairs for seats, pairs in met.items() if pairs}
    kinds, leads = count_kinds(list(met.values())), np.array([fit.ratings[index[a]] - fit.ratings[index[b]] for a, b in met])
    slopes = _slopes(fit, leads[kinds.pairing], kinds.counts)[0]
    results = np.eye(3) if fit.model.draws else np.eye(3)[::2]
    all_pairs = np.array([np.concatenate([one, two]) for one in results for two in results])
    expected, values = _slopes(fit, np.repeat(leads, len(all_pairs)), np.tile(all_pairs, (len(leads), 1)))
    expected = expected.reshape(len(leads), len(all_pairs), -1)
    chances = np.exp(values).reshape(len(leads), -1, 1)
    scatters = expected.transpose(0, 2, 1) @ (expected * chances)  # the covariance of the slopes of one pair under the model
    strata, residuals = [], []
    for number, ((one, two), pairs) in enumerate(met.items()):
        own = kinds.pairing == number
        clusters = [reduce_pair(pair) for pair in pairs]
        of_kind = {tuple(counts): slope for counts, slope in zip(kinds.counts[own].tolist(), slopes[own], strict=True)}
        scores = np.array([of_kind[counts] * repeats for counts, repeats in clusters])
        scatter = scatters[number] * sum([repeats for _, repeats in clusters])
        places = index[one], index[two]
        stratum = stratum_of([*places, *terms], scores, scatter, alike=len(set(pairs)) == 1, parts=1)
        residuals.append(score_pairing(places, scores, scatter, stratum))
        strata.append(stratum.weighted(differences.weight(places)))
    return Sandwich(fit.ratings, fit.information, strata, residuals, differences)


def _slopes(fit: Fit[Competitor], leads: Array, counts: Array) -> tuple[Array, Array]:
    """Return the slopes of pairs with respect to both ratings and the fitted terms, in rows, and their log-likelihoods."""
    scores = score_pairs(leads, fit.first_mover, fit.log_draws, fit.spread, counts)
    slopes = scores.slope[:, columns_of(fit.model)]
    return np.column_stack([slopes[:, 0], -slopes[:, 0], slopes[:, 1:]]), scores.value
