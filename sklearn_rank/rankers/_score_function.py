"""Linear and kernel scores: from a solution to fitted attributes, and from these to scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._solvers import as_design
from .._typing import FloatArray, IntArray
from ._fitting import forget
from ._kernel_map import KernelMap
from ._two_classes import TwoClasses

__all__ = [
    "KernelScores",
    "LinearScores",
    "ScoreFunction",
    "fitted_scores",
    "learned_scores",
    "rounding_of_sums",
    "store_scores",
]


def rounding_of_sums(terms: FloatArray, n_terms: int) -> FloatArray:
    """Bound the rounding errors of sums, given the sums of their absolute terms."""
    return np.asarray(terms * n_terms * np.finfo(np.float64).eps)


class ScoreFunction(ABC):
    """A function of rows that was learned: a weight vector times the rows or their images."""

    @abstractmethod
    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        """Fitted attributes, given which rows of ``fit`` the solution was learned from.

        They are those of the scores times ``direction``, +1 or -1.
        """

    @abstractmethod
    def scores(self, X: Any) -> FloatArray:
        """Scores of validated rows."""

    @abstractmethod
    def scores_of_fitted(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Scores of the rows that the solution was learned from, and bounds of their rounding.

        BLAS rounds equal rows differently at different positions in a matrix.
        """

    @abstractmethod
    def weight_norm(self, X: Any) -> float:
        """Norm of the weight vector; only a precomputed kernel needs X, the fitted matrix."""

    @abstractmethod
    def squared_norms(self, X: Any) -> FloatArray:
        """Squared norms of validated rows or of their images."""


class LinearScores(ScoreFunction):
    """Rows times coefficients."""

    def __init__(self, coef: FloatArray) -> None:
        self.coef = coef

    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        return {"coef_": direction * self.coef[np.newaxis]}

    def scores(self, X: Any) -> FloatArray:
        return as_design(X).scores(self.coef)

    def scores_of_fitted(self, X: Any) -> tuple[FloatArray, FloatArray]:
        scores, terms = as_design(X).scores_with_terms(self.coef)
        return scores, rounding_of_sums(terms, len(self.coef))

    def weight_norm(self, X: Any) -> float:
        return float(np.sqrt(self.coef @ self.coef))

    def squared_norms(self, X: Any) -> FloatArray:
        return as_design(X).squared_norms()


class KernelScores(ScoreFunction):
    """Kernel values with support rows times coefficients."""

    def __init__(
        self, kernel: KernelMap, dual_coef: FloatArray, support: IntArray, support_rows: Any
    ) -> None:
        self.kernel, self.dual_coef = kernel, dual_coef
        self.support, self.support_rows = support, support_rows

    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        attributes = {
            "dual_coef_": direction * self.dual_coef[np.newaxis],
            "support_": taken[self.support],
        }
        if not self.kernel.is_precomputed:
            attributes["X_fit_"] = self.support_rows
        return attributes

    def _values(self, X: Any) -> FloatArray:
        if self.kernel.is_precomputed:
            return np.asarray(X[:, self.support])
        return self.kernel.values(X, self.support_rows)

    def scores(self, X: Any) -> FloatArray:
        return np.asarray(self._values(X) @ self.dual_coef)

    def scores_of_fitted(self, X: Any) -> tuple[FloatArray, FloatArray]:
        values = self._values(X)
        terms = np.abs(values) @ np.abs(self.dual_coef)
        return values @ self.dual_coef, rounding_of_sums(terms, len(self.dual_coef))

    def weight_norm(self, X: Any) -> float:
        if self.kernel.is_precomputed:
            values = X[np.ix_(self.support, self.support)]
        else:
            values = self.kernel.values(self.support_rows, self.support_rows)
        return float(np.sqrt(max(self.dual_coef @ values @ self.dual_coef, 0.0)))

    def squared_norms(self, X: Any) -> FloatArray:
        return self.kernel.diagonal(X)


def learned_scores(kernel: KernelMap | None, coef: FloatArray, X: Any) -> ScoreFunction:
    """Score function of a solution. What was learned."""
    if kernel is None:
        return LinearScores(coef)
    support, dual_coef = kernel.expansion(coef)
    return KernelScores(kernel, dual_coef, support, None if kernel.is_precomputed else X[support])


def store_scores(estimator: Any, function: ScoreFunction, rows: TwoClasses) -> None:
    """Give an estimator its classes and its score function, and nothing of an earlier fit.

    What is stored scores the second class high, as in all of scikit-learn, whichever is positive.
    """
    forget(estimator, "coef_", "dual_coef_", "support_", "X_fit_")
    estimator.classes_, estimator.pos_label_ = rows.classes, rows.pos_label
    vars(estimator).update(function.attributes(rows.taken, rows.direction))


def fitted_scores(estimator: Any) -> ScoreFunction:
    """Score function of an estimator, from its parameters and fitted attributes."""
    kernel = KernelMap.of(estimator)
    if kernel is None:
        return LinearScores(estimator.coef_[0])
    rows = None if kernel.is_precomputed else estimator.X_fit_
    return KernelScores(kernel, estimator.dual_coef_[0], estimator.support_, rows)
