"""The scores of two entries that play the same opponents on the same positions, and the sequential test that compares them."""

from collections import Counter
from math import log
from typing import NamedTuple

from arena import Outcomes, Pairing
from arena.api.results import result_points
from arena.stats import clustered_mean
from arena_pairings.sprt import Sprt, log_likelihood_ratio

ELO = 400 / log(10)
"""The number of Elo in one unit of the logistic scale."""


class Lead(NamedTuple):
    """The lead of the first entry over the second one in Elo, with its 95 % interval.

    All three are None if one of the entries won or lost every game.
    """

    elo: float | None
    low: float | None
    high: float | None


class SharedRivals:
    """The scores of two entries at each position. A score is the share of the points that the entry won in all games at the
    position.

    The opponents and the positions are the same for both entries, so the test compares the two scores of each position. A
    position does not count if all its games only repeat those at an earlier position and no agent used random numbers.
    """

    def __init__(self, rivals: int) -> None:
        self.rivals = rivals
        self.scores: list[tuple[float, float]] = []
        """The scores of both entries at each position."""
        self.repeats = 0
        """The number of positions since the last one that counts."""
        self._seen: set[tuple[int, ...]] = set()

    def take(self, outcomes: Outcomes, number: int) -> None:
        """Count a position. It is left out if one of its games was void."""
        points, hashes = [0.0, 0.0], []
        for entry in (0, 1):
            for rival in range(2, 2 + self.rivals):
                for pairing in (Pairing(number, (entry, rival)), Pairing(number, (rival, entry))):
                    returns = outcomes.of(pairing)
                    if returns is None:
                        return
                    seat = pairing.seats.index(entry)
                    points[entry] += result_points(returns[seat], returns[1 - seat])
                    hashes.append(outcomes.play_hash(pairing))
        known = tuple([one for one in hashes if one is not None])
        if len(known) == len(hashes):
            if known in self._seen:
                self.repeats += 1
                return
            self._seen.add(known)
        self.repeats = 0
        self.scores.append((points[0] / (2 * self.rivals), points[1] / (2 * self.rivals)))

    def ratio(self, test: Sprt) -> float:
        """Return the log-likelihood ratio of the hypotheses about the difference of the two scores.

        The normalised Elo of the test is measured in standard deviations of this difference. The difference is shifted and scaled
        to values from 0 to 1, like the score of a pair; this does not change the ratio.
        """
        steps = 8 * self.rivals
        counts = Counter([round((mine - theirs + 1) / 2 * steps) for mine, theirs in self.scores])
        scores = [step / steps for step in range(steps + 1)]
        return log_likelihood_ratio([counts[step] for step in range(steps + 1)], test, scores)

    def means(self) -> tuple[float, float]:
        """Return the mean scores of both entries."""
        return sum([one for one, _ in self.scores]) / len(self.scores), sum([two for _, two in self.scores]) / len(self.scores)

    def lead(self) -> Lead:
        """Return the lead in Elo. For the interval, the Elo scale is linearised at the two mean scores."""
        means = self.means()
        if not all(0 < mean < 1 for mean in means):
            return Lead(None, None, None)
        strengths = [ELO * log(mean / (1 - mean)) for mean in means]
        slopes = [ELO / (mean * (1 - mean)) for mean in means]
        leads = [
            strengths[0] - strengths[1] + slopes[0] * (one - means[0]) - slopes[1] * (two - means[1]) for one, two in self.scores
        ]
        return Lead(*clustered_mean(leads, [1] * len(leads)))
