"""Ratings of agents from all their games at once: Bradley-Terry with draws and a first-mover term, by maximum likelihood.

R. A. Bradley and M. E. Terry, Rank Analysis of Incomplete Block Designs, 1952; draws after R. R. Davidson, On Extending the
Bradley-Terry Model to Accommodate Ties, 1970; the first-mover term after Davidson and R. J. Beaver, 1977. With d the rating of
the first seat's agent less that of the second's plus the first-mover term, in natural units, and v the weight of draws,

    win : draw : loss  =  exp(d/2) : v : exp(-d/2)

so 400 Elo are odds of ten wins to one loss, however often is drawn. The logarithm of the likelihood is concave in the ratings,
the first-mover term and ln v, so there is one maximum. Finite through the prior (see `arena.stats.prior`), also where one agent
won everything, or where groups of agents never met: these are then held together by the prior alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from arena.errors import ArenaError
from arena.stats.elo import ELO
from arena.stats.newton import Matrix, Slope, maximise
from arena.stats.pairs import Table, Tally
from arena.stats.prior import Term, virtual_draw, virtual_drawn_half


@dataclass(frozen=True, slots=True)
class Model:
    """What is fitted beside the ratings, and how many virtual draws every agent has; 0 turns the prior off."""

    draws: bool = True
    first_mover: bool = True
    prior: float = 1.0


MODEL = Model()


@dataclass(frozen=True, slots=True)
class Fit:
    """The likeliest ratings, in natural units about the field's mean, and the two terms that all games share."""

    agents: tuple[str, ...]
    ratings: tuple[float, ...]
    first_mover: float
    """What sitting first adds to a rating, in natural units; 0 where it is not fitted."""
    log_draws: float | None
    """The logarithm of the weight of draws; None where no draws are fitted."""
    log_likelihood: float
    """With the prior's terms."""
    information: Matrix
    """Minus the second derivatives: of the ratings, then of the first-mover term and of the logarithm of the draws, if fitted."""

    def elo(self, anchor: str | None = None) -> dict[str, float]:
        """The ratings in Elo: their mean is 0, or the rating of `anchor`. Raises ArenaError where the anchor is no agent here."""
        zero = 0.0 if anchor is None else self.ratings[place_of(self.agents, anchor)]
        return {agent: (rating - zero) * ELO for agent, rating in zip(self.agents, self.ratings, strict=True)}

    def chances(self, first: str, second: str) -> Tally:
        """The chances of a win, a draw and a loss of `first`, which sits first, against `second`."""
        lead = self.ratings[place_of(self.agents, first)] - self.ratings[place_of(self.agents, second)]
        return chances(lead + self.first_mover, self.log_draws)


def place_of(agents: Sequence[str], agent: str) -> int:
    """Where an agent stands among those that are rated; raises ArenaError where it is none of them."""
    if agent not in agents:
        raise ArenaError(f"ratings: expected an agent that played, one of {', '.join(agents)}; got {agent!r}")
    return agents.index(agent)


def chances(lead: float, log_draws: float | None) -> Tally:
    """The chances of a win, a draw and a loss with a lead of so many natural units."""
    height = max(abs(lead) / 2, log_draws or 0.0)
    win, loss = exp(lead / 2 - height), exp(-lead / 2 - height)
    draw = 0.0 if log_draws is None else exp(log_draws - height)
    total = win + draw + loss
    return Tally(win / total, draw / total, loss / total)


def fit(
    table: Table, agents: Iterable[str] | None = None, *, model: Model = MODEL, held: Mapping[str, float] | None = None
) -> Fit:
    """The ratings that make the table likeliest, to about 1e-12 natural units.

    `agents` gives the order, and names those without games too (they come out at the mean); by default all of the table, sorted.
    `held` fixes agents at so many natural units above the mean of all others; then that is the mean which ratings are about, and
    the prior knows the others alone. Without draws in the table and without the prior, no draws are fitted. Raises ArenaError
    where an agent of the table is not in `agents`, or where there is no finite fit, which takes the prior to be off.
    """
    names = tuple(sorted({agent for seats in table for agent in seats}) if agents is None else agents)
    held = held or {}
    drawn = model.draws and (model.prior > 0 or any(tally.draws for tally in table.values()))
    likelihood = _Likelihood(names, table, Model(drawn, model.first_mover, model.prior), held)
    best = maximise(likelihood, likelihood.start(), ratings=len(likelihood.free))
    ratings, first_mover, log_draws = likelihood.unpack(best.place)
    return Fit(names, tuple(ratings), first_mover, log_draws if drawn else None, best.slope.value, best.slope.information)


