"""Paired test of two systems for a mean over queries."""

from __future__ import annotations

from typing import Any, Literal

from .._arguments import check_generator
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._query_samples import ComparisonOptions, compared_samples
from ._query_values import query_values_of
from ._results import Comparison
from ._weight_meaning import WeightMeaning

__all__ = ["paired_query_test"]


def paired_query_test(
    measure: MeasureLike,
    y_true: Any,
    y_score_a: Any,
    y_score_b: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
    method: Literal["randomization", "t", "wilcoxon"] = "randomization",
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Comparison:
    """Paired significance test of two rankers on the same queries.

    The sample is ``d_q``, the measure of system a minus that of system b on query q. The estimate
    is the mean of these differences.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts, such as
        ``"ndcg@10"`` or a custom measure from :func:`sklearn_rank.metrics.make_measure`.
    y_true : array-like or dask collection of shape (n_samples,)
        Labels or relevance grades, as the measure requires. A two-dimensional array has one query
        per row, with NaN for absent items.
    y_score_a : array-like or dask collection of shape (n_samples,)
        Scores of system a; a higher score ranks an item nearer to the top.
    y_score_b : array-like or dask collection of shape (n_samples,)
        Scores of system b.
    qid : array-like or dask collection of shape (n_samples,), default=None
        Query id of each row, in any order. None requires two-dimensional input.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        Weights of the rows, for measures that support weights; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is; required with it. "frequency": each row stands for that many
        identical rows, a whole number. "sampling": each query was drawn with a probability
        proportional to 1 / weight, and all its rows have its weight; with ``method="t"`` only.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (user, session) of each row; shape (n_queries,) for two-dimensional input.
        Queries of different groups are independent, queries of one group may depend on each other
        in any way. None means independent queries; if they are not, the test rejects true
        hypotheses much too often.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    method : {"randomization", "t", "wilcoxon"}, default="randomization"
        "randomization" exchanges the two systems on random queries, which changes the sign of
        ``d_q``. "t" is Student's paired t-test. "wilcoxon" is the signed-rank test with zeros
        included in the ranking (Pratt).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Alternative hypothesis: the measure of system a is different, less or greater.
    level : float, default=0.95
        Nominal coverage of the interval for the mean difference, in (0, 1). With a one-sided
        ``alternative`` it is the coverage of each limit separately. The test is at level ``1 -
        level``.
    n_resamples : int, default=10000
        Number of random exchanges, at least 99. If there are no more possible exchanges than this,
        as for 13 queries, each is used once and the test is exact.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the exchanges. Pass an int for reproducible results.

    Returns
    -------
    Comparison
        The test of the contrast ``"a - b"``: p-value, mean difference and its interval. The
        statistic is the mean difference, Student's t, or the sum of signed ranks of
        :func:`scipy.stats.wilcoxon`.

    Raises
    ------
    TypeError
        If ``measure`` is not a measure, or does not support one of the arguments.
    ValueError
        If an argument is not valid; if fewer than two queries have a value; if the measure is
        defined on different queries for the two systems; if all differences are equal and not 0
        with ``method="t"``, whose p-value would be 0; or if there is only one group, or a query
        belongs to several groups.

    Warns
    -----
    UserWarning
        If all differences are equal, so that their variance cannot be estimated.
    UndefinedMetricWarning
        If the measure is undefined for some queries.

    See Also
    --------
    compare : Comparison of two or more systems, with simultaneous intervals.
    metric_interval : Confidence interval for the value of one system.

    Notes
    -----
    The parameter ``undefined`` of the measure sets how queries without a value are counted: left
    out for both systems, or with the same value for both. Differences within rounding error count
    as 0.

    The randomization test is exact under the hypothesis of exchangeable systems, for any number of
    queries, with the p-value ``(1 + exceedances) / (1 + n_resamples)``. As a test of the mean
    difference alone it is asymptotically valid, like the t-test. The two-sided p-value is twice
    the smaller one-sided one, at most 1. Its interval contains all shifts that the same exchanges
    do not reject: order statistics of the means of the exchanged queries [1]_, or the ends of the
    range if there are too few queries to reject any shift. The other methods use the t-interval of
    the mean difference. The Wilcoxon test may disagree with it, because its hypothesis is
    different. Differences of -1, 0 and 1, from values of 0 and 1, cannot be shifted. Unless
    ``method="t"``, they use the score interval of Tango [3]_, which covers at least .93 from 20
    queries on. If it disagrees with the exact test, the test is the more conservative one.

    With ``groups`` the two systems are exchanged on whole groups. This is exact if the systems are
    exchangeable on each group, for any group sizes and any dependence within groups. "wilcoxon"
    also exchanges whole groups, and its statistic is then the sum of the signed ranks. "t" and the
    t-interval use the variance and the degrees of freedom of :func:`metric_interval`.

    If all differences are 0, the p-value is 1. The only assumption on the data is that queries, or
    groups, are drawn independently. Randomization takes O(n n_resamples / 8) time and
    O(n_resamples + n) memory, plus the cost of the measure.

    For dask collections (without ``groups``) the values of the queries are collected in this
    process; each query must lie in one chunk.

    References
    ----------
    .. [1] Hartigan (1969), *Using subsample values as typical values*, Journal of the American
       Statistical Association 64.
    .. [2] Smucker, Allan & Carterette (2007), *A comparison of statistical significance tests for
       information retrieval evaluation*, CIKM.
    .. [3] Tango (1998), *Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design*, Statistics in Medicine 17.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import paired_query_test
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> good, fair = grade + rng.normal(size=500), grade + 2 * rng.normal(size=500)
    >>> result = paired_query_test("ndcg@5", grade, good, fair, qid=qid, random_state=0)
    >>> round(result.estimate, 3)
    0.124
    >>> result.pvalue < 0.01
    True
    """
    options = ComparisonOptions(method, alternative, level, n_resamples)
    rng, measure = check_generator(random_state), get_measure(measure)
    samples = query_values_of(
        measure,
        y_true,
        {"a": y_score_a, "b": y_score_b},
        qid=qid,
        sample_weight=sample_weight,
        weights=weights,
        groups=groups,
        pos_label=pos_label,
    )
    return compared_samples(samples, [("a", "b")], options, rng, measure)
