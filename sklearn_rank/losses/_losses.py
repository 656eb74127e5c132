"""Pointwise and listwise losses, and the lookup of all losses by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from difflib import get_close_matches
from itertools import pairwise

import numpy as np
from scipy.special import expit

from .._lists import Lists
from .._typing import ArrayPair, FloatArray
from .._validation import check_flag, check_number
from ._base import LOSSES, TemplateLoss, product_or_zero


class PointwiseSquared(TemplateLoss, name="pointwise_squared"):
    """Pointwise squared loss, ``sum_i (v_i - s_i)**2``.

    The constant of the regret bound is sqrt(2).

    References
    ----------
    .. [1] Cossock, D. and Zhang, T. (2008). Statistical analysis of Bayes optimal subset ranking.
       IEEE Transactions on Information Theory 54.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseSquared
    >>> values, gradient = (
    ...     PointwiseSquared().on([0.0, 1.0, 3.0]).value_and_gradient([0, 0, 1])
    ... )
    >>> print(values, gradient)
    [5.] [ 0. -2. -4.]
    """

    regret_theorem = "Theorem 5.2"
    regret_source = "the constant of Table 2"

    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        residual = score - lists.grade
        weighted = lists.counts * residual
        with np.errstate(over="ignore"):
            return lists.totals(weighted * residual), 2 * weighted

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        return 2 * lists.counts

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        return 2 * lists.counts * vector

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return utility.copy()

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(2))


class _TwoSided(TemplateLoss):
    """Losses ``sum_i v_i a(s_i) + (eta - v_i) b(s_i)`` with a falling and b rising."""

    regret_theorem = "Theorem 5.2"
    regret_source = "the constant of Table 2"

    def __init__(self, eta: float = 1.0) -> None:
        self.eta = check_number("eta", eta, 0.0, closed="neither")

    @property
    def largest_utility(self) -> float:
        """Largest utility in the domain, ``eta``."""
        return self.eta

    # The functions a and b, and their first and second derivatives.

    @abstractmethod
    def _parts(self, score: FloatArray) -> ArrayPair: ...

    @abstractmethod
    def _slopes(self, score: FloatArray) -> ArrayPair: ...

    @abstractmethod
    def _curvatures(self, score: FloatArray) -> ArrayPair: ...

    def _mix(self, lists: Lists, parts: ArrayPair) -> FloatArray:
        falling = product_or_zero(lists.grade, parts[0])
        mixed = falling + product_or_zero(self.eta - lists.grade, parts[1])
        return mixed if lists.weight is None else product_or_zero(lists.weight, mixed)

    @np.errstate(over="ignore")
    def _value(self, lists: Lists, score: FloatArray) -> FloatArray:
        return lists.totals(self._mix(lists, self._parts(score)))

    @np.errstate(over="ignore")
    def _value_and_gradient(self, lists: Lists, score: FloatArray) -> ArrayPair:
        return self._value(lists, score), self._mix(lists, self._slopes(score))

    @np.errstate(over="ignore")
    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        return self._mix(lists, self._curvatures(score))

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        return product_or_zero(vector, self._curvature(lists, score))

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(self.eta))


class PointwiseLogistic(_TwoSided, name="pointwise_logistic"):
    """Pointwise logistic loss, ``sum_i v_i log(1 + exp(-s_i)) + (eta - v_i) log(1 + exp(s_i))``.

    The constant of the regret bound is ``sqrt(eta)``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseLogistic
    >>> PointwiseLogistic(eta=2.0).on([0.0, 2.0]).value([0.0, 1000.0]).round(3)
    array([1.386])
    """

    def _parts(self, score: FloatArray) -> ArrayPair:
        short = np.log1p(np.exp(-np.abs(score)))
        return short + np.maximum(-score, 0), short + np.maximum(score, 0)

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -expit(-score), expit(score)

    def _curvatures(self, score: FloatArray) -> ArrayPair:
        small = np.exp(-np.abs(score))
        curvature = small / np.square(1 + small)
        return curvature, curvature

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return np.log(utility) - np.log(self.eta - utility)


class PointwiseExponential(_TwoSided, name="pointwise_exponential"):
    """Pointwise exponential loss, ``sum_i v_i exp(-s_i) + (eta - v_i) exp(s_i)``.

    The constant of the regret bound is ``sqrt(eta)``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseExponential
    >>> PointwiseExponential().on([0.25]).value([0.0])
    array([1.])
    """

    def _parts(self, score: FloatArray) -> ArrayPair:
        return np.exp(-score), np.exp(score)

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -np.exp(-score), np.exp(score)

    _curvatures = _parts

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return 0.5 * (np.log(utility) - np.log(self.eta - utility))


class PointwiseSquaredHinge(_TwoSided, name="pointwise_squared_hinge"):
    """Pointwise squared hinge, ``sum_i v_i max(0, t - s_i)**2 + (eta - v_i) max(0, s_i)**2``.

    The constant of the regret bound is ``sqrt(2 eta) / t``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.
    t : float, default=1.0
        Score of an item of utility ``eta``; positive.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseSquaredHinge
    >>> PointwiseSquaredHinge(t=2.0).on([0.0, 1.0]).value([1.0, 1.0])
    array([2.])
    """

    def __init__(self, eta: float = 1.0, t: float = 1.0) -> None:
        super().__init__(eta)
        self.t = check_number("t", t, 0.0, closed="neither")

    def _parts(self, score: FloatArray) -> ArrayPair:
        return np.maximum(0, self.t - score) ** 2, np.maximum(0, score) ** 2

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -2 * np.maximum(0, self.t - score), 2 * np.maximum(0, score)

    def _curvatures(self, score: FloatArray) -> ArrayPair:
        return np.where(score < self.t, 2.0, 0.0), np.where(score > 0, 2.0, 0.0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return self.t * utility / self.eta

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(np.sqrt(2 * self.eta) / self.t)


class PointwiseDifferentiableHinge(_TwoSided, name="pointwise_differentiable_hinge"):
    """Pointwise differentiable hinge, ``sum_i v_i f(1 - s_i) + (eta - v_i) f(s_i)``.

    Here f(x) is 0 for x up to 0, ``x**2 / (2 width)`` up to the width, and ``x - width / 2``
    above. The constant of the regret bound is ``2 sqrt(eta max(width, 1 / width))``.

    Parameters
    ----------
    eta : float, default=1.0
        Upper limit of the utilities, positive and greater than the greatest expected utility.
    width : float, default=0.5
        Width of the quadratic part, alpha in the paper; positive.

    Notes
    -----
    The constant printed in the paper, ``4 sqrt(eta / width)`` for a width in (0, eta / 2), is
    invalid for a width above 2, and too large by a factor of 2 for a width up to 1.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Table 2.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseDifferentiableHinge
    >>> PointwiseDifferentiableHinge().on([0.0, 1.0]).value([0.0, 0.0])
    array([0.75])
    """

    regret_source = "a constant of ours, as that of Table 2 fails for a width above 2"

    def __init__(self, eta: float = 1.0, width: float = 0.5) -> None:
        super().__init__(eta)
        self.width = check_number("width", width, 0.0, closed="neither")

    def _parts(self, score: FloatArray) -> ArrayPair:
        return self._smoothed(1 - score), self._smoothed(score)

    def _slopes(self, score: FloatArray) -> ArrayPair:
        return -np.clip((1 - score) / self.width, 0, 1), np.clip(score / self.width, 0, 1)

    def _curvatures(self, score: FloatArray) -> ArrayPair:
        falls = (score < 1) & (score > 1 - self.width)
        rises = (score > 0) & (score < self.width)
        return falls.astype(np.float64) / self.width, rises.astype(np.float64) / self.width

    def _smoothed(self, x: FloatArray) -> FloatArray:
        short = np.clip(x, 0, self.width)
        return short**2 / (2 * self.width) + np.maximum(x - self.width, 0)

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        share = utility / self.eta
        with np.errstate(divide="ignore"):
            low = self.width * share / (1 - share)
            high = 1 - self.width * (1 - share) / share
        # Where both parts have curvature, the minimiser is the share itself.
        scores = np.where(low <= min(1 - self.width, self.width), low, share)
        return np.where(high >= max(1 - self.width, self.width), high, scores)

    def _regret_constant(self, max_utility: float | None) -> float:
        return float(2 * np.sqrt(self.eta * max(self.width, 1 / self.width)))


class ListwiseSoftmax(TemplateLoss, name="softmax"):
    """Listwise softmax cross-entropy loss, ``-sum_i v_i log softmax_i(s)``.

    The utilities are not divided by their sum; the loss that does so,
    :class:`ListwiseNormalizedSoftmax`, is not order-preserving for v. The constant of the regret
    bound is twice the square root of the greatest expected utility.

    Notes
    -----
    O(n) time and memory.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Eq. 5: up to
       a term in v alone it is a Bregman divergence.

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
        values = lists.totals(weighted * (lists.to_items(log_total) - score))
        return values, self._sums(lists) * share - weighted

    def _curvature(self, lists: Lists, score: FloatArray) -> FloatArray:
        share, _ = _softmax(lists, score)
        return self._sums(lists) * share * (1 - share)

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        share, _ = _softmax(lists, score)
        mean = lists.to_items(lists.totals(share * vector))
        return self._sums(lists) * share * (vector - mean)

    def _sums(self, lists: Lists) -> FloatArray:
        return lists.to_items(lists.totals(lists.counts * lists.grade))

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        return np.log(utility)


