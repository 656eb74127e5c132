"""Readers of batches of rows from Parquet and LETOR files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._arguments import check_flag, check_whole
from ._letor_lines import ZeroBased, are_integers, ids_from, open_file, read_blocks
from ._optional import import_optional
from ._typing import AnyArray

__all__ = ["ParquetBatches", "SvmlightBatches"]

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
            taken = set(columns.values())
            features = [f.name for f in schema if f.name not in taken and _is_number(f.type)]
        elif isinstance(features, str):
            raise TypeError(f"features={features!r} is a string: pass a list of names.")
        features = list(features)
        wanted = [*columns.values(), *features]
        _refuse_unknown(wanted, schema.names)
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
        wanted = [*self.columns.values(), *self.features]
        stored = fragment.physical_schema
        # Types of this file, as Arrow would round to those of the first one in silence.
        schema = self.dataset.schema
        for name in wanted:
            if stored.get_field_index(name) >= 0:
                schema = schema.set(schema.get_field_index(name), stored.field(name))
        batches = fragment.to_batches(
            schema=schema,
            columns=wanted,
            batch_size=self.batch_rows,
            batch_readahead=1,
            fragment_readahead=1,
        )
        for batch in batches:
            if batch.num_rows:
                given = {role: batch.column(name) for role, name in self.columns.items()}
                yield given | {"X": _matrix([batch.column(name) for name in self.features])}


def _matrix(columns: list[Any]) -> AnyArray:
    """Columns of Arrow as rows; NaN where a value is missing."""
    is_single = all(str(column.type) == "float" for column in columns)
    out = np.empty((len(columns[0]), len(columns)), np.float32 if is_single else np.float64)
    arrays = [np.asarray(_as_numbers(column)) for column in columns]
    for start in range(0, len(out), STRIP):
        rows = slice(start, start + STRIP)
        for index, array in enumerate(arrays):
            out[rows, index] = array[rows]
    return out


def _as_numbers(column: Any) -> Any:
    """Cast what NumPy would take as objects: decimals, and bools with missing values."""
    kind = str(column.type)
    return column.cast("float64") if kind == "bool" or kind.startswith("decimal") else column


def _is_number(kind: Any) -> bool:
    types = import_optional("pyarrow.types", "RowBatches.from_parquet")
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks)


def _refuse_unknown(wanted: list[str], known: list[str]) -> None:
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"There is no column {unknown[0]!r}: the files have {known}.")
    twice = [name for name, count in Counter(wanted).items() if count > 1]
    if twice:
        raise ValueError(
            f"The column {twice[0]!r} is used twice: pass different columns as label, qid, weights"
            " and features."
        )


@dataclass(frozen=True, eq=False)
class SvmlightBatches:
    """Batches of the rows of files in the svmlight format with ids; a call starts a reading."""

    paths: list[Path]
    first: int  # Index of the first feature, and their number
    n_features: int  # Index of the first feature, and their number
    zero_based: ZeroBased  # As in :func:`sklearn_rank.datasets.load_letor`
    sparse: bool  # As in :func:`sklearn_rank.datasets.load_letor`
    dtype: Any  # As in :func:`sklearn_rank.datasets.load_letor`
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
        if not (zero_based is True or zero_based is False or zero_based == "auto"):
            raise ValueError(f"zero_based={zero_based!r} must be True, False or 'auto'.")
        if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"dtype={dtype!r} must be float64 or float32.")
        files = [source] if isinstance(source, str | os.PathLike) else source
        paths = [Path(file) for file in files]
        if not paths:
            raise ValueError("paths is empty: pass at least one file.")
        ids: set[bytes] = set()
        ends = [_ends_of(path, ids) for path in paths]
        lowest = min(low for low, _ in ends)
        highests = [high for _, high in ends]
        highest = max(highests)
        first = int(zero_based is False or (zero_based == "auto" and lowest > 0))
        found = highest + 1 - first
        if n_features is None:
            n_features = found
        if check_whole("n_features", n_features) < found:
            raise ValueError(
                f"n_features={n_features} is less than the {found} features of"
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
        """Read other files in the same layout, such as some of them. Their batches."""
        return replace(self, paths=paths)

    def __call__(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            yield {role: batch[role] for role in ("X", "y", "qid")}

    def batches(self, comments: bool = False) -> Iterator[dict[str, Any]]:
        """Read the files once."""
        # With zero_based=False the parser moves the columns.
        shift = 0 if self.zero_based is False else self.first
        for path in self.paths:
            queries: dict[bytes, int] = {}
            blocks = read_blocks(
                path,
                queries,
                sparse=self.sparse,
                zero_based=self.zero_based,
                comments=comments,
                dtype=self.dtype,
                rows=self.batch_rows,
            )
            for block in blocks:
                if block.width - shift > self.n_features:
                    raise ValueError(
                        f"{path} has changed since it was first read: it has more features."
                    )
                qid = ids_from(list(queries), self.integers)[np.asarray(block.query)]
                queries.clear()
                X = self._widened(block.X, shift)
                yield {
                    "X": X,
                    "y": block.target,
                    "qid": qid,
                    "comments": block.comments,
                    "path": path,
                }

    def _widened(self, X: Any, shift: int) -> Any:
        shape = (X.shape[0], self.n_features)
        if self.sparse:
            return sp.csr_array((X.data, X.indices - shift, X.indptr), shape=shape)
        out = np.zeros(shape, dtype=self.dtype)
        kept = X[:, shift:]
        out[:, : kept.shape[1]] = kept
        return out


def _ends_of(path: Path, ids: set[bytes]) -> tuple[int, int]:
    """Lowest and highest index of a file; malformed lines are left to the parser."""
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
