"""Base class of losses, and a loss of given items.

In this subpackage the labels of lists are utilities, and items may have weight 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np

from .._lists import Lists
from .._typing import AnyArray, ArrayPair, FloatArray, IntArray
from .._validation import check_vector

# Losses by their names here, and in other packages.
LOSSES: dict[str, type[TemplateLoss]] = {}


# Absolute score beyond which losses of differences subtract the first score of each list.
LARGE_SCORE = 1e3

# Number of items, or of pairs, that are evaluated at once.
BLOCK = 2**15


class LossOnLists:
    """Loss of given items as a function of their scores, made by :meth:`TemplateLoss.on`.

    Lists are independent. Threads evaluate parts of them, and end with the object. Scores of users
    are checked, scores of solvers are not.
    """

    def __init__(
        self, loss: TemplateLoss, lists: Lists, n_threads: int = 1, *, checks: bool = False
    ) -> None:
        loss._check_domain(lists)
        self._checks = checks
        self.loss, self.lists, self.is_convex = loss, lists, loss.is_convex
        self.has_curvature, self.has_hessian_product = loss.has_curvature, loss.has_hessian_product
        # The parts do not depend on the number of threads, which so changes no bit.
        parts, self._items = zip(*lists.parts(BLOCK), strict=True)
        self._prepared = [loss._prepare(part) for part in parts]
        n_threads = min(n_threads, len(parts))
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def value(self, score: Any) -> FloatArray:
        """Compute the loss of each list. Shape (n_lists,)."""
        return self._by_list(self._joined(self.loss._value, score))

    def value_and_gradient(self, score: Any) -> ArrayPair:
        """Compute the loss of each list and the gradient of their sum."""
        values, gradient = self._joined(self.loss._value_and_gradient, score)
        return self._by_list(values), self._by_item(gradient)

    def curvature(self, score: Any) -> FloatArray:
        """Compute the diagonal of the Hessian. Second derivative with respect to each score."""
        return self._by_item(self._joined(self.loss._curvature, score))

    def diagonal(self, score: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Compute the diagonal of the Hessian as solvers take it: never negative."""
        return np.maximum(self.curvature(score), 0.0), []

    def gradient_and_curvature(self, score: Any) -> ArrayPair:
        """Compute gradient and diagonal of the Hessian together, faster than separately."""
        gradient, curvature = self._joined(self.loss._gradient_and_curvature, score)
        return self._by_item(gradient), self._by_item(curvature)

    def hessian_product(self, score: Any, direction: Any) -> FloatArray:
        """Compute the product of the Hessian with a vector. Shape (n,)."""
        return self._by_item(self._joined(self.loss._hessian_product, score, direction=direction))

    def __repr__(self) -> str:
        return f"{self.loss!r} on {self.lists.n_lists} lists"

    def _joined(self, method: Callable[..., Any], score: Any, **directions: Any) -> Any:
        """Call a method of the loss for the lists of each thread, and join what it returns."""
        arrays = {"score": score, **directions}
        if self._checks:
            n = len(self.lists.labels)
            arrays = {name: check_vector(name, values, n) for name, values in arrays.items()}
        arrays["score"] = self._scores(arrays["score"])

        def of_part(prepared: Any, items: slice) -> Any:
            return method(prepared, *(array[items] for array in arrays.values()))

        run = map if self._pool is None else self._pool.map
        results = list(run(of_part, self._prepared, self._items))
        if len(results) == 1:
            return results[0]
        if isinstance(results[0], tuple):
            return tuple(map(np.concatenate, zip(*results, strict=True)))
        return np.concatenate(results)

    def _scores(self, score: FloatArray) -> FloatArray:
        if not self.loss.is_translation_invariant:
            return score
        # Sums of what the scores of a list have in common would round what differs.
        common = score[self.lists.offsets[:-1]]
        large = np.abs(common) > LARGE_SCORE
        if not large.any():
            return score
        # Each list by itself, so that other lists do not matter.
        return score - self.lists.to_items(np.where(large, common, 0.0))

    def _by_list(self, values: FloatArray) -> FloatArray:
        factor = self.lists.query_weight
        return values if factor is None else product_or_zero(factor, values)

    def _by_item(self, values: FloatArray) -> FloatArray:
        factor = self.lists.query_weight
        return values if factor is None else product_or_zero(self.lists.to_items(factor), values)


