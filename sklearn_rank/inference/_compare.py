"""Comparison of two or more rankers, for any measure and design: contrasts, max-t, exchanges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import rankdata

from .. import _outer
from .._lists import ScoredLists
from .._times import hold_times
from .._typing import FloatArray, IntArray
from .._validation import check_choice, check_generator, check_level, column_of
from ..bounds._shared import NEGLIGIBLE, TINY
from ..metrics import Measure
from ..metrics._shared import Evidence, MeasureLike, get_measures
from ._contrasts import (
    added_in_squares,
    interval_comparison,
    quantiles_at,
)
from ._evidence import (
    WeightMeaning,
    check_joined_groups,
    check_lists,
    influence_of,
    influences_of,
    list_target,
    named_scores,
    read_rows,
    refuse_grouped_collections,
    refuse_sampling,
    refuse_unknown,
    takes_other_forms,
    warn_of_evidence,
)
from ._joint import Joint, Spread, Units, joint_influence, joint_samples, mean_influences
from ._level import largest_of_contrasts
from ._limits import LimitsAt, holm_adjust
from ._list_intervals import resampled_values
from ._methods import methods_of, refuse_no_variance, single
from ._queries import compare_samples, joint_means, query_values_of
from ._results import Comparison, Question
from ._segments import table_of
from ._simultaneous import joint_on_list

if TYPE_CHECKING:
    from .._labels_in_part import Design


def joint_comparison(
    joint: Joint,
    question: Question,
    rng: np.random.Generator,
    target: str,
    *,
    separate: bool = False,
    method: str = "max-t",
) -> Comparison:
    """Test all contrasts simultaneously by the distribution of the largest statistic.

    The statistics are differences over their standard errors, or of separate samples the normal
    quantiles at which limits that are added in squares reach the hypothesis.
    """
    measure, matrix, m = question.measure, question.matrix, len(question.contrasts)
    differences = matrix @ joint.estimates
    errors, degrees = joint.standard_errors(matrix)
    if not errors.all():
        refuse_no_variance(measure)
    pairs = [_of_pair(joint, row) for row in matrix] if separate else []
    if separate:
        degrees = np.full(m, np.inf)
        statistics = question.statistics(lambda x: quantiles_at(pairs, x))
    else:
        missed = [joint.missed(row) for row in matrix]

        def distances(hypothesis: float) -> FloatArray:
            """Student's quantiles at which limits reach a hypothesis."""
            off = differences - hypothesis
            tails = np.array([x.error(d) / 2.0 for x, d in zip(missed, abs(off), strict=True)])
            # Of probabilities near 0 SciPy has the wrong sign.
            most = np.where(tails > TINY, -stdtrit(degrees, np.maximum(tails, TINY)), np.inf)
            return np.copysign(np.minimum(abs(off) / errors, most), off)

        statistics = question.statistics(distances)
    extreme, direction = question.extreme(statistics), question.direction
    tails = 2.0 if question.alternative == "two-sided" else 1.0
    pvalues = np.minimum(tails * m * stdtr(degrees, -extreme), 1.0)
    tail = (1.0 - question.level) / tails / m
    if m > 1:
        variances = np.einsum("mk,mk->m", matrix @ joint.covariance, matrix)
        covariance = joint.covariance if (variances > 0.0).all() else joint.regularized
        signed = (direction or 1.0) * matrix
        largest = largest_of_contrasts(covariance, signed, rng, signed=direction is not None)
        # Each statistic as a normal one, at the probability that Student's distribution gives it.
        normal = -ndtri(stdtr(degrees, -extreme))
        pvalues = np.minimum(pvalues, largest.beyond(normal))
        tail = max(tail, float(ndtr(-largest.quantile(question.level))))
    if separate:
        low, high = np.array([find(1.0 - 2.0 * tail) for _, find in pairs]).T
    else:
        least = [x.distance(2.0 * tail) for x in missed]
        half = np.maximum(-stdtrit(degrees, tail) * errors, least)
        low, high = differences - half, differences + half
    errors_of_values = joint.errors
    for i, statistic in enumerate(joint.singles):
        if statistic.error is not None:
            errors_of_values[i] = statistic.error
    method = "square-and-add" if separate else method
    known = (np.diag(joint.covariance) > 0.0).all()
    covariance = joint.covariance if known else joint.regularized
    of_values = question.of_values(method, joint.estimates, joint.singles, covariance, rng)
    half_range = joint.length * np.abs(matrix).sum(axis=1) / 2.0
    return question.answer(
        method,
        target,
        **of_values,
        standard_errors=errors_of_values,
        differences=differences,
        # Where scores are tied, a value may lie outside of the range without ties.
        low=np.minimum(np.maximum(low, -half_range), differences),
        high=np.maximum(np.minimum(high, half_range), differences),
        statistics=statistics,
        pvalues=pvalues,
        difference_errors=errors,
    )


