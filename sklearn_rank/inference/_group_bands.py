"""Bounds for the empirical distribution function of grouped rows, for any dependence in groups.

A selection of M groups, each with a chance in proportion to its rows, and of one row of each has M
independent rows; the empirical distribution of all rows is the mean over such selections. So the
expectation of every convex function of its distance is at most that for M independent rows, and
its quantiles are at most the means of their tails.
"""

from __future__ import annotations

from math import erfc, floor, log, pi, sqrt

import numpy as np
from scipy.special import smirnov, smirnovi

from .._typing import FloatArray

__all__ = ["independent_rows", "kolmogorov_margin", "mean_of_tail"]

# Gauss's nodes and weights on [0, 1], for the integral of a tail.
NODES, WEIGHTS = (np.polynomial.legendre.leggauss(60)[i] / 2.0 for i in (0, 1))
NODES = NODES + 0.5

# From here on the exponential bound is as good as the distribution itself.
MANY = 1000


def independent_rows(sizes: FloatArray) -> int:
    """Count the groups that can be selected, each in proportion to its rows."""
    return floor(sizes.sum() / sizes.max())


def mean_of_tail(factor: float, delta: float, n: int) -> float:
    """Mean of the tail of a distance with ``P(distance > x) <= factor exp(-2 n x^2)``."""
    quantile = sqrt(log(factor / delta) / (2.0 * n))
    beyond = factor * sqrt(pi / (8.0 * n)) * erfc(quantile * sqrt(2.0 * n))
    return quantile + beyond / delta


def kolmogorov_margin(delta: float, n: int) -> float:
    """Mean of the tail of the Kolmogorov-Smirnov statistic, taken as both one-sided ones."""
    if n > MANY:
        return min(1.0, mean_of_tail(2.0, delta, n))
    quantile = float(smirnovi(n, delta / 2.0))
    # Beyond the last point there is less than a share exp(-50) of the tail.
    reach = min(1.0 - quantile, 5.0 / sqrt(n))
    beyond = reach * float(WEIGHTS @ smirnov(n, quantile + reach * NODES))
    return min(1.0, quantile + 2.0 * beyond / delta)
