"""Lines of ranking files in the svmlight format, parsed in blocks of rows."""

from __future__ import annotations

import bz2
import gzip
import io
import mmap
import os
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import as_array, reads_as

ZeroBased: TypeAlias = bool | Literal["auto"]

# Rows that are parsed at once: numbers wait in 16 bytes an entry until they enter an array.
ROWS = 8192

# The largest feature index of scikit-learn's parser.
MOST_INDEX = 2**31 - 1


class LineError(ValueError):
    """Error of a line, malformed or damaged; the message has the file and the line."""


class Block(NamedTuple):
    """Some rows of a file that follow each other."""

    X: Any  # (n_rows, highest index + 1): Features by index
    target: FloatArray  # (n_rows,)
    query: IntArray  # (n_rows,): Number of the query of each row
    comments: list[str]  # Text after the first ``#`` of each row; empty if not kept
    lowest: int | None  # Lowest index, None without features


def name_of(source: Any) -> str:
    """Name of a file in messages, "stream" for a stream without one."""
    return str(getattr(source, "name", "stream") if hasattr(source, "read") else source)


def read_blocks(
    source: Any,
    queries: dict[bytes, int],
    *,
    sparse: bool,
    zero_based: ZeroBased,
    comments: bool,
    dtype: Any,
) -> Iterator[Block]:
    lines = _Lines(source, queries, comments)
    while not lines.exhausted:
        block = _read_block(lines, sparse=sparse, zero_based=zero_based, dtype=dtype)
        if block is not None:
            yield block


def are_integers(texts: Iterable[bytes]) -> bool:
    """Whether each id is written as an integer of 64 bits is, so that none are merged."""
    try:
        return all(b"%d" % int(text) == text and -(2**63) <= int(text) < 2**63 for text in texts)
    except ValueError:
        return False


def ids_from(texts: list[bytes], integers: bool | None = None) -> AnyArray:
    """Read ids as int64 where all are written as integers, else as words."""
    if are_integers(texts) if integers is None else integers:
        return np.array([int(text) for text in texts], dtype=np.int64)
    return as_array([text.decode(errors="backslashreplace") for text in texts])


def numbered_lines(source: Any) -> Iterator[tuple[int, Any]]:
    """Numbers and lines of a file, which is closed at the end, or of a stream, which is not."""
    number, stream = 0, nullcontext(source)
    if not hasattr(source, "read"):
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
        stream = openers.get(os.path.splitext(source)[1].lower(), open)(source, "rb")
    try:
        with stream as lines:
            for number, line in enumerate(lines, 1):
                yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise LineError(
            f"{name_of(source)} cannot be decompressed after line {number} ({error}): it is"
            " truncated or damaged; download it again."
        ) from error


def check_format(zero_based: Any, dtype: Any) -> None:
    if not (zero_based is True or zero_based is False or zero_based == "auto"):
        raise ValueError(f"zero_based={zero_based!r} must be True, False or 'auto'.")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype={dtype!r} must be float64 or float32.")


def _read_block(lines: _Lines, *, sparse: bool, zero_based: ZeroBased, dtype: Any) -> Block | None:
    # Importing sklearn.datasets takes a third of the import time of this package.
    from sklearn.datasets import load_svmlight_file

    lines.begin_block()
    try:
        X, y = load_svmlight_file(lines, dtype=dtype, zero_based=zero_based is not False)
    except LineError:
        raise
    except (ValueError, OverflowError) as error:
        fault = _find_fault(lines.body, first=0 if zero_based else 1) or f"{error}; correct it"
        raise LineError(f"{lines.name}, line {lines.number}: {fault}.") from error
    if not len(y):
        return None
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise LineError(
            f"{lines.name}, line {lines.numbers[row]}: the label is {y[row]:g}, but must be"
            " finite; remove the line or give it a grade."
        )
    width = int(X.indices.max()) + 1 if X.nnz else 0
    odd = np.flatnonzero(~np.isfinite(X.data))
    number = np.array(lines.numbers)[np.searchsorted(X.indptr, odd, "right") - 1]
    bad = np.isinf(X.data[odd]) | ~np.isin(number, list(lines.with_null))
    if bad.any():
        at = int(np.argmax(bad))
        raise LineError(
            f"{lines.name}, line {number[at]}: a value is {X.data[odd[at]]:g}, but must be finite;"
            " write NULL where it is missing, or remove the line."
        )
    try:
        if sparse:
            X.eliminate_zeros()
            # Solvers such as liblinear take short indices only.
            index = np.int32 if max(X.shape[1], X.nnz) <= np.iinfo(np.int32).max else np.int64
            values, indices = _zeros((X.nnz,), X.dtype), _zeros((X.nnz,), index)
            values[:], indices[:] = X.data, X.indices
            shape = (X.shape[0], width)
            features = type(X)((values, indices, X.indptr.astype(index)), shape=shape)
        else:
            features = X.toarray(out=_zeros(X.shape, X.dtype))[:, :width]
    except (OSError, MemoryError):
        row = int(np.searchsorted(X.indptr, int(np.argmax(X.indices)), "right")) - 1
        raise LineError(
            f"{lines.name}, line {lines.numbers[row]}: the feature index {width - 1} needs an"
            f" array of {X.shape[0]} x {width}, for which there is no memory; correct the index or"
            " pass sparse=True."
        ) from None
    lowest = int(X.indices.min()) if X.nnz else None
    return Block(features, y, np.array(lines.query), lines.comments, lowest)


