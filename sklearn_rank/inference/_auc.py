"""Confidence interval for the expected AUC of a fixed ranking function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._arguments import check_choice, check_level
from .._lists import LabelType, ScoredLists, check_scored_lists
from .._partitions import any_collection
from .._validation import check_qid, ravelled
from .._warn import warn
from ..metrics import get_measure
from ._auc_limits import ESTIMATED, METHODS, WITH_GROUPS, auc_limits, design_effect
from ._auc_moments import (
    AUCMoments,
    clustered_moments,
    moments_of_ranges,
    placement_sums,
    sample_moments,
)
from ._collections import list_of_chunks
from ._list_interval import list_interval
from ._measure_influence import weighted_influence
from ._results import Interval
from ._two_classes import dimensions, refuse_grouped_collections
from ._weight_meaning import WeightMeaning, check_weight_meaning, refuse_fractions

__all__ = ["auc_interval", "auc_interval_of", "auc_interval_of_chunks"]

AUCMethod: TypeAlias = Literal[
    "wilson",
    "newcombe",
    "logit-delong",
    "delong",
    "hanley-mcneil",
    "normal",
    "normal-worst",
    "chebyshev",
    "chebyshev-worst",
    "kl",
    "hoeffding",
    "mcdiarmid",
]

TARGET = "expected AUC"


def auc_interval(
    y_true: Any,
    y_score: Any,
    *,
    level: float = 0.95,
    method: AUCMethod = "wilson",
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
) -> Interval:
    """Confidence interval for the area under the ROC curve (AUC) of one scorer.

    The target is the expected AUC, P(positive above negative) + P(tie) / 2. The default method, a
    score interval, solves ``(AUC - A)^2 <= z^2 (d A (1 - A) + |AUC - A| a / (4 min(n_pos,
    n_neg)))`` for A. Here ``d A (1 - A)`` is DeLong's variance with d kept away from 0; a is A for
    A below the AUC and 1 - A for A above it.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores from a model that was not fitted or selected on these items; a higher score ranks an
        item nearer to the top. Infinite scores are allowed, NaN is not.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : str, default="wilson"
        - "wilson": Wilson's score interval with a regularised DeLong variance, which gives the
          effective number of Bernoulli draws. It allows for rare items that the sample may lack.
          The width is always positive, also with one positive item or an AUC of 1. The Notes give
          its measured coverage.
        - "newcombe": score interval with Hanley and McNeil's variance (Newcombe's method 5).
        - "delong", "logit-delong": DeLong's variance, on the AUC scale or on the logit scale.
        - "hanley-mcneil": the variance of exponential scores at the observed AUC.
        - "normal", "chebyshev": an unbiased estimate of Lehmann's variance, with the normal
          distribution or Chebyshev's inequality; "normal-worst", "chebyshev-worst": the largest
          possible variance at AUC A, ``A (1 - A) / min(n_pos, n_neg)``.
        - "mcdiarmid", "hoeffding", "kl": valid for every distribution and sample size, as is
          "chebyshev-worst"; "kl" is the shortest of these unless the level is low.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        Weights of the rows; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is; required with it. "frequency": each row stands for that many
        identical rows, a whole number. "sampling": each row was drawn once, with a probability
        proportional to 1 / weight; for "wilson" only.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; the interval is much too short if they are not. Only for "wilson", "delong" and
        "logit-delong".
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    Interval
        The AUC and the limits for its expectation, in [0, 1].

    Raises
    ------
    ValueError
        If an argument is not valid; if the method does not support ``groups``, or there is only
        one group; if ``weights`` does not say what weights mean, or fits neither the weights nor
        the method; or if the method's variance estimate is 0 or undefined, as at an AUC of 1 or
        with one item of a class.

    Warns
    -----
    UndefinedMetricWarning
        If all items have the same class: the AUC is NaN and the interval is [0, 1].

    See Also
    --------
    sample_size : Number of items for an interval of a given width.
    linear_rank_interval : Interval for other rank statistics.
    partial_auc_interval : Interval for the partial AUC.
    sklearn_rank.bounds.auc_bound : Distribution-free bounds from the class counts alone.

    Notes
    -----
    All intervals treat the labels as fixed. They also hold for random labels, because their target
    does not depend on the labels. "mcdiarmid", "hoeffding", "kl" and "chebyshev-worst" are
    theorems for every sample size. The other methods are asymptotic and differ in small samples.

    The coverage of the default was measured at 95 % over 22 shapes of score distributions, with
    and without ties, for AUC .5 to .995 and 10 to 5000 items per class. It covers 91 to 100 %, and
    less than 93.5 % in 8 of 1143 cells. It covers more than nominal if positives are few and the
    AUC is near 1. It covers least for Cauchy scores and if a few positives lie below all
    negatives; there "delong" falls to 16 %, "logit-delong" to 19 % and "newcombe" to 62 % (table
    in :doc:`/benchmarks/inference`). The term with ``|AUC - A|`` allows for a small group of
    positives below all negatives (or negatives above all positives) that the sample may have
    missed, if a quarter of the distance is due to it.

    Groups use Obuchowski's variance. ``weights="sampling"`` uses that of :func:`metric_interval`.
    The cost is O(n log n) time and O(n) memory; without groups it is one sort.

    For dask collections (without ``groups``) the distinct pairs of a score and a class are counted
    chunk by chunk, and the counts are collected in this process: O(m) memory for m pairs. From 2
    million pairs on, the counts stay on the workers, split by ranges of scores, and only sums are
    collected.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Newcombe (2006), *Confidence intervals for an effect size measure based on the
       Mann-Whitney statistic, part 2*, Statistics in Medicine 25.
    .. [3] Obuchowski (1997), *Nonparametric analysis of clustered ROC curve data*, Biometrics 53.
    .. [4] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 6, Theorem 8, Equations 7 to 14.
    .. [5] Hoeffding (1963), *Probability inequalities for sums of bounded random variables*,
       JASA 58, Section 5.

    Examples
    --------
    >>> from sklearn_rank.inference import auc_interval
    >>> y_true = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    >>> y_score = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> print(auc_interval(y_true, y_score))
    0.8400 [0.3997, 0.9736] (expected AUC, 95 %, wilson)
    >>> print(auc_interval(y_true, y_score, method="kl"))
    0.8400 [0.2608, 0.9994] (expected AUC, 95 %, kl)

    The interval is not degenerate for a perfect ranking:

    >>> print(auc_interval([0, 0, 0, 1, 1], [1, 2, 3, 4, 5]))
    1.0000 [0.2649, 1.0000] (expected AUC, 95 %, wilson)
    """
    level = check_level(level)
    check_choice("method", method, tuple(METHODS))
    sampled = check_weight_meaning(weights, sample_weight)
    if groups is not None and method not in WITH_GROUPS:
        raise ValueError(
            f"method={method!r} does not support groups, it needs independent items: choose one of"
            f" {', '.join(map(repr, WITH_GROUPS))}."
        )
    if sampled:
        return _sampling_interval(y_true, y_score, sample_weight, groups, pos_label, level, method)
    if any_collection(y_true, y_score, sample_weight, groups):
        return auc_interval_of_chunks(
            y_true,
            y_score,
            level,
            method,
            sample_weight=sample_weight,
            groups=groups,
            pos_label=pos_label,
        )
    y_true = ravelled(y_true, "y_true")
    if dimensions(y_true) != 1:
        raise ValueError(
            f"y_true has {np.ndim(y_true)} dimensions, but the interval is for one list: pass"
            " y_true.ravel() and y_score.ravel()."
        )
    data = check_scored_lists(
        y_true,
        y_score,
        LabelType("binary", pos_label),
        qid=None if groups is None else check_qid(groups, len(y_true), name="groups"),
        sample_weight=sample_weight,
    )
    refuse_fractions(sample_weight)
    if groups is not None and data.n_lists == 1 and not _is_one_class(data):
        raise ValueError(
            "groups has one group only, but the variance is estimated between groups: pass the"
            " ids of at least two groups."
        )
    return auc_interval_of(data, level, method, grouped=groups is not None)


def _sampling_interval(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    groups: Any,
    pos_label: Any,
    level: float,
    method: str,
) -> Interval:
    """Interval from rows that were drawn with unequal probabilities."""
    if method != "wilson":
        raise ValueError(
            f"method={method!r} does not support weights='sampling', it needs rows of equal"
            " probability: pass method='wilson'."
        )
    found, dependent = weighted_influence(
        get_measure("auc"),
        y_true,
        (y_score,),
        sample_weight,
        "sampling",
        groups,
        conditional=False,
        pos_label=pos_label,
    )
    made = list_interval(get_measure("auc"), found[0], level, dependent)
    return replace(made, method=method, target=TARGET)


def auc_interval_of(
    data: ScoredLists, level: float = 0.95, method: str = "wilson", *, grouped: bool = False
) -> Interval:
    """Interval for the expected AUC from checked items."""
    if _is_one_class(data):
        warn(
            "The AUC is undefined for items of one class only: it is set to nan and its interval"
            " to [0, 1].",
            UndefinedMetricWarning,
        )
        return Interval(float("nan"), 0.0, 1.0, level, method, TARGET)
    if grouped:
        moments = clustered_moments(data)
    else:
        moments = sample_moments(data.score, data.positive, data.weight)
    return _interval_of_moments(moments, level, method)


def auc_interval_of_chunks(
    y_true: Any,
    y_score: Any,
    level: float,
    method: str,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
) -> Interval:
    """Interval from counts of rows of collections, by ranges of scores where these are many."""
    columns = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    refuse_grouped_collections(groups, **columns)
    rows = list_of_chunks(get_measure("auc"), y_true, y_score, pos_label, sample_weight)
    plan = rows.plan()
    if plan is None:
        data = rows.in_one_memory(get_measure("auc")).to_lists()
        return auc_interval_of(data, level, method)
    tied, found = rows.by_ranges(plan, placement_sums)
    if _is_one_class(tied):
        return auc_interval_of(tied, level, method)
    return _interval_of_moments(moments_of_ranges(tied, found), level, method)


def _interval_of_moments(moments: AUCMoments, level: float, method: str) -> Interval:
    error = _standard_error(method, moments)
    low, high = auc_limits(method, moments, level)
    return Interval(float(moments.auc), float(low), float(high), level, method, TARGET, error)


def _is_one_class(data: ScoredLists) -> bool:
    return bool(data.positive.all() or not data.positive.any())


def _standard_error(method: str, moments: AUCMoments) -> float | None:
    """Return the standard error; raise an error if the estimated variance is degenerate."""
    if method == "wilson":
        return float(np.sqrt(design_effect(moments) * moments.auc * (1.0 - moments.auc))) or None
    if method not in ESTIMATED:
        return None
    few = "group with items" if moments.n_groups is not None else "item"
    n_few = min(moments.n_pos, moments.n_neg) if moments.n_groups is None else moments.n_groups
    if n_few < 2 and method != "hanley-mcneil":
        raise ValueError(
            f"method={method!r} estimates a variance, but there is only one {few} of a class:"
            " choose method='wilson'."
        )
    variance = float(ESTIMATED[method](moments))
    # A variance of 0 up to rounding.
    if variance <= 1e-15:
        raise ValueError(
            f"method={method!r} estimates a variance of 0 at an AUC of {float(moments.auc):g}, so"
            " the interval would have no width: choose method='wilson'."
        )
    return float(np.sqrt(variance))
