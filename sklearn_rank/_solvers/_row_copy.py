"""Copies of selected rows of data that are not in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from ._design import DenseDesign, InMemoryDesign, SparseDesign

__all__ = ["LARGEST_COPY", "RowCopy"]

# Bytes of rows in float64 up to which a solver that works on some rows has a copy of them.
LARGEST_COPY = 2**30


class RowCopy:
    """A copy in float64 of some rows of blocks that come one after the other."""

    def __init__(self, taken: IntArray, n_features: int) -> None:
        self._order = np.argsort(taken, kind="stable")
        self._numbers, self._shape = taken[self._order], (len(taken), n_features)
        self._n_copied, self._n_bytes = 0, 0
        self._dense: FloatArray | None = None
        self._sparse: list[Any] = []

    @property
    def is_complete(self) -> bool:
        """Whether no row is missing."""
        return self._n_copied == len(self._numbers)

    def numbers_in(self, part: slice) -> IntArray:
        """Say which rows of a block are wanted. Numbers within the block, ascending."""
        low, high = np.searchsorted(self._numbers, (part.start, part.stop))
        return self._numbers[low:high] - part.start

    def add(self, rows: Any, most_bytes: float = np.inf) -> bool:
        """Copy the rows of the next block that are wanted."""
        if sp.issparse(rows):
            rows = sp.csr_array(rows).astype(np.float64, copy=False)
            self._n_bytes += rows.data.nbytes + rows.indices.nbytes
        else:
            self._n_bytes = 8 * self._shape[0] * self._shape[1]
        if self._n_bytes > most_bytes:
            return False
        stop = self._n_copied + rows.shape[0]
        if sp.issparse(rows):
            self._sparse.append(rows)
        else:
            if self._dense is None:
                self._dense = np.empty(self._shape)
            self._dense[self._order[self._n_copied : stop]] = rows
        self._n_copied = stop
        return True

    def design(self) -> InMemoryDesign:
        """The copies, in the requested order. All rows."""
        if self._dense is not None:
            return DenseDesign(self._dense)
        stacked = SparseDesign(sp.csr_array(sp.vstack(self._sparse, format="csr")))
        in_order = np.array_equal(self._order, np.arange(len(self._order)))
        return stacked if in_order else stacked.rows(np.argsort(self._order))
