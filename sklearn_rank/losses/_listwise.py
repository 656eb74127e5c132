"""Listwise losses: Bregman divergences and the softmax of a list."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from .._lists import Lists
from .._typing import FloatArray
from .._validation import check_number
from ._base import CONSTANT_OF_TABLE, ArrayPair, TemplateLoss


class ListwiseSoftmax(TemplateLoss):
    """Listwise softmax cross-entropy loss, ``-sum_i v_i log softmax_i(s)``.

    The utilities are not divided by their sum; the loss that does so,
    :class:`ListwiseNormalizedSoftmax`, is not order-preserving for v. The constant of the regret
    bound is twice the square root of the greatest expected utility.

    Notes
    -----
    O(n) time and memory.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Eq. 5: up
       to a term in v alone it is a Bregman divergence.

    Examples
    --------
    >>> from sklearn_rank.losses import ListwiseSoftmax
    >>> ListwiseSoftmax().on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0]).round(4)
    array([4.3944])
    """

    is_translation_invariant = True
    constant_grows = True
    regret_source = "a constant of ours"

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        share, log_total = _softmax(lists, score)
        weighted = lists.counts * lists.grade
        sums = lists.totals(weighted)
        values = lists.totals(weighted * (lists.to_items(log_total) - score))
        return values, lists.to_items(sums) * share - weighted

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        share, _ = _softmax(lists, score)
        return self._sums(lists) * share * (1 - share)

    def _hessian_product(
        self, lists: Lists, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        share, _ = _softmax(lists, score)
        mean = lists.to_items(lists.totals(share * direction))
        return self._sums(lists) * share * (direction - mean)

    def _sums(self, lists: Lists) -> FloatArray:
        return lists.to_items(lists.totals(lists.counts * lists.grade))

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return np.log(utility)

    def _regret_constant(self, max_utility: float | None) -> float:
        return self._root_constant(max_utility)


def _softmax(lists: Lists, score: FloatArray) -> ArrayPair:
    """Share of each item, all its repetitions together, and the logarithm of each list's total."""
    peak = lists.largest(score)
    weights = lists.counts * np.exp(score - lists.to_items(peak))
    total = lists.totals(weights)
    # A list without positive utility has no shares.
    total = np.where(total > 0, total, 1.0)
    return weights / lists.to_items(total), np.log(total) + peak


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


class ListwiseBregman(TemplateLoss):
    """Listwise Bregman divergence of utilities and linked scores, ``B(v || g(s))``.

    ``B(v || u) = psi(v) - psi(u) - <grad psi(u), v - u>`` for a strictly convex psi. The link g
    preserves the order of the scores, and the closure of its range contains the utilities.

    Parameters
    ----------
    psi : callable
        Function of the utilities of one list, an array, to a number.
    psi_gradient : callable
        Its gradient.
    link : callable
        The link g, from the scores of one list to values in the domain of psi.
    pullback : callable or None, default=None
        ``pullback(s, r)`` is the product of r with the transposed Jacobian of
        ``psi_gradient(link(s))`` in s. None means that this map is the identity: the link is the
        inverse of the gradient, and the loss is convex.
    link_derivative : callable or None, default=None
        ``link_derivative(s, d)`` is the derivative of the link along d. With ``pullback=None`` it
        provides Hessian products.
    inverse_link : callable or None, default=None
        Inverse of the link, for :meth:`minimizer`.
    mu : float or None, default=None
        Strong convexity constant of psi, positive. The constant of the regret bound is
        ``2 / sqrt(mu)``.

    Notes
    -----
    Weights of items raise an error, since repetition of an item is not defined for a function of a
    whole list.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Eq. 5 and
       Theorem 5.3.
    .. [2] Ravikumar, P., Tewari, A. and Yang, E. (2011). On NDCG consistency of listwise ranking
       methods. AISTATS.

    Examples
    --------
    The Poisson deviance has ``psi(u) = sum(u log u - u)`` and the link exp:

    >>> import numpy as np
    >>> from scipy.special import xlogy
    >>> from sklearn_rank.losses import ListwiseBregman
    >>> loss = ListwiseBregman(
    ...     psi=lambda u: np.sum(xlogy(u, u) - u), psi_gradient=np.log, link=np.exp
    ... )
    >>> loss.on([0.0, 1.0, 3.0]).value([0.0, 0.0, 0.0]).round(4)
    array([2.2958])
    """

    regret_theorem = "Theorem 5.3"
    regret_source = CONSTANT_OF_TABLE

    def __init__(
        self,
        psi: Callable[[FloatArray], float],
        psi_gradient: Callable[[FloatArray], FloatArray],
        link: Callable[[FloatArray], FloatArray],
        *,
        pullback: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
        link_derivative: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
        inverse_link: Callable[[FloatArray], FloatArray] | None = None,
        mu: float | None = None,
    ) -> None:
        if mu is not None:
            check_number("mu", mu, 0.0, closed="neither", what="or None")
        self.psi = psi
        self.psi_gradient = psi_gradient
        self.link = link
        self.pullback = pullback
        self.link_derivative = link_derivative
        self.inverse_link = inverse_link
        self.mu = mu

    @property
    def is_convex(self) -> bool:
        """Whether the loss is known to be convex: the link inverts the gradient of psi."""
        return self.pullback is None

    def _prepare(self, lists: Lists) -> Lists:
        if lists.weight is not None and np.any(lists.weight != 1):
            raise ValueError(
                "ListwiseBregman takes no sample_weight, since repetition of an item is not "
                "defined for a divergence of whole lists: weight lists by query_weight."
            )
        return lists

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        values = np.empty(lists.n_lists)
        gradient = np.empty(len(score))
        for q, (begin, end) in enumerate(pairwise(lists.offsets)):
            s, v = score[begin:end], lists.grade[begin:end]
            u = np.asarray(self.link(s), dtype=np.float64)
            slope = np.asarray(self.psi_gradient(u), dtype=np.float64)
            values[q] = self.psi(v) - self.psi(u) - slope @ (v - u)
            if self.pullback is not None:
                gradient[begin:end] = self.pullback(s, u - v)
                continue
            if not np.allclose(slope, s, rtol=1e-6, atol=1e-6):
                raise ValueError(
                    "psi_gradient(link(s)) differs from s, so that the link is not the inverse "
                    "of psi_gradient: pass pullback=."
                )
            gradient[begin:end] = u - v
        return values, gradient

    @property
    def has_hessian_product(self) -> bool:
        """Whether Hessian products are available, through the derivative of the link."""
        return self.pullback is None and self.link_derivative is not None

    def _hessian_product(
        self, lists: Lists, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        if self.pullback is not None or self.link_derivative is None:
            raise NotImplementedError(
                "Hessian products need link_derivative=, and a link that is the inverse of"
                " psi_gradient."
            )
        product = np.empty(len(score))
        for begin, end in pairwise(lists.offsets):
            product[begin:end] = self.link_derivative(score[begin:end], direction[begin:end])
        return product

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        if self.inverse_link is None:
            raise NotImplementedError("The minimiser needs inverse_link=.")
        return np.asarray(self.inverse_link(utility), dtype=np.float64)

    def _regret_constant(self, max_utility: float | None) -> float:
        if self.mu is None:
            raise ValueError(
                "The constant of the regret bound needs mu=, the strong convexity of psi."
            )
        return float(2 / np.sqrt(self.mu))
