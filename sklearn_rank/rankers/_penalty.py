"""The strength of a penalty on a scale that does not depend on the loss or the length of lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._lists import Lists
from .._solvers import Design
from .._typing import FloatArray
from ..losses._shared import ThreadedLoss
from ..preprocessing import QueryNormalizer

__all__ = ["absolute_alpha", "curvature_scale", "relative_alpha"]

SCALE = "scale"

# Share of the curvature of the loss that "scale" is: near the best one on web search and medical
# data for pointwise, pairwise and listwise losses.
SHARE = 0.1

# Where along the utilities the slope of the loss is taken: losses with a margin have none at 0.
STEP = 0.5

# Rows of which a copy is made at a time.
COPIED = 8192


def relative_alpha(alpha: Any) -> float | None:
    """Read ``"scale"`` or ``"0.1*scale"``.

    Parameters
    ----------
    alpha : float or str
        The parameter.

    Returns
    -------
    float or None
        The factor; None for a number, which is absolute.
    """
    if not isinstance(alpha, str):
        return None
    factor, star, unit = alpha.rpartition("*")
    try:
        found = float(factor) if star else 1.0
    except ValueError:
        found = np.nan
    if unit.strip() != SCALE or not 0 <= found < np.inf:
        raise ValueError(
            f"alpha={alpha!r} must be a number from 0 on, 'scale', or a factor of it such as"
            " '10*scale'."
        )
    return found


def absolute_alpha(alpha: Any, items: Design, loss: ThreadedLoss, lists: Lists) -> float:
    """Strength of the penalty as the problem takes it.

    Parameters
    ----------
    alpha : float or str
        The parameter.
    items : Design
        Rows of the lists, in their order.
    loss : ThreadedLoss
        The loss, weighted as in the objective.
    lists : Lists
        The lists, with utilities as labels.

    Returns
    -------
    float
        The number itself, or the factor times a tenth of the curvature of the loss.
    """
    factor = relative_alpha(alpha)
    return float(alpha) if factor is None else factor * curvature_scale(items, loss, lists)


def curvature_scale(items: Design, loss: ThreadedLoss, lists: Lists) -> float:
    """A tenth of the curvature of the loss in the coefficient of a feature.

    It is the sum over the lists of the curvature of the loss between scores of minus and plus half
    the standardised utilities, times the mean over the features of their variance in the list.

    Parameters
    ----------
    items : Design
        Rows of the lists, in their order.
    loss : ThreadedLoss
        The loss, weighted as in the objective.
    lists : Lists
        The lists, with utilities as labels.

    Returns
    -------
    float
        The scale; 1 where the loss or the features do not vary within any list.
    """
    normalizer = QueryNormalizer()
    standard = normalizer.fit_transform(
        lists.grade[:, np.newaxis], qid=lists.list_of, sample_weight=lists.weight
    )[:, 0]
    _, above = loss.value_and_gradient(STEP * standard)
    _, below = loss.value_and_gradient(-STEP * standard)
    curvature = lists.totals(standard * (above - below)) / (2.0 * STEP)
    scale = float(curvature @ _mean_variances(items, lists))
    return SHARE * scale if 0.0 < scale < np.inf else 1.0


def _mean_variances(items: Design, lists: Lists) -> FloatArray:
    """Mean over the features of their variance in each list."""
    found = np.empty(lists.n_lists)
    start = 0
    while start < lists.n_lists:
        end = lists.offsets[start] + COPIED
        stop = max(start + 1, int(np.searchsorted(lists.offsets, end, "right")) - 1)
        rows: Any = items.rows(slice(lists.offsets[start], lists.offsets[stop]))
        found[start:stop] = _mean_variances_of(rows.matrix, lists.part(start, stop))
        start = stop
    return found


def _mean_variances_of(rows: Any, lists: Lists) -> FloatArray:
    """The same for a block of lists."""
    starts, share = lists.offsets[:-1], lists.counts / lists.to_items(lists.sizes)
    if sp.issparse(rows):
        means = sp.csr_array((share, np.arange(len(share)), lists.offsets)) @ rows
        squares = np.add.reduceat(share * rows.multiply(rows).sum(axis=1), starts)
        squares_of_means = means.multiply(means).sum(axis=1)
    else:
        # Differences from the first row of a list have nothing to cancel.
        moved = rows - np.repeat(rows[starts], lists.lengths, axis=0)
        means = np.add.reduceat(share[:, np.newaxis] * moved, starts, axis=0)
        squares = np.add.reduceat(share * np.einsum("ij,ij->i", moved, moved), starts)
        squares_of_means = np.einsum("ij,ij->i", means, means)
    return np.maximum(squares - squares_of_means, 0.0) / rows.shape[1]
