"""The test that decides marks. For each author, it finds the baselines (one agent for each mark) that this author is stronger
than. The probability that any of its results is wrong has a single bound.

An author and a baseline play pairs of games on the same position, with seats swapped. If the author is exactly as strong as the
baseline, the mean score of these pairs is 1/2, however much the first move is worth. Two hypotheses can be refuted: "not above
the baseline" (the mean is at most 1/2) and "above it by the margin or more" (the mean is at least the score that is expected for
this lead). At most one of them is true, so at most one error is possible for each author and baseline.

The test bets against each hypothesis. If the hypothesis is true, the capital of the bets is a supermartingale. So the probability
that the capital ever reaches 1 / risk is at most `risk`, even if the test is evaluated after every pair (J. Ville, Étude critique
de la notion de collectif, 1939; I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, 2024).
The capital is the mean over several sizes of bets. For each size, the capital is a product with one factor per pair. A factor
depends only on the score of its pair, so the state of a test consists of five counts, one for each possible score.

The bound on the error for the whole class is split evenly over all authors and baselines (Bonferroni). The step-down method of
Holm has no advantage here: after "not above" has been refuted, "above by the margin" may still be true, so the number of
hypotheses that may be true stays the same. The share of an author is divided among the versions that the author hands in
(`version_share`). Otherwise an author could hand in the same agent again and again until one version is lucky.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.stats import EloEstimate, expected_score

Array = NDArray[Any]
BETS = 0.95 * 2.0 ** -np.arange(0, 5.5, 0.5)
"""The sizes of bets, as shares of the largest possible bet. Each size is the previous one divided by the square root of 2. So for
any lead, one of the sizes is near the best one.
"""
STRONGER, NOT_STRONGER, OPEN = 1, -1, 0
FIRST_VERSION_SHARE = 0.8
"""The share of the error of an author that the first version may use. All later versions share the rest."""
INTERVAL_ERROR = 0.05
"""The error probability of an interval. With a probability of 95 %, the interval is right after every pair."""


def version_share(number: int) -> float:
    """Return the share of the error of an author that version `number`, counted from 1, may use. All shares add up to 1."""
    return FIRST_VERSION_SHARE if number == 1 else (1 - FIRST_VERSION_SHARE) / (number * (number - 1))


def log_capital(counts: Array, mean: float, *, upward: bool) -> Array:
    """Return the logarithm of the capital of bets that the mean score of pairs is above `mean` (`upward`) or below it.

    The last axis of `counts` contains the numbers of pairs by score.
    """
    scores = np.array(EloEstimate.PAIR_SCORES)
    leads = scores - mean if upward else mean - scores
    gains = np.log1p(np.outer(leads, BETS / -leads.min()))
    capital = counts @ gains
    highest = capital.max(axis=-1)
    found: Array = highest + np.log(np.exp(capital - highest[..., None]).mean(axis=-1))
    return found


def lead_interval(counts: Array) -> tuple[float, float]:
    """Return the lowest and the highest mean score of pairs that the bets do not refute.

    The probability that the true mean is ever outside these bounds is 5 %, even if they are computed after every pair.
    """
    limit = float(np.log(2 / INTERVAL_ERROR))
    bounds = []
    for upward in (True, False):
        low, high = 1e-6, 1 - 1e-6
        for _ in range(40):
            middle = (low + high) / 2
            refuted = float(log_capital(counts, middle, upward=upward)) >= limit
            low, high = (middle, high) if refuted == upward else (low, middle)
        bounds.append((low + high) / 2)
    return bounds[0], bounds[1]


@dataclass(frozen=True, slots=True)
class MarkRule:
    """The hypotheses for a class of authors, and the bound on the error."""

    authors: int
    """The number of authors that share the error."""
    baselines: int
    margin: float = 20.0
    """If an author leads a baseline by this many Elo or more, the result "not stronger" is an error."""
    error: float = 0.05
    """The bound on the probability of any error in the class."""

    def limits(self, versions: Array) -> Array:
        """Return, for each of these `versions`, the logarithm of the capital at which a hypothesis is refuted."""
        shares = np.array([version_share(int(number)) for number in versions])
        found: Array = np.log(self.authors * self.baselines / (self.error * shares))
        return found


class MarkTests:
    """The tests of many candidates against all baselines, which are in ascending order. A candidate is a version that an author
    has handed in.

    Call `add` for new results, and `wanted` for the baseline that each candidate has to play next. The search is a bisection: a
    candidate that is stronger than a baseline does not play the lower ones, and one that is not stronger does not play the higher
    ones. The bound on the error covers all baselines, no matter which ones are played.
    """

    def __init__(self, rule: MarkRule, versions: Array) -> None:
        """Begin the tests of one candidate for each entry in `versions`. The entry is the number of the candidate among the
        versions of its author.
        """
        self._means = 0.5, expected_score(rule.margin)
        self._limits = rule.limits(versions)
        self.counts = np.zeros((len(versions), rule.baselines, len(EloEstimate.PAIR_SCORES)))
        """The numbers of pairs by score, for each candidate against each baseline."""
        self.decisions = np.zeros((len(versions), rule.baselines), np.int8)
        """STRONGER, NOT_STRONGER or OPEN. A decision is final; later results do not change it."""

    def add(self, candidates: Array, baselines: Array, counts: Array) -> None:
        """Add the pairs of some candidates, each against one baseline, and decide their tests if possible."""
        self.counts[candidates, baselines] += counts
        self.look(candidates, baselines)

    def look(self, candidates: Array, baselines: Array) -> None:
        """Decide the tests of some candidates, each against one baseline, if they are still open."""
        counts, limits = self.counts[candidates, baselines], self._limits[candidates]
        above = log_capital(counts, self._means[0], upward=True) >= limits
        below = log_capital(counts, self._means[1], upward=False) >= limits
        before = self.decisions[candidates, baselines]
        now = np.where(above, STRONGER, np.where(below, NOT_STRONGER, OPEN))
        self.decisions[candidates, baselines] = np.where(before == OPEN, now, before)

    def bounds(self) -> tuple[Array, Array]:
        """Return, for each candidate, the highest baseline that it is above (-1 if none), and the lowest baseline that it is not
        above.
        """
        number = self.decisions.shape[1]
        places = np.arange(number)
        reached = np.where(self.decisions == STRONGER, places, -1).max(axis=1, initial=-1)
        missed = np.where((self.decisions == NOT_STRONGER) & (places > reached[:, None]), places, number)
        return reached, missed.min(axis=1, initial=number)

    def wanted(self) -> Array:
        """Return, for each candidate, the baseline that it has to play next; -1 if its mark is decided."""
        reached, missed = self.bounds()
        found: Array = np.where(missed - reached > 1, (reached + missed) // 2, -1)
        return found

    def forecast(self) -> Array:
        """Return the approximate number of further pairs that each candidate needs against its next baseline, at its mean score
        so far; 0 if it needs none.

        For this estimate, one pair with the score 1/4 and one with the score 3/4 are added to the results. So an estimate from a
        few pairs is not too optimistic.
        """
        wanted = self.wanted()
        rows = np.arange(len(wanted))
        counts = self.counts[rows, wanted]
        scores = np.array(EloEstimate.PAIR_SCORES)
        pairs = counts.sum(axis=1)
        mean = (counts @ scores + 1) / (pairs + 2)
        spread = np.maximum((counts @ scores**2 + 0.625) / (pairs + 2) - mean**2, 0.02)
        left = []
        for place, upward in ((0, True), (1, False)):
            lead = mean - self._means[place] if upward else self._means[place] - mean
            gain = np.maximum(lead, 1e-4) ** 2 / (2 * spread)
            left.append((self._limits + 1 - log_capital(counts, self._means[place], upward=upward)) / gain)
        found: Array = np.where(wanted >= 0, np.maximum(1, np.minimum(*left)), 0)
        return found
