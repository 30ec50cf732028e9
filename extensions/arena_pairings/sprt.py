"""The sequential probability ratio test (SPRT) of two hypotheses about Elo: a match ends as soon as either is accepted.

A. Wald, Sequential Analysis, 1947; generalised to hypotheses that leave the rest of the distribution open, and to pairs of games,
by M. Van den Bergh, The generalized sequential probability ratio test for Elo; the normalised model: the same, Normalized Elo in
practice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, expm1, isnan, log, nan, sqrt
from typing import Literal

from arena import ArenaError
from arena.stats import PAIR_SCORES, bisect, check_pentanomial, effect_size, expected_score, likeliest, log_likelihood

Verdict = Literal["H0", "H1"]

INDEPENDENT_GAMES = 0.125
"""The variance of a pair's mean score if games are never drawn and the two games are independent."""

MIN_PAIRS_OF_SLOPE = 10
"""The minimum number of pairs for a regression of scores on luck."""

NO_EVIDENCE = 1e-6
"""A pair's log-likelihood ratio below this counts as 0."""

MAX_ELO = {"normalized": 250.0, "logistic": 1000.0}
"""The largest allowed hypotheses in Elo; 250 normalised Elo are one standard deviation of a pair."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of H0, the lead is `elo0`, against H1, the lead is `elo1`. Raises ArenaError if the numbers define no test.

    `alpha` and `beta` are the probabilities of errors of the first kind (H1 accepted under H0) and of the second, approximately.
    The model is the unit of the two Elos: `normalized` (standard deviations of a game: the number of pairs needed does not depend
    on the share of draws) or `logistic` (ordinary Elo).
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Literal["normalized", "logistic"] = "normalized"

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ArenaError(f"sprt: expected elo0 below elo1, got {self.elo0:g} and {self.elo1:g}")
        if max(abs(self.elo0), abs(self.elo1)) > MAX_ELO[self.model]:
            raise ArenaError(f"sprt: expected Elos within {MAX_ELO[self.model]:g} of 0, got {self.elo0:g} and {self.elo1:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ArenaError(f"sprt: expected alpha and beta between 0 and 0.5, got {self.alpha:g} and {self.beta:g}")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at or below which H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at or above which H1 is accepted."""
        return log((1 - self.beta) / self.alpha)

    def verdict(self, llr: float) -> Verdict | None:
        """The accepted hypothesis; None while the test is undecided."""
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

    def describe(self) -> str:
        """Return the hypotheses of the test and the unit of their Elos."""
        unit = "normalised Elo" if self.model == "normalized" else "Elo"
        null, alternative = (f"{lead:+g}" if lead else "0" for lead in (self.elo0, self.elo1))
        return f"H0: {null}, H1: {alternative} {unit}"

    def explain(self, verdict: Verdict, one: str, other: str) -> str:
        """Return the conclusion for `one`: the other hypothesis is false, except for the accepted risk.

        >>> Sprt(0, 30).explain("H0", "d3", "d2")
        'd3 is not 30 Elo better than d2 (at most 5 % risk)'
        """
        accepted = verdict == "H1"
        edge, risk = (self.elo0, self.alpha) if accepted else (self.elo1, self.beta)
        if edge == 0:
            words = f"is better than {other}" if accepted else f"is not as good as {other}"
        elif (edge > 0) == accepted:
            words = f"is more than {abs(edge):g} Elo {'better' if accepted else 'worse'} than {other}"
        else:
            words = f"is not {abs(edge):g} Elo {'worse' if accepted else 'better'} than {other}"
        return f"{one} {words} (at most {100 * risk:g} % risk)"


def log_likelihood_ratio(counts: Sequence[float], test: Sprt) -> float:
    """The log-likelihood ratio of H1 to H0; finite for all counts, 0 without pairs.

    `counts` are pentanomial. Each likelihood is the maximum under its hypothesis over all five scores, including scores without
    any pairs, so the test can also decide a match that one side always wins. Raises ArenaError if `counts` are not five
    non-negative numbers.
    """
    if not sum(check_pentanomial(counts)):
        return 0.0
    if test.model == "logistic":
        return log_likelihood(counts, PAIR_SCORES, expected_score(test.elo1)) - log_likelihood(
            counts, PAIR_SCORES, expected_score(test.elo0)
        )
    return _at_effect(counts, effect_size(test.elo1)) - _at_effect(counts, effect_size(test.elo0))


