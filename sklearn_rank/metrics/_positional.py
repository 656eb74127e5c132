"""Positional measures: gains of the items, discounted by their positions."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from .._blocks import TiedBlocks, tied_blocks
from .._lists import Lists, ScoredLists
from .._order import ragged_ranges, sorted_descending
from .._typing import FloatArray, IntArray
from ._conventions import ZERO, Convention, rules_of
from ._lists import Average, Summary, Undefined, Value, graded_lists

__all__ = [
    "Geometric",
    "check_k",
    "dcg_score",
    "discounted_sums",
    "gains_of",
    "ideal_sums",
    "ndcg_score",
    "positional_score",
]

# Positions whose discounts are laid out as an array; weights on a larger scale are no counts.
MOST_POSITIONS = 10**8

Gain: TypeAlias = Literal["exponential", "linear"] | Callable[[FloatArray], Any]
Discount: TypeAlias = Literal["logarithmic", "linear"] | Callable[[FloatArray, FloatArray], Any]


def positional_score(
    y_true: Any,
    y_score: Any,
    *,
    gain: Gain,
    discount: Discount,
    k: int | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = "skip",
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Generalised positional performance measure: any gain, discounted by any function.

    ``sum over positions i <= k of gain(y at i) * discount(i)``, i = 1 at the top; the mean is
    over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    gain : {"exponential", "linear"} or callable
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains.
    discount : {"logarithmic", "linear"} or callable
        ``1 / log2(1 + i)``, ``n - i``, or a function of two arrays, the positions and the lengths
        n of their lists, to an array.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
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
        Of no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The measure; more is better for discounts that decrease.

    Raises
    ------
    ValueError
        If a gain or discount is not finite, a gain is negative, or an argument is not valid.

    See Also
    --------
    dcg_score : The logarithmic discount.
    linear_rank_score : Two classes, and functions of the rank from the bottom.

    Notes
    -----
    With ``b + positional_score`` for an offset b of the labels, DCG, precision and recall at k,
    the AUC and Spearman's correlation are all of this form; average precision and the expected
    reciprocal rank are not. Real weights occupy parts of positions; n is then the weight of the
    list. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Definition 2.1
       and Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import positional_score
    >>> positional_score([2, 1, 0], [1.0, 3.0, 2.0], gain="linear", discount="linear")
    2.0

    A discount of one's own, as in rank-biased precision:

    >>> positional_score([1, 0, 1], [3.0, 2.0, 1.0], gain="linear",
    ...                  discount=lambda i, n: 0.5**i)
    0.625
    """
    summary = Summary("positional_score", average, undefined, return_qid)
    check_k(k)
    if not callable(discount) and discount not in ("logarithmic", "linear"):
        raise ValueError(
            f"discount={discount!r} must be 'logarithmic', 'linear' or a function of positions and"
            " lengths."
        )
    lists = graded_lists(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    gains = gains_of(lists.grade, gain)
    values = discounted_sums(lists, gains, discount, k)
    return summary.of(values, lists, "no value")


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain | None = None,
    log_base: float = 2.0,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = "skip",
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Discounted cumulative gain of a list.

    ``DCG@k = sum over positions i <= k of gain(y at i) / log(1 + i)``, the logarithm to
    ``log_base``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains, each at
        least 0. None is "exponential"; scikit-learn's is "linear".
    log_base : float, default=2.0
        Base of the logarithm, greater than 1.
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
        Of no effect: the measure is defined for every list.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.
    convention : {"paper", "sklearn"}, default=None
        System whose number to give: its gain; a parameter that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The gain, at least 0; more is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is not valid or conflicts
        with ``convention``, or relevances in two dimensions go beyond 0 and 1 without a ``gain``.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    ndcg_score : As a share of the best order.
    sklearn.metrics.dcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Tied items share the mean discount of the positions that they take. A real weight w takes the
    positions from P to P + w, parts of a position by their share. O(n log n) time, O(n) memory.

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
    check_k(k)
    discount = _logarithmic(log_base)
    rules = rules_of(
        "dcg_score",
        convention,
        undefined=undefined,
        sample_weight=sample_weight,
        log_base=log_base,
        gain=gain,
    )
    summary = Summary("dcg_score", average, rules.undefined, return_qid)
    lists = graded_lists(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    gains = gains_of(lists.grade, _shared_gain("dcg_score", y_true, lists.grade, rules.gain))
    return summary.of(discounted_sums(lists, gains, discount, k), lists, "no value")


def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain | None = None,
    log_base: float = 2.0,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = ZERO,
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Discounted cumulative gain as a share of that of the best order.

    ``NDCG@k = DCG@k(y, s) / DCG@k(y, y)``; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to that of gains, each at
        least 0. None is "exponential"; scikit-learn's is "linear".
    log_base : float, default=2.0
        Base of the logarithm, greater than 1; it cancels.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default=0.0
        What a list in which no item has a gain counts: nothing (alone it is NaN), an error, or
        this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.
    convention : {"paper", "sklearn", "xgboost", "lightgbm", "trec_eval", "letor"}, default=None
        System whose number to give: its gain, discount, rules for ties and for lists without
        gains; a parameter that says otherwise is refused. The guide "Which measure?" has the
        table.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Share in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is not valid or conflicts
        with ``convention``, relevances in two dimensions go beyond 0 and 1 without a ``gain``, or
        a list is undefined and ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    dcg_score : Not normalised.
    sklearn.metrics.ndcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Tied items share the mean discount of the positions that they take. A list without gains
    counts 0 as in scikit-learn; XGBoost and LightGBM count 1. O(n log n) time, O(n) memory.

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

    Two lists, one value for each:

    >>> ndcg_score([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=[1, 1, 2, 2], average=None).round(4)
    array([1.    , 0.6309])

    What LightGBM reports, which breaks ties by the order of the rows:

    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0], convention="lightgbm"), 4)
    1.0
    """
    check_k(k)
    discount = _logarithmic(log_base)
    rules = rules_of(
        "ndcg_score",
        convention,
        undefined=undefined,
        sample_weight=sample_weight,
        log_base=log_base,
        gain=gain,
    )
    summary = Summary("ndcg_score", average, rules.undefined, return_qid)
    lists = graded_lists(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    gains = gains_of(lists.grade, _shared_gain("ndcg_score", y_true, lists.grade, rules.gain))
    if rules.discount == "letor":
        discount = _Letor()
    values = discounted_sums(rules.ordered(lists, lists.grade), gains, discount, k)
    ideal = ideal_sums(lists, gains, discount, k)
    with np.errstate(invalid="ignore"):
        return summary.of(np.minimum(values / ideal, 1.0), lists, "no item with a gain")


def gains_of(grade: FloatArray, gain: Gain) -> FloatArray:
    """Gains of relevances.

    Parameters
    ----------
    grade : ndarray of shape (n,)
        Relevances.
    gain : {"exponential", "linear"} or callable
        What they are worth.

    Returns
    -------
    ndarray of shape (n,)
        Finite gains, at least 0.
    """
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
        return grade
    else:
        raise ValueError(f"gain={gain!r} must be 'exponential', 'linear' or a callable.")
    if not gains.max() < np.inf or not gains.min() >= 0:
        wrong = int(np.argmax(~(np.isfinite(gains) & (gains >= 0))))
        raise ValueError(
            f"The gain of the relevance {grade[wrong]:g} is {gains[wrong]:g}: gains must be finite"
            " and at least 0; use gain='linear' or smaller relevances."
        )
    return gains


def discounted_sums(
    lists: ScoredLists, gains: FloatArray, discount: Discount, k: int | None
) -> FloatArray:
    """Sum of discounted gains of each list, the mean over all orders of tied items.

    Parameters
    ----------
    lists : ScoredLists
        The lists.
    gains : ndarray of shape (n,)
        Gain of each item.
    discount : {"logarithmic", "linear"} or callable
        Discount of positions, from 1, and lengths of lists.
    k : int or None
        Last position that counts; None counts all.

    Returns
    -------
    ndarray of shape (n_lists,)
        The sums.
    """
    blocks = tied_blocks(lists.score, lists.offsets)
    return _block_sums(lists, blocks, gains, discount, k)


def ideal_sums(lists: Lists, gains: FloatArray, discount: Discount, k: int | None) -> FloatArray:
    """Sum of discounted gains of the best order of each list."""
    if lists.weight is not None:
        return _block_sums(lists, tied_blocks(gains, lists.offsets), gains, discount, k)
    ordered = sorted_descending(gains, lists.offsets)
    starts = lists.offsets[:-1]
    lengths = np.diff(lists.offsets)
    counted = lengths if k is None else np.minimum(lengths, k)
    if k is not None:
        ordered = ordered[ragged_ranges(starts, counted)]
        starts = np.cumsum(counted) - counted
    return _list_sums(ordered * _discounts(discount, lengths, counted), starts)


def _block_sums(
    lists: Lists,
    blocks: TiedBlocks,
    gains: FloatArray,
    discount: Discount,
    k: int | None,
) -> FloatArray:
    if lists.weight is not None:
        return _weighted_sums(lists, lists.weight, blocks, gains, discount, k)
    lengths = np.diff(lists.offsets)
    starts, order, first = blocks.starts, blocks.order, blocks.first
    counted = lengths
    if k is not None and k < lengths.max():
        # Only blocks that begin among the first k places, with all of their items.
        counted = np.minimum(lengths, k)
        n_kept = np.searchsorted(starts, lists.offsets[:-1] + counted) - first
        kept = ragged_ranges(first, n_kept)
        first = np.cumsum(n_kept) - n_kept
        begin = starts[kept] - np.repeat(lists.offsets[:-1], n_kept)
        sizes = np.append(starts, len(order))[kept + 1] - starts[kept]
        taken = np.minimum(sizes, k - begin)
        if len(kept) == sizes.sum():
            # No two items are tied here.
            gains = gains[order[starts[kept]]]
            return _list_sums(gains * _discounts(discount, lengths, counted), first)
        order = order[ragged_ranges(starts[kept], sizes)]
        totals = np.add.reduceat(gains[order], np.cumsum(sizes) - sizes)
        sums = np.add.reduceat(_discounts(discount, lengths, counted), np.cumsum(taken) - taken)
        return _list_sums(totals / sizes * sums, first)
    discounts = _discounts(discount, lengths, counted)
    if len(starts) == len(order):
        return _list_sums(gains[order] * discounts, first)
    totals, sums = blocks.totals(gains), np.add.reduceat(discounts, starts)
    return _list_sums(totals / blocks.lengths() * sums, first)


def _weighted_sums(
    lists: Lists,
    item_weight: FloatArray,
    blocks: TiedBlocks,
    gains: FloatArray,
    discount: Discount,
    k: int | None,
) -> FloatArray:
    """Return the same where an item of weight w takes the positions from P to P + w."""
    weight = blocks.totals(item_weight)
    gain = blocks.totals(item_weight * gains)
    lengths = lists.sizes
    last = lengths if k is None else np.minimum(lengths, k)
    counted = np.ceil(last).astype(np.int64)
    if counted.sum() > MOST_POSITIONS:
        raise ValueError(
            f"The lists have {counted.sum()} positions that count: pass k, or weights that count"
            " items."
        )
    end = np.minimum(blocks.running(weight), last[blocks.list_of()])
    # Positions of all lists end to end, and one more for sums that end at the last.
    discounts = np.append(_discounts(discount, lengths, counted), 0.0)
    base = np.cumsum(counted) - counted
    sums = _sums_between(discounts, end, base[blocks.list_of()], blocks.first)
    return _list_sums(gain / weight * sums, blocks.first)


def _sums_between(
    discounts: FloatArray, end: FloatArray, base: IntArray, first: IntArray
) -> FloatArray:
    """Sums of the discounts of consecutive stretches of positions that end at ``end``.

    Whole positions are added stretch by stretch, not as differences of a running sum, which
    would lose the digits of late positions; parts of positions count by their share.
    """
    whole = np.floor(end).astype(np.int64)
    begin = np.append(0, whole[:-1])
    begin[first] = 0
    edges = np.stack((base + begin, base + whole), axis=1).ravel()
    sums = np.add.reduceat(discounts, edges)[::2]
    # reduceat gives an empty stretch its first item.
    sums[whole == begin] = 0.0
    part = (end - whole) * discounts[base + whole]
    before = np.append(0.0, part[:-1])
    before[first] = 0.0
    return sums + part - before


def _discounts(discount: Discount, lengths: Any, counted: IntArray) -> FloatArray:
    """Discounts of the first positions of each list, list after list."""
    if discount == "linear" or (callable(discount) and not isinstance(discount, _OfPosition)):
        starts = np.ones(len(counted), dtype=np.intp)
        position = ragged_ranges(starts, counted).astype(np.float64)
        length = np.repeat(np.asarray(lengths, dtype=np.float64), counted)
        if discount == "linear":
            return length - position
        values = np.asarray(discount(position, length), dtype=np.float64)
        if values.shape != position.shape:
            raise ValueError(
                f"discount returned shape {values.shape} for {len(position)} positions: it must"
                " return one value for each."
            )
        if not np.isfinite(values).all():
            wrong = int(np.argmax(~np.isfinite(values)))
            raise ValueError(f"discount is not finite at position {position[wrong]:g}.")
        return values
    by_position = discount if isinstance(discount, _OfPosition) else _Logarithmic(2.0)
    table = by_position(np.arange(1, counted.max() + 1).astype(np.float64))
    if counted.min() == counted.max():
        return table if len(counted) == 1 else np.tile(table, len(counted))
    return table[ragged_ranges(np.zeros(len(counted), dtype=np.intp), counted)]


class _OfPosition:
    """A discount that is the same for lists of all lengths."""

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        raise NotImplementedError


class _Logarithmic(_OfPosition):
    """The discount ``1 / log(1 + i)``."""

    def __init__(self, base: float) -> None:
        self.scale = np.log(base)

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        return self.scale / np.log1p(position)


class _Letor(_OfPosition):
    """The discount 1 at the positions 1 and 2, and ``1 / log2(i)`` after."""

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        return 1.0 / np.log2(np.maximum(position, 2.0))


class Geometric(_OfPosition):
    """The discount ``(1 - p) p**(i - 1)``.

    Parameters
    ----------
    persistence : float
        The ratio p, in (0, 1).
    """

    def __init__(self, persistence: float) -> None:
        self.persistence = persistence

    def __call__(self, position: FloatArray, length: FloatArray | None = None) -> FloatArray:
        return (1.0 - self.persistence) * self.persistence ** (position - 1.0)


def _logarithmic(base: float) -> _OfPosition:
    if not isinstance(base, Real) or not 1 < base < np.inf:
        raise ValueError(f"log_base={base!r} must be a finite number greater than 1.")
    return _Logarithmic(float(base))


def _list_sums(values: FloatArray, first: IntArray) -> FloatArray:
    """Sums of consecutive stretches, none of them empty."""
    return np.add.reduceat(values, first) if len(first) > 1 else values.sum()[np.newaxis]


def check_k(k: Any) -> None:
    """Refuse a last position that is none.

    Parameters
    ----------
    k : object
        None, or a position from 1 on.
    """
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool)):
        raise TypeError(f"k={k!r} must be None or a whole number: a position.")
    if k is not None and k < 1:
        raise ValueError(f"k={k!r} must be None or at least 1.")


def _shared_gain(name: str, y_true: Any, grade: FloatArray, gain: Gain | None) -> Gain:
    """Gain where none is given; refused where scikit-learn would take another."""
    if gain is not None:
        return gain
    if np.ndim(y_true) == 2 and not np.all((grade == 0) | (grade == 1)):
        raise ValueError(
            f"For relevances beyond 0 and 1 scikit-learn's {name} has the gain y and this one"
            " 2**y - 1: pass gain='linear' or gain='exponential'."
        )
    return "exponential"
