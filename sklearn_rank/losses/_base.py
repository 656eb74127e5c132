"""What all losses share: lists of items with utilities in, value, gradient and curvature out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray

__all__ = ["Items", "LossOnLists", "TemplateLoss"]


@dataclass(frozen=True, eq=False)
class Items:
    """Items with utilities, list by list.

    Parameters
    ----------
    utility : ndarray of shape (n,)
        Utilities, at least 0.
    offsets : ndarray of shape (n_lists + 1,)
        Where each list begins, and n.
    weight : ndarray of shape (n,) or None
        How often each item counts; None is once.
    """

    utility: FloatArray
    offsets: IntArray
    weight: FloatArray | None

    @property
    def counts(self) -> FloatArray:
        """How often each item counts."""
        return np.ones(len(self.utility)) if self.weight is None else self.weight

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum of each list, items counted once."""
        return np.add.reduceat(values, self.offsets[:-1])

    def largest(self, values: FloatArray) -> FloatArray:
        """Largest value of each list."""
        return np.maximum.reduceat(values, self.offsets[:-1])

    def spread(self, by_list: AnyArray) -> Any:
        """Give each item the value of its list."""
        return np.repeat(by_list, np.diff(self.offsets))


class LossOnLists:
    """A loss of the scores of given items; made by :meth:`TemplateLoss.on`.

    Parameters
    ----------
    loss : TemplateLoss
        The loss.
    items : Items
        The items.
    query_weight : ndarray of shape (n_lists,) or None
        Factor of each list; None is 1.

    Examples
    --------
    >>> from sklearn_rank.losses import PairwiseSquared
    >>> loss = PairwiseSquared().on([0.0, 1.0, 0.0, 3.0], offsets=[0, 2, 4])
    >>> loss.value([0.0, 0.0, 0.0, 1.0])
    array([1., 4.])
    >>> loss.curvature([0.0, 0.0, 0.0, 1.0])
    array([2., 2., 2., 2.])
    """

    def __init__(self, loss: TemplateLoss, items: Items, query_weight: FloatArray | None) -> None:
        self.loss = loss
        self.items = items
        self.query_weight = query_weight
        self._prepared = loss._prepare(items)

    def value(self, score: Any) -> FloatArray:
        """Value of each list.

        Parameters
        ----------
        score : array-like of shape (n,)
            Finite scores.

        Returns
        -------
        ndarray of shape (n_lists,)
            Values, times the weights of the queries; infinite beyond the range of float64.
        """
        return self._by_list(self.loss._value(self._prepared, self._scores(score)))

    def value_and_gradient(self, score: Any) -> tuple[FloatArray, FloatArray]:
        """Value of each list, and the derivative of their sum by each score.

        Parameters
        ----------
        score : array-like of shape (n,)
            Finite scores.

        Returns
        -------
        values : ndarray of shape (n_lists,)
            As :meth:`value`.
        gradient : ndarray of shape (n,)
            Derivatives; a subgradient where the loss has a kink.
        """
        values, gradient = self.loss._value_and_gradient(self._prepared, self._scores(score))
        return self._by_list(values), self._by_item(gradient)

    def curvature(self, score: Any) -> FloatArray:
        """Diagonal of the matrix of second derivatives.

        Parameters
        ----------
        score : array-like of shape (n,)
            Finite scores.

        Returns
        -------
        ndarray of shape (n,)
            Second derivative by each score.
        """
        return self._by_item(self.loss._curvature(self._prepared, self._scores(score)))

    def hessian_product(self, score: Any, direction: Any) -> FloatArray:
        """Product of the matrix of second derivatives with a vector.

        Parameters
        ----------
        score : array-like of shape (n,)
            Finite scores.
        direction : array-like of shape (n,)
            The vector.

        Returns
        -------
        ndarray of shape (n,)
            The product.
        """
        direction = _floats(direction, "direction", len(self.items.utility))
        product = self.loss._hessian_product(self._prepared, self._scores(score), direction)
        return self._by_item(product)

    def _scores(self, score: Any) -> FloatArray:
        return _floats(score, "score", len(self.items.utility))

    def _by_list(self, values: FloatArray) -> FloatArray:
        return values if self.query_weight is None else product_or_zero(self.query_weight, values)

    def _by_item(self, values: FloatArray) -> FloatArray:
        if self.query_weight is None:
            return values
        return product_or_zero(self.items.spread(self.query_weight), values)


