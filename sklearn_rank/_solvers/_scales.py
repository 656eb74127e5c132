"""Scales of the columns of a design, by which solvers choose coordinates and fits warn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
from ._design import COPIED_ROWS, Design, InMemoryDesign

__all__ = ["Coordinates", "column_scales", "row_sums"]

# Standard deviation of dense columns relative to an entry, and variance of sparse ones relative to
# their mean square, that rounding explains.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
LOST = 64 * float(np.finfo(np.float64).eps)


@np.errstate(over="ignore", invalid="ignore")
def column_scales(X: Any, weight: FloatArray | None = None) -> FloatArray:
    """Standard deviation of each column about its mean, whatever the mean is.

    Deviations are taken from the first row, so that a mean that is large beside the spread, such
    as that of seconds since 1970, costs no digits. O(stored entries).
    """
    if isinstance(X, InMemoryDesign):
        X = X.matrix
    n_rows, n_features = X.shape
    share = np.full(n_rows, 1.0 / n_rows) if weight is None else weight / weight.sum()
    if sp.issparse(X):
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        means, squares = X.T @ share, X.power(2).T @ share
        variances = squares - means * means
        return np.sqrt(np.where(variances > LOST * squares, variances, 0.0))
    origin = np.asarray(X[int(np.argmax(share))], dtype=np.float64)
    means, squares = np.zeros(n_features), np.zeros(n_features)
    for start in range(0, n_rows, COPIED_ROWS):
        moved = X[start : start + COPIED_ROWS] - origin
        part = share[start : start + COPIED_ROWS]
        means += part @ moved
        squares += np.einsum("i,ij,ij->j", part, moved, moved)
    scales = np.sqrt(np.maximum(squares - means * means, 0.0))
    return np.where(scales > ROUNDING * np.abs(origin), scales, 0.0)


def row_sums(
    items: Design, loss: Any, origin: FloatArray | None = None
) -> tuple[float, FloatArray, FloatArray]:
    """Sum the rows of items and their squares, moved by an origin."""
    n_items, n_features = items.shape
    sums, squares = np.zeros(n_features), np.zeros(n_features)
    for start in range(0, n_items, COPIED_ROWS):
        block: Any = items.rows(slice(start, min(start + COPIED_ROWS, n_items)))
        rows = block.matrix
        if sp.issparse(rows):
            # Entries that are not stored are moved, too.
            total, power = rows.sum(axis=0), rows.power(2).sum(axis=0)
            by = 0.0 if origin is None else origin
            sums += np.asarray(total).ravel() - rows.shape[0] * by
            squares += np.asarray(power).ravel() - by * (2.0 * np.asarray(total).ravel())
            squares += rows.shape[0] * by * by
            continue
        moved = rows if origin is None else rows - origin
        sums += moved.sum(axis=0, dtype=np.float64)
        squares += np.einsum("ij,ij->j", moved, moved, dtype=np.float64)
    return float(n_items), sums, squares


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates in which a problem of any units of the features is well scaled.

    They change the variables, not the problem: the penalty stays that of the coefficients.
    """

    scale: FloatArray
    penalty: FloatArray
    origin: FloatArray | None = None

    @cached_property
    def certified(self) -> FloatArray | None:
        """Factors of squares of derivatives, whose sum is twice what can be won, or more.

        Those of intercepts count as they bend; without a penalty there are none.
        """
        if not self.penalty.any():
            return None
        return 1.0 / np.where(self.penalty > 0, self.penalty, 1.0)

    def of(self, parameters: FloatArray) -> FloatArray:
        """Coordinates of parameters."""
        if self.origin is not None:
            last = parameters[-1] + self.origin @ parameters[:-1]
            parameters = np.append(parameters[:-1], last)
        return parameters * self.scale

    def parameters(self, coordinates: FloatArray) -> FloatArray:
        """Parameters at coordinates."""
        found = coordinates / self.scale
        if self.origin is not None:
            found[-1] -= self.origin @ found[:-1]
        return found

    def gradient(self, by_parameter: FloatArray) -> FloatArray:
        """Derivatives by the coordinates."""
        if self.origin is not None:
            rest = by_parameter[:-1] - self.origin * by_parameter[-1]
            by_parameter = np.append(rest, by_parameter[-1])
        return by_parameter / self.scale

    def matrix(self, by_parameters: FloatArray) -> FloatArray:
        """Second derivatives by the coordinates."""
        if self.origin is not None:
            by_parameters = by_parameters.copy()
            by_parameters[:, :-1] -= np.outer(by_parameters[:, -1], self.origin)
            by_parameters[:-1] -= np.outer(self.origin, by_parameters[-1])
        return by_parameters / np.outer(self.scale, self.scale)