class LuckFreePairs:
    """The scores of pairs less their luck, in the order of their positions, for a test of the same hypotheses.

    Luck has the mean 0 given all earlier pairs. Its coefficient for a pair is the slope of the regression on the earlier pairs
    only. Therefore the rest of each pair has the same conditional mean as its score, at whichever pair the test stops. (A
    coefficient that is fitted to all pairs would depend on when the test looks.) The ratio assumes normal values of unknown
    variance, with two pairs of independent games added.
    """

    def __init__(self) -> None:
        self.pairs = 0
        self._scores, self._squares, self._luck, self._lucky_squares, self._products = (0.0,) * 5
        self._left, self._left_squares = 0.0, 0.0

    @property
    def known(self) -> bool:
        """Whether any pair had luck."""
        return self._lucky_squares > 0

    def add(self, score: float, luck: float) -> None:
        """Add a pair: the first competitor's share of the points, and its luck in any unit."""
        slope = 0.0
        if self.pairs >= MIN_PAIRS_OF_SLOPE and self._lucky_squares:
            slope = (self._products - self._scores * self._luck / self.pairs) / self._lucky_squares
        left = score - slope * luck - 0.5
        self.pairs += 1
        self._scores += score
        self._squares += (score - 0.5) ** 2
        self._luck += luck
        self._lucky_squares += luck**2
        self._products += score * luck
        self._left += left
        self._left_squares += left**2

    def _variances(self) -> tuple[float, float]:
        """The variances of the scores with and without luck."""
        raw = self._squares - self.pairs * (self._scores / max(1, self.pairs) - 0.5) ** 2
        left = self._left_squares - self._left**2 / max(1, self.pairs)
        return (raw + 2 * INDEPENDENT_GAMES) / (self.pairs + 2), (left + 2 * INDEPENDENT_GAMES) / (self.pairs + 2)

    @property
    def saving(self) -> float:
        """About the factor by which the correction reduces the number of pairs."""
        raw, left = self._variances()
        return raw / left

    def ratio(self, test: Sprt) -> float:
        """The log-likelihood ratio of H1 to H0."""
        raw, _ = self._variances()
        apart = []
        for elo in (test.elo0, test.elo1):
            lead = effect_size(elo) * sqrt(raw) if test.model == "normalized" else expected_score(elo) - 0.5
            squares = self._left_squares - 2 * lead * self._left + self.pairs * lead**2
            apart.append(log(squares + 2 * INDEPENDENT_GAMES))
        return self.pairs / 2 * (apart[0] - apart[1])


def expected_pairs(test: Sprt, elo: float, *, variance: float = INDEPENDENT_GAMES) -> float:
    """The expected number of pairs when the true lead is `elo`, in the test's own Elo.

    This is Wald's approximation, which treats the ratio as a Brownian motion. `variance` is the variance of a pair's mean score,
    used only in the logistic model. The default holds without draws and is too large with them.
    """
    low, high, true = (_effect(test, lead, variance) for lead in (test.elo0, test.elo1, elo))
    step = high - low
    return _expected_rest(test, 0.0, step * (true - (low + high) / 2), step)


def _expected_rest(test: Sprt, llr: float, drift: float, step: float) -> float:
    """The expected number of further pairs of a test at `llr`. Each pair changes it by `drift` on average, with the standard
    deviation `step`.
    """
    lower, upper = test.lower - llr, test.upper - llr
    if abs(drift) < 1e-9 * step * step:  # the limit, since the general formula becomes 0 / 0
        return -lower * upper / (step * step)
    up = _hits_upper(-2 * drift / (step * step), lower, upper)
    return (up * upper + (1 - up) * lower) / drift


@dataclass(frozen=True, slots=True)
class SprtForecast:
    """The expected length of an undecided test in pairs, including the pairs so far."""

    at_score: float | None
    """If play continues with the score so far; None if this score favours neither hypothesis."""
    under_h0: float
    """If the true lead is `elo0`."""
    under_h1: float
    """If it is `elo1`."""

    @property
    def likely(self) -> float:
        """The expected length at the score so far, else the longer of the two others."""
        return max(self.under_h0, self.under_h1) if self.at_score is None else self.at_score

    def describe(self) -> str:
        """Return the expected length of a test in words."""
        if self.at_score is None:
            return f"about {self.under_h0:,.0f} pairs in all if H0 holds, {self.under_h1:,.0f} if H1"
        either = f"{self.under_h0:,.0f} if H0 holds, {self.under_h1:,.0f} if H1"
        return f"about {self.at_score:,.0f} pairs in all at this score, {either}"


def forecast(test: Sprt, counts: Sequence[float], llr: float, saving: float = 1.0) -> SprtForecast | None:
    """Return the expected length of a test with these pentanomial counts, whose ratio is `llr`; None once it is decided.

    `saving` is the factor by which the correction for luck reduces the variance of pairs.

    This is Wald's approximation from the current ratio. At the score so far, a further pair adds the mean of the pairs until now,
    or exactly as much if these were all alike.
    """
    if test.verdict(llr) is not None:
        return None
    pairs = sum(check_pentanomial(counts))
    # The variance of a pair's mean score, with two pairs of independent games added:
    mean = sum(n * s for n, s in zip(counts, PAIR_SCORES, strict=True)) / pairs if pairs else 0.5
    spread = sum(n * (s - mean) ** 2 for n, s in zip(counts, PAIR_SCORES, strict=True))
    variance = (spread + 2 * INDEPENDENT_GAMES) / (pairs + 2)
    low, high = (_effect(test, lead, variance) for lead in (test.elo0, test.elo1))
    step = (high - low) * sqrt(saving)
    at_score: float | None = None
    if abs(llr) >= NO_EVIDENCE * pairs and pairs:
        alike = max(counts) == pairs
        rest = ((test.upper if llr > 0 else test.lower) - llr) * pairs / llr
        at_score = ceil(pairs + rest) if alike else pairs + _expected_rest(test, llr, llr / pairs, step)
    drift = step * step / 2
    return SprtForecast(at_score, pairs + _expected_rest(test, llr, -drift, step), pairs + _expected_rest(test, llr, drift, step))


