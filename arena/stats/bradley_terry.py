"""Maximum-likelihood ratings for all competitors from all their games: Bradley-Terry with draws and a first-mover term.

R. A. Bradley and M. E. Terry, Rank Analysis of Incomplete Block Designs, 1952; draws after R. R. Davidson, On Extending the
Bradley-Terry Model to Accommodate Ties, 1970; the first-mover term after Davidson and R. J. Beaver, 1977. With d the rating of
the first seat minus the rating of the second plus the first-mover term, in natural units, and v the weight of draws,

    win : draw : loss  =  exp(d/2) : v : exp(-d/2)

So 400 Elo mean ten wins for each loss, for any share of draws. The log-likelihood is concave in the ratings, the first-mover term
and ln v, so there is one maximum. The prior (`arena.stats.prior`) keeps it finite even if a competitor won every game, or if
groups never met; then only the prior connects them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import exp
from typing import Any, Generic

import numpy as np

from arena.errors import ArenaError
from arena.stats.elo import ELO
from arena.stats.newton import Array, Slope, maximise
from arena.stats.observations import Competitor, Table, WinDrawLoss
from arena.stats.pairwise_likelihood import PairwiseLikelihood
from arena.stats.prior import MODEL, Model, virtual_games


@dataclass(frozen=True, slots=True, eq=False)
class Fit(Generic[Competitor]):
    """The most likely ratings, in natural units relative to their mean, and the two terms that all games share."""

    agents: tuple[Competitor, ...]
    ratings: tuple[float, ...]
    first_mover: float
    """The advantage of the first seat, in natural units; 0 if it is not fitted."""
    log_draws: float | None
    """The logarithm of the weight of draws; None if no draws are fitted."""
    model: Model
    """The terms that were fitted."""
    log_likelihood: float
    """The log-likelihood, including the prior."""
    information: Array
    """Minus the second derivatives of the log-likelihood, with respect to the ratings and, if fitted, the first-mover term, the
    logarithm of the weight of draws, and the spread."""
    spread: float = 0.0
    """The standard deviation of the advantage that a position gives the first seat, in natural units; 0 if it is not fitted."""

    @property
    def shared(self) -> list[float]:
        """The fitted terms that all games share: the first-mover term, and the logarithm of the weight of draws."""
        return [*[self.first_mover] * self.model.first_mover, *([] if self.log_draws is None else [self.log_draws])]

    def elo(self, anchor: Competitor | None = None) -> dict[Competitor, float]:
        """Return the ratings in Elo, relative to the mean or to the anchor's rating. ArenaError if the anchor is unknown."""
        zero = 0.0 if anchor is None else self.ratings[place_of(self.agents, anchor)]
        return {agent: (rating - zero) * ELO for agent, rating in zip(self.agents, self.ratings, strict=True)}

    def chances(self, first: Competitor, second: Competitor) -> WinDrawLoss:
        """Return the probabilities that `first`, in the first seat, wins, draws and loses against `second`."""
        lead = self.ratings[place_of(self.agents, first)] - self.ratings[place_of(self.agents, second)]
        return chances(lead + self.first_mover, self.log_draws)


def place_of(agents: Sequence[Competitor], agent: Competitor) -> int:
    """Return the index of a competitor. Raises ArenaError for an unknown one."""
    if agent not in agents:
        raise ArenaError(f"ratings: expected an agent that played, one of {', '.join(map(str, agents))}; got {agent!r}")
    return agents.index(agent)


def chances(lead: float, log_draws: float | None) -> WinDrawLoss:
    """Return the probabilities of a win, a draw and a loss at a `lead` in natural units."""
    height = max(abs(lead) / 2, log_draws or 0.0)  # subtracting the largest exponent prevents overflow
    win, loss = exp(lead / 2 - height), exp(-lead / 2 - height)
    draw = 0.0 if log_draws is None else exp(log_draws - height)
    total = win + draw + loss
    return WinDrawLoss(win / total, draw / total, loss / total)


