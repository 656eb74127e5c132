"""Tests of two scorers for a measure, on the same items or on different ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .._arguments import check_choice, check_flag, check_generator, check_level, check_resamples
from .._typing import BoolArray, FloatArray, IntArray
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._comparison import Question, holm_adjust, joint_comparison, read_contrasts
from ._influence import (
    JointEstimate,
    joint_influence,
    joint_samples,
    list_target,
    measure_influence,
    sample_influence,
)
from ._limits import ALTERNATIVES, Alternative
from ._results import Comparison
from ._samples import (
    check_groups,
    check_groups_of_two,
    check_two_classes,
    refuse_collections,
    refuse_grouped_collections,
)

# Exchanges if no number is passed: each ranks all items anew.
SWAPS = 999

# Statistics this near to each other, relatively, are equal up to rounding.
SLACK = 1e-9


def paired_swap_test(
    y_true: Any,
    y_score_a: Any,
    y_score_b: Any,
    *,
    measure: MeasureLike = "auc",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    groups: Any = None,
    n_resamples: int = SWAPS,
    random_state: Any = None,
    pos_label: Any = None,
) -> Comparison:
    """Permutation test of two scorers on the same items.

    The scores are converted to ranks. The two ranks of each item are exchanged with probability
    1/2, and ``z = (W_a - W_b) / se`` is recomputed. Use this test for small samples, for which
    :func:`paired_rank_test` rejects too seldom.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score_a : array-like of shape (n_samples,)
        Scores of the first scorer; a higher score ranks an item nearer to the top.
    y_score_b : array-like of shape (n_samples,)
        Scores of the second scorer, on any scale.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        A measure that has an influence function, as for :func:`paired_rank_test`.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Alternative hypothesis: the measure of the first scorer is different, less or greater.
    level : float, default=0.95
        Confidence level of the test, in (0, 1): a difference counts as shown if the p-value is at
        most ``1 - level``.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. Whole groups are
        exchanged. None means independent items; if they are not, the test rejects true hypotheses
        too often.
    n_resamples : int, default=999
        Number of random exchanges, at least 99. The smallest possible p-value is ``1 /
        (n_resamples + 1)``.
    random_state : int, Generator, RandomState or None, default=None
        Random number generator or seed. Pass an int for reproducible results.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    Comparison
        The test of ``"a - b"``, the first less the second, without an interval.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, there is only one group, or the measure
        has no influence function.

    See Also
    --------
    paired_rank_test : Faster test with an interval, for larger samples.
    paired_query_test : Test for means over queries.

    Notes
    -----
    If the ranks by the two scorers are exchangeable, per item or per group, a true hypothesis is
    rejected with probability at most ``1 - level``, for any sample size. Scorers with equal
    measures need not be exchangeable. Each difference is divided by its standard error from the
    influence values, so the test is asymptotically valid for them too. At AUC .98 with 30
    positives and 30 negatives it rejects in .01 to .04 at the 5 % level, and
    :func:`paired_rank_test` in at most .004. The cost is O(n_resamples n log n) time and O(n)
    memory.

    References
    ----------
    .. [1] Venkatraman & Begg (1996), *A distribution-free procedure for comparing receiver
       operating characteristic curves from a paired experiment*, Biometrika 83.
    .. [2] Bandos, Rockette & Gur (2005), *A permutation test sensitive to differences in areas for
       comparing ROC curves from a paired design*, Statistics in Medicine 24.
    .. [3] Janssen (1997), *Studentized permutation tests for non-i.i.d. hypotheses and the
       generalized Behrens-Fisher problem*, Statistics & Probability Letters 36.

    Examples
    --------
    >>> from sklearn_rank.inference import paired_swap_test
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> found = paired_swap_test(
    ...     y_true, [8, 7, 6, 3, 5, 4, 2, 1], [8, 2, 6, 3, 5, 4, 7, 1], random_state=0
    ... )
    >>> print(found)
    auc on 8 items, 4 positive
    hypothesis: equal auc; two-sided; swaps; level 95 %
    <BLANKLINE>
    ranker   value  standard error
    a       0.8750          0.1443
    b       0.5625          0.2447
    <BLANKLINE>
    contrast  difference      p  conclusion
    a - b        +0.3125  0.497  no difference shown
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    return swap_tests(
        get_measure(measure),
        y_true,
        {"a": y_score_a, "b": y_score_b},
        [("a", "b")],
        alternative=alternative,
        level=check_level(level),
        n_resamples=check_resamples(n_resamples),
        rng=check_generator(random_state),
        groups=groups,
        pos_label=pos_label,
    )


