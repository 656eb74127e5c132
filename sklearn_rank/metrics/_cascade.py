"""Measures of a reader who goes down the list and stops somewhere."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np

from .._blocks import ClassBlocks
from .._typing import FloatArray
from ._conventions import SKIP, ZERO, Convention, rules_of
from ._lists import Average, Summary, Undefined, Value, binary_lists, graded_lists
from ._positional import Geometric, check_k, discounted_sums
from ._stopping import NEGLIGIBLE, padded, reciprocal_stop

__all__ = [
    "average_precision_score",
    "expected_reciprocal_rank_score",
    "rank_biased_precision_score",
    "reciprocal_rank_score",
]

# From this argument on the expansion of the digamma function is exact in float64.
LARGE = 64


def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    normalize: Literal["positives", "reachable"] | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = ZERO,
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """Mean, over the positives, of the precision at their positions.

    ``AP@k = 1/m sum over positives at positions i <= k of (positives down to i) / i``, ``m`` the
    number of positives; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    normalize : {"positives", "reachable"} or None, default=None
        What divides: the number m of positives, or ``min(k, m)``, the number that k places can
        hold, with which the best order has the value 1. None is "positives".
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        How many times each item counts, in whole numbers.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default=0.0
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    convention : {"paper", "sklearn", "xgboost", "lightgbm", "trec_eval", "letor"}, default=None
        System whose number to give: its rules for ties, lists without positives and m; a
        parameter that says otherwise is refused. The guide "Which measure?" has the table.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Average precision in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If a weight is not a whole number, an argument is not valid or conflicts with
        ``convention``, or a list is undefined and ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    sklearn.metrics.average_precision_score : Equal without ties; counts every tied block at its
        end, which is neither the mean nor a bound in general.
    precision_at_k_score : The precision at one place.
    reciprocal_rank_score : The first positive alone.

    Notes
    -----
    In a block of ``a`` positives among ``L`` tied items, after ``p`` positives among ``N`` items,
    the mean is a sum of ``a/L (p + 1 + (j-1)(a-1)/(L-1)) / (N+j)`` over j = 1..L, and a sum of
    reciprocals in closed form; with ``k`` it ends at j = k - N. Precision counts items, so that
    only whole-number weights, which are repetitions, have a meaning. Two dimensions are refused:
    scikit-learn takes the columns as classes. O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.8333333333333333

    A constant score is worth its mean over all orders:

    >>> average_precision_score([1, 0], [0.0, 0.0])
    0.75

    Three positives, of which the first place holds one:

    >>> average_precision_score([1, 1, 1], [3.0, 2.0, 1.0], k=1)
    0.3333333333333333
    >>> average_precision_score([1, 1, 1], [3.0, 2.0, 1.0], k=1, normalize="reachable")
    1.0
    """
    if normalize not in (None, "positives", "reachable"):
        raise ValueError(f"normalize={normalize!r} must be 'positives', 'reachable' or None.")
    check_k(k)
    rules = rules_of(
        "average_precision_score",
        convention,
        undefined=undefined,
        sample_weight=sample_weight,
        k=k,
        normalize=normalize,
    )
    summary = Summary("average_precision_score", average, rules.undefined, return_qid)
    lists = binary_lists(
        rules.labels(y_true, pos_label),
        y_score,
        name="average_precision_score",
        refuse_2d=True,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    if not lists.whole.all():
        raise ValueError(
            "sample_weight has a value that is not whole: average precision counts items, so"
            " that a weight is a number of repetitions; precision_at_top_score takes real"
            " weights."
        )
    blocks = rules.ordered(lists, lists.positive).blocks()
    positive, length = blocks.of_class, blocks.of_class + blocks.of_other
    positives_before = blocks.class_above
    items_before = positives_before + blocks.other_above
    if rules.ties == "end":
        sums = length * (positives_before + positive) / (items_before + length)
    else:
        counted = length if k is None else np.clip(k - items_before, 0.0, length)
        ratio = (positive - 1) / np.maximum(length - 1, 1)
        sums = (positives_before + 1 - ratio * (items_before + 1)) * _reciprocals(
            items_before + 1, counted
        ) + ratio * counted
    divisor = blocks.n_class
    if k is not None and rules.normalize == "reachable":
        divisor = np.minimum(divisor, k)
    with np.errstate(invalid="ignore"):
        values = np.minimum(blocks.sums(positive / length * sums) / divisor, 1.0)
    return summary.of(values, lists, "no positive")


def reciprocal_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    qid: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = SKIP,
    return_qid: bool = False,
    pos_label: Any = None,
    convention: Convention | None = None,
) -> Value:
    """One over the position of the first positive.

    ``RR@k = 1 / i`` for the position i of the first positive if i <= k, else 0; the mean is over
    all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        What a list without positives counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    convention : {"trec_eval"}, default=None
        System whose number to give: its rules for ties and lists without positives; a parameter
        that says otherwise is refused.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Reciprocal rank in [0, 1]; more is better. The mean over lists is the MRR.

    Raises
    ------
    ValueError
        If an argument is not valid or conflicts with ``convention``, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``k`` is neither None nor a whole number.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    average_precision_score : All positives.
    expected_reciprocal_rank_score : Grades; the reader may go on after a relevant item.

    Notes
    -----
    Of L tied items, a of them positive, after N negatives, the first positive is the j-th with
    chance ``binom(L - j, a - 1) / binom(L, a)``. The mean of 1 / i is not 1 over the mean of i.
    O(n log n) time, O(n) memory.

    Examples
    --------
    >>> from sklearn_rank.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5

    A constant score is worth its mean over all orders, (1 + 1/2) / 2:

    >>> reciprocal_rank_score([0, 1], [0.0, 0.0])
    0.75
    """
    check_k(k)
    rules = rules_of("reciprocal_rank_score", convention, undefined=undefined, k=k)
    summary = Summary("reciprocal_rank_score", average, rules.undefined, return_qid)
    lists = binary_lists(
        rules.labels(y_true, pos_label),
        y_score,
        qid=qid,
        query_weight=query_weight,
        pos_label=pos_label,
    )
    blocks = rules.ordered(lists, lists.positive).blocks()
    return summary.of(_first_positives(blocks, k), lists, "no positive")


def expected_reciprocal_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    max_grade: float | None = None,
    qid: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = "skip",
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Mean of 1 / position of the item that satisfies a reader who goes down the list.

    ``ERR@k = sum over positions i <= k of P_i / i * prod over j < i of (1 - P_j)``, where an item
    of relevance y satisfies with chance ``P = (2**y - 1) / 2**max_grade``; the mean is over all
    orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    max_grade : float or None, default=None
        Highest grade of the scale, at least the highest of ``y_true``. None takes the highest of
        ``y_true``, over all lists: a fold or a data set without it then has another measure.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        Of no effect: the measure is defined for every list, and 0 without relevance.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Expected reciprocal rank in [0, 1); more is better.

    Raises
    ------
    ValueError
        If a relevance is negative, not finite or above ``max_grade``, or an argument is not valid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    reciprocal_rank_score : Two classes; the first positive satisfies.
    rank_biased_precision_score : The reader stops without regard to what he sees.

    Notes
    -----
    The same number for every order of the rows, where a recursion over the list gives one of the
    tied orders. Blocks of up to 1024 tied items take the square of their length, longer ones
    are integrated to about 1e-13 in time linear in their length; only where a block of thousands,
    few of them relevant, is cut by ``k`` does it take the square of ``k`` for each grade. Else
    O(n log n) time; O(n) memory.

    References
    ----------
    .. [1] Chapelle, Metzler, Zhang & Grinspan (2009), *Expected reciprocal rank for graded
       relevance*, CIKM.

    Examples
    --------
    >>> from sklearn_rank.metrics import expected_reciprocal_rank_score
    >>> expected_reciprocal_rank_score([2, 0, 1], [3.0, 2.0, 1.0], max_grade=2)
    0.7708333333333334

    On a scale up to 4 the same grades satisfy fewer readers:

    >>> expected_reciprocal_rank_score([2, 0, 1], [3.0, 2.0, 1.0], max_grade=4)
    0.20442708333333334
    """
    summary = Summary("expected_reciprocal_rank_score", average, undefined, return_qid)
    check_k(k)
    lists = graded_lists(y_true, y_score, qid=qid, query_weight=query_weight, pos_label=pos_label)
    highest = _highest_grade(lists.grade, max_grade)
    chance = np.exp2(lists.grade - highest)
    chance -= np.exp2(-highest)
    return summary.of(reciprocal_stop(lists, chance, k), lists, "no value")


