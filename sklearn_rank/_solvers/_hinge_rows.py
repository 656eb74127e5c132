"""Rows of a hinge problem in the format of the compiled kernel, and calls of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ._design import InMemoryDesign

__all__ = ["Ends", "HingeRows", "Parked", "Start"]

# Products of a vector with dense columns are faster than with rows where the rows are short.
MOST_FEATURES_BY_COLUMNS = 64


@dataclass(frozen=True, eq=False)
class Parked:
    """Rows whose multipliers are held at 1, by their sums; one of each for every pivot."""

    vector: FloatArray  # (n_pivots, n_features): Sums of ``c_i y_i (x_i - z)``
    cost: FloatArray  # (n_pivots,): Sums of ``c_i``

    @classmethod
    def none(cls, n_pivots: int, n_features: int) -> Parked:
        """No rows."""
        return cls(np.zeros((n_pivots, n_features)), np.zeros(n_pivots))


@dataclass(frozen=True, eq=False)
class Start:
    """Where the iteration starts for one pivot, or where it ended."""

    coef: FloatArray  # (n_features,)
    multipliers: FloatArray  # (n_rows,): Share of its cost that each row bears, from 0 to 1
    penalty: float  # That of the augmented Lagrangian


@dataclass(frozen=True, eq=False)
class Ends:
    """Where the iterations ended, one for each pivot."""

    coef: FloatArray  # (n_pivots, n_features)
    multipliers: FloatArray
    penalty: FloatArray  # (n_pivots,): Those of the augmented Lagrangians
    objective: FloatArray
    lower_bound: FloatArray
    n_iter: IntArray  # (n_pivots,): Newton steps


@dataclass(frozen=True, eq=False)
class HingeRows:
    """Rows with their signs, costs, and places in a table of inner products."""

    design: InMemoryDesign  # (n_rows, n_features)
    y: FloatArray  # (n_rows,): Signs and costs
    cost: FloatArray  # (n_rows,): Signs and costs
    products: FloatArray  # (n_all, n_all): Inner products of rows, or empty
    numbers: IntArray  # (n_rows,): Places of the rows in this table

    def take(self, index: IntArray) -> HingeRows:
        """Take some rows. Copies of them."""
        return HingeRows(
            self.design.rows(index),
            self.y[index],
            self.cost[index],
            self.products,
            self.numbers[index],
        )

    def margins(self, coef: FloatArray, pivots: FloatArray) -> FloatArray:
        """Margins ``1 - y_i w.(x_i - z)``. Shape (n_pivots, n_rows)."""
        shift = np.sum(coef * pivots, axis=1)
        return 1.0 - self.y * (self.design.scores(coef.T).T - shift[:, np.newaxis])

    def parked(self, held: FloatArray, pivots: FloatArray) -> Parked:
        """Sum rows that are held at 1. Their sums."""
        cost = held * self.cost
        signed = cost * self.y
        vector = self.design.pull_back(signed.T).T - signed.sum(axis=1)[:, np.newaxis] * pivots
        return Parked(vector, cost.sum(axis=1))

    def minimise(
        self,
        pivots: FloatArray,
        *,
        tol: float,
        max_iter: int,
        start: Start | None = None,
        parked: Parked | None = None,
    ) -> Ends:
        """Solve the problems of some pivots. Where the iterations ended."""
        from .._jit import address_of_potrf
        from ._pivot_kernels import solve_pivots

        n_pivots, d = pivots.shape
        shape = (n_pivots, len(self.y))
        ends = Ends(
            np.empty((n_pivots, d)) if start is None else start.coef[np.newaxis].copy(),
            np.empty(shape) if start is None else start.multipliers[np.newaxis].copy(),
            np.full(n_pivots, 0.0 if start is None else start.penalty),
            np.empty(n_pivots),
            np.empty(n_pivots),
            np.empty(n_pivots, dtype=np.int64),
        )
        parked = parked or Parked.none(n_pivots, d)
        solve_pivots(
            *self.design.compiled_arrays(
                by_columns=start is None and d <= MOST_FEATURES_BY_COLUMNS
            ),
            self.products,
            self.numbers,
            self.y,
            self.cost,
            np.ascontiguousarray(pivots),
            np.ascontiguousarray(parked.vector),
            parked.cost,
            start is None,
            tol,
            max_iter,
            address_of_potrf(),
            *(ends.coef, ends.multipliers, ends.penalty),
            *(ends.objective, ends.lower_bound, ends.n_iter),
        )
        return ends