def _hits_upper(tilted: float, lower: float, upper: float) -> float:
    """The probability that a Brownian motion leaves at the upper bound, exp(tilted x) being a martingale of it.

    Exponents above 700 would overflow; the probability is then 0 or 1 to all digits.
    """
    if tilted > 0:
        return expm1(tilted * lower) / (expm1(tilted * lower) - expm1(tilted * upper)) if tilted * upper < 700 else 0.0
    if tilted * lower > 700:
        return 1.0
    return -expm1(tilted * lower) / (expm1(tilted * upper) - expm1(tilted * lower))


def _effect(test: Sprt, elo: float, variance: float) -> float:
    if test.model == "normalized":
        return effect_size(elo)
    return (expected_score(elo) - 0.5) / sqrt(variance)


def _at_effect(counts: Sequence[float], effect: float) -> float:
    """The largest log-likelihood of the counts among distributions of this effect size.

    The condition is not linear in the probabilities, so it is repeatedly linearised at the last solution. A large effect is
    approached in steps, each from the solution of the previous one. If this does not converge, for example because nearly all
    pairs are alike, the solutions are searched for along the mean.
    """
    shares: list[float] | None = [1 / len(counts)] * len(counts)
    steps = max(1, ceil(abs(effect) / _MAX_LINEAR_STEP))
    for step in range(1, steps + 1):
        shares = shares and _settle(counts, shares, effect * step / steps)
    return _along_means(counts, effect) if shares is None else _log_probability(counts, shares)


_MAX_LINEAR_STEP = 0.25
"""The largest change of the effect size for which the linearised condition is good enough to converge."""
_BRACKETS = 400
"""The number of means between which roots are bracketed."""


def _log_probability(counts: Sequence[float], shares: Sequence[float]) -> float:
    return sum(n * log(max(share, 1e-300)) for n, share in zip(counts, shares, strict=True) if n)


def _along_means(counts: Sequence[float], effect: float) -> float:
    """The same as `_at_effect`, from every fixed point: a mean that the likeliest distribution, linearised there, has."""

    def at(mean: float) -> list[float]:
        deviation = (mean - 0.5) / effect
        values = [s - 0.5 - effect * (deviation + (s - mean) ** 2 / deviation) / 2 for s in PAIR_SCORES]
        return likeliest(counts, values, 0.0) if min(values) < 0 < max(values) else []

    def off(mean: float) -> float:
        shares = at(mean)
        return sum(p * s for p, s in zip(shares, PAIR_SCORES, strict=True)) - mean if shares else nan

    end = 1.0 if effect > 0 else 0.0
    # The means are cubically denser towards one half, because solutions crowd at small deviations.
    means = [0.5 + (end - 0.5) * (step / _BRACKETS) ** 3 for step in range(1, _BRACKETS)]
    gaps = [(mean, off(mean)) for mean in means]
    found = [
        bisect(lambda mean, side=-gap: off(mean) * side, one, two)  # type: ignore[misc]
        for (one, gap), (two, other) in pairwise(gaps)
        if gap * other <= 0
    ]
    if not found:  # a solution at the very end of the range, or between two means that do not bracket it
        found = [min((abs(gap), mean) for mean, gap in gaps if not isnan(gap))[1]]
    return max(_log_probability(counts, at(mean)) for mean in found)


def _settle(counts: Sequence[float], shares: list[float], effect: float) -> list[float] | None:
    """The probabilities that the linearised condition reproduces; None if it does not converge."""
    for _ in range(100):
        mean = sum(p * s for p, s in zip(shares, PAIR_SCORES, strict=True))
        deviation = max(1e-9, sqrt(sum(p * (s - mean) ** 2 for p, s in zip(shares, PAIR_SCORES, strict=True))))
        # The gradient of the condition at these probabilities; the mean of the values is 0 if it holds, to first order:
        values = [s - 0.5 - effect * (deviation + (s - mean) ** 2 / deviation) / 2 for s in PAIR_SCORES]
        if not min(values) < 0 < max(values):
            return None
        found = likeliest(counts, values, 0.0)
        change = max(abs(new - old) for new, old in zip(found, shares, strict=True))
        shares = found
        if change < 1e-10:
            return shares
    return None
