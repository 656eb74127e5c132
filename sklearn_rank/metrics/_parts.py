"""Reader of a batch of rows into lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._lists import ScoredLists
from .._typing import AnyArray

# Rows of one list, of lists with ids, or of one list in each row of two dimensions.
Form: TypeAlias = Literal["list", "ids", "rows"]


@dataclass(frozen=True, eq=False)
class Part:
    """What the rows of one part are."""

    lists: ScoredLists | None  # Their lists; None where there are no rows, or where none counts
    form: Form
    classes: dict[bool, Any]
    n_matrix_rows: int  # Number of rows of two dimensions


def read_part(
    measure: Any, y_true: Any, y_score: Any, *, pos_label: Any = None, **arguments: Any
) -> Part:
    """Read rows of which others may be elsewhere: a part may hold one class only, or nothing."""
    measure._check_arguments(**arguments)
    qid, sample_weight, query_weight = (
        arguments.get(name) for name in ("qid", "sample_weight", "query_weight")
    )
    shape = _shape(y_true)
    n_matrix_rows = shape[0] if len(shape) == 2 else 0
    form: Form = "list" if qid is None else "ids"
    if _is_empty(y_true, y_score) or _counts_for_nothing(sample_weight, shape, y_score):
        return Part(None, form, {}, n_matrix_rows)
    silent = query_weight is not None and _all_zero(query_weight, shape[:1])
    lists = measure._read(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=None if silent else query_weight,
        pos_label=pos_label,
    )
    relevant = {name: arguments.get(name) for name in ("n_relevant", "ideal")}
    lists = measure._with_relevant(lists, shape, sample_weight, pos_label, **relevant)
    if silent:
        lists = replace(lists, query_weight=np.zeros(lists.n_lists))
    if qid is None and lists.ids is not None:
        form = "rows"
    if form == "list" and query_weight is not None:
        raise ValueError(
            "query_weight weights queries, but without qid all rows are one list: pass qid, or"
            " leave query_weight out."
        )
    classes = _classes_of(measure, pos_label, lists, y_true)
    return Part(replace(lists, rows=None), form, classes, n_matrix_rows)


def check_classes_known(measure: Any) -> None:
    """Refuse a measure of many classes that does not know them, since a part may miss some."""
    if measure.by_class and getattr(measure, "labels", None) is None:
        raise ValueError(
            f"{measure.name} has no labels=, and a batch may lack some classes: pass"
            " get_measure(..., labels=), the class of each column of the scores."
        )


def _classes_of(measure: Any, pos_label: Any, lists: ScoredLists, y_true: Any) -> dict[bool, Any]:
    """Labels of the negatives and of the positives, where labels are classes."""
    if measure.by_class or not (measure.kind == "binary" or pos_label is not None):
        return {}
    if measure.label_type(pos_label).rel is not None:
        return {}
    positive = lists.labels if lists.labels.dtype.kind == "b" else lists.labels == 1
    found = {}
    for value in (False, True):
        place = int(np.argmax(positive == value))
        if positive[place] == value:
            row = place if lists.rows is None else int(lists.rows[place])
            found[value] = np.asarray(y_true).ravel()[row : row + 1].tolist()[0]
    return found


def _is_empty(y_true: Any, y_score: Any) -> bool:
    return _shape(y_true)[:1] == (0,) and _shape(y_score)[:1] == (0,)


def _all_zero(weight: Any, shape: tuple[int, ...]) -> bool:
    """Whether weights of a shape are all 0, so that nothing of what they weigh counts."""
    array: AnyArray = np.asarray(weight)
    return array.shape == shape and array.dtype.kind in "biuf" and not array.any()


def _counts_for_nothing(sample_weight: Any, shape: tuple[int, ...], y_score: Any) -> bool:
    if sample_weight is None or _shape(y_score)[: len(shape)] != shape:
        return False
    return _all_zero(sample_weight, shape)


def _shape(values: Any) -> tuple[int, ...]:
    try:
        return np.shape(values)
    except ValueError:  # rows of different lengths, which are refused where they are read
        return (-1,)
