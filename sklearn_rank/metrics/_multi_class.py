"""AUC of more than two classes: one against the rest, and one against one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np

from .._arguments import check_choice
from .._lists import LabelType, ScoredLists, check_lists
from .._typing import AnyArray, BoolArray, FloatArray
from ._linear_rank_measures import AUCMeasure
from ._measure import Measure

_AUC = AUCMeasure()


@dataclass(frozen=True, kw_only=True, repr=False)
class MultiClassAUCMeasure(Measure):
    """Mean AUC of the classes, or of pairs of them; see ``roc_auc_score``."""

    by_class = True
    two_dimensions_are_classes = False
    lacking = "no item of one of the classes"
    weights = "relative"
    function = "roc_auc_score"
    stem = "auc"

    multi_class: Literal["ovr", "ovo"]  # Each class against the rest, or each against each
    class_average: Literal["macro", "weighted"] = "macro"
    labels: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        check_choice("multi_class", self.multi_class, ("ovr", "ovo"))
        check_choice("class_average", self.class_average, ("macro", "weighted"))
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(np.asarray(self.labels).tolist()))
            if len(set(self.labels)) < len(self.labels):
                raise ValueError(f"labels={self.labels!r} repeats a class: pass each class once.")
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def _read(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        pos_label: Any = None,
    ) -> ScoredLists:
        """Make the lists: labels are columns, and scores have one row for each item."""
        if pos_label is not None:
            raise ValueError(
                f"pos_label={pos_label!r} sets one positive class, but with multi_class= each"
                " class is positive in turn: leave out one of the two."
            )
        score = _class_scores(y_score)
        column = _columns(y_true, self.labels, score.shape[1], sample_weight)
        lists = check_lists(
            column,
            LabelType("graded", name="y_true"),
            qid=qid,
            sample_weight=sample_weight,
            query_weight=query_weight,
        )
        if len(column) != len(score):
            raise ValueError(
                f"y_true has {len(column)} labels, but y_score has {len(score)} rows: pass one row"
                " of scores for each label."
            )
        score = score if lists.rows is None else score[lists.rows]
        if np.isnan(score).any():
            row, bad = (int(i) for i in np.argwhere(np.isnan(score))[0])
            row = row if lists.rows is None else int(lists.rows[row])
            raise ValueError(
                f"y_score is NaN at row {row}, column {bad}: remove or score the row."
            )
        return ScoredLists(
            labels=lists.labels.astype(np.intp),
            offsets=lists.offsets,
            weight=lists.weight,
            ids=lists.ids,
            query_weight=lists.query_weight,
            rows=lists.rows,
            score=score,
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """Mean area of each list."""
        n_classes = lists.score.shape[1]
        of_class = lists.labels == np.arange(n_classes)[:, np.newaxis]
        mass = np.stack([lists.weighted_totals(one.astype(np.float64)) for one in of_class])
        share = mass / mass.sum(axis=0)
        complete: BoolArray = np.logical_and.reduce(mass > 0)
        result = np.full(lists.n_lists, np.nan)
        if not complete.any():
            return result
        areas, weights = [], []
        for positive, others in self._comparisons(n_classes):
            kept = np.isin(lists.labels, [positive, *others]) & lists.to_items(complete)
            areas.append(_AUC.values(_two_classes(lists, complete, kept, positive)))
            compared = [positive] if self.multi_class == "ovr" else [positive, *others]
            frequency = share[compared].sum(axis=0)[complete]
            weights.append(frequency if self.class_average == "weighted" else frequency**0)
        result[complete] = np.average(areas, axis=0, weights=weights)
        return result

    def _comparisons(self, n_classes: int) -> list[tuple[int, list[int]]]:
        """Which class stands against which others."""
        if self.multi_class == "ovo":
            return [(one, [other]) for one, other in permutations(range(n_classes), 2)]
        return [(one, [c for c in range(n_classes) if c != one]) for one in range(n_classes)]


def _two_classes(
    lists: ScoredLists, complete: BoolArray, kept: BoolArray, positive: int
) -> ScoredLists:
    """Complete lists of the items that are kept, scored by the column of the positive class."""
    count = lists.totals(kept.astype(np.int64))[complete]
    return ScoredLists(
        labels=lists.labels[kept] == positive,
        offsets=np.append(0, np.cumsum(count)),
        weight=None if lists.weight is None else lists.weight[kept],
        score=np.ascontiguousarray(lists.score[kept, positive]),
    )


def _class_scores(y_score: Any) -> FloatArray:
    """Check scores of classes, but for NaN."""
    score = np.asarray(y_score)
    if score.ndim != 2 or score.shape[1] < 2 or score.dtype.kind not in "biuf":
        raise ValueError(
            f"y_score has shape {score.shape} and dtype {score.dtype}, but with multi_class= it"
            " must have one column of numbers for each class."
        )
    return score.astype(np.float64, copy=False)


def _columns(
    y_true: Any, labels: tuple[Any, ...] | None, n_columns: int, sample_weight: Any
) -> AnyArray:
    """Column of the class of each item; of items of weight 0 any."""
    given = np.asarray(y_true)
    if given.ndim != 1:
        raise ValueError(f"y_true has shape {given.shape}, but must be one label for each item.")
    weight = None if sample_weight is None else np.asarray(sample_weight)
    counted = np.ones(len(given), dtype=bool)
    if weight is not None and weight.shape == given.shape:
        counted = weight != 0
    try:
        present = np.unique(given[counted])
    except TypeError:
        raise ValueError(
            "y_true has labels of different types or missing labels: make them all numbers or all"
            " strings, and remove rows without a label."
        ) from None
    classes = present if labels is None else np.asarray(labels)
    if len(classes) != n_columns:
        raise ValueError(
            f"y_true has {len(classes)} classes, but y_score has {n_columns} columns: pass"
            " labels=, the class of each column."
            if labels is None
            else f"labels has {len(classes)} classes, but y_score has {n_columns} columns: pass"
            " one class for each."
        )
    order = np.argsort(classes)
    place = np.minimum(np.searchsorted(classes, given, sorter=order), n_columns - 1)
    column = order[place]
    unknown = counted & (classes[column] != given)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"y_true has the label {given[row : row + 1].tolist()[0]!r} at row {row}, which is not"
            f" among the labels {classes.tolist()}."
        )
    return column
