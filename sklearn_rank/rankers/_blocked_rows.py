"""Rows of dask collections, which need not be in memory as a whole."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias
from weakref import ref

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from .._lists import Lists
from .._optional import import_dask
from .._partitions import Partitions, aligned, in_chunk, is_collection, tree_reduce
from .._solvers import (
    ChunkedDesign,
    ChunkOfRows,
    Design,
    Parts,
    view_design,
)
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_sample_weight, check_vector, missing_label, ravelled
from ._base import forget


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the number and names of the features of a collection, or compare them with those."""
    n_features, names = _features(X)
    if reset:
        forget(estimator, "feature_names_in_")
        estimator.n_features_in_ = n_features
        if names is not None:
            estimator.feature_names_in_ = names
        return
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting"
            f" {estimator.n_features_in_} features as input."
        )
    expected = getattr(estimator, "feature_names_in_", None)
    if expected is not None and names is not None and not np.array_equal(expected, names):
        place = int(np.argmax(expected != names))
        raise ValueError(
            f"Feature {place} of X is {names[place]!r}, but was {expected[place]!r} in fit: pass "
            "the columns in the order of fit, X[list(estimator.feature_names_in_)]."
        )


def _features(X: Any) -> tuple[int, Any]:
    if X.ndim != 2:
        raise ValueError(
            f"X has {X.ndim} dimensions, but must have two: pass a dask array or dataframe of "
            "rows and features."
        )
    names = getattr(X, "columns", None)
    if names is not None:
        names = np.asarray(names, dtype=object)
        names = names if all(isinstance(name, str) for name in names) else None
    n_features = X.shape[1]
    if n_features != n_features:
        raise ValueError(
            "X is a dask array with an unknown number of columns: call X.compute_chunk_sizes() "
            "first."
        )
    return int(n_features), names


def checked_chunk(X: Any, *, n_features: int, dtype: Any = (np.float64, np.float32)) -> Any:
    """Check that features of a block are finite numbers. Shape (n_rows, n_features)."""
    dtype = list(dtype) if isinstance(dtype, tuple) else dtype
    X = check_array(X, accept_sparse="csr", dtype=dtype, input_name="X", ensure_all_finite=False)
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features in this chunk, but {n_features} in others.")
    place = first_not_finite(X)
    if place is not None:
        raise ValueError(
            f"X contains NaN or infinity, first in row {place[0]}, column {place[1]}: impute "
            "the value or remove the row."
        )
    return sp.csr_array(X) if sp.issparse(X) else X


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


def extreme_labels(y: Any) -> AnyArray:
    if not is_collection(y):
        return _extremes([y])
    extremes = aligned(y=y).reduce(lambda columns: _extremes([columns["y"]]), _extremes)
    return np.asarray(extremes)


def _extremes(parts: list[Any]) -> AnyArray:
    labels = np.concatenate([np.asarray(part) for part in parts])
    return np.array([labels.min(), labels.max()])


def scores_by_blocks(estimator: Any, X: Any, score: Callable[[Any], FloatArray]) -> Any:
    """Score the rows of a collection; the scores are lazy. Shape (n_rows,)."""
    check_features(estimator, X, reset=False)
    n_features = estimator.n_features_in_

    def scores_of_chunk(columns: dict[str, Any]) -> FloatArray:
        return score(checked_chunk(columns["X"], n_features=n_features, dtype=np.float64))

    return lazy_scores(aligned(X=X), scores_of_chunk)


def lazy_scores(partitions: Partitions, scores_of_chunk: Callable[..., FloatArray]) -> Any:
    """Scores of the chunks as one dask array. Shape (n_rows,)."""
    array = import_dask("dask.array")
    # Chunks without rows have the scores None.
    as_array = import_dask().delayed(
        lambda scores: np.empty(0) if scores is None else scores, pure=False
    )
    lengths = partitions.lengths or (np.nan,) * partitions.n_chunks
    chunks = [
        array.from_delayed(as_array(scores), shape=(length,), dtype=np.float64)
        for scores, length in zip(partitions.map(scores_of_chunk), lengths, strict=True)
    ]
    return array.concatenate(chunks)


# Labels (n_rows,), weights (n_rows,), and the design of some rows; None takes all.
BlockedClasses: TypeAlias = tuple[AnyArray, FloatArray, Callable[[IntArray | None], Design]]


def blocked_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> BlockedClasses:
    check_features(estimator, X, reset=True)
    partitions = aligned(X=X, y=y, sample_weight=sample_weight)
    n_features = int(estimator.n_features_in_)
    return _classes_of_chunks(partitions, n_features)


