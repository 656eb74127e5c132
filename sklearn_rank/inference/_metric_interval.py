"""Confidence interval for any measure, over queries or for one list, of rows or an accumulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import _outer
from .._partitions import refuse_collections
from .._validation import check_flag, check_generator, check_level, check_resamples
from ..metrics import Accumulator
from ..metrics._shared import MeasureLike, get_measures
from ._evidence import (
    WeightMeaning,
    accumulated_list,
    check_lists,
    check_weight_meaning,
    read_rows,
    scores_of_models,
    takes_other_forms,
    warn_of_evidence,
)
from ._methods import interval_of, method_of
from ._queries import accumulated_values, query_values_of, sample_interval
from ._results import Interval
from ._roc import auc_moments_of_parts
from ._segments import table_of

if TYPE_CHECKING:
    from .._labels_in_part import Design


@takes_other_forms
def metric_interval(
    measure: MeasureLike | Accumulator | Sequence[MeasureLike],
    y_true: Any = None,
    y_score: Any = None,
    *,
    by: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
    value: Any = None,
    design: Design = None,
    conditional: bool | None = None,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Any:
    """Confidence interval for a ranking measure, over queries or for one ranked list.

    With ``qid`` the queries are the sample. The estimate is the mean of their values ``v_1, ...,
    v_n``, and ``"t"`` gives ``mean ± t_{n-1} sd / sqrt(n)``. Without ``qid`` the items of one list
    are the sample, and the method depends on the measure: Wilson's score interval for the AUC,
    influence values for a rank statistic, binomial limits for the first positions. All are
    asymptotic but those of "exact", "dkw", "kl" and "mcdiarmid".

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction, callable, list of these, or Accumulator
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts, such as
        ``"auc"``, ``"ndcg@10"`` or a custom measure from
        :func:`sklearn_rank.metrics.make_measure`. An :class:`sklearn_rank.metrics.Accumulator`
        holds the measure and the rows, and gives the interval of all rows in memory. A list, or a
        name with several numbers such as ``"recall@10,25,50"``, gives a table of intervals that
        hold together.
    y_true : array-like or dask collection of shape (n_samples,), or judgments
        Labels or relevance grades, as the measure requires. A two-dimensional array has one query
        per row, with NaN for absent items. Left out with an accumulator, as are all other rows. Or
        judgments of documents by query, such as ``{query: {document: grade}}``, a file or a frame:
        see *Retrieval* in the notes.
    y_score : array-like or dask collection of shape (n_samples,), or mapping of str to these
        Scores from a model that was not fitted or selected on these items; a higher score ranks an
        item nearer to the top. A mapping, or a data frame of several columns, has those of several
        models, which gives a table. With judgments a run, such as ``{query: {document: score}}``
        or ``{query: [documents, the best first]}``, or several by name.
    by : array-like of shape (n_samples,), default=None
        Segment of each row (country, product, age band). Gives a table with two kinds of rows, by
        the column ``order``: the measure of the rows of a segment alone ("own rows"), and that of
        the segment where all rows are ranked together ("all rows"): for recall at a cut-off the
        share of its positives among the first of all, for precision the share of positives among
        its rows there, for amounts its part of the whole, for the AUC and rates its positives
        against all negatives; other measures have the first kind only. With ``qid`` a query is in
        one segment. A segment without a value is a row with the reason in the column ``note``.
    qid : array-like or dask collection of shape (n_samples,), default=None
        Query id of each row, in any order. None means one list, or two-dimensional input. Queries
        whose ids are times (dates, also as texts such as "2024-01-31", or timestamps) depend on
        those near in time, as days do.
    sample_weight : array-like or dask collection of shape (n_samples,), default=None
        Weights of the rows, for measures that support weights; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is; required with it. "frequency": each row stands for that many
        identical rows, a whole number. "sampling": each row was drawn once, with a probability
        proportional to 1 / weight; with ``qid`` each query was, and all its rows have its weight.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (user, session) of each row; shape (n_queries,) for two-dimensional input.
        Rows or queries of different groups are independent, unless these are times (dates,
        timestamps), those of one group may depend on each other in any way. None means independent
        queries, or items of one list; the interval is much too short if they are not.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    value : pair or array-like of shape (n_samples,) or (n_samples, 2), default=None
        For measures of amounts, such as ``"profit@50"``, and labels of two classes: what each row
        brings, as for :func:`sklearn_rank.metrics.get_scorer`. None means that ``y_true`` holds
        the amounts.
    design : LabelDesign, "all" or None, default=None
        How rows were chosen for labelling, if some labels of ``y_true`` are missing (NaN, None,
        ``pandas.NA``), or when labels come, if they come late: a :class:`LabelDesign`, or "all" if
        the labelled rows are a simple random sample of all rows. The method is "score" or
        "bounds", for queries "wilson" or "wilson of bounds".
    conditional : bool or None, default=None
        Whether the labels of one list are treated as fixed: a target that depends on the fraction
        of positives is then at that of this list. If False, or with ``weights="sampling"``, the
        labels are random and it is at that of the population. None means True, but False for net
        benefit, and with ``design``, where True asks for the value of this list alone with all
        labels. None is that for limits over all labels, for measures that have no influence
        function, as DCG, and where the known labels are of one class, which does not tell how much
        lists differ. For queries it is asked where nobody drew the rows without labels: True are
        limits for these queries alone, else they are for the population of queries.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : str, default="auto"
        For queries: "auto" gives Wilson's limits for as many draws as vary like the values, and
        "t" for measures without a known range. "t" is Student's interval, "bootstrap" the
        percentile bootstrap over queries, and "bca" the bootstrap corrected for bias and skewness.
        For one list the methods depend on the measure (see Notes), and "auto" is the first of
        them.
    n_resamples : int, default=10000
        Number of bootstrap samples, at least 99.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the bootstraps. Pass an int for reproducible results.

    Returns
    -------
    Interval or Intervals
        The value of the measure with its limits. ``target`` describes in words what they estimate,
        and whether labels are fixed or random. For several measures or models, and with ``by``, an
        :class:`Intervals`: the intervals of each by itself and, wider, all together.

    Raises
    ------
    TypeError
        If ``measure`` is not a measure, or does not support one of the arguments; if rows are
        missing, or passed with an accumulator.
    ValueError
        If an argument is not valid; if fewer than two queries have a value, there is only one
        group, or a query belongs to several groups. For one list: if the measure needs both
        classes and one is absent, or if it has no interval without ``qid``, by this method or with
        groups.

    Warns
    -----
    UserWarning
        If all queries have the same value, so that their variance cannot be estimated.
    UndefinedMetricWarning
        If the measure is undefined for some queries, or the AUC has items of one class only.

    See Also
    --------
    compare : Test of differences between rankers; do not compare two intervals by overlap.
    sample_size : Number of items or queries for an interval of a given width.
    sklearn_rank.model_selection.cross_val_interval : Interval from a cross-validation.
    sklearn_rank.metrics.Measure.influence : Influence of the single items of one list.
    sklearn_rank.metrics.Accumulator : Collects rows that arrive in batches.

    Notes
    -----
    **Queries.** The parameter ``undefined`` of the measure sets how queries without a value are
    counted: left out, or with a given value. Limits outside the range of the measure, such as [0,
    1] for NDCG, are cut to the range, which loses no coverage. A custom measure declares its own
    range.

    The limits of "auto" are asymptotic, for the mean of the population of queries. On the scale
    on which the range is [0, 1] the mean m has an estimated variance v, and ``N = m (1 - m) / v +
    1`` draws of 0 and 1 have a mean that varies as much. Limits are Wilson's for N draws, or on
    either side the exact mid-p limits if these are wider, with Student's quantile; values of 0 and
    1 only are n draws, with the normal quantile. With the sums S of squares and F of fourth powers
    of the deviations, half a query is added at either end of the range with the weight ``F / S^2 -
    2 / n``, at most 1. It is 1 if all values are equal: then no limit is nearer to the value than
    ``1 - (1 - level)^(1/n)`` of the distance to that end, the largest fraction of other values
    that n queries miss with probability ``1 - level``. "t" is exact for normal values and
    asymptotically valid otherwise, as the bootstraps are; near an end of the range all three miss
    too often. All allow only in part for rare queries that the sample lacks, such as failures
    among values that are nearly alike (:doc:`/theory/inference`).

    Queries may depend on each other only within ``groups``. The variance is then the sum of
    squared deviations over groups, each divided by ``sqrt(1 - share)``, with Student's quantile
    for their effective number, ``(sum of s^2)^2 / sum of s^4`` for groups of s queries, minus one.
    The bootstraps resample groups.

    **Retrieval.** Judgments and runs have all forms that :func:`sklearn_rank.datasets.load_qrels`
    and :func:`sklearn_rank.datasets.load_trec_run` take: mappings as of BEIR, MTEB, ranx and
    pytrec_eval, frames, files of TREC, BEIR and JSON. Queries are the sample. A relevant document
    that was not retrieved counts, in recall, average precision and the ideal of NDCG, and has no
    position. Measures given by name follow trec_eval where it has them; the gain is the grade, for
    two classes grades from 1 on are relevant. Documents without a judgment are not relevant,
    unless :func:`~sklearn_rank.datasets.load_qrels` is told otherwise; ``target`` says so.
    ``groups``, ``by`` and ``sample_weight`` are mappings from queries.

    **Days.** Where ids of ``groups``, or of ``qid`` without groups, are times, those near in time
    may depend on each other. With n sums s_t over times in their order, and ``L_j = sqrt(2 / n)
    sum of cos(pi j (t - 1/2) / n) s_t``, the variance is ``(n - 1) sum of L_j^2 / sum of g_j``
    over the first ``max(4, .4 n^(2/3))`` transforms, at most n / 2 [8]_. The g_j are what
    an autoregression has there of its density at 0, with the autocorrelation that lasts; Student's
    quantile has ``(sum of g)^2 / sum of g^2`` degrees of freedom. Gaps do not count. Bootstraps,
    "exact" and "dkw", which need independent groups, are refused.

    **One list.** Target and methods by measure; the first method is that of "auto":

    - ``"auc"``, ``"gini"``: the expected AUC, P(positive above negative) + P(tie) / 2, or ``2 AUC
      - 1``. "wilson" solves ``(AUC - A)^2 <= z^2 (d A (1 - A) + |AUC - A| a / (4 min(n_pos,
      n_neg)))`` for A; ``d A (1 - A)`` is DeLong's variance with d kept away from 0, and the term
      with a, which is A below the AUC and 1 - A above it, allows for rare items that the sample
      lacks. "delong" and "logit-delong" use DeLong's variance [5]_, "chebyshev" an unbiased
      estimate of Lehmann's variance; these are asymptotic. "mcdiarmid" and "kl" are theorems for
      every distribution and sample size [6]_; "kl" is the shorter one unless the level is low.
      "wilson", "delong" and "logit-delong" take ``groups``, with the variance of :func:`compare`.
    - ``"local_auc"``, ``"pnorm"``, ``"bedroc"``, ``"rie"``, linear rank statistics: ``W_phi =
      E[phi(F(s)) | positive]``, F the distribution of all scores, which "influence" estimates with
      its bias subtracted, the mean of E[phi(R / (n+1))] - phi(F) for normal ranks R [7]_. "dkw"
      covers with probability at least ``level`` for any distribution of a bounded phi. It uses the
      mean over the positives of ``phi(R / n +- eps)``, eps from the inequality of Dvoretzky,
      Kiefer, Wolfowitz and Massart (of Bretagnolle if ``conditional``), and Chernoff's limit over
      the positives, each with half of the error; with ``groups`` it counts ``floor(n / largest
      group)`` items and ``floor(k / most in a group)`` positives. The target of "bootstrap" is the
      expected statistic. If phi depends on the length of the list, only it is available, and it
      must be passed explicitly.
    - ``"precision@top"``: ``pi = P(positive | F(s) > 1 - tau)`` with random labels. "influence"
      solves ``top (P - pi)**2 = z**2 (pi (1 - pi) + (1 - tau) (pi - eta)**2)`` for pi: P is the
      observed precision, eta the probability that an item at the threshold, itself a quantile of
      the sample, is positive. "exact" is distribution-free: a fifth of its error is for the number
      of items above the threshold of the population, the rest for Clopper and Pearson's interval.
    - ``"tpr@fpr"``, ``"fpr@tpr"``: the rate of the population. "order statistics" joins the limits
      of the threshold, which hold for any distribution, with those of the proportion beyond it
      [4]_. "influence", the method with ``groups``, covered only .83 with 10 positives of a large
      variance. ``"precision@recall"``, a function of the latter at this fraction of positives, has
      the limits that follow from it.
    - ``"ks"``: the statistic of the population. "influence" is that at the best threshold; what
      other thresholds may gain on it, up to 1.4 standard deviations, is subtracted as a bias and
      counts as a standard error. "dkw" covers for any distribution and number of items.
    - ``"net_benefit"``: the net benefit in the population, a difference of two proportions: true
      and false positives of all items; with ``prevalence`` of their class; if ``standardized``,
      true positives of their class, and the odds of false positives and positives. "joined shares"
      has Wilson's limits of each, or exact mid-p ones if these are wider, whose distances are
      added as correlated errors are [4]_. "influence" takes the fraction of positives as fixed.
    - ``"ap"``: the average precision of the population at this fraction of positives, the mean
      over the positives of the precision there. "influence". The value of a list is greater on
      average, since a positive counts in its own precision; this bias is subtracted from the
      limits, not from the value.
    - ``"profit@k"``, ``"profit@top"``, ``"value_recall@k"``, ``"uplift@k"``, ``"uplift@top"``: the
      expectation for lists of this length, by "influence". The range of amounts is that of the
      list, and as far beyond its ends as the next amounts are from these.
    - ``"qini"``, ``"auuc"``, ``"autoc"``, ``"lorenz"``, ``"insurance_gini"``: the measure of the
      population, by "influence".
    - Other measures with an influence function, such as ``"partial_auc"``, ``"lift"``:
      the measure of the population at this fraction of positives. "influence".
    - ``"precision@k"``, ``"calibration@k"``, ``"dcg"``, ``"rbp"``, ``positional_score``: the
      expectation given the scores, with the labels of the first positions as new independent
      draws. "wilson" and "exact" (Clopper and Pearson), a theorem for equal weights only. The
      number of draws is the sum of the weights divided by the largest weight, which is k for
      precision: no sum varies more. Gains are assumed to lie between 0 and the gain of the highest
      grade in the list.
    - ``"success@k"``: the same target. "exact" combines the smallest probability that the limit of
      the precision allows with the upper limit of a single draw.
    - ``"pos@top"``: the positives above the highest *observed* negative, a binomial number given
      the negatives. "wilson", "exact". The interval does not include the variance of that highest
      negative, which one list cannot estimate.
    - ``"spearman"``, ``"tau_b"``, ``"somers_d"``, ``"c_index"``: the correlation in the
      population. "influence".
    - ``make_measure``: "influence" if the measure declares one, and "bootstrap", percentiles over
      items resampled within each class. Without an influence function, "bootstrap" must be passed
      explicitly, because it is wrong for extremes, such as the highest score of a class, at any
      sample size.

    Other measures, such as ``"ndcg"``, ``"rr"`` and ``"err"``, are means over queries and need
    ``qid``. Items of a class, or groups, are independent. "influence" uses Wilson's limits within
    the range of the measure, or exact limits if these are wider, with half an item added at either
    end in both classes. With random labels the range is that at the observed share of positives,
    and what other shares add, on the scale of logarithms, is joined to either distance in squares.
    With groups, what half an item adds to the variance counts as many times as groups vary more
    than independent items. The cost beyond the measure is O(n log n) time and O(n) memory, and
    O(n_resamples n) time for bootstraps. :doc:`/benchmarks/inference` has the measured coverage.

    Do not pass scores pooled over the folds of a cross-validation: the interval is then too short.
    Use :func:`sklearn_rank.model_selection.cross_val_interval` instead.

    **Labels known in part.** With ``design``, "score" tests hypotheses on the unknown labels, each
    a probability q of every row that could have stayed without a label. The score is ``sum of u (y
    - q) / p`` over the labelled ones of these, u the derivative of the measure in a label and p
    the probability of a label. It estimates by how much the labels of the list move the value from
    the hypothesis. Its variance is ``sum of u^2 (1 - p) / p q (1 - q)``, or what the labelled rows
    show if that is more. Scores, proxy and labels give the first hypothesis by a regression; from
    there q moves by its logit in the direction ``u (1 - p) / p``, and the limits are the values
    where the score reaches the normal quantile, corrected for skewness. So a sample without
    positives leaves room for some, and what no label can tell is left open. Some 20 to 200
    evaluations of the measure in O(n) memory. Where the labels of ``groups`` were drawn together,
    the variance is so many times larger as the residuals show. For the population, the distances
    of these limits and of those of lists with completed labels are added in squares. The measures
    are known functions of a sum over labels, average precision, and those of shares of the rows
    that have an influence function, such as ``"partial_auc"`` and ``"tpr@fpr"``: these count a row
    as a positive and as a negative, by its probability. Where no sample was drawn of the rows
    without labels, "bounds" gives the limits of the value over all labels that these can have
    (:class:`LabelDesign`); it is for functions of a sum and average precision, as are queries.

    A query has its expected value given its labels. Those not known are independent given the
    query, with the logit that scores and proxy predict and a normal deviation of the query, whose
    variance is that of the largest likelihood. A label that was drawn adds ``u (y - q) (1 - p) /
    p``, with u and q as without it: the mean is then that with all labels, whatever was predicted,
    up to products of errors within a query. The variance of these values between queries is that
    of the queries and of the labels drawn; of labels it is at least what is predicted of them. The
    limits of the queries are those above, with which the distances of normal limits for the labels
    are added in squares. A query counts as often as it may have a value. O(n m) time for m
    positives that a query may have.

    **Weights.** ``weights="frequency"`` gives the interval of the repeated rows.
    ``weights="sampling"`` is for rows, or queries, that were drawn independently with unequal
    probabilities. The value is that of the weighted list, whatever the scale of the weights. With
    the influence ``IF_i`` of the weighted list the variance is ``sum of (w_i IF_i / sum of w)^2``,
    with half a row added at the end that is beyond the limit; the fraction of positives counts as
    random. The quantile is Student's, by the effective number of rows of each class, ``(sum of
    w^2)^2 / sum of w^4``. With ``groups``, rows of a group were drawn together. The methods are
    "influence" for one list and "wilson" or "t" for queries, and the measures are those of shares
    with an influence function. A class may lack the heaviest rows. If of n rows that are heavier
    than all of a class it can hold a share of ``1 - .05^(1 / n)``, and no larger one than of the
    lighter rows, then the limits are at least where this part of the class is at the worst or the
    best rank. So few rows that carry much weight give a wide interval, up to the whole range.
    Queries, and rows of amounts, whose influence has no bound, raise an error if they are worth
    fewer than 10 of equal probability, ``(sum of w)^2 / sum of w^2`` with one more of the largest
    weight.

    For dask collections (without ``groups``) the values of the queries are collected in this
    process; each query must lie in one chunk. One list is counted chunk by chunk, and the counts
    are collected: O(m) memory for m distinct pairs of a score and a class; for the AUC of 2
    million pairs and more they stay on the workers. Accumulators keep such counts, or the values
    of the queries, and take ``weights="frequency"`` only.

    References
    ----------
    .. [1] Efron (1987), *Better bootstrap confidence intervals*, Journal of the American
       Statistical Association 82.
    .. [2] Clopper & Pearson (1934), *The use of confidence or fiducial limits*, Biometrika 26.
    .. [3] Wilson (1927), *Probable inference, the law of succession, and statistical inference*,
       Journal of the American Statistical Association 22.
    .. [4] Zou & Donner (2008), *Construction of confidence limits about effect measures*,
       Statistics in Medicine 27.
    .. [5] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [6] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 6, Theorem 8, Equations 7 to 14.
    .. [7] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Propositions 3 and 5.
    .. [8] Lazarus, Lewis, Stock & Watson (2018), *HAR inference: recommendations for practice*,
       Journal of Business & Economic Statistics 36.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import metric_interval
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> print(metric_interval("auc", y_true, y_score))
    0.7500 [0.2770, 0.9561] (expected AUC, 95 %, wilson)
    >>> print(metric_interval("precision@3", y_true, y_score))
    0.6667 [0.1320, 0.9833] (expected precision@3 for the same scores and new labels, 95 %, wilson)

    A mean over queries:

    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> score = grade + rng.normal(size=500)
    >>> print(metric_interval("ndcg@5", grade, score, qid=qid))
    0.8284 [0.7826, 0.8672] (mean ndcg@5 over queries, 95 %, wilson)

    Rows that arrive in batches:

    >>> from sklearn_rank.metrics import Accumulator
    >>> accumulator = Accumulator("auc")
    >>> for batch in (slice(0, 4), slice(4, 8)):
    ...     _ = accumulator.update(y_true[batch], y_score[batch])
    >>> print(metric_interval(accumulator))
    0.7500 [0.2770, 0.9561] (expected AUC, 95 %, wilson)
    """
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    rng = check_generator(random_state)
    if conditional is not None:
        conditional = check_flag("conditional", conditional)
    columns = {"qid": qid, "sample_weight": sample_weight, "groups": groups}
    columns |= {"pos_label": pos_label, "value": value, "design": design}
    if isinstance(measure, Accumulator):
        more = {"y_true": y_true, "y_score": y_score, "by": by} | columns
        for name, column in more.items():
            if column is not None:
                raise TypeError(
                    f"measure is an Accumulator, which holds the rows, and {name} is given as"
                    f" well: leave {name} out."
                )
        check_weight_meaning(
            weights,
            None if measure.item_weights == "none" else measure.item_weights,
            no_sampling="accumulators, as accumulators add up weights of equal rows: pass the"
            " rows",
        )
        if measure.item_weights == "real":
            raise ValueError(
                "sample_weight had a value that is not whole, but weights='frequency' takes whole"
                " numbers of identical rows: accumulate whole numbers, or pass the rows with"
                " weights='sampling' if it is 1 / probability."
            )
        return interval_of_accumulator(
            measure, level, method, conditional is not False, n_resamples=n_resamples, rng=rng
        )
    for name, column in {"y_true": y_true, "y_score": y_score}.items():
        if column is None:
            raise TypeError(f"{name} is missing: pass it, or an Accumulator as the measure.")
    measures, scores = get_measures(measure), scores_of_models(y_true, y_score, "y_score")
    several_asked = isinstance(measure, list | tuple) or len(measures) > 1 or by is not None
    if several_asked or "" not in scores:
        if method != "auto":
            raise ValueError(
                f"method={method!r} is for one measure of one model: leave method out, or call"
                " metric_interval for each."
            )
        columns |= {"weights": weights, "conditional": conditional}
        return table_of(measures, y_true, scores, by=by, level=level, rng=rng, **columns)
    (measure,) = measures
    y_true, rows = read_rows(measure, y_true, {"y_score": y_score}, weights=weights, **columns)
    if design is not None:
        of_interval = level, method, conditional
        return _outer.interval_in_part(measure, y_true, y_score, rows, *of_interval)
    if "qid" in rows:
        samples = query_values_of(measure, y_true, {"": y_score}, **rows)
        return sample_interval(samples[""], level, method, n_resamples, rng)
    sampled, in_chunks = weights == "sampling", "in_chunks" in rows
    chosen = method_of(measure, method, grouped=groups is not None, sampled=sampled)
    if in_chunks and not sampled and measure.rel is None and chosen.law == "placements":
        found = auc_moments_of_parts(measure, y_true, y_score, chosen.name, **rows)
        return found.interval(level)
    if in_chunks and chosen.name == "bootstrap":
        refuse_collections("resamples are drawn from its rows", y_true=y_true, y_score=y_score)
    (evidence,) = check_lists(measure, y_true, [y_score], conditional=conditional, **rows)
    warn_of_evidence([""], [evidence])
    return interval_of(evidence, level, chosen, n_resamples=n_resamples, rng=rng)


def interval_of_accumulator(
    accumulator: Accumulator,
    level: float,
    method: str = "auto",
    conditional: bool = True,
    *,
    n_resamples: int = 10_000,
    rng: Any = None,
) -> Interval:
    """Make the interval of rows, or of as many identical ones as weights say."""
    measure = accumulator.measure
    if (values := accumulator.query_values) is not None:
        sample = accumulated_values(measure, values)
        return sample_interval(sample, level, method, n_resamples, rng)
    chosen = method_of(measure, method)
    if chosen.name == "bootstrap":
        raise TypeError("An accumulator keeps no rows to resample: pass them with bootstrap.")
    evidence = measure.evidence(accumulated_list(accumulator))
    return interval_of(replace(evidence, conditional=conditional), level, chosen)