def _of_pair(joint: Joint, row: FloatArray) -> tuple[float, LimitsAt]:
    """Difference of two statistics, and its limits from those of each."""
    pair = [int(row.argmax()), int(row.argmin())]
    (first, both), (_, second) = joint.covariance[np.ix_(pair, pair)].tolist()
    r = both / sqrt(first * second) if first * second > 0.0 else 0.0
    limits, values = [joint.singles[i].limits for i in pair], joint.estimates[pair].tolist()
    return float(row @ joint.estimates), added_in_squares(limits, values, r)


# Random exchanges of values of queries, and of ranks or resamples of a list, which rank all anew.
EXCHANGES, SWAPS = 10_000, 999


def swap_tests(
    question: Question, evidences: Sequence[Evidence], rng: np.random.Generator
) -> Comparison:
    influences, groups = influences_of(evidences)
    unit = evidences[0].units.codes
    ranked = {
        name: replace(evidence.data, score=rankdata(evidence.data.score))
        for name, evidence in zip(question.names, evidences, strict=True)
    }
    statistics, differences, pvalues = [], [], []
    for names in question.contrasts:
        pair = [ranked[name] for name in names]
        ranks = np.stack([data.score for data in pair])
        observed, difference = _studentise(question.measure, pair, unit)
        draws = np.empty(SWAPS)
        for i in range(SWAPS):
            swapped = rng.random(unit.max() + 1)[unit] < 0.5
            exchanged = np.where(swapped, ranks[::-1], ranks)
            lists = [replace(pair[0], score=score) for score in exchanged]
            draws[i] = _studentise(question.measure, lists, unit)[0]
        statistics.append(observed)
        differences.append(difference)
        # The share of statistics, the observed one among them, that are at least as extreme.
        observed, draws = question.extreme(observed), question.extreme(draws)
        least = observed - NEGLIGIBLE * abs(observed) if np.isfinite(observed) else observed
        pvalues.append((1.0 + np.count_nonzero(draws >= least)) / (SWAPS + 1.0))
    return question.answer(
        "swaps" if len(pvalues) == 1 else "swaps, Holm",
        list_target(question.measure, influences[:1], [groups]),
        values=[influence.linear.estimate for influence in influences],
        standard_errors=joint_influence(influences, groups=groups).errors,
        differences=differences,
        statistics=statistics,
        pvalues=holm_adjust(pvalues),
    )


def _studentise(
    measure: Measure, pair: Sequence[ScoredLists], unit: IntArray
) -> tuple[float, float]:
    """Difference over its standard error, infinite where that is 0, and the difference."""
    a, b = (influence_of(measure, data, conditional=True).linear for data in pair)
    difference = a.estimate - b.estimate
    sums = np.bincount(unit, a.centred() - b.centred()) / len(unit)
    error = float(np.sqrt(np.sum(sums**2)))
    if abs(difference) <= NEGLIGIBLE * max(abs(a.estimate), abs(b.estimate)):
        return 0.0, difference
    # Equal influences sum to 0 up to rounding only.
    if error <= NEGLIGIBLE * abs(difference):
        return float(np.copysign(np.inf, difference)), difference
    return difference / error, difference


