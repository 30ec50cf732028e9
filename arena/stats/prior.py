"""The weak prior of all ratings, as virtual games, so that competitors that win or lose everything still have finite ratings.

Every competitor has played one virtual draw against an opponent of the field's mean rating. A virtual draw is half a win and half
a loss, so a rating x above the mean adds  ln(s(x)) / 2 + ln(1 - s(x)) / 2,  s being the logistic function, and the share of draws
among real games is not touched. The two terms that all games share get one virtual game each: the first-mover term a virtual draw
of two equal competitors, and the draw term a game of two equal ones that was half drawn and half decided.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.stats.newton import Array


@dataclass(frozen=True, slots=True)
class Model:
    """The terms that are fitted beside the ratings, and the number of virtual draws of each competitor; 0 turns the prior off."""

    draws: bool = True
    first_mover: bool = True
    prior: float = 1.0


MODEL = Model()


class Term(NamedTuple):
    """A concave term, component by component: its value, slope, and information (minus its second derivative)."""

    value: Array
    slope: Array
    information: Array


def virtual_games(place: Array, model: Model) -> Term:
    """The prior's terms, one for each component of the place: ratings, then the model's shared terms."""
    term = virtual_draw(place)
    if model.draws:
        for each, last in zip(term, virtual_half_draw(place[..., -1]), strict=True):
            each[..., -1] = last
    return Term(*[model.prior * each for each in term])


def virtual_draw(x: Array) -> Term:
    """Half a win and half a loss at a lead of `x` natural units."""
    half = x / 2
    cosh = np.cosh(np.minimum(np.abs(half), 300.0))  # its square overflows beyond this
    return Term(-np.logaddexp(half, -half), -np.tanh(half) / 2, 1 / (4 * cosh * cosh))


def virtual_half_draw(log_draws: Array) -> Term:
    """A game of equals that was half drawn and half decided, a draw weighing exp(log_draws) against two decisions of 1 each."""
    share = 1 / (1 + 2 * np.exp(-np.clip(log_draws, -700.0, 700.0)))
    return Term((log_draws + np.log(2)) / 2 - np.logaddexp(log_draws, np.log(2)), 0.5 - share, share * (1 - share))
