"""Readers of batches of rows from Parquet and LETOR files."""

from __future__ import annotations

import bz2
import gzip
import io
import mmap
import os
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ._optional import import_optional
from ._typing import AnyArray, FloatArray
from ._validation import check_flag, check_whole, reads_as

ZeroBased: TypeAlias = bool | Literal["auto"]

# Rows that are parsed at once: numbers wait in 16 bytes an entry until they enter an array.
ROWS = 8192

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


# What reading a compressed file raises that was cut off or written over.
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


class LineError(ValueError):
    """Error for a malformed line; the message has the file and the line."""


class Block(NamedTuple):
    """Some rows of a file that follow each other."""

    X: Any  # (n_rows, width): Features by index
    target: FloatArray  # (n_rows,)
    query: array[int]  # For each row a number of its query
    comments: list[str]  # What follows the first ``#`` of each row; empty if it was not kept
    width: int  # Highest index and one, 0 without features
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
    rows: int | None = None,
) -> Iterator[Block]:
    """Read one file, some rows at a time."""
    name = name_of(source)
    with open_source(source) as stream:
        lines = _Lines(stream, name, queries, ROWS if rows is None else rows, comments)
        try:
            while not lines.exhausted:
                block = _read_block(lines, sparse=sparse, zero_based=zero_based, dtype=dtype)
                if block is not None:
                    yield block
        except DAMAGED as error:
            raise ValueError(
                f"{name} cannot be decompressed after line {lines.number} ({error}): it is"
                " truncated or damaged; download it again."
            ) from error


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
    return np.array([text.decode(errors="backslashreplace") for text in texts])


def open_file(path: Any) -> IO[bytes]:
    """Open a file, decompressed by the end of its name."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".gz":
        return gzip.open(path, "rb")
    if suffix == ".bz2":
        return bz2.open(path, "rb")
    return open(path, "rb")


@contextmanager
def open_source(source: Any) -> Iterator[IO[bytes]]:
    """Open a file, which is closed at the end, or take a stream, which is not."""
    if hasattr(source, "read"):
        yield source
    else:
        with open_file(source) as stream:
            yield stream


def check_format(zero_based: Any, dtype: Any) -> None:
    """Check the options of the svmlight format."""
    if not (zero_based is True or zero_based is False or zero_based == "auto"):
        raise ValueError(f"zero_based={zero_based!r} must be True, False or 'auto'.")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype={dtype!r} must be float64 or float32.")


def _read_block(lines: _Lines, *, sparse: bool, zero_based: ZeroBased, dtype: Any) -> Block | None:
    # All of sklearn.datasets: a third of what importing this package would take.
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
    if np.isnan(X.data.sum()):
        rows = np.searchsorted(X.indptr, np.flatnonzero(np.isnan(X.data)), "right") - 1
        bad = [row for row in rows.tolist() if lines.numbers[row] not in lines.with_null]
        if bad:
            raise LineError(
                f"{lines.name}, line {lines.numbers[bad[0]]}: a value is nan; write NULL where it"
                " is missing, or remove the line."
            )
    try:
        if sparse:
            X.eliminate_zeros()
            # Solvers such as liblinear take short indices only.
            index = np.int32 if max(X.shape[1], X.nnz) <= np.iinfo(np.int32).max else np.int64
            values, indices = _zeros((X.nnz,), X.dtype), _zeros((X.nnz,), index)
            values[:], indices[:] = X.data, X.indices
            features = type(X)((values, indices, X.indptr.astype(index)), shape=X.shape)
        else:
            features = X.toarray(out=_zeros(X.shape, X.dtype))[:, :width]
    except (OSError, MemoryError):
        row = int(np.searchsorted(X.indptr, int(np.argmax(X.indices)), "right")) - 1
        raise LineError(
            f"{lines.name}, line {lines.numbers[row]}: the feature index {width - 1} needs an"
            f" array of {X.shape[0]} x {width}, for which there is no memory; correct the index or"
            " pass sparse=True."
        ) from None
    return Block(
        X=features,
        target=y,
        query=lines.query,
        comments=lines.comments,
        width=width,
        lowest=int(X.indices.min()) if X.nnz else None,
    )


def _zeros(shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Zeros in pages of their own: the heap would not give back blocks among others."""
    size = int(np.prod(shape))
    pages = mmap.mmap(-1, max(size * np.dtype(dtype).itemsize, 1))
    return np.frombuffer(pages, dtype=dtype, count=size).reshape(shape)


