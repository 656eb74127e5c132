"""Several scorers on the same data: their values, and how sure the differences are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..metrics._shared import PSEUDO_WEIGHT, ClassInfluence

__all__ = [
    "JointEstimate",
    "joint_influence",
    "joint_query_means",
    "least_variance",
    "never_certain_covariance",
    "nonzero_variance",
]

# A variance per item, in squared ranges of the statistic, that is nothing but rounding.
ROUNDING_VARIANCE = 1e-28

# Differences whose mean is so many of their standard deviations do not tell how they vary.
LARGEST_MEAN = 3.0


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """Statistics of several scorers on the same data, and how they vary together.

    Parameters
    ----------
    estimates : ndarray of shape (n_scorers,)
        The statistics.
    covariance : ndarray of shape (n_scorers, n_scorers)
        Their covariance; NaN with one item of a class.
    regularized : ndarray of shape (n_scorers, n_scorers)
        Covariance with half an item added at either end, for each scorer by itself: never
        singular. For differences that ``covariance`` calls certain.
    length : float
        Length of the range of the statistic; may be infinite.
    n_effective : float
        Number of items that the statistics are worth.
    """

    estimates: FloatArray
    covariance: FloatArray
    regularized: FloatArray
    length: float
    n_effective: float


def joint_influence(found: Sequence[ClassInfluence], *, conditional: bool) -> JointEstimate:
    """Estimate statistics of one list of two classes and their covariance.

    Parameters
    ----------
    found : sequence of ClassInfluence
        Influence of the same items on the statistic of each scorer.
    conditional : bool
        Whether the labels count as fixed; else each has a known ``label_slope``.

    Returns
    -------
    JointEstimate
        The estimate; ``n_effective`` is the harmonic number of items, ``n_pos n_neg / n``.
    """
    positive = found[0].positive
    n, k = len(positive), int(np.count_nonzero(positive))
    ends = np.array([one.class_ends() for one in found])
    covariance = np.zeros((len(found), len(found)))
    regularized = np.zeros_like(covariance)
    for side, in_class in enumerate((positive, ~positive)):
        values = np.stack([one.values[in_class] for one in found])
        values -= values.mean(axis=1, keepdims=True)
        squares, size = values @ values.T, values.shape[1]
        covariance += squares / (size * (size - 1)) if size > 1 else np.nan
        total = size + 2.0 * PSEUDO_WEIGHT
        apart = ends[:, side, 1] - ends[:, side, 0]
        regularized += (squares + np.diag(PSEUDO_WEIGHT * apart**2 / 2.0)) / total**2
    if not conditional:
        slopes = np.array([one.label_slope for one in found])
        labels = np.outer(slopes, slopes) * (k / n) * (1.0 - k / n) / n
        covariance, regularized = covariance + labels, regularized + labels
    return JointEstimate(
        estimates=np.array([one.estimate for one in found]),
        covariance=covariance,
        regularized=regularized,
        length=found[0].length,
        n_effective=k * (n - k) / n,
    )


def joint_query_means(values: FloatArray, length: float) -> JointEstimate:
    """Estimate means over queries and their covariance.

    Parameters
    ----------
    values : ndarray of shape (n_scorers, n_queries)
        Value of each scorer on each query; there are at least two queries.
    length : float
        Length of the range of the values; where it is infinite, that of the seen ones takes its
        place among the regularized.

    Returns
    -------
    JointEstimate
        The estimate; half a query is added at either end of the range, ``n_effective`` is the
        number of queries.
    """
    means, n = values.mean(axis=1), values.shape[1]
    apart = values - means[:, np.newaxis]
    squares = apart @ apart.T
    reach = length if isfinite(length) else float(np.ptp(values)) or 1.0
    ends = PSEUDO_WEIGHT * reach**2 / 2.0
    return JointEstimate(
        estimates=means,
        covariance=squares / (n * (n - 1.0)),
        regularized=(squares + ends * np.eye(len(values))) / (n + 2.0 * PSEUDO_WEIGHT) ** 2,
        length=length,
        n_effective=float(n),
    )


def least_variance(difference: Any, length: float, n_effective: float) -> Any:
    """Find the variance of a difference below which it counts as unknown.

    Parameters
    ----------
    difference : float or ndarray
        The difference.
    length : float
        Length of the range of the statistic; may be infinite.
    n_effective : float
        Number of items that it is worth.

    Returns
    -------
    float or ndarray
        That of the items hardly varying: of nothing but rounding, or of a mean of more than three
        of their standard deviations.
    """
    rounding = ROUNDING_VARIANCE * length**2 if isfinite(length) else 0.0
    return np.maximum(rounding, (difference / LARGEST_MEAN) ** 2) / n_effective


def never_certain_covariance(
    estimates: FloatArray, regularized: FloatArray, n_effective: float
) -> FloatArray:
    """Covariance by which no difference is certain.

    Parameters
    ----------
    estimates : ndarray of shape (n_scorers,)
        The statistics.
    regularized : ndarray of shape (n_scorers, n_scorers)
        Their covariance with the added items.
    n_effective : float
        Number of items that the statistics are worth.

    Returns
    -------
    ndarray of shape (n_scorers, n_scorers)
        For differences as :func:`nonzero_variance`: with the added items and the square of the
        mean.
    """
    apart = estimates - estimates.mean()
    return np.asarray(regularized + np.outer(apart, apart) / n_effective)


def nonzero_variance(
    variance: float, regularized: float, difference: float, *, length: float, n_effective: float
) -> tuple[float, bool]:
    """Variance of a difference, never zero.

    Parameters
    ----------
    variance : float
        Variance as estimated; NaN if there is none.
    regularized : float
        Variance with the added items.
    difference : float
        The difference.
    length : float
        Length of the range of the statistic; may be infinite.
    n_effective : float
        Number of items that it is worth.

    Returns
    -------
    variance : float
        As estimated unless the values hardly vary; else with the added items and, as under the
        hypothesis of no difference, with the square of the mean.
    is_regularized : bool
        Whether it is the latter.
    """
    if variance > least_variance(difference, length, n_effective):
        return variance, False
    return regularized + difference**2 / n_effective, True
