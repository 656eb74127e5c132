"""The problem with a free threshold, from which solutions of all pivots are predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, IntArray
from ._design import DenseDesign, InMemoryDesign, SparseDesign
from ._hinge_rows import HingeRows

__all__ = ["FreeThreshold"]

# The hinge is smoothed over this half width, in units of the margin. On 3,000 to 10,000 rows of
# 44 to 50 features, .1 to .4 predict alike, .02 twice as badly.
SMOOTHED = 0.2

# The relative gap and the most steps of this problem, whose solution is only a start.
TOLERANCE = 1e-3
MAX_ITER = 100

# The threshold is the weight of a constant feature, this many times as long as the rows, so that
# its share of the penalty does not count.
CONSTANT = 10.0


@dataclass(frozen=True, eq=False)
class FreeThreshold:
    """Solution of ``min over w and t of 1/2 |w|^2 + sum_i c_i max(0, 1 - y_i (w.x_i - t))``.

    The problem of a pivot z is the same under the constraint ``w.z = t``, so that its solution is
    near the minimiser, under this constraint, of a quadratic model.
    """

    constant: float  # Value of the constant feature that every row has besides
    coef: FloatArray  # (n_features + 1,): Weights, of the constant too
    margins: FloatArray  # (n_rows,): ``u_i = 1 - y_i (w.x_i - t)``
    multipliers: FloatArray  # (n_rows,): Share of the cost that each row bears, from 0 to 1
    near: BoolArray  # (n_rows,): The rows with a margin about 0, which the model counts
    system: System  # The model's second derivatives

    @classmethod
    def of_rows(
        cls,
        rows: InMemoryDesign,
        y: FloatArray,
        cost: FloatArray,
    ) -> FreeThreshold:
        """Solve the problem, roughly, and factorise the model."""
        with np.errstate(over="ignore", invalid="ignore"):
            return cls._of_rows(rows, y, cost)

    @classmethod
    def _of_rows(cls, rows: InMemoryDesign, y: FloatArray, cost: FloatArray) -> FreeThreshold:
        constant = CONSTANT * max(1.0, float(np.sqrt(rows.squared_norms().mean())))
        column = np.full((len(y), 1), constant)
        augmented: InMemoryDesign
        if rows.is_dense:
            augmented = DenseDesign(np.hstack([rows.to_array(), column]))
        else:
            augmented = SparseDesign(sp.csr_array(sp.hstack([rows.matrix, column])))
        all_rows = HingeRows(augmented, y, cost, np.empty((0, 0)), np.empty(0, dtype=np.int64))
        origin = np.zeros((1, augmented.shape[1]))
        ends = all_rows.minimise(origin, tol=TOLERANCE, max_iter=MAX_ITER)
        coef, multipliers = ends.coef[0], ends.multipliers[0]
        margins = 1.0 - y * augmented.scores(coef)
        near = np.abs(margins) < SMOOTHED
        weight = cost[near] / (2 * SMOOTHED)
        system = System.of_rows(augmented.rows(np.flatnonzero(near)), weight)
        return cls(constant, coef, margins, multipliers, near, system)

    def coefs_at(self, pivots: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the solutions of some pivots."""
        coef, distance = np.empty(pivots.shape), np.empty(len(pivots))
        for k, pivot in enumerate(pivots):  # one by one: to the bit the same in any company
            point = np.append(pivot, self.constant)
            solved = self.system.solve(point)
            distance[k] = point @ self.coef
            coef[k] = (self.coef - distance[k] / (point @ solved) * solved)[:-1]
        return coef, distance

    def multipliers_at(self, margins: FloatArray, rows: IntArray) -> FloatArray:
        """Predict the multipliers of some rows from the margins that the weights predict.

        Shape (m,).
        """
        moved = self.multipliers[rows] + (margins - self.margins[rows]) / (2 * SMOOTHED)
        ahead = 0.5 + margins / (2 * SMOOTHED)
        return np.clip(np.where(self.near[rows], moved, ahead), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class System:
    """``I`` plus the weighted outer products of rows, factorised in the fewer dimensions."""

    factor: tuple[FloatArray, bool] | None
    rows: InMemoryDesign | None
    root: FloatArray  # (n_rows,): Roots of their weights

    @classmethod
    def of_rows(cls, rows: InMemoryDesign, weight: FloatArray) -> System:
        """Factorise."""
        n, d = rows.shape
        X, root = rows.matrix, np.sqrt(weight)
        if n >= d:
            system = rows.gram(weight)
        else:
            system = X @ X.T
            system = (system if rows.is_dense else system.toarray()) * root * root[:, np.newaxis]
        system.flat[:: len(system) + 1] += 1.0
        try:
            factor = scipy.linalg.cho_factor(system, check_finite=False)
        except np.linalg.LinAlgError:  # beyond float64: then the prediction is the poorer for it
            factor = None
        return cls(factor, rows if n < d else None, root)

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Solve. Shape (n_features,)."""
        if self.factor is None:
            return rhs
        if self.rows is None:
            return np.asarray(scipy.linalg.cho_solve(self.factor, rhs, check_finite=False))
        X, root = self.rows.matrix, self.root
        inner = scipy.linalg.cho_solve(self.factor, root * (X @ rhs), check_finite=False)
        return np.asarray(rhs - X.T @ (root * inner))