def _softmax(lists: Lists, score: FloatArray) -> ArrayPair:
    """Share of each item, all its repetitions together, and the logarithm of each list's total."""
    peak = lists.largest(score)
    weights = lists.counts * np.exp(score - lists.to_items(peak))
    total = lists.totals(weights)
    # A list without positive utility has no shares.
    total = np.where(total > 0, total, 1.0)
    return weights / lists.to_items(total), np.log(total) + peak


class ListwiseNormalizedSoftmax(ListwiseSoftmax, name="normalized_softmax", alias="listnet"):
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
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Machine Learning 93, Eq. 5 and
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
    regret_source = "the constant of Table 2"

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

    def _hessian_product(self, lists: Lists, score: FloatArray, vector: FloatArray) -> FloatArray:
        if self.pullback is not None or self.link_derivative is None:
            raise NotImplementedError(
                "Hessian products need link_derivative=, and a link inverse to psi_gradient."
            )
        product = np.empty(len(score))
        for begin, end in pairwise(lists.offsets):
            product[begin:end] = self.link_derivative(score[begin:end], vector[begin:end])
        return product

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        if self.inverse_link is None:
            raise NotImplementedError("The minimiser needs inverse_link=.")
        return np.asarray(self.inverse_link(utility), dtype=np.float64)

    def _regret_constant(self, max_utility: float | None) -> float:
        if self.mu is None:
            raise ValueError("The constant needs mu=, the strong convexity of psi.")
        return float(2 / np.sqrt(self.mu))


