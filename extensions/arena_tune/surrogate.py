"""A model of the strength over the search space, fitted to the results of all trials. It is a Gaussian process on the Elo scale.

Its covariance is the sum of two covariances: one for a quadratic function, and one for a smooth deviation from it. So a few noisy
trials suffice when the strength is roughly quadratic, and other shapes are possible. The likelihood is binomial: a trial that
loses every game counts as weak, without a fixed number of Elo. The fit uses Laplace's approximation, as in C. E. Rasmussen and C.
Williams, Gaussian Processes for Machine Learning, 2006, algorithms 3.1 and 3.2.
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

ELO = 400 / log(10)
"""The number of Elo in one unit of the logistic scale."""
SHAPES = [(scale, bend, 0.6) for scale in (0.3, 1.0, 3.0) for bend in (0.0, 0.3, 1.0)]
"""The covariances that are compared, each given by the standard deviation of the quadratic part, the standard deviation of the
smooth deviation, and the reach of the latter as a share of the diameter of the space. The likeliest one is used.
"""
JITTER = 1e-6
MAX_STEPS = 40


@dataclass(frozen=True, slots=True)
class Model:
    """The fitted model."""

    shape: tuple[float, float, float]
    points: Any
    weights: Any
    """The gradient of the likelihood at the fit."""
    root: Any
    """The square root of the curvature of the likelihood."""
    factor: Any
    evidence: float

    def predict(self, points: Any, *, spread: bool = False) -> tuple[Any, Any]:
        """Return the expected strengths of points in Elo and, with `spread`, their covariance (otherwise an empty array)."""
        cross = covariance(self.shape, points, self.points)
        mean = cross @ self.weights * ELO
        if not spread:
            return mean, np.empty(0)
        half = np.linalg.solve(self.factor, self.root[:, None] * cross.T)
        return mean, (covariance(self.shape, points, points) - half.T @ half) * ELO**2


def covariance(shape: tuple[float, float, float], one: Any, other: Any) -> Any:
    """Return the covariances of the strengths of points."""
    scale, bend, reach = shape
    size = one.shape[1]
    found = scale**2 * (1 + one @ other.T / size * 2) ** 2
    if bend:
        apart = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)
        found = found + bend**2 * np.exp(-apart / (2 * reach**2 * size))
    return found


def fit(points: Any, shares: Any, games: Any) -> Model:
    """Return the likeliest model for trials at `points`, each with its share of the points and its number of games."""
    fits = [_fit(shape, points, shares, games) for shape in SHAPES]
    return max(fits, key=lambda one: one.evidence)


def _fit(shape: tuple[float, float, float], points: Any, shares: Any, games: Any) -> Model:
    prior = covariance(shape, points, points) + JITTER * np.eye(len(points))
    latent, weights = np.zeros(len(points)), np.zeros(len(points))
    objective = -np.inf
    for _ in range(MAX_STEPS):
        chance = 1 / (1 + np.exp(-latent))
        curvature = games * chance * (1 - chance)
        root = np.sqrt(curvature)
        factor = np.linalg.cholesky(np.eye(len(points)) + root[:, None] * prior * root[None, :])
        aim = curvature * latent + games * (shares - chance)
        step = aim - root * np.linalg.solve(factor.T, np.linalg.solve(factor, root * (prior @ aim))) - weights
        length = 1.0
        while True:  # a full step of Newton's method may be too large
            tried = weights + length * step
            reached = prior @ tried
            value = float(games @ (shares * reached - np.logaddexp(0, reached)) - tried @ reached / 2)
            if value >= objective - 1e-9 or length < 1e-3:
                break
            length /= 2
        weights, latent, gain, objective = tried, reached, value - objective, value
        if gain < 1e-6:
            break
    chance = 1 / (1 + np.exp(-latent))
    root = np.sqrt(games * chance * (1 - chance))
    factor = np.linalg.cholesky(np.eye(len(points)) + root[:, None] * prior * root[None, :])
    evidence = objective - float(np.log(np.diag(factor)).sum())
    return Model(shape, points, games * (shares - chance), root, factor, evidence)