def swap_tests(
    measure: Measure,
    y_true: Any,
    scores: Mapping[str, Any],
    pairs: Sequence[tuple[str, str]],
    *,
    alternative: str,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
    groups: Any,
    pos_label: Any,
) -> Comparison:
    """Test pairs of rankers by exchanging them, with p-values adjusted by Holm's method."""
    refuse_collections("scores are exchanged row by row", y_true=y_true, **scores, groups=groups)
    lists = {name: check_two_classes(y_true, score, pos_label) for name, score in scores.items()}
    positive = next(iter(lists.values())).positive
    n = len(positive)
    dependent = check_groups(groups, n)
    unit = np.arange(n) if dependent is None else dependent.codes
    ranks = {name: rankdata(data.score) for name, data in lists.items()}
    influences = measure_influence(
        measure, positive, [*ranks.values()], conditional=True, pos_label=None
    )
    statistics, differences, pvalues = [], [], []
    for a, b in pairs:
        pair = np.stack([ranks[a], ranks[b]])
        observed, difference = _studentise(measure, positive, pair, unit)
        draws = np.empty(n_resamples)
        for i in range(n_resamples):
            swapped = rng.random(unit.max() + 1)[unit] < 0.5
            exchanged = np.where(swapped, pair[::-1], pair)
            draws[i] = _studentise(measure, positive, exchanged, unit)[0]
        statistics.append(observed)
        differences.append(difference)
        # The share of statistics, the observed one among them, that are at least as extreme.
        if alternative == "two-sided":
            observed, draws = abs(observed), np.abs(draws)
        elif alternative == "less":
            observed, draws = -observed, -draws
        least = observed - SLACK * abs(observed) if np.isfinite(observed) else observed
        pvalues.append((1.0 + np.count_nonzero(draws >= least)) / (n_resamples + 1.0))
    unknown = (nan,) * len(pairs)
    return Comparison(
        measure=measure.name,
        names=tuple(scores),
        values=tuple(influence.estimate for influence in influences),
        standard_errors=tuple(float(np.sqrt(influence.variance())) for influence in influences),
        contrasts=tuple(f"{a} - {b}" for a, b in pairs),
        differences=tuple(differences),
        low=unknown,
        high=unknown,
        statistics=tuple(statistics),
        pvalues=tuple(holm_adjust(pvalues)),
        level=level,
        alternative=alternative,
        margin=None,
        method="swaps" if len(pairs) == 1 else "swaps, Holm",
        target=list_target(measure, influences[:1], [dependent]),
        hypothesis=f"equal {measure.name}",
        greater_is_better=measure.greater_is_better,
    )


def _studentise(
    measure: Measure, positive: BoolArray, ranks: FloatArray, unit: IntArray
) -> tuple[float, float]:
    """Difference over its standard error, infinite where that is 0, and the difference."""
    a, b = measure_influence(
        measure, positive, (ranks[0], ranks[1]), conditional=True, pos_label=None
    )
    difference = a.estimate - b.estimate
    sums = np.bincount(unit, a.centred() - b.centred()) / len(positive)
    error = float(np.sqrt(np.sum(sums**2)))
    if abs(difference) <= SLACK * max(abs(a.estimate), abs(b.estimate)):
        return 0.0, difference
    # Equal influences sum to 0 up to rounding only.
    if error <= SLACK * abs(difference):
        return float(np.copysign(np.inf, difference)), difference
    return difference / error, difference


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
    influences = measure_influence(
        measure,
        y_true,
        (y_score_a, y_score_b),
        conditional=conditional,
        pos_label=pos_label,
    )
    dependent = check_groups(groups, len(influences[0].positive))
    joint = joint_influence(influences, conditional=conditional, groups=dependent)
    target = list_target(measure, [influences[0]], [dependent])
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
    samples = {"y_true_a": (y_true_a, y_score_a), "y_true_b": (y_true_b, y_score_b)}
    influences = [
        sample_influence(measure, *rows, conditional=conditional, pos_label=pos_label, name=name)
        for name, rows in samples.items()
    ]
    n = len(influences[0].positive)
    dependent = check_groups_of_two(groups, n, len(influences[1].positive))
    parts = [
        None if dependent is None else dependent.only(rows)
        for rows in (slice(None, n), slice(n, None))
    ]
    joint = joint_samples(list(zip(influences, parts, strict=True)), conditional=conditional)
    target = list_target(measure, influences, parts)
    return _test(joint, alternative, level, measure, target)


def _test(
    joint: JointEstimate, alternative: Alternative, level: float, measure: Measure, target: str
) -> Comparison:
    """Compare two scorers as `compare` does, whose single contrast needs no draws."""
    names = ("a", "b")
    question = Question.of(measure, alternative, None, level)
    contrasts, rng = read_contrasts(names, None), np.random.default_rng(0)
    return joint_comparison(joint, names, contrasts, question, rng, measure, target)
