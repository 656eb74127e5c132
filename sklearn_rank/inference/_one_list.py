"""Input of inference on one list: its rows or a table of equal rows, and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lists import ScoredLists, check_scored_lists
from .._partitions import any_collection
from .._validation import ravelled
from ..metrics import Measure
from ._collections import list_of_chunks, refuse_collections
from ._groups import Groups, check_groups, each_alone
from ._two_classes import dimensions, refuse_counts, refuse_grouped_collections
from ._weight_meaning import WeightMeaning, check_weight_meaning, refuse_fractions

__all__ = ["OneList", "check_one_list"]

# Rows, with repetitions, of which an array is made.
MOST_ROWS = 10**9


@dataclass(frozen=True, eq=False)
class OneList:
    """One list, checked."""

    data: ScoredLists  # The list; a row with a weight stands for so many items
    groups: Groups | None = None  # Groups of the rows; None is independent items
    sampled: bool = False

    def repeated(self) -> OneList:
        """Write each row as often as its weight says. The list without weights."""
        data, groups = self.data, self.groups
        if data.weight is None:
            return self
        if data.weight.sum() > MOST_ROWS:
            raise ValueError(
                f"sample_weight sums to {data.weight.sum():g} items, each of which is written down"
                f" here, at most {MOST_ROWS:g}: pass weights='sampling' if they are no counts, or"
                " divide them."
            )
        rows = np.repeat(np.arange(len(data.score)), data.weight.astype(np.intp))
        return OneList(
            ScoredLists(
                labels=data.labels[rows],
                score=data.score[rows],
                offsets=np.array([0, len(rows)]),
            ),
            None if groups is None else groups.only(rows),
        )

    def by_groups(self) -> ScoredLists:
        """Make a list of each group. The lists, or the one where there are no groups."""
        data = self.data
        if self.groups is None:
            return data
        order = np.argsort(self.groups.codes, kind="stable")
        sizes = np.bincount(self.groups.codes)
        return ScoredLists(
            labels=data.labels[order],
            score=data.score[order],
            weight=None if data.weight is None else data.weight[order],
            offsets=np.append(0, np.cumsum(sizes[sizes > 0])),
            ids=np.flatnonzero(sizes),
        )


def check_one_list(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
) -> OneList:
    """Check the rows of one list."""
    measure._check_arguments(sample_weight=sample_weight)
    sampled = check_weight_meaning(weights, sample_weight)
    if sampled:
        refuse_collections("inverse probabilities belong to rows", y_true=y_true, y_score=y_score)
    if any_collection(y_true, y_score, sample_weight, groups):
        refuse_grouped_collections(
            groups, y_true=y_true, y_score=y_score, sample_weight=sample_weight
        )
        refuse_counts(measure)
        table = list_of_chunks(measure, y_true, y_score, pos_label, sample_weight)
        return OneList(table.in_one_memory(measure).to_lists())
    y_true = ravelled(y_true, "y_true")
    if dimensions(y_true) != 1:
        raise ValueError(
            f"y_true has {np.ndim(y_true)} dimensions, but the interval is for one list: pass"
            " one-dimensional labels and scores."
        )
    data = check_scored_lists(
        y_true, y_score, measure.label_type(pos_label), sample_weight=sample_weight
    )
    found = check_groups(groups, len(y_true))
    if found is not None and data.rows is not None:
        found = found.only(data.rows)
        if not np.ptp(found.codes):
            raise ValueError(
                "groups has one group only with rows of positive weight, but the variance is"
                " estimated between groups: pass rows of at least two groups."
            )
    if not sampled:
        refuse_fractions(sample_weight)
        return OneList(replace(data, rows=None), found)
    return OneList(replace(data, rows=None), found or each_alone(len(data.score)), sampled=True)