def rank_biased_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    persistence: float = 0.8,
    k: int | None = None,
    max_grade: float | None = None,
    qid: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined = "skip",
    return_qid: bool = False,
    pos_label: Any = None,
) -> Value:
    """Relevance seen per item, by a reader who goes on to the next with a fixed chance.

    ``RBP = (1 - p) sum over positions i <= k of (y at i) / max_grade * p**(i - 1)``, p the
    persistence; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Relevance of the items, finite and at least 0; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    persistence : float, default=0.8
        Chance p that the reader goes on, in (0, 1): of all that is seen, the first ten items have
        the share ``1 - p**10``, .89 by default.
    k : int or None, default=None
        Last position that counts, at least 1; None counts all.
    max_grade : float or None, default=None
        Relevance that counts 1, at least the highest of ``y_true``. None takes the highest of
        ``y_true``, over all lists: a fold or a data set without it then has another measure.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"} or float, default="skip"
        Of no effect: the measure is defined for every list, and 0 without relevance.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        Class of relevance 1 where ``y_true`` holds labels of two classes; None: relevances.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1); more is better.

    Raises
    ------
    ValueError
        If a relevance is negative, not finite or above ``max_grade``, or an argument is not valid.
    TypeError
        If ``k`` is neither None nor a whole number.

    See Also
    --------
    positional_score : Any discount.
    expected_reciprocal_rank_score : The reader stops at what satisfies.

    Notes
    -----
    As in the paper nothing is divided by what the list could reach: n items that are all relevant
    have ``1 - p**n``, and what lies beyond the end counts as not relevant. O(n log n) time, O(n)
    memory.

    References
    ----------
    .. [1] Moffat & Zobel (2008), *Rank-biased precision for measurement of retrieval
       effectiveness*, ACM Transactions on Information Systems 27(1).

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_biased_precision_score
    >>> rank_biased_precision_score([1, 0, 1], [3.0, 2.0, 1.0], persistence=0.5)
    0.625

    The best order of a short list does not reach 1:

    >>> rank_biased_precision_score([1, 1, 1], [3.0, 2.0, 1.0], persistence=0.5)
    0.875
    """
    summary = Summary("rank_biased_precision_score", average, undefined, return_qid)
    check_k(k)
    if not isinstance(persistence, Real) or not 0 < persistence < 1:
        raise ValueError(f"persistence={persistence!r} must be a number in (0, 1).")
    lists = graded_lists(y_true, y_score, qid=qid, query_weight=query_weight, pos_label=pos_label)
    highest = _highest_grade(lists.grade, max_grade)
    gains = lists.grade / highest if highest > 0 else lists.grade
    values = discounted_sums(lists, gains, Geometric(float(persistence)), k)
    return summary.of(values, lists, "no value")


