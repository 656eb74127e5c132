"""Designs of reordered or single-precision rows without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from ._design import Design, as_design
from ._parted_design import PartedDesign, converted_parts

__all__ = ["ViewDesign", "view_design"]


class ViewDesign(PartedDesign):
    """Rows of a matrix, taken in some order at each product."""

    def __init__(self, matrix: Any, order: IntArray | None = None) -> None:
        n_all_rows, n_features = matrix.shape
        super().__init__(n_all_rows, n_features, order)
        self._matrix = matrix

    def rows(self, index: Any) -> Design:
        """Take some rows, which are copied; see :meth:`Design.rows`."""
        taken = index if self._order is None else self._order[index]
        return as_design(self._matrix[taken])

    def row_gram(self, index: IntArray) -> FloatArray:
        return self.rows(index).row_gram(np.arange(len(index)))

    def _parts(self) -> Iterator[tuple[slice, Any]]:
        return converted_parts(self._matrix)


def view_design(X: Any, order: IntArray | None = None) -> Design:
    """Wrap rows for a solver that needs products only; no copy where that saves much."""
    if order is not None and 2 * len(order) < X.shape[0]:
        X, order = X[order], None
    if sp.issparse(X) and X.dtype != np.float64:
        X = sp.csr_array((X.data.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if order is None and X.dtype == np.float64:
        return as_design(X)
    return ViewDesign(X, order)
