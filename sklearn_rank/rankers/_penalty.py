"""The strength of a penalty on a scale that does not depend on the loss or the length of lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._lists import Lists
from .._solvers import Design, LossOfScores
from .._typing import FloatArray, IntArray
from ..losses._shared import ThreadedLoss
from ..preprocessing import QueryNormalizer

__all__ = [
    "KERNEL_LABEL_SHARE",
    "LABEL_SHARE",
    "absolute_alpha",
    "alpha_of_curvature",
    "feature_curvature",
    "label_alpha",
    "relative_alpha",
]

SCALE = "scale"

# Share of the curvature of the loss that "scale" is. Cross-validation on four sets of queries took
# 1 to 10 times it most often (benchmarks/results/query_rankers.csv).
SHARE = 0.1

# The same for labels, each with coefficients of its own. On six sets of label rankings values from
# a tenth to 3 times it did best, for squared and logistic losses of items and of pairs. With
# coordinates of a kernel, as many as rows as a rule, ten times it did best for "rbf" with its
# default gamma, by .02 in tau; for smoother kernels it did itself, by .006.
LABEL_SHARE, KERNEL_LABEL_SHARE = 0.01, 0.1

# Where along the utilities the slope of the loss is taken: losses with a margin have none at 0.
STEP = 0.5

# Rows of which a copy is made at a time.
COPIED = 1024


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
            f"alpha={alpha!r} must be a number of at least 0, 'scale', or a multiple such as "
            "'10*scale'."
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
    if relative_alpha(alpha) is None:
        return float(alpha)
    return alpha_of_curvature(alpha, feature_curvature(items, loss, lists))


def alpha_of_curvature(alpha: Any, curvature: float) -> float:
    """Strength of the penalty where the curvature of the loss is known.

    Parameters
    ----------
    alpha : float or str
        The parameter.
    curvature : float
        Curvature of the weighted loss, a sum of :func:`feature_curvature` over lists.

    Returns
    -------
    float
        The number itself, or the factor times a tenth of the curvature; times 1 where the loss or
        the features do not vary within any list.
    """
    factor = relative_alpha(alpha)
    if factor is None:
        return float(alpha)
    return factor * (SHARE * curvature if 0.0 < curvature < np.inf else 1.0)


def feature_curvature(items: Design, loss: LossOfScores, lists: Lists) -> float:
    """Curvature of the loss in the coefficient of a feature.

    It is the sum over the lists of the curvature of the loss between scores of minus and plus half
    the standardised utilities, times the mean over the features of their variance in the list.

    Parameters
    ----------
    items : Design
        Rows of the lists, in their order.
    loss : LossOfScores
        The loss, weighted as in the objective.
    lists : Lists
        The lists, with utilities as labels.

    Returns
    -------
    float
        The sum.
    """
    return float(_curvatures(loss, lists) @ _mean_variances(items, lists))


def label_alpha(
    alpha: Any,
    design: Design,
    loss: ThreadedLoss,
    lists: Lists,
    n_labels: int,
    row_weight: FloatArray | None,
    *,
    share: float,
) -> float:
    """Strength of the penalty of a problem in which each label has coefficients of its own.

    Parameters
    ----------
    alpha : float or str
        The parameter.
    design : Design
        Rows, one for each list.
    loss : ThreadedLoss
        The loss, weighted as in the objective.
    lists : Lists
        The labels of each row, with utilities.
    n_labels : int
        Number of labels.
    row_weight : ndarray of shape (n_rows,) or None
        Weights of the rows; None is 1.
    share : float
        Share of the curvature that "scale" is.

    Returns
    -------
    float
        The number itself, or the factor times a share of the curvature of the loss in the
        coefficient of a feature, in the mean over labels and features; 1 in place of a curvature
        of 0.
    """
    factor = relative_alpha(alpha)
    if factor is None:
        return float(alpha)
    n_rows = design.shape[0]
    rows = Lists(labels=np.zeros(n_rows), offsets=np.array([0, n_rows]), weight=row_weight)
    curvature = float(_curvatures(loss, lists).sum()) / n_labels
    scale = curvature * float(_mean_variances(design, rows)[0])
    return factor * (share * scale if 0.0 < scale < np.inf else 1.0)


def _curvatures(loss: LossOfScores, lists: Lists) -> FloatArray:
    """Curvature of the loss of each list along its standardised utilities."""
    standard = QueryNormalizer().fit_transform(
        lists.grade[:, np.newaxis], qid=lists.list_of, sample_weight=lists.weight
    )[:, 0]
    _, above = loss.value_and_gradient(STEP * standard)
    _, below = loss.value_and_gradient(-STEP * standard)
    return lists.totals(standard * (above - below)) / (2.0 * STEP)


def _mean_variances(items: Design, lists: Lists) -> FloatArray:
    """Mean over the features of their variance in each list."""
    n, n_features = items.shape
    share = lists.counts / lists.to_items(lists.sizes)
    found = np.empty(lists.n_lists)
    begun: Any = None
    for start in range(0, n, COPIED):
        stop = min(start + COPIED, n)
        first, last = np.searchsorted(lists.offsets, (start, stop - 1), "right") - 1
        begins = np.maximum(lists.offsets[first : last + 1], start) - start
        block: Any = items.rows(slice(start, stop))
        # The list of the first row may have begun in an earlier block.
        earlier = begun if lists.offsets[first] < start else None
        parts = _parts_of(block.matrix, share[start:stop], begins, earlier)
        found[first : last + 1] = parts.variances()
        begun = parts.last()
    return np.maximum(found, 0.0) / n_features


class _Parts(NamedTuple):
    """Weighted sums over the rows of lists, as far as they were seen.

    Parameters
    ----------
    origin : ndarray of shape (n_lists, n_features) or None
        What was subtracted from the rows, so that nothing cancels; None is nothing.
    means : {ndarray, sparse array} of shape (n_lists, n_features)
        Sums of rows times their shares.
    squares : ndarray of shape (n_lists,)
        Sums of their squared norms times the shares.
    """

    origin: FloatArray | None
    means: Any
    squares: FloatArray

    def variances(self) -> FloatArray:
        """Sum over the features of their variance in each list."""
        if self.origin is None:
            return np.asarray(self.squares - self.means.multiply(self.means).sum(axis=1))
        return np.asarray(self.squares - np.einsum("ij,ij->i", self.means, self.means))

    def last(self) -> _Parts:
        """The last list alone."""
        origin = None if self.origin is None else self.origin[-1:]
        return _Parts(origin, self.means[-1:], self.squares[-1:])


def _parts_of(rows: Any, share: FloatArray, begins: IntArray, earlier: _Parts | None) -> _Parts:
    """Sums over a block of rows, which go on with those of an earlier block."""
    if sp.issparse(rows):
        origin = None
        columns = np.arange(len(share))
        means = sp.csr_array((share, columns, np.append(begins, len(share)))) @ rows
        norms = rows.multiply(rows).sum(axis=1)
    else:
        origin = rows[begins].astype(np.float64)
        if earlier is not None:
            origin[0] = earlier.origin
        moved = rows - np.repeat(origin, np.diff(begins, append=len(share)), axis=0)
        means = np.add.reduceat(share[:, np.newaxis] * moved, begins, axis=0)
        norms = np.einsum("ij,ij->i", moved, moved)
    squares = np.add.reduceat(share * norms, begins)
    if earlier is not None:
        squares[0] += earlier.squares[0]
        if origin is None:
            means = sp.vstack((means[:1] + earlier.means, means[1:]), format="csr")
        else:
            means[0] += earlier.means[0]
    return _Parts(origin, means, squares)
