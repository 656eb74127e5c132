"""Tests of two scorers for a measure, on the same items or on different ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_choice, check_flag, check_level
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._comparison import Question, joint_comparison
from ._contrasts import read_contrasts
from ._groups import check_groups, check_groups_of_two
from ._joint import JointEstimate, joint_influence, joint_samples
from ._measure_influence import list_target, measure_influence, sample_influence
from ._normal_test import ALTERNATIVES, Alternative
from ._results import Comparison
from ._two_classes import refuse_grouped_collections

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
    groups: Any = None,
    pos_label: Any = None,
) -> Comparison:
    """Test whether a ranking measure differs between two scorers on the same items.

    The statistic is ``z = (W_a - W_b) / se``, where se comes from the differences of the influence
    values, per item or per group. For the AUC this is the statistic of DeLong, DeLong and
    Clarke-Pearson. Its distribution is Student's: the result is that of :func:`compare` for two
    scorers.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score_a : array-like of shape (n_samples,)
        Scores of the first scorer; a higher score ranks an item nearer to the top.
    y_score_b : array-like of shape (n_samples,)
        Scores of the second scorer.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        A measure that has an influence function, in any form that
        :func:`sklearn_rank.metrics.get_measure` accepts: ``"auc"``, ``"local_auc@0.8"``,
        ``"bedroc@20"``, a score-generating function (its statistic between the worst and the best
        order), or ``make_measure(..., influence=)``.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Alternative hypothesis: the measure of the first scorer is different, less or greater.
    level : float, default=0.95
        Nominal coverage of the interval for the difference, in (0, 1). With a one-sided
        ``alternative`` it is the coverage of each limit separately. The test is at level ``1 -
        level``.
    conditional : bool, default=True
        Whether the labels are treated as fixed. The target is then at their fraction of positives.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; if they are not, the test rejects true hypotheses much too often.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    Comparison
        The test of the contrast ``"a - b"``, first minus second.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst and the best order have the
        same value, the measure has no influence function, or there is only one group.
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    compare : Comparison of any number of scorers, for any measure and design.
    paired_swap_test : Permutation test for small samples and values near the end of the range.
    unpaired_rank_test : Test of two scorers on different items.
    two_sample_rank_test : Test whether one scorer ranks better than chance.

    Notes
    -----
    The influence values may have almost no variance, as for two perfect rankings, for a perfect
    and a reversed ranking of a few items, or for one item of a class. If their mean exceeds three
    standard deviations, half an item is added at either end of the list in both classes, for each
    scorer separately, and the variance is taken around 0 instead of the mean. Then ``z`` is at
    most ``sqrt(k m / n)``, no difference is certain, and the method is named "max-t, added
    items". The degrees of freedom of Student's distribution are those of Satterthwaite's rule with
    ``n_pos - 1`` and ``n_neg - 1``. If few items distinguish the scorers, the test rejects too
    seldom: at AUC .98 with 30 positives and 30 negatives, in at most .004 at the 5 % level. The
    interval is cut to the possible differences. The cost is O(n log n) time and O(n) memory.

    With ``groups`` the variance is the sum over groups of the squared contributions of their
    items. The contribution of either class is divided by ``sqrt(1 - share)``, where share is the
    group's fraction of the class. The degrees of freedom are the
    effective number of groups, ``(sum of s^2)^2 / sum of s^4`` for groups of s items of a class,
    minus one, combined over the classes by Satterthwaite's rule. At the 5 % level, true hypotheses
    were rejected in 0 to 9 % of samples, 4 % in the median, over 48 designs of 10 to 200 groups
    (table in :doc:`/benchmarks/inference`).

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.
    .. [3] Bell & McCaffrey (2002), *Bias reduction in standard errors for linear regression with
       multi-stage samples*, Survey Methodology 28.
    .. [4] Carter, Schnepel & Steigerwald (2017), *Asymptotic behavior of a t-test robust to
       cluster heterogeneity*, Review of Economics and Statistics 99.

    Examples
    --------
    >>> from sklearn_rank.inference import paired_rank_test
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> print(
    ...     paired_rank_test(y_true, [8, 7, 6, 3, 5, 4, 2, 1], [8, 2, 6, 3, 5, 4, 7, 1])
    ... )
    auc on 8 items, 4 positive
    hypothesis: equal auc; two-sided; max-t; level 95 %
    <BLANKLINE>
    ranker   value  standard error
    a       0.8750          0.1443
    b       0.5625          0.2447
    <BLANKLINE>
    contrast  difference       95 % interval     p  conclusion
    a - b        +0.3125  [-0.2318, +0.8568]  0.21  no difference shown
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    level, conditional = check_level(level), check_flag("conditional", conditional)
    measure = get_measure(measure)
    found = measure_influence(
        measure,
        y_true,
        (y_score_a, y_score_b),
        conditional=conditional,
        pos_label=pos_label,
    )
    dependent = check_groups(groups, len(found[0].positive))
    joint = joint_influence(found, conditional=conditional, groups=dependent)
    target = list_target(measure, [found[0]], [dependent])
    return _test(joint, alternative, level, measure, target)


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
    groups: Any = None,
    pos_label: Any = None,
) -> Comparison:
    """Test whether a ranking measure differs between two independent samples of items.

    The statistic is ``z = (W_a - W_b) / sqrt(V_a + V_b)``, with the variances of the influence
    values. Its distribution is Student's: the result is that of :func:`compare` with
    ``paired=False``.

    Parameters
    ----------
    y_true_a : array-like or dask collection of shape (n_samples_a,)
        Labels of the first sample, of two classes, both present.
    y_score_a : array-like or dask collection of shape (n_samples_a,)
        Scores of the first sample; a higher score ranks an item nearer to the top.
    y_true_b : array-like or dask collection of shape (n_samples_b,)
        Labels of the second sample.
    y_score_b : array-like or dask collection of shape (n_samples_b,)
        Scores of the second sample, on the same scale as the first or another.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        A measure that has an influence function, in any form that
        :func:`sklearn_rank.metrics.get_measure` accepts: ``"auc"``, ``"local_auc@0.8"``,
        ``"bedroc@20"``, a score-generating function (its statistic between the worst and the best
        order), or ``make_measure(..., influence=)``.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Alternative hypothesis: the measure of the first sample is different, less or greater.
    level : float, default=0.95
        Nominal coverage of the interval for the difference, in (0, 1). With a one-sided
        ``alternative`` it is the coverage of each limit separately. The test is at level ``1 -
        level``.
    conditional : bool, default=True
        Whether the labels are treated as fixed.
    groups : pair of array-like of shape (n_samples_a,) and (n_samples_b,), default=None
        Group ids of the items of each sample; items of different groups are independent. An id
        that occurs in both samples is one group, and the samples may depend on each other through
        it. None means independent items and independent samples.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    Comparison
        The test of the contrast ``"a - b"``, first minus second.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst and the best order have the
        same value, the measure has no influence function, or there is only one group.
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    paired_rank_test : Test on the same items, which needs far fewer items.

    Notes
    -----
    Except for the AUC, the target depends on the fraction of positives. If the samples differ in
    this fraction, a difference may be due to it and not to the scorers. Differences without
    variation and groups are treated as in :func:`paired_rank_test`. The cost is O(n log n) time
    and O(n) memory.

    For dask collections (without ``groups``) the distinct pairs of a score and a class are counted
    chunk by chunk, and the counts are collected in this process: O(m) memory for m pairs.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.

    Examples
    --------
    >>> from sklearn_rank.inference import unpaired_rank_test
    >>> found = unpaired_rank_test(
    ...     [1, 1, 1, 0, 0, 0],
    ...     [6, 5, 2, 4, 3, 1],
    ...     [1, 1, 1, 0, 0, 0],
    ...     [3, 2, 6, 4, 1, 5],
    ... )
    >>> round(found.estimate, 4), round(found.pvalue, 4)
    (0.2222, 0.5966)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    level, conditional = check_level(level), check_flag("conditional", conditional)
    measure = get_measure(measure)
    refuse_grouped_collections(
        groups, y_true_a=y_true_a, y_score_a=y_score_a, y_true_b=y_true_b, y_score_b=y_score_b
    )
    first, second = (
        sample_influence(
            measure, y_true, y_score, conditional=conditional, pos_label=pos_label, name=name
        )
        for name, y_true, y_score in (
            ("y_true_a", y_true_a, y_score_a),
            ("y_true_b", y_true_b, y_score_b),
        )
    )
    n = len(first.positive)
    dependent = check_groups_of_two(groups, n, len(second.positive))
    rows = np.arange(n + len(second.positive))
    of_first, of_second = (
        None if dependent is None else dependent.only(some) for some in (rows[:n], rows[n:])
    )
    joint = joint_samples([(first, of_first), (second, of_second)], conditional=conditional)
    target = list_target(measure, [first, second], [of_first, of_second])
    return _test(joint, alternative, level, measure, target)


def _test(
    joint: JointEstimate, alternative: Alternative, level: float, measure: Measure, target: str
) -> Comparison:
    """Compare two scorers as `compare` does, whose single contrast needs no draws."""
    names = ("a", "b")
    question = Question.of(measure, alternative, None, level)
    contrasts, rng = read_contrasts(names, None), np.random.default_rng(0)
    return joint_comparison(joint, names, contrasts, question, rng, measure, target)
