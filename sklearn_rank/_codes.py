"""Values of any type as integer codes, by hashing, and the stable order of such codes.

Sorting a million strings takes seconds, hashing them a tenth of a second. Columns of data frames
that hold codes already are taken as they are.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import AnyArray, IntArray

# Strings from which hashing them in NumPy is faster than one by one, and rows at a time, so that
# their characters stay in the processor's cache.
MANY = 4096
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Coded:
    """Values, each as the code of a distinct one."""

    codes: IntArray  # (n,): Index of the value of each row among the distinct ones
    distinct: AnyArray  # (n_distinct,): In no particular order

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Coded:
        return Coded(self.codes[rows], self.distinct)

    def used(self) -> Coded:
        """Leave out values that no row has."""
        used = np.zeros(len(self.distinct), dtype=bool)
        used[self.codes] = True
        if used.all():
            return self
        return Coded((np.cumsum(used) - 1)[self.codes], self.distinct[used])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.asarray(self.distinct[self.codes], dtype=dtype)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or the like, which does not equal itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA says neither yes nor no
        return True


def distinct_codes(values: AnyArray) -> Coded:
    """Find the distinct values by hashing."""
    if values.dtype.kind in "SU" and len(values) >= MANY:
        coded = _codes_of_text(values)
        if coded is not None:
            return coded
    table: defaultdict[Any, int] = defaultdict()
    table.default_factory = table.__len__
    codes = np.fromiter(map(table.__getitem__, values.tolist()), np.intp, len(values))
    distinct = np.empty(len(table), dtype=values.dtype)
    # Item by item, so that tuples do not become rows of an array.
    for code, value in enumerate(table):
        distinct[code] = value
    return Coded(codes, distinct)


def _codes_of_text(values: AnyArray) -> Coded | None:
    """Codes of strings of a fixed width by sorting a hash; None where two strings share one."""
    hashes = _hashes(values)
    order = np.argsort(hashes)
    ordered = hashes[order]
    new = np.ones(len(values), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    codes = np.empty(len(values), dtype=np.intp)
    codes[order] = np.cumsum(new) - 1
    coded = Coded(codes, values[order[new]])
    for start in range(0, len(values), BLOCK):
        rows = slice(start, start + BLOCK)
        if not np.array_equal(coded[rows], values[rows]):
            return None
    return coded


def _hashes(values: AnyArray) -> AnyArray:
    """Hash strings of a fixed width: characters times random odd numbers, modulo 2**64."""
    unit = np.uint32 if values.dtype.kind == "U" else np.uint8
    characters = np.ascontiguousarray(values).view(unit).reshape(len(values), -1)
    factors = np.random.default_rng(0).integers(2**63, size=characters.shape[1], dtype=np.uint64)
    factors = (2 * factors + 1)[:, np.newaxis]
    hashes = np.empty(len(values), dtype=np.uint64)
    for start in range(0, len(values), BLOCK):
        block = characters[start : start + BLOCK].T.astype(np.uint64)
        block *= factors
        hashes[start : start + BLOCK] = block.sum(axis=0)
    return hashes


def coded_column(values: Any) -> Coded | None:
    """Take the codes of a column of words or categories of pandas or polars."""
    if isinstance(values, Coded):
        return values
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        if hasattr(values, "to_flat_index"):
            values = values.to_flat_index()  # several levels become tuples
        column = getattr(values, "array", values)
        if getattr(getattr(column, "dtype", None), "kind", None) != "O":
            return None
        try:
            codes, distinct = column.factorize()
        except TypeError:  # values that cannot be hashed
            return None
    elif library == "polars":
        codes, distinct = _polars_codes(values, sys.modules[library])
    else:
        return None
    if codes is None or codes.ndim != 1 or not len(codes) or codes.min() < 0:
        return None
    return Coded(codes, np.asarray(distinct))


def _polars_codes(column: Any, polars: Any) -> tuple[Any, Any]:
    """Codes of a column of words or categories, and no codes where a value is missing."""
    kind = str(getattr(column, "dtype", ""))
    if not kind.startswith(("Categorical", "Enum", "String")) or column.null_count():
        return None, None
    if kind == "String":
        column = column.cast(polars.Categorical)
    distinct = column.unique()
    code_of = distinct.to_physical().to_numpy()
    place = np.zeros(int(code_of.max()) + 1 if len(code_of) else 0, dtype=np.intp)
    place[code_of] = np.arange(len(code_of))
    return place[column.to_physical().to_numpy()], np.asarray(distinct.to_list(), dtype=object)


def offsets_from(values: AnyArray, lowest: Any) -> IntArray:
    """Subtract the smallest of some integers, whatever their type."""
    if values.dtype.itemsize < 8:
        return values.astype(np.int64) - int(lowest)
    # In 64 bits a difference that overflows wraps to what it is.
    return (values - lowest).astype(np.int64)


def stable_order(codes: AnyArray) -> IntArray:
    """Order rows by their codes, those of one code as they stand."""
    lowest = codes.min()
    span = int(codes.max()) - int(lowest)
    if span >= 2**32:
        return np.argsort(codes, kind="stable")
    offset = offsets_from(codes, lowest).astype(np.uint32)
    # NumPy sorts 16 bits by counting: the lower half first, then the upper one.
    order = np.argsort(offset.astype(np.uint16), kind="stable")
    if span < 2**16:
        return order
    return order[np.argsort((offset >> 16).astype(np.uint16)[order], kind="stable")]
