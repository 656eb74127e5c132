"""Losses of pairs of items: in order-preserving form, and those of other packages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._lists import Lists
from .._typing import ArrayPair, FloatArray, IntArray
from .._validation import check_number
from ._base import BLOCK, TemplateLoss, product_or_zero
from ._pair_sums import (
    LogisticPairs,
    Rectangles,
    WindowPairs,
    rectangles_of_all_pairs,
    rectangles_of_levels,
)


class PairwiseSquared(TemplateLoss, name="pairwise_squared"):
    """Pairwise squared loss, ``sum_{i<j} ((v_i - v_j) - (s_i - s_j))**2``.

    The constant of the regret bound is 1.

    Notes
    -----
    With residuals r = s - v and total weight W, the sum is ``W sum_i w_i (r_i - mean(r))**2``,
    computed in O(n) time and memory.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PairwiseSquared
    >>> PairwiseSquared().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0])
    array([14.])
    """

    is_translation_invariant = True
    regret_theorem = "Theorem 5.4"
    regret_source = "the constant of Table 2"

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        weight = lists.counts
        total = lists.totals(weight)
        residual = _centre(lists, score - lists.grade)
        weighted = weight * residual
        with np.errstate(over="ignore"):
            values = total * lists.totals(weighted * residual)
        return values, 2 * lists.to_items(total) * weighted

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        weight = lists.counts
        return 2 * weight * (lists.to_items(lists.totals(weight)) - weight)

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        weight = lists.counts
        total = lists.to_items(lists.totals(weight))
        return 2 * weight * total * _centre(lists, vector)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return utility - utility.mean()

    def _regret_constant(self, max_utility: float | None) -> float:
        return 1.0


def _centre(lists: Lists, values: FloatArray) -> FloatArray:
    """Values less the weighted mean of their list; 0 where the list weighs nothing."""
    weight = lists.counts
    total = lists.totals(weight)
    means = lists.totals(weight * values) / np.where(total > 0, total, 1.0)
    return values - lists.to_items(means)


class _Pairs(NamedTuple):
    """Items of each list by falling utility, so that the partners of an item are a stretch."""

    lists: Lists  # The items as they came, with utilities
    order: IntArray  # (n,): The items by list and falling utility
    factors: tuple[
        FloatArray, FloatArray
    ]  # (n,): In this order, of the items as rows and partners
    of_itself: FloatArray  # (n,): Factors of the pairs of an item and itself, which do not count
    sums: LogisticPairs

    def gradient(self, sums: FloatArray) -> FloatArray:
        """Gradient from sums of first derivatives at the rows and at the partners."""
        of_rows, of_partners = self.factors
        return self.as_they_came(of_partners * sums[1] - of_rows * sums[0])

    def as_they_came(self, values: FloatArray) -> FloatArray:
        by_item = np.empty_like(values)
        by_item[self.order] = values
        return by_item


class LogisticOfPairs(TemplateLoss):
    """Base class of the logistic losses of pairs, which differ in the pairs that count."""

    is_translation_invariant = True

    @abstractmethod
    def _pairs(
        self, lists: Lists, utility: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray, Rectangles]:
        """Factors of the items as rows and of their pairs with themselves, and the pairs."""

    def _prepare(self, lists: Lists) -> _Pairs:
        order = np.lexsort((-lists.grade, lists.list_of))
        utility, weight = lists.grade[order], lists.counts[order]
        of_rows, of_itself, rectangles = self._pairs(lists, utility, weight)
        sums = LogisticPairs(rectangles, lists, bool(np.any(weight != 1.0)))
        return _Pairs(lists, order, (of_rows, weight), of_itself, sums)

    def _value_and_gradient(self, pairs: _Pairs, score: FloatArray) -> ArrayPair:
        sums = pairs.sums.sums(score[pairs.order], (0, 1), pairs.factors)
        values = sums.lists - np.log(2.0) * pairs.lists.totals(pairs.of_itself)
        return values, pairs.gradient(sums.items[:, 1, 0])

    def _curvature(self, pairs: _Pairs, score: FloatArray) -> FloatArray:
        return self._gradient_and_curvature(pairs, score)[1]

    def _gradient_and_curvature(self, pairs: _Pairs, score: FloatArray) -> ArrayPair:
        sums = pairs.sums.sums(score[pairs.order], (1, 2), pairs.factors).items[:, :, 0]
        of_rows, of_partners = pairs.factors
        curvature = of_rows * sums[0, 1] + of_partners * sums[1, 1]
        curvature -= 0.5 * pairs.of_itself * of_partners
        return pairs.gradient(sums[:, 0]), pairs.as_they_came(curvature)

    def _hessian_product(self, pairs: _Pairs, score: FloatArray, vector: FloatArray) -> FloatArray:
        # About the mean, so that what a list has in common does not round what differs.
        lists, (of_rows, of_partners) = pairs.lists, pairs.factors
        centred = vector - lists.to_items(lists.totals(vector) / lists.lengths)
        centred = centred[pairs.order]
        both = pairs.factors, (of_rows * centred, of_partners * centred)
        sums = pairs.sums.sums(score[pairs.order], (2,), *both).items[:, 0]
        product = of_rows * (centred * sums[0, 0] - sums[0, 1])
        return pairs.as_they_came(product + of_partners * (centred * sums[1, 0] - sums[1, 1]))


def levels(lists: Lists, ordered: FloatArray) -> IntArray:
    """Number the different values of each list from 0, of values in order within a list."""
    new = np.append(False, ordered[1:] != ordered[:-1])
    new[lists.offsets[:-1]] = False
    number = np.cumsum(new)
    return number - lists.to_items(number[lists.offsets[:-1]])


class PairwiseLogistic(LogisticOfPairs, name="pairwise_logistic"):
    """Pairwise logistic loss, ``sum_{i<j} v_i log(1 + exp(-d)) + v_j log(1 + exp(d))``.

    Here d = s_i - s_j. Each item is compared with all other items of its list, including more
    relevant ones. The constant of the regret bound is twice the square root of the greatest
    expected utility.

    Notes
    -----
    O(r n) time for r items of positive utility in a short list of n; a long list takes O(n) time,
    by series of the logistic function. O(n) memory.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PairwiseLogistic
    >>> PairwiseLogistic().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0]).round(4)
    array([5.5452])
    """

    constant_grows = True
    regret_theorem = "Theorem 5.4"
    regret_source = "the constant of Table 2"

    def _pairs(
        self, lists: Lists, utility: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray, Rectangles]:
        factor = weight * utility
        return factor, factor, rectangles_of_all_pairs(lists, utility > 0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return np.log(utility)


class PairwiseExponential(TemplateLoss, name="pairwise_exponential"):
    """Pairwise exponential loss, ``sum_{i<j} v_i exp(-d) + v_j exp(d)``.

    Here d = s_i - s_j. The constant of the regret bound is twice the square root of the greatest
    expected utility.

    Notes
    -----
    The sum is ``sum_i v_i exp(-s_i) * sum_j exp(s_j) - sum_i v_i``, computed in logarithms, in
    O(n) time and memory. It is infinite only if the loss of a pair is.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PairwiseExponential
    >>> PairwiseExponential().on([0.0, 1.0]).value([-1000.0, 1000.0])
    array([0.])
    """

    is_translation_invariant = True
    constant_grows = True
    regret_theorem = "Theorem 5.4"
    regret_source = "the constant of Table 2"

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        log_falling, log_rising = self._sides(lists, score)
        weighted = lists.counts * lists.grade
        with np.errstate(over="ignore", invalid="ignore"):
            falling = np.exp(log_falling)
            # An item is not paired with itself, but with its own repetitions.
            least = lists.totals(lists.counts * weighted)
            values = np.maximum(lists.totals(falling), least) - lists.totals(weighted)
        return values, _signed_sum((log_rising, 1.0), (log_falling, -1.0))

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        log_falling, log_rising = self._sides(lists, score)
        with np.errstate(over="ignore"):
            both = np.exp(log_falling) + np.exp(log_rising)
        return both - 2 * lists.counts**2 * lists.grade

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        log_falling, log_rising = self._sides(lists, score)
        weight = lists.counts
        # Means of the vector under the two distributions over the partners of an item.
        up = _tilted_mean(lists, weight, score, vector)
        down = _tilted_mean(lists, weight * lists.grade, -score, vector)
        return _signed_sum((log_falling, vector - up), (log_rising, vector - down))

    def _sides(self, lists: Lists, score: FloatArray) -> ArrayPair:
        """Logarithms of v_i exp(-s_i) sum_j exp(s_j), and of exp(s_i) sum_j v_j exp(-s_j)."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(lists.counts)
            log_utility = np.log(lists.grade) + log_weight
            up = lists.to_items(_log_sum(lists, log_weight + score))
            down = lists.to_items(_log_sum(lists, log_utility - score))
        return log_utility - score + up, log_weight + score + down

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return 0.5 * np.log(utility)


