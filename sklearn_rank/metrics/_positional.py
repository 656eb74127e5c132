"""Positional measures: gains of the items, discounted by their positions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._order import tied_blocks
from .._typing import FloatArray
from .._validation import GradedScores, check_graded_scores

__all__ = ["dcg_score", "ndcg_score"]

# Positions whose discounts are laid out as an array; weights on a larger scale are no counts.
MOST_POSITIONS = 10**8

Gain = Literal["exponential", "linear"] | Callable[[FloatArray], FloatArray]


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain = "exponential",
    log_base: float = 2.0,
    sample_weight: Any = None,
) -> float:
    """Discounted cumulative gain of a list.

    ``DCG@k = E[sum over positions i <= k of gain(y at i) / log(1 + i)]``, the logarithm to
    ``log_base``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Relevance of the items of one list, finite and at least 0.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    gain : {"exponential", "linear"} or callable, default="exponential"
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains, each at
        least 0. For relevances 0 and 1 the first two are equal. scikit-learn's is
        ``"linear"``.
    log_base : float, default=2.0
        Base of the logarithm, greater than 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: an item of weight w takes w positions, with the cumulative discount
        interpolated linearly.

    Returns
    -------
    float
        The gain, at least 0; more is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, or an argument is not valid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    ndcg_score : As a share of the best order.
    sklearn.metrics.dcg_score : One list per row, linear gain.

    Notes
    -----
    Tied items share the mean discount of the positions that they take. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import dcg_score
    >>> round(dcg_score([2, 1, 0], [3.0, 2.0, 1.0]), 4)
    3.6309
    >>> dcg_score([2, 1, 0], [3.0, 2.0, 1.0], k=1, gain="linear")
    2.0
    """
    data = check_graded_scores(y_true, y_score, sample_weight=sample_weight)
    return _discounted_sum(data, _gains(data.grade, gain), data.score, k, log_base)


def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain = "exponential",
    log_base: float = 2.0,
    sample_weight: Any = None,
) -> float:
    """Discounted cumulative gain as a share of that of the best order.

    ``NDCG@k = DCG@k(y, s) / DCG@k(y, y)``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Relevance of the items of one list, finite and at least 0.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    gain : {"exponential", "linear"} or callable, default="exponential"
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains, each at
        least 0. For relevances 0 and 1 the first two are equal. scikit-learn's is
        ``"linear"``.
    log_base : float, default=2.0
        Base of the logarithm, greater than 1; it cancels.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: an item of weight w takes w positions, with the cumulative discount
        interpolated linearly.

    Returns
    -------
    float
        Share in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, or an argument is not valid.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        If no item has a gain; the value is then 0, as in scikit-learn.

    See Also
    --------
    dcg_score : Not normalised.
    sklearn.metrics.ndcg_score : One list per row, linear gain.

    Notes
    -----
    Tied items share the mean discount of the positions that they take. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import ndcg_score
    >>> ndcg_score([2, 1, 0], [3.0, 2.0, 1.0])
    1.0
    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0]), 4)
    0.7825
    """
    data = check_graded_scores(y_true, y_score, sample_weight=sample_weight)
    gains = _gains(data.grade, gain)
    value = _discounted_sum(data, gains, data.score, k, log_base)
    ideal = _discounted_sum(data, gains, gains, k, log_base)
    if ideal == 0:
        warnings.warn(
            "No item of y_true has a gain: NDCG is undefined and was set to 0.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return 0.0
    return min(value / ideal, 1.0)


def _gains(grade: FloatArray, gain: Gain) -> FloatArray:
    if callable(gain):
        gains = np.asarray(gain(grade), dtype=np.float64)
        if gains.shape != grade.shape:
            raise ValueError(
                f"gain returned shape {gains.shape} for {len(grade)} relevances: it must return"
                " one gain for each."
            )
    elif gain == "exponential":
        with np.errstate(over="ignore"):
            gains = np.exp2(grade) - 1.0
    elif gain == "linear":
        gains = grade
    else:
        raise ValueError(f"gain={gain!r} must be 'exponential', 'linear' or a callable.")
    wrong = ~np.isfinite(gains)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"The gain of the relevance {grade[row]:g} is not finite: use gain='linear' or"
            " smaller relevances."
        )
    if (gains < 0).any():
        row = int(np.argmax(gains < 0))
        raise ValueError(
            f"The gain of the relevance {grade[row]:g} is {gains[row]:g}: gains must be at least"
            " 0."
        )
    return gains


def _discounted_sum(
    data: GradedScores, gains: FloatArray, order_by: FloatArray, k: int | None, log_base: float
) -> float:
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool)):
        raise TypeError(f"k={k!r} must be None or a whole number: a position.")
    if k is not None and k < 1:
        raise ValueError(f"k={k!r} must be None or at least 1.")
    if not 1 < log_base < np.inf:
        raise ValueError(f"log_base={log_base!r} must be finite and greater than 1.")
    blocks = tied_blocks(order_by)
    weight = blocks.totals(data.weight)
    gain = blocks.totals(data.weight * gains)
    end = np.cumsum(weight)
    last = float(end[-1]) if k is None else float(min(k, end[-1]))
    if last > MOST_POSITIONS:
        raise ValueError(
            f"The list has {last:.0f} positions that count: pass k, or weights that count items."
        )
    discount = np.log(log_base) / np.log1p(np.arange(1.0, np.ceil(last) + 1.0))
    return float(np.sum(gain / weight * _discount_sums(discount, np.minimum(end, last))))


def _discount_sums(discount: FloatArray, end: FloatArray) -> FloatArray:
    """Sums of the discounts of consecutive stretches of positions that end at ``end``.

    Whole positions are added stretch by stretch, not as differences of a running sum, which
    would lose the digits of late positions; parts of positions count by their share.
    """
    whole = np.floor(end).astype(np.int64)
    begin = np.concatenate(([0], whole[:-1]))
    padded = np.append(discount, 0.0)
    sums = np.add.reduceat(padded, begin)
    # reduceat runs the last stretch to the end of the array and gives an empty one its first item.
    sums[-1] = np.sum(discount[begin[-1] : whole[-1]])
    sums[whole == begin] = 0.0
    part = (end - whole) * padded[whole]
    return sums + part - np.concatenate(([0.0], part[:-1]))