class _Lines(io.BufferedIOBase):
    """A file whose lines are those of another without ids and comments, which it keeps.

    scikit-learn appends ids to an array one by one, in time quadratic in the rows, and keeps no
    comments. Because it parses as it reads, a line that it refuses is the last one read.
    """

    def __init__(
        self, stream: Any, name: str, queries: dict[bytes, int], rows: int, comments: bool
    ) -> None:
        self._lines: Iterator[bytes] = iter(stream)
        self._queries = queries
        self._rows = rows
        self._keeps_comments = comments
        self.name = name
        self.number = 0
        self.body = b""
        self.exhausted = False
        self.begin_block()

    def begin_block(self) -> None:
        """Let the next rows be read."""
        self.numbers: list[int] = []
        self.with_null: set[int] = set()
        self.query: array[int] = array("q")
        self.comments: list[str] = []

    def readline(self, size: int | None = -1) -> bytes:
        """Return the next row, nothing at the end of the block or of the file."""
        if len(self.numbers) == self._rows:
            return b""
        for line in self._lines:
            self.number += 1
            if self.number == 1:
                if not isinstance(line, bytes):
                    raise TypeError(
                        f"{self.name} gives text instead of bytes: open it in binary mode, 'rb'."
                    )
                line = line.removeprefix(BYTE_ORDER_MARK)
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
                " 'qid:ID'; add it, or read files without ids with"
                " sklearn.datasets.load_svmlight_file."
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
        if int(index) <= last:
            return (
                f"the feature index {index} follows {last}, but indices must ascend; sort the"
                " entries and remove repeated ones"
            )
        if not reads_as(float, value):
            return f"the value of {entry!r} is not a number; write NULL where it is missing"
        last = int(index)
    return None


# Rows that are copied from columns at once, so that what is written stays in the cache.
STRIP = 1024


@dataclass(frozen=True, eq=False)
class ParquetBatches:
    """Batches of the rows of a data set of Arrow; a call starts a reading."""

    dataset: Any
    columns: dict[str, str]
    features: list[str]  # Names of the columns of features
    batch_rows: int

    @classmethod
    def of(
        cls,
        source: Any,
        columns: dict[str, Any],
        features: Iterable[str] | None,
        batch_rows: Any,
    ) -> ParquetBatches:
        """Find the files and the columns. Nothing but the schema has been read."""
        arrow = import_optional("pyarrow.dataset", "RowBatches.from_parquet")
        batch_rows = check_whole("batch_rows", batch_rows)
        dataset = source
        if not isinstance(source, arrow.Dataset):
            if isinstance(source, str | os.PathLike):
                paths: Any = os.fspath(source)
            else:
                paths = [os.fspath(path) for path in source]
            # Else pages that are damaged may be read as other numbers.
            verified = arrow.ParquetFragmentScanOptions(page_checksum_verification=True)
            parquet = arrow.ParquetFileFormat(default_fragment_scan_options=verified)
            dataset = arrow.dataset(paths, format=parquet)
        columns = {role: name for role, name in columns.items() if name is not None}
        schema = dataset.schema
        if features is None:
            other = set(columns.values())
            features = [f.name for f in schema if f.name not in other and _is_number(f.type)]
        elif isinstance(features, str):
            raise TypeError(f"features={features!r} is a string: pass a list of names.")
        features = list(features)
        names = [*columns.values(), *features]
        unknown = [name for name in names if name not in schema.names]
        if unknown:
            raise ValueError(f"There is no column {unknown[0]!r}: the files have {schema.names}.")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(
                f"The column {twice[0]!r} is used twice: pass different columns as label, qid,"
                " weights and features."
            )
        words = [name for name in features if not _is_number(schema.field(name).type)]
        if words:
            raise ValueError(
                f"The feature {words[0]!r} is a column of {schema.field(words[0]).type}, but"
                " features must be numbers: leave it out of `features` or encode it."
            )
        if not features:
            raise ValueError(
                f"The files have no numeric column for features, but {schema.names}: pass"
                " features=."
            )
        return cls(dataset, columns, features, batch_rows)

    def __call__(self) -> Iterator[dict[str, Any]]:
        for fragment in self.dataset.get_fragments():
            name = getattr(fragment, "path", "the table")
            try:
                yield from self._of_fragment(fragment)
            except (OSError, ValueError) as error:
                kind = OSError if isinstance(error, OSError) else ValueError
                raise kind(f"{name}: {error}") from error

    def _of_fragment(self, fragment: Any) -> Iterator[dict[str, Any]]:
        names = [*self.columns.values(), *self.features]
        stored = fragment.physical_schema
        # Types of this file, as Arrow would round to those of the first one in silence.
        schema = self.dataset.schema
        for name in names:
            if stored.get_field_index(name) >= 0:
                schema = schema.set(schema.get_field_index(name), stored.field(name))
        batches = fragment.to_batches(
            schema=schema,
            columns=names,
            batch_size=self.batch_rows,
            batch_readahead=1,
            fragment_readahead=1,
        )
        for batch in batches:
            if batch.num_rows:
                columns = {role: batch.column(name) for role, name in self.columns.items()}
                yield columns | {"X": _matrix([batch.column(name) for name in self.features])}


