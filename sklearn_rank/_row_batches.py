"""Rows that are read batch by batch whenever they are needed: from functions and files."""

from __future__ import annotations

import bz2
import gzip
import io
import mmap
import os
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from ._optional import import_optional
from ._typing import AnyArray, FloatArray, IntArray
from ._validation import (
    are_missing,
    check_flag,
    check_qid,
    check_vector,
    check_whole,
    coded_column,
    distinct_codes,
    is_missing,
    missing_label,
    ravelled,
    reads_as,
    refuse_rounded_ids,
)

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
    query: IntArray  # (n_rows,): Number of the query of each row
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
        query=np.array(lines.query),
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

    def begin_block(self) -> None:
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


def parquet_batches(
    source: Any, columns: dict[str, Any], features: Iterable[str] | None, batch_rows: Any
) -> tuple[Callable[[], Iterator[dict[str, Any]]], list[str]]:
    """Reader of the rows of a data set of Arrow, and the names of the features, by its schema."""
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
            f"The files have no numeric column for features, but {schema.names}: pass features=."
        )
    return partial(_read_parquet, dataset, columns, features, batch_rows), features


def _read_parquet(
    dataset: Any, columns: dict[str, str], features: list[str], batch_rows: int
) -> Iterator[dict[str, Any]]:
    names = [*columns.values(), *features]
    for fragment in dataset.get_fragments():
        try:
            stored = fragment.physical_schema
            # Types of this file, as Arrow would round to those of the first one in silence.
            schema = dataset.schema
            for name in names:
                if stored.get_field_index(name) >= 0:
                    schema = schema.set(schema.get_field_index(name), stored.field(name))
            batches = fragment.to_batches(
                schema=schema,
                columns=names,
                batch_size=batch_rows,
                batch_readahead=1,
                fragment_readahead=1,
            )
            for batch in batches:
                if batch.num_rows:
                    small = {role: batch.column(name) for role, name in columns.items()}
                    yield small | {"X": _matrix([batch.column(name) for name in features])}
        except (OSError, ValueError) as error:
            kind = OSError if isinstance(error, OSError) else ValueError
            raise kind(f"{getattr(fragment, 'path', 'the table')}: {error}") from error


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
    integers: bool  # Whether all ids are integers
    options: dict[str, Any]  # Of :func:`read_blocks`

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
        options = {"sparse": sparse, "zero_based": zero_based, "dtype": np.dtype(dtype)}
        return cls(paths, first, n_features, are_integers(ids), options | {"rows": batch_rows})

    @property
    def feature_names(self) -> list[str]:
        """Names of the features by their index in the files."""
        return [f"feature_{self.first + index}" for index in range(self.n_features)]

    def __call__(self) -> Iterator[tuple[Any, ...]]:
        return ((X, y, qid) for _, X, y, qid, _ in self.batches())

    def batches(self, comments: bool = False) -> Iterator[tuple[Any, ...]]:
        """Read the files once: the path, X, labels, ids and comments of each batch."""
        # With zero_based=False the parser moves the columns.
        shift = 0 if self.options["zero_based"] is False else self.first
        for path in self.paths:
            queries: dict[bytes, int] = {}
            for block in read_blocks(path, queries, comments=comments, **self.options):
                if block.width - shift > self.n_features:
                    raise ValueError(
                        f"{path} has changed since it was first read: it has more features."
                    )
                qid = ids_from(list(queries), self.integers)[block.query]
                queries.clear()
                yield path, self._widen(block.X, shift), block.target, qid, block.comments

    def _widen(self, X: Any, shift: int) -> Any:
        shape = (X.shape[0], self.n_features)
        if sp.issparse(X):
            return sp.csr_array((X.data, X.indices - shift, X.indptr), shape=shape)
        out = np.zeros(shape, dtype=X.dtype)
        X = X[:, shift:]
        out[:, : X.shape[1]] = X
        return out


def _scan(path: Path, ids: set[bytes]) -> tuple[int, int]:
    """Collect the ids of a file, and return its lowest and highest index, of well-formed lines."""
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


ROLES = ("X", "y", "qid", "sample_weight", "query_weight")