def _classes_of_chunks(partitions: Partitions, n_features: int) -> BlockedClasses:
    """Check chunks, where they are; keep them there if there is a cluster."""
    dask = import_dask()
    checked = partitions.map(lambda columns: checked_chunk(columns["X"], n_features=n_features))
    if _has_cluster():
        checked = list(dask.persist(*checked))
    small = replace(
        partitions,
        columns={name: column for name, column in partitions.columns.items() if name != "X"},
    )
    # Numbers of rows and of their bytes; None of a chunk without rows.
    size = dask.delayed(
        lambda rows: None if rows is None else (int(rows.shape[0]), ChunkOfRows.bytes_of(rows))
    )
    sizes = [size(rows) for rows in checked]
    results = partitions.compute(*sizes, *small.map(_labels_and_weights))
    chunks, labels, weights = [], [], []
    for number, (size, column) in enumerate(
        zip(results[: len(checked)], results[len(checked) :], strict=True)
    ):
        if size is None:
            continue
        chunks.append(ChunkOfRows(number, checked[number], *size))
        y, weight = column
        labels.append(y)
        weights.append(weight)
        kinds = {labels[0].dtype.kind, y.dtype.kind}
        if len(kinds) > 1 and "O" in kinds:
            raise ValueError(
                f"y has dtype {y.dtype} in chunk {number}, but {labels[0].dtype} in "
                f"chunk {chunks[0].number}: use one dtype in all chunks."
            )
    if not chunks:
        raise ValueError("X is empty: pass at least one row.")
    y, weight = np.concatenate(labels), np.concatenate(weights)
    weight = check_sample_weight(weight, weight)
    return y, weight, lambda taken: ChunkedDesign(partitions, chunks, n_features, taken)


def _has_cluster() -> bool:
    try:
        distributed = sys.modules["distributed"]
        distributed.Client.current()
    except (KeyError, ValueError):
        return False
    return True


def _labels_and_weights(columns: dict[str, Any]) -> tuple[AnyArray, FloatArray]:
    y = np.asarray(ravelled(columns["y"], "y"))
    y = y.astype(object) if y.dtype.kind in "SU" else y
    weight = columns["sample_weight"]
    weight = np.ones(len(y)) if weight is None else np.asarray(ravelled(weight, "sample_weight"))
    if np.any(y != y):
        raise ValueError(missing_label("y", f"row {int(np.argmax(y != y))}"))
    return y, check_vector("sample_weight", weight, lowest=0.0)


def _summed(results: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return reduce(lambda total, result: tuple(map(np.add, total, result)), results)


@dataclass(frozen=True, eq=False)
class ChunkedLists(Parts):
    """Lists in the chunks of collections, which the scheduler keeps; see ``Parts``."""

    partitions: Partitions  # Source of the chunks, used to name the chunk in errors
    chunks: list[Any]
    n_features: int
    exit_stack: ExitStack
    loss: Any = None  # Properties of the loss
    prepared: list[Any] | None = None  # The chunks with their losses

    def summary(self, merge: Callable[[list[Any]], Any]) -> Any:
        """Merge the summaries of the chunks; None where no chunk has rows."""
        read = import_dask().delayed(getattr, pure=False)
        summaries = [read(chunk, "summary", None) for chunk in self.chunks]
        (merged,) = self.partitions.compute(tree_reduce(summaries, merge))
        return merged

    def on(self, make: Callable[[Lists], Any], loss: Any) -> ChunkedLists:
        delayed = import_dask().delayed
        prepare, shared = delayed(_prepare, pure=False), delayed(make, traverse=False)
        prepared = [prepare(number, chunk, shared) for number, chunk in enumerate(self.chunks)]
        return replace(self, loss=loss, prepared=persisted(prepared, self.exit_stack))

    def _sum(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        delayed = import_dask().delayed
        evaluate = delayed(_evaluate, pure=False)
        call = delayed(lambda items, loss: function(items, loss, *arguments), traverse=False)
        sums = [evaluate(chunk, call) for chunk in self.prepared or ()]
        (total,) = self.partitions.compute(tree_reduce(sums, _summed))
        return total


class _Persisted(list[Any]):
    """Values that workers hold; a list that can be referred to weakly."""


def persisted(values: list[Any], exit_stack: ExitStack) -> list[Any]:
    """Compute values on the workers, and keep them there until ``exit_stack`` is closed."""
    result = _Persisted(import_dask().persist(*values))
    reference = ref(result)

    def release() -> None:
        # A traceback may refer to the values for long.
        values, distributed = reference(), sys.modules.get("distributed")
        if values is not None and distributed is not None:
            for future in distributed.futures_of(list(values)):
                future.release()

    exit_stack.callback(release)
    return result


def _prepare(number: int, chunk: Any, make: Callable[[Lists], Any]) -> Any:
    """Rows of a chunk, their order by lists, and the loss of these."""
    if chunk is None or chunk.lists is None:
        return None
    lists = chunk.lists
    return chunk.rows, lists.rows, in_chunk(number, make, replace(lists, rows=None))


def _evaluate(chunk: Any, function: Any) -> tuple[Any, ...] | None:
    if chunk is None:
        return None
    rows, order, loss = chunk
    # The scheduler measures the size of arrays, but not of numbers in Python tuples.
    return tuple(map(np.asarray, function(view_design(rows, order), loss)))
