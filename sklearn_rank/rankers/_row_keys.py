"""Hash of each row by its values, used to order rows."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._codes import coded_column, distinct_codes
from .._typing import AnyArray, FloatArray

__all__ = ["feature_keys", "is_frame", "mixed_bits", "row_keys", "summed"]

# Values at a time, so that they stay in the processor's cache.
BLOCK = 1 << 15

# Odd factors of the mixing function, and the step from one column's factor to the next.
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


def is_frame(X: Any) -> bool:
    """Whether rows are a data frame, of columns that need not be numbers."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def summed(X: Any) -> Any:
    """Add the entries of the same place of rows in CSR format, which libraries would not do.

    SciPy keeps what it finds out about the entries on the new matrix, not on ``X``.
    """
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_keys(X: Any, labels: FloatArray) -> AnyArray:
    """Hash the values of each row. Shape (n,)."""
    return feature_keys(X) + mixed_bits(labels)


def mixed_bits(values: AnyArray) -> AnyArray:
    """Hash numbers. Shape (n,)."""
    return _mixed(_bits(values), SECOND)


def feature_keys(X: Any) -> AnyArray:
    """Hash the features of each row. As :func:`row_keys`, without labels. Shape (n,)."""
    if sp.issparse(X):
        return _keys_of_sparse(X)
    if is_frame(X):
        return _keys_of_columns(_columns_of(X), len(X))
    if X.dtype.kind not in "biuf":
        return _keys_of_columns(X.T, len(X))
    keys = np.empty(len(X), dtype=np.uint64)
    factors = _factors(X.shape[1])
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        terms = _mixed(_bits(X[start : start + step]), factors)
        keys[start : start + step] = terms.sum(axis=1, dtype=np.uint64)
    return keys


def _keys_of_sparse(X: Any) -> AnyArray:
    """Keys of the rows of a sparse matrix; a value of 0 adds nothing."""
    X = summed(X.tocsr())
    terms = np.append(np.uint64(0), _mixed(_bits(X.data), _factors(X.shape[1])[X.indices]))
    totals = np.cumsum(terms, dtype=np.uint64)
    return totals[X.indptr[1:]] - totals[X.indptr[:-1]]


def _keys_of_columns(columns: Iterable[Any], n: int) -> AnyArray:
    """Keys of rows that come by column."""
    columns = list(columns)
    keys = np.zeros(n, dtype=np.uint64)
    for column, factor in zip(columns, _factors(len(columns)), strict=True):
        keys += _mixed(_bits_of_column(column), factor)
    return keys


def _columns_of(frame: Any) -> list[Any]:
    """Columns of a data frame, of which two may have the same name."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, j] for j in range(frame.shape[1])]
    return [frame[:, j] for j in range(frame.shape[1])]


def _bits_of_column(column: Any) -> AnyArray:
    """Bits of the numbers of a column, or of a hash of its words."""
    coded = coded_column(column)
    if coded is None:
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            return _bits(values)
        try:
            coded = distinct_codes(values)
        except TypeError:  # values that cannot be hashed, such as lists
            coded = distinct_codes(np.array([repr(value) for value in values], dtype=object))
    hashes = [_hash(str(value)) for value in coded.distinct.tolist()]
    return np.array(hashes, dtype=np.uint64)[coded.codes]


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _bits(values: AnyArray) -> AnyArray:
    """Bits of numbers as float64; 0.0 and -0.0 have the same, and so have all NaN."""
    numbers: FloatArray = np.add(values, 0.0, dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        numbers[missing] = np.nan
    return np.ascontiguousarray(numbers).view(np.uint64)


def _factors(n_columns: int) -> AnyArray:
    """A random odd number for each column."""
    places = np.arange(1, n_columns + 1, dtype=np.uint64)
    return _mixed(places * STEP, SECOND) | np.uint64(1)


def _mixed(bits: AnyArray, factor: Any) -> AnyArray:
    """Let every bit change all others, in place; 0 stays 0."""
    bits ^= bits >> np.uint64(32)
    bits *= FIRST
    bits ^= bits >> np.uint64(29)
    bits *= factor
    bits ^= bits >> np.uint64(32)
    return bits
