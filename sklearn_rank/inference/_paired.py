"""Tests that two scorers rank equally well, on the same items or on different ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from .._typing import BoolArray, FloatArray
from ..metrics._shared import (
    PSEUDO_WEIGHT,
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    label_slope,
    linear_rank_influence_of,
    rank_range,
)
from ._arguments import check_choice, check_level
from ._influence import check_limit, check_two_classes
from ._results import Interval, RankTestResult

__all__ = [
    "Alternative",
    "JointEstimate",
    "joint_estimate",
    "paired_rank_test",
    "safe_variance",
    "tail",
    "unpaired_rank_test",
]

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

ALTERNATIVES = ("two-sided", "less", "greater")
INSTEAD = (
    "compare it by resampling with linear_rank_interval(method='bootstrap'), or pass a phi that is"
    " the same for all lengths, such as LocalAUC or Exponential"
)

# A variance per item, in squared ranges of the statistic, that is nothing but rounding.
ROUNDING = 1e-28

# Influence values whose mean is so many of their standard deviations do not tell how they vary.
STEADY = 3.0


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """Statistics of several scorers on the same items, and how they vary together.

    Parameters
    ----------
    estimates : ndarray of shape (n_scorers,)
        The statistics.
    covariance : ndarray of shape (n_scorers, n_scorers)
        Their covariance by influence; NaN with one item of a class.
    spare : ndarray of shape (n_scorers, n_scorers)
        Covariance with half an item added at either end in both classes, for each scorer by
        itself: never singular. For differences that ``covariance`` calls certain.
    unit : float
        Range of the statistic.
    effective : float
        Harmonic number of items, ``n_pos n_neg / n``.
    """

    estimates: FloatArray
    covariance: FloatArray
    spare: FloatArray
    unit: float
    effective: float


def joint_estimate(
    positive: BoolArray,
    scores: Sequence[FloatArray],
    phi: ScoreGeneratingFunction,
    *,
    conditional: bool,
    normalize: Normalize,
) -> JointEstimate:
    """Estimate the statistics of several scorers and their covariance.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Which items are positive.
    scores : sequence of ndarray of shape (n,)
        Scores of each scorer.
    phi : ScoreGeneratingFunction
        The function, not depending on the length of the list.
    conditional : bool
        Whether the labels count as fixed.
    normalize : {"mean", "minmax"}
        The mean over the positives, or its place between worst and best.

    Returns
    -------
    JointEstimate
        The estimate.
    """
    n, k = len(positive), int(np.count_nonzero(positive))
    worst, best = rank_range(phi, n, k)
    found = [linear_rank_influence_of(positive, score, phi) for score in scores]
    covariance = np.zeros((len(scores), len(scores)))
    spare = np.zeros_like(covariance)
    for held, first in ((positive, 0), (~positive, 2)):
        values = np.stack([one.values[held] for one in found])
        values -= values.mean(axis=1, keepdims=True)
        squares, size = values @ values.T, values.shape[1]
        covariance += squares / (size * (size - 1)) if size > 1 else np.nan
        total = size + 2.0 * PSEUDO_WEIGHT
        ends = np.array([one.ends[first + 1] - one.ends[first] for one in found])
        spare += (squares + np.diag(PSEUDO_WEIGHT * ends**2 / 2.0)) / total**2
    if not conditional:
        slopes = np.array(
            [label_slope(one, phi, normalize=normalize, worst=worst, best=best) for one in found]
        )
        labels = np.outer(slopes, slopes) * (k / n) * (1.0 - k / n) / n
        covariance, spare = covariance + labels, spare + labels
    estimates = np.array([one.estimate for one in found])
    unit = best - worst
    if normalize == "minmax":
        estimates = (estimates - worst) / unit
        covariance, spare, unit = covariance / unit**2, spare / unit**2, 1.0
    return JointEstimate(estimates, covariance, spare, unit, k * (n - k) / n)


def safe_variance(
    variance: float, spare: float, difference: float, *, unit: float, effective: float
) -> tuple[float, bool]:
    """Variance of a difference, never zero.

    Parameters
    ----------
    variance : float
        Variance by influence; NaN if there is none.
    spare : float
        Variance with the added items.
    difference : float
        The difference.
    unit : float
        Range of the statistic.
    effective : float
        Harmonic number of items.

    Returns
    -------
    variance : float
        By influence unless the values hardly vary; else with the added items and, as under the
        hypothesis of no difference, with the square of the mean.
    is_spare : bool
        Whether it is the latter.
    """
    least = max(ROUNDING * unit**2, (difference / STEADY) ** 2) / effective
    if variance > least:
        return variance, False
    return spare + difference**2 / effective, True


def tail(z: float, alternative: Alternative) -> float:
    """Return the p-value of a standard normal statistic.

    Parameters
    ----------
    z : float
        The statistic.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme.

    Returns
    -------
    float
        Probability of a value at least as extreme.
    """
    if alternative == "two-sided":
        return float(2.0 * ndtr(-abs(z)))
    return float(ndtr(-z if alternative == "greater" else z))


def paired_rank_test(
    y_true: Any,
    y_score_a: Any,
    y_score_b: Any,
    *,
    phi: Phi = "wilcoxon",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    conditional: bool = True,
    normalize: Normalize = "minmax",
    pos_label: Any = None,
) -> RankTestResult:
    """Test that two scorers have the same rank statistic, on the same items.

    ``z = (W_a - W_b) / se``, where the variance is that of the differences of the influence
    values, item by item. With Wilcoxon's phi it is the test of DeLong, DeLong and Clarke-Pearson.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score_a : array-like of shape (n_samples,)
        Scores of the first scorer; higher is nearer to the top.
    y_score_b : array-like of shape (n_samples,)
        Scores of the second.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1); one that depends on the length of the list is refused.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Whether the first scorer is different, worse or better.
    level : float, default=0.95
        Nominal probability of the two-sided interval for the difference, in (0, 1).
    conditional : bool, default=True
        Whether the labels count as fixed: the target is then at their share of positives.
    normalize : {"mean", "minmax"}, default="minmax"
        Of the places between the worst and the best order (with Wilcoxon's phi, the AUC), or of
        the means over the positives; the p-value is the same if conditional.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankTestResult
        The test; its estimate and interval are of the first less the second.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, no place counts, or phi depends on the
        length of the list.

    See Also
    --------
    compare_rankers : Any number of scorers.
    unpaired_rank_test : Scorers on different items.
    two_sample_rank_test : Whether one scorer ranks better than chance.

    Notes
    -----
    The influence values may hardly vary: two perfect rankings, or a perfect and a reversed one of
    a few items, or one item of a class. Where their mean exceeds three standard deviations the
    variance is that with half an item added at either end of the list in both classes, for each
    scorer by itself, and is taken around no difference instead of the mean; then ``z`` is at most
    ``sqrt(k m / n)``, nothing is called certain, and the method is "influence, added items". The
    interval is cut to the possible differences. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.

    Examples
    --------
    >>> from sklearn_rank.inference import paired_rank_test
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> print(paired_rank_test(y_true, [8, 7, 6, 3, 5, 4, 2, 1], [8, 2, 6, 3, 5, 4, 7, 1]))
    p = 0.1601 (two-sided, influence): equal W_phi; estimate 0.3125 [-0.1235, 0.7485] (95 %)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("normalize", normalize, ("mean", "minmax"))
    level = check_level(level)
    function = check_limit(phi, INSTEAD)
    positive, score_a = check_two_classes(y_true, y_score_a, pos_label)
    _, score_b = check_two_classes(y_true, y_score_b, pos_label)
    joint = joint_estimate(
        positive, [score_a, score_b], function, conditional=conditional, normalize=normalize
    )
    difference = float(joint.estimates[0] - joint.estimates[1])
    contrast = np.array([1.0, -1.0])
    variance, is_spare = safe_variance(
        float(contrast @ joint.covariance @ contrast),
        float(contrast @ joint.spare @ contrast),
        difference,
        unit=joint.unit,
        effective=joint.effective,
    )
    return _test(difference, variance, is_spare, joint.unit, alternative, level)


def unpaired_rank_test(
    y_true_a: Any,
    y_score_a: Any,
    y_true_b: Any,
    y_score_b: Any,
    *,
    phi: Phi = "wilcoxon",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    conditional: bool = True,
    normalize: Normalize = "minmax",
    pos_label: Any = None,
) -> RankTestResult:
    """Test that the rank statistics of two independent samples have the same target.

    ``z = (W_a - W_b) / sqrt(V_a + V_b)`` with the variances by influence.

    Parameters
    ----------
    y_true_a : array-like of shape (n_samples_a,)
        Labels of the first sample, of two classes, both present.
    y_score_a : array-like of shape (n_samples_a,)
        Its scores; higher is nearer to the top.
    y_true_b : array-like of shape (n_samples_b,)
        Labels of the second sample.
    y_score_b : array-like of shape (n_samples_b,)
        Its scores, comparable with those of the first or not.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1); one that depends on the length of the list is refused.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Whether the first sample is different, worse or better.
    level : float, default=0.95
        Nominal probability of the two-sided interval for the difference, in (0, 1).
    conditional : bool, default=True
        Whether the labels count as fixed.
    normalize : {"mean", "minmax"}, default="minmax"
        Of the places between the worst and the best order, or of the means over the positives.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankTestResult
        The test; its estimate and interval are of the first less the second.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, no place counts, or phi depends on the
        length of the list.

    See Also
    --------
    paired_rank_test : On the same items, which needs far fewer of them.

    Notes
    -----
    But for the AUC the target depends on the share of positives: where the samples differ in it,
    a difference may be of the shares and not of the scorers. A certain-looking difference is
    treated as by :func:`paired_rank_test`. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.

    Examples
    --------
    >>> from sklearn_rank.inference import unpaired_rank_test
    >>> found = unpaired_rank_test([1, 1, 1, 0, 0, 0], [6, 5, 2, 4, 3, 1],
    ...                            [1, 1, 1, 0, 0, 0], [3, 2, 6, 4, 1, 5])
    >>> round(found.estimate, 4), round(found.pvalue, 4)
    (0.2222, 0.5791)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("normalize", normalize, ("mean", "minmax"))
    level = check_level(level)
    function = check_limit(phi, INSTEAD)
    joints = []
    for name, y_true, y_score in (("a", y_true_a, y_score_a), ("b", y_true_b, y_score_b)):
        positive, score = check_two_classes(y_true, y_score, pos_label, name=f"y_true_{name}")
        joints.append(
            joint_estimate(
                positive, [score], function, conditional=conditional, normalize=normalize
            )
        )
    difference = float(joints[0].estimates[0] - joints[1].estimates[0])
    unit = max(joint.unit for joint in joints)
    variance, is_spare = safe_variance(
        sum(float(joint.covariance[0, 0]) for joint in joints),
        sum(float(joint.spare[0, 0]) for joint in joints),
        difference,
        unit=unit,
        effective=1.0 / sum(1.0 / joint.effective for joint in joints),
    )
    return _test(difference, variance, is_spare, unit, alternative, level)


def _test(
    difference: float,
    variance: float,
    is_spare: bool,
    unit: float,
    alternative: Alternative,
    level: float,
) -> RankTestResult:
    error = float(np.sqrt(variance))
    method = "influence, added items" if is_spare else "influence"
    half = float(ndtri((1.0 + level) / 2.0)) * error
    interval = Interval(
        estimate=difference,
        low=max(difference - half, -unit),
        high=min(difference + half, unit),
        level=level,
        method=method,
        target="difference of W_phi",
        standard_error=error,
    )
    return RankTestResult(
        statistic=difference / error,
        pvalue=tail(difference / error, alternative),
        estimate=difference,
        alternative=alternative,
        method=method,
        hypothesis="equal W_phi",
        interval=interval,
    )