def _signed_sum(*products: tuple[FloatArray, Any]) -> FloatArray:
    """Sum of two products of an exponential, given by its exponent, and a factor.

    Where both are infinite and of different signs the greater one counts.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = (product_or_zero(factor, np.exp(log)) for log, factor in products)
        total = np.asarray(a + b)
        opposed = np.isinf(a) & np.isinf(b) & (a != b)
        if opposed.any():
            log_a, log_b = (log + np.log(np.abs(factor)) for log, factor in products)
            greater = np.where(log_a > log_b, a, np.where(log_a < log_b, b, 0.0))
            total[opposed] = greater[opposed]
    return total


def _log_sum(lists: Lists, logarithms: FloatArray) -> FloatArray:
    """Logarithm of the sum of the exponentials of each list."""
    values, peak = _exponentials(lists, logarithms)
    return np.log(lists.totals(values)) + peak


def _exponentials(lists: Lists, logarithms: FloatArray) -> ArrayPair:
    """Exponentials as shares of the largest of each list, and the logarithms of these."""
    peak = lists.largest(logarithms)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    return np.exp(logarithms - lists.to_items(peak)), peak


def _tilted_mean(
    lists: Lists, weight: FloatArray, exponent: FloatArray, values: FloatArray
) -> FloatArray:
    """For each item the mean of its list, weighed by ``weight exp(exponent)``."""
    with np.errstate(divide="ignore"):
        share, _ = _exponentials(lists, np.log(weight) + exponent)
    total = lists.totals(share)
    return lists.to_items(lists.totals(share * values) / np.where(total > 0, total, 1.0))


class PairwiseConvex(TemplateLoss):
    """Pairwise loss of a convex function phi, ``sum_{i<j} v_i phi(d) + v_j phi(-d)``.

    Here d = s_i - s_j. It is order-preserving if phi is convex, nonincreasing and differentiable
    with phi'(0) < 0, and the infimum of the expected loss is attained.

    Parameters
    ----------
    phi : callable
        Function of an array of differences.
    derivative : callable
        Its derivative; negative at 0.
    second_derivative : callable or None, default=None
        Its second derivative, required for curvature and Hessian products.
    constant : float or None, default=None
        Constant of the regret bound, if known.

    Notes
    -----
    O(r n) time for r items of positive utility in a list of n. Pairs are processed in blocks, so
    that memory is O(n).

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Remark 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import PairwiseConvex
    >>> loss = PairwiseConvex(lambda d: np.exp(-d), lambda d: -np.exp(-d))
    >>> loss.on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0])
    array([8.])
    """

    is_translation_invariant = True
    regret_theorem = "Theorem 5.4"

    def __init__(
        self,
        phi: Callable[[FloatArray], FloatArray],
        derivative: Callable[[FloatArray], FloatArray],
        second_derivative: Callable[[FloatArray], FloatArray] | None = None,
        *,
        constant: float | None = None,
    ) -> None:
        _check_decreasing(phi, derivative)
        self.phi = phi
        self.derivative = derivative
        self.second_derivative = second_derivative
        self.constant = constant

    @property
    def has_curvature(self) -> bool:
        """Whether ``second_derivative`` is given."""
        return self.second_derivative is not None

    has_hessian_product = has_curvature

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        values, gradient = np.zeros(lists.n_lists), np.zeros(len(score))
        at_zero = float(np.asarray(self.phi(np.zeros(1)))[0])
        weight = lists.counts
        for q, rows, partners in _pair_blocks(lists):
            d = score[rows, np.newaxis] - score[partners]
            factor = weight[rows] * lists.grade[rows]
            values[q] += factor @ (np.asarray(self.phi(d)) @ weight[partners] - at_zero)
            slopes = factor[:, np.newaxis] * np.asarray(self.derivative(d)) * weight[partners]
            gradient[rows] += slopes.sum(axis=1)
            gradient[partners] -= slopes.sum(axis=0)
        return values, gradient

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        diagonal, weight = np.zeros(len(score)), lists.counts
        for _, rows, partners in _pair_blocks(lists):
            curvature = self._second_derivatives(lists, score, rows, partners)
            diagonal[rows] += curvature.sum(axis=1)
            diagonal[partners] += curvature.sum(axis=0)
        at_zero = float(np.asarray(self._second()(np.zeros(1)))[0])
        return diagonal - 2 * at_zero * weight**2 * lists.grade

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        product = np.zeros(len(score))
        for _, rows, partners in _pair_blocks(lists):
            curvature = self._second_derivatives(lists, score, rows, partners)
            curvature *= vector[rows, np.newaxis] - vector[partners]
            product[rows] += curvature.sum(axis=1)
            product[partners] -= curvature.sum(axis=0)
        return product

    def _second_derivatives(
        self, lists: Lists, score: FloatArray, rows: IntArray, partners: slice
    ) -> FloatArray:
        weight = lists.counts
        d = score[rows, np.newaxis] - score[partners]
        factor = (weight * lists.grade)[rows, np.newaxis] * weight[partners]
        return np.asarray(factor * self._second()(d))

    def _second(self) -> Callable[[FloatArray], FloatArray]:
        if self.second_derivative is None:
            raise NotImplementedError("There is no second derivative: pass second_derivative=.")
        return self.second_derivative

    def _regret_constant(self, max_utility: float | None) -> float:
        if self.constant is None:
            raise ValueError("The constant for this phi is not known: pass constant=.")
        return float(self.constant)


def _check_decreasing(
    phi: Callable[[FloatArray], FloatArray], derivative: Callable[[FloatArray], FloatArray]
) -> None:
    """Check at some points that a function is convex, falls at 0, and has this derivative."""
    points = np.linspace(-3, 3, 25)
    values, slopes = np.asarray(phi(points)), np.asarray(derivative(points))
    if values.shape != points.shape or slopes.shape != points.shape:
        raise ValueError("phi and derivative must return one value for each difference.")
    if not slopes[12] < 0:
        raise ValueError(f"derivative is {slopes[12]:g} at 0, but must be negative.")
    slack = 1e-9 * (np.abs(slopes).max() + 1)
    if np.any(np.diff(slopes) < -slack) or np.any(slopes > slack):
        raise ValueError(
            "phi must be convex and nonincreasing: its derivative rises, and is at most 0."
        )
    chord = np.diff(values) / np.diff(points)
    if np.any(chord < slopes[:-1] - slack) or np.any(chord > slopes[1:] + slack):
        raise ValueError("derivative is not the derivative of phi: check its sign and scale.")


def _pair_blocks(lists: Lists) -> Any:
    """Rows of positive utility with all items of their list, in blocks of bounded size."""
    relevant = (lists.grade > 0) & (lists.counts > 0)
    for q, (begin, end) in enumerate(pairwise(lists.offsets)):
        rows = begin + np.flatnonzero(relevant[begin:end])
        step = max(1, BLOCK // int(end - begin))
        for start in range(0, len(rows), step):
            yield q, rows[start : start + step], slice(begin, end)


class ComparisonLogistic(LogisticOfPairs, name="comparison_logistic", alias="ranknet"):
    """RankNet loss, ``sum over v_i > v_j of log(1 + exp(-(s_i - s_j)))``.

    It is not order-preserving: it learns which of two items has the higher label more often, and
    with noisy labels this need not be the item of greater expected utility.

    Notes
    -----
    O(n**2) time for a short list of n; a long one takes O(n log k) time for k different
    utilities, by series of the logistic function. O(n) memory.

    References
    ----------
    .. [1] Burges, C. et al. (2005). Learning to rank using gradient descent. ICML.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Remark 2.

    Examples
    --------
    >>> from sklearn_rank.losses import ComparisonLogistic
    >>> ComparisonLogistic().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0]).round(4)
    array([2.0794])
    """

    is_order_preserving = False

    def _pairs(
        self, lists: Lists, utility: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray, Rectangles]:
        rectangles = rectangles_of_levels(lists.list_of, levels(lists, utility))
        return weight, np.zeros_like(weight), rectangles


class _Windows(NamedTuple):
    """Items of each list by falling utility, so that the partners of an item are a stretch."""

    lists: Lists  # The items as they came, with utilities
    order: IntArray  # (n,): The items by list and falling utility
    pairs: WindowPairs

    def sums(self, score: FloatArray, margin: float, *payload: FloatArray) -> FloatArray:
        """Sums of payloads over the worse and the better partners of each item. (2, k, n)."""
        in_order = np.stack([values[self.order] for values in payload])
        by_item = np.empty((2, *in_order.shape))
        by_item[:, :, self.order] = self.pairs.sums(score[self.order], margin, in_order)
        return by_item


class _Hinge(TemplateLoss):
    """Base class of the two hinge losses."""

    is_order_preserving = False
    is_translation_invariant = True

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = check_number("margin", margin, 0.0, closed="neither")

    def _prepare(self, lists: Lists) -> _Windows:
        order = np.lexsort((-lists.grade, lists.list_of))
        level = levels(lists, lists.grade[order])
        return _Windows(lists, order, WindowPairs(lists, level))


class ComparisonHinge(_Hinge, name="comparison_hinge", alias="ranksvm"):
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
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Remark 2.

    Examples
    --------
    >>> from sklearn_rank.losses import ComparisonHinge
    >>> ComparisonHinge().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.5])
    array([2.])
    """

    def _value_and_gradient(self, windows: _Windows, score: FloatArray) -> ArrayPair:
        lists, weight = windows.lists, windows.lists.counts
        centred = score - lists.to_items(lists.totals(score) / lists.lengths)
        worse, better = windows.sums(centred, self.margin, weight, weight * centred)
        lacking = worse[0] * (self.margin - centred) + worse[1]
        return lists.totals(weight * lacking), weight * (better[0] - worse[0])


