"""Parts of the ROC curve, and the push of the highest negatives.

Neither is a function of the pooled ranks of the positives.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.special import betainc, betaincc

from .._blocks import ClassBlocks
from .._typing import BoolArray, FloatArray
from ._linear_rank import ONE_CLASS
from ._lists import Average, Summary, Undefined, Value, binary_lists
from ._score_generating import Power

__all__ = ["p_norm_push_loss", "partial_auc_score"]

# Where the panels of a quadrature end, in standard deviations from where its integrand bends.
BENDS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 50], dtype=float)
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)


def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    scale: Literal["raw", "mcclish", "normalized"] = "raw",
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = "skip",
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Partial area under the ROC curve, one- or two-way.

    ``A = integral over f from 0 to max_fpr of max(TPR(f) - min_tpr, 0)``; the mean is over all
    orders of tied items, for each of which the curve is a step function.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    max_fpr : float, default=1
        Largest false positive rate that counts, in (0, 1].
    min_tpr : float, default=0
        Smallest true positive rate that counts, in [0, 1).
    scale : {"raw", "mcclish", "normalized"}, default="raw"
        The area A itself; ``(1 + (A - c) / (top - c)) / 2``, where ``top`` is the area of a
        perfect order and c that under the diagonal; or ``A / top``.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area: in [0, max_fpr (1 - min_tpr)] if raw, in [0, 1] if normalized; on McClish's scale
        1/2 for a random order, 1 at best, and below 1/2 for an order worse than random.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    sklearn.metrics.roc_auc_score : Its ``max_fpr`` is McClish's scale; equal without ties.
    local_auc_score : Cuts at a share of all items instead.

    Notes
    -----
    Where the limits cut a block of tied items, the mean over its orders is not the area under the
    diagonal of the block: with one positive, two negatives and ``max_fpr=1/2`` it is 1/3, not
    1/4. Non-whole weights are the limit of ever finer repetitions, for which it is the diagonal.
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] McClish (1989), *Analyzing a portion of the ROC curve*, Medical Decision Making 9.
    .. [2] Yang, Lu, Lyu & Hu (2019), *Two-way partial AUC and its properties*, Statistical
       Methods in Medical Research 28.

    Examples
    --------
    >>> from sklearn_rank.metrics import partial_auc_score
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> partial_auc_score(y_true, y_score, max_fpr=0.5)
    0.25
    >>> partial_auc_score(y_true, y_score, max_fpr=0.5, scale="normalized")
    0.5
    >>> partial_auc_score(y_true, y_score, min_tpr=0.5)
    0.25
    """
    summary = Summary("partial_auc_score", average, undefined, return_qid)
    if not _is_number(max_fpr) or not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr={max_fpr!r} must be a number in (0, 1].")
    if not _is_number(min_tpr) or not 0 <= min_tpr < 1:
        raise ValueError(f"min_tpr={min_tpr!r} must be a number in [0, 1).")
    if scale not in ("raw", "mcclish", "normalized"):
        raise ValueError(f"scale={scale!r} must be 'raw', 'mcclish' or 'normalized'.")
    lists = binary_lists(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    top = max_fpr * (1.0 - min_tpr)
    area = _partial_area(lists.blocks(), float(max_fpr), float(min_tpr), lists.whole)
    area = np.minimum(area, top)
    if scale == "normalized":
        area = area / top
    elif scale == "mcclish":
        chance = max(max_fpr - min_tpr, 0.0) ** 2 / 2.0
        area = (1.0 + (area - chance) / (top - chance)) / 2.0
    return summary.of(area, lists, ONE_CLASS)


def p_norm_push_loss(
    y_true: Any,
    y_score: Any,
    *,
    p: float,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = "skip",
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Loss of the p-norm push: how many positives stand below the highest negatives.

    ``(mean over negatives of (h / k)**p)**(1/p)``, h the number of the k positives below the
    negative; the mean over all orders of tied items is inside the root.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    p : float
        Norm, from 1, one less the AUC, to infinity, the share of positives below the highest
        negative (infinite push).
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Loss in [0, 1]; less is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    p_norm_push_score : Powers of the pooled ranks of the positives.
    positives_at_top_score : The positives above the highest negative.

    Notes
    -----
    Rudin counts all positives tied with a negative as below it; the mean over the orders counts
    half of them at p = 1. At p = infinity a block of a positives and b negatives on top has the
    mean ``a b / (b + 1)``. Non-whole weights are the limit of ever finer repetitions. O(n log n)
    time, O(n) memory.

    References
    ----------
    .. [1] Rudin (2009), *The P-Norm Push: a simple convex ranking algorithm that concentrates at
       the top of the list*, JMLR 10.

    Examples
    --------
    >>> from sklearn_rank.metrics import p_norm_push_loss
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> p_norm_push_loss(y_true, y_score, p=1)
    0.25
    >>> p_norm_push_loss(y_true, y_score, p=float("inf"))
    0.5
    """
    summary = Summary("p_norm_push_loss", average, undefined, return_qid)
    if not _is_number(p) or not p >= 1:
        raise ValueError(f"p={p!r} must be a number from 1 to infinity.")
    lists = binary_lists(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    values = _push(lists.blocks(of_negatives=True), float(p), lists.whole)
    return summary.of(values, lists, ONE_CLASS)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _partial_area(
    blocks: ClassBlocks, max_fpr: float, min_tpr: float, whole: BoolArray
) -> FloatArray:
    """Return the raw area of each list; NaN where there is one class only."""
    held, other = blocks.of_class, blocks.of_other
    # Negatives that count: in the block, and below it.
    room = np.maximum(blocks.by_block(max_fpr * blocks.n_other) - blocks.other_above, 0.0)
    inside, beyond = np.minimum(room, other), np.maximum(room - other, 0.0)
    # Positives of the block that stand too high to count.
    lost = np.minimum(
        np.maximum(blocks.by_block(min_tpr * blocks.n_class) - blocks.class_above, 0.0), held
    )
    pairs = (held - lost) * beyond
    tied = np.flatnonzero((inside > 0) & (lost < held))
    a, b, r, c = held[tied], other[tied], lost[tied], inside[tied]
    exact = np.broadcast_to(blocks.by_block(whole), held.shape)[tied]
    # Limit of fine repetitions: the curve rises along the diagonal of the block.
    straight = a / (2.0 * b) * np.maximum(c - r * b / a, 0.0) ** 2
    crossing = np.flatnonzero(exact & (r > 0))
    stepped = _above_negatives(a, b, c)
    for i in crossing:
        stepped[i] = _above_negatives_beyond(a[i], b[i], r[i], c[i])
    pairs[tied] += np.where(exact, stepped, straight)
    with np.errstate(invalid="ignore"):
        return blocks.sums(pairs) / (blocks.n_class * blocks.n_other)


def _above_negatives(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Mean sum, over the first c of b negatives, of how many of a positives precede each.

    Positives fall into the b + 1 gaps alike, so that j/(b+1) of them precede negative j.
    """
    full = np.floor(c)
    return a / (b + 1.0) * (full * (full + 1.0) / 2.0 + (c - full) * (full + 1.0))


def _above_negatives_beyond(a: float, b: float, r: float, c: float) -> float:
    """Mean sum, over the first c of b negatives, of the positives before each that exceed r.

    Linear between whole numbers, in r and in c.
    """
    r0, c0 = np.floor(r), np.floor(c)
    value = 0.0
    for part_r, whole_r in ((1.0 - (r - r0), r0), (r - r0, r0 + 1.0)):
        for part_c, whole_c in ((1.0 - (c - c0), c0), (c - c0, c0 + 1.0)):
            if part_r * part_c > 0:
                value += part_r * part_c * _exceeding(a, b, whole_r, whole_c)
    return value


def _exceeding(a: float, b: float, r: float, c: float) -> float:
    """Return the same for whole numbers, 0 <= r <= a and 0 <= c <= b."""
    if c == 0 or r == a:
        return 0.0
    if r == 0:
        return float(_above_negatives(np.array(a), np.array(b), np.array(c)))
    if c == b:
        return b * (a - r) * (a - r + 1.0) / (2.0 * (a + 1.0))
    # Places are uniform on (0, 1): sum over the negatives of their density there, times the mean
    # excess of the positives before it, both of binomial counts.
    edges = [np.array([0.0, 1.0])]
    for middle, count in ((r / a, a), (c / b, b)):
        spread = np.sqrt(max(middle * (1.0 - middle), 1.0 / count) / count)
        edges.append(np.clip(middle + spread * np.concatenate((-BENDS, BENDS)), 0.0, 1.0))
    edge = np.unique(np.concatenate(edges))
    half = np.diff(edge)[:, np.newaxis] / 2.0
    t = edge[:-1, np.newaxis] + half * (1.0 + NODES)
    excess = a * t * betainc(r, a - r, t) - r * betainc(r + 1.0, a - r, t)
    density = b * betaincc(c, b - c, t)
    return float(np.sum(half * NODE_WEIGHTS * np.maximum(excess, 0.0) * density))


@dataclass(frozen=True)
class _ShareOfPositives(Power):
    """The p-th power of a count as a share of another."""

    def _at_ranks(self, rank: FloatArray, n: FloatArray) -> FloatArray:
        return (rank / n) ** self.p


def _push(blocks: ClassBlocks, p: float, whole: BoolArray) -> FloatArray:
    """Loss of each list from the blocks that hold negatives; NaN where there is one class only."""
    below, tied = blocks.other_below, blocks.of_other
    top = blocks.top
    defined = (blocks.n_class > 0) & (blocks.n_other > 0)
    result = np.full(len(defined), np.nan)
    top = top[defined]
    whole_top = whole[defined]
    if p == np.inf:
        first = np.where(whole_top, blocks.of_class[top] / (blocks.of_class[top] + 1.0), 1.0)
        result[defined] = (below[top] + tied[top] * first) / blocks.n_other[defined]
        return result
    # As shares of the largest count, whose powers do not vanish.
    largest = np.ones(len(defined))
    largest[defined] = np.maximum(below[top] + tied[top], np.finfo(float).tiny)
    scale = np.broadcast_to(blocks.by_block(largest), below.shape)
    power = _ShareOfPositives(p)
    mean = power._at_ranks(below, scale)
    mixed = np.flatnonzero(tied)
    exact = np.broadcast_to(blocks.by_block(whole), below.shape)[mixed]
    mean[mixed] = np.where(
        exact,
        _mean_power(power, below[mixed], tied[mixed], scale[mixed], exact),
        _integral_power(p, below[mixed] / scale[mixed], tied[mixed] / scale[mixed]),
    )
    with np.errstate(invalid="ignore"):
        total = blocks.sums(blocks.of_class * mean) / blocks.n_class
    result[defined] = largest[defined] / blocks.n_other[defined] * total[defined] ** (1.0 / p)
    return np.minimum(result, 1.0)


def _mean_power(
    power: _ShareOfPositives,
    below: FloatArray,
    tied: FloatArray,
    scale: FloatArray,
    exact: BoolArray,
) -> FloatArray:
    """Mean of the power over the counts ``below, ..., below + tied``, where they are whole."""
    below, tied = np.where(exact, below, 0.0), np.where(exact, tied, 0.0)
    sums = power._whole_sums(below, below + tied, scale)
    return (power._at_ranks(below, scale) + sums) / (tied + 1.0)


def _integral_power(p: float, start: FloatArray, length: FloatArray) -> FloatArray:
    """Mean of ``x**p`` from ``start`` over ``length``."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = start**p * np.expm1((p + 1.0) * np.log1p(length / start)) * start / length
    near = (start + length) ** (p + 1.0) / length
    # Far from 0 the difference of the powers would cancel.
    return np.where(
        length < start, far, near - np.where(start > 0, start ** (p + 1.0) / length, 0.0)
    ) / (p + 1.0)
