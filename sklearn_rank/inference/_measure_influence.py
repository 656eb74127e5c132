"""Influence of the items of one list on any measure with an influence function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from .._lists import ScoredLists
from .._partitions import any_collection
from .._validation import ravelled
from ..metrics import Measure
from ..metrics._shared import AveragePrecisionMeasure, ClassInfluence, phi_of
from ._collections import refuse_collections
from ._groups import Groups, check_groups, each_alone
from ._one_list import OneList
from ._two_classes import check_sample, check_two_classes
from ._weight_meaning import (
    WeightMeaning,
    check_weight_meaning,
    draws_of,
    refuse_few_of_classes,
    refuse_fractions,
    whole_weights,
)

__all__ = [
    "influence_of",
    "list_target",
    "measure_influence",
    "refuse_sampling",
    "refuse_unknown",
    "sample_influence",
    "sampling_influence",
    "weighted_influence",
]


def measure_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> list[ClassInfluence]:
    """Find the influence of the same items on the measure of several scorers."""
    given = {"conditional": conditional, "pos_label": pos_label, "name": name}
    return weighted_influence(measure, y_true, scores, None, None, None, **given)[0]


def weighted_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    sample_weight: Any,
    weights: WeightMeaning,
    groups: Any,
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> tuple[list[ClassInfluence], Groups | None]:
    """Find the influence of the same rows, with weights, on the measure of several scorers."""
    # Differences need both scores of each row, which counts of scores do not keep.
    refuse_collections("scorers are compared row by row", **{name: y_true}, y_score=tuple(scores))
    sampled = check_weight_meaning(weights, sample_weight)
    if sampled:
        refuse_sampling(measure)
    measure._check_arguments(sample_weight=sample_weight)
    y_true = ravelled(y_true, name)
    first = check_two_classes(
        y_true,
        scores[0],
        pos_label,
        name=name,
        rel=measure.rel,
        sample_weight=sample_weight,
    )
    shape = np.shape(y_true)
    dependent = check_groups(groups, shape[0])
    if dependent is not None and first.rows is not None:
        dependent = dependent.only(first.rows)
    if sampled:
        dependent = dependent or each_alone(len(first.labels))
    else:
        refuse_fractions(sample_weight)
    found = []
    for i, y_score in enumerate(scores):
        data = first.scored_by(y_score, shape) if i else first
        if dependent is not None and not sampled:
            sample = OneList(data, dependent).repeated()
            data, of_rows = sample.data, sample.groups
        found.append(
            sampling_influence(measure, data)
            if sampled
            else influence_of(measure, data, conditional=conditional)
        )
    return found, dependent if sampled or dependent is None else of_rows


def sample_influence(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> ClassInfluence:
    """Find the influence of the items of one sample, or of the rows of a table of their counts."""
    if not any_collection(y_true, y_score):
        (found,) = measure_influence(
            measure, y_true, (y_score,), conditional=conditional, pos_label=pos_label, name=name
        )
        return found
    refuse_unknown(measure)
    data, _ = check_sample(y_true, y_score, pos_label, measure=measure)
    return influence_of(measure, data, conditional=conditional)


def refuse_unknown(measure: Measure) -> None:
    """Raise an error for a measure without an influence function."""
    if measure.kind != "binary" or not measure.has_influence:
        raise ValueError(_UNKNOWN.format(measure.name))


_UNKNOWN = (
    "measure={!r} has no influence function, so its variance on one list is unknown: pass"
    " influence= to make_measure; for a mean over queries pass qid to compare, metric_interval or"
    " paired_query_test; for a phi that depends on the length of the list use"
    " linear_rank_interval(method='bootstrap')."
)


def influence_of(measure: Measure, data: ScoredLists, *, conditional: bool) -> ClassInfluence:
    """Find the influence of the items of one list."""
    refuse_unknown(measure)
    influence = measure.influence(data)
    if influence is None:
        raise ValueError(_UNKNOWN.format(measure.name))
    if not conditional and not isfinite(influence.label_slope):
        raise ValueError(
            f"measure={measure.name!r} has no known derivative in the fraction of positives, which"
            " conditional=False needs: pass conditional=True."
        )
    return influence


def refuse_sampling(measure: Measure) -> None:
    """Raise an error for a measure that has no interval for rows of unequal probabilities."""
    known = measure.kind == "binary" and measure.has_influence and measure.weights != "none"
    if known and (
        measure.weights == "relative"
        or isinstance(measure, AveragePrecisionMeasure)
        or phi_of(measure) is not None
    ):
        return
    raise ValueError(
        f"{measure.name} of one list has no interval for weights='sampling': use a measure of"
        " shares that has an influence function, such as 'auc', 'partial_auc@fpr0.1',"
        " 'precision@top0.05', 'tpr@fpr0.1', 'ap' or 'bedroc@20', or report the value alone."
    )


def sampling_influence(measure: Measure, data: ScoredLists) -> ClassInfluence:
    """Find the influence of rows on a measure of the population that they were drawn from."""
    refuse_few_of_classes(data)
    weight = data.counts / data.counts.min()
    data = replace(data, weight=weight)
    counted = replace(data, weight=whole_weights(data), draws=draws_of(data))
    found = influence_of(measure, counted, conditional=False)
    estimate = found.estimate
    if measure.weights == "whole":
        # The ends are those of one item above all repetitions, and a drawn row is many of them.
        found = replace(found, ends=None)
    else:
        estimate = float(measure.values(data)[0])
    return replace(found, estimate=estimate, counts=None, sampling_weight=weight)


def list_target(
    measure: Measure, samples: Sequence[ClassInfluence], groups: Sequence[Groups | None]
) -> str:
    """Describe the measure and the items."""
    texts = []
    for one, dependent in zip(samples, groups, strict=True):
        text = f"{one.n:.0f} items, {one.n_pos:.0f} positive"
        if dependent is not None:
            text += f", in {int((dependent.sizes() > 0).sum())} groups"
        texts.append(text)
    return f"{measure.name} on {' and on '.join(texts)}"