class TemplateLoss(ABC):
    """Base of the losses l(v, s) of utilities v and scores s, sums over the items of a list.

    A loss becomes the instance for a measure through the utilities of the measure,
    ``sklearn_rank.calibration.utility``.

    Examples
    --------
    >>> from sklearn_rank.losses import PointwiseSquared, TemplateLoss
    >>> isinstance(PointwiseSquared(), TemplateLoss)
    True
    >>> PointwiseSquared().minimizer([0.5, 2.0])
    array([0.5, 2. ])
    """

    is_order_preserving: bool = True
    is_convex: bool = True
    # Whether adding a constant to all scores of a list changes nothing.
    is_translation_invariant: bool = False
    # Whether second derivatives exist everywhere.
    is_smooth: bool = True
    # Whether second derivatives do not depend on the scores.
    is_quadratic: bool = False

    def on(
        self,
        utility: Any,
        offsets: Any = None,
        *,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> LossOnLists:
        """Take the loss of given items, as a function of their scores.

        Parameters
        ----------
        utility : array-like of shape (n,)
            Utilities v, finite, at least 0 and at most :attr:`largest_utility`.
        offsets : array-like of shape (n_lists + 1,), default=None
            Where each list begins, ascending from 0, and n. None is one list.
        sample_weight : array-like of shape (n,), default=None
            How often each item counts, at least 0; a pair counts as often as the product says.
        query_weight : array-like of shape (n_lists,), default=None
            Factor of each list, at least 0.

        Returns
        -------
        LossOnLists
            ``value``, ``value_and_gradient``, ``curvature`` and ``hessian_product`` of scores.

        Raises
        ------
        ValueError
            If a utility lies outside the domain of the loss, or shapes do not agree.
        """
        utility = _floats(utility, "utility", None)
        bad = ~((utility >= 0) & (utility <= self.largest_utility))
        if bad.any():
            first = int(np.argmax(bad))
            raise ValueError(
                f"utility is {utility[first]:g} at item {first}, but must lie in"
                f" [0, {self.largest_utility:g}] for {self!r}: raise eta above the largest"
                " utility, or shift the utilities."
            )
        bounds = _offsets(offsets, len(utility))
        weight = factor = None
        if sample_weight is not None:
            weight = _weights(sample_weight, "sample_weight", len(utility))
        if query_weight is not None:
            factor = _weights(query_weight, "query_weight", len(bounds) - 1)
        return LossOnLists(self, Items(utility, bounds, weight), factor)

    @property
    def largest_utility(self) -> float:
        """Largest utility in the domain; infinite where there is no limit."""
        return np.inf

    def minimizer(self, expected_utility: Any) -> FloatArray:
        """Find the scores of one list that minimise the expected loss, where they are known.

        Parameters
        ----------
        expected_utility : array-like of shape (n,)
            Expected utilities U of the items of one list.

        Returns
        -------
        ndarray of shape (n,)
            Scores, infinite where the infimum is reached in the limit only.

        Raises
        ------
        NotImplementedError
            If the minimiser has no closed form, or depends on more than expected utilities.
        """
        utility = _floats(expected_utility, "expected_utility", None)
        with np.errstate(divide="ignore"):
            return self._minimizer(utility)

    def regret_constant(self, max_utility: float | None = None) -> float:
        """Constant c of the regret bound of this loss.

        For a positional measure with discounts phi: regret <= c C_phi(2) sqrt(surrogate regret).

        Parameters
        ----------
        max_utility : float, default=None
            Supremum over all lists of the largest expected utility, for losses whose constant
            depends on it. It is a property of the distribution, which the largest of a sample may
            underestimate.

        Returns
        -------
        float
            The constant, for the loss as the sum that its definition says.

        Raises
        ------
        ValueError
            If there is no such constant, or ``max_utility`` is needed and absent.

        References
        ----------
        .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
           for order-preserving surrogate losses in learning to rank. Machine Learning 93, Eq. 9
           and Table 2.
        """
        if not self.is_order_preserving:
            raise ValueError(
                f"{self!r} is not order-preserving: no bound of the regret follows from it; use an"
                " order-preserving loss."
            )
        return self._regret_constant(max_utility)

    def _needed(self, max_utility: float | None) -> float:
        if max_utility is None or not 0 < max_utility < np.inf:
            raise ValueError(
                f"max_utility={max_utility!r}: the constant of {self!r} depends on the largest"
                " expected utility; pass a positive bound of it."
            )
        return float(max_utility)

    def _prepare(self, items: Items) -> Any:
        """What depends on the items alone; the other methods get it in their place."""
        return items

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        raise NotImplementedError(
            f"The minimiser of the expected loss has no closed form for {self!r}."
        )

    def _regret_constant(self, max_utility: float | None) -> float:
        raise ValueError(f"No constant is known for {self!r}.")

    def _value(self, prepared: Any, score: FloatArray) -> FloatArray:
        return self._value_and_gradient(prepared, score)[0]

    @abstractmethod
    def _value_and_gradient(
        self, prepared: Any, score: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Value of each list, and the gradient."""

    @abstractmethod
    def _curvature(self, prepared: Any, score: FloatArray) -> FloatArray:
        """Diagonal of the Hessian."""

    @abstractmethod
    def _hessian_product(
        self, prepared: Any, score: FloatArray, direction: FloatArray
    ) -> FloatArray:
        """Product with the Hessian."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({shown})"


def product_or_zero(factor: FloatArray, values: FloatArray) -> FloatArray:
    """Products in which a factor of zero leaves nothing, of an infinite value too."""
    with np.errstate(invalid="ignore"):
        return np.where(factor == 0, 0.0, factor * values)


def _floats(values: Any, name: str, length: int | None) -> FloatArray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numeric, got dtype {array.dtype}.")
    array = array.astype(np.float64, copy=False)
    if array.ndim != 1 or len(array) == 0 or (length is not None and len(array) != length):
        wanted = "at least one entry" if length is None else f"{length} entries"
        raise ValueError(f"{name} has shape {array.shape}: it must be one-dimensional, {wanted}.")
    if not np.isfinite(array).all():
        first = int(np.argmax(~np.isfinite(array)))
        raise ValueError(f"{name} is {array[first]:g} at item {first}: it must be finite.")
    return array


def _weights(values: Any, name: str, length: int) -> FloatArray:
    array = _floats(values, name, length)
    if array.min() < 0:
        first = int(np.argmin(array))
        raise ValueError(f"{name} is {array[first]:g} at entry {first}: it must be at least 0.")
    return array


def _offsets(offsets: Any, length: int) -> IntArray:
    if offsets is None:
        return np.array([0, length])
    array: AnyArray = np.asarray(offsets)
    if (
        array.dtype.kind not in "iu"
        or array.ndim != 1
        or len(array) < 2
        or array[0] != 0
        or array[-1] != length
        or np.any(np.diff(array.astype(np.int64)) <= 0)
    ):
        raise ValueError(
            f"offsets={array!r} must be integers that rise from 0 to {length}, the number of"
            " items: the place where each list begins, and the end."
        )
    return array.astype(np.int64)
