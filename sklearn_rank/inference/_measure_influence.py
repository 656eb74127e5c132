"""Influence of the items of one list on any measure that knows it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from .._validation import ravelled
from ..metrics import Measure
from ..metrics._shared import ClassInfluence
from ._two_classes import check_two_classes

__all__ = ["measure_influence"]


def measure_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> list[ClassInfluence]:
    """Find the influence of the same items on the measure of several scorers.

    Parameters
    ----------
    measure : Measure
        The measure.
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    scores : sequence of array-like of shape (n_samples,)
        Scores of each scorer.
    conditional : bool
        Whether the labels count as fixed.
    pos_label : int, float, bool or str
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    name : str, default="y_true"
        What the labels are called in messages.

    Returns
    -------
    list of ClassInfluence
        One for each scorer.
    """
    y_true = ravelled(y_true, name)
    lists = [
        check_two_classes(y_true, y_score, pos_label, name=name, rel=measure.rel)
        for y_score in scores
    ]
    found = []
    for data in lists:
        influence = measure.influence(data) if measure.kind == "binary" else None
        if influence is None:
            raise ValueError(
                f"How single items move measure={measure.name!r} is not known, and with it not how"
                " sure the measure of one list is: say it by make_measure(..., influence=); for a"
                " mean over queries pass qid to compare_rankers, metric_interval or"
                " paired_query_test; the precision at the top has precision_at_top_interval; and a"
                " phi that depends on the length of the list is for"
                " linear_rank_interval(method='bootstrap')."
            )
        if not conditional and not isfinite(influence.label_slope):
            raise ValueError(
                f"How measure={measure.name!r} moves with the share of positives is not known,"
                " which conditional=False needs: pass conditional=True."
            )
        found.append(influence)
    return found
