"""Measures along the list: discounted gains, and models of a reader who may stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, Literal, TypeAlias, Unpack

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import ClassBlocks
from .._typing import FloatArray, IntArray
from .._validation import check_share, ravelled
from ._conventions import (
    Convention,
    NamedNumber,
    PositionalForm,
    cut_after,
    position,
    rules_of,
    share,
)
from ._evidence import (
    GradeTotal,
    LabelTotal,
    average_precision_total,
    mean_discounts,
    running_mean,
)
from ._influence import ClassInfluence, average_precision_influence
from ._measure import (
    ConventionalMeasure,
    ListOptions,
    Measure,
    RelevantOptions,
    Value,
    WeightedOptions,
    checked,
    function_of,
    last_position,
    one_of,
    within,
)
from ._tied_sums import (
    NEGLIGIBLE,
    Gain,
    OfPosition,
    check_gain,
    discounted_sums,
    discounts_of,
    gains_of,
    ideal_sums,
    logarithmic,
    padded,
    reciprocal_stop,
    reciprocals,
    scaled_gains,
)
from ._top import n_relevant_of, topmost_positives

Discount: TypeAlias = Literal["logarithmic", "linear"] | Callable[[FloatArray, FloatArray], Any]


def _check_discount(name: str, discount: Any) -> None:
    if not callable(discount) and discount not in ("logarithmic", "linear"):
        raise ValueError(
            f"{name}={discount!r} must be 'logarithmic', 'linear' or a function of positions and"
            " lengths."
        )


class _UpToK(Measure):
    per_query = True
    _number = NamedNumber("k", position, "10", optional=True)

    k: int | None = last_position()


class PositionalMeasure(_UpToK):
    kind = "graded"
    _own_laws: ClassVar[tuple[str, ...]] = ("draws",)
    has_name = False
    stem = "positional"
    from_ranges = "sum"

    gain: Gain = checked(check_gain)
    discount: Discount = checked(_check_discount)  # Discount of positions and lengths of lists

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(lambda lists: gains_of(lists.grade, self.gain), self._discounts)

    @property
    def _discount(self) -> Any:
        return logarithmic(2.0) if self.discount == "logarithmic" else self.discount

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(discounts_of(self._discount, [n], np.array([n])).copy(), self.k)

    def values(self, lists: ScoredLists) -> FloatArray:
        return discounted_sums(lists, gains_of(lists.grade, self.gain), self._discount, self.k)


@function_of(PositionalMeasure)
def positional_score(
    y_true: Any,
    y_score: Any,
    *,
    gain: Gain,
    discount: Discount,
    k: int | None = None,
    **options: Unpack[WeightedOptions],
) -> Value:
    """Generalised positional measure: sum of gains with any gain and any discount function.

    ``sum over positions i <= k of gain(y at i) * discount(i)``, i = 1 at the top. Ties are
    averaged over all orders of the tied items.

    Parameters
    ----------
    gain : {"exponential", "linear"} or callable
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains.
    discount : {"logarithmic", "linear"} or callable
        ``1 / log2(1 + i)``, ``n - i``, or a function of two arrays, the positions i and the
        lengths n of their lists, that returns an array.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The measure; more is better for discounts that decrease.

    Raises
    ------
    ValueError
        If a gain or discount is not finite, a gain is negative, or an argument is invalid.

    See Also
    --------
    dcg_score : Uses the logarithmic discount.
    linear_rank_score : For two classes and functions of the rank from the bottom.

    Notes
    -----
    DCG, precision and recall at k, the AUC and Spearman's correlation have the form
    ``b + positional_score``, where b depends on the labels only. Average precision and the
    expected reciprocal rank do not. Real weights take fractions of positions; n is then the weight
    of the list.

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

    Your own discount, as in rank-biased precision:

    >>> positional_score(
    ...     [1, 0, 1], [3.0, 2.0, 1.0], gain="linear", discount=lambda i, n: 0.5**i
    ... )
    0.625
    """


class DCGMeasure(ConventionalMeasure, _UpToK):
    kind = "graded"
    range = (0.0, inf)
    stem = "dcg"
    from_ranges = "sum"
    conventions = rules_of(
        paper={"gain": "exponential"},
        sklearn={"gain": "linear"},
        catboost={"gain": "linear", "chosen": ("gain",), "undefined": "skip"},
    )

    gain: Gain | None = checked(check_gain, None)  # Gain of a relevance; None is "exponential"
    log_base: float = within(1.0, inf, "neither", default=2.0)

    _own_laws: ClassVar[tuple[str, ...]] = ("draws",)

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(self._gains, self._discounts)

    def _read(self, y_true: Any, y_score: Any, **arguments: Any) -> ScoredLists:
        """Make the lists; refuse matrices that scikit-learn's function reads with another gain."""
        y_true = ravelled(y_true, "y_true")
        lists = super()._read(y_true, y_score, **arguments)
        chosen = self.gain is not None or self.convention is not None
        are_classes = np.all((lists.grade == 0) | (lists.grade == 1))
        if not chosen and np.ndim(y_true) == 2 and not are_classes:
            raise ValueError(
                f"y_true has relevances other than 0 and 1, for which {self.function} of"
                " scikit-learn uses the gain y and this one 2**y - 1: pass gain='linear' or"
                " gain='exponential'."
            )
        return lists

    def label_total(self, lists: ScoredLists) -> LabelTotal:
        weights = mean_discounts(lists.score, self._discounts(len(lists.score)))
        return LabelTotal(weights, lambda total, _: total)

    def _grade_total(self, lists: ScoredLists) -> GradeTotal:
        weights = mean_discounts(lists.score, self._discounts(len(lists.score)))
        return GradeTotal(weights, lambda grades: gains_of(grades, self._gain))

    def values(self, lists: ScoredLists) -> FloatArray:
        top = self._leading(self._ordered(lists))
        if top.labels is not lists.labels:
            # Whatever is left out, a relevance whose gain is infinite is refused.
            gains_of(lists.grade.max(keepdims=True), self._gain)
        return discounted_sums(top, self._gains(top), self._discount, self.k)

    def _leading(self, lists: ScoredLists) -> ScoredLists:
        """Lists whose first k items are the same; a gain of the user sees all relevances."""
        return lists if callable(self._gain) else lists.leading(self.k)

    @property
    def _gain(self) -> Gain:
        return self.gain or self.rules.gain or "exponential"

    @property
    def _discount(self) -> OfPosition:
        if self.rules.discount == "letor":  # 1 at the positions 1 and 2
            return OfPosition(lambda position: 1.0 / np.log2(np.maximum(position, 2.0)))
        return logarithmic(float(self.log_base))

    def _gains(self, lists: Lists) -> FloatArray:
        return gains_of(lists.grade, self._gain)

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(self._discount.at(np.arange(1.0, n + 1.0)), self.k)


