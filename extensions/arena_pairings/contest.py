"""Finds the best of several variants with a test that may be evaluated, and stopped, after every round.

In each round, the variants that have not been dropped are paired at random, and each pair plays two games on the same position.
The lead of one variant over another in a round is the difference of their scores. The score of a variant without an opponent is
1/2.

The test works by betting. For every ordered pair of variants, it bets against the hypothesis that the first leads the second by
at most `m` on average, once for `m` = 0 and once for `m` = minus the margin. If the hypothesis is true, the capital of the bets
is a supermartingale, so the probability that it ever reaches 1 / risk is at most `risk` (J. Ville, Étude critique de la notion de
collectif, 1939; I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, 2024). The capital is the
mean over several sizes of bets.
"""

from typing import Any

import numpy as np

from arena.stats import expected_score

BETS = 0.9 * 2.0 ** -np.arange(8)
"""The sizes of bets, as shares of the largest possible bet. Each is half of the previous one, so for any lead one of them is near
the best bet.
"""


class Contest:
    """The evidence from one contest, or from many simulated contests at once.

    There is one bound for all errors together. It is an error if another variant is better than the winner by more than the
    margin. This can happen only if the best variant is dropped, or if the test wrongly finds that the winner is worse than the
    best variant by at most the margin. In both cases, the test has wrongly found that another variant leads the best one by more
    than `m`, for one of the two values of `m`. The capital for `m` = 0 is never above the capital for the lower `m`, so if the
    test errs for `m` = 0, it errs for the lower `m`, too. Therefore the two errors of a variant count as one, with a probability
    of at most `risk` / (variants - 1).
    """

    def __init__(self, variants: int, margin: float, risk: float = 0.05, contests: int = 1) -> None:
        self._edge = expected_score(margin) - 0.5
        self._threshold = np.log((variants - 1) / risk)
        self._bets = BETS / (1 + 2 * self._edge)
        pairs = (contests, variants, variants)
        self._capital = np.zeros((2, *pairs, len(BETS)))
        self._leads = np.zeros(pairs)
        self.is_in = np.ones((contests, variants), bool)
        """Whether a variant remains in a contest, indexed by the contest and the variant."""
        self.is_better = np.zeros(pairs, bool)
        """Whether a variant has been found better than another one, indexed by the contest and these two variants."""
        self.is_no_worse = np.zeros(pairs, bool)
        """Whether a variant has been found better than another one, or worse by at most the margin, with the same indices."""
        self.answers = np.full(contests, -1)
        """The winner of each contest; -1 while the contest is undecided."""

    def add(self, scores: Any) -> None:
        """Add a round: the score of every variant in every contest, from 0 to 1, or NaN for a variant without a score."""
        number = self.is_in.sum(axis=1)
        # Suppose that there are only two strengths among the variants, and that they differ by the margin. This is the mean lead
        # of a stronger variant over a weaker one in a round. If the number of variants is odd, one of them has no opponent and
        # scores 1/2.
        margin = self._edge * np.where(number % 2, 1.0, number / np.maximum(number - 1, 1))
        leads = scores[:, :, None] - scores[:, None, :]
        unknown = np.isnan(leads)
        leads[unknown] = 0.0
        for place, least in enumerate((0.0 * margin, -margin)):
            gains = np.log1p(self._bets * (leads - least[:, None, None])[..., None])
            gains[unknown] = 0.0
            self._capital[place] += gains
        self._leads += leads

    def relations(self) -> tuple[Any, Any]:
        """Return what the first contest has found about every ordered pair of its variants, as two square arrays: whether one is
        better than the other, perhaps because it is better than a third one that is; and whether the two differ by at most the
        margin.
        """
        better, no_worse = self.is_better[0].copy(), self.is_no_worse[0]
        for middle in range(len(better)):
            better |= np.outer(better[:, middle], better[middle])
        return better, no_worse & no_worse.T & ~better & ~better.T

    def look(self) -> None:
        """Drop the variants that are worse than another one, and find the winner if there is one."""
        highest = self._capital.max(axis=-1)
        capital: Any = highest + np.log(np.exp(self._capital - highest[..., None]).mean(axis=-1))
        shown = capital >= self._threshold
        self.is_better |= shown[0]
        self.is_no_worse |= shown.any(axis=0)
        rest: Any = self.is_in & ~(self.is_better & self.is_in[:, :, None]).any(axis=1)
        self.is_in = np.where(rest.any(axis=1)[:, None], rest, self.is_in)  # if all are beaten in a circle, all stay in
        settled = self.is_no_worse | np.eye(self.is_in.shape[1], dtype=bool) | ~self.is_in[:, None, :]
        can_answer = self.is_in & settled.all(axis=2)
        leads = np.where(self.is_in[:, None, :], self._leads, 0.0).sum(axis=2)
        best = np.where(can_answer, leads, -np.inf).argmax(axis=1)
        self.answers = np.where(can_answer.any(axis=1), best, -1)
