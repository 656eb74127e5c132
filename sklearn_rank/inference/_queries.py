"""Paired test of two systems for a mean over queries."""

from __future__ import annotations

from typing import Any, Literal

from .._arguments import check_generator
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._query_samples import ComparisonOptions, compared_samples
from ._query_values import query_values_of
from ._results import Comparison

__all__ = ["paired_query_test"]


def paired_query_test(
    measure: MeasureLike,
    y_true: Any,
    y_score_a: Any,
    y_score_b: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    method: Literal["randomization", "t", "wilcoxon"] = "randomization",
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Comparison:
    """Test whether one system is better than another on the same queries.

    The sample is ``d_q``, the measure of system a less that of system b on query q; the estimate
    is the mean of them.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        A measure, as :func:`sklearn_rank.metrics.get_measure` takes it: ``"ndcg@10"``, or one of
        your own by :func:`sklearn_rank.metrics.make_measure`.
    y_true : array-like or dask collection of shape (n_samples,)
        Labels or grades, as the measure takes them; in two dimensions one query per row, where NaN
        is no item.
    y_score_a : array-like or dask collection of shape (n_samples,)
        Scores of system a; higher is nearer to the top.
    y_score_b : array-like or dask collection of shape (n_samples,)
        Scores of system b.
    qid : array-like or dask collection of shape (n_samples,), default=None
        Id of the query of each row, the rows in any order; None for two dimensions.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        How many times each item counts, for measures that take it.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (user, session) of the query of each row, in two dimensions of shape
        (n_queries,); queries of different groups are independent, those of one group may depend on
        each other in any way. None is independent queries; others reject
        true hypotheses far too often.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    method : {"randomization", "t", "wilcoxon"}, default="randomization"
        Exchange the two systems on random queries, which changes the sign of ``d_q``; Student's t;
        or Wilcoxon's signed ranks, zeros ranked too (Pratt).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Whether a differs from b, is smaller, or is larger.
    level : float, default=0.95
        Coverage of the interval for the mean difference, in (0, 1); with an alternative of one
        side, of each limit by itself.
    n_resamples : int, default=10000
        Random exchanges, at least 99. With no more than that many possible ones, as for 13
        queries, each is taken once and the test is exact.
    random_state : None, int, Generator or RandomState, default=None
        Source of the exchanges; an int gives the same result each time.

    Returns
    -------
    Comparison
        The test of ``"a - b"``: p-value, mean difference and its interval. The statistic is the
        mean difference, Student's t, or the sum of signed ranks of :func:`scipy.stats.wilcoxon`.

    Raises
    ------
    TypeError
        If ``measure`` is no measure, or does not take a parameter.
    ValueError
        If an argument is not valid, fewer than two queries have a value, the measure is defined
        on different queries for the two systems, all differences are equal and not 0 with
        ``method="t"``, whose p-value would be 0, there is one group only, or a query lies in
        several.

    Warns
    -----
    UserWarning
        If all differences are equal, so that nothing is seen of their spread.
    UndefinedMetricWarning
        From the measure, if it is undefined for some queries.

    See Also
    --------
    compare : Two or more systems, by default with intervals that hold together.
    metric_interval : The value of one system.

    Notes
    -----
    Queries where the measure is undefined count as its parameter ``undefined`` says: left out for
    both, or equal for both. Differences that only rounding makes count as 0.

    The randomization test is exact under its hypothesis, for any number of queries, with
    ``(1 + exceedances) / (1 + n_resamples)`` as p-value; as a test of the mean difference alone it
    is right in the limit, as the t-test is. The two-sided p-value is twice the smaller one, at
    most 1. Its interval holds all shifts that the same exchanges do not reject: order statistics
    of the means of the exchanged queries [1]_, the ends of the range where queries are too few
    for any shift to be rejected. The other methods have the t-interval of the mean difference, and
    the Wilcoxon test may disagree with it, since its hypothesis is another one. Differences of 0
    and 1, which are -1, 0 and 1, cannot be shifted: unless ``method="t"`` they have the score
    interval of Tango [3]_, which covers .93 and more from 20 queries on; where it and the exact
    test disagree the test is the more cautious.

    With ``groups`` the two systems are exchanged on whole groups, which is exact if they are
    exchangeable on each group, however large the groups and dependent their queries; so are the
    signed ranks of "wilcoxon", whose statistic is then their sum; "t" and the t-interval have the
    variance and the degrees of freedom that :func:`metric_interval` has.

    Without any difference the p-value is 1. O(n n_resamples / 8) time and O(n_resamples + n)
    memory for randomization beyond the measure; the hypothesis and the interval are conditional
    on nothing but the queries, or the groups, being drawn independently of each other.

    Of dask collections, without groups, the values of the queries come to this process; a query
    stands in one chunk.

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
        groups=groups,
        pos_label=pos_label,
    )
    return compared_samples(samples, [("a", "b")], options, rng, measure)