@takes_other_forms
def compare(
    measure: MeasureLike | Sequence[MeasureLike],
    y_true: Any,
    scores: Any,
    *,
    baseline: str | None = None,
    by: Any = None,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    pos_label: Any = None,
    value: Any = None,
    design: Design = None,
    alternative: Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]
    | None = None,
    margin: float | None = None,
    level: float = 0.95,
    method: Literal["auto", "randomization", "t", "wilcoxon", "swap", "bootstrap"] = "auto",
    random_state: Any = None,
) -> Any:
    """Compare two or more rankers on the same test set by tests and simultaneous intervals.

    The variance of a difference ``a - b`` is estimated from the influence values of the items or,
    with ``qid``, from its values on the queries. The statistic has Student's distribution. On
    separate data the limits of each value by itself are added in squares. The max-t method makes
    the intervals of all contrasts simultaneous and adjusts the p-values.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction, callable, or list of these
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts. With
        ``qid`` any measure is allowed. Without it the measure must have an influence function
        (``measure.has_influence``), such as ``"auc"``, ``"ap"``, ``"bedroc@20"``, or
        ``make_measure(..., influence=)``. A list, or a name with several numbers such as
        ``"recall@10,25,50"``, gives a table of the contrasts by all measures.
    y_true : array-like of shape (n_samples,), or mapping
        Labels of two classes, or relevance grades, as the measure requires. A two-dimensional
        array has one query per row. A mapping from names to labels means that each ranker has its
        own data: ``scores``, and ``qid``, ``groups``, ``sample_weight`` and ``value`` if given,
        are then mappings with the same names.
        An id of ``groups`` that occurs in two samples is one group, and the samples depend on each
        other through it; without ``groups`` they are independent. Or judgments of documents by
        query, such as ``{query: {document: grade}}``, a file or a frame, as for
        :func:`metric_interval`.
    scores : mapping of str to array-like, data frame, or array of shape (n_samples, n_rankers)
        Scores of the rankers by name, such as ``{"a": a, "b": b}``, or a pandas or polars data
        frame with one column per ranker; the columns of a matrix are named by their numbers. A
        higher score ranks an item nearer to the top. With judgments runs by name, such as
        ``{query: {document: score}}`` or ``{query: [documents, the best first]}`` each.
    baseline : str or None, default=None
        Ranker that every other ranker is compared with, ``other - baseline``. None means all
        pairs. With ``by`` and one ranker it is a segment.
    by : array-like of shape (n_samples,), default=None
        Segment of each row, as for :func:`metric_interval`. Gives a table of the contrasts in each
        segment; with the scores of one ranker only, of the differences between the segments.
    qid : array-like of shape (n_samples,), or mapping, default=None
        Query id of each row, in any order. The measure is then averaged over queries, and the
        queries are the sample; if ids are times (dates, also as texts such as "2024-01-31", or
        timestamps), they depend on those near in time. None means one list, or two-dimensional
        input.
    groups : array-like of shape (n_samples,), or mapping, default=None
        Id of the group (patient, user) of each row, or of each query for two-dimensional input.
        Rows of different groups are independent, unless these are times, as in qid, rows
        of one group may depend on each other in any way. None means independent items or queries;
        the test rejects too often if they are not.
    sample_weight : array-like of shape (n_samples,), or mapping, default=None
        Weights of the rows, for measures that support weights; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is; required with it. "frequency": each row stands for that many
        identical rows, a whole number. "sampling": each row was drawn once, with a probability
        proportional to 1 / weight; with ``qid`` each query was, and all its rows have its weight.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    value : pair, array-like of shape (n_samples,) or (n_samples, 2), or mapping, default=None
        For measures of amounts, such as ``"profit@50"``, and labels of two classes: what each row
        brings, as for :func:`sklearn_rank.metrics.get_scorer`. None means that ``y_true`` holds
        the amounts.
    design : LabelDesign, "all" or None, default=None
        How rows were chosen for labelling, if some labels of ``y_true`` are missing (NaN, None,
        ``pandas.NA``), or when labels come, if they come late: a :class:`LabelDesign`, or "all" if
        the labelled rows are a simple random sample of all rows. The methods are those of
        :func:`metric_interval`. The comparison is of the population, except by limits of one list
        over all labels, which are for this list alone: the conclusion is then "better on this
        list".
    alternative : {"two-sided", "less", "greater", "non-inferior", "equivalent"}, default=None
        Alternative hypothesis of each contrast: the difference is not 0; below 0; above 0; not
        worse by ``margin`` or more; or smaller than ``margin`` in both directions. None means
        "two-sided" without a margin and "non-inferior" with one. Several measures or segments are
        compared two-sided.
    margin : float or None, default=None
        Largest difference that is of no importance, in units of the measure, greater than 0. With
        the default ``alternative`` the test is of non-inferiority: the first ranker of each
        contrast is worse than the second by less than ``margin``. This respects measures for which
        lower is better. With ``alternative="two-sided"`` each conclusion is that one is better,
        that both are equal within the margin, or that no difference is shown.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals hold. For a one-sided alternative and
        for "equivalent" it is the probability for the limits on one side. The tests are at level
        ``1 - level``.
    method : {"auto", "randomization", "t", "wilcoxon", "swap", "bootstrap"}, default="auto"
        "auto" is max-t; for separate data "square-and-add". For queries, "randomization" exchanges
        the two rankers on random queries, "t" is Student's paired t-test, and "wilcoxon" is the
        signed-rank test with zeros included in the ranking (Pratt). For one list, "swap" exchanges
        the ranks of random items, for small samples near the end of the range, where "auto"
        rejects too seldom, and "bootstrap" takes the covariance of resampled lists, also for
        smooth measures of your own without an influence function.
        All except "auto" and "bootstrap", which are max-t, adjust p-values by Holm's method and
        limits by Bonferroni's.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the exchanges and of the max-t draws, which change
        limits in the third digit. Pass an int for reproducible results. A single contrast with
        "auto" needs none.

    Returns
    -------
    Comparison
        The value of each ranker, and an interval and a p-value for each contrast; over queries
        also wins, ties and losses, the queries that moved most, and how many would decide.
        Printing it shows a table. Several measures or segments give :class:`Intervals`.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the measure has no influence function and
        ``qid`` is not given, fewer than two queries have a value, there is only one group, or a
        query belongs to several groups.
    TypeError
        If an argument has the wrong type.

    See Also
    --------
    metric_interval : Confidence interval for the value of one ranker.
    two_sample_rank_test : Test whether one ranker is better than chance.

    Notes
    -----
    The largest statistic has the distribution of the maximum of correlated normal variables, from
    draws of those beyond a number, with Student's quantiles. Limits are never wider than
    Bonferroni's. The degrees of freedom of a contrast are at most those of Satterthwaite's rule,
    with ``n_pos - 1`` and ``n_neg - 1``, of n queries ``n - 1``. The labels of one list are
    treated as fixed, with ``weights="sampling"`` or ``design`` as random. Items of a class,
    queries or groups are independent. All is asymptotic, but for the tests by exchanges (see
    below) and limits over all labels (:doc:`/theory/inference`).

    On separate data, values a and b with the limits ``(l, u)`` of :func:`metric_interval` have the
    difference ``a - b`` with the lower limit ``a - b - sqrt((a - l_a)^2 + (u_b - b)^2)``, the
    upper one likewise [7]_; samples that share groups have the term ``- 2 r (a - l_a) (u_b - b)``
    too, r their correlation. The statistic is the normal quantile at which the limits reach the
    hypothesis, so that tests and limits agree, and the max-t adjustment is the same.

    A value with its standard error says what it says for one ranker that was chosen beforehand:
    the best of many is too good by chance. The limits ``value_limits`` hold together with
    probability ``level``. They are those of each value by itself, at the level ``1 - 2 Phi(-c)``
    of the quantile c of the largest of the K correlated errors: of rankers that are alike they are
    hardly wider than of one. ``best`` has limits for the best, whichever it is. As it may be the
    best by chance, the limit on the worse side is that of ``value_limits``. The best of the sample
    is at most as good as the best there is, so the other limit is the best of those of the values
    by themselves, at ``level``. In simulations both hold (:doc:`/benchmarks/inference`).

    The variance V of a difference is the sum S of the squares of what the units (the items of a
    class, queries or groups) contribute to it. Where few units carry it, a sample that lacks some
    of them has a small V and a difference that is too far from the truth. With the sum F of
    fourth powers over n units, half a unit at either end of the list is added with the weight
    ``F / S^2 - 3 / n``, if that is above 0: by so much the squared coefficient of variation of S
    exceeds that for normal units. The rankers order an item that is added as alike as the others;
    a query, an amount or a weighted row as alike as these and one more, on which they have nothing
    in common. The degrees of freedom are at most ``3 V^2 / F``. For normal units neither changes
    anything. A difference without variance has the weight 1, and is not certain. On one list of
    two classes, S counts twice what pairs add beyond their items, where rankers agree on most
    pairs up to half of it: V has it once. For the AUC, S is that of DeLong's test [1]_.

    With ``groups`` the variance is the sum over groups of the squared contributions of their
    items, those of a class over ``sqrt(1 - share)`` of the group's fraction of the class [4]_, and
    the effective number of groups counts, ``(sum of s^2)^2 / sum of s^4`` for groups of s items
    [5]_.

    With a margin, the null hypothesis is a difference equal to the margin. "equivalent" makes two
    one-sided tests [3]_: equivalence is shown if the interval, with ``level`` on either side, lies
    within the margin. The attribute ``conclusions`` states the result for each contrast; with
    "non-inferior" also superiority, which needs no further adjustment. "two-sided" reads it from
    the simultaneous limits: within the margin, else on one side of 0, else not decided. If all
    limits hold, so do all of these claims, of better, worse and equal: together with probability
    ``level``.

    Measured rejection rates and widths are in :doc:`/benchmarks/inference`. With a margin, 5 %
    tests reject at most 7 % of true hypotheses there, except for precision at a top of 20 items
    with almost no negative (8 %).

    "randomization", and "wilcoxon" with groups, take 10,000 random exchanges, or all if there are
    no more; "swap" and "bootstrap", which rank all items anew in each, take 999.
    "randomization" is exact for exchangeable systems and any number of queries, with the p-value
    ``(1 + exceedances) / (1 + exchanges)``, two-sided twice the smaller one-sided one; its
    interval contains all shifts that the same exchanges do not reject [6]_. As a test of the mean
    difference alone it is asymptotically valid, as "t" is. "swap" is exact for rankers with
    exchangeable ranks, and asymptotically valid for others, as each difference is divided by its
    standard error [8]_. All three exchange whole ``groups``. An interval beside a test is that of
    the test: "wilcoxon" and "swap" give none, nor does "randomization" for differences of -1, 0
    and 1, whose shifts are no differences of such values, or that are all equal.
    ``weights="sampling"`` is for "auto" and "t".

    For K rankers the cost is O(n K log n) time and O(n K) memory, plus the draws. Rows may be dask
    collections, without groups, with ``qid`` or on separate data: the values of the queries, each
    in one chunk, or the counts of the scores are collected in this process.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Hothorn, Bretz & Westfall (2008), *Simultaneous inference in general parametric
       models*, Biometrical Journal 50.
    .. [3] Schuirmann (1987), *A comparison of the two one-sided tests procedure and the power
       approach for assessing the equivalence of average bioavailability*, Journal of
       Pharmacokinetics and Biopharmaceutics 15.
    .. [4] Bell & McCaffrey (2002), *Bias reduction in standard errors for linear regression with
       multi-stage samples*, Survey Methodology 28.
    .. [5] Carter, Schnepel & Steigerwald (2017), *Asymptotic behavior of a t-test robust to
       cluster heterogeneity*, Review of Economics and Statistics 99.
    .. [6] Hartigan (1969), *Using subsample values as typical values*, Journal of the American
       Statistical Association 64.
    .. [7] Zou & Donner (2008), *Construction of confidence limits about effect measures: a general
       approach*, Statistics in Medicine 27.
    .. [8] Bandos, Rockette & Gur (2005), *A permutation test sensitive to differences in areas for
       comparing ROC curves from a paired design*, Statistics in Medicine 24.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import compare
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) < 80
    >>> signal = rng.normal(size=400) + 1.5 * y
    >>> scores = {
    ...     name: signal + s * rng.normal(size=400)
    ...     for name, s in zip("abc", (0.5, 0.6, 2))
    ... }
    >>> print(compare("auc", y, scores, baseline="c", random_state=0))
    auc on 400 items, 80 positive
    hypothesis: equal auc; two-sided; max-t; level 95 %; adjusted for 2 contrasts
    best: b, 0.8610 [0.7946, 0.8986], counting the choice among 3
    <BLANKLINE>
    ranker   value  standard error  95 % interval, all together
    a       0.8538          0.0230             [0.7832, 0.9007]
    b       0.8610          0.0214             [0.7946, 0.9048]
    c       0.6385          0.0337             [0.5517, 0.7154]
    <BLANKLINE>
    contrast  difference       95 % interval         p  conclusion
    a - c        +0.2153  [+0.1447, +0.2859]  2.62e-09  a better
    b - c        +0.2225  [+0.1505, +0.2945]  1.53e-09  b better

    Test whether "a" is worse than "b" by less than 0.05:

    >>> pair = {name: scores[name] for name in "ab"}
    >>> compare("auc", y, pair, margin=0.05).conclusions
    ('a not worse by 0.05 or more: shown; better: not shown',)

    Two retrievers on judged queries, by the documents that they found:

    >>> qrels = {f"q{i}": {"d1": 1, "d2": 1} for i in range(20)}
    >>> old = {
    ...     query: ["d3", "d1"] if i % 2 else ["d1"] for i, query in enumerate(qrels)
    ... }
    >>> new = {query: ["d2", "d1"] for query in qrels}
    >>> compare("recall@10", qrels, {"new": new, "old": old}).interval.estimate
    0.5
    """
    level, measures = check_level(level), get_measures(measure)
    methods = ("auto", "randomization", "t", "wilcoxon", "swap", "bootstrap")
    hint = ": 'auto' is DeLong's test for the AUC, and of queries whose values are 0 and 1"
    hint += " 'randomization' is McNemar's exact test"
    check_choice("method", method, methods, hint=hint)
    rng, paired = check_generator(random_state), not isinstance(y_true, Mapping)
    if isinstance(scores, np.ndarray) and scores.ndim == 2:
        scores = dict(enumerate(scores.T))
    scores = named_scores(scores, name="scores", least=2 if by is None else 1)
    if isinstance(measure, list | tuple) or len(measures) > 1 or by is not None:
        single_only: dict[str, Any] = {"method": None if method == "auto" else method}
        single_only["alternative"] = None if alternative == "two-sided" else alternative
        for name, asked in single_only.items():
            if asked is not None:
                raise ValueError(
                    f"{name}={asked!r} is for one measure without segments: leave {name} out, or"
                    " call compare for each."
                )
        if margin is not None and alternative is None:
            raise ValueError(
                f"margin={margin!r} of several measures or segments is for two-sided limits: pass"
                " alternative='two-sided' too, or call compare for each."
            )
        if not paired:
            raise TypeError(
                "y_true is a mapping, of the labels of each ranker, but several measures or"
                " segments are of the same rows: call compare for each."
            )
        more: Any = {"qid": qid, "groups": groups, "sample_weight": sample_weight, "value": value}
        more |= {"weights": weights, "pos_label": pos_label, "design": design}
        return table_of(
            measures,
            y_true,
            scores,
            by=by,
            compared=True,
            baseline=baseline,
            margin=margin,
            level=level,
            rng=rng,
            **more,
        )
    (measure,) = measures
    question = Question.of(measure, tuple(scores), baseline, alternative, margin, level)
    columns = {"qid": qid, "groups": groups, "sample_weight": sample_weight, "value": value}
    for name, column in columns.items():
        if column is not None and isinstance(column, Mapping) == paired:
            raise TypeError(
                f"{name} is a mapping, but y_true is not: pass y_true as a mapping too, if each"
                " ranker has its own data, or one array for all rankers."
                if paired
                else f"{name} is not a mapping, but y_true is one, of the labels of each ranker:"
                " pass a mapping with the names of scores."
            )
    if design is not None and (method != "auto" or not paired):
        raise ValueError(
            "design is for rankers that scored the same rows: leave out method, and pass one"
            " array of labels, or leave out design."
        )
    if method != "auto" and not (paired and (margin is None or method == "bootstrap")):
        what = "margin" if paired else "separate data of each ranker"
        raise ValueError(f"method={method!r} does not support {what}: leave method out.")
    options = {"weights": weights, "pos_label": pos_label}
    if not paired:
        joint, target = _separate_rows(measure, scores, {"y_true": y_true} | columns, options)
        return joint_comparison(joint, question, rng, target, separate=True)
    named = {f"scores[{name!r}]": score for name, score in scores.items()}
    y_true, rows = read_rows(measure, y_true, named, design=design, **columns, **options)
    of_queries = "qid" in rows
    if method != "auto" and of_queries == (method in ("swap", "bootstrap")):
        others = "'randomization', 't' or 'wilcoxon'" if of_queries else "'swap'"
        data = "means over queries" if of_queries else "one list"
        raise ValueError(
            f"method={method!r} does not support {data}: pass method={others}, or leave method"
            " out."
        )
    if design is not None:
        return _outer.compare_in_part(question, y_true, scores, rows, rng)
    if not of_queries:
        return _compare_on_list(question, y_true, scores, rows, method, rng)
    samples = query_values_of(measure, y_true, scores, **rows)
    target = f"mean {measure.name} over {next(iter(samples.values())).size_text}"
    if method != "auto":
        found = compare_samples(question, samples, method, EXCHANGES, rng)
    else:
        found = joint_comparison(joint_means(list(samples.values())), question, rng, target)
    return replace(found, by_query=samples)


