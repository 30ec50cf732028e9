"""The sequential probability ratio test (SPRT) for two hypotheses about Elo: a match ends when one of them is accepted.

The test goes back to A. Wald, Sequential Analysis, 1947. M. Van den Bergh generalised it to pairs of games, and to hypotheses
that determine only the lead and leave the distribution of the scores open otherwise (The generalized sequential probability ratio
test for Elo). The normalised model is described by the same author (Normalized Elo in practice).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, expm1, isnan, log, log10, nan, sqrt
from typing import Literal

from arena import ArenaError
from arena.api.results import figures
from arena.stats import (
    EloEstimate,
    bisect,
    expected_score,
    likeliest,
    log_likelihood,
    student_cdf,
    student_quantile,
)

Verdict = Literal["H0", "H1"]

INDEPENDENT_GAMES = 0.125
"""The variance of the mean score of a pair if games are never drawn and the two games are independent."""

MIN_PAIRS_OF_SLOPE = 10
"""The minimum number of pairs for a regression of scores on luck."""

NO_EVIDENCE = 1e-6
"""If the mean log-likelihood ratio of a pair is closer to 0 than this, the score so far does not favour either hypothesis."""

MAX_ELO = {"normalized": 250.0, "logistic": 1000.0}
"""The largest Elo value that a hypothesis may have. One standard deviation of the mean score of a pair is about 246 normalised
Elo.
"""


def effect_size(elo: float) -> float:
    """Return the effect size for a lead in normalised Elo. It says by how many standard deviations of the mean score of a pair
    the expected value of this score is above one half.
    """
    return elo * sqrt(2) * log(10) / 800


@dataclass(frozen=True, slots=True)
class AdjustedElo:
    """The Elo of the scores that a sequential test adjusts for luck, with its 95 % interval. Values beyond all Elo are None."""

    elo: float | None
    elo_low: float | None
    elo_high: float | None
    superiority: float
    """The likelihood of superiority of the first entry, by Student's t of the adjusted scores."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of the hypothesis H0 (the lead is `elo0`) against H1 (the lead is `elo1`). Raises ArenaError if the numbers do not
    define a test.

    `alpha` is approximately the probability that H1 is accepted although H0 is true, and `beta` is approximately the probability
    that H0 is accepted although H1 is true. The model is the unit of both Elo values: `logistic` is ordinary Elo; `normalized`
    measures in standard deviations of a game, so that the number of pairs needed does not depend on the share of draws.
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
            most = MAX_ELO[self.model]
            raise ArenaError(f"sprt: expected Elo differences from {-most:g} to {most:g}, got {self.elo0:g} and {self.elo1:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ArenaError(f"sprt: expected alpha and beta between 0 and 0.5, got {self.alpha:g} and {self.beta:g}")

    @property
    def lower(self) -> float:
        """Return the log-likelihood ratio at or below which H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Return the log-likelihood ratio at or above which H1 is accepted."""
        return log((1 - self.beta) / self.alpha)

    def verdict(self, llr: float) -> Verdict | None:
        """Return the hypothesis that is accepted; None while the test is undecided."""
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

    @property
    def unit(self) -> str:
        """Return the unit of the hypotheses."""
        return "normalised Elo" if self.model == "normalized" else "Elo"

    def describe(self) -> str:
        """Return the two hypotheses and the unit of their Elo values."""
        null, alternative = (f"{lead:+g}" if lead else "0" for lead in (self.elo0, self.elo1))
        return f"H0: {null}, H1: {alternative} {self.unit}"

    def find_better(self, verdict: Verdict | None, ratio: "Callable[[Sprt], float]") -> int:
        """Return 1 if the test shows that the first entry is better, -1 if it shows that the second is, otherwise 0.

        `ratio` returns the log-likelihood ratio of the results for the hypotheses of a test. If `elo0` is below 0 and `elo1`
        above it, the verdict leaves the sign of the lead open. Then each of them is also compared with a lead of 0. If the lead
        is 0, the likelihood ratio is a martingale, so that it ever reaches the bound of the test with at most about the
        probability alpha, whatever ends the match (J. Ville, Etude critique de la notion de collectif, 1939).

        >>> Sprt(-20, 20).find_better("H1", lambda test: 3.0 if test.elo0 < 0 else 1.0)
        0
        """
        if verdict is not None and self.elo0 < 0 < self.elo1:
            up, down = replace(self, elo0=0.0), replace(self, elo1=0.0)
            return int(up.verdict(ratio(up)) == "H1") - int(down.verdict(ratio(down)) == "H0")
        return int(verdict == "H1" and self.elo0 >= 0) - int(verdict == "H0" and self.elo1 <= 0)

    def explain(self, verdict: Verdict, one: str, other: str, better: int = 0) -> str:
        """Return the conclusion about `one`: the hypothesis that was not accepted is false, except for the risk of the test.

        If `better` of `find_better` says more, the conclusion is that `one` or the other entry is better.

        >>> Sprt(0, 30).explain("H0", "d3", "d2")
        'd3 is not 30 normalised Elo better than d2 (error probability at most 5 %)'
        """
        accepted = verdict == "H1"
        if better and self.elo0 < 0 < self.elo1:
            sign = replace(self, elo0=0.0) if better > 0 else replace(self, elo1=0.0)
            return sign.explain("H1" if better > 0 else "H0", one, other)
        edge, risk = (self.elo0, self.alpha) if accepted else (self.elo1, self.beta)
        if edge == 0:
            words = f"is better than {other}" if accepted else f"is not as good as {other}"
        elif (edge > 0) == accepted:
            words = f"is more than {abs(edge):g} {self.unit} {'better' if accepted else 'worse'} than {other}"
        else:
            words = f"is not {abs(edge):g} {self.unit} {'worse' if accepted else 'better'} than {other}"
        return f"{one} {words} (error probability at most {100 * risk:g} %)"


def log_likelihood_ratio(counts: Sequence[float], test: Sprt, scores: Sequence[float] = EloEstimate.PAIR_SCORES) -> float:
    """Return the log-likelihood ratio of H1 to H0. It is finite for all counts, and 0 without pairs.

    `counts` contains the number of pairs for each of the possible `scores`, which increase from 0 to 1. By default these are
    the five scores of a pair. Each likelihood is the maximum under its hypothesis over all scores, including scores that no
    pair has, so the test can also decide a match that one side always wins. Raises ArenaError if one of five `counts` is
    negative or not a number.
    """
    if not sum(EloEstimate.check_counts(counts) if scores is EloEstimate.PAIR_SCORES else counts):
        return 0.0
    if test.model == "logistic":
        leads = [log_likelihood(counts, scores, expected_score(elo)) for elo in (test.elo0, test.elo1)]
    else:
        leads = [_at_effect(counts, effect_size(elo), scores) for elo in (test.elo0, test.elo1)]
    return leads[1] - leads[0]


class LuckFreePairs:
    """The scores of pairs minus their luck, in the order of their positions, for a test of the same hypotheses.

    Given all earlier pairs, luck has the mean 0. Before it is subtracted from a pair, it is multiplied by the slope of a
    regression on only the earlier pairs. Therefore the difference has the same conditional mean as the score of the pair, at
    whichever pair the test stops. (A factor that is fitted to all pairs would depend on when the test is evaluated.) For the
    ratio, the differences are assumed to be normally distributed with an unknown variance, and two pairs of independent games are
    added to the estimate of this variance.
    """

    def __init__(self) -> None:
        self.pairs = 0
        self._scores, self._squares, self._luck, self._lucky_squares, self._products = (0.0,) * 5
        self._left, self._left_squares = 0.0, 0.0

    @property
    def known(self) -> bool:
        """Return True if luck is known for any pair."""
        return self._lucky_squares > 0

    def add(self, score: float, luck: float) -> None:
        """Add a pair. `score` is the share of the points that the first competitor won. `luck` is the luck of this competitor, in
        any unit.
        """
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
        """Return the variances of the scores with luck and without it."""
        raw = self._squares - self.pairs * (self._scores / max(1, self.pairs) - 0.5) ** 2
        left = self._left_squares - self._left**2 / max(1, self.pairs)
        return (raw + 2 * INDEPENDENT_GAMES) / (self.pairs + 2), (left + 2 * INDEPENDENT_GAMES) / (self.pairs + 2)

    @property
    def saving(self) -> float:
        """Return approximately the factor by which the correction reduces the number of pairs."""
        raw, left = self._variances()
        return raw / left

    def estimate(self) -> AdjustedElo | None:
        """Return the Elo of the mean adjusted score, by Student's t; None for fewer than three pairs."""
        if self.pairs < 3:
            return None
        mean = self._left / self.pairs
        error = sqrt(max(0.0, self._left_squares - self._left * mean) / (self.pairs - 1) / self.pairs)
        reach = student_quantile(self.pairs - 1, 0.975) * error
        scores = [0.5 + lead for lead in (mean, mean - reach, mean + reach)]
        elo, low, high = [400 * log10(score / (1 - score)) if 0 < score < 1 else None for score in scores]
        superiority = student_cdf(self.pairs - 1, mean / error) if error else 0.5 + (mean > 0) / 2 - (mean < 0) / 2
        return AdjustedElo(elo, low, high, superiority)

    def ratio(self, test: Sprt) -> float:
        """Return the log-likelihood ratio of H1 to H0."""
        raw, _ = self._variances()
        apart = []
        for elo in (test.elo0, test.elo1):
            lead = effect_size(elo) * sqrt(raw) if test.model == "normalized" else expected_score(elo) - 0.5
            squares = self._left_squares - 2 * lead * self._left + self.pairs * lead**2
            apart.append(log(squares + 2 * INDEPENDENT_GAMES))
        return self.pairs / 2 * (apart[0] - apart[1])


def expected_pairs(test: Sprt, elo: float) -> float:
    """Return the expected number of pairs if the true lead is `elo`, in the Elo unit of the test.

    This is Wald's approximation, which treats the ratio as a Brownian motion. In the logistic model, it needs the variance of
    the mean score of a pair, and takes that of games without draws; if games are drawn, this is too large.
    """
    low, high, true = (_effect(test, lead, INDEPENDENT_GAMES) for lead in (test.elo0, test.elo1, elo))
    step = high - low
    return _expected_rest(test, 0.0, step * (true - (low + high) / 2), step)


def _expected_rest(test: Sprt, llr: float, drift: float, step: float) -> float:
    """Return the expected number of further pairs for a test with the ratio `llr`. A pair changes the ratio by `drift` on
    average, with the standard deviation `step`.
    """
    lower, upper = test.lower - llr, test.upper - llr
    if abs(drift) < 1e-9 * step * step:  # without drift, the formula below becomes 0 / 0
        return -lower * upper / (step * step)
    up = _hits_upper(-2 * drift / (step * step), lower, upper)
    return (up * upper + (1 - up) * lower) / drift


@dataclass(frozen=True, slots=True)
class SprtForecast:
    """The expected length of an undecided test in pairs, including the pairs so far."""

    at_score: float | None
    """The length if the score stays as it is so far; None if this score does not favour either hypothesis."""
    under_h0: float
    """The length if the true lead is `elo0`."""
    under_h1: float
    """The length if the true lead is `elo1`."""

    @property
    def likely(self) -> float:
        """Return the expected length at the score so far; if there is none, the longer of the two other lengths."""
        return max(self.under_h0, self.under_h1) if self.at_score is None else self.at_score

    def describe(self) -> str:
        """Return the expected length of the test in words."""
        if self.at_score is None:
            return f"about {self.under_h0:,.0f} pairs in total if H0 holds, {self.under_h1:,.0f} if H1 holds"
        either = f"{self.under_h0:,.0f} if H0 holds, {self.under_h1:,.0f} if H1 holds"
        return f"about {figures.amount(round(self.at_score), 'pair')} in total at this score, {either}"


def forecast(test: Sprt, counts: Sequence[float], llr: float, saving: float = 1.0) -> SprtForecast | None:
    """Return the expected length of a test with these pentanomial counts and the ratio `llr`; None if the test is decided.

    `saving` is the factor by which the correction for luck reduces the variance of pairs.

    This is Wald's approximation, starting from the current ratio. At the score so far, each further pair changes the ratio by the
    mean change per pair until now. If all pairs so far were alike, the change is assumed to have no spread.
    """
    if test.verdict(llr) is not None:
        return None
    pairs = sum(EloEstimate.check_counts(counts))
    # The variance of the mean score of a pair, with two pairs of independent games added:
    mean = sum(n * s for n, s in zip(counts, EloEstimate.PAIR_SCORES, strict=True)) / pairs if pairs else 0.5
    spread = sum(n * (s - mean) ** 2 for n, s in zip(counts, EloEstimate.PAIR_SCORES, strict=True))
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
    """Return the probability that a Brownian motion leaves the interval at the upper bound, if exp(tilted * x) is a martingale
    for the motion x.

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


def _at_effect(counts: Sequence[float], effect: float, scores: Sequence[float]) -> float:
    """Return the largest log-likelihood of the counts among distributions with this effect size.

    The condition on the effect size is not linear in the probabilities, so it is linearised repeatedly at the last solution. A
    large effect is approached in steps, each from the solution of the previous one. If this does not converge, for example
    because nearly all pairs are alike, `_along_means` finds the solution.
    """
    shares: list[float] | None = [1 / len(counts)] * len(counts)
    steps = max(1, ceil(abs(effect) / _MAX_LINEAR_STEP))
    for step in range(1, steps + 1):
        shares = shares and _settle(counts, shares, effect * step / steps, scores)
    return _along_means(counts, effect, scores) if shares is None else _log_probability(counts, shares)


_MAX_LINEAR_STEP = 0.25
"""The largest change of the effect size for which the linearised condition converges well."""
_BRACKETS = 400
"""The number of means between which roots are bracketed."""


def _log_probability(counts: Sequence[float], shares: Sequence[float]) -> float:
    return sum(n * log(max(share, 1e-300)) for n, share in zip(counts, shares, strict=True) if n)


def _along_means(counts: Sequence[float], effect: float, scores: Sequence[float]) -> float:
    """Return the same as `_at_effect`, found among all fixed points. A mean is a fixed point if the likeliest distribution for
    the condition linearised at this mean has the same mean.
    """

    def at(mean: float) -> list[float]:
        deviation = (mean - 0.5) / effect
        values = [s - 0.5 - effect * (deviation + (s - mean) ** 2 / deviation) / 2 for s in scores]
        return likeliest(counts, values, 0.0) if min(values) < 0 < max(values) else []

    def off(mean: float) -> float:
        shares = at(mean)
        return sum(p * s for p, s in zip(shares, scores, strict=True)) - mean if shares else nan

    end = 1.0 if effect > 0 else 0.0
    # The means lie closer together towards one half (with the cube of the distance), as solutions do at small deviations.
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


def _settle(counts: Sequence[float], shares: list[float], effect: float, scores: Sequence[float]) -> list[float] | None:
    """Return the probabilities that the linearised condition reproduces; None if it does not converge."""
    for _ in range(100):
        mean = sum(p * s for p, s in zip(shares, scores, strict=True))
        deviation = max(1e-9, sqrt(sum(p * (s - mean) ** 2 for p, s in zip(shares, scores, strict=True))))
        # The gradient of the condition at these probabilities. To first order, the mean of the values is 0 if the condition
        # holds:
        values = [s - 0.5 - effect * (deviation + (s - mean) ** 2 / deviation) / 2 for s in scores]
        if not min(values) < 0 < max(values):
            return None
        found = likeliest(counts, values, 0.0)
        change = max(abs(new - old) for new, old in zip(found, shares, strict=True))
        shares = found
        if change < 1e-10:
            return shares
    return None
