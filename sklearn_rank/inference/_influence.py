"""Influence of each item of one list on a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from .._arguments import check_choice, check_flag
from .._lists import ScoredLists
from .._partitions import any_collection
from .._typing import FloatArray
from .._validation import ravelled
from ..metrics import Measure
from ..metrics._shared import (
    AveragePrecisionMeasure,
    ClassInfluence,
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    linear_rank_influence_of,
    phi_of,
)
from ._samples import (
    Groups,
    OneList,
    WeightMeaning,
    check_groups,
    check_sample,
    check_two_classes,
    check_weight_meaning,
    each_alone,
    refuse_collections,
    refuse_few_draws,
    refuse_fractions,
)


def measure_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> list[ClassInfluence]:
    """Influence of the same items on the measure of several rankers."""
    influences, _ = weighted_influence(
        measure,
        y_true,
        scores,
        None,
        None,
        None,
        conditional=conditional,
        pos_label=pos_label,
        name=name,
    )
    return influences


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
    """Influence of the same weighted rows on the measure of several rankers, and their groups."""
    # Differences need both scores of each row, which counts of scores do not keep.
    refuse_collections("scorers are compared row by row", **{name: y_true}, y_score=tuple(scores))
    sampled = check_weight_meaning(weights, sample_weight)
    if sampled:
        refuse_sampling(measure)
    measure._check_arguments(sample_weight=sample_weight)
    y_true = ravelled(y_true, name)
    data = check_two_classes(
        y_true, scores[0], pos_label, name=name, rel=measure.rel, sample_weight=sample_weight
    )
    dependent = check_groups(groups, len(y_true))
    if dependent is not None and data.rows is not None:
        dependent = dependent.only(data.rows)
    if not sampled:
        refuse_fractions(sample_weight)
    lists = [data, *(data.scored_by(y_score, np.shape(y_true)) for y_score in scores[1:])]
    if sampled:
        influences = [sampling_influence(measure, data) for data in lists]
        return influences, dependent or each_alone(len(data.labels))
    if dependent is not None:
        samples = [OneList(data, dependent).repeated() for data in lists]
        lists, dependent = [sample.data for sample in samples], samples[0].groups
    return [influence_of(measure, data, conditional=conditional) for data in lists], dependent


def sample_influence(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> ClassInfluence:
    """Influence of the items of one sample, or of the rows of a table of their counts."""
    if not any_collection(y_true, y_score):
        return measure_influence(
            measure, y_true, (y_score,), conditional=conditional, pos_label=pos_label, name=name
        )[0]
    refuse_unknown(measure)
    data, _ = check_sample(y_true, y_score, pos_label, measure=measure)
    return influence_of(measure, data, conditional=conditional)


def refuse_unknown(measure: Measure) -> None:
    """Refuse a measure without an influence function."""
    if measure.kind != "binary" or not measure.has_influence:
        raise ValueError(_UNKNOWN.format(measure.name))


_UNKNOWN = (
    "measure={!r} has no influence function, so its variance on one list is unknown: pass"
    " influence= to make_measure; for a mean over queries pass qid to compare, metric_interval or"
    " paired_query_test; for a phi that depends on the length of the list use"
    " linear_rank_interval(method='bootstrap')."
)


def influence_of(measure: Measure, data: ScoredLists, *, conditional: bool) -> ClassInfluence:
    """Influence of the items of one list."""
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
    """Refuse a measure that has no interval for rows of unequal probabilities."""
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
    """Influence of rows on a measure of the population that they were drawn from."""
    heaviest = float(data.counts.max())
    refuse_few_draws(data.counts[data.positive], heaviest, "positives")
    refuse_few_draws(data.counts[~data.positive], heaviest, "negatives")
    weight = data.counts / data.counts.min()
    data = replace(data, weight=weight)
    relative = weight / weight.max()
    n_draws = float(relative.sum() ** 2 / (relative @ relative))
    counted = replace(data, weight=whole_weights(weight), draws=n_draws)
    influence = influence_of(measure, counted, conditional=False)
    estimate = influence.estimate
    if measure.weights == "whole":
        # The ends are those of one item above all repetitions, and a drawn row is many of them.
        influence = replace(influence, ends=None)
    else:
        estimate = float(measure.values(data)[0])
    return replace(influence, estimate=estimate, counts=None, sampling_weight=weight)


# Number of items as which the rows of a list are counted, at most, and for each row.
MOST_ITEMS, MOST_PER_ROW = 2.0**21, 16.0


def whole_weights(weight: FloatArray) -> FloatArray:
    """Whole numbers in proportion to weights of at least 1, rounded unless all are whole."""
    whole, limit = np.rint(weight), max(MOST_ITEMS, MOST_PER_ROW * len(weight))
    if whole.sum() <= limit and np.all(np.abs(weight - whole) <= 1e-9 * weight):
        return whole
    return np.maximum(np.rint(weight * min(limit / weight.sum(), 1024.0)), 1.0)


def list_target(
    measure: Measure, influences: Sequence[ClassInfluence], groups: Sequence[Groups | None]
) -> str:
    """Describe the measure and the items."""
    texts = []
    for influence, dependent in zip(influences, groups, strict=True):
        text = f"{influence.n:.0f} items, {influence.n_pos:.0f} positive"
        if dependent is not None:
            text += f", in {np.count_nonzero(dependent.sizes())} groups"
        texts.append(text)
    return f"{measure.name} on {' and on '.join(texts)}"


# Reason why functions with one value for each row do not support collections.
ONE_EACH = "the influence is an array with one value for each row"


def check_limit(phi: Phi, instead: str) -> ScoreGeneratingFunction:
    """Read a phi that does not depend on the length of the list."""
    function = as_score_generating(phi)
    if not function.is_limit_functional:
        raise ValueError(
            f"phi={function!r} depends on the length of the list, so the statistic has no"
            f" influence function: {instead}."
        )
    return function


def linear_rank_influence(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi = "wilcoxon",
    conditional: bool = True,
    normalize: Normalize = "minmax",
    pos_label: Any = None,
) -> FloatArray:
    """Influence function of a linear rank statistic, one value per item (Hájek projection).

    Up to terms of smaller order ``W / k = target + mean(influence)``. With F the distribution of
    all scores, G that of the k positives, m negatives, p = k / n and
    ``T(x) = integral over u >= x of phi'(F(u)) dG(u)``, a positive at x has the influence
    ``(phi(F(x)) + p T(x)) / p`` and a negative ``T(x)``, each less the mean of its class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1) that does not depend on the length of the list.
    conditional : bool, default=True
        Whether the labels are treated as fixed. If True, the target is E[phi(F) | positive] at the
        sample's fraction of positives, k / n. If False, it is at the population's fraction of
        positives, and the influence includes that on k.
    normalize : {"mean", "minmax"}, default="minmax"
        "mean" is the mean of phi over the positives; "minmax" rescales it so that the worst order
        has the value 0 and the best order 1.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influence values in the order of the rows, with mean 0, and with mean 0 within each class
        if ``conditional``.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst and the best order have the
        same mean with "minmax", or phi depends on the length of the list.
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    linear_rank_interval : Confidence interval from these values.
    partial_auc_influence : Influence function of the partial AUC.

    Notes
    -----
    Each item of a tied block gets the mean of phi over the ranks of the block. Items of a block
    count each other with the part that lies above, which is one half for Wilcoxon's phi. A jump D
    of phi at u0 adds ``D eta`` below the quantile u0 to p T. Here eta is the fraction of positives
    at the jump, estimated within sqrt(n) ranks on either side or within the tied block; without
    this term the variance is several times too large. If phi has no ``derivative``, a difference
    quotient over the same ranks replaces it and includes the jumps. The paper attaches T to the
    positives only. The cost is O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.
    .. [2] Hájek (1968), *Asymptotic normality of simple linear rank statistics under
       alternatives*, Annals of Mathematical Statistics 39.

    Examples
    --------
    >>> from sklearn_rank.inference import linear_rank_influence
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> linear_rank_influence(y_true, y_score, phi="wilcoxon").round(2)
    array([ 0.5, -0.5, -0.5,  0.5])
    """
    check_choice("normalize", normalize, ("mean", "minmax"))
    conditional = check_flag("conditional", conditional)
    refuse_collections(ONE_EACH, y_true=y_true, y_score=y_score)
    data = check_two_classes(y_true, y_score, pos_label)
    function = check_limit(phi, "resample instead, linear_rank_interval(method='bootstrap')")
    influence = linear_rank_influence_of(data.positive, data.score, function, normalize=normalize)
    values = influence.centred()
    if not conditional:
        share = float(data.positive.mean())
        values += influence.label_slope * np.where(data.positive, 1.0 - share, -share)
    return values