def _compare_on_list(
    question: Question,
    y_true: Any,
    scores: dict[str, Any],
    rows: dict[str, Any],
    method: str,
    rng: np.random.Generator,
) -> Comparison:
    measure, laws = question.measure, question.measure.laws
    evidences = check_lists(
        measure, y_true, list(scores.values()), names=list(map(column_of, scores)), **rows
    )
    warn_of_evidence(tuple(scores), evidences)
    if method != "auto" and evidences[0].groups is not None:
        evidences[0].groups.refuse_in_time(f"method={method!r}")
    if method == "swap":
        _refuse_weights(rows["sample_weight"], "method='swap'")
        return swap_tests(question, evidences, rng)
    if method == "bootstrap":
        if not {"resamples", "influence"} & set(laws):
            raise ValueError(
                f"method='bootstrap' is wrong for {measure.name}, which has no influence function,"
                " since single items may decide it: leave method out, or pass qid for a mean over"
                " queries."
            )
        joint = _resampled_joint(evidences, question.matrix, rng)
        target = f"{measure.name} on {evidences[0].data.sizes[0]:.0f} items"
        return joint_comparison(joint, question, rng, target, method=method)
    if "influence" in laws:
        joint, _, target = joint_on_list(evidences)
        return joint_comparison(joint, question, rng, target)
    if evidences[0].sampled:
        refuse_sampling(measure)
    if not laws or next(iter(methods_of(measure).values())).explicit:
        refuse_unknown(measure)
    return interval_comparison(evidences, question)


