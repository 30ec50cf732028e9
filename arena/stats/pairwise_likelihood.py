"""The likelihood of Bradley and Terry with Davidson's draws and a first-mover term, for many tables of games at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.stats.newton import Array
from arena.stats.observations import Pair
from arena.stats.prior import Model


def statistics_of(pair: Pair) -> tuple[float, float, float, float, float]:
    """The sufficient statistics of the games of competitors one and two.

    Half of the wins less half of the losses of one in the first seat (its lead), the same of two, the games with one first, the
    games with two first, and the draws.
    """
    ahead, behind = pair.forward, pair.backward
    leads = (ahead.wins - ahead.losses) / 2, (behind.wins - behind.losses) / 2
    return (*leads, ahead.games, behind.games, ahead.draws + behind.draws)


class Odds(NamedTuple):
    """Expectations at a place. Axes: one or two in the first seat, then table, then pairing."""

    games: Array
    net: Array
    """The probability of a win of the first seat less the probability of a loss."""
    draw: Array
    """The probability of a draw."""


_SIGNS = np.array([1.0, -1.0])[:, None, None]


class PairwiseLikelihood:
    """Gradients and information of the log-likelihood for many tables of the same pairings.

    `tables` has the five statistics of `statistics_of`, each with a row for every table and a column for every pairing. Places
    have a row for every table: the ratings, then the first-mover term and the logarithm of the weight of draws, if the model has
    them.
    """

    def __init__(self, pairings: Sequence[tuple[int, int]], agents: int, model: Model) -> None:
        """`pairings` holds the indices of one and two among this number of `agents`; each two occur once."""
        self._model, self._count = model, agents
        self._one, self._two = np.array(pairings, dtype=np.intp).reshape(-1, 2).T
        # Sums by competitor: the columns of both ends of all pairings, sorted by competitor, fall into one run for each that has
        # pairings (`_present`), which begins at its `_starts`.
        ends = np.concatenate([self._one, self._two])
        self._by_agent = np.argsort(ends, kind="stable")
        self._present, self._starts = np.unique(ends[self._by_agent], return_index=True)

    def leads(self, place: Array) -> Array:
        """The leads of the first seat, the first-mover term included, along the axes of `Odds`."""
        leads: Array = _SIGNS * (place[:, self._one] - place[:, self._two])
        if self._model.first_mover:
            leads += place[:, self._count, None]
        return leads

    def odds(self, place: Array, tables: Array) -> Odds:
        """The expectations of all games."""
        up = self.leads(place)  # the arrays of a bootstrap just fill a processor's cache, so they are overwritten
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
        """The gradients, a row for every table."""
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
        """The information matrices, one for every table.

        The model is an exponential family, so they are also the covariances of its games' scores.
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
        """The sums of the pairings' values by competitor, with `sign` if it is named second.

        This avoids a product of matrices, because on busy processors the threads of a linear algebra library wait for each other.
        """
        totals = np.zeros((len(values), self._count))
        both = np.concatenate([values, sign * values], axis=1)[:, self._by_agent]
        totals[:, self._present] = np.add.reduceat(both, self._starts, axis=1)
        return totals