class ComparisonSquaredHinge(_Hinge, name="comparison_squared_hinge"):
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
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Remark 2.

    Examples
    --------
    >>> from sklearn_rank.losses import ComparisonSquaredHinge
    >>> ComparisonSquaredHinge().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.5])
    array([1.5])
    """

    def _value_and_gradient(self, windows: _Windows, score: FloatArray) -> ArrayPair:
        lists, weight = windows.lists, windows.lists.counts
        centred = score - lists.to_items(lists.totals(score) / lists.lengths)
        # A power of two for each list, so that the squares do not overflow.
        largest = np.maximum(lists.largest(np.abs(centred)), 1.0)
        unit = lists.to_items(np.exp2(np.floor(np.log2(largest))))
        scaled, margin = centred / unit, self.margin / unit
        payload = weight, weight * scaled, weight * scaled**2
        worse, better = windows.sums(centred, self.margin, *payload)
        short = margin - scaled
        squares = worse[0] * short**2 + 2 * worse[1] * short + worse[2]
        pull = worse[0] * short + worse[1]
        push = better[0] * (margin + scaled) - better[1]
        with np.errstate(over="ignore"):
            # Rounding may make 0 a square below 0, which the unit would enlarge.
            squares = product_or_zero(weight * np.maximum(squares, 0.0), np.square(unit))
            return lists.totals(squares), 2 * weight * (push - pull) * unit

    def _curvature(self, windows: _Windows, score: FloatArray) -> FloatArray:
        weight = windows.lists.counts
        worse, better = windows.sums(score, self.margin, weight)
        return 2 * weight * (worse[0] + better[0])

    def _hessian_product(
        self, windows: _Windows, score: FloatArray, vector: FloatArray
    ) -> FloatArray:
        weight = windows.lists.counts
        sums = windows.sums(score, self.margin, weight, weight * vector).sum(axis=0)
        return 2 * weight * (sums[0] * vector - sums[1])
