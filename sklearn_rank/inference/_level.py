"""The level at which limits of several statistics hold all together, from their covariance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, owens_t

from .._printed import ROUNDING
from .._typing import FloatArray
from ._limits import BLOCK

# Draws of the largest of several statistics, and products that they may take in all.
FEWEST, MOST, PRODUCTS = 2_000, 10_000, 4 * 10**7
# Of more statistics the probabilities are interpolated between so many.
NODES = 64


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Matrix R with ``R R' = covariance``, of shape (n, rank)."""
    values, vectors = np.linalg.eigh(covariance)
    positive = values > ROUNDING * values[-1]
    return vectors[:, positive] * np.sqrt(values[positive])


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    rows = max(1, BLOCK // len(root))
    for start in range(0, n_draws, rows):
        shape = min(rows, n_draws - start), root.shape[1]
        yield rng.standard_normal(shape, dtype=root.dtype) @ root.T


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest of J correlated standard normal variables, or of their absolute values.

    ``P(max >= x) = J P(Z_j >= x) E(1 / N | Z_j >= x)``, j being any of them with the same chance,
    N the number of variables that are at least x: no draw is wasted on what is not beyond, so that
    small probabilities are as exact as large ones (Naiman & Priebe 2001).
    """

    along: FloatArray  # (n_draws, J): Correlation of each variable with the one that is beyond
    rest: FloatArray  # (n_draws, J): The part of each that is not correlated with it
    places: FloatArray  # (n_draws,): Where beyond x it is, as a share of its tail
    signed: bool

    @property
    def n_tails(self) -> int:
        return self.along.shape[1] * (1 if self.signed else 2)

    def beyond(self, statistics: Any) -> FloatArray:
        """Probabilities that the largest is at least each of some statistics."""
        # Of larger ones a tail is 0 in floating point.
        statistics = np.minimum(np.asarray(statistics, dtype=np.float64), 37.0)
        statistics = statistics if self.signed else np.maximum(statistics, 0.0)
        nodes = np.unique(statistics)
        if len(nodes) > NODES:
            # Farther out hardly any two variables are beyond at once, which changes no more.
            inner = np.linspace(nodes[0], min(nodes[-1], 8.0), NODES)
            nodes = np.unique(np.append(inner, nodes[-1]))
        # Between nodes the expectation, which changes slowly, not the tail.
        means = np.exp(np.interp(statistics, nodes, np.log(list(map(self._mean, nodes.tolist())))))
        return np.minimum(self.n_tails * ndtr(-statistics) * means, 1.0)

    def _beyond(self, x: float) -> float:
        return min(self.n_tails * float(ndtr(-x)) * self._mean(x), 1.0)

    def _mean(self, x: float) -> float:
        """Expectation of ``1 / N``."""
        tail = float(ndtr(-x))
        drawn = self.along * -ndtri(self.places * tail).astype(np.float32)[:, np.newaxis]
        drawn += self.rest
        if not self.signed:
            np.abs(drawn, out=drawn)
        # That a variable is beyond itself is not left to rounding.
        count = np.maximum(np.count_nonzero(drawn >= x - 1e-6 * abs(x), axis=1), 1)
        return float(np.mean(1.0 / count))

    def quantile(self, level: float) -> float:
        """Quantile of the largest, between those of one variable and of Bonferroni's limits."""
        tail = (1.0 - level) / self.n_tails
        least, most = (-ndtri([tail * self.along.shape[1], tail])).tolist()
        if self._beyond(least) <= 1.0 - level:
            return float(least)
        # If no two were beyond at once, rounding decides.
        if self._beyond(most) >= 1.0 - level:
            return float(most)
        return brentq(lambda x: self._beyond(x) - (1.0 - level), least, most, xtol=1e-4)


def largest_of_contrasts(
    covariance: FloatArray,
    contrasts: FloatArray,
    rng: np.random.Generator,
    *,
    signed: bool = False,
) -> Largest:
    """The largest statistic of contrasts of normal variables."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale[scale == 0.0] = 1.0
    root = (contrasts * scale) @ covariance_root(covariance / np.outer(scale, scale))
    errors = np.sqrt(np.sum(root**2, axis=1, keepdims=True))
    # Contrasts that vary by rounding alone are as good as any one variable.
    varies = errors[:, 0] > ROUNDING
    root = root[varies] / errors[varies] if varies.any() else np.ones((1, 1))
    root = root.astype(np.float32)
    n_each = ceil(np.clip(PRODUCTS / root.size, FEWEST, MOST) / len(root))
    n_draws = n_each * len(root)
    drawn = rng.standard_normal((n_draws, root.shape[1]), dtype=np.float32) @ root.T
    which = np.repeat(np.arange(len(root)), n_each)
    along = (root @ root.T)[which]
    rest = drawn - along * drawn[np.arange(n_draws), which, np.newaxis]
    return Largest(along, rest, (rng.permutation(n_draws) + 0.5) / n_draws, signed)


def simultaneous_level(covariance: FloatArray, level: float, rng: np.random.Generator) -> float:
    """Level of limits of each of K normal statistics that all hold with probability ``level``.

    It is that of the quantile of the largest of ``|Z_1|, ..., |Z_K|``, exact for one and two, and
    at most Bonferroni's, ``1 - (1 - level) / K``.
    """
    k = len(covariance)
    if k == 1:
        return level
    if k == 2:
        (first, both), (_, second) = covariance.tolist()
        r = min(max(both / sqrt(first * second), -1.0), 1.0)
        slope = sqrt((1.0 - r) / (1.0 + r)) if r > -1.0 else inf
        slopes = np.array([slope, 1.0 / slope if slope > 0.0 else inf])

        # P(|Z_1| > x or |Z_2| > x) by Owen's T function.
        def excess(x: float) -> float:
            return 4.0 * float(owens_t(x, slopes).sum()) - (1.0 - level)

        quantile = brentq(excess, 0.0, 40.0, xtol=1e-12)
    else:
        quantile = largest_of_contrasts(covariance, np.eye(k), rng).quantile(level)
    error = 2.0 * float(ndtr(-quantile))
    return 1.0 - min(max(error, (1.0 - level) / k), 1.0 - level)


def excess_of_largest(values: FloatArray, covariance: FloatArray) -> float:
    """Expected error of the largest of statistics, were the values what they estimate.

    Normal errors of the covariance, the same draws in every call.
    """
    draws = normal_draws(covariance_root(covariance), MOST, np.random.default_rng(0))
    chosen = [x[np.arange(len(x)), (values + x).argmax(axis=1)] for x in draws]
    return float(np.concatenate(chosen).mean())
