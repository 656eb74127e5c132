"""Samples from dask collections, counted by chunk; or an error if all rows are needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._partitions import aligned, is_collection
from ..metrics import Measure
from ..metrics._shared import ListOfChunks

__all__ = ["list_of_chunks", "refuse_collections"]


def list_of_chunks(
    measure: Measure, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any = None
) -> ListOfChunks:
    """Count the rows of collections, chunk by chunk."""
    shape: tuple[int, ...] = getattr(y_true, "shape", (0,))
    if len(shape) > 1 and shape[1] != 1:
        raise ValueError(
            f"y_true has {len(shape)} dimensions, but the interval is for one list: pass"
            " one-dimensional labels and scores."
        )
    columns = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    given = {name: value for name, value in columns.items() if value is not None}
    rows = ListOfChunks.of(measure, aligned(**given), pos_label)
    if not rows.whole:
        raise ValueError(
            "sample_weight has a value that is not a whole number, but weights are numbers of"
            " occurrences: pass whole numbers."
        )
    return rows


def refuse_collections(reason: str, **arguments: Any) -> None:
    """Refuse dask collections where all rows are needed at once."""
    for name, value in arguments.items():
        if is_collection(value):
            raise TypeError(
                f"{name} is a dask collection, but {reason}: pass {name}.compute() if it fits into"
                " memory."
            )
        if isinstance(value, Mapping):
            parts = {f"{name}[{key!r}]": one for key, one in value.items()}
            refuse_collections(reason, **parts)
        elif isinstance(value, tuple | list) and len(value) == 2:
            refuse_collections(reason, **{f"{name}[{i}]": one for i, one in enumerate(value)})
