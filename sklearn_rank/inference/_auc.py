"""Confidence interval for the expected AUC of a fixed ranking function.

The *placement* of a positive is the fraction of negatives below it, and the placement of a
negative is the fraction of positives above it; ties count 1/2. Both have the AUC as their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, logit, ndtri
from sklearn.exceptions import UndefinedMetricWarning

from .._arguments import check_choice, check_level
from .._lists import LabelType, ScoredLists, check_scored_lists
from .._order import class_blocks, tied_blocks
from .._partitions import any_collection
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_qid, ravelled
from .._warn import warn
from ..bounds._shared import kl_limits, score_limits
from ..metrics import get_measure
from ._influence import list_interval, weighted_influence
from ._results import Interval
from ._samples import (
    WeightMeaning,
    check_weight_meaning,
    dimensions,
    list_of_chunks,
    refuse_fractions,
    refuse_grouped_collections,
)
from ._score_distributions import hanley_mcneil_pairs, lehmann_variance

ArrayLimits = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class AUCMoments:
    """The AUC of a sample, or of many at once, and the spread of its placements."""

    auc: AnyArray
    var_pos: AnyArray  # Variance of the placements of positives
    var_neg: AnyArray  # and of negatives
    tied: AnyArray  # Share of the pairs of a positive and a negative that are tied
    n_pos: AnyArray
    n_neg: AnyArray
    variance: AnyArray  # Estimated variance of the AUC: DeLong's, or with groups Obuchowski's
    n_groups: AnyArray | None = None  # Number of groups with items of the rarer class

    @classmethod
    def of_independent(
        cls, auc: Any, var_pos: Any, var_neg: Any, tied: Any, n_pos: Any, n_neg: Any
    ) -> AUCMoments:
        """Take independent items, for which DeLong's variance is a sum."""
        variance = var_pos / n_pos + var_neg / n_neg
        values = (auc, var_pos, var_neg, tied, n_pos, n_neg, variance)
        return cls(*map(np.asarray, values))

    @property
    def n_rarer(self) -> AnyArray:
        """Number of items of the rarer class."""
        return np.minimum(self.n_pos, self.n_neg)

    def unbiased_variance(self) -> FloatArray:
        """Estimate Lehmann's variance without bias."""
        m, n, auc = self.n_pos, self.n_neg, self.auc
        square = auc - self.tied / 4.0
        # Means over pairs of different items, of which the placements' squares are part.
        shared_neg = ((n - 1.0) / n * self.var_neg + auc**2 - square / m) * m / (m - 1.0)
        shared_pos = ((m - 1.0) / m * self.var_pos + auc**2 - square / n) * n / (n - 1.0)
        total = square - auc**2
        total = total + (m - 1.0) * (shared_neg - auc**2) + (n - 1.0) * (shared_pos - auc**2)
        return total / ((m - 1.0) * (n - 1.0))


def sample_moments(
    score: FloatArray, positive: BoolArray, weight: FloatArray | None
) -> AUCMoments:
    """Moments of one sample of independent items."""
    return _moments(*_placement_sums(score, positive, weight))


def _moments(
    auc: float, squares_pos: float, squares_neg: float, tied: float, n_pos: float, n_neg: float
) -> AUCMoments:
    var_pos, var_neg = squares_pos / max(n_pos - 1.0, 1.0), squares_neg / max(n_neg - 1.0, 1.0)
    return AUCMoments.of_independent(auc, var_pos, var_neg, tied, n_pos, n_neg)


def placement_sums(lists: ScoredLists, tied: ScoredLists) -> FloatArray:
    """Sum the placements of a list, and their squares about the AUC of another. Shape (4,)."""
    if _is_one_class(tied):
        return np.zeros(4)
    center = _placement_sums(tied.score, tied.positive, tied.weight)[0]
    return np.array(_placement_sums(lists.score, lists.positive, lists.weight, center)[:4])


def moments_of_ranges(tied: ScoredLists, sums: Sequence[FloatArray]) -> AUCMoments:
    """Moments of items from the placement sums of separate ranges of scores."""
    center, *_, n_pos, n_neg = _placement_sums(tied.score, tied.positive, tied.weight)
    base = placement_sums(tied, tied)
    total, squares_pos, squares_neg, pairs = map(
        float, base + np.sum([of_range - base for of_range in sums], axis=0)
    )
    auc = min(max(total, 0.0), 1.0)
    shift = (auc - center) ** 2
    squares_pos = max(squares_pos - n_pos * shift, 0.0)
    squares_neg = max(squares_neg - n_neg * shift, 0.0)
    return _moments(auc, squares_pos, squares_neg, pairs, n_pos, n_neg)


