"""Rows that are not in memory as a whole: batches that are read again, and dask collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from .._optional import import_optional
from .._partitions import aligned, is_collection
from .._row_batches import RowBatches
from .._typing import AnyArray, FloatArray
from ._fitting import forget

__all__ = [
    "check_features",
    "check_small_columns",
    "checked_chunk",
    "extreme_labels",
    "is_blocked",
    "refuse_blocked",
    "lazy_scores",
    "scores_by_blocks",
]

# Dtypes that solvers take without conversion; others are converted to the first.
ROW_TYPES = (np.float64, np.float32)


def is_blocked(X: Any) -> bool:
    """Whether rows are read in blocks. True for ``RowBatches`` and dask collections."""
    return isinstance(X, RowBatches) or is_collection(X)


def refuse_blocked(estimator: Any, X: Any, instead: str = "") -> None:
    """Raise an error for rows in blocks, if a fit needs all rows in memory."""
    if is_blocked(X):
        raise TypeError(
            f"{type(estimator).__name__} needs X in memory, but X is of type {type(X).__name__}: "
            "pass an array of rows that fit into memory, such as X.compute() of a dask "
            f"collection{instead}."
        )


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the number and names of the features of blocked rows, or compare them with those."""
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
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and not np.array_equal(known, names):
        place = int(np.argmax(known != names))
        raise ValueError(
            f"Feature {place} of X is {names[place]!r}, but was {known[place]!r} in fit: pass "
            "the columns in the order of fit, X[list(estimator.feature_names_in_)]."
        )


def _features(X: Any) -> tuple[int, Any]:
    """Number of features, and their names where all are strings."""
    if isinstance(X, RowBatches):
        return X.shape[1], X.feature_names
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


def check_small_columns(rows: RowBatches, **columns: Any) -> None:
    """Check that labels, ids and weights of batches were passed, and are in memory."""
    for name, values in columns.items():
        kept = getattr(rows, name, None)
        if values is None and kept is not None:
            without = "" if name == "qid" else f", or {name}=np.ones(len(rows)) to leave it out"
            raise ValueError(
                f"X has {name}, but {name} was not passed: pass {name}=rows.{name}{without}."
            )
        if is_collection(values):
            raise TypeError(
                f"{name} is a dask collection, but X is RowBatches: pass rows.{name}, or X as a "
                "dask collection as well."
            )


def checked_chunk(X: Any, *, n_features: int, dtype: Any = ROW_TYPES) -> Any:
    """Check the features of a block. Finite numbers. Shape (n_rows, n_features)."""
    kept = list(dtype) if isinstance(dtype, tuple) else dtype
    X = check_array(X, accept_sparse="csr", dtype=kept, input_name="X", ensure_all_finite=False)
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features in this chunk, but {n_features} in others.")
    values = X.data if sp.issparse(X) else X
    # If the sum is finite, all values are; this needs no copy.
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        flat = int(np.argmin(np.isfinite(values)))
        row = (
            np.searchsorted(X.indptr, flat, "right") - 1 if sp.issparse(X) else flat // n_features
        )
        column = X.indices[flat] if sp.issparse(X) else flat % n_features
        raise ValueError(
            f"X contains NaN or infinity, first in row {int(row)}, column {int(column)}: impute "
            "the value or remove the row."
        )
    return sp.csr_array(X) if sp.issparse(X) else X


def extreme_labels(y: Any) -> AnyArray:
    """Find the smallest and the largest label. Shape (2,)."""
    if not is_collection(y):
        return _extremes([np.asarray(y)])
    return np.asarray(aligned(y=y).reduce(_extremes_of_chunk, _extremes))


def _extremes_of_chunk(columns: dict[str, Any]) -> AnyArray:
    return _extremes([np.asarray(columns["y"])])


def _extremes(parts: list[AnyArray]) -> AnyArray:
    joined = np.concatenate(parts)
    return np.array([joined.min(), joined.max()])


def scores_by_blocks(estimator: Any, X: Any, score: Callable[[Any], FloatArray]) -> Any:
    """Score blocked rows. Scores; lazy for dask collections. Shape (n_rows,)."""
    check_features(estimator, X, reset=False)
    if isinstance(X, RowBatches):
        scores = np.empty(X.shape[0])
        for part, rows in X.blocks():
            scores[part] = score(rows.astype(np.float64, copy=False))
        return scores
    return lazy_scores(aligned(X=X), _scores_of_chunk, score, estimator.n_features_in_)


def _scores_of_chunk(
    columns: dict[str, Any], score: Callable[[Any], FloatArray], n_features: int
) -> FloatArray:
    return score(checked_chunk(columns["X"], n_features=n_features, dtype=np.float64))


def lazy_scores(partitions: Any, function: Callable[..., FloatArray], *arguments: Any) -> Any:
    """Scores of the chunks as one dask array. Shape (n_rows,)."""
    array = import_optional("dask.array", "A dask collection")
    delayed = import_optional("dask", "A dask collection").delayed(_or_none, pure=False)
    lengths = partitions.lengths or (np.nan,) * partitions.n_chunks
    chunks = [
        array.from_delayed(delayed(scores), shape=(length,), dtype=np.float64)
        for scores, length in zip(partitions.map(function, *arguments), lengths, strict=True)
    ]
    return array.concatenate(chunks)


def _or_none(scores: FloatArray | None) -> FloatArray:
    """Scores of a chunk, none of one without rows."""
    return np.empty(0) if scores is None else scores