class RowBatches:
    """Rows X of which one batch at a time is in memory; all else of the rows stays in memory.

    Labels, ids of queries and weights, 8 to 32 bytes a row, are read and checked once. The
    features are read anew, in the same batches, each time somebody asks for :meth:`blocks`,
    unless they fit into `cache_size`: then they are read once and kept.

    Parameters
    ----------
    batches : callable or iterable
        A function without arguments that returns a fresh iterable of batches, such as a
        generator, or an iterable that can be read again and again, such as a list. A batch is
        ``(X, y)``, ``(X, y, qid)``, or a dict with "X", "y" and any of "qid", "sample_weight" and
        "query_weight". `X` is an array, a CSR matrix or a data frame, of one kind in all
        batches; `y` holds one label for each row, numbers or words; `query_weight` is the weight
        of the query of each row. Batches without rows are skipped.
    feature_names : list of str or None, default=None
        Names of the features; None takes those of the columns of data frames.
    cache_size : float, default=1000
        Megabytes that the features of all rows may take to be kept in memory; 0 reads them anew
        each time. What a list of batches holds is in memory, and is never kept a second time.

    Attributes
    ----------
    shape : tuple of int
        Numbers of rows and of features.
    dtype : dtype
        Of the features: float32 if all batches are of it, else float64.
    is_sparse : bool
        Whether the batches are CSR matrices.
    feature_names : ndarray of str objects of shape (n_features,) or None
        Names of the features.
    y : ndarray of shape (n_rows,)
        Labels; words are objects.
    qid : ndarray of shape (n_rows,) or None
        Query of each row.
    sample_weight, query_weight : ndarray of shape (n_rows,) or None
        Weight of each row, and weight of the query of each row.
    offsets : ndarray of shape (n_batches + 1,)
        First row of each batch that has rows, and the number of rows.
    n_batches : int
        Number of batches that have rows.

    Raises
    ------
    TypeError
        If `batches` can be read only once.
    ValueError
        If a batch is not of the form, or unlike those before it, or has features that are not
        finite; the message names batch and row, both counted from 0.
    OSError
        If a batch cannot be read; its cause is chained.
    ImportError
        If a Parquet file is named and pyarrow is not installed.

    See Also
    --------
    sklearn_rank.datasets.load_letor : Ranking files that fit into memory.

    Notes
    -----
    Peak memory is that of `cache_size`, one batch and a copy of it in the type of the others where
    it has another, beside the small columns; of Parquet, Arrow holds some batches more, since it
    reads ahead. What is kept is what the first reading saw. A later reading stops with an error
    if a batch has not the number of rows, the labels or the features (looked at in eight rows)
    that it had when the object was made: a file that has changed, or a loader that shuffles, would
    set labels beside other rows.
    The function is called once for each reading; files that it opens in a generator are closed
    when the generator is, also after an error or an interrupt.

    An object can be pickled, and so sent to other processes, if `batches` can: those of
    :meth:`from_parquet` and :meth:`from_svmlight` can, a lambda cannot.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.datasets import RowBatches
    >>> def read():
    ...     rng = np.random.default_rng(0)
    ...     for query in range(3):
    ...         yield rng.normal(size=(4, 2)), [0, 1, 0, 2], [query] * 4
    >>> rows = RowBatches(read)
    >>> rows
    RowBatches(12 rows in 3 batches, 2 features, float64, qid)
    >>> rows.y[:5], rows.qid[:5]
    (array([0, 1, 0, 2, 0]), array([0, 0, 0, 0, 1]))
    >>> sum(X.sum() for rows_of_batch, X in rows.blocks()).round(3)
    np.float64(-2.739)
    """

    def __init__(
        self,
        batches: Callable[[], Iterable[Any]] | Iterable[Any],
        *,
        feature_names: Iterable[str] | None = None,
        cache_size: float = 1000,
    ) -> None:
        if not callable(batches):
            if not isinstance(batches, Iterable):
                raise TypeError(
                    f"batches is of type {type(batches).__name__}, but must be a function that"
                    " returns batches, or a list of them."
                )
            if iter(batches) is batches:
                raise TypeError(
                    f"batches is a {type(batches).__name__}, which can be read only once, but rows"
                    " are read many times: pass a function that returns a new one, such as"
                    " RowBatches(lambda: read(path))."
                )
        self._source = batches
        self.cache_size = cache_size
        names = None if feature_names is None else list(feature_names)
        self._first_reading(names)

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        *,
        label: str,
        qid: str | None = None,
        sample_weight: str | None = None,
        query_weight: str | None = None,
        features: Iterable[str] | None = None,
        batch_rows: int = 65536,
        cache_size: float = 1000,
    ) -> RowBatches:
        """Read the rows of Parquet files, or of a data set of Arrow.

        Parameters
        ----------
        paths : str, path-like, list of these or pyarrow.dataset.Dataset
            A file, a folder of files, some files, or a data set in any format of Arrow.
        label : str
            Name of the column of labels.
        qid, sample_weight, query_weight : str or None, default=None
            Names of the columns of the ids of queries and of weights.
        features : list of str or None, default=None
            Names of the columns of features; None is all other columns of numbers, decimals and
            bools among them. Columns of words and dates are left out.
        batch_rows : int, default=65536
            Most rows of a batch. A batch is of one file and one of its row groups.
        cache_size : float, default=1000
            Megabytes that the features may take to be read once and kept in memory.

        Returns
        -------
        RowBatches
            The rows, in the order of the files; it can be pickled.
        """
        columns = {
            "y": label,
            "qid": qid,
            "sample_weight": sample_weight,
            "query_weight": query_weight,
        }
        source, names = parquet_batches(paths, columns, features, batch_rows)
        return cls(source, feature_names=names, cache_size=cache_size)

    @classmethod
    def from_svmlight(
        cls,
        paths: Any,
        *,
        n_features: int | None = None,
        zero_based: ZeroBased = "auto",
        sparse: bool = False,
        dtype: Any = np.float64,
        batch_rows: int = 8192,
        cache_size: float = 1000,
    ) -> RowBatches:
        """Read the rows of files in the svmlight format of LETOR and MSLR.

        Each reading parses the text again, two to three million values a second: what exceeds
        `cache_size` is better stored as Parquet. See :func:`~sklearn_rank.datasets.load_letor`
        for the format.

        Parameters
        ----------
        paths : str, path-like or list of these
            The files; those that end in ``.gz`` or ``.bz2`` are decompressed.
        n_features : int or None, default=None
            Number of features; None is the highest index in any of the files.
        zero_based : bool or "auto", default="auto"
            Whether features count from 0; "auto" is 1 unless one of the files uses the index 0.
        sparse : bool, default=False
            If True, batches are CSR matrices.
        dtype : dtype, default=np.float64
            Type of the features, float64 or float32.
        batch_rows : int, default=8192
            Most rows of a batch.
        cache_size : float, default=1000
            Megabytes that the features may take to be read once and kept in memory.

        Returns
        -------
        RowBatches
            The rows, in the order of the files; it can be pickled.
        """
        source = SvmlightBatches.of(paths, n_features, zero_based, sparse, dtype, batch_rows)
        return cls(source, feature_names=source.feature_names, cache_size=cache_size)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return len(self.y), self._n_features

    @property
    def n_batches(self) -> int:
        """Number of batches that have rows."""
        return len(self.offsets) - 1

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        parts = [f"{self._n_features} features", str(self.dtype), *["sparse"] * self.is_sparse]
        parts += [name for name in ROLES[2:] if getattr(self, name) is not None]
        return f"RowBatches({len(self)} rows in {self.n_batches} batches, {', '.join(parts)})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the features, which other processes read themselves."""
        return self.__dict__ | {"_kept": None}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        raise TypeError(
            "RowBatches are not in memory as a whole, but an array is needed here: pass an array"
            " of a part that fits into memory, such as one from blocks()."
        )

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Read the features once, one batch after the other.

        Yields
        ------
        rows : slice
            Which rows of all the batch holds.
        X : ndarray or csr_array of shape (rows.stop - rows.start, n_features)
            Their features, of :attr:`dtype`, C-contiguous if dense; not to be written to.
        """
        if self._kept is not None:
            ends = self.offsets.tolist()
            yield from zip(map(slice, ends[:-1], ends[1:]), self._kept, strict=True)
            return
        done = 0
        for batch in self._read():
            with _in_batch(batch.number):
                if done == self.n_batches:
                    raise _changed(f"All {len(self)} rows of the first pass came before it")
                rows = slice(int(self.offsets[done]), int(self.offsets[done + 1]))
                known = self.y[rows]
                if batch.n_rows != len(known):
                    raise _changed(f"It has {batch.n_rows} rows, but had {len(known)}")
                X = batch.features(self.dtype)
                if sp.issparse(X) != self.is_sparse or X.shape[1] != self._n_features:
                    n = self._n_features
                    raise _changed(f"It has another type, or its number of features is not {n}")
                labels = _as_values(batch.columns["y"], batch.n_rows, "y", {})
                # Missing labels, of rows of weight 0, do not equal themselves.
                if not np.all((labels == known) | (known != known)):
                    raise _changed("Its labels have changed")
                if _checksum(X) != self._checksums[done]:
                    raise _changed("Its features have changed")
            yield rows, X
            done += 1
        if done < self.n_batches:
            raise _changed(f"The batches end after {self.offsets[done]} of {len(self)} rows")

    def _read(self) -> Iterator[_Batch]:
        """Batches with rows, and their numbers among all."""
        number = 0
        with _in_batch(number):
            batches = iter(self._source() if callable(self._source) else self._source)
        try:
            while True:
                with _in_batch(number):
                    try:
                        batch = _Batch.of(next(batches), number)
                    except StopIteration:
                        return
                if batch.n_rows:
                    yield batch
                number += 1
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()

    def _first_reading(self, feature_names: list[str] | None) -> None:
        """Read all batches, check them, and keep what is small."""
        small: dict[str, list[AnyArray]] = {role: [] for role in ROLES[1:]}
        words: dict[Any, Any] = {}
        ends, dtypes = [0], set()
        self._checksums: list[int] = []
        first: _Batch | None = None
        self._kept: list[Any] | None = [] if callable(self._source) else None
        size = 0
        for batch in self._read():
            with _in_batch(batch.number):
                X = batch.features()
                if first is None:
                    first = batch
                    self._n_features = X.shape[1]
                    self.is_sparse = bool(sp.issparse(X))
                    self.feature_names = _names(batch.names, feature_names, X.shape[1])
                batch.check_like(first, X.shape[1], self._n_features)
                _refuse_not_finite(X, ends[-1], self.feature_names)
                for role, column in batch.check_columns(words, ends[-1]).items():
                    if small[role] and _kind(column) != _kind(small[role][0]):
                        raise ValueError(
                            f"{role} has {_kind(column)}, but {_kind(small[role][0])} in batch"
                            f" {first.number}: use the same type in all batches."
                        )
                    small[role].append(column)
            ends.append(ends[-1] + batch.n_rows)
            self._checksums.append(_checksum(X))
            dtypes.add(X.dtype)
            if self._kept is not None:
                size += (X.data.nbytes + 2 * X.indices.nbytes) if sp.issparse(X) else X.nbytes
                self._kept.append(X.copy())  # A generator may write into the same array again
                if size > 1e6 * self.cache_size:
                    self._kept = None
        if first is None:
            raise ValueError("The batches have no rows: pass at least one row.")
        self.offsets: IntArray = np.array(ends)
        self.dtype = np.result_type(*dtypes)
        if self._kept is not None:
            self._kept = [X.astype(self.dtype, copy=False) for X in self._kept]
        columns = {role: _concatenate(parts, role) for role, parts in small.items() if parts}
        self.y: AnyArray = columns["y"]
        self.qid: AnyArray | None = columns.get("qid")
        self.sample_weight: FloatArray | None = columns.get("sample_weight")
        self.query_weight: FloatArray | None = columns.get("query_weight")


class _Batch(NamedTuple):
    """One batch as it was passed, `number` among all."""

    number: int
    columns: dict[str, Any]
    n_rows: int

    @classmethod
    def of(cls, batch: Any, number: int) -> _Batch:
        if isinstance(batch, Mapping):
            columns = {role: value for role, value in batch.items() if value is not None}
        elif isinstance(batch, tuple | list) and len(batch) in (2, 3):
            columns = dict(zip(ROLES, batch, strict=False))
        else:
            size = f" of {len(batch)}" if isinstance(batch, tuple | list) else ""
            raise TypeError(
                f"It is a {type(batch).__name__}{size}, but must be (X, y), (X, y, qid) or a dict"
                f" with some of {list(ROLES)}."
            )
        if not {"X", "y"} <= set(columns) <= set(ROLES):
            raise ValueError(
                f"It has {list(columns)}, but must have X and y, and optionally {list(ROLES[2:])}."
            )
        if not hasattr(columns["X"], "shape"):
            columns["X"] = np.asarray(columns["X"])
        shape = columns["X"].shape
        return cls(number, columns, int(shape[0]) if len(shape) else 1)

    @property
    def names(self) -> list[str] | None:
        """Names of the columns of a data frame or table, None of anything else."""
        X = self.columns["X"]
        names = getattr(X, "column_names", getattr(X, "columns", None))
        return None if names is None else list(names)

    @property
    def kind(self) -> str:
        if sp.issparse(self.columns["X"]):
            return "a sparse matrix"
        return "an array" if self.names is None else "a data frame"

    def features(self, dtype: Any = (np.float64, np.float32)) -> Any:
        X = self.columns["X"]
        dtypes = list(dtype) if isinstance(dtype, tuple) else dtype
        X = check_array(X, accept_sparse="csr", dtype=dtypes, order="C", ensure_all_finite=False)
        return sp.csr_array(X) if sp.issparse(X) else X

    def check_columns(self, words: dict[Any, Any], start: int) -> dict[str, AnyArray]:
        """Labels, ids and weights, checked; equal words are one object."""
        n = self.n_rows
        columns: dict[str, AnyArray] = {
            role: check_vector(role, self.columns[role], n, lowest=0)
            for role in ROLES[3:]
            if role in self.columns
        }
        positive = np.ones(n, dtype=bool)
        for weight in columns.values():
            positive &= weight > 0
        for role in ("y", "qid"):
            if role in self.columns:
                columns[role] = _as_values(self.columns[role], n, role, words)
                missing = are_missing(columns[role])
                missing &= positive | (role == "qid")
                if missing.any():
                    row = int(np.argmax(missing))
                    where = f"row {row} (row {start + row} of all)"
                    if role == "y":
                        raise ValueError(missing_label(role, where))
                    raise ValueError(f"qid is missing at {where}: give it an id or remove it.")
                if role == "qid":
                    refuse_rounded_ids(columns[role], role)
        return columns

    def check_like(self, first: _Batch, n_features: int, expected: int) -> None:
        if self.kind != first.kind:
            raise ValueError(
                f"X is {self.kind}, but {first.kind} in batch {first.number}: use the same type in"
                " all batches."
            )
        if n_features != expected:
            raise ValueError(
                f"X has {n_features} features, but {expected} in batch {first.number}."
            )
        if self.names != first.names:
            raise ValueError(
                f"X has the columns {self.names}, but {first.names} in batch {first.number}: pass"
                " the same columns in the same order."
            )
        if set(self.columns) != set(first.columns):
            raise ValueError(
                f"It has {sorted(self.columns)}, but batch {first.number} has"
                f" {sorted(first.columns)}: pass ids and weights with all batches or with no"
                " batch."
            )


@contextmanager
def _in_batch(number: int) -> Iterator[None]:
    """Say in errors which batch they are of."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise OSError(f"Batch {number} cannot be read: {error}") from error
    except TypeError as error:
        raise TypeError(f"Batch {number}: {error}") from error
    except ValueError as error:
        raise ValueError(f"Batch {number}: {error}") from error
    except Exception as error:
        error.add_note(f"This happened in batch {number}.")
        raise