def _placement_sums(
    score: FloatArray,
    positive: BoolArray,
    weight: FloatArray | None,
    center: float | None = None,
) -> tuple[float, float, float, float, float, float]:
    """Mean of the placements, sums of squares of positives and of negatives, tied share, counts.

    Squares are about a point, by default the mean.
    """
    # One search of the smaller class among all items gives the placements of both classes.
    swapped = bool(2 * np.count_nonzero(positive) > len(positive))
    blocks = class_blocks(score, ~positive if swapped else positive, weight, joined=True)
    n_class, n_other = float(blocks.n_class[0]), float(blocks.n_other[0])
    beaten = blocks.other_above if swapped else blocks.other_below
    placement = (beaten + blocks.of_other / 2.0) / n_other
    auc = min(float(np.dot(blocks.of_class, placement) / n_class), 1.0)
    center = auc if center is None else center
    squares_class = float(np.dot(blocks.of_class, (placement - center) ** 2))
    # Those of the other class are in a block, or in a gap next to one: below the first block,
    # between two, above the last.
    gaps = np.append(blocks.other_below, n_other)
    gaps[1:] -= blocks.other_below + blocks.of_other
    gaps = np.maximum(gaps, 0.0)
    above = np.append(n_class, blocks.class_above)
    passed = np.append(0.0, blocks.class_below + blocks.of_class)
    in_gaps = (passed if swapped else above) / n_class
    beyond = blocks.class_below if swapped else blocks.class_above
    in_blocks = (beyond + blocks.of_class / 2.0) / n_class
    squares_other = float(
        np.dot(gaps, (in_gaps - center) ** 2) + np.dot(blocks.of_other, (in_blocks - center) ** 2)
    )
    tied = float(np.dot(blocks.of_class, blocks.of_other)) / (n_class * n_other)
    if swapped:
        return auc, squares_other, squares_class, tied, n_other, n_class
    return auc, squares_class, squares_other, tied, n_class, n_other


def clustered_moments(groups: ScoredLists) -> AUCMoments:
    """Moments of items that depend on each other within groups."""
    positive, weight = groups.positive, groups.counts
    blocks = tied_blocks(groups.score)
    weight_pos = blocks.totals(np.where(positive, weight, 0.0))
    weight_neg = blocks.totals(np.where(positive, 0.0, weight))
    n_pos, n_neg = float(weight_pos.sum()), float(weight_neg.sum())
    # Blocks descend from the top; of its own block an item counts half.
    below = np.cumsum(weight_neg[::-1])[::-1] - weight_neg / 2.0
    above = np.cumsum(weight_pos) - weight_pos / 2.0
    placement = np.empty(len(positive))
    block_of = np.repeat(np.arange(len(blocks.starts)), blocks.lengths())
    ordered = np.where(positive[blocks.order], below[block_of] / n_neg, above[block_of] / n_pos)
    placement[blocks.order] = np.clip(ordered, 0.0, 1.0)
    auc = float(np.clip(np.dot(weight_pos, below) / (n_pos * n_neg), 0.0, 1.0))

    deviations = placement - auc
    sum_pos = groups.weighted_totals(np.where(positive, deviations, 0.0)) / n_pos
    sum_neg = groups.weighted_totals(np.where(positive, 0.0, deviations)) / n_neg
    with_pos = int(np.count_nonzero(groups.totals(positive.astype(np.float64))))
    with_neg = int(np.count_nonzero(groups.totals((~positive).astype(np.float64))))
    # Variance of the AUC: the part of each class, and the covariance within groups.
    var_pos = _inflation(with_pos) * float(np.dot(sum_pos, sum_pos))
    var_neg = _inflation(with_neg) * float(np.dot(sum_neg, sum_neg))
    joint = _inflation(groups.n_lists) * float(np.dot(sum_pos, sum_neg))
    variance = var_pos + var_neg + 2.0 * joint
    tied = float(np.dot(weight_pos, weight_neg)) / (n_pos * n_neg)
    values = (auc, var_pos, var_neg, tied, n_pos, n_neg, variance, min(with_pos, with_neg))
    return AUCMoments(*map(np.asarray, values))