def fit(
    table: Table[Competitor],
    agents: Iterable[Competitor] | None = None,
    *,
    model: Model = MODEL,
    held: Mapping[Competitor, float] | None = None,
    start: Fit[Competitor] | None = None,
) -> Fit[Competitor]:
    """Return the maximum-likelihood ratings, accurate to about 1e-12 natural units.

    `agents` sets the order, and may include competitors without games, which get the mean rating. The default is all competitors
    in the table, in its order. `held` fixes the ratings of some competitors, as a number of natural units above the mean of all
    others; ratings are then relative to this mean, and the prior applies only to the others. `start` is the fit to begin with; a
    close one saves time. If the table has no draws and there is no prior, no draws are fitted; then a drawn game counts as half a
    win and half a loss. Raises ArenaError if a competitor of the table is not in `agents`, or if there is no finite fit, which
    can only happen without the prior.
    """
    names = tuple(dict.fromkeys(chain.from_iterable(table)) if agents is None else agents)
    drawn = model.draws and (model.prior > 0 or any(counts.draws for counts in table.values()))
    model = replace(model, draws=drawn)
    posterior = _Posterior(names, table, model, held or {})
    near = np.array([*start.ratings, *start.shared])[posterior.free] if start else np.zeros(len(posterior.free))
    best, slope = maximise(posterior, near, ratings=posterior.free_ratings)
    place = posterior.everyone(best)
    return Fit(
        names,
        tuple(place[: len(names)].tolist()),
        float(place[len(names)]) if model.first_mover else 0.0,
        float(place[-1]) if drawn else None,
        model,
        slope.value,
        slope.information,
    )


class _Posterior:
    """The log-posterior for one table, as a function of the ratings that are not held and, after them, the shared terms."""

    def __init__(self, names: Sequence[Any], table: Table[Any], model: Model, held: Mapping[Any, float]) -> None:
        known = {name: k for k, name in enumerate(names)}
        met: dict[tuple[int, int], list[WinDrawLoss]] = {}
        for (one, two), counts in table.items():  # many thousands if the field is large
            i, j = known.get(one), known.get(two)
            if i is None or j is None:
                i, j = place_of(names, one), place_of(names, two)
            if (j, i) in met:
                met[j, i][1] = counts
            else:
                met[i, j] = [counts, WinDrawLoss()]
        self._model = model
        # Wins, draws, losses of the first seat: a row for games with competitor one in it, a row for two; a column per pairing.
        numbers = chain.from_iterable(chain.from_iterable(met.values()))
        games = np.fromiter(numbers, dtype=float, count=6 * len(met)).reshape(-1, 2, 3).transpose(2, 1, 0)
        wins, draws, losses = games
        self._played = games > 0
        self._counts = games[self._played]
        self._tables = np.stack([*((wins - losses) / 2), *(wins + draws + losses), draws.sum(axis=0)])[:, None]
        self._likelihood = PairwiseLikelihood(list(met), len(names), model)
        self._start = np.array([held.get(name, 0.0) for name in names] + [0.0] * (model.first_mover + model.draws))
        self.free = np.array([k for k in range(len(self._start)) if k >= len(names) or names[k] not in held], dtype=int)
        self.free_ratings = len(self.free) - model.first_mover - model.draws

    def everyone(self, place: Array) -> Array:
        """Return all parameters: the free ones as given, and the held ones."""
        full = self._start.copy()
        full[self.free] = place
        return full

    def __call__(self, place: Array) -> Slope:
        full = self.everyone(place)[None]
        odds = self._likelihood.odds(full, self._tables)
        gradient, information = self._likelihood.gradient(full, self._tables, odds), self._likelihood.information(full, odds)
        virtual = virtual_games(place, self._model)
        return Slope(
            self._log_likelihood(full) + float(virtual.value.sum()),
            gradient[0, self.free] + virtual.slope,
            information[0][np.ix_(self.free, self.free)] + np.diag(virtual.information),
        )

    def _log_likelihood(self, full: Array) -> float:
        # This sums the logarithms of the probabilities of all outcomes. In a formula with sufficient statistics, large terms
        # would cancel, but backtracking compares values in the twelfth digit.
        lead = self._likelihood.leads(full)[:, 0]
        exponents = np.stack([lead / 2, np.full_like(lead, full[0, -1] if self._model.draws else -np.inf), -lead / 2])
        exponents -= exponents.max(axis=0)
        log_chances = exponents - np.log(np.exp(exponents).sum(axis=0))
        return float(self._counts @ log_chances[self._played])