class _Cell(NamedTuple):
    """Games of two agents in one order, by their places among the parameters; None for one whose rating is held."""

    first: int
    second: int
    tally: Tally


class _Likelihood:
    """The logarithm of the likelihood, as a function of the free ratings and then of the shared terms."""

    def __init__(self, names: Sequence[str], table: Table, model: Model, held: Mapping[str, float]) -> None:
        self.model = model
        self.free = [k for k, name in enumerate(names) if name not in held]
        order = {names[k]: place for place, k in enumerate([*self.free, *(k for k in range(len(names)) if names[k] in held)])}
        self._fixed = [held[name] for name in names if name in held]
        self._order = [order[name] for name in names]
        self._cells = [_Cell(_place(order, one), _place(order, two), tally) for (one, two), tally in table.items() if tally.games]
        self._size = len(self.free) + model.first_mover + model.draws

    def start(self) -> list[float]:
        return [0.0] * self._size

    def unpack(self, place: Sequence[float]) -> tuple[list[float], float, float]:
        """Ratings in the order of the names, the first-mover term, the logarithm of the weight of draws."""
        count = len(self.free)
        everyone = [*place[:count], *self._fixed]
        first_mover = place[count] if self.model.first_mover else 0.0
        log_draws = place[-1] if self.model.draws else 0.0
        return [everyone[k] for k in self._order], first_mover, log_draws

    def __call__(self, place: Sequence[float]) -> Slope:
        """The slope at a place. Everything is summed with a row for every parameter, held ones and absent ones included."""
        free, everyone = len(self.free), len(self._order)
        model = self.model
        mover, draw = everyone, everyone + 1
        ratings = [*place[:free], *self._fixed]
        first_mover = place[free] if model.first_mover else 0.0
        log_draws = place[-1] if model.draws else None
        gradient = [0.0] * (everyone + 2)
        information = [[0.0] * (everyone + 2) for _ in range(everyone + 2)]
        value = 0.0
        for i, j, (wins, draws, losses) in self._cells:
            win, drawn, loss = odds = chances(ratings[i] - ratings[j] + first_mover, log_draws)
            games = wins + draws + losses
            value += _log_of(wins, win) + _log_of(draws, drawn) + _log_of(losses, loss)
            net = win - loss
            slope = (wins - losses - games * net) / 2
            curve = games * (win + loss - net * net) / 4
            cross = -games * net * drawn / 2
            gradient[i] += slope
            gradient[j] -= slope
            gradient[mover] += slope
            gradient[draw] += draws - games * odds.draws
            row, other = information[i], information[j]
            row[i] += curve
            row[j] -= curve
            row[mover] += curve
            row[draw] += cross
            other[j] += curve
            other[i] -= curve
            other[mover] -= curve
            other[draw] -= cross
            information[mover][mover] += curve
            information[mover][draw] += cross
            information[draw][draw] += games * drawn * (1 - drawn)
        kept = [*range(free), *([mover] if model.first_mover else []), *([draw] if model.draws else [])]
        plain = Slope(value, [gradient[k] for k in kept], _symmetric(information, kept))
        return self._with_prior(plain, place)

    def _with_prior(self, plain: Slope, place: Sequence[float]) -> Slope:
        weight, count = self.model.prior, len(self.free)
        if not weight:
            return plain
        terms: list[Term] = [virtual_draw(x) for x in place[: count + self.model.first_mover]]
        if self.model.draws:
            terms.append(virtual_drawn_half(place[-1]))
        for k, term in enumerate(terms):
            plain.gradient[k] += weight * term.slope
            plain.information[k][k] += weight * term.information
        return plain._replace(value=plain.value + weight * sum(term.value for term in terms))


def _place(order: Mapping[str, int], agent: str) -> int:
    return order[agent] if agent in order else place_of(tuple(order), agent)


def _log_of(times: float, chance: float) -> float:
    return times * log(max(chance, 1e-300)) if times else 0.0


def _symmetric(upper: Matrix, kept: Sequence[int]) -> Matrix:
    """The kept rows and columns; what stands below the diagonal only for ratings is mirrored for the shared terms."""
    return [[upper[min(k, j)][max(k, j)] for j in kept] for k in kept]
