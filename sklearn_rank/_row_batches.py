"""Rows that are read batch by batch whenever they are needed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from ._batch_files import ParquetBatches, SvmlightBatches, ZeroBased
from ._codes import coded_column, distinct_codes, is_missing
from ._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._validation import (
    check_qid,
    check_vector,
    missing_label,
    ravelled,
    refuse_mask,
    refuse_rounded_ids,
)

ROLES = ("X", "y", "qid", "sample_weight", "query_weight")


class RowBatches:
    """Rows X of which one batch at a time is in memory; all else of the rows stays in memory.

    Labels, ids of queries and weights, 8 to 32 bytes a row, are read and checked once. The
    features are read anew, in the same batches, each time somebody asks for :meth:`blocks`.

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
    Peak memory is that of one batch and a copy of it in the type of the others where it has
    another, beside the small columns; of Parquet, Arrow holds some batches more, since it reads
    ahead. A reading stops with an error if a batch has not the number
    of rows, the labels or the features (looked at in eight rows) that it had when the object was
    made: a file that has changed, or a loader that shuffles, would set labels beside other rows.
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
        source = ParquetBatches.of(paths, columns, features, batch_rows)
        return cls(source, feature_names=source.features)

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
    ) -> RowBatches:
        """Read the rows of files in the svmlight format of LETOR and MSLR.

        Each reading parses the text again, two to three million values a second: what is read
        more than once is better stored as Parquet. See :func:`~sklearn_rank.datasets.load_letor`
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

        Returns
        -------
        RowBatches
            The rows, in the order of the files; it can be pickled.
        """
        source = SvmlightBatches.of(paths, n_features, zero_based, sparse, dtype, batch_rows)
        return cls(source, feature_names=source.feature_names)

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
                labels = _as_values(batch.columns["y"], batch.n_rows, "y")
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
        if first is None:
            raise ValueError("The batches have no rows: pass at least one row.")
        self.offsets: IntArray = np.array(ends)
        self.dtype = np.result_type(*dtypes)
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
                missing = _missing(columns[role])
                missing = missing & positive if role == "y" else missing
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
        """Raise an error if the batch has another form than the first one."""
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


def _refuse_not_finite(X: Any, start: int, names: AnyArray | None) -> None:
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    entry = int(np.argmax(bad))
    if sp.issparse(X):
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        column, value = int(X.indices[entry]), X.data[entry]
    else:
        row, column = divmod(entry, X.shape[1])
        value = X[row, column]
    feature = column if names is None else repr(names[column])
    raise ValueError(
        f"X is {value:g} at row {row} (row {start + row} of all), feature {feature}: features must"
        " be finite; fill it in or remove the row."
    )


def _as_values(column: Any, n: int, name: str, words: dict[Any, Any] | None = None) -> AnyArray:
    """Labels or ids of a batch as numbers, or words as objects; missing words are None."""
    refuse_mask(column, name)
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
    known = {} if words is None else words
    objects = np.empty(len(distinct), dtype=object)
    for code, value in enumerate(distinct):
        objects[code] = None if is_missing(value) else known.setdefault(value, value)
    return objects[coded.codes]


def _missing(values: AnyArray) -> BoolArray:
    if values.dtype.kind == "O":
        return np.fromiter((value is None for value in values), bool, len(values))
    return values != values  # NaN and NaT


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
