"""Rows of dask collections, which need not be in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._lists import Lists
from .._partitions import Partitions, has_cluster, no_rows_of, parts
from .._solvers import ChunkedDesign, Design, Parts, bytes_of, view_design
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_sample_weight, check_vector, missing_label, ravelled


def check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the number and names of the features of a collection, or compare them with those."""
    validate_data(estimator, no_rows_of(X), reset=reset, skip_check_array=True)


def checked_part(X: Any, *, n_features: int, dtype: Any = (np.float64, np.float32)) -> Any:
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
    labels: AnyArray = parts(y=y).map(lambda columns: _extremes([columns["y"]])).reduce(_extremes)
    return labels


def _extremes(columns: list[Any]) -> AnyArray:
    labels = np.concatenate([np.asarray(column) for column in columns])
    return np.array([labels.min(), labels.max()])


def scores_by_parts(estimator: Any, X: Any, score: Callable[[Any], FloatArray]) -> Any:
    """Score the rows of a collection; the scores are lazy. Shape (n_rows,)."""
    check_features(estimator, X, reset=False)
    n_features = estimator.n_features_in_

    def scores_of_part(columns: dict[str, Any]) -> FloatArray:
        return score(checked_part(columns["X"], n_features=n_features, dtype=np.float64))

    return parts(X=X).map(scores_of_part).array()


# Labels (n_rows,), weights (n_rows,), and the design of some rows; None takes all.
BlockedClasses: TypeAlias = tuple[AnyArray, FloatArray, Callable[[IntArray | None], Design]]


def blocked_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> BlockedClasses:
    """Check the parts, where they are; keep them there if there is a cluster."""
    check_features(estimator, X, reset=True)
    rows, n_features = parts(X=X, y=y, sample_weight=sample_weight), int(estimator.n_features_in_)
    checked = rows.map(lambda columns: checked_part(columns["X"], n_features=n_features))
    if has_cluster():
        checked = checked.persisted()
    found = rows.compute(*checked.map(_sizes_and_labels, each=[rows.without("X").values]).values)
    present = {number: facts for number, facts in enumerate(found) if facts is not None}
    if not present:
        raise ValueError("X is empty: pass at least one row.")
    sizes = np.array([(0, 0) if facts is None else facts[0] for facts in found]).T
    _, labels, weights = zip(*present.values(), strict=True)
    for number, y in zip(present, labels, strict=True):
        if y.dtype.kind != labels[0].dtype.kind and "O" in (y.dtype.kind, labels[0].dtype.kind):
            raise ValueError(
                f"y has dtype {y.dtype} in chunk {number}, but {labels[0].dtype} in "
                f"chunk {next(iter(present))}: use one dtype in all chunks."
            )
    weight = np.concatenate(weights)
    weight = check_sample_weight(weight, weight)
    design = partial(ChunkedDesign, checked, sizes, n_features)
    return np.concatenate(labels), weight, design


def _sizes_and_labels(X: Any, columns: dict[str, Any]) -> tuple[Any, AnyArray, FloatArray]:
    y = np.asarray(ravelled(columns["y"], "y"))
    y = y.astype(object) if y.dtype.kind in "SU" else y
    weight = columns["sample_weight"]
    weight = np.ones(len(y)) if weight is None else np.asarray(ravelled(weight, "sample_weight"))
    if np.any(y != y):
        raise ValueError(missing_label("y", f"row {int(np.argmax(y != y))}"))
    sizes = int(X.shape[0]), bytes_of(X)
    return sizes, y, check_vector("sample_weight", weight, lowest=0.0)


def _summed(results: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return reduce(lambda total, result: tuple(map(np.add, total, result)), results)


@dataclass(frozen=True, eq=False)
class ChunkedLists(Parts):
    """Lists in the parts of collections, which the scheduler keeps; see ``Parts``."""

    chunks: Partitions
    n_features: int
    exit_stack: ExitStack
    loss: Any = None  # Properties of the loss
    prepared: Any = None  # The chunks with their losses

    def summary(self, merge: Callable[[list[Any]], Any]) -> Any:
        """Merge the summaries of the chunks; None where no chunk has rows."""
        summaries = self.chunks.map(attrgetter("summary"))
        return self.chunks.compute(summaries.merged(merge))[0]

    def on(self, make: Callable[[Lists], Any], loss: Any) -> ChunkedLists:
        prepared = self.chunks.map(_prepare, make).persisted(self.exit_stack)
        return replace(self, loss=loss, prepared=prepared)

    def _sum(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return self.prepared.map(_evaluate, function, arguments).reduce(_summed)


def _prepare(chunk: Any, make: Callable[[Lists], Any]) -> Any:
    """Rows of a chunk, their order by lists, and the loss of these."""
    lists = chunk.lists
    return None if lists is None else (chunk.rows, lists.rows, make(replace(lists, rows=None)))


def _evaluate(chunk: Any, function: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    rows, order, loss = chunk
    # The scheduler measures the size of arrays, but not of numbers in Python tuples.
    return tuple(map(np.asarray, function(view_design(rows, order), loss, *arguments)))
