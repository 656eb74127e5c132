"""Rows of two classes that are not in memory; labels and weights are loaded, features are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._optional import import_optional
from .._partitions import Partitions, aligned
from .._row_batches import RowBatches
from .._sklearn_compat import check_sample_weight
from .._solvers import BlockedDesign, ChunkedDesign, ChunkOfRows, Design
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import missing_label, ravelled
from ._blocked_rows import check_features, check_small_columns, checked_chunk

__all__ = ["BlockedClasses", "blocked_classes"]

USED_BY = "A dask collection"


class BlockedClasses(NamedTuple):
    """Labels and weights of all rows, and the rows as a design."""

    y: AnyArray  # (n_rows,)
    weight: FloatArray  # (n_rows,): Non-negative weights
    design: Callable[[IntArray | None], Design]


def blocked_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> BlockedClasses:
    """Check rows that are not in memory, and load their labels and weights."""
    check_features(estimator, X, reset=True)
    if isinstance(X, RowBatches):
        check_small_columns(X, y=y, sample_weight=sample_weight)
        labels = np.asarray(ravelled(y, "y"))
        if labels.shape != X.shape[:1]:
            raise ValueError(
                f"y has shape {labels.shape}, but X has {X.shape[0]} rows: pass one label per "
                "row, such as y=rows.y."
            )
        weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), X)
        return BlockedClasses(labels, weight, lambda taken: BlockedDesign(X, taken))
    return _of_chunks(
        aligned(X=X, y=y, sample_weight=sample_weight), int(estimator.n_features_in_)
    )


def _of_chunks(partitions: Partitions, n_features: int) -> BlockedClasses:
    """Check chunks, where they are; keep them there if there is a cluster."""
    dask = import_optional("dask", USED_BY)
    checked = partitions.map(_checked_rows, n_features)
    if _has_cluster():
        checked = list(dask.persist(*checked))
    small = replace(
        partitions,
        columns={name: one for name, one in partitions.columns.items() if name != "X"},
    )
    sizes = [dask.delayed(_size)(rows) for rows in checked]
    found = partitions.compute(*sizes, *small.map(_labels_and_weights))
    chunks, columns = [], []
    for number, (size, column) in enumerate(
        zip(found[: len(checked)], found[len(checked) :], strict=True)
    ):
        if size is None:
            continue
        chunks.append(ChunkOfRows(number, checked[number], *size))
        columns.append(column)
        if columns[0][0].dtype.kind != column[0].dtype.kind and "O" in (
            columns[0][0].dtype.kind,
            column[0].dtype.kind,
        ):
            raise ValueError(
                f"y has dtype {column[0].dtype} in chunk {number}, but {columns[0][0].dtype} in "
                f"chunk {chunks[0].number}: use one dtype in all chunks."
            )
    if not chunks:
        raise ValueError("X is empty: pass at least one row.")
    y, weight = (np.concatenate(one) for one in zip(*columns, strict=True))
    return BlockedClasses(
        y,
        check_sample_weight(weight, weight),
        lambda taken: ChunkedDesign(partitions, chunks, n_features, taken),
    )


def _has_cluster() -> bool:
    """Whether a client of a cluster is active, whose workers can keep chunks."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.Client.current()
    except ValueError:
        return False
    return True


def _checked_rows(columns: dict[str, Any], n_features: int) -> Any:
    return checked_chunk(columns["X"], n_features=n_features)


def _size(rows: Any) -> tuple[int, int] | None:
    """Numbers of rows and of their bytes in float64; None of a chunk without rows."""
    return None if rows is None else (int(rows.shape[0]), ChunkOfRows.bytes_of(rows))


def _labels_and_weights(columns: dict[str, Any]) -> tuple[AnyArray, FloatArray]:
    y = np.asarray(ravelled(columns["y"], "y"))
    y = y.astype(object) if y.dtype.kind in "SU" else y
    weight = columns["sample_weight"]
    weight = np.ones(len(y)) if weight is None else np.asarray(ravelled(weight, "sample_weight"))
    for name, values, bad in (
        ("y", y, y != y),
        ("sample_weight", weight, ~(weight >= 0) | ~np.isfinite(weight)),
    ):
        if np.any(bad):
            row = int(np.argmax(bad))
            if name == "y":
                raise ValueError(missing_label(name, f"row {row}"))
            raise ValueError(
                f"{name} is {values[row]} in row {row}, but must be non-negative and finite: "
                "correct the value or remove the row."
            )
    return y, weight.astype(np.float64)