def _changed(what: str) -> ValueError:
    return ValueError(
        f"{what}: each reading must give the same batches, so a function must return a fresh"
        " iterable that does not shuffle, and files must stay as they are; make the RowBatches"
        " anew."
    )


def _names(
    columns: list[Any] | None, feature_names: list[str] | None, n_features: int
) -> AnyArray | None:
    if columns is not None and not all(isinstance(name, str) for name in columns):
        columns = None
    names = columns if feature_names is None else feature_names
    if names is None:
        return None
    if columns is not None and columns != names:
        raise ValueError(f"feature_names is {names}, but the columns are {columns}: leave it out.")
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names for {n_features} features.")
    return np.array(names, dtype=object)


def first_not_finite(X: Any) -> tuple[int, int] | None:
    """Row and column of the first entry that is NaN or infinite, if any."""
    values = X.data if sp.issparse(X) else X
    # If the sum is finite, all values are; this needs no copy.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
            return None
    entry = int(np.argmin(np.isfinite(values)))
    if sp.issparse(X):
        return int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
    return divmod(entry, X.shape[1])


def _refuse_not_finite(X: Any, start: int, names: AnyArray | None) -> None:
    place = first_not_finite(X)
    if place is None:
        return
    row, column = place
    feature = column if names is None else repr(names[column])
    raise ValueError(
        f"X is {X[row, column]:g} at row {row} (row {start + row} of all), feature {feature}:"
        " features must be finite; fill it in or remove the row."
    )


