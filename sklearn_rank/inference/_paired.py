"""Tests that two scorers rank equally well, on the same items or on different ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from .._arguments import check_choice, check_level
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._joint import joint_influence, nonzero_variance
from ._measure_influence import measure_influence
from ._normal_test import ALTERNATIVES, Alternative, normal_pvalue
from ._results import Interval, RankTestResult

__all__ = ["paired_rank_test", "unpaired_rank_test"]


def paired_rank_test(
    y_true: Any,
    y_score_a: Any,
    y_score_b: Any,
    *,
    measure: MeasureLike = "auc",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    conditional: bool = True,
    pos_label: Any = None,
) -> RankTestResult:
    """Test that a measure is the same for two scorers, on the same items.

    ``z = (W_a - W_b) / se``, where the variance is that of the differences of the influence
    values, item by item. For the AUC it is the test of DeLong, DeLong and Clarke-Pearson.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score_a : array-like of shape (n_samples,)
        Scores of the first scorer; higher is nearer to the top.
    y_score_b : array-like of shape (n_samples,)
        Scores of the second.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        A measure of which the influence of single items is known, as
        :func:`sklearn_rank.metrics.get_measure` takes it: ``"auc"``, ``"local_auc@0.8"``,
        ``"bedroc@20"``, a score-generating function (its statistic between the worst and the best
        order), or ``make_measure(..., influence=)``.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Whether the first scorer is different, worse or better.
    level : float, default=0.95
        Nominal probability of the two-sided interval for the difference, in (0, 1).
    conditional : bool, default=True
        Whether the labels count as fixed: the target is then at their share of positives.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankTestResult
        The test; its estimate and interval are of the first less the second.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst order is as good as the best,
        or the influence of single items on the measure is not known.

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
    p = 0.1601 (two-sided, influence): equal auc; estimate 0.3125 [-0.1235, 0.7485] (95 %)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    level = check_level(level)
    measure = get_measure(measure)
    found = measure_influence(
        measure,
        y_true,
        (y_score_a, y_score_b),
        conditional=conditional,
        pos_label=pos_label,
    )
    joint = joint_influence(found, conditional=conditional)
    contrast = np.array([1.0, -1.0])
    difference = float(joint.estimates[0] - joint.estimates[1])
    variance, is_regularized = nonzero_variance(
        float(contrast @ joint.covariance @ contrast),
        float(contrast @ joint.regularized @ contrast),
        difference,
        length=joint.length,
        n_effective=joint.n_effective,
    )
    return _test(
        difference, variance, is_regularized, joint.length, alternative, level, measure.name
    )


def unpaired_rank_test(
    y_true_a: Any,
    y_score_a: Any,
    y_true_b: Any,
    y_score_b: Any,
    *,
    measure: MeasureLike = "auc",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    conditional: bool = True,
    pos_label: Any = None,
) -> RankTestResult:
    """Test that a measure has the same target for two independent samples.

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
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        A measure of which the influence of single items is known, as
        :func:`sklearn_rank.metrics.get_measure` takes it: ``"auc"``, ``"local_auc@0.8"``,
        ``"bedroc@20"``, a score-generating function (its statistic between the worst and the best
        order), or ``make_measure(..., influence=)``.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Whether the first sample is different, worse or better.
    level : float, default=0.95
        Nominal probability of the two-sided interval for the difference, in (0, 1).
    conditional : bool, default=True
        Whether the labels count as fixed.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankTestResult
        The test; its estimate and interval are of the first less the second.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst order is as good as the best,
        or the influence of single items on the measure is not known.

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
    level = check_level(level)
    measure = get_measure(measure)
    joints = []
    for name, y_true, y_score in (("a", y_true_a, y_score_a), ("b", y_true_b, y_score_b)):
        found = measure_influence(
            measure,
            y_true,
            (y_score,),
            conditional=conditional,
            pos_label=pos_label,
            name=f"y_true_{name}",
        )
        joints.append(joint_influence(found, conditional=conditional))
    difference = float(joints[0].estimates[0] - joints[1].estimates[0])
    length = max(joint.length for joint in joints)
    variance, is_regularized = nonzero_variance(
        sum(float(joint.covariance[0, 0]) for joint in joints),
        sum(float(joint.regularized[0, 0]) for joint in joints),
        difference,
        length=length,
        n_effective=1.0 / sum(1.0 / joint.n_effective for joint in joints),
    )
    return _test(difference, variance, is_regularized, length, alternative, level, measure.name)


def _test(
    difference: float,
    variance: float,
    is_regularized: bool,
    length: float,
    alternative: Alternative,
    level: float,
    name: str,
) -> RankTestResult:
    error = float(np.sqrt(variance))
    method = "influence, added items" if is_regularized else "influence"
    half = float(ndtri((1.0 + level) / 2.0)) * error
    interval = Interval(
        estimate=difference,
        low=max(difference - half, -length),
        high=min(difference + half, length),
        level=level,
        method=method,
        target=f"difference of {name}",
        standard_error=error,
    )
    return RankTestResult(
        statistic=difference / error,
        pvalue=normal_pvalue(difference / error, alternative),
        estimate=difference,
        alternative=alternative,
        method=method,
        hypothesis=f"equal {name}",
        interval=interval,
    )
