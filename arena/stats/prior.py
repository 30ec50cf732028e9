"""The weak prior for all ratings. It adds virtual games, so that a competitor that wins or loses every game has a finite rating.

Every competitor has played one virtual draw against an opponent with the mean rating of the field. A virtual draw is half a win
and half a loss, so a rating of x above the mean adds  ln(s(x)) / 2 + ln(1 - s(x)) / 2  to the log-likelihood; s is the logistic
function. The share of draws among real games is not changed. The two terms that all games share get one virtual game each: for
the first-mover term, a virtual draw between equal competitors; for the draw term, a game between equals that was half drawn and
half decided.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.stats.newton import Array


@dataclass(frozen=True, slots=True)
class Model:
    """The terms that are fitted beside the ratings, and the number of virtual draws per competitor; 0 turns off the prior."""

    draws: bool = True
    first_mover: bool = True
    prior: float = 1.0


MODEL = Model()


class Term(NamedTuple):
    """A concave term for each component: its value, its slope and its information (minus the second derivative)."""

    value: Array
    slope: Array
    information: Array


def virtual_games(place: Array, model: Model) -> Term:
    """Return the terms of the prior, one for each component of the place: the ratings, then the shared terms of the model."""
    term = virtual_draw(place)
    if model.draws:
        for each, last in zip(term, virtual_half_draw(place[..., -1]), strict=True):
            each[..., -1] = last
    return Term(*[model.prior * each for each in term])


def virtual_draw(x: Array) -> Term:
    """Return the term of half a win and half a loss at a lead of `x` natural units."""
    half = x / 2
    cosh = np.cosh(np.minimum(np.abs(half), 300.0))  # beyond this, its square overflows
    return Term(-np.logaddexp(half, -half), -np.tanh(half) / 2, 1 / (4 * cosh * cosh))


def virtual_half_draw(log_draws: Array) -> Term:
    """Return the term of a game between equals, half drawn and half decided. A draw weighs exp(log_draws), both decisions 1."""
    share = 1 / (1 + 2 * np.exp(-np.clip(log_draws, -700.0, 700.0)))
    return Term((log_draws + np.log(2)) / 2 - np.logaddexp(log_draws, np.log(2)), 0.5 - share, share * (1 - share))
