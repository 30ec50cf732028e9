"""Refitting many tables of the same pairings at once, with numpy: Newton's method on all of them, from the fit of the true table
on.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.stats.bradley_terry import Fit, Model

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

ACCURACY = 3e-4
"""The last step, in natural units; what is left is a tenth of it or so, less than a hundredth of an Elo point."""

NEAR = 0.5
"""A step short enough to go by the information of the true table's fit, which spares that of every table."""

QUICK = 20
"""How many such steps are tried until each table goes by its own information."""


class Refit:
    """Fits ratings to tables that differ from that of `fit` in what came out, not in who met.

    A table is given by five statistics of every pairing of agents one and two: half of the wins less half of the losses of one
    where it sat first, the same of two, the games with one first, those with two first, and the draws.
    """

    def __init__(self, fit: Fit, seats: Sequence[tuple[int, int]], model: Model) -> None:
        """`seats` holds the places of one and two among the agents, `model` what is fitted."""
        import numpy as np

        self._fit = fit
        self._model = Model(fit.log_draws is not None, model.first_mover, model.prior)
        self._one = np.array([one for one, _ in seats])
        self._two = np.array([two for _, two in seats])
        ends = np.concatenate([self._one, self._two])
        self._by_agent = np.argsort(ends, kind="stable")
        self._present, self._starts = np.unique(ends[self._by_agent], return_index=True)

        self._inverse = _inverse(np.array(fit.information), len(fit.agents))

    def _totals(self, values: "Array", sign: float) -> "Array":
        """Values of pairings added up for every agent, with a sign for those in which it is named second.

        Not by a product of matrices: where other programs keep the processors busy, their libraries' threads wait for each other.
        """
        import numpy as np

        totals = np.zeros((len(values), len(self._fit.agents)))
        both = np.concatenate([values, sign * values], axis=1)[:, self._by_agent]
        totals[:, self._present] = np.add.reduceat(both, self._starts, axis=1)
        return totals

    def ratings(self, planes: "Array") -> "Array":
        """The fitted ratings, a row for every table.

        `planes` are the statistics, each with a row for every pairing and a column for every table.
        """
        import numpy as np

        fit, count = self._fit, len(self._fit.agents)
        tables = planes.transpose(0, 2, 1).copy()
        start = [*fit.ratings, *([fit.first_mover] if self._model.first_mover else []), fit.log_draws or 0.0]
        place = np.tile(np.array(start[: len(fit.information)]), (tables.shape[1], 1))
        for attempt in range(200):
            odds = self._odds(place, tables)
            gradient = self._gradient(place, tables, odds)
            quick = gradient @ self._inverse
            if attempt < QUICK and np.abs(quick).max() < NEAR:
                step = quick
            else:
                step = _steps(gradient, self._information(place, odds), count)
            largest = np.abs(step).max(axis=1, keepdims=True)
            place += step / np.maximum(largest, 1.0)
            if largest.max() < ACCURACY:
                break
        return place[:, :count]

    def _odds(self, place: "Array", tables: "Array") -> "tuple[_Odds, _Odds]":
        """The odds of all games with the one agent of a pairing ahead, and of all with the other."""
        count = len(self._fit.agents)
        first_mover = place[:, count, None] if self._model.first_mover else 0 * place[:, :1]
        lead = place[:, self._one] - place[:, self._two]
        log_draws = place[:, -1, None] if self._model.draws else None
        return _Odds(lead + first_mover, log_draws, tables[2]), _Odds(first_mover - lead, log_draws, tables[3])

    def _gradient(self, place: "Array", tables: "Array", odds: "tuple[_Odds, _Odds]") -> "Array":
        import numpy as np

        count = len(self._fit.agents)
        ahead, behind = (leads - one.leads for leads, one in zip(tables[:2], odds, strict=True))
        gradient = np.zeros_like(place)
        gradient[:, :count] = self._totals(ahead - behind, -1)
        if self._model.first_mover:
            gradient[:, count] = (ahead + behind).sum(axis=1)
        if self._model.draws:
            gradient[:, -1] = (tables[4] - odds[0].drawn - odds[1].drawn).sum(axis=1)
        alike = count + self._model.first_mover
        gradient[:, :alike] -= self._model.prior * np.tanh(place[:, :alike] / 2) / 2
        if self._model.draws:
            gradient[:, -1] += self._model.prior * (0.5 - 1 / (1 + 2 * np.exp(-place[:, -1])))
        return gradient

    def _information(self, place: "Array", odds: "tuple[_Odds, _Odds]") -> "Array":
        import numpy as np

        count, size = len(self._fit.agents), place.shape[1]
        ahead, behind = (one.curve() for one in odds)
        information = np.zeros((len(place), size, size))
        information[:, self._one, self._two] = information[:, self._two, self._one] = -(ahead + behind)
        k = np.arange(size)
        information[:, k[:count], k[:count]] = self._totals(ahead + behind, 1)
        if self._model.first_mover:
            information[:, :count, count] = information[:, count, :count] = self._totals(ahead - behind, -1)
            information[:, count, count] = (ahead + behind).sum(axis=1)
        if self._model.draws:
            crossed, uncrossed = (one.cross() for one in odds)
            information[:, :count, -1] = information[:, -1, :count] = self._totals(crossed - uncrossed, -1)
            if self._model.first_mover:
                information[:, count, -1] = information[:, -1, count] = (crossed + uncrossed).sum(axis=1)
            information[:, -1, -1] = (odds[0].drawn_curve() + odds[1].drawn_curve()).sum(axis=1)
            share = 1 / (1 + 2 * np.exp(-place[:, -1]))
            information[:, -1, -1] += self._model.prior * share * (1 - share)
        alike = count + self._model.first_mover
        information[:, k[:alike], k[:alike]] += self._model.prior / (4 * np.cosh(place[:, :alike] / 2) ** 2)
        information[:, :count, :count] += information[:, :count, :count].max(axis=(1, 2), keepdims=True) / count
        return information


