"""How far a distribution function of grouped rows strays, whatever the dependence within groups.

A selection of M groups, each with a chance in proportion to its rows, and of one row of each has M
independent rows; the empirical distribution of all rows is the mean over such selections. So the
expectation of every convex function of its distance is at most that for M independent rows, and
its quantiles are at most the means of their tails.
"""

from __future__ import annotations

from math import erfc, exp, floor, log, pi, sqrt

import numpy as np
from scipy.stats import kstwo

from .._typing import FloatArray

__all__ = ["independent_rows", "kolmogorov_margin", "mean_of_tail"]

# Points over which a tail is integrated by the trapezoidal rule, which is too large for convex
# functions.
POINTS = 2001


def independent_rows(sizes: FloatArray) -> int:
    """Count the groups that can be selected, each in proportion to its rows.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        Rows of each group.

    Returns
    -------
    int
        ``floor(n / largest size)``.
    """
    return floor(sizes.sum() / sizes.max())


def mean_of_tail(factor: float, delta: float, n: int) -> float:
    """Mean of the tail of a distance with ``P(distance > x) <= factor exp(-2 n x^2)``.

    Parameters
    ----------
    factor : float
        Factor of the inequality, at least 1.
    delta : float
        Probability of the tail, in (0, 1).
    n : int
        Number of independent rows.

    Returns
    -------
    float
        Mean beyond the quantile at ``1 - delta``.
    """
    quantile = sqrt(log(factor / delta) / (2.0 * n))
    beyond = factor * sqrt(pi / (8.0 * n)) * erfc(quantile * sqrt(2.0 * n))
    return quantile + beyond / delta


def kolmogorov_margin(delta: float, n: int) -> float:
    """Mean of the tail of the two-sided Kolmogorov-Smirnov statistic.

    Parameters
    ----------
    delta : float
        Probability of the tail, in (0, 1).
    n : int
        Number of independent rows.

    Returns
    -------
    float
        Mean beyond the quantile at ``1 - delta``, at most 1.
    """
    quantile = float(kstwo.isf(delta, n))
    # Beyond it there is less than a share exp(-25) of the tail.
    last = min(1.0, quantile + 5.0 / sqrt(2.0 * n))
    points = np.linspace(quantile, last, POINTS)
    beyond = float(np.trapezoid(kstwo.sf(points, n), points)) + (1.0 - last) * 2.0 * exp(
        -2.0 * n * last**2
    )
    return min(1.0, quantile + beyond / delta)