def _highest_grade(grade: FloatArray, max_grade: float | None) -> float:
    highest = float(grade.max())
    if max_grade is None:
        return highest
    if not isinstance(max_grade, Real) or isinstance(max_grade, bool) or not max_grade < np.inf:
        raise ValueError(f"max_grade={max_grade!r} must be a finite number or None.")
    if max_grade < highest:
        raise ValueError(
            f"y_true has the relevance {highest:g}, above max_grade={max_grade!r}: pass the"
            " highest grade of the scale."
        )
    return float(max_grade)


def _first_positives(blocks: ClassBlocks, k: int | None) -> FloatArray:
    """Mean of 1 / position of the first positive of each list, NaN where there is none."""
    values = np.full(len(blocks.n_class), np.nan)
    lists = np.flatnonzero(blocks.n_class)
    if len(lists) == 0:
        return values
    top = blocks.top[lists]
    held, size = blocks.of_class[top], blocks.of_class[top] + blocks.of_other[top]
    above = blocks.total[lists] - blocks.below[top] - size
    last = size - held + 1
    if k is not None:
        last = np.minimum(last, np.maximum(k - above, 0.0))
    values[lists] = np.where(last > 0, held / size / (above + 1), 0.0)
    # The chance that the first m of a block hold no positive is at most exp(-m held / size).
    terms = np.minimum(last, np.ceil(NEGLIGIBLE * size / held)).astype(np.intp)
    more = np.flatnonzero((size > 1) & (terms > 1))
    for which, _, real in padded(more, terms[more]):
        some = more[which]
        j = np.arange(real.shape[1], dtype=np.float64)
        length = size[some, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = (length - j - held[some, np.newaxis] + 1) / (length - j)
        chance[:, 0] = held[some] / size[some]
        chance[~real] = 0.0
        np.multiply.accumulate(chance, axis=1, out=chance)
        values[lists[some]] = (chance / (above[some, np.newaxis] + j + 1)).sum(axis=1)
    return values


def _reciprocals(start: FloatArray, count: FloatArray) -> FloatArray:
    """``1/x + 1/(x+1) + ... + 1/(x+count-1)`` for whole numbers, to rounding.

    The difference of two digamma functions, from their asymptotic series, which does not cancel;
    the first terms of sums that begin below its range are added one by one.
    """
    if np.all(count == 1):
        return 1.0 / start
    result = np.zeros(len(start))
    start, count = start.copy(), count.copy()
    low = np.flatnonzero(start < LARGE)
    for _ in range(LARGE):
        low = low[(start[low] < LARGE) & (count[low] > 0)]
        if len(low) == 0:
            break
        result[low] += 1.0 / start[low]
        start[low] += 1
        count[low] -= 1
    end = start + count
    result += np.log1p(count / start) + 0.5 * count / (start * end)
    for power, coefficient in ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252)):
        result += coefficient * (start ** -float(power) - end ** -float(power))
    return result