class _Odds:
    """What is expected of all games in one order of seats: a row for every sample, a column for every pairing."""

    def __init__(self, lead: "Array", log_draws: "Array | None", games: "Array") -> None:
        import numpy as np

        up = np.exp(lead / 2)
        down = 1 / up
        weight = 0.0 if log_draws is None else np.exp(log_draws)
        share = 1 / (up + down + weight)
        self._games = games
        self._net = (up - down) * share
        self._draw = weight * share
        self.leads = games * self._net / 2
        """Half of the wins less half of the losses."""
        self.drawn = games * self._draw

    def curve(self) -> "Array":
        """The variance of the leads."""
        return self._games * (1 - self._draw - self._net**2) / 4

    def cross(self) -> "Array":
        """The covariance of leads and draws."""
        return -self.leads * self._draw

    def drawn_curve(self) -> "Array":
        """The variance of the draws."""
        return self.drawn * (1 - self._draw)


def _steps(gradient: "Array", information: "Array", count: int) -> "Array":
    """Newton's steps, the ratings' mean held at 0; the information has been stiffened against a common shift."""
    import numpy as np

    ones = np.zeros_like(gradient)
    ones[:, :count] = 1
    found = np.linalg.solve(information, np.stack([gradient, ones], axis=2))
    free, shift = found[:, :, 0], found[:, :, 1]
    excess = free[:, :count].sum(axis=1, keepdims=True) / shift[:, :count].sum(axis=1, keepdims=True)
    step: Array = free - excess * shift
    return step


def _inverse(information: "Array", count: int) -> "Array":
    """What turns gradients into Newton's steps, the ratings' mean held at 0."""
    import numpy as np

    size = len(information)
    bordered = np.zeros((size + 1, size + 1))
    bordered[:size, :size] = information
    bordered[:count, -1] = bordered[-1, :count] = 1
    inverse: Array = np.linalg.inv(bordered)[:size, :size].astype(np.float64)
    return inverse
