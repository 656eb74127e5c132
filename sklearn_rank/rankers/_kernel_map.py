"""Kernels of rankers: points into coordinates for a linear method, and its weights back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from .._solvers import check_definite, factorise_kernel
from .._typing import FloatArray, IntArray

__all__ = ["KernelMap"]

# Up to this many points the matrix is computed at once, beyond it by the columns that are needed.
MOST_AT_ONCE = 4096


class KernelMap:
    """A kernel with its parameters, as scikit-learn's kernel methods read them.

    Parameters
    ----------
    kernel : {"rbf", "poly", "precomputed"} or callable
        The kernel; a callable takes two rows and the parameters of ``kernel_params``.
    gamma, degree, coef0 : float
        Parameters of the named kernels; gamma None is ``1 / n_features``.
    kernel_params : dict or None
        Parameters of a callable.
    """

    def __init__(
        self, kernel: Any, gamma: Any, degree: Any, coef0: Any, kernel_params: Any
    ) -> None:
        self.kernel = kernel
        if callable(kernel):
            self.params = dict(kernel_params or {})
        else:
            self.params = {"gamma": gamma, "degree": degree, "coef0": coef0}

    def values(self, X: Any, Y: Any) -> FloatArray:
        """Values of the kernel between two sets of points.

        Parameters
        ----------
        X, Y : {array-like, sparse matrix} of shape (n, n_features), (m, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n, m)
            The values.
        """
        return np.asarray(
            pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **self.params)
        )

    def coordinates(self, X: Any, taken: IntArray) -> FloatArray:
        """Coordinates of some points, whose inner products are the values of the kernel.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, n_features) or (n, n)
            Points, or with ``kernel="precomputed"`` the kernel matrix.
        taken : ndarray of shape (m,)
            The rows to take.

        Returns
        -------
        ndarray of shape (m, rank)
            The coordinates.
        """
        if self.kernel == "precomputed":
            matrix = X[np.ix_(taken, taken)]
            size = np.abs(matrix).max()
            if np.abs(matrix - matrix.T).max() > 1e-8 * size:
                raise ValueError(
                    "The precomputed kernel matrix is not symmetric: pass K(X, X) to fit, and"
                    " K(X_test, X) to decision_function."
                )
        else:
            points = X[taken]
            matrix = None
            if callable(self.kernel) or len(taken) <= MOST_AT_ONCE:
                matrix = self.values(points, points)
        if matrix is not None:
            factor = factorise_kernel(lambda i: matrix[:, i], np.diag(matrix))
        else:
            factor = factorise_kernel(
                lambda i: self.values(points, points[i : i + 1])[:, 0], self._diagonal(points)
            )
        if self.kernel != "rbf":
            check_definite(
                factor,
                (lambda part: matrix[part])
                if matrix is not None
                else (lambda part: self.values(points[part], points)),
            )
        self._factor, self._taken = factor, taken
        return factor.rows

    def expansion(self, coef: FloatArray) -> tuple[IntArray, FloatArray]:
        """Weights of the coordinates as a sum of kernel functions.

        Parameters
        ----------
        coef : ndarray of shape (rank,)
            Weights of the coordinates that were given last.

        Returns
        -------
        support : ndarray of shape (rank,)
            Rows whose kernel functions are added.
        dual_coef : ndarray of shape (rank,)
            Their coefficients.
        """
        return self._taken[self._factor.support], self._factor.expansion(coef)

    def _diagonal(self, points: Any) -> FloatArray:
        """Values of a named kernel of each point with itself."""
        if self.kernel == "rbf":
            return np.ones(points.shape[0])
        square = points.multiply(points).sum(axis=1) if hasattr(points, "multiply") else None
        squares = np.sum(points**2, axis=1) if square is None else np.asarray(square).ravel()
        gamma = self.params["gamma"] or 1.0 / points.shape[1]
        return np.asarray((gamma * squares + self.params["coef0"]) ** self.params["degree"])