def _zeros(shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Zeros in pages of their own: the heap would not give back blocks among others."""
    size = int(np.prod(shape))
    pages = mmap.mmap(-1, max(size * np.dtype(dtype).itemsize, 1))
    return np.frombuffer(pages, dtype=dtype, count=size).reshape(shape)


class _Lines(io.BufferedIOBase):
    """File-like view of the lines of a file without ids and comments, which are kept here.

    scikit-learn appends ids to an array one by one, in time quadratic in the rows, and keeps no
    comments. Because it parses as it reads, a line that it refuses is the last one read.
    """

    def __init__(self, source: Any, queries: dict[bytes, int], comments: bool) -> None:
        self._lines = numbered_lines(source)
        self._queries = queries
        self._keeps_comments = comments
        self.name = name_of(source)
        self.number = 0
        self.body = b""
        self.exhausted = False

    def begin_block(self) -> None:
        self.numbers: list[int] = []
        self.with_null: set[int] = set()
        self.query: array[int] = array("q")
        self.comments: list[str] = []

    def readline(self, size: int | None = -1) -> bytes:
        """Return the next row, nothing at the end of the block or of the file."""
        if len(self.numbers) == ROWS:
            return b""
        for number, line in self._lines:
            self.number = number
            if number == 1:
                if not isinstance(line, bytes):
                    raise TypeError(
                        f"{self.name} gives text instead of bytes: open it in binary mode, 'rb'."
                    )
                line = line.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
            head, _, comment = line.partition(b"#")
            entries = head.split(None, 2)
            if entries:
                return self._row(entries, comment)
        self.exhausted = True
        return b""

    def _row(self, entries: list[bytes], comment: bytes) -> bytes:
        qid = entries[1] if len(entries) > 1 else b""
        if not qid.startswith(b"qid:") or qid == b"qid:":
            raise LineError(
                f"{self.name}, line {self.number}: the label is not followed by a query id"
                " 'qid:ID'; add it, or read such files with sklearn.datasets.load_svmlight_file."
            )
        self.query.append(self._queries.setdefault(qid[4:], len(self._queries)))
        if self._keeps_comments:
            self.comments.append(comment.strip().decode(errors="backslashreplace"))
        self.numbers.append(self.number)
        features = entries[2] if len(entries) > 2 else b""
        if b":NULL" in features:
            features = features.replace(b":NULL", b":nan")
            self.with_null.add(self.number)
        self.body = entries[0] + b" " + features
        if b"_" in self.body:
            raise ValueError("Python's parser would read 1_5 as 15")
        return self.body


def _find_fault(body: bytes, first: int) -> str | None:
    """Description of the error in a row, with its remedy; None if none is found."""
    label, *entries = body.decode(errors="backslashreplace").split()
    if not reads_as(float, label):
        return f"the label {label!r} is not a number; write the grade as one"
    last = first - 1
    for entry in entries:
        index, colon, value = entry.partition(":")
        if not colon or not reads_as(int, index):
            return f"{entry!r} is not of the form index:value; correct it"
        if int(index) < first:
            hint = "; pass zero_based=True if features count from 0" if int(index) == 0 else ""
            return f"the feature index {index} is below {first}{hint or '; correct it'}"
        if int(index) > MOST_INDEX:
            return f"the feature index {index} is above {MOST_INDEX}; hash it into fewer"
        if int(index) <= last:
            return (
                f"the feature index {index} follows {last}, but indices must ascend; sort the"
                " entries and remove repeated ones"
            )
        if not reads_as(float, value):
            return f"the value of {entry!r} is not a number; write NULL where it is missing"
        last = int(index)
    return None
