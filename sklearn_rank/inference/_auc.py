"""Confidence interval for the expected AUC of a fixed ranking function."""

from __future__ import annotations

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
from ._results import Interval
from ._two_classes import dimensions, refuse_grouped_collections

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
    groups: Any = None,
    pos_label: Any = None,
) -> Interval:
    """Confidence interval for the expected AUC: P(positive above negative) + P(tie) / 2.

    By default ``(AUC - A)^2 <= z^2 (d A (1 - A) + |AUC - A| a / (4 min(n_pos, n_neg)))``, solved
    for A, where ``d A (1 - A)`` is DeLong's variance with d kept away from 0, and a is A below the
    AUC and 1 - A above it.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores of a function that was not fitted or chosen on these items; higher is nearer to the
        top. Infinities are in order, NaN is refused.
    level : float, default=0.95
        Nominal probability, in (0, 1), that the interval covers the expected AUC; more is wider.
    method : str, default="wilson"
        - "wilson": Wilson's score interval, a regularised DeLong variance saying how many draws
          of 0 and 1 the sample is worth, with allowance for rare items that it may lack; it has
          width everywhere, one positive or an AUC of 1 included, and its coverage was measured
          (Notes).
        - "newcombe": score interval with Hanley and McNeil's variance (Newcombe's method 5).
        - "delong", "logit-delong": DeLong's variance, on the scale of the AUC or its logit.
        - "hanley-mcneil": the variance that exponential scores have at the observed AUC.
        - "normal", "chebyshev": Lehmann's variance, estimated without bias, with the normal
          distribution or Chebyshev's inequality; "normal-worst", "chebyshev-worst": the largest
          variance ``A (1 - A) / min(n_pos, n_neg)`` at the AUC A in question.
        - "mcdiarmid", "hoeffding", "kl": hold for every distribution and number of items, and so
          does "chebyshev-worst"; "kl" is the shortest of these unless the level is low.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        How many times each item was seen, whole numbers; with ``groups`` any non-negative weights,
        whose scale does not matter.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent. For "wilson", "delong" and "logit-delong"; None is independent items.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    Interval
        The AUC and limits for its expectation, in [0, 1].

    Raises
    ------
    ValueError
        If an argument is not valid; the method does not take ``groups``, or there is one group
        only; weights are not whole and there are no groups; or the method estimates a variance
        and finds none, as at an AUC of 1 or with one item of a class.

    Warns
    -----
    UndefinedMetricWarning
        If there are items of one class only: the AUC is NaN and the interval [0, 1].

    See Also
    --------
    sample_size : How many items an interval of a given width needs.
    linear_rank_interval : Other statistics of the ranks.
    partial_auc_interval : A part of the ROC curve only.
    sklearn_rank.bounds.auc_bound : The distribution-free methods from the counts alone.

    Notes
    -----
    All intervals are for labels held fixed and, as their target does not depend on the labels,
    also for random ones. Those by "mcdiarmid", "hoeffding", "kl" and "chebyshev-worst" are
    theorems. The others are asymptotic and differ in small samples: over 22 shapes of
    score distributions, with and without ties, AUC .5 to .995 and 10 to 5000 items of a class, the
    default of 95 % was measured to cover 91 to 100 %, under 93.5 % in 8 of 1143 cells and more
    than nominal where positives are few and the AUC is near 1; least of all where the scores have
    Cauchy's distribution or a few positives lie below all negatives. There "delong" falls to 16 %,
    "logit-delong" to 19 % and "newcombe" to 62 % (the user guide has the table). The term with
    ``|AUC - A|`` is what a sample lacks that has none of a share of the positives below all
    negatives (or of negatives above all positives), if a quarter of the distance is due to it. The
    variance of grouped items is Obuchowski's; an id of its own for each row makes real weights
    those of a survey. O(n log n) time and O(n) memory; without groups one sort of values.

    Of dask collections, without groups, each distinct pair of a score and a class is counted,
    chunk by chunk, and the counts come to this process: O(m) memory for m pairs. From 2 million
    pairs on they stay with the workers, cut into ranges of scores, of which sums come here.

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

    Nothing out of order is no certainty:

    >>> print(auc_interval([0, 0, 0, 1, 1], [1, 2, 3, 4, 5]))
    1.0000 [0.2649, 1.0000] (expected AUC, 95 %, wilson)
    """
    level = check_level(level)
    check_choice("method", method, tuple(METHODS))
    if groups is not None and method not in WITH_GROUPS:
        raise ValueError(
            f"method={method!r} needs independent items and takes no groups: choose one of"
            f" {', '.join(map(repr, WITH_GROUPS))}."
        )
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
    if groups is None and data.weight is not None and not data.whole.all():
        _refuse_fractions(sample_weight)
    if groups is not None and data.n_lists == 1 and not _is_one_class(data):
        raise ValueError(
            "groups has one group only, which shows no spread: pass the ids of at least two."
        )
    return auc_interval_of(data, level, method, grouped=groups is not None)


def auc_interval_of(
    data: ScoredLists, level: float = 0.95, method: str = "wilson", *, grouped: bool = False
) -> Interval:
    """Interval for the expected AUC from checked items.

    Parameters
    ----------
    data : ScoredLists
        One list, whose weights are whole, or with groups one list for each.
    level : float, default=0.95
        Nominal probability, in (0, 1).
    method : str, default="wilson"
        As :func:`auc_interval` takes it.
    grouped : bool, default=False
        Whether the lists are groups of items that depend on each other.

    Returns
    -------
    Interval
        The interval.
    """
    if _is_one_class(data):
        warn(
            "The AUC is undefined for items of one class only: it was set to nan and its interval"
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
    """Interval from counts of rows of collections, range by range of scores where these are many.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores.
    level : float
        Nominal probability, in (0, 1).
    method : str
        As :func:`auc_interval` takes it.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        How many times each item was seen.
    groups : array-like of shape (n_samples,), default=None
        Id of the group of each row, which is refused.
    pos_label : int, float, bool or str, default=None
        The positive class.

    Returns
    -------
    Interval
        The interval.
    """
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


def _refuse_fractions(sample_weight: Any) -> None:
    weight = np.ravel(sample_weight).astype(np.float64)
    row = int(np.argmax(weight != np.floor(weight)))
    raise ValueError(
        f"sample_weight is {weight[row]:g} at row {row}, which is no number of times that an item"
        " was seen: pass whole numbers, or for weights of another kind groups too"
        " (groups=np.arange(n) if the rows are independent)."
    )


def _standard_error(method: str, moments: AUCMoments) -> float | None:
    """Standard error, refused where a method would take its own lack of evidence for certainty."""
    if method == "wilson":
        return float(np.sqrt(design_effect(moments) * moments.auc * (1.0 - moments.auc))) or None
    if method not in ESTIMATED:
        return None
    few = "group with items" if moments.n_groups is not None else "item"
    n_few = min(moments.n_pos, moments.n_neg) if moments.n_groups is None else moments.n_groups
    if n_few < 2 and method != "hanley-mcneil":
        raise ValueError(
            f"method={method!r} estimates a variance, but there is one {few} of a class: choose"
            " method='wilson'."
        )
    variance = float(ESTIMATED[method](moments))
    # What is left of a variance of 0 after rounding.
    if variance <= 1e-15:
        raise ValueError(
            f"method={method!r} finds a variance of 0 at an AUC of {float(moments.auc):g}, which"
            " is no certainty: choose method='wilson'."
        )
    return float(np.sqrt(variance))