def _resampled_joint(
    evidences: Sequence[Evidence], contrasts: FloatArray, rng: np.random.Generator
) -> Joint:
    """Values of rankers, whose errors are those of values of resampled lists."""
    measure, repeated = evidences[0].measure, [evidence.repeat() for evidence in evidences]
    drawn = resampled_values(repeated, SWAPS, rng)
    deviations = (drawn - drawn.mean(axis=1, keepdims=True)) / np.sqrt(SWAPS - 1.0)
    covariance, no_span = deviations @ deviations.T, np.zeros(len(drawn))
    if not (np.einsum("mi,ij,mj->m", contrasts, covariance, contrasts) > 0.0).all():
        raise ValueError(
            f"The rankers have the same difference of {measure.name} in all {SWAPS} bootstrap"
            " samples, so its variance cannot be estimated: pass rankers whose orders differ."
        )
    return Joint(
        estimates=np.array([evidence.value for evidence in repeated]),
        covariance=covariance,
        regularized=covariance,
        length=measure.range[1] - measure.range[0],
        n_effective=float(evidences[0].data.sizes[0]),
        spread=Spread(covariance[np.newaxis], np.array([SWAPS - 1.0]), np.eye(1)),
        kinds=(Units(deviations, covariance, float(SWAPS), no_span),),
    )