class TemplateLoss(ABC):
    """Base class of ranking losses l(v, s) of utilities v and scores s.

    A loss is a sum over the items of a list or over their pairs. To use it for a measure, take the
    utilities of the measure from ``sklearn_rank.calibration.utility``.

    Attributes
    ----------
    is_order_preserving : bool
        Whether the minimiser of the expected loss orders items by expected utility.
    is_translation_invariant : bool
        Whether adding a constant to all scores of a list leaves the loss unchanged.
    constant_grows : bool
        Whether the constant of the regret bound increases with the greatest expected utility.
    regret_theorem : str
        Theorem of the regret bound in Calauzènes et al. (2013).
    regret_source : str
        Source of the constant of the regret bound, as text.

    Notes
    -----
    To define a custom loss, write a subclass that sets ``is_order_preserving`` and defines
    ``_value_and_gradient(lists, score)``, which returns the loss of each list and the gradient of
    their sum. ``lists.grade`` holds the utilities, ``lists.counts`` the weights, and
    ``lists.totals`` sums values over each list. With
    ``_hessian_product(lists, score, direction)``, rankers use Newton's method. With
    ``_curvature(lists, score)``, the diagonal of the Hessian, it is faster.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import TemplateLoss
    >>> class Huber(TemplateLoss):
    ...     is_order_preserving = False
    ...
    ...     def _value_and_gradient(self, lists, score):
    ...         residual = score - lists.grade
    ...         slope = lists.counts * np.clip(residual, -1, 1)
    ...         return lists.totals(slope * residual - slope**2 / 2), slope
    >>> Huber().on([0.0, 3.0]).value([0.5, 1.0])
    array([1.625])
    """

    is_order_preserving: bool = True
    is_translation_invariant: bool = False
    constant_grows: ClassVar[bool] = False
    regret_theorem: ClassVar[str] = "Lemma 5.1"
    regret_source: ClassVar[str] = "the constant given with the loss"
    _alias: ClassVar[str]

    def __init_subclass__(cls, *, name: str = "", alias: str = "", **options: Any) -> None:
        """Enter a loss of the package in the table of names."""
        super().__init_subclass__(**options)
        cls._alias = alias
        LOSSES.update({key: cls for key in (name, alias) if key})

    @property
    def is_convex(self) -> bool:
        """Whether the loss is convex in the scores."""
        return True

    @property
    def has_curvature(self) -> bool:
        """Whether the diagonal of the Hessian is available."""
        return type(self)._curvature is not TemplateLoss._curvature

    @property
    def has_hessian_product(self) -> bool:
        """Whether products with the Hessian are available."""
        return type(self)._hessian_product is not TemplateLoss._hessian_product

    def on(
        self,
        utility: Any,
        offsets: Any = None,
        *,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> LossOnLists:
        """Bind the loss to given items, as a function of their scores.

        Parameters
        ----------
        utility : array-like of shape (n,)
            Utilities v, finite, at least 0 and at most :attr:`largest_utility`.
        offsets : array-like of shape (n_lists + 1,), default=None
            Start index of each list, ascending from 0, followed by n. None is one list.
        sample_weight : array-like of shape (n,), default=None
            Number of times each item counts, at least 0. A pair counts as the product of the two
            weights.
        query_weight : array-like of shape (n_lists,), default=None
            Weight of each list, at least 0.

        Returns
        -------
        LossOnLists
            An object with the methods ``value(score)``, ``value_and_gradient(score)``,
            ``curvature(score)``, ``gradient_and_curvature(score)`` and
            ``hessian_product(score, direction)``. There is one value for each list, and one
            derivative of the sum over lists for each item.

        Raises
        ------
        ValueError
            If a utility is outside the domain of the loss, or shapes do not match.
        """
        utility = check_vector("utility", utility)
        bounds = _check_offsets(offsets, len(utility))
        weight = factor = None
        if sample_weight is not None:
            weight = check_vector("sample_weight", sample_weight, len(utility), lowest=0.0)
        if query_weight is not None:
            factor = check_vector("query_weight", query_weight, len(bounds) - 1, lowest=0.0)
        lists = Lists(labels=utility, offsets=bounds, weight=weight, query_weight=factor)
        return LossOnLists(self, lists, checks=True)

    def _check_domain(self, lists: Lists) -> None:
        utility = lists.grade
        bad = ~((utility >= 0) & (utility <= self.largest_utility))
        if bad.any():
            index = int(np.argmax(bad))
            row = index if lists.rows is None else int(lists.rows[index])
            raise ValueError(
                f"utility is {utility[index]:g} at row {row}, but must be in [0, "
                f"{self.largest_utility:g}] for {self!r}: raise eta above the greatest utility, "
                "or shift the utilities."
            )

    @property
    def largest_utility(self) -> float:
        """Upper limit of utilities; infinite if there is none."""
        return np.inf

    def minimizer(self, expected_utility: Any) -> FloatArray:
        """Compute the scores of one list that minimise the expected loss, if known in closed form.

        Parameters
        ----------
        expected_utility : array-like of shape (n,)
            Expected utilities U of the items of one list.

        Returns
        -------
        ndarray of shape (n,)
            Scores; infinite if the infimum is reached only in the limit.

        Raises
        ------
        NotImplementedError
            If the minimiser has no closed form, or depends on more than expected utilities.
        """
        utility = check_vector("expected_utility", expected_utility)
        with np.errstate(divide="ignore"):
            return self._minimizer(utility)

    def regret_constant(self, max_utility: float | None = None) -> float:
        """Compute the constant c of the regret bound of this loss.

        For a positional measure with discounts phi, the bound is
        ``regret <= c C_phi(2) sqrt(surrogate regret)``.

        Parameters
        ----------
        max_utility : float, default=None
            Supremum over all lists of the greatest expected utility, for losses whose constant
            depends on it. It is a property of the distribution; the maximum of a sample can
            underestimate it.

        Returns
        -------
        float
            The constant, for the loss as the sum in its definition.

        Raises
        ------
        ValueError
            If no such constant exists, or ``max_utility`` is required and missing.

        References
        ----------
        .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
           for order-preserving surrogate losses in learning to rank. Machine Learning 93, Eq. 9
           and Table 2.
        """
        if not self.is_order_preserving:
            raise ValueError(
                f"{self!r} is not order-preserving, so it has no regret bound: use one that is."
            )
        return self._regret_constant(max_utility)

    def _regret_constant(self, max_utility: float | None) -> float:
        """Twice the square root of the greatest expected utility, if the constant grows."""
        if not self.constant_grows:
            raise ValueError(f"No constant is known for {self!r}.")
        if max_utility is None or not 0 < max_utility < np.inf:
            raise ValueError(
                f"max_utility={max_utility!r} is not valid: the constant of {self!r} depends on "
                "the greatest expected utility; pass a positive upper bound of it."
            )
        return float(2 * np.sqrt(float(max_utility)))

    def _prepare(self, lists: Lists) -> Any:
        """Find what depends on the utilities alone; the other methods get it in their place."""
        return lists

    def _minimizer(self, utility: FloatArray) -> FloatArray:
        raise NotImplementedError(f"The minimiser of the loss has no closed form for {self!r}.")

    def _value(self, prepared: Any, score: FloatArray) -> FloatArray:
        return self._value_and_gradient(prepared, score)[0]

    @abstractmethod
    def _value_and_gradient(self, prepared: Any, score: FloatArray) -> ArrayPair:
        """Value of each list, and the gradient."""

    def _curvature(self, prepared: Any, score: FloatArray) -> FloatArray:
        """Diagonal of the Hessian; a loss need not have it."""
        raise NotImplementedError(f"The diagonal of the Hessian of {self!r} is not known.")

    def _gradient_and_curvature(self, prepared: Any, score: FloatArray) -> ArrayPair:
        """Gradient and diagonal of the Hessian, where one pass need not be two."""
        return self._value_and_gradient(prepared, score)[1], self._curvature(prepared, score)

    def _hessian_product(self, prepared: Any, score: FloatArray, vector: FloatArray) -> FloatArray:
        """Product with the Hessian; a loss need not have it."""
        raise NotImplementedError(f"Hessian products of {self!r} are not known.")

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"


def product_or_zero(factor: FloatArray, values: FloatArray) -> FloatArray:
    """Products in which a factor of zero leaves nothing, of an infinite value too."""
    with np.errstate(invalid="ignore"):
        product = np.asarray(factor * values)
    lost = np.isnan(product)
    if lost.any():
        product[lost & (factor == 0)] = 0.0
    return product


def _check_offsets(offsets: Any, length: int) -> IntArray:
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
            f"offsets={array!r} must be integers that increase from 0 to {length}, the number of "
            "items: the start index of each list, followed by the end."
        )
    return array.astype(np.int64)
