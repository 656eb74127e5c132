"""The one place that sorts: blocks of tied scores, the mass of the top, its quantile.

Scores are descending wherever they are sorted here: the first position is the top. Weights count
repetitions of an item; items of weight 0 must be removed by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._typing import FloatArray, IntArray

__all__ = ["TiedBlocks", "quantile_at_mass", "tied_blocks", "top_mass", "top_threshold"]

# A real mass is reached when all but this share of it is: sums of weights are rounded.
MASS_SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class TiedBlocks:
    """Blocks of equal scores, from the top.

    Parameters
    ----------
    order : ndarray of shape (n,)
        Items from the highest score to the lowest.
    starts : ndarray of shape (n_blocks,)
        Where each block begins in ``order``.
    """

    order: IntArray
    starts: IntArray

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each block.

        Parameters
        ----------
        values : ndarray of shape (n,)
            One value per item.

        Returns
        -------
        ndarray of shape (n_blocks,)
            The sums.
        """
        if len(self.starts) == 0:
            return np.zeros(0)
        return np.add.reduceat(values[self.order], self.starts)


def tied_blocks(y_score: FloatArray) -> TiedBlocks:
    """Sort the items by descending score and find the blocks of equal scores.

    Parameters
    ----------
    y_score : ndarray of shape (n,)
        Scores without NaN; infinities are in order, and -0.0 equals 0.0.

    Returns
    -------
    TiedBlocks
        Order and blocks; the order within a block is the order of the items.
    """
    order = np.argsort(-y_score, kind="stable")
    ordered = y_score[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return TiedBlocks(order=order, starts=np.flatnonzero(new))


def top_mass(weight: FloatArray, tau: float) -> tuple[float, bool]:
    """Mass of the top ``tau``, and whether it is less than one item.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        Positive weights.
    tau : float
        Share of the total weight, in (0, 1).

    Returns
    -------
    mass : float
        For whole-number weights of sum W, ``max(1, floor(tau W + 1/2))``; else ``tau W``, less
        a share of 1e-12 for rounding.
    is_small : bool
        Whether the top is less than one item: ``tau W`` rounds to 0, or is less than the
        smallest weight.
    """
    total = float(weight.sum())
    if np.all(weight == np.floor(weight)):
        # tau is a rounded decimal: .29 * 50 falls just short of 14.5, which rounds to 15.
        share = tau * total
        count = np.floor(share + 4 * np.spacing(share) + 0.5)
        return max(1.0, float(count)), bool(count < 1.0)
    return tau * total * (1.0 - MASS_SLACK), bool(tau * total < weight.min())


def quantile_at_mass(scores: FloatArray, weight: FloatArray, mass: float) -> FloatArray:
    """Largest score such that the items that score at least as much have the given mass.

    Parameters
    ----------
    scores : ndarray of shape (..., n)
        Scores without NaN, one list per row.
    weight : ndarray of shape (n,)
        Positive weights, the same for all lists.
    mass : float
        Mass of the top, from :func:`top_mass`.

    Returns
    -------
    ndarray of shape (...)
        The quantiles, scores of items each.
    """
    order = np.argsort(-scores, axis=-1)
    reached = np.cumsum(weight[order], axis=-1) >= mass
    reached[..., -1] = True
    first = np.argmax(reached, axis=-1)[..., np.newaxis]
    item = np.take_along_axis(order, first, axis=-1)
    return np.take_along_axis(scores, item, axis=-1)[..., 0]


def top_threshold(
    y_score: FloatArray, weight: FloatArray, mass: float, error: FloatArray | None = None
) -> tuple[float, float]:
    """Quantile of the scores and the threshold just below it.

    Parameters
    ----------
    y_score : ndarray of shape (n,)
        Scores without NaN.
    weight : ndarray of shape (n,)
        Positive weights.
    mass : float
        Mass of the top, from :func:`top_mass`.
    error : ndarray of shape (n,) or None, default=None
        Bounds of the rounding errors of finite scores: a run of neighbours within their errors
        counts as tied, and the threshold keeps off all of it.

    Returns
    -------
    quantile : float
        The quantile.
    threshold : float
        Midway to the next distinct score below, and below the quantile even where the two are
        neighbours as floating-point numbers; just below the quantile if no score is lower.
    """
    margin = 0.0
    if error is not None:
        y_score = _merge_rounded(y_score, error)
        margin = float(error.max())
    quantile = float(quantile_at_mass(y_score, weight, mass))
    lower = y_score[y_score < quantile]
    if len(lower) == 0:
        return quantile, min(math.nextafter(quantile, -math.inf), quantile - margin)
    below = float(lower.max())
    # Halved before they are added, so that large scores do not overflow.
    middle = below / 2 + quantile / 2
    return quantile, middle if below <= middle < quantile else below


def _merge_rounded(y_score: FloatArray, error: FloatArray) -> FloatArray:
    """Give every run of neighbours that differ by no more than their errors its lowest value."""
    order = np.argsort(y_score, kind="stable")
    ordered, error = y_score[order], error[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.diff(ordered) > error[1:] + error[:-1]
    starts = np.flatnonzero(new)
    merged = np.empty_like(y_score)
    merged[order] = np.repeat(ordered[starts], np.diff(starts, append=len(order)))
    return merged