def _separate_rows(
    measure: Measure, scores: dict[str, Any], columns: dict[str, Any], options: dict[str, Any]
) -> tuple[Joint, str]:
    """Joint estimate of rankers on separate rows, and its description."""
    if columns["groups"] is None and any(map(hold_times, (columns["qid"] or {}).values())):
        columns["groups"] = columns["qid"]
    parts: dict[str, dict[str, Any]] = {ranker: {} for ranker in scores}
    for name, column in columns.items():
        if column is not None:
            named = {str(ranker): values for ranker, values in column.items()}
            if set(named) != set(scores):
                raise ValueError(
                    f"{name} has the names {sorted(named)} and scores has {sorted(scores)}: pass"
                    " the same names."
                )
            for ranker, part in parts.items():
                part[name] = named[ranker]
    if columns["groups"] is not None:
        refuse_grouped_collections(columns["groups"], y_true=columns["y_true"], scores=scores)
        sizes = [len(part["y_true"]) for part in parts.values()]
        groups = check_joined_groups([part["groups"] for part in parts.values()], sizes)
        for part, n, end in zip(parts.values(), sizes, np.cumsum(sizes), strict=True):
            part["groups"] = groups.only(slice(end - n, end))
    read = []
    for ranker, part in parts.items():
        name, labels, score = f"y_true[{ranker!r}]", part.pop("y_true"), scores[ranker]
        named = {f"scores[{ranker!r}]": score}
        labels, rows = read_rows(measure, labels, named, name=name, **part, **options)
        read.append((name, ranker, labels, score, rows))
    if not any("qid" in rows for *_, rows in read):
        _refuse_weights(columns["sample_weight"], "separate samples of one list each")
        lists, singles = [], []
        for name, ranker, labels, score, rows in read:
            evidences = check_lists(
                measure, labels, [score], name=name, names=[column_of(ranker)], **rows
            )
            (influence,), of_rows = influences_of(evidences, name)
            lists.append((influence, of_rows))
            singles.append(single(evidences[0], influence=influence))
        joint = replace(joint_samples(lists), singles=singles)
        return joint, list_target(measure, *map(list, zip(*lists, strict=True)))
    samples = [query_values_of(measure, y, {x: score}, **rows)[x] for _, x, y, score, rows in read]
    means = [mean_influences(x.values[np.newaxis], x.range, x.weight)[0] for x in samples]
    joint = joint_samples([(mean, x.groups) for mean, x in zip(means, samples, strict=True)])
    joint = replace(joint, singles=[x.moments for x in samples])
    return joint, f"mean {measure.name} over " + " and over ".join(x.size_text for x in samples)


def _refuse_weights(sample_weight: Any, what: str) -> None:
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight is not supported for {what}: pass qid for means over queries, leave"
            " sample_weight out, or compare on the same rows without method."
        )
