"""Lists of the labels of rows: one list for each row of a matrix, without labels that it lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray
from ._measure import Measure


def label_lists(
    measure: Measure, grades: FloatArray, score: Any, *, query_weight: FloatArray | None = None
) -> ScoredLists:
    """Make lists of scored labels, one for each row."""
    score = np.asarray(score)
    if score.shape != grades.shape:
        raise ValueError(
            f"scores have shape {score.shape}, but there are {grades.shape[0]} rows with"
            f" {grades.shape[1]} labels: pass one score for each label of each row."
        )
    row, column = np.nonzero(~np.isnan(grades))
    missing = np.isnan(score[row, column])
    if missing.any():
        first = int(np.argmax(missing))
        raise ValueError(
            f"The score of the label in column {column[first]} is NaN in row {row[first]}: pass a"
            " score for every label."
        )
    lists = measure._read(
        grades[row, column],
        score[row, column],
        qid=row,
        query_weight=None if query_weight is None else query_weight[row],
    )
    measure._check_weights(lists)
    return lists
