"""How sure a measure is: one function for each measure, of queries and of one list."""

from __future__ import annotations

from typing import Any

from .._arguments import check_generator, check_level, check_resamples
from .._partitions import any_collection
from .._validation import ravelled
from ..metrics import get_measure
from ..metrics._shared import AUCMeasure, GiniMeasure, MeasureLike
from ._auc import auc_interval_of_chunks
from ._collections import refuse_collections
from ._list_methods import ListOptions, gini_of, list_methods
from ._one_list import check_one_list
from ._query_samples import IntervalOptions, sample_interval
from ._query_values import query_values_of
from ._results import Interval
from ._two_classes import dimensions

__all__ = ["metric_interval"]


def metric_interval(
    measure: MeasureLike,
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Interval:
    """How sure a measure is: an interval for what it estimates, of queries or of one list.

    With queries these are the sample: of values ``v_1, ..., v_n`` the estimate is the mean, and
    ``"t"`` gives ``mean ± t_{n-1} sd / sqrt(n)``. Without ``qid`` the items of one list are, and
    the interval is the one that is for the measure: Wilson's score interval of an AUC, the
    influence of the items on a statistic of ranks, binomial limits of the first places.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        A measure, as :func:`sklearn_rank.metrics.get_measure` takes it: ``"auc"``, ``"ndcg@10"``,
        or one of your own by :func:`sklearn_rank.metrics.make_measure`.
    y_true : array-like or dask collection of shape (n_samples,)
        Labels or grades, as the measure takes them; in two dimensions one query per row, where NaN
        is no item.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores of a ranker that was not fitted or chosen on these items; higher is nearer to the
        top.
    qid : array-like or dask collection of shape (n_samples,), default=None
        Id of the query of each row, the rows in any order. None is two dimensions, or one list.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        How many times each item counts, for measures that take it; of one list whole numbers,
        or for "auc" and "gini" with ``groups`` any.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (user, session) of each row, in two dimensions of shape (n_queries,); rows
        or queries of different groups are independent, those of one may depend on each other in
        any way. None is independent queries, or items of one list: the interval for others is
        far too short.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    level : float, default=0.95
        Nominal coverage, in (0, 1).
    method : str, default="auto"
        Of queries "t", Student's; "bootstrap", percentiles of the means of resampled queries; or
        "bca", these corrected for bias and skewness. "auto" is Wilson's limits where all values
        are at the two ends of the range, as those of ``"precision@1"`` are, else "t". Of one list
        a method of the measure (Notes), of which "auto" is the first.
    n_resamples : int, default=10000
        Resamples of the bootstraps, at least 99.
    random_state : None, int, Generator or RandomState, default=None
        Source of the resamples; an int gives the same result each time.

    Returns
    -------
    Interval
        The measure with its limits; ``target`` says in words what they are for.

    Raises
    ------
    TypeError
        If ``measure`` is no measure, or does not take a parameter.
    ValueError
        If an argument is not valid; fewer than two queries have a value, there is one group only
        or a query lies in several; for one list, if the measure needs both classes and one is
        absent, has no interval without ``qid``, or not by this method or with groups.

    Warns
    -----
    UserWarning
        If all queries have one value, so that nothing is seen of their spread.
    UndefinedMetricWarning
        From the measure, if it is undefined for some queries, or an AUC of one class only.

    See Also
    --------
    compare : Whether one ranker is better than another, which overlapping intervals do not say.
    sample_size : How many items or queries an interval of a given width needs.
    sklearn_rank.model_selection.cross_val_interval : Of the folds of a cross-validation, whose
        scores must not be pooled.
    auc_interval : The same for "auc", with the methods explained.
    linear_rank_interval : The same for statistics of ranks; random labels too.
    partial_auc_interval : The same for parts of the ROC curve.
    precision_at_top_interval : The same for "precision@top".
    accumulator_interval : The same of rows that come in parts.

    Notes
    -----
    **Queries.** Those where the measure is undefined count as its parameter ``undefined`` says:
    left out, or a value. Limits beyond the range of the measure, as [0, 1] for NDCG, are set to
    its ends, which loses no coverage; one of your own has the range that it says.

    ``"t"`` is exact for normal values and right in the limit; it needs more queries the more
    skewed the values are. So do the bootstraps, of which the percentile method is narrower than
    ``"t"`` for few queries by a factor of about ``sqrt((n - 1) / n)`` and more. Values of 0 and 1
    are far from normal where one of them is rare: ``"t"`` then covers .80 to .83 at 20 to 100
    queries, and "auto", Wilson's limits or on either side the exact ones with mid-p values where
    these are farther out, at least .92 for all rates from .02 to .98 from 20 queries on. The
    method is then called ``"wilson"``. Equal values have no spread, and the width is not 0 for
    that: with ``q = 1 - (1 - level)^(1/n)``, the largest share of other values that n queries
    miss with probability ``1 - level``, the limits are the value moved by q of the way to either
    end of the range. The method is then called ``"constant values"``.

    What is random is the choice of the queries; labels and scores within a query are part of it.
    Rows of one query may depend on each other, queries only within ``groups``. Then the variance
    is the sum over the groups of the squares of their deviations, each divided by
    ``sqrt(1 - share)``, with Student's quantile at one degree less than the effective number
    ``(sum of s^2)^2 / sum of s^4`` of groups of s queries, and the bootstraps draw groups.

    **One list.** The target and the methods, that of "auto" first:

    - "auc", "gini": the expected AUC, or twice it less 1; "wilson" and the others of
      :func:`auc_interval`.
    - "local_auc", "pnorm", "bedroc", "rie", linear rank statistics: the statistic in the
      population at this share of positives; "influence", with the bias taken off, "dkw" and
      "bootstrap" of :func:`linear_rank_interval`; where phi depends on the length of the list
      "bootstrap" alone, which must be asked for.
    - "precision@top": the precision above the quantile of the population; "influence", "exact".
    - Measures of which the influence of single items is known, as "ap", "partial_auc", "lift":
      the measure of the population, at this share of positives; "influence".
    - "precision@k", "dcg", "rbp", ``positional_score``: the expectation given the scores, the
      labels of the first places being new independent draws; "wilson", limits of as many draws
      as the largest weight of one goes into all, k for precision, and "exact", Clopper and
      Pearson's. Gains are taken to lie between 0 and that of the highest grade of the list.
    - "success@k": likewise, "exact": the least chance that the limit of the precision allows, and
      the upper limit of a single draw.
    - "pos@top": the positives above the highest of the negatives *that were seen*, a binomial
      number given these; "wilson", "exact". New negatives have another highest, whose spread, that
      of an extreme, one list does not show.
    - "spearman", "tau_b", "tau_x", "tau_ap": the correlation in the population; "influence".
    - ``make_measure``: "influence" where it is said, and "bootstrap", percentiles of resampled
      items, each class by itself, which must be asked for where no influence is known: it is wrong
      for extremes, as the highest score of a class, whatever the number of items.

    Other measures, as "ndcg", "rr" and "err", are means over queries: one query shows no spread,
    and they need ``qid``. Influence has Wilson's limits within the range of the measure, or exact
    ones farther out, with half an item or group added at either end in both classes; labels count
    as fixed. O(n log n) time and O(n) memory beyond the measure, O(n_resamples n) for bootstraps.
    The guide has the coverage that was measured.

    Scores that were pooled over the folds of a cross-validation cannot be recognised here, and
    their interval is too short: of nominal 95 % it covered .87 to .95, and never for leave-one-out
    under a strong penalty. For them there is
    :func:`sklearn_rank.model_selection.cross_val_interval`.

    Of dask collections, without groups, the values of the queries come to this process, a query
    standing in one chunk; one list is counted, as by :func:`auc_interval`.

    Nominal 95 % covered at least .90 over 48 designs of one list with 10 to 100 positives (normal
    scores, heavy tails, unequal spreads, ties; 150 samples each, so that single cells are known to
    .02), but for ``"fpr@tpr0.9"`` with 10 positives of a wide spread (.75, and none with 5),
    ``"lift@0.1"`` with 10 of 100 (.88), and the accuracy at the top with a tied block across its
    end (.60): pass more positives, or scores with fewer ties.

    References
    ----------
    .. [1] Efron (1987), *Better bootstrap confidence intervals*, Journal of the American
       Statistical Association 82.
    .. [2] Clopper & Pearson (1934), *The use of confidence or fiducial limits*, Biometrika 26.
    .. [3] Wilson (1927), *Probable inference, the law of succession, and statistical inference*,
       Journal of the American Statistical Association 22.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import metric_interval
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> print(metric_interval("auc", y_true, y_score))
    0.7500 [0.2770, 0.9561] (expected AUC, 95 %, wilson)
    >>> print(metric_interval("precision@3", y_true, y_score))
    0.6667 [0.1320, 0.9833] (expected precision@3 given the scores, labels new, 95 %, wilson)

    A mean over queries:

    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> score = grade + rng.normal(size=500)
    >>> print(metric_interval("ndcg@5", grade, score, qid=qid))
    0.8284 [0.7866, 0.8702] (mean ndcg@5 over queries, 95 %, t)

    The labels as scores are perfect on each query, which does not prove that they always are:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", UserWarning)
    ...     print(metric_interval("ndcg@5", grade, grade, qid=qid))
    1.0000 [0.9418, 1.0000] (mean ndcg@5 over queries, 95 %, constant values)
    """
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    rng, measure = check_generator(random_state), get_measure(measure)
    in_chunks = any_collection(y_true, y_score, qid, sample_weight, groups)
    if not in_chunks:
        y_true = ravelled(y_true, "y_true")
    if qid is not None or dimensions(y_true) == 2:
        samples = query_values_of(
            measure,
            y_true,
            {"": y_score},
            qid=qid,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
        )
        return sample_interval(samples[""], IntervalOptions(method, level, n_resamples), rng)
    methods = list_methods(measure)
    method = methods.chosen(method, grouped=groups is not None)
    rows = {"sample_weight": sample_weight, "groups": groups, "pos_label": pos_label}
    if in_chunks and isinstance(measure, AUCMeasure | GiniMeasure) and measure.rel is None:
        found = auc_interval_of_chunks(y_true, y_score, level, method, **rows)
        return found if isinstance(measure, AUCMeasure) else gini_of(found)
    if in_chunks and method == "bootstrap":
        refuse_collections("resamples are drawn from its rows", y_true=y_true, y_score=y_score)
    sample = check_one_list(measure, y_true, y_score, real_weights=methods.real_weights, **rows)
    return methods.interval(sample, ListOptions(level, method, n_resamples, rng))
