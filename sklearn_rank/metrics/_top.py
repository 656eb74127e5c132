"""Measures of the top of the list of two classes."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._order import quantile_at_mass, tied_blocks, top_mass
from .._typing import FloatArray
from .._validation import check_binary_scores
from ..exceptions import SmallTopWarning

__all__ = [
    "accuracy_at_top_loss",
    "positives_at_top_score",
    "precision_at_top_curve",
    "precision_at_top_score",
]


def precision_at_top_score(
    y_true: Any,
    y_score: Any,
    *,
    tau: float = 0.05,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Share of positives among the top ``tau`` of the list.

    ``P@tau = E[number of positives among the first j items] / j`` with
    ``j = max(1, floor(tau * n + 1/2))``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    tau : float, default=0.05
        Share of the items that make the top, in (0, 1).
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. Whole numbers are repetitions, n their sum; otherwise the top has
        the weight ``tau * sum(sample_weight)``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float
        Precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If ``tau`` is outside (0, 1), or the labels, scores or weights are not valid.
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0: the top is then one item.

    See Also
    --------
    positives_at_top_score : Counts positives down to the first negative.
    accuracy_at_top_loss : Counts the errors on both sides of the same quantile.

    Notes
    -----
    A block of tied items that the end of the top cuts counts by its share. O(n log n) time,
    O(n) memory.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> precision_at_top_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5

    Ties count by all their orders, whatever the order of the rows:

    >>> precision_at_top_score([0, 1, 1, 0], [2.0, 2.0, 1.0, 1.0], tau=0.25)
    0.5
    """
    data = check_binary_scores(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    mass = _checked_mass(data.weight, tau)
    quantile = quantile_at_mass(data.score, data.weight, mass)
    above, cut = data.score > quantile, data.score == quantile
    weight_pos = data.weight * data.positive
    share = np.clip((mass - data.weight[above].sum()) / data.weight[cut].sum(), 0.0, 1.0)
    found = weight_pos[above].sum() + share * weight_pos[cut].sum()
    return float(min(found / mass, 1.0))


def positives_at_top_score(
    y_true: Any,
    y_score: Any,
    *,
    normalize: bool = False,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Number of positives above the highest negative.

    The mean over all orders of tied items: where the highest negative is tied with others in a
    block of ``a`` positives and ``b`` negatives, the block adds ``a / (b + 1)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes. Without a negative all positives count.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    normalize : bool, default=False
        Whether to divide by the number of positives.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: how many times each item counts.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float
        Number of positives, or their share in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If the labels, scores or weights are not valid.

    Warns
    -----
    UndefinedMetricWarning
        If ``normalize`` is true and there is no positive; the value is then 0.

    See Also
    --------
    precision_at_top_score : Looks at a fixed share of the list.

    Notes
    -----
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 5.2.

    Examples
    --------
    >>> from sklearn_rank.metrics import positives_at_top_score
    >>> positives_at_top_score([1, 1, 0, 1], [4.0, 3.0, 2.0, 1.0])
    2.0

    One positive and one negative share the top: the positive comes first half the time.

    >>> positives_at_top_score([1, 0, 1], [2.0, 2.0, 1.0])
    0.5
    """
    data = check_binary_scores(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    blocks = tied_blocks(data.score)
    positive = blocks.totals(data.weight * data.positive)
    negative = blocks.totals(data.weight * ~data.positive)
    mixed = np.flatnonzero(negative > 0)
    count = float(np.sum(positive))
    if len(mixed):
        first = mixed[0]
        count = float(np.sum(positive[:first]) + positive[first] / (negative[first] + 1.0))
    if not normalize:
        return count
    total = float(np.sum(positive))
    if total == 0:
        warnings.warn(
            "y_true has no positive: the share of positives at the top is undefined and was set"
            " to 0.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return 0.0
    return count / total


def accuracy_at_top_loss(
    y_true: Any,
    y_score: Any,
    *,
    tau: float = 0.05,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Mean share of negatives above, and of positives below, the top ``tau`` quantile.

    ``1/2 (mean over negatives of 1{s > q} + mean over positives of 1{s < q})``, where ``q`` is
    the score of item ``j = max(1, floor(tau * n + 1/2))`` from the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    tau : float, default=0.05
        Share of the items that make the top, in (0, 1).
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. Whole numbers are repetitions; otherwise the quantile is at the
        weight ``tau * sum(sample_weight)``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float
        Loss in [0, 1]; less is better.

    Raises
    ------
    ValueError
        If only one class is present, ``tau`` is outside (0, 1), or the labels, scores or weights
        are not valid.
    TypeError
        If ``tau`` is not a number.

    Warns
    -----
    SmallTopWarning
        If ``tau * n`` rounds to 0: the quantile is then the highest score.

    See Also
    --------
    precision_at_top_score : The share of positives above the quantile.
    sklearn_rank.AccuracyAtTopRanker : Minimises a convex surrogate.

    Notes
    -----
    Both inequalities are strict, so that items tied with the quantile count on neither side. The
    loss is a function of the scores, not of an order, and has no mean over orders. Where
    positives are more frequent than ``tau`` it cannot be 0 without ties. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Section 3.1.

    Examples
    --------
    >>> from sklearn_rank.metrics import accuracy_at_top_loss
    >>> accuracy_at_top_loss([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.0
    >>> accuracy_at_top_loss([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], tau=0.5)
    0.5
    """
    data = check_binary_scores(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    weight_pos = data.weight * data.positive
    weight_neg = data.weight * ~data.positive
    if not weight_pos.any() or not weight_neg.any():
        raise ValueError(
            "y_true has one class only, but the loss compares positives with negatives: pass"
            " items of both classes."
        )
    quantile = quantile_at_mass(data.score, data.weight, _checked_mass(data.weight, tau))
    above = weight_neg[data.score > quantile].sum() / weight_neg.sum()
    below = weight_pos[data.score < quantile].sum() / weight_pos.sum()
    return float((above + below) / 2)


def precision_at_top_curve(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Precision among the first items of the list, for every length of the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: how many times each item counts.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    position : ndarray of shape (n_positions,)
        Items from the top to here, itself included: 1, 2, ... without weights. Items of weight 0
        have no position.
    precision : ndarray of shape (n_positions,)
        Share of positives among them, in [0, 1]; the mean over all orders of tied items.

    Raises
    ------
    ValueError
        If the labels, scores or weights are not valid.

    See Also
    --------
    precision_at_top_score : One point of the curve.
    sklearn_rank.plotting.TopOfListDisplay : Draws it.

    Notes
    -----
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import precision_at_top_curve
    >>> position, precision = precision_at_top_curve([1, 0, 1, 0], [3.0, 2.0, 2.0, 1.0])
    >>> position
    array([1., 2., 3., 4.])
    >>> precision
    array([1.        , 0.75      , 0.66666667, 0.5       ])
    """
    data = check_binary_scores(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    blocks = tied_blocks(data.score)
    total = blocks.totals(data.weight)
    positive = blocks.totals(data.weight * data.positive)
    block = np.repeat(np.arange(len(total)), np.diff(blocks.starts, append=len(blocks.order)))
    position = np.cumsum(data.weight[blocks.order])
    into = position - (np.cumsum(total) - total)[block]
    expected = (np.cumsum(positive) - positive)[block] + into * (positive / total)[block]
    return position, np.clip(expected / position, 0.0, 1.0)


def _checked_mass(weight: FloatArray, tau: float) -> float:
    if not isinstance(tau, Real):
        raise TypeError(f"tau={tau!r} must be a number between 0 and 1, both excluded.")
    if not 0 < tau < 1:
        raise ValueError(f"tau={tau!r} must lie between 0 and 1, both excluded.")
    mass, is_small = top_mass(weight, float(tau))
    if is_small:
        warnings.warn(
            f"The top {tau:g} of {len(weight)} items holds less than one item and was taken as"
            " one item: raise tau or score more items.",
            SmallTopWarning,
            stacklevel=3,
        )
    return mass
