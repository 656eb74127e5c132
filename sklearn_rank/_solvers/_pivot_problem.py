"""The convex problems through a pivot: data, objective and dual value, shared by all solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ._design import DenseDesign, InMemoryDesign, as_design
from ._free_threshold import FreeThreshold
from ._hinge_rows import HingeRows
from ._result import relative_gap

__all__ = ["PivotProblem", "PivotSolutions", "most_blocks"]

BLOCK_SIZE = 32

# From how many features on, up to how many rows and rows per feature, a table of the inner
# products of all rows pays: systems of the rows with free multipliers are then looked up.
MIN_FEATURES_FOR_PRODUCTS, MOST_ROWS_FOR_PRODUCTS, ROWS_PER_FEATURE = 100, 4096, 8


def most_blocks(n_rows: int) -> int:
    """Count the blocks of problems that rows have if all are distinct."""
    return -(-n_rows // BLOCK_SIZE)


@dataclass(frozen=True, eq=False)
class PivotProblem:
    """Hinge loss around the score of a pivot, for every distinct row as the pivot.

    For the pivot ``z`` the problem is, over ``w`` in R^d, ::

        minimise 1/2 |w|^2 + sum_i c_i max(0, 1 - y_i w.(x_i - z)),

    Problem (2) of Boyd et al. (2012) with one cost per row; its dual is ::

        maximise sum_i a_i - 1/2 |sum_i a_i y_i (x_i - z)|^2  over 0 <= a_i <= c_i.

    Use :meth:`from_rows` to build one: it merges equal rows of one class into a row that carries
    their total cost, so that the problems are as small, and as few, as the data allow.

    Parameters
    ----------
    rows : InMemoryDesign of shape (n_rows, n_features)
        Distinct rows within each class, in an order that depends on their values only. Dense
        rows are centred, which changes none of the problems.
    y : ndarray of shape (n_rows,)
        +1 for rows to be scored above the pivot, -1 for rows to be scored below.
    cost : ndarray of shape (n_rows,)
        Positive cost of a unit of hinge loss.
    mass : ndarray of shape (n_rows,)
        Positive weight of the row in the quantile of the scores.
    pivots : ndarray of shape (n_candidates,)
        Row number of each distinct point.
    candidate_indices : ndarray of shape (n_candidates,)
        Where each distinct point stands first in the data that were merged.
    samples : ndarray of shape (n_samples,)
        The samples that were merged, those of one row together, in the order of the rows.
    starts : ndarray of shape (n_rows,)
        Where in ``samples`` those of each row start.

    See Also
    --------
    solve_accuracy_at_top : Solves all problems and selects one solution.

    Notes
    -----
    Memory is two copies of dense data (rows and columns), one of sparse data.

    References
    ----------
    .. [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Problem (2)
       and Eq. (3).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(
    ...     X, np.array([-1, 1, 1, 1]), np.ones(4), np.ones(4)
    ... )
    >>> problem.n_candidates, problem.cost
    (3, array([1., 1., 2.]))
    """

    rows: InMemoryDesign
    y: FloatArray
    cost: FloatArray
    mass: FloatArray
    pivots: IntArray
    candidate_indices: IntArray
    samples: IntArray
    starts: IntArray

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: FloatArray,
        cost: FloatArray,
        mass: FloatArray,
        coordinates: Callable[[IntArray], FloatArray] | None = None,
    ) -> PivotProblem:
        """Merge equal rows of one class and list the distinct points.

        Parameters
        ----------
        X : InMemoryDesign, ndarray or sparse matrix of shape (n_samples, n_features)
            The data.
        y : ndarray of shape (n_samples,)
            -1 or +1.
        cost, mass : ndarray of shape (n_samples,)
            Positive costs, and weights in the quantile; merged rows carry the sums.
        coordinates : callable or None, default=None
            Gives the points of the problem for some rows of ``X``; None is these rows.

        Returns
        -------
        PivotProblem
            The merged problem.
        """
        design = as_design(X)
        if not isinstance(design, InMemoryDesign):
            raise TypeError(
                f"X is a {type(design).__name__}: equal rows can be found in memory only."
            )
        design = design.canonical()
        keys = design.row_keys()
        order = sorted(range(len(keys)), key=lambda i: (keys[i], y[i], i))
        # Rows by value, not by position: the same data in another order, or with a weight
        # instead of a repetition, give the same arithmetic and so the same bits.
        starts: list[int] = []
        pivots: list[int] = []
        first: list[int] = []
        for position, i in enumerate(order):
            before = order[position - 1] if position else None
            if before is None or keys[i] != keys[before]:
                pivots.append(len(starts))
                first.append(i)
                starts.append(position)
            else:
                first[-1] = min(first[-1], i)
                if y[i] != y[before]:
                    starts.append(position)
        samples, first_samples = np.asarray(order), np.asarray(starts)
        taken = samples[first_samples]
        rows = design.rows(taken) if coordinates is None else DenseDesign(coordinates(taken))
        return cls(
            rows=rows.centred(),
            y=np.ascontiguousarray(y[taken], dtype=np.float64),
            cost=np.add.reduceat(cost[samples], first_samples),
            mass=np.add.reduceat(mass[samples], first_samples),
            pivots=np.asarray(pivots, dtype=np.int64),
            candidate_indices=np.asarray(first, dtype=np.int64),
            samples=samples,
            starts=first_samples,
        )

    def merged(self, weight: FloatArray) -> FloatArray:
        """Sum weights of the samples over those that were merged into one row.

        Parameters
        ----------
        weight : ndarray of shape (n_samples,)
            Such as other masses than the problem was made with.

        Returns
        -------
        ndarray of shape (n_rows,)
            The sums.
        """
        return np.add.reduceat(weight[self.samples], self.starts)

    @property
    def n_candidates(self) -> int:
        """Number of distinct points, each the pivot of one problem."""
        return len(self.pivots)

    @cached_property
    def products(self) -> FloatArray:
        """Inner products of all rows where there are many dense features, else empty."""
        few = self.n_features < max(MIN_FEATURES_FOR_PRODUCTS, len(self.y) / ROWS_PER_FEATURE)
        if few or not self.rows.is_dense or len(self.y) > MOST_ROWS_FOR_PRODUCTS:
            return np.empty((0, 0))
        return np.ascontiguousarray(self.rows.scores(self.rows.to_array().T))

    @cached_property
    def hinge_rows(self) -> HingeRows:
        """The rows as the compiled kernel takes them."""
        return HingeRows(self.rows, self.y, self.cost, self.products, np.arange(len(self.y)))

    @cached_property
    def free_threshold(self) -> FreeThreshold:
        """The problem without a pivot, from which those of all pivots start."""
        return FreeThreshold.of_rows(self.rows, self.y, self.cost)

    def blocks(self, pivots: IntArray | None = None) -> list[IntArray]:
        """Split pivots into tasks.

        Parameters
        ----------
        pivots : ndarray of shape (n_pivots,) or None, default=None
            Row numbers of the pivots; None is all of them.

        Returns
        -------
        list of ndarray
            The pivots, 32 at a time: a split that depends on no number of workers, so that
            neither does any rounding.
        """
        if pivots is None:
            pivots = self.pivots
        return [pivots[start : start + BLOCK_SIZE] for start in range(0, len(pivots), BLOCK_SIZE)]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.rows.shape[1]

    def scores(self, coef: FloatArray) -> FloatArray:
        """Score every row.

        Parameters
        ----------
        coef : ndarray of shape (..., n_features)
            One or several weight vectors.

        Returns
        -------
        ndarray of shape (..., n_rows)
            ``coef . row``, up to a constant per weight vector.
        """
        scores = self.rows.scores(np.atleast_2d(coef).T).T
        return scores.reshape(*coef.shape[:-1], len(self.y))

    def objective(self, coef: FloatArray, scores: FloatArray, threshold: FloatArray) -> FloatArray:
        """Evaluate ``1/2 |w|^2 + sum_i c_i max(0, 1 - y_i (score_i - t))``.

        Parameters
        ----------
        coef : ndarray of shape (..., n_features)
            Weight vectors ``w``.
        scores : ndarray of shape (..., n_rows)
            Their scores of the rows.
        threshold : ndarray of shape (...)
            The score ``t`` that positives should exceed and negatives stay below, each by 1.

        Returns
        -------
        ndarray of shape (...)
            Problem (2) where ``t`` is the score of the pivot, Problem (1) where it is the
            quantile of the scores.
        """
        hinge = np.maximum(1.0 - self.y * (scores - np.asarray(threshold)[..., None]), 0.0)
        return np.asarray(0.5 * np.sum(coef**2, axis=-1) + hinge @ self.cost)


@dataclass(frozen=True, eq=False)
class PivotSolutions:
    """Solutions of the problems of several pivots, each with its certificate.

    The words are those of :class:`Certificate`, with one value for each pivot.

    Parameters
    ----------
    coef : ndarray of shape (n_pivots, n_features)
        Weight vectors.
    objective : ndarray of shape (n_pivots,)
        Objective values at ``coef``.
    lower_bound : ndarray of shape (n_pivots,)
        Values of a feasible dual point.
    n_iter : ndarray of shape (n_pivots,)
        Iterations taken.
    converged : ndarray of bool of shape (n_pivots,)
        Whether the relative gap is at most the requested tolerance.

    See Also
    --------
    PivotProblem : The problems.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers import PivotProblem, solve_pivots_newton
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> problem = PivotProblem.from_rows(
    ...     X, np.array([-1, 1, 1]), np.ones(3), np.ones(3)
    ... )
    >>> solutions = solve_pivots_newton(problem, problem.pivots)
    >>> np.round(solutions.objective, 4)
    array([1.5   , 2.7222, 1.5   ])
    >>> bool(np.all(solutions.relative_gap <= 1e-6)), bool(np.all(solutions.converged))
    (True, True)
    """

    coef: FloatArray
    objective: FloatArray
    lower_bound: FloatArray
    n_iter: IntArray
    converged: BoolArray

    @classmethod
    def judged(
        cls,
        coef: FloatArray,
        objective: FloatArray,
        lower_bound: FloatArray,
        n_iter: IntArray,
        *,
        tol: float,
    ) -> PivotSolutions:
        """Hold the relative gaps against a tolerance.

        Parameters
        ----------
        coef, objective, lower_bound, n_iter : ndarray
            As for the class.
        tol : float
            Relative gap at which a problem counts as solved.

        Returns
        -------
        PivotSolutions
            The solutions.
        """
        converged = relative_gap(objective, lower_bound) <= tol
        return cls(coef, objective, lower_bound, n_iter, converged)

    @property
    def relative_gap(self) -> FloatArray:
        """Each objective exceeds its optimum by at most this share."""
        return relative_gap(self.objective, self.lower_bound)