def _as_values(column: Any, n: int, name: str, words: dict[Any, Any]) -> AnyArray:
    """Labels or ids of a batch as numbers, or words as objects; missing words are None."""
    coded = coded_column(column)
    if coded is None:
        array = np.asarray(ravelled(column, name))
        if array.dtype.kind in "SU" and isinstance(column, list | tuple):
            # NumPy has made words of numbers beside words.
            array = np.array(column, dtype=object)
        if array.ndim == 0 and name == "qid":
            array = np.asarray(check_qid(column, n))
        if array.shape != (n,):
            raise ValueError(
                f"{name} has shape {array.shape}, but X has {n} rows: pass one for each."
            )
        if array.dtype.kind not in "OSU":
            if array.dtype.kind not in "biufM":
                raise ValueError(
                    f"{name} has dtype {array.dtype}, but must be numbers or strings."
                )
            return array
        coded = distinct_codes(array)
    if len(coded) != n:
        raise ValueError(
            f"{name} has {len(coded)} entries, but X has {n} rows: pass one for each."
        )
    coded = coded.used()
    distinct = coded.distinct.tolist()
    present = [value for value in distinct if not is_missing(value)]
    if all(isinstance(value, Real | np.bool_) for value in present):
        numbers = np.array([np.nan if is_missing(value) else value for value in distinct])
        return numbers[coded.codes]
    other = [value for value in present if not isinstance(value, str)]
    if other:
        row = int(np.argmax(coded.codes == distinct.index(other[0])))
        raise ValueError(
            f"{name} has {other[0]!r} at row {row} among other types: make them all numbers or all"
            " strings."
        )
    objects = np.empty(len(distinct), dtype=object)
    for code, value in enumerate(distinct):
        objects[code] = None if is_missing(value) else words.setdefault(value, value)
    return objects[coded.codes]


def _kind(values: AnyArray) -> str:
    return {"O": "words", "M": "dates"}.get(values.dtype.kind, "numbers")


def _concatenate(parts: list[AnyArray], name: str) -> AnyArray:
    column = np.concatenate(parts)
    if column.dtype.kind == "f":
        for part in parts:
            if part.dtype.kind in "iu" and np.any(np.abs(part.astype(np.float64)) > 2.0**53):
                raise ValueError(
                    f"{name} has integers beyond 2**53 in some batches and other numbers in"
                    " others: use the same type in all batches."
                )
    return column


def _checksum(X: Any) -> int:
    """Checksum of eight rows, which are the same at each reading."""
    sample = X[np.linspace(0, X.shape[0] - 1, 8).astype(np.intp)]
    if sp.issparse(sample):
        of_columns = zlib.crc32(sample.indices.astype(np.int64))
        return zlib.crc32(sample.data.astype(np.float64), of_columns)
    return zlib.crc32(sample.astype(np.float64))
