"""Newton's method for concave functions of ratings, which are known only up to a common shift and so are held to the mean 0."""

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from operator import mul
from typing import NamedTuple, TypeAlias

from arena.errors import ArenaError

Vector: TypeAlias = list[float]
Matrix: TypeAlias = list[list[float]]


class Slope(NamedTuple):
    """A function at one place: its value, its gradient, and its information, which is minus the matrix of second derivatives."""

    value: float
    gradient: Vector
    information: Matrix


class Maximum(NamedTuple):
    """The place of a maximum and the function there."""

    place: Vector
    slope: Slope


ACCURACY = 1e-9
"""The last step's largest part, in natural units; the error left is about its square. An Elo point is 0.006 natural units."""


def maximise(function: Callable[[Sequence[float]], Slope], start: Sequence[float], *, ratings: int) -> Maximum:
    """Where a concave function is largest among all places whose first `ratings` parts have the mean 0; `start` is one.

    Newton's method, the step halved until the value grows. Raises ArenaError where there is no finite maximum.
    """
    place = list(start)
    here = function(place)
    for _ in range(300):
        step = _step(here, ratings)
        largest = max(map(abs, step), default=0.0)
        if largest > _LEAP:
            step = [part * _LEAP / largest for part in step]
        place, here = _climb(function, place, here, step)
        if largest < ACCURACY:
            return Maximum(place, here)
        if max(map(abs, place)) > _FAR:
            break
    raise ArenaError(
        "ratings: expected a table with a finite fit, got one where some ratings grow without end; keep the prior on"
    )


_LEAP = 4.0
_FAR = 200.0
_HALVINGS = 40


def _climb(function: Callable[[Sequence[float]], Slope], place: Vector, here: Slope, step: Vector) -> tuple[Vector, Slope]:
    slack = 1e-12 * (1 + abs(here.value))
    for halving in range(_HALVINGS):
        tried = [x + part / 2**halving for x, part in zip(place, step, strict=True)]
        there = function(tried)
        if there.value >= here.value - slack:
            return tried, there
    return place, here


def _step(here: Slope, ratings: int) -> Vector:
    solver = Constrained(here.information, ratings)
    return solver.solve(here.gradient)


class Constrained:
    """Solves equations in an information matrix among the places whose first `ratings` parts have the mean 0.

    Raises ArenaError where the information is not positive definite there.
    """

    def __init__(self, information: Matrix, ratings: int) -> None:
        self._ratings = ratings
        fixed = [list(row) for row in information]
        weight = max((information[k][k] for k in range(ratings)), default=1.0) / max(ratings, 1)
        for row in fixed[:ratings]:  # says how stiff the forbidden direction is: it changes no solution
            row[:ratings] = [value + weight for value in row[:ratings]]
        self._factor = _cholesky(fixed)
        self._shift = self._plain([1.0] * ratings + [0.0] * (len(information) - ratings))
        self._stiffness = sum(self._shift[:ratings])

    def solve(self, right: Sequence[float]) -> Vector:
        """The place x of mean 0 with x'y = x'(information)z for every allowed x, z being the answer and y the right side."""
        free = self._plain(right)
        if not self._ratings:
            return free
        excess = sum(free[: self._ratings]) / self._stiffness
        return [value - excess * shift for value, shift in zip(free, self._shift, strict=True)]

    def inverse(self) -> Matrix:
        """The answers to all unit vectors: the covariance of the estimates, if the information is that of a likelihood."""
        size = len(self._factor)
        return [self.solve([1.0 if k == unit else 0.0 for k in range(size)]) for unit in range(size)]

    def _plain(self, right: Sequence[float]) -> Vector:
        factor = self._factor
        forward: Vector = []
        for k, row in enumerate(factor):
            forward.append((right[k] - sum(map(mul, row, forward))) / row[k])
        rest = forward
        for k in range(len(factor) - 1, -1, -1):
            row = factor[k]
            found = rest[k] / row[k]
            rest[k] = found
            if found:
                for j in range(k):
                    rest[j] -= found * row[j]
        return rest


def _cholesky(matrix: Matrix) -> Matrix:
    """The rows, each up to its diagonal, of the lower triangle L with L L' = matrix."""
    factor: Matrix = []
    for k, source in enumerate(matrix):
        row: Vector = []
        for j in range(k):
            other = factor[j]
            row.append((source[j] - sum(map(mul, row, other))) / other[j])
        pivot = source[k] - sum(map(mul, row, row))
        if not isfinite(pivot) or pivot <= 1e-14 * max(source[k], 1e-300):
            raise ArenaError("ratings: expected a table that connects all agents, got one that falls apart; keep the prior on")
        row.append(sqrt(pivot))
        factor.append(row)
    return factor
