"""The weak prior of all ratings, told as virtual games, so that whoever wins or loses everything still has a finite rating.

Each agent has played one virtual draw against a player of the field's mean rating. A virtual draw is half a win and half a loss,
so with a rating x above the mean it adds  ln(s(x)) / 2 + ln(1 - s(x)) / 2,  s being the logistic function, and says nothing about
how often real games are drawn. The two terms that all games share get one virtual game each: the first-mover term a virtual draw
of two equal agents, and the draw term a game of two equal agents that was half drawn and half decided.
"""

from math import cosh, exp, log, log1p, tanh
from typing import NamedTuple


class Term(NamedTuple):
    """A concave term of one variable: its value, slope, and information, which is minus its second derivative."""

    value: float
    slope: float
    information: float


def virtual_draw(x: float) -> Term:
    """Half a win and half a loss with a lead of `x` natural units."""
    return Term(-_log_two_cosh(x / 2), -tanh(x / 2) / 2, 1 / (4 * cosh(min(abs(x) / 2, 300.0)) ** 2))


def virtual_drawn_half(log_draws: float) -> Term:
    """A game of equals that was half drawn and half decided, a draw weighing exp(log_draws) against two decisions of 1 each."""
    share = 1 / (1 + 2 * exp(-max(-700.0, min(log_draws, 700.0))))
    return Term((log_draws + log(2)) / 2 - _log_two_and(log_draws), 0.5 - share, share * (1 - share))


def _log_two_cosh(y: float) -> float:
    return abs(y) + log1p(exp(-2 * abs(y)))


def _log_two_and(x: float) -> float:
    """The logarithm of 2 + exp(x)."""
    return x + log1p(2 * exp(-x)) if x > 0 else log(2 + exp(x))