def _inflation(n: int) -> float:
    """Correct for the mean that was estimated from the same groups; one group has no variance."""
    return n / (n - 1.0) if n > 1 else 0.0


def unseen_effect(moments: AUCMoments) -> FloatArray:
    """Variance that rare items add, over ``(AUC - A) A``.

    A quarter of the distance from the observed AUC is due to items as far from the others as
    possible.
    """
    n = moments.n_rarer if moments.n_groups is None else moments.n_groups
    return np.asarray(0.25 / n)


def auc_score_limits(auc: Any, effect: Any, unseen: Any, z: Any) -> ArrayLimits:
    """Solve ``(auc - A)^2 = z^2 (effect A (1 - A) + unseen (auc - A) A)`` below ``auc``.

    Above it the mirror image, with ``unseen (A - auc) (1 - A)``.

    Let a share q of the positives lie below all negatives, and the placements of the others have
    the mean B and the variance V. The placements of all then have the mean ``A = (1 - q) B`` and
    the variance ``(1 - q) V + (B - A) A``: a sample without any of the share shows B and V, and
    ``(B - A) A`` is what it lacks. Here a part of the distance is laid to such items, the same
    part in either direction: above, to some that lie above all of the other class.
    """
    low = _below(auc, z**2 * effect, z**2 * unseen)
    return low, 1.0 - _below(1.0 - np.asarray(auc, dtype=np.float64), z**2 * effect, z**2 * unseen)


def _below(auc: Any, c: Any, e: Any) -> FloatArray:
    """Find the lower root of ``(auc - A)^2 = c A (1 - A) + e (auc - A) A``."""
    auc = np.asarray(auc, dtype=np.float64)
    half = auc * (2.0 + e) + c
    # The discriminant, without the cancellation of two large terms.
    root = np.sqrt((e * auc) ** 2 + 4.0 * c * auc * (1.0 - auc) + c * (2.0 * e * auc + c))
    return np.asarray(2.0 * auc**2 / (half + root))


