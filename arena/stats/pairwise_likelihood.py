"""The likelihood of Bradley-Terry ratings with Davidson's draws and a first-mover term, for many tables of games at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.stats.newton import Array
from arena.stats.observations import Pair
from arena.stats.prior import Model


def statistics_of(pair: Pair) -> tuple[float, float, float, float, float]:
    """Return the sufficient statistics of the games between competitors one and two.

    The first is half of the wins minus half of the losses of competitor one in the first seat; the second is the same for two.
    Then come the numbers of games with one in the first seat, of games with two in the first seat, and of draws.
    """
    ahead, behind = pair.forward, pair.backward
    leads = (ahead.wins - ahead.losses) / 2, (behind.wins - behind.losses) / 2
    return (*leads, ahead.games, behind.games, ahead.draws + behind.draws)


class Odds(NamedTuple):
    """Expectations at a place. The axes are: one or two in the first seat, the table, the pairing."""

    games: Array
    net: Array
    """The probability that the first seat wins minus the probability that it loses."""
    draw: Array
    """The probability of a draw."""


_SIGNS = np.array([1.0, -1.0])[:, None, None]


class PairwiseLikelihood:
    """The gradients and information matrices of the log-likelihood, for many tables with the same pairings.

    `tables` has the five statistics of `statistics_of`, each with a row for every table and a column for every pairing. A place
    has a row for every table: the ratings, then the first-mover term and the logarithm of the weight of draws, if there are any.
    """

    def __init__(self, pairings: Sequence[tuple[int, int]], agents: int, model: Model) -> None:
        """`pairings` has the indices of competitors one and two, from 0 to `agents` - 1. Each pairing occurs once."""
        self._model, self._count = model, agents
        self._one, self._two = np.array(pairings, dtype=np.intp).reshape(-1, 2).T
        # Sums by competitor: the columns of both ends of all pairings are sorted by competitor. Each competitor that has pairings
        # (`_present`) has one run of columns, which begins at an index in `_starts`.
        ends = np.concatenate([self._one, self._two])
        self._by_agent = np.argsort(ends, kind="stable")
        self._present, self._starts = np.unique(ends[self._by_agent], return_index=True)

    def leads(self, place: Array) -> Array:
        """Return the leads of the first seat, including the first-mover term, along the axes of `Odds`."""
        leads: Array = _SIGNS * (place[:, self._one] - place[:, self._two])
        if self._model.first_mover:
            leads += place[:, self._count, None]
        return leads

    def odds(self, place: Array, tables: Array) -> Odds:
        """Return the expectations of all games."""
        up = self.leads(place)  # the arrays of a bootstrap just fit into the cache of a processor, so they are overwritten
        np.exp(np.divide(up, 2, out=up), out=up)
        down = 1 / up
        weight = np.exp(place[:, -1, None]) if self._model.draws else np.zeros((len(place), 1))
        share = up + down
        share += weight
        np.divide(1, share, out=share)
        up -= down
        up *= share
        return Odds(tables[2:4], up, np.multiply(share, weight, out=share))

    def gradient(self, place: Array, tables: Array, odds: Odds) -> Array:
        """Return the gradients, a row for every table."""
        count = self._count
        ahead, behind = tables[:2] - odds.games * odds.net / 2
        gradient = np.zeros_like(place)
        gradient[:, :count] = self._totals(ahead - behind, -1)
        if self._model.first_mover:
            gradient[:, count] = (ahead + behind).sum(axis=1)
        if self._model.draws:
            gradient[:, -1] = (tables[4] - (odds.games * odds.draw).sum(axis=0)).sum(axis=1)
        return gradient

    def information(self, place: Array, odds: Odds) -> Array:
        """Return the information matrices, one for every table.

        The model is an exponential family, so these are also the covariances of the scores of its games.
        """
        count, size = self._count, place.shape[1]
        information = np.zeros((len(place), size, size))
        k = np.arange(size)
        ahead, behind = odds.games * (1 - odds.draw - odds.net**2) / 4  # the variances of leads
        information[:, self._one, self._two] = information[:, self._two, self._one] = -(ahead + behind)
        information[:, k[:count], k[:count]] = self._totals(ahead + behind, 1)
        if self._model.first_mover:
            information[:, :count, count] = information[:, count, :count] = self._totals(ahead - behind, -1)
            information[:, count, count] = (ahead + behind).sum(axis=1)
        if self._model.draws:
            ahead, behind = -odds.games * odds.net * odds.draw / 2  # the covariances of leads and draws
            information[:, :count, -1] = information[:, -1, :count] = self._totals(ahead - behind, -1)
            if self._model.first_mover:
                information[:, count, -1] = information[:, -1, count] = (ahead + behind).sum(axis=1)
            information[:, -1, -1] = (odds.games * odds.draw * (1 - odds.draw)).sum(axis=(0, 2))
        return information

    def _totals(self, values: Array, sign: float) -> Array:
        """Return the sums of the values of pairings by competitor, with `sign` for the competitor that is named second.

        This avoids a matrix product, because on busy processors the threads of a linear algebra library wait for each other.
        """
        totals = np.zeros((len(values), self._count))
        both = np.concatenate([values, sign * values], axis=1)[:, self._by_agent]
        totals[:, self._present] = np.add.reduceat(both, self._starts, axis=1)
        return totals
