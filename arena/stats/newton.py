"""Newton's method for concave functions of ratings. Adding a number to all ratings changes nothing, so their mean is set to 0."""

from collections.abc import Callable
from math import isclose
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from arena.errors import ArenaError

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class Slope(NamedTuple):
    """A function at one place: its value, its gradient, and its information (the negative matrix of second derivatives)."""

    value: float
    gradient: Array
    information: Array


MAX_LAST_STEP = 1e-9
"""The largest component of the last step, in natural units (1 Elo is 0.006). The error is about the square of it."""

_MAX_STEP = 4.0  # far from the maximum, the quadratic model fails, so every component of a step is limited
_MAX_RATING = 200.0  # no data gives a rating of 35,000 Elo: if the function still rises there, it has no finite maximum
_MAX_HALVINGS = 40


def maximise(function: Callable[[Array], Slope], start: Array, *, ratings: int) -> tuple[Array, Slope]:
    """Return the place of the maximum of a concave function, and its Slope there. The first `ratings` components have the mean 0.

    Newton's method with backtracking begins at `start`, which must also have this mean. Raises ArenaError if there is no maximum.
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
    raise ArenaError("ratings: without the prior, some ratings grow without end; keep the prior on (`prior` above 0)")


def _climb(function: Callable[[Array], Slope], place: Array, here: Slope, step: Array) -> tuple[Array, Slope]:
    """Return the place after the step. The step is halved until it does not lower the value, and omitted if it always does."""
    slack = 1e-12 * (1 + abs(here.value))  # near the maximum, only rounding lowers the value
    for halving in range(_MAX_HALVINGS):
        tried = place + step / 2**halving
        there = function(tried)
        if there.value >= here.value - slack:
            return tried, there
    return place, here


def constrained_inverse(information: Array, ratings: int) -> Array:
    """Return the inverse of information matrices, restricted to places whose first `ratings` components have the mean 0.

    This inverse turns gradients into Newton steps. For the information of a likelihood, it is the covariance of the estimates.
    `information` is one matrix or a stack of them. Raises ArenaError if one of them is not positive definite on these places.
    """
    # A likelihood does not change with a common shift of all ratings, so the information alone is (nearly) singular. Adding
    # stiffness in that direction makes it regular. The projection below removes the shift, and with it the stiffness.
    stiff = information.copy()
    if ratings:
        stiff[..., :ratings, :ratings] += stiff[..., :ratings, :ratings].max(axis=(-2, -1), keepdims=True) / ratings
    try:
        pivots = np.diagonal(np.linalg.cholesky(stiff), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    # If a pivot cancels down to rounding errors, the matrix is singular: groups never met, and there is no prior.
    if not (pivots > 1e-14 * np.maximum(np.diagonal(stiff, axis1=-2, axis2=-1), 1e-300)).all():
        raise ArenaError("ratings: some groups of agents never met; keep the prior on (`prior` above 0), which connects them")
    inverse: Array = np.linalg.inv(stiff).astype(np.float64, copy=False)
    shift = inverse[..., :, :ratings].sum(axis=-1, keepdims=True)
    if ratings:
        inverse -= shift * shift.swapaxes(-2, -1) / shift[..., :ratings, :].sum(axis=-2, keepdims=True)
    return inverse


def find_root(rising: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], *, accuracy: float) -> float:
    """Return the root between two places, given with their values, by false position with the Illinois rule.

    The rule halves the value at an end that stays. Every value requires a fit; bisection needs ten times as many values.
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
