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

    [1] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Problem (2) and
    Eq. (3).
    """

    rows: InMemoryDesign
    y: FloatArray
    cost: FloatArray  # (n_rows,): Positive cost of a unit of hinge loss
    mass: FloatArray  # (n_rows,): Positive weight of the row in the quantile of the scores
    pivots: IntArray  # (n_candidates,): Row number of each distinct point
    candidate_indices: IntArray
    samples: IntArray
    starts: IntArray  # (n_rows,): Where in ``samples`` those of each row start

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: FloatArray,
        cost: FloatArray,
        mass: FloatArray,
        coordinates: Callable[[IntArray], FloatArray] | None = None,
    ) -> PivotProblem:
        """Merge equal rows of one class and list the distinct points. The merged problem."""
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
        """Sum weights of the samples over those that were merged into one row. Shape (n_rows,)."""
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
        """Split pivots into tasks."""
        if pivots is None:
            pivots = self.pivots
        return [pivots[start : start + BLOCK_SIZE] for start in range(0, len(pivots), BLOCK_SIZE)]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.rows.shape[1]

    def scores(self, coef: FloatArray) -> FloatArray:
        """Score every row. ``coef . row``, up to a constant per weight vector."""
        scores = self.rows.scores(np.atleast_2d(coef).T).T
        return scores.reshape(*coef.shape[:-1], len(self.y))

    def objective(self, coef: FloatArray, scores: FloatArray, threshold: FloatArray) -> FloatArray:
        """Evaluate ``1/2 |w|^2 + sum_i c_i max(0, 1 - y_i (score_i - t))``. Shape (...)."""
        hinge = np.maximum(1.0 - self.y * (scores - np.asarray(threshold)[..., None]), 0.0)
        return np.asarray(0.5 * np.sum(coef**2, axis=-1) + hinge @ self.cost)


@dataclass(frozen=True, eq=False)
class PivotSolutions:
    """Solutions of the problems of several pivots, each with its certificate.

    The words are those of :class:`Certificate`, with one value for each pivot.
    """

    coef: FloatArray  # (n_pivots, n_features): Weight vectors
    objective: FloatArray  # (n_pivots,): Objective values at ``coef``
    lower_bound: FloatArray  # (n_pivots,): Values of a feasible dual point
    n_iter: IntArray  # (n_pivots,): Iterations taken
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
        """Hold the relative gaps against a tolerance."""
        converged = relative_gap(objective, lower_bound) <= tol
        return cls(coef, objective, lower_bound, n_iter, converged)

    @property
    def relative_gap(self) -> FloatArray:
        """Each objective exceeds its optimum by at most this share."""
        return relative_gap(self.objective, self.lower_bound)
