"""Baseline losses of other packages, which are not order-preserving."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._lists import Lists
from .._typing import FloatArray, IntArray
from .._validation import check_number
from ._base import ArrayPair, TemplateLoss, product_or_zero
from ._listwise import ListwiseSoftmax
from ._pairwise import LogisticPairs, _ByUtility, by_utility

# Scores whose squares, and sums of them, stay within float64.
LARGEST_SQUARED = 1e150


class ComparisonLogistic(LogisticPairs):
    """RankNet loss, ``sum over v_i > v_j of log(1 + exp(-(s_i - s_j)))``.

    It is not order-preserving: it learns which of two items has the higher label more often, and
    with noisy labels this need not be the item of greater expected utility.

    Notes
    -----
    O(n**2) time and O(n) memory for a list of n.

    References
    ----------
    .. [1] Burges, C. et al. (2005). Learning to rank using gradient descent. ICML.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Remark 2.

    Examples
    --------
    >>> from sklearn_rank.losses import ComparisonLogistic
    >>> ComparisonLogistic().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0]).round(4)
    array([2.0794])
    """

    is_order_preserving = False

    def _prepare(self, lists: Lists) -> _ByUtility:
        return by_utility(lists, comparison=True)


class _Levels(NamedTuple):
    """Items with the ranks of their utilities."""

    lists: Lists  # The items, with utilities
    level: IntArray  # (n,): How many smaller utilities their list has

    def window_sums(self, score: FloatArray, margin: float, payload: FloatArray) -> FloatArray:
        """Sums of payloads over the worse and the better partners of each item. (2, n, k)."""
        from ._pair_kernels import window_sums

        score, payload = np.ascontiguousarray(score), np.ascontiguousarray(payload)
        sums = np.empty((2, *payload.shape))
        window_sums(score, self.level, payload, margin, self.lists.offsets, *sums)
        return sums


def _unit(lists: Lists, centred: FloatArray) -> Any:
    """Power of two for each item in which the squares of the scores of its list do not overflow.

    It is 1 for all items as a rule.
    """
    size = np.abs(centred)
    if size.max() <= LARGEST_SQUARED:
        return 1.0
    largest = lists.to_items(lists.largest(size))
    return np.where(largest <= LARGEST_SQUARED, 1.0, np.exp2(np.floor(np.log2(largest))))


class _Hinge(TemplateLoss):
    """Base class of the two hinge losses."""

    is_order_preserving = False
    is_translation_invariant = True

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = check_number("margin", margin, 0.0, closed="neither")

    def _prepare(self, lists: Lists) -> _Levels:
        order = np.lexsort((lists.grade, lists.list_of))
        utility = lists.grade[order]
        is_new = np.zeros(len(order), dtype=np.int64)
        is_new[1:] = utility[1:] != utility[:-1]
        rank = np.cumsum(is_new)
        level = np.empty(len(order), dtype=np.int64)
        level[order] = rank - lists.to_items(rank[lists.offsets[:-1]])
        return _Levels(lists, level)


class ComparisonHinge(_Hinge):
    """Ranking SVM hinge loss, ``sum over v_i > v_j of max(0, margin - (s_i - s_j))``.

    It is not order-preserving. The gradient is a subgradient where the loss is not differentiable.
    The loss is piecewise linear, so second derivatives are not available.

    Parameters
    ----------
    margin : float, default=1.0
        Required score difference of a pair; positive.

    Notes
    -----
    O(n log n) time and O(n) memory, for any number of pairs.

    References
    ----------
    .. [1] Joachims, T. (2006). Training linear SVMs in linear time. KDD.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Remark 2.

    Examples
    --------
    >>> from sklearn_rank.losses import ComparisonHinge
    >>> ComparisonHinge().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.5])
    array([2.])
    """

    def _value_and_gradient(self, levels: _Levels, score: FloatArray) -> ArrayPair:
        lists, weight = levels.lists, levels.lists.counts
        centred = score - lists.to_items(lists.totals(score) / lists.lengths)
        payload = np.stack((weight, weight * centred), axis=1)
        worse, better = levels.window_sums(centred, self.margin, payload)
        lacking = worse[:, 0] * (self.margin - centred) + worse[:, 1]
        return lists.totals(weight * lacking), weight * (better[:, 0] - worse[:, 0])


class ComparisonSquaredHinge(_Hinge):
    """Pairwise squared hinge loss, ``sum over v_i > v_j of max(0, margin - (s_i - s_j))**2``.

    It is not order-preserving. Second derivatives are one-sided at discontinuities.

    Parameters
    ----------
    margin : float, default=1.0
        Required score difference of a pair; positive.

    Notes
    -----
    O(n log n) time and O(n) memory, for any number of pairs.

    References
    ----------
    .. [1] Lee, C.-P. and Lin, C.-J. (2014). Large-scale linear RankSVM. Neural Computation 26.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Remark 2.

    Examples
    --------
    >>> from sklearn_rank.losses import ComparisonSquaredHinge
    >>> ComparisonSquaredHinge().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.5])
    array([1.5])
    """

    def _value_and_gradient(self, levels: _Levels, score: FloatArray) -> ArrayPair:
        lists, weight = levels.lists, levels.lists.counts
        centred = score - lists.to_items(lists.totals(score) / lists.lengths)
        unit = _unit(lists, centred)
        scaled, margin = centred / unit, self.margin / unit
        payload = np.stack((weight, weight * scaled, weight * scaled**2), axis=1)
        worse, better = levels.window_sums(centred, self.margin, payload)
        short = margin - scaled
        squares = worse[:, 0] * short**2 + 2 * worse[:, 1] * short + worse[:, 2]
        pull = worse[:, 0] * short + worse[:, 1]
        push = better[:, 0] * (margin + scaled) - better[:, 1]
        if np.ndim(unit):
            # Rounding must not make of nothing a square below 0, which the unit would blow up.
            squares = np.maximum(squares, 0.0)
        with np.errstate(over="ignore"):
            squares = product_or_zero(weight * squares, np.square(unit))
            return lists.totals(squares), 2 * weight * (push - pull) * unit

    def _curvature(self, levels: _Levels, score: FloatArray) -> FloatArray:
        weight = levels.lists.counts
        worse, better = levels.window_sums(score, self.margin, weight[:, np.newaxis])
        return 2 * weight * (worse[:, 0] + better[:, 0])

    def _hessian_product(
        self, levels: _Levels, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        weight = levels.lists.counts
        payload = np.stack((weight, weight * direction), axis=1)
        sums = levels.window_sums(score, self.margin, payload).sum(axis=0)
        return 2 * weight * (sums[:, 0] * direction - sums[:, 1])


class ListwiseNormalizedSoftmax(ListwiseSoftmax):
    """ListNet loss: softmax cross-entropy with utilities divided by their sum.

    It is order-preserving for v / sum(v) but not for v, and therefore neither for DCG nor for
    NDCG.

    Notes
    -----
    A list whose utilities are all 0 has loss 0. O(n) time and memory.

    References
    ----------
    .. [1] Cao, Z., Qin, T., Liu, T.-Y., Tsai, M.-F. and Li, H. (2007). Learning to rank: from
       pairwise approach to listwise approach. ICML.

    Examples
    --------
    >>> from sklearn_rank.losses import ListwiseNormalizedSoftmax
    >>> ListwiseNormalizedSoftmax().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0]).round(4)
    array([1.0986])
    """

    is_order_preserving = False

    def _prepare(self, lists: Lists) -> Lists:
        # Lists of zeros stay zeros.
        sums = lists.totals(lists.counts * lists.grade)
        shares = lists.grade / lists.to_items(np.where(sums > 0, sums, 1.0))
        return lists.with_labels(shares)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        raise NotImplementedError(
            "The minimiser depends on the expectation of v / sum(v), not on the expectation of v."
        )
