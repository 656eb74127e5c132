"""Positional measures: gains of the items, discounted by their positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from .._lists import Lists, ScoredLists
from .._typing import FloatArray, IntArray
from .._validation import ravelled
from ._conventions import (
    Convention,
    NamedNumber,
    PositionalForm,
    cut_after,
    linear_discounts,
    position,
    rules_of,
)
from ._functions import WeightedOptions, function_of
from ._measure import ConventionalMeasure, Measure, Value, checked, last_position, within
from ._tied_sums import (
    LETOR,
    Gain,
    OfPosition,
    check_gain,
    discounted_sums,
    gains_of,
    ideal_sums,
    logarithmic,
    scaled_gains,
)

Discount: TypeAlias = Literal["logarithmic", "linear"] | Callable[[FloatArray, FloatArray], Any]


def _check_discount(name: str, discount: Any) -> None:
    if not callable(discount) and discount not in ("logarithmic", "linear"):
        raise ValueError(
            f"{name}={discount!r} must be 'logarithmic', 'linear' or a function of positions and"
            " lengths."
        )


class PositionalMeasure(Measure):
    """Any gain, discounted by any function; see ``positional_score``."""

    kind = "graded"
    per_query = True
    has_name = False
    stem = "positional"
    _number = NamedNumber("k", position, "10", optional=True)
    from_ranges = "sum"

    gain: Gain = checked(check_gain)
    discount: Discount = checked(_check_discount)  # Discount of positions and lengths of lists
    k: int | None = last_position()

    @property
    def positional(self) -> PositionalForm:
        return PositionalForm(lambda lists: gains_of(lists.grade, self.gain), self._discounts)

    def _discounts(self, n: int) -> FloatArray:
        if self.discount == "linear":
            values = linear_discounts(n)
        elif self.discount == "logarithmic":
            values = np.asarray(1 / np.log2(np.arange(2, n + 2)))
        else:
            position = np.arange(1.0, n + 1.0)
            values = np.array(self.discount(position, np.full(n, float(n))), dtype=np.float64)
        return cut_after(values, self.k)

    def values(self, lists: ScoredLists) -> FloatArray:
        discount = logarithmic(2.0) if self.discount == "logarithmic" else self.discount
        return discounted_sums(lists, gains_of(lists.grade, self.gain), discount, self.k)


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
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.

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
    of the list. The time is O(n log n), the memory O(n).

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


class DCGMeasure(ConventionalMeasure):
    """Discounted cumulative gain; see ``dcg_score``."""

    kind = "graded"
    per_query = True
    range = (0.0, inf)
    stem = "dcg"
    _number = NamedNumber("k", position, "10", optional=True)
    from_ranges = "sum"
    conventions = rules_of(
        paper={"gain": "exponential"},
        sklearn={"gain": "linear"},
        catboost={"gain": "linear", "chosen": ("gain",), "undefined": "skip"},
    )

    k: int | None = last_position()
    gain: Gain | None = checked(check_gain, None)  # Gain of a relevance; None is "exponential"
    log_base: float = within(1.0, inf, "neither", default=2.0)

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

    def values(self, lists: ScoredLists) -> FloatArray:
        top = self._leading(self.rules.ordered(lists, lists.grade))
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
        return LETOR if self.rules.discount == "letor" else logarithmic(float(self.log_base))

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
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains, each
        at least 0. None is "exponential"; scikit-learn uses "linear".
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
    takes the positions from P to P + w, with fractions of a position counted in proportion. The
    time is O(n log n), the memory O(n).

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


def _times_power_of_two(values: FloatArray, exponent: IntArray) -> FloatArray:
    if not exponent.any():
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, exponent)


class NDCGMeasure(DCGMeasure):
    """Discounted cumulative gain as a share of that of the best order; see ``ndcg_score``."""

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

    @property
    def positional(self) -> PositionalForm:
        """The gains divided by the ideal sum of the list, at logarithmic discounts."""
        return PositionalForm(self._utilities, self._discounts, largest=1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        discount = self._discount
        top = self._leading(self.rules.ordered(lists, lists.grade))
        best: Lists = lists.ideal or lists
        if lists.ideal is None:
            # Gains ascend with the relevance: the best order begins with the most relevant.
            best = self._leading(replace(lists, score=lists.grade))
        gains, exponent = scaled_gains(top, self._gains(top))
        best_gains, best_exponent = gains, exponent
        if top.labels is not best.labels:
            best_gains, best_exponent = scaled_gains(best, self._gains(best))
        ideal = ideal_sums(best, best_gains, discount, self.k)
        sums = discounted_sums(top, gains, discount, self.k)
        sums = _times_power_of_two(sums, exponent - best_exponent)
        with np.errstate(invalid="ignore"):
            return np.minimum(sums / ideal, 1.0)

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_fit_weights(lists)
        gains, exponent = scaled_gains(lists, self._gains(lists))
        best, best_gains = lists, gains
        if isinstance(lists, ScoredLists) and lists.ideal is not None:
            best = lists.ideal
            best_gains, best_exponent = scaled_gains(best, self._gains(best))
            gains = _times_power_of_two(gains, lists.to_items(exponent - best_exponent))
        ideal = lists.to_items(ideal_sums(best, best_gains, self._discount, self.k))
        with np.errstate(divide="ignore", invalid="ignore"):
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
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    gain : {"exponential", "linear"}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains, each
        at least 0. None is "exponential"; scikit-learn uses "linear".
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
        without gains have the ``query_weight`` 1. The guide "Other systems" lists the rules.

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
    counts 0 as in scikit-learn; XGBoost and LightGBM count 1. The time is O(n log n), the memory
    O(n).

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

    >>> qid = [1, 1, 2, 2]
    >>> ndcg_score([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=qid, average=None).round(4)
    array([1.    , 0.6309])

    The value of LightGBM, which breaks ties by the order of the rows:

    >>> round(ndcg_score([2, 1, 0], [0.0, 0.0, 0.0], convention="lightgbm"), 4)
    1.0
    """