def get_loss_names(*, order_preserving: bool | None = None, aliases: bool = False) -> list[str]:
    """List the names of losses that :func:`get_loss` takes.

    Parameters
    ----------
    order_preserving : bool or None, default=None
        True lists the order-preserving losses, False the others, None all.
    aliases : bool, default=False
        Whether to include aliases: "ranknet" for "comparison_logistic", "listnet" for
        "normalized_softmax", "ranksvm" for "comparison_hinge". None of them is order-preserving.

    Returns
    -------
    list of str
        Sorted names.

    Examples
    --------
    >>> from sklearn_rank.losses import get_loss_names
    >>> get_loss_names(order_preserving=False)[:2]
    ['comparison_hinge', 'comparison_logistic']
    """
    if order_preserving is not None:
        check_flag("order_preserving", order_preserving)
    check_flag("aliases", aliases)
    return sorted(
        name
        for name, loss in LOSSES.items()
        if (aliases or name != loss._alias)
        and order_preserving in (None, loss().is_order_preserving)
    )


def get_loss(name: str, **parameters: float) -> TemplateLoss:
    """Get a ranking loss by its name.

    Parameters
    ----------
    name : str
        One of ``get_loss_names(aliases=True)``.
    **parameters : dict
        Parameters of the loss, such as ``eta``.

    Returns
    -------
    TemplateLoss
        The loss.

    Raises
    ------
    ValueError
        If there is no loss of this name.

    Examples
    --------
    >>> from sklearn_rank.losses import get_loss
    >>> get_loss("pointwise_logistic", eta=15.0)
    PointwiseLogistic(eta=15.0)
    >>> get_loss("ranknet")
    ComparisonLogistic()
    """
    if name not in LOSSES:
        all_names = get_loss_names(aliases=True)
        close = get_close_matches(str(name), all_names, n=1)
        names = f"did you mean {close[0]!r}? Names are" if close else "names are"
        raise ValueError(f"{name!r} is not the name of a loss: {names} {all_names}.")
    return LOSSES[name](**parameters)


def check_loss(loss: TemplateLoss | str) -> TemplateLoss:
    """Convert a name to a loss, or check that the argument is a loss."""
    if isinstance(loss, str):
        return get_loss(loss)
    if not isinstance(loss, TemplateLoss):
        raise TypeError(f"loss={loss!r} is not a loss: pass a TemplateLoss or the name of one.")
    return loss