@function_of(DCGMeasure)
def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain | None = None,
    log_base: float = 2.0,
    convention: Convention | None = None,
    **options: Unpack[WeightedOptions],
) -> Value:
    """Discounted cumulative gain (DCG).

    ``DCG@k = sum over positions i <= k of gain(y at i) / log(1 + i)``, the logarithm to base
    ``log_base``. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    log_base : float, default=2.0
        Base of the logarithm, greater than 1.
    convention
        System whose value to reproduce, with its gain and its rule for ties. A conflicting
        parameter raises an error, except ``gain`` for CatBoost, whose users choose it.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The gain, at least 0; higher is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is invalid or conflicts
        with ``convention``, or relevances in two dimensions go beyond 0 and 1 without a ``gain``.

    See Also
    --------
    ndcg_score : DCG divided by that of the best order.
    sklearn.metrics.dcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Each tied item gets the mean discount of the positions of its block. An item of real weight w
    takes the positions from P to P + w, with fractions of a position counted in proportion.

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


def has_exponential_gain(measure: Measure) -> bool:
    if isinstance(measure, DCGMeasure):
        return isinstance(measure._gain, str) and measure._gain == "exponential"
    gain = measure.gain if isinstance(measure, PositionalMeasure) else None
    return isinstance(gain, str) and gain == "exponential"


class NDCGMeasure(DCGMeasure):
    lacking = "no item with a gain"
    undefined_counts = 0.0
    stem = "ndcg"
    range = (0.0, 1.0)
    takes_relevant = ("ideal",)
    conventions = rules_of(
        paper={"gain": "exponential", "knows_judgments": True},
        sklearn={"gain": "linear", "undefined": 0.0},
        xgboost={"gain": "exponential", "weighs_undefined": False, "refuses_above_one": True},
        lightgbm={"gain": "exponential", "weighs_undefined": False},
        catboost={"gain": "linear", "chosen": ("gain",), "undefined": 1.0},
        trec_eval={"gain": "linear"},
        gdeval={"gain": "exponential"},
        ranx={"gain": "linear", "chosen": ("gain",)},
        letor={"gain": "exponential", "discount": "letor"},
    )

    _own_laws: ClassVar[tuple[str, ...]] = ()

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(self._utilities, self._discounts, largest=1.0)

    def label_total(self, lists: ScoredLists) -> LabelTotal:
        weights = super().label_total(lists).weights
        ideal = running_mean(self._discounts(len(lists.score)))
        return LabelTotal(weights, lambda total, n_pos: total / (n_pos * ideal(n_pos)))

    def _grade_total(self, lists: ScoredLists) -> GradeTotal:
        discounts = self._discounts(len(lists.score))
        ideal = np.append(0.0, np.cumsum(discounts))
        return super()._grade_total(lists)._replace(ideal=ideal)

    def values(self, lists: ScoredLists) -> FloatArray:
        top = self._leading(self._ordered(lists))
        best: Lists = lists.ideal or lists
        if lists.ideal is None:
            # Gains ascend with the relevance: the best order begins with the most relevant.
            best = self._leading(replace(lists, score=lists.grade))
        gains, exponent, ideal = self._of_best(top, best)
        sums = discounted_sums(top, gains, self._discount, self.k)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.minimum(np.ldexp(sums, exponent) / ideal, 1.0)

    def _of_best(self, lists: Lists, best: Lists) -> tuple[FloatArray, IntArray, FloatArray]:
        """Gains, the power of 2 that each list lacks, and the sums of the best order."""
        gains, exponent = best_gains, best_exponent = scaled_gains(lists, self._gains(lists))
        if lists.labels is not best.labels:
            best_gains, best_exponent = scaled_gains(best, self._gains(best))
        ideal = ideal_sums(best, best_gains, self._discount, self.k)
        return gains, exponent - best_exponent, ideal

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_fit_weights(lists)
        gains, exponent, ideal = self._of_best(lists, getattr(lists, "ideal", None) or lists)
        ideal = lists.to_items(ideal)
        with np.errstate(all="ignore"):
            if exponent.any():
                gains = np.ldexp(gains, lists.to_items(exponent))
            return np.where(ideal > 0, gains / ideal, np.nan)


@function_of(NDCGMeasure)
def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    gain: Gain | None = None,
    log_base: float = 2.0,
    ideal: Any = None,
    convention: Convention | None = None,
    **options: Unpack[WeightedOptions],
) -> Value:
    """Normalised discounted cumulative gain (NDCG).

    ``NDCG@k = DCG@k(y, s) / DCG@k(y, y)``, the DCG divided by that of the best order. Ties are
    averaged over all orders of the tied items.

    Parameters
    ----------
    log_base : float, default=2.0
        Base of the logarithm, greater than 1; it does not change the value.
    ideal
        Relevances of all relevant items of each list, including those that are not among the rows.
        Pass an array for one list; else a mapping from the ids of the lists, or in two dimensions
        one array per row. None assumes that the rows contain all relevant items.
    convention
        System whose value to reproduce, with its gain, discount, rules for ties and for lists
        without gains. A conflicting parameter raises an error, except ``gain`` for CatBoost and
        ranx, whose users choose it. trec_eval, gdeval and ranx count relevant items that were not
        retrieved: if the rows lack some, pass ``ideal``. As in XGBoost and LightGBM, their lists
        without gains have the ``query_weight`` 1. The guide :doc:`/user_guide/scoring` lists the
        rules.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Value in [0, 1]; higher is better.

    Raises
    ------
    ValueError
        If a relevance or its gain is negative or not finite, an argument is invalid or conflicts
        with ``convention``, relevances in two dimensions go beyond 0 and 1 without a ``gain``, or
        a list is undefined and ``undefined="raise"``.

    See Also
    --------
    dcg_score : The gain without normalisation.
    sklearn.metrics.ndcg_score : One list per row, linear gain; equal with ``gain="linear"``.

    Notes
    -----
    Each tied item gets the mean discount of the positions of its block. A list without gains
    counts 0 as in scikit-learn; XGBoost and LightGBM count 1.

    References
    ----------
    .. [1] Calauzènes, Usunier & Gallinari (2013), *Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank*, Machine Learning 93, Table 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import ndcg_score
    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0]), 4)
    0.7825

    The value of LightGBM, which breaks ties by the order of the rows:

    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0], convention="lightgbm"), 4)
    1.0
    """


def _precision_sums(
    blocks: ClassBlocks, items_before: FloatArray, counted: FloatArray
) -> FloatArray:
    """Mean sum of the precisions at the positives among the first items of each block."""
    positive, length = blocks.of_class, blocks.of_class + blocks.of_other
    ratio = (positive - 1) / np.maximum(length - 1, 1)
    harmonic = reciprocals(items_before + 1, counted)
    sums = (blocks.class_above + 1 - ratio * (items_before + 1)) * harmonic + ratio * counted
    return positive / length * sums


def _mean_precision_of_retrieved(blocks: ClassBlocks, k: int) -> FloatArray:
    """Mean precision at the positives among the first k of each list that has positives.

    Mean over all orders of tied items; an order without a positive there has the value 0. The
    number of positives in a block that k cuts is hypergeometric.
    """
    length = blocks.of_class + blocks.of_other
    above = blocks.class_above + blocks.other_above
    complete = above + length <= k
    total = blocks.sums(np.where(complete, _precision_sums(blocks, above, length), 0.0))
    n_pos = blocks.sums(np.where(complete, blocks.of_class, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(n_pos > 0, total / n_pos, 0.0)
    cut = np.flatnonzero((above < k) & ~complete)
    list_of = blocks.to_blocks(np.arange(len(blocks.n_class)))
    positive, length, above, of_list = blocks.of_class[cut], length[cut], above[cut], list_of[cut]
    inside = k - above
    low = np.maximum(0.0, inside - (length - positive))
    count = (np.minimum(positive, inside) - low).astype(np.intp) + 1
    sums_of_list, harmonic_sums = total[of_list], reciprocals(above + 1.0, inside)
    columns = (positive, length, inside, above, sums_of_list, n_pos[of_list], harmonic_sums)
    for which, _, real in padded(np.zeros_like(count), count):
        a, n, c, n_above, sums_above, p, harmonic = (x[which, np.newaxis] for x in columns)
        h = low[which, np.newaxis] + np.arange(real.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.log((a - h) * (c - h) / ((h + 1.0) * (n - a - c + h + 1.0)))
            sums = ((h - 1.0) / np.maximum(c - 1.0, 1.0)) * (c - (n_above + 1.0) * harmonic)
            sums += (p + 1.0) * harmonic
            value = (sums_above + h / c * sums) / (p + h)
        logarithm = np.zeros_like(h)
        np.cumsum(np.where(real[:, 1:], step[:, :-1], 0.0), axis=1, out=logarithm[:, 1:])
        logarithm[~real] = -np.inf
        share = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        value = np.where(real & (p + h > 0), value, 0.0)
        values[of_list[which]] = np.sum(share * value, axis=1) / np.sum(share, axis=1)
    return np.minimum(values, 1.0)


# Number of items of a long list that a reader does not pass, with near certainty.
LOOKED_AT = (1000, None)


class AveragePrecisionMeasure(ConventionalMeasure, _UpToK):
    range = (0.0, 1.0)
    two_dimensions_are_classes = True
    lacking = "no positive"
    undefined_counts = 0.0
    stem = "ap"
    conventions = rules_of(
        paper={"normalize": "positives", "has_k": False, "knows_judgments": True},
        sklearn={"ties": "end", "undefined": 0.0, "has_k": False, "weighs_items": True},
        xgboost={"normalize": "reachable"},
        lightgbm={"normalize": "reachable"},
        catboost={"normalize": "reachable", "weighs_lists": False},
        trec_eval={"normalize": "positives"},
        ranx={"normalize": "positives"},
        letor={"has_k": False},
    )

    takes_relevant = ("n_relevant", "ideal")

    normalize: Literal["positives", "reachable", "found"] | None = one_of(
        "positives", "reachable", "found", None, default=None
    )

    @property
    def weights(self) -> Literal["relative", "whole"]:  # type: ignore[override]
        """Numbers of items, unless the rules are those of a ratio of weighted sums."""
        return "relative" if self.rules.weighs_items else "whole"

    @property
    def from_ranges(self) -> Literal["sum"] | None:  # type: ignore[override]
        """A sum, unless what divides it depends on the order."""
        return "sum" if self.k is None or self.normalize != "found" else None

    @property
    def positional(self) -> PositionalForm:
        def utilities(lists: Lists) -> FloatArray:
            positive = lists.positive.astype(np.float64)
            has_positive = lists.to_items(lists.weighted_totals(positive)) > 0
            return np.where(has_positive, positive, np.nan)

        return PositionalForm(utilities, None, largest=1.0, expectation="probability of relevance")

    def values(self, lists: ScoredLists) -> FloatArray:
        rules = self.rules
        ordered = self._ordered(lists).leading(self.k)
        blocks = ordered.blocks(joined=rules.ties != "end")
        n_relevant = n_relevant_of(lists, lists.positives)
        if self.k is not None and self.normalize == "found":
            # Relevant items below the first k, or not among the rows, are not found.
            otherwise = np.where((n_relevant > 0) | (lists.positives > 0), 0.0, np.nan)
            values = _mean_precision_of_retrieved(blocks, self.k)
            return np.where(blocks.n_class > 0, values, otherwise)
        positive, length = blocks.of_class, blocks.of_class + blocks.of_other
        items_before = blocks.class_above + blocks.other_above
        if rules.ties == "end":
            sums = length * (blocks.class_above + positive) / (items_before + length)
            sums *= positive / length
        else:
            counted = length if self.k is None else np.clip(self.k - items_before, 0.0, length)
            sums = _precision_sums(blocks, items_before, counted)
        divisor = n_relevant
        if self.normalize == "found":
            divisor = np.where(lists.positives > 0, lists.positives, n_relevant)
        elif self.k is not None and (self.normalize or rules.normalize) == "reachable":
            divisor = np.minimum(divisor, self.k)
        with np.errstate(invalid="ignore"):
            return np.minimum(blocks.sums(sums) / divisor, 1.0)

    @property
    def has_influence(self) -> bool:
        return self.k is None and self.convention is None

    order_counts_within = "positives"

    @property
    def depends_on_length(self) -> bool:
        return not self.has_influence

    def label_total(self, lists: ScoredLists) -> LabelTotal | None:
        return average_precision_total(lists.score) if self.has_influence else None

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return average_precision_influence(lists.positive, lists.score, lists.weight)


@function_of(AveragePrecisionMeasure)
def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    normalize: Literal["positives", "reachable", "found"] | None = None,
    **options: Unpack[RelevantOptions],
) -> Value:
    """Average precision: mean of the precision at the positions of the positives.

    ``AP@k = 1/m sum over positives at positions i <= k of (positives down to i) / i``, ``m`` the
    number of positives. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    normalize : {"positives", "reachable", "found"} or None, default=None
        The divisor. "positives" is the number m of positives, as in trec_eval; ``n_relevant`` and
        ``ideal`` add those that are not among the rows. "reachable" is ``min(k, m)``, the most
        positives that k positions can hold, so that the best order has the value 1. "found" is the
        number of positives among the first k, as in torchmetrics; a single positive at the first
        position then gives 1. None is "positives".
    sample_weight
        Non-negative whole weights, read as repetitions: weight 2 counts an item twice. The scale
        changes the value. With ``convention="sklearn"``, any weights, by their proportions.
    convention
        System whose value to reproduce, with its rules for ties, lists without positives and m. A
        conflicting parameter raises an error. trec_eval and ranx count relevant items that were
        not retrieved: if the rows lack some, pass ``ideal`` or ``n_relevant``. The guide
        :doc:`/user_guide/scoring` lists the rules.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Average precision in [0, 1]; higher is better.

    See Also
    --------
    sklearn.metrics.average_precision_score : Equal without ties; evaluates a block of ties at its
        end, which is neither the mean nor a bound.
    precision_at_k_score : Precision at one position.
    reciprocal_rank_score : Depends on the first positive only.

    Notes
    -----
    In a block of ``a`` positives among ``L`` tied items, after ``p`` positives among ``N`` items,
    the mean is a sum of ``a/L (p + 1 + (j-1)(a-1)/(L-1)) / (N+j)`` over j = 1..L, which has a
    closed form in sums of reciprocals. With ``k`` the sum ends at j = k - N. With
    ``normalize="found"`` it is a mean over the hypergeometric number of positives found there, and
    0 if none is found. Two-dimensional labels raise an error, because scikit-learn takes their
    columns as classes. Without ``k`` the influence of single items is known, which gives intervals
    and tests for one list. In simulations 95 % intervals of
    :func:`sklearn_rank.inference.metric_interval` covered .93 and more, from 10 positives on, with
    .01 to .5 of the items positive, for light and heavy tails.

    Examples
    --------
    >>> from sklearn_rank.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.8333333333333333

    A constant score gets the mean over all orders:

    >>> average_precision_score([1, 0], [0.0, 0.0])
    0.75

    Three positives, only the first of which can be reached:

    >>> average_precision_score([1, 1, 1], [3.0, 2.0, 1.0], k=1, normalize="reachable")
    1.0
    """


class ReciprocalRankMeasure(ConventionalMeasure, _UpToK):
    range = (0.0, 1.0)
    weights = "none"
    lacking = "no positive"
    stem = "rr"
    from_ranges = "sum"
    takes_relevant = ("n_relevant", "ideal")
    conventions = rules_of(catboost={}, trec_eval={"has_k": False}, ranx={})

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = self._ordered(lists).top_blocks()
        # Relevant items that are not among the rows are never found.
        values = np.where(n_relevant_of(lists, blocks.n_class) > 0, 0.0, np.nan)
        defined, positive, size, above = topmost_positives(blocks)
        last = size - positive + 1
        if self.k is not None:
            last = np.minimum(last, np.maximum(self.k - above, 0.0))
        values[defined] = np.where(last > 0, positive / size / (above + 1), 0.0)
        # The first m of a block hold no positive with a chance of at most exp(-m positive / size).
        terms = np.minimum(last, np.ceil(NEGLIGIBLE * size / positive)).astype(np.intp)
        more = np.flatnonzero((size > 1) & (terms > 1))
        for which, _, real in padded(more, terms[more]):
            rows = more[which]
            j = np.arange(real.shape[1], dtype=np.float64)
            length = size[rows, np.newaxis]
            with np.errstate(divide="ignore", invalid="ignore"):
                chance = (length - j - positive[rows, np.newaxis] + 1) / (length - j)
            chance[:, 0] = positive[rows] / size[rows]
            chance[~real] = 0.0
            np.multiply.accumulate(chance, axis=1, out=chance)
            values[defined[rows]] = (chance / (above[rows, np.newaxis] + j + 1)).sum(axis=1)
        return values


@function_of(ReciprocalRankMeasure)
def reciprocal_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    rel: float | None = None,
    n_relevant: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
    **options: Unpack[ListOptions],
) -> Value:
    """Reciprocal rank: one over the position of the first positive (mean: MRR).

    ``RR@k = 1 / i`` for the position i of the first positive if i <= k, else 0. Ties are averaged
    over all orders of the tied items.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Reciprocal rank in [0, 1]; higher is better. The mean over the lists is the MRR.

    See Also
    --------
    average_precision_score : Depends on the positions of all positives.
    expected_reciprocal_rank_score : For grades; the reader may go on after a relevant item.

    Notes
    -----
    In a block of L tied items, a of them positive, after N negatives, the first positive is the
    j-th with probability ``binom(L - j, a - 1) / binom(L, a)``.

    Examples
    --------
    >>> from sklearn_rank.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5

    A constant score gets the mean over all orders, (1 + 1/2) / 2:

    >>> reciprocal_rank_score([0, 1], [0.0, 0.0])
    0.75
    """


class _OnAScale(_UpToK):
    """A measure of grades whose scale depends on the highest grade."""

    kind = "graded"
    range = (0.0, 1.0)
    weights = "none"

    # Highest grade of the scale; None is the highest that occurs
    max_grade: float | None = within(-inf, inf, "neither", default=None)

    @property
    def scaled_by_labels(self) -> bool:
        return self._scale is None

    @property
    def _scale(self) -> float | None:
        return self.max_grade

    def _highest(self, grade: FloatArray) -> float:
        highest, scale = float(grade.max()), self._scale
        if scale is None:
            return highest
        if scale < highest:
            raise ValueError(
                f"y_true has the relevance {highest:g}, above max_grade={scale!r}: pass the"
                " highest grade of the scale."
            )
        return float(scale)


class ExpectedReciprocalRankMeasure(ConventionalMeasure, _OnAScale):
    lacking = "no relevant item"
    takes_relevant = ("ideal",)
    conventions = rules_of(gdeval={})
    stem = "err"

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(self._chances, None, largest=1.0, expectation="E[(2**y - 1)]")

    def values(self, lists: ScoredLists) -> FloatArray:
        ordered = self._ordered(lists)
        highest = self._highest(lists.grade)
        # The probability to go on through a long list of partly satisfying items is negligible.
        for count in LOOKED_AT if self.k is None else (self.k,):
            top = ordered.leading(count)
            chance = _chances_up_to(highest, top.grade)
            if count is None or self.k is not None:
                break
            stays = np.multiply.reduceat(1.0 - chance, top.offsets[:-1])
            if np.all((top.lengths == lists.lengths) | (stays < np.exp(-NEGLIGIBLE))):
                break
        values = reciprocal_stop(top, chance, self.k)
        if self.convention is None:
            return values
        best = lists if lists.ideal is None else lists.ideal
        return np.where(best.largest(best.grade) > 0, values, np.nan)

    @property
    def _scale(self) -> float | None:
        return self.max_grade or self.rules.max_grade

    def _chances(self, lists: Lists) -> FloatArray:
        return _chances_up_to(self._highest(lists.grade), lists.grade)


@function_of(ExpectedReciprocalRankMeasure)
def expected_reciprocal_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    max_grade: float | None = None,
    ideal: Any = None,
    convention: Convention | None = None,
    **options: Unpack[ListOptions],
) -> Value:
    """Expected reciprocal rank (ERR): mean of 1 / position of the item that satisfies a reader.

    ``ERR@k = sum over positions i <= k of P_i / i * prod over j < i of (1 - P_j)``, where an item
    of relevance y satisfies the reader with probability ``P = (2**y - 1) / 2**max_grade``. Ties
    are averaged over all orders of the tied items.

    Parameters
    ----------
    max_grade : float or None, default=None
        Highest grade of the scale, at least the highest in ``y_true``. None takes the highest in
        ``y_true`` over all lists; values of data sets or folds are then not comparable if these
        maxima differ.
    undefined
        Has no effect: the measure is defined for every list, and 0 for a list without relevance.
        With ``convention="gdeval"`` lists without a relevant item are undefined and left out.
    ideal
        Relevances of all relevant items of each list, including those that are not among the rows.
        With ``convention="gdeval"`` they decide which lists have a relevant item; otherwise they
        have no effect.
    convention
        System whose value to reproduce: 4 is the highest grade, a list without a relevant item is
        left out, and items of different relevance must not tie. A conflicting parameter raises an
        error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Expected reciprocal rank in [0, 1); higher is better.

    See Also
    --------
    reciprocal_rank_score : For two classes; the first positive satisfies the reader.
    rank_biased_precision_score : The reader stops independently of relevance.

    Notes
    -----
    The value does not depend on the order of the rows. Blocks of up to 1024 tied items take time
    quadratic in their length; longer blocks are integrated to about 1e-13 in linear time. If ``k``
    cuts a block of thousands of items with few relevant ones, the time is quadratic in ``k`` for
    each grade. Otherwise the time is O(n log n); the memory is O(n).

    References
    ----------
    .. [1] Chapelle, Metzler, Zhang & Grinspan (2009), *Expected reciprocal rank for graded
       relevance*, CIKM.

    Examples
    --------
    >>> from sklearn_rank.metrics import expected_reciprocal_rank_score
    >>> expected_reciprocal_rank_score([2, 0, 1], [3.0, 2.0, 1.0], max_grade=2)
    0.7708333333333334
    """


def _chances_up_to(highest: float, grade: FloatArray) -> FloatArray:
    # Powers of the grades themselves would overflow.
    chance = np.exp2(grade - highest)
    chance -= np.exp2(-highest)
    return chance


class RankBiasedPrecisionMeasure(_OnAScale):
    stem = "rbp@"
    _number = NamedNumber("persistence", share, "0.8")
    from_ranges = "sum"

    persistence: float = checked(check_share, 0.8)  # Ratio of the discounts

    _own_laws: ClassVar[tuple[str, ...]] = ("draws",)

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(self._utilities, self._discounts, largest=1 - self.persistence)

    def values(self, lists: ScoredLists) -> FloatArray:
        p = float(self.persistence)
        discount = OfPosition(lambda position: (1.0 - p) * p ** (position - 1.0))
        highest, lists = self._highest(lists.grade), lists.leading(self.k)
        return discounted_sums(lists, _shares(lists.grade, highest), discount, self.k)

    def _utilities(self, lists: Lists) -> FloatArray:
        return (1 - self.persistence) * _shares(lists.grade, self._highest(lists.grade))

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(self.persistence ** np.arange(n, dtype=np.float64), self.k)


@function_of(RankBiasedPrecisionMeasure)
def rank_biased_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    persistence: float = 0.8,
    k: int | None = None,
    max_grade: float | None = None,
    **options: Unpack[ListOptions],
) -> Value:
    """Rank-biased precision (RBP): relevance with geometrically decreasing weights.

    ``RBP = (1 - p) sum over positions i <= k of (y at i) / max_grade * p**(i - 1)``, p the
    persistence. The weights model a reader who goes on to the next item with probability p. Ties
    are averaged over all orders of the tied items.

    Parameters
    ----------
    persistence : float, default=0.8
        Probability p that the reader goes on to the next item, in (0, 1). A greater value looks
        deeper: the first ten items have the share ``1 - p**10`` of the weight, .89 by default.
    max_grade : float or None, default=None
        Relevance that counts 1, at least the highest in ``y_true``. None takes the highest in
        ``y_true`` over all lists; values of data sets or folds are then not comparable if these
        maxima differ.
    undefined
        Has no effect: the measure is defined for every list, and 0 for a list without relevance.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Precision in [0, 1); higher is better.

    See Also
    --------
    positional_score : Takes any gain and any discount.
    expected_reciprocal_rank_score : The reader stops at an item that satisfies.

    Notes
    -----
    As in the paper the value is not divided by that of the best order: n relevant items have
    ``1 - p**n``, and positions beyond the end of the list count as not relevant.

    References
    ----------
    .. [1] Moffat & Zobel (2008), *Rank-biased precision for measurement of retrieval
       effectiveness*, ACM Transactions on Information Systems 27(1).

    Examples
    --------
    >>> from sklearn_rank.metrics import rank_biased_precision_score
    >>> rank_biased_precision_score([1, 0, 1], [3.0, 2.0, 1.0], persistence=0.5)
    0.625
    """


def _shares(grade: FloatArray, highest: float) -> FloatArray:
    return grade / highest if highest > 0 else grade