def _matrix(columns: list[Any]) -> AnyArray:
    """Columns of Arrow as rows; NaN where a value is missing."""
    is_single = all(str(column.type) == "float" for column in columns)
    out = np.empty((len(columns[0]), len(columns)), np.float32 if is_single else np.float64)
    # NumPy would take as objects: decimals, and bools with missing values.
    arrays = [
        np.asarray(
            column.cast("float64") if str(column.type).startswith(("bool", "decimal")) else column
        )
        for column in columns
    ]
    for start in range(0, len(out), STRIP):
        rows = slice(start, start + STRIP)
        for index, values in enumerate(arrays):
            out[rows, index] = values[rows]
    return out


def _is_number(kind: Any) -> bool:
    types = import_optional("pyarrow.types", "RowBatches.from_parquet")
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks)


@dataclass(frozen=True, eq=False)
class SvmlightBatches:
    """Batches of the rows of files in the svmlight format with ids; a call starts a reading."""

    paths: list[Path]
    first: int  # Index of the first feature
    n_features: int
    zero_based: ZeroBased  # This and the next two as in :func:`sklearn_rank.datasets.load_letor`
    sparse: bool
    dtype: Any
    integers: bool  # Whether all ids are integers
    batch_rows: int

    @classmethod
    def of(
        cls,
        source: Any,
        n_features: Any,
        zero_based: ZeroBased,
        sparse: bool,
        dtype: Any,
        batch_rows: Any,
    ) -> SvmlightBatches:
        """Find the indices and the type of the ids, without reading numbers."""
        batch_rows = check_whole("batch_rows", batch_rows)
        check_flag("sparse", sparse)
        check_format(zero_based, dtype)
        files = [source] if isinstance(source, str | os.PathLike) else source
        paths = [Path(file) for file in files]
        if not paths:
            raise ValueError("paths is empty: pass at least one file.")
        ids: set[bytes] = set()
        ranges = [_scan(path, ids) for path in paths]
        lowest = min(low for low, _ in ranges)
        highests = [high for _, high in ranges]
        highest = max(highests)
        first = int(zero_based is False or (zero_based == "auto" and lowest > 0))
        n_present = highest + 1 - first
        if n_features is None:
            n_features = n_present
        if check_whole("n_features", n_features) < n_present:
            raise ValueError(
                f"n_features={n_features} is less than the {n_present} features of"
                f" {paths[highests.index(highest)]}: increase it or leave it out."
            )
        integers = are_integers(ids)
        return cls(
            paths, first, n_features, zero_based, sparse, np.dtype(dtype), integers, batch_rows
        )

    @property
    def feature_names(self) -> list[str]:
        """Names of the features by their index in the files."""
        return [f"feature_{self.first + index}" for index in range(self.n_features)]

    def of_files(self, paths: list[Path]) -> SvmlightBatches:
        """Read other files in the same layout."""
        return replace(self, paths=paths)

    def __call__(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            yield {role: batch[role] for role in ("X", "y", "qid")}

    def batches(self, comments: bool = False) -> Iterator[dict[str, Any]]:
        """Read the files once."""
        # With zero_based=False the parser moves the columns.
        shift = 0 if self.zero_based is False else self.first
        options: dict[str, Any] = {"sparse": self.sparse, "zero_based": self.zero_based}
        options |= {"comments": comments, "dtype": self.dtype, "rows": self.batch_rows}
        for path in self.paths:
            queries: dict[bytes, int] = {}
            for block in read_blocks(path, queries, **options):
                if block.width - shift > self.n_features:
                    raise ValueError(
                        f"{path} has changed since it was first read: it has more features."
                    )
                qid = ids_from(list(queries), self.integers)[np.asarray(block.query)]
                queries.clear()
                yield {
                    "X": self._widen(block.X, shift),
                    "y": block.target,
                    "qid": qid,
                    "comments": block.comments,
                    "path": path,
                }

    def _widen(self, X: Any, shift: int) -> Any:
        shape = (X.shape[0], self.n_features)
        if self.sparse:
            return sp.csr_array((X.data, X.indices - shift, X.indptr), shape=shape)
        out = np.zeros(shape, dtype=self.dtype)
        X = X[:, shift:]
        out[:, : X.shape[1]] = X
        return out


def _scan(path: Path, ids: set[bytes]) -> tuple[int, int]:
    """Collect the ids of a file, and return its lowest and highest index.

    Malformed lines are left to the parser.
    """
    lowest, highest = np.iinfo(np.int64).max, 0
    with open_file(path) as stream:
        for line in stream:
            entries = line.partition(b"#")[0].split(None, 2)
            if len(entries) > 1:
                ids.add(entries[1][4:])
            if len(entries) < 3:
                continue
            first = entries[2].partition(b":")[0]
            last = entries[2].rpartition(b":")[0].rsplit(None, 1)[-1:]
            if first.isdigit() and last and last[0].isdigit():
                lowest, highest = min(lowest, int(first)), max(highest, int(last[0]))
    return lowest, highest
