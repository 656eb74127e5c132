"""Kernels of rankers: coordinates of points for linear methods, and dual coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from .._solvers import (
    Design,
    as_design,
    as_kernel_design,
    check_definite,
    factorise_kernel,
    factorise_kernel_matrix,
)
from .._typing import FloatArray, IntArray
from ._row_keys import summed

__all__ = ["KernelMap"]

# Up to this many points the matrix is computed at once, beyond it by the columns that are needed.
MOST_AT_ONCE = 4096

# Positive definite kernels that are 1 at distance 0.
OF_DISTANCES = ("rbf", "laplacian")


class KernelMap:
    """A kernel with its parameters, as scikit-learn's kernel methods read them."""

    def __init__(
        self, kernel: Any, gamma: Any, degree: Any, coef0: Any, kernel_params: Any
    ) -> None:
        self.kernel = kernel
        if callable(kernel):
            self.params = dict(kernel_params or {})
        else:
            self.params = {"gamma": gamma, "degree": degree, "coef0": coef0}

    @classmethod
    def of(cls, estimator: Any) -> KernelMap | None:
        """Read the parameters of an estimator. Its kernel; None for ``kernel="linear"``."""
        if estimator.kernel == "linear":
            return None
        return cls(
            estimator.kernel,
            estimator.gamma,
            estimator.degree,
            estimator.coef0,
            estimator.kernel_params,
        )

    @property
    def is_precomputed(self) -> bool:
        """Whether rows are rows of the kernel matrix."""
        return bool(self.kernel == "precomputed")

    def values(self, X: Any, Y: Any) -> FloatArray:
        """Values of the kernel between two sets of points. Shape (n, m)."""
        # Scikit-learn takes squares of stored entries.
        points, others = (summed(rows) if sp.issparse(rows) else rows for rows in (X, Y))
        return np.asarray(
            pairwise_kernels(points, others, metric=self.kernel, filter_params=True, **self.params)
        )

    def design(self, X: Any) -> Design:
        """Coordinates of points, whose inner products are the values of the kernel."""
        rows = self.coordinates(X, np.arange(X.shape[0]))
        return as_kernel_design(rows, self._matrix)

    def coordinates(self, X: Any, taken: IntArray) -> FloatArray:
        """Coordinates of some points, as :meth:`design` has them of all. Shape (m, rank)."""
        matrix: FloatArray | None = None
        if self.is_precomputed:
            matrix = self._symmetric(X[np.ix_(taken, taken)])
        else:
            points = X[taken]
            if callable(self.kernel) or len(taken) <= MOST_AT_ONCE:
                matrix = self.values(points, points)
        if matrix is not None:
            factor = factorise_kernel_matrix(matrix)
        else:
            factor = factorise_kernel(
                lambda i: self.values(points, points[i : i + 1])[:, 0], self.diagonal(points)
            )
        if self.kernel not in OF_DISTANCES:
            check_definite(
                factor,
                lambda part: (
                    matrix[part] if matrix is not None else self.values(points[part], points)
                ),
            )
        self._factor, self._taken, self._matrix = factor, taken, matrix
        return factor.rows

    def _symmetric(self, matrix: FloatArray) -> FloatArray:
        """Refuse a matrix that is not symmetric."""
        if np.abs(matrix - matrix.T).max() > 1e-8 * np.abs(matrix).max():
            raise ValueError(
                "The precomputed kernel matrix is not symmetric: pass K(X, X) to fit, and"
                " K(X_test, X) to decision_function."
            )
        return matrix

    def expansion(self, coef: FloatArray) -> tuple[IntArray, FloatArray]:
        """Weights of the coordinates as a sum of kernel functions."""
        return self._taken[self._factor.support], self._factor.expansion(coef)

    def diagonal(self, X: Any) -> FloatArray:
        """Values of the kernel of each point with itself, the squared norms of their images.

        Shape (n,).
        """
        if self.is_precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"X of shape {X.shape} is not the kernel matrix of the training rows, whose "
                    "diagonal holds their squared norms: pass the matrix that was passed to fit."
                )
            return np.diag(X)
        if callable(self.kernel):
            points = (X[i : i + 1] for i in range(X.shape[0]))
            return np.array([self.values(point, point)[0, 0] for point in points])
        if self.kernel in OF_DISTANCES:
            return np.ones(X.shape[0])
        gamma = self.params["gamma"] or 1.0 / X.shape[1]
        inner = gamma * as_design(X).squared_norms() + self.params["coef0"]
        return np.asarray(inner ** self.params["degree"])
