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

from arena.errors import ArenaError
from arena.stats.calculator import check_pentanomial
from arena.stats.elo import effect_size, expected_score
from arena.stats.likelihood import bisect, likeliest, log_likelihood
from arena.stats.observations import PAIR_SCORES

Verdict = Literal["H0", "H1"]

INDEPENDENT_GAMES = 0.125
"""The variance of a pair's mean score when nothing is ever drawn and its two games are independent."""

NO_EVIDENCE = 1e-6
"""A log-likelihood ratio of a pair below this is taken for none."""

MAX_ELO = {"normalized": 250.0, "logistic": 1000.0}
"""The largest Elos that may be tested for: 250 normalised ones are one standard deviation of a pair."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of H0, the lead is `elo0`, against H1, the lead is `elo1`. Raises ArenaError where the numbers make no test.

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
        """The accepted hypothesis; None while the match has to go on."""
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None


def log_likelihood_ratio(counts: Sequence[float], test: Sprt) -> float:
    """The log-likelihood ratio of H1 to H0; finite for all counts, 0 without pairs.

    `counts` are pentanomial. Either likelihood is the largest under its hypothesis, over all five scores, seen or not; so a match
    that one side wins throughout is decided too. Raises ArenaError where `counts` are not five, or one is negative.
    """
    if not sum(check_pentanomial(counts)):
        return 0.0
    if test.model == "logistic":
        return log_likelihood(counts, PAIR_SCORES, expected_score(test.elo1)) - log_likelihood(
            counts, PAIR_SCORES, expected_score(test.elo0)
        )
    return _at_effect(counts, effect_size(test.elo1)) - _at_effect(counts, effect_size(test.elo0))


def expected_pairs(test: Sprt, elo: float, *, variance: float = INDEPENDENT_GAMES) -> float:
    """The expected number of pairs when the true lead is `elo`, in the test's own Elo.

    Wald's approximation, the ratio taken for a Brownian motion. `variance` is that of a pair's mean score, which the logistic
    model alone needs: the default holds without draws, and is too large with them.
    """
    low, high, true = (_effect(test, lead, variance) for lead in (test.elo0, test.elo1, elo))
    step = high - low
    return _expected_rest(test, 0.0, step * (true - (low + high) / 2), step)


def _expected_rest(test: Sprt, llr: float, drift: float, step: float) -> float:
    """The expected number of further pairs of a test that stands at `llr`, which each of them changes by `drift` on average, with
    a standard deviation of `step`.
    """
    lower, upper = test.lower - llr, test.upper - llr
    if abs(drift) < 1e-9 * step * step:  # the limit, since the general formula becomes 0 / 0
        return -lower * upper / (step * step)
    up = _hits_upper(-2 * drift / (step * step), lower, upper)
    return (up * upper + (1 - up) * lower) / drift


@dataclass(frozen=True, slots=True)
class SprtForecast:
    """The expected length of an undecided test in pairs, those played so far included."""

    at_score: float | None
    """If the rest goes on as the pairs so far; None where they speak for neither hypothesis."""
    under_h0: float
    """If the true lead is `elo0`."""
    under_h1: float
    """If it is `elo1`."""

    @property
    def likely(self) -> float:
        """That at the score so far, else the longer of the two others."""
        return max(self.under_h0, self.under_h1) if self.at_score is None else self.at_score


def forecast(test: Sprt, counts: Sequence[float], llr: float) -> SprtForecast | None:
    """Return the expected length of a test with these pentanomial counts, whose ratio is `llr`; None once it is decided.

    Wald's approximation, from where the test stands. At the score so far every pair adds as much on average as the pairs until
    now have; where these all came out alike, exactly as much.
    """
    if test.verdict(llr) is not None:
        return None
    pairs = sum(check_pentanomial(counts))
    variance = _variance(counts)
    low, high = (_effect(test, lead, variance) for lead in (test.elo0, test.elo1))
    step = high - low
    at_score: float | None = None
    if abs(llr) >= NO_EVIDENCE * pairs and pairs:
        alike = max(counts) == pairs
        rest = ((test.upper if llr > 0 else test.lower) - llr) * pairs / llr
        at_score = ceil(pairs + rest) if alike else pairs + _expected_rest(test, llr, llr / pairs, step)
    drift = step * step / 2
    return SprtForecast(at_score, pairs + _expected_rest(test, llr, -drift, step), pairs + _expected_rest(test, llr, drift, step))


def _variance(counts: Sequence[float]) -> float:
    """The variance of a pair's mean score, with two pairs of independent games added to those that were played."""
    pairs = sum(counts)
    mean = sum(n * s for n, s in zip(counts, PAIR_SCORES, strict=True)) / pairs if pairs else 0.5
    spread = sum(n * (s - mean) ** 2 for n, s in zip(counts, PAIR_SCORES, strict=True))
    return (spread + 2 * INDEPENDENT_GAMES) / (pairs + 2)


def _hits_upper(tilted: float, lower: float, upper: float) -> float:
    """The probability that a Brownian motion leaves at the upper bound, exp(tilted x) being a martingale of it.

    Exponents above 700 would overflow; the probability is 0 or 1 to all digits there.
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

    The condition is not linear in the probabilities, so it is linearised at the last solution, again and again; a large effect is
    approached in steps, each from the solution of the one before. Where that does not converge, as for pairs that are nearly all
    alike, the solutions are searched for along the mean.
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
    # Cubically closer towards one half, where the deviation that belongs to a mean is small and solutions crowd.
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
    """The probabilities that the linearised condition reproduces; None where it does not converge."""
    for _ in range(100):
        values = _touching(shares, effect)
        if not min(values) < 0 < max(values):
            return None
        found = likeliest(counts, values, 0.0)
        change = max(abs(new - old) for new, old in zip(found, shares, strict=True))
        shares = found
        if change < 1e-10:
            return shares
    return None


def _touching(shares: Sequence[float], effect: float) -> list[float]:
    """The gradient of the condition at these probabilities: values whose mean is 0 where the condition holds, to first order."""
    mean = sum(p * s for p, s in zip(shares, PAIR_SCORES, strict=True))
    deviation = max(1e-9, sqrt(sum(p * (s - mean) ** 2 for p, s in zip(shares, PAIR_SCORES, strict=True))))
    return [s - 0.5 - effect * (deviation + (s - mean) ** 2 / deviation) / 2 for s in PAIR_SCORES]