def auc_limits(method: str, moments: AUCMoments, level: float) -> ArrayLimits:
    """Find the limits of an interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = METHODS[method](moments, 1.0 - level)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def design_effect(moments: AUCMoments) -> FloatArray:
    """Variance of the AUC over ``A (1 - A)``, kept away from 0 where little is known.

    The variance of the placements of one class, over ``A (1 - A)``, lies between 0 and 1, and
    their sum over both classes is at most 1. Each is estimated as ``((n - 1) s^2 + c r) / ((n - 1)
    A (1 - A) + c)`` with ``c = 1/4`` and ``r = (1 + 1/n) / 2``: at an AUC of 1 nothing was seen
    and it is r; one item alone, which shows no spread, has the largest, 1.
    """
    largest = moments.auc * (1.0 - moments.auc)
    if moments.n_groups is not None:
        few = moments.n_groups
        # The number of draws is the number of groups of the rarer class, each with this variance.
        squares = (few - 1.0) * few * moments.variance
        return _shrunken_share(squares, (few - 1.0) * largest, few) / few
    m, n = moments.n_pos, moments.n_neg
    share_pos = _shrunken_share((m - 1.0) * moments.var_pos, (m - 1.0) * largest, m)
    share_neg = _shrunken_share((n - 1.0) * moments.var_neg, (n - 1.0) * largest, n)
    return share_pos / m + share_neg / n


def _shrunken_share(squares: AnyArray, largest: AnyArray, n: AnyArray) -> FloatArray:
    """Share of its largest value that a variance has, shrunk to a prior of half that value."""
    prior, evidence = 0.5 * (1.0 + 1.0 / n), 0.25  # The evidence in units of n A (1 - A).
    return (squares + evidence * prior) / (largest + evidence)


def _logit_delong(moments: AUCMoments, delta: float) -> ArrayLimits:
    auc = moments.auc
    reach = _z(delta) * np.sqrt(moments.variance) / (auc * (1.0 - auc))
    return expit(logit(auc) - reach), expit(logit(auc) + reach)


def hanley_mcneil_variance(moments: AUCMoments) -> FloatArray:
    """Variance of the AUC with exponential scores, at the observed AUC."""
    pairs = hanley_mcneil_pairs(moments.auc)
    return lehmann_variance(moments.auc, *pairs, moments.n_pos, moments.n_neg)


def _newcombe(moments: AUCMoments, delta: float) -> ArrayLimits:
    """Solve for the AUC whose Hanley-McNeil variance, both counts as their mean, fits."""
    half = (moments.n_pos + moments.n_neg) / 2.0
    pairs = moments.n_pos * moments.n_neg

    def variance(auc: FloatArray) -> FloatArray:
        shared_neg, shared_pos = hanley_mcneil_pairs(auc)
        return lehmann_variance(auc, shared_neg, shared_pos, half, half) * half**2 / pairs

    limits = []
    for end in (0.0, 1.0):
        inside = np.array(moments.auc, dtype=np.float64)
        outside = np.full_like(inside, end)
        for _ in range(60):
            middle = (inside + outside) / 2.0
            near = (moments.auc - middle) ** 2 <= _z(delta) ** 2 * variance(middle)
            inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
        limits.append(outside)
    return limits[0], limits[1]


def _around(auc: Any, reach: Any) -> ArrayLimits:
    return auc - reach, auc + reach


def _z(delta: float) -> float:
    return -float(ndtri(delta / 2.0))


METHODS: dict[str, Callable[[AUCMoments, float], ArrayLimits]] = {
    "wilson": lambda moments, delta: auc_score_limits(
        moments.auc, design_effect(moments), unseen_effect(moments), _z(delta)
    ),
    "newcombe": _newcombe,
    "logit-delong": _logit_delong,
    "delong": lambda moments, delta: _around(moments.auc, _z(delta) * np.sqrt(moments.variance)),
    "hanley-mcneil": lambda moments, delta: _around(
        moments.auc, _z(delta) * np.sqrt(hanley_mcneil_variance(moments))
    ),
    "normal": lambda moments, delta: _around(
        moments.auc, _z(delta) * np.sqrt(moments.unbiased_variance())
    ),
    "normal-worst": lambda moments, delta: score_limits(
        moments.auc, _z(delta) ** 2 / moments.n_rarer
    ),
    "chebyshev": lambda moments, delta: _around(
        moments.auc, 1.0 / np.sqrt(delta) * np.sqrt(moments.unbiased_variance())
    ),
    "chebyshev-worst": lambda moments, delta: score_limits(
        moments.auc, 1.0 / (delta * moments.n_rarer)
    ),
    "kl": lambda moments, delta: kl_limits(moments.auc, np.log(2.0 / delta) / moments.n_rarer),
    "hoeffding": lambda moments, delta: _around(
        moments.auc, np.sqrt(np.log(2.0 / delta) / (2.0 * moments.n_rarer))
    ),
    "mcdiarmid": lambda moments, delta: _around(
        moments.auc,
        np.sqrt(
            np.log(2.0 / delta)
            * (moments.n_pos + moments.n_neg)
            / (2.0 * moments.n_pos * moments.n_neg)
        ),
    ),
}

# Methods whose variance supports groups.
WITH_GROUPS = ("wilson", "logit-delong", "delong")


# Methods whose width is a multiple of an estimated standard error, so it is 0 if that is 0.
ESTIMATED: dict[str, Callable[[AUCMoments], Any]] = {
    "logit-delong": lambda moments: moments.variance,
    "delong": lambda moments: moments.variance,
    "hanley-mcneil": hanley_mcneil_variance,
    "normal": AUCMoments.unbiased_variance,
    "chebyshev": AUCMoments.unbiased_variance,
}


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
        if method != "wilson":
            raise ValueError(
                f"method={method!r} does not support weights='sampling', it needs rows of equal"
                " probability: pass method='wilson'."
            )
        measure = get_measure("auc")
        influences, dependent = weighted_influence(
            measure,
            y_true,
            (y_score,),
            sample_weight,
            "sampling",
            groups,
            conditional=False,
            pos_label=pos_label,
        )
        interval = list_interval(measure, influences[0], level, dependent)
        return replace(interval, method=method, target=TARGET)
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
    tied, sums = rows.by_ranges(plan, placement_sums)
    if _is_one_class(tied):
        return auc_interval_of(tied, level, method)
    return _interval_of_moments(moments_of_ranges(tied, sums), level, method)


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
    unit = "group with items" if moments.n_groups is not None else "item"
    n_units = moments.n_rarer if moments.n_groups is None else moments.n_groups
    if n_units < 2 and method != "hanley-mcneil":
        raise ValueError(
            f"method={method!r} estimates a variance, but there is only one {unit} of a class:"
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
