"""Newton's method for concave functions of ratings, which are determined up to a common shift and so have the mean 0."""

from collections.abc import Callable
from math import isclose
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from arena.errors import ArenaError

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class Slope(NamedTuple):
    """A function at one place: its value, its gradient, and its information (minus the matrix of second derivatives)."""

    value: float
    gradient: Array
    information: Array


MAX_LAST_STEP = 1e-9
"""The last step's largest component, in natural units (an Elo point is 0.006); by quadratic convergence the error is its square.
"""

_MAX_STEP = 4.0  # far from the maximum the quadratic model does not hold, so steps are limited in every component
_MAX_RATING = 200.0  # no data gives a rating of 35,000 Elo: a function that still rises there has no finite maximum
_MAX_HALVINGS = 40


def maximise(function: Callable[[Array], Slope], start: Array, *, ratings: int) -> tuple[Array, Slope]:
    """The maximum of a concave function over the places whose first `ratings` components have the mean 0, and the function there.

    `start` is such a place. Newton's method with backtracking. Raises ArenaError if there is no finite maximum.
    """
    place = start
    here = function(place)
    for _ in range(300):
        step = constrained_inverse(here.information, ratings) @ here.gradient
        largest = np.abs(step).max(initial=0.0)
        if largest > _MAX_STEP:
            step *= _MAX_STEP / largest
        place, here = _climb(function, place, here, step)
        if largest < MAX_LAST_STEP:
            return place, here
        if np.abs(place).max() > _MAX_RATING:
            break
    raise ArenaError(
        "ratings: expected a table with a finite fit, got one where some ratings grow without end; keep the prior on"
    )


def _climb(function: Callable[[Array], Slope], place: Array, here: Slope, step: Array) -> tuple[Array, Slope]:
    """The place after the step, or after the first of its halves that does not lower the value; else the same place."""
    slack = 1e-12 * (1 + abs(here.value))  # next to the maximum the value falls only by rounding
    for halving in range(_MAX_HALVINGS):
        tried = place + step / 2**halving
        there = function(tried)
        if there.value >= here.value - slack:
            return tried, there
    return place, here


def constrained_inverse(information: Array, ratings: int) -> Array:
    """The inverse of information matrices among the places whose first `ratings` components have the mean 0.

    It turns gradients into Newton steps; for the information of a likelihood it is the covariance of the estimates. `information`
    is one matrix or a stack of them. Raises ArenaError if one is not positive definite there.
    """
    # A likelihood does not see a common shift of all ratings, so the information alone is (nearly) singular. Stiffness in that
    # direction makes it regular; the projection below then removes the shift, and with it every trace of the stiffness.
    stiff = information.copy()
    if ratings:
        stiff[..., :ratings, :ratings] += stiff[..., :ratings, :ratings].max(axis=(-2, -1), keepdims=True) / ratings
    try:
        pivots = np.diagonal(np.linalg.cholesky(stiff), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    # A pivot that cancels down to rounding belongs to a singular matrix: groups that never met, without the prior.
    if not (pivots > 1e-14 * np.maximum(np.diagonal(stiff, axis1=-2, axis2=-1), 1e-300)).all():
        raise ArenaError("ratings: expected a table that connects all agents, got one that falls apart; keep the prior on")
    inverse: Array = np.linalg.inv(stiff).astype(np.float64, copy=False)
    shift = inverse[..., :, :ratings].sum(axis=-1, keepdims=True)
    if ratings:
        inverse -= shift * shift.swapaxes(-2, -1) / shift[..., :ratings, :].sum(axis=-2, keepdims=True)
    return inverse


def find_root(rising: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], *, accuracy: float) -> float:
    """The root between two places, given with their values, by false position with the Illinois rule: the stale end's value is
    halved. Every value takes a fit, so a tenth of the evaluations of a bisection matters.
    """
    for _ in range(100):
        if high[0] - low[0] < accuracy or isclose(low[1], high[1]):
            break
        x = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        value = rising(x)
        if abs(value) < accuracy**2:
            return x
        if value < 0:
            low, high = (x, value), (high[0], high[1] / 2)
        else:
            low, high = (low[0], low[1] / 2), (x, value)
    return (low[0] + high[0]) / 2
