"""Comparison of two or more rankers, for any measure and design: contrasts, max-t, exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import rankdata

from .._partitions import any_collection
from .._printed import ROUNDING
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import (
    are_usual_labels,
    array_of_labels,
    check_choice,
    check_generator,
    check_level,
    is_number,
    ravelled,
    refuse_misread,
)
from ..bounds._shared import NEGLIGIBLE
from ..metrics import Measure, get_measure
from ..metrics._shared import Evidence, MeasureLike
from ._contrasts import comparison_of_limits, interval_comparison, resampled_comparison
from ._evidence import (
    JointEstimate,
    WeightMeaning,
    check_groups,
    check_joined_groups,
    check_lists,
    check_two_classes,
    check_weight_meaning,
    dimensions,
    joint_independent,
    joint_influence,
    joint_samples,
    labelled_amounts,
    list_target,
    mean_influences,
    measure_influence,
    named_scores,
    refuse_collections,
    refuse_grouped_collections,
    refuse_sampling,
    refuse_unknown,
)
from ._judged_queries import JudgedQueries
from ._label_bounds import target_in_part
from ._label_design import Design
from ._limits import BLOCK, Limits, holm_adjust
from ._methods import methods_of
from ._queries import compare_samples, joint_means, query_values_of
from ._results import Comparison, Question

# Draws of the largest of several statistics, and products that they may take in all.
FEWEST, MOST, FLOPS = 10_000, 100_000, 2 * 10**9


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Matrix R with ``R R' = covariance``, of shape (n, rank)."""
    values, vectors = np.linalg.eigh(covariance)
    positive = values > ROUNDING * values[-1]
    return vectors[:, positive] * np.sqrt(values[positive])


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    rows = max(1, BLOCK // len(root))
    for start in range(0, n_draws, rows):
        yield rng.standard_normal((min(rows, n_draws - start), root.shape[1])) @ root.T


def largest_of_contrasts(
    covariance: FloatArray,
    contrasts: FloatArray,
    rng: np.random.Generator,
    *,
    signed: bool = False,
) -> FloatArray:
    """Draw the largest statistic of contrasts of normal variables, ascending.

    There are 100,000 draws; fewer, at least 10,000, for so many contrasts that they take seconds.
    """
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0.0] = 1.0
    root = (contrasts * scale) @ covariance_root(covariance / np.outer(scale, scale))
    errors = np.sqrt(np.sum(root**2, axis=1, keepdims=True))
    # Contrasts that vary by rounding alone are as good as any one variable.
    varies = errors[:, 0] > ROUNDING
    root = root[varies] / errors[varies] if varies.any() else np.ones((1, 1))
    root = root.astype(np.float32)
    n_draws = int(np.clip(FLOPS / root.size, FEWEST, MOST))
    rows = max(1, BLOCK // len(root))
    maxima = np.empty(n_draws, dtype=np.float32)
    for start in range(0, n_draws, rows):
        block = maxima[start : start + rows]
        statistics = rng.standard_normal((len(block), root.shape[1]), dtype=np.float32) @ root.T
        statistics.max(axis=1, out=block)
        if not signed:
            np.maximum(block, -statistics.min(axis=1), out=block)
    return np.sort(maxima.astype(np.float64))


def joint_comparison(
    joint: JointEstimate, question: Question, rng: np.random.Generator, target: str
) -> Comparison:
    """Test all contrasts simultaneously by the distribution of the largest statistic."""
    measure, matrix = question.measure, question.matrix
    alternative, margin = question.alternative, question.margin or 0.0
    differences = matrix @ joint.estimates
    errors, degrees = joint.standard_errors(matrix)
    if not errors.all():
        raise ValueError(
            f"{measure.name} has no known range and the same influence value for all items, so its"
            " variance cannot be estimated: pass range= to make_measure."
        )
    sign = 1.0 if measure.greater_is_better else -1.0
    if alternative == "equivalent":
        statistics = (margin - np.abs(differences)) / errors
    elif alternative == "non-inferior":
        statistics = (sign * differences + margin) / errors
    else:
        statistics = differences / errors
    extreme = {"two-sided": np.abs(statistics), "less": -statistics}.get(alternative, statistics)
    tails = 2.0 if alternative == "two-sided" else 1.0
    m = len(matrix)
    pvalues = np.minimum(tails * m * stdtr(degrees, -extreme), 1.0)
    critical = stdtrit(degrees, 1.0 - (1.0 - question.level) / tails / m)
    if m > 1:
        direction = {"less": -1.0, "non-inferior": sign}.get(alternative, 1.0)
        one_sided = alternative in ("greater", "less", "non-inferior")
        known = bool((_variances(matrix, joint.covariance) > 0.0).all())
        covariance = joint.covariance if known else joint.regularized
        largest = largest_of_contrasts(covariance, direction * matrix, rng, signed=one_sided)
        # Each statistic as a normal one, at the probability that Student's distribution gives it.
        normal = -ndtri(stdtr(degrees, -extreme))
        beyond = len(largest) - np.searchsorted(largest, normal * (1.0 - 1e-12), "left")
        pvalues = np.minimum(pvalues, (1.0 + beyond) / (1.0 + len(largest)))
        quantile = float(np.quantile(largest, question.level, method="higher"))
        critical = np.minimum(critical, -stdtrit(degrees, ndtr(-quantile)))
    half = critical * errors
    half_range = joint.length * np.abs(matrix).sum(axis=1) / 2.0
    hypothesis = f"equal {measure.name}"
    if question.margin is not None:
        relation = "worse" if alternative == "non-inferior" else "different"
        hypothesis = f"{measure.name} {relation} by {margin:g} or more"
    return question.answer(
        "max-t",
        target,
        hypothesis,
        values=joint.estimates,
        standard_errors=joint.errors,
        differences=differences,
        # Where scores are tied, a value may lie outside of the range without ties.
        low=np.minimum(np.maximum(differences - half, -half_range), differences),
        high=np.maximum(np.minimum(differences + half, half_range), differences),
        statistics=statistics,
        pvalues=pvalues,
        difference_errors=errors,
    )


def _variances(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("mk,mk->m", matrix @ covariance, matrix))


# Random exchanges of values of queries, and of ranks or resamples of a list, which rank all anew.
EXCHANGES, SWAPS = 10_000, 999


def swap_tests(
    question: Question,
    y_true: Any,
    scores: Mapping[str, Any],
    groups: Any,
    rng: np.random.Generator,
) -> Comparison:
    measure = question.measure
    refuse_collections("scores are exchanged row by row", y_true=y_true, **scores, groups=groups)
    rel = measure.rel
    lists = {name: check_two_classes(y_true, score, rel) for name, score in scores.items()}
    positive = next(iter(lists.values())).positive
    if rel is not None:
        measure = get_measure(measure, rel=None)
    n = len(positive)
    dependent = check_groups(groups, n)
    unit = np.arange(n) if dependent is None else dependent.codes
    ranks = {name: rankdata(data.score) for name, data in lists.items()}
    influences, _ = measure_influence(measure, positive, [*ranks.values()])
    statistics, differences, pvalues = [], [], []
    for a, b in question.contrasts:
        pair = np.stack([ranks[a], ranks[b]])
        observed, difference = _studentise(measure, positive, pair, unit)
        draws = np.empty(SWAPS)
        for i in range(SWAPS):
            swapped = rng.random(unit.max() + 1)[unit] < 0.5
            exchanged = np.where(swapped, pair[::-1], pair)
            draws[i] = _studentise(measure, positive, exchanged, unit)[0]
        statistics.append(observed)
        differences.append(difference)
        # The share of statistics, the observed one among them, that are at least as extreme.
        if question.alternative == "two-sided":
            observed, draws = abs(observed), np.abs(draws)
        elif question.alternative == "less":
            observed, draws = -observed, -draws
        least = observed - NEGLIGIBLE * abs(observed) if np.isfinite(observed) else observed
        pvalues.append((1.0 + np.count_nonzero(draws >= least)) / (SWAPS + 1.0))
    return question.answer(
        "swaps" if len(pvalues) == 1 else "swaps, Holm",
        list_target(question.measure, influences[:1], [dependent]),
        f"equal {question.measure.name}",
        values=[influence.estimate for influence in influences],
        standard_errors=[float(np.sqrt(influence.variance())) for influence in influences],
        differences=differences,
        statistics=statistics,
        pvalues=holm_adjust(pvalues),
    )


def _studentise(
    measure: Measure, positive: BoolArray, ranks: FloatArray, unit: IntArray
) -> tuple[float, float]:
    """Difference over its standard error, infinite where that is 0, and the difference."""
    (a, b), _ = measure_influence(measure, positive, (ranks[0], ranks[1]))
    difference = a.estimate - b.estimate
    sums = np.bincount(unit, a.centred() - b.centred()) / len(positive)
    error = float(np.sqrt(np.sum(sums**2)))
    if abs(difference) <= NEGLIGIBLE * max(abs(a.estimate), abs(b.estimate)):
        return 0.0, difference
    # Equal influences sum to 0 up to rounding only.
    if error <= NEGLIGIBLE * abs(difference):
        return float(np.copysign(np.inf, difference)), difference
    return difference / error, difference


def compare(
    measure: MeasureLike,
    y_true: Any,
    scores: Any,
    *,
    baseline: str | None = None,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    value: Any = None,
    design: Design = None,
    alternative: Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]
    | None = None,
    margin: float | None = None,
    level: float = 0.95,
    method: Literal["auto", "randomization", "t", "wilcoxon", "swap", "bootstrap"] = "auto",
    random_state: Any = None,
) -> Comparison:
    """Compare two or more rankers on the same test set by tests and simultaneous intervals.

    The variance of a difference ``a - b`` is estimated from the influence values of the items or,
    with ``qid``, from its values on the queries. The statistic has Student's distribution. The
    max-t method makes the intervals of all contrasts simultaneous and adjusts the p-values.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts. With
        ``qid`` any measure is allowed. Without it the measure must have an influence function
        (``measure.has_influence``), such as ``"auc"``, ``"ap"``, ``"bedroc@20"``, or
        ``make_measure(..., influence=)``.
    y_true : array-like of shape (n_samples,), or mapping
        Labels of two classes, 0 and 1 or -1 and 1, such as ``y == "yes"``; with ``qid`` labels or
        relevance grades, as the measure requires. A two-dimensional array has one query per row. A
        mapping from names to labels means that each ranker has its own data: ``scores``, and
        ``qid``, ``groups`` and ``sample_weight`` if given, are then mappings with the same names.
        An id of ``groups`` that occurs in two samples is one group, and the samples depend on each
        other through it; without ``groups`` they are independent.
    scores : mapping of str to array-like, data frame, or array of shape (n_samples, n_rankers)
        Scores of the rankers by name, such as ``{"a": a, "b": b}``, or a pandas or polars data
        frame with one column per ranker; the columns of a matrix are named by their numbers. A
        higher score ranks an item nearer to the top.
    baseline : str or None, default=None
        Ranker that every other ranker is compared with, ``other - baseline``. None means all
        pairs.
    qid : array-like of shape (n_samples,), or mapping, default=None
        Query id of each row, in any order. The measure is then averaged over queries, and the
        queries are the sample. None means one list, or two-dimensional input.
    groups : array-like of shape (n_samples,), or mapping, default=None
        Id of the group (patient, user) of each row, or of each query for two-dimensional input.
        Rows of different groups are independent, rows of one group may depend on each other in any
        way. None means independent items or queries; the test rejects too often if they are not.
    sample_weight : array-like of shape (n_samples,), or mapping, default=None
        Weights of the rows, for measures that support weights; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is; required with it. "frequency": each row stands for that many
        identical rows, a whole number. "sampling": each row was drawn once, with a probability
        proportional to 1 / weight; with ``qid`` each query was, and all its rows have its weight.
    value : pair or array-like of shape (n_samples,) or (n_samples, 2), default=None
        For measures of amounts, such as ``"profit@50"``, and labels of two classes: what each row
        brings, as for :func:`sklearn_rank.metrics.get_scorer`. None means that ``y_true`` holds
        the amounts.
    design : LabelDesign, "all" or None, default=None
        How rows were chosen for labelling, if some labels of ``y_true`` are missing (NaN, None,
        ``pandas.NA``): a :class:`LabelDesign`, or "all" if the labelled rows are a simple random
        sample of all rows. The methods are those of :func:`metric_interval`. The comparison is of
        the population, except by limits over all labels, which are for this list alone: the
        conclusion is then "better on this list".
    alternative : {"two-sided", "less", "greater", "non-inferior", "equivalent"}, default=None
        Alternative hypothesis of each contrast: the difference is not 0; below 0; above 0; not
        worse by ``margin`` or more; or smaller than ``margin`` in both directions. None means
        "two-sided" without a margin and "non-inferior" with one.
    margin : float or None, default=None
        Largest difference that is of no importance, in units of the measure, greater than 0. With
        the default ``alternative`` the test is of non-inferiority: the first ranker of each
        contrast is worse than the second by less than ``margin``. This respects measures for which
        lower is better.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals hold. For a one-sided alternative and
        for "equivalent" it is the probability for the limits on one side. The tests are at level
        ``1 - level``.
    method : {"auto", "randomization", "t", "wilcoxon", "swap", "bootstrap"}, default="auto"
        "auto" is max-t. For queries, "randomization" exchanges the two rankers on random queries,
        "t" is Student's paired t-test, and "wilcoxon" is the signed-rank test with zeros included
        in the ranking (Pratt). For one list, "swap" exchanges the ranks of random items, for small
        samples near the end of the range, where "auto" rejects too seldom, and "bootstrap" takes
        the covariance of resampled lists, also for smooth measures of your own without an
        influence function.
        All except "auto" adjust p-values by Holm's method and limits by Bonferroni's.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the exchanges and of the max-t draws, which change
        limits in the third digit. Pass an int for reproducible results. A single contrast with
        "auto" needs none.

    Returns
    -------
    Comparison
        The value of each ranker, and an interval and a p-value for each contrast. Printing it
        shows a table.

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
    up to 100,000 draws, with Student's quantiles. Limits are never wider than Bonferroni's. The
    degrees of freedom of a contrast are at most those of Satterthwaite's rule, with ``n_pos - 1``
    and ``n_neg - 1``, of n queries ``n - 1``, on separate data of Welch's rule. The labels of one
    list are treated as fixed, with ``weights="sampling"`` or ``design`` as random.

    The variance V of a difference is the sum S of the squares of what the units (the items of a
    class, queries or groups) contribute to it. Where few units carry it, a sample that lacks some
    of them has a small V and a difference that is too far from the truth. With the sum F of
    fourth powers over n units, half a unit at either end of the list, which the rankers order as
    alike as the others, is added with the weight ``F / S^2 - 3 / n``, if that is above 0: by so
    much the squared coefficient of variation of S exceeds that for normal units. The degrees of
    freedom are at most ``3 V^2 / F``. For normal units neither changes anything; for the AUC the
    rest is DeLong's test [1]_. A difference without variance has the weight 1, and is not certain.

    With ``groups`` the variance is the sum over groups of the squared contributions of their
    items, those of a class over ``sqrt(1 - share)`` of the group's fraction of the class [4]_, and
    the effective number of groups counts, ``(sum of s^2)^2 / sum of s^4`` for groups of s items
    [5]_.

    With a margin, the null hypothesis is a difference equal to the margin. "equivalent" makes two
    one-sided tests [3]_: equivalence is shown if the interval, with ``level`` on either side, lies
    within the margin. The attribute ``conclusions`` states the result for each contrast; with
    "non-inferior" also superiority, which needs no further adjustment.

    Measured rejection rates and widths are in :doc:`/benchmarks/inference`. With a margin, 5 %
    tests reject at most 7 % of true hypotheses there, except for precision at a top of 20 items
    with almost no negative (8 %).

    "randomization", and "wilcoxon" with groups, take 10,000 random exchanges, or all if there are
    no more; "swap" and "bootstrap", which rank all items anew in each, take 999.
    "randomization" is exact for exchangeable systems and any number of queries, with the p-value
    ``(1 + exceedances) / (1 + exchanges)``, two-sided twice the smaller one-sided one; its
    interval contains all shifts that the same exchanges do not reject [6]_. As a test of the mean
    difference alone it is asymptotically valid, as "t" is. The other methods use the t-interval,
    with which "wilcoxon" may disagree. Differences of -1, 0 and 1 use the score interval of Tango
    [7]_ unless ``method="t"``. "swap" is exact for rankers with exchangeable ranks, and
    asymptotically valid for others, as each difference is divided by its standard error [8]_; it
    gives no interval. All three exchange whole ``groups``. ``weights="sampling"`` is for "auto"
    and "t".

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
    .. [7] Tango (1998), *Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design*, Statistics in Medicine 17.
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
    <BLANKLINE>
    ranker   value  standard error
    a       0.8538          0.0230
    b       0.8610          0.0214
    c       0.6385          0.0337
    <BLANKLINE>
    contrast  difference       95 % interval         p  conclusion
    a - c        +0.2153  [+0.1449, +0.2856]   2.8e-09  a better
    b - c        +0.2225  [+0.1507, +0.2942]  1.63e-09  b better

    Test whether "a" is worse than "b" by less than 0.05:

    >>> pair = {name: scores[name] for name in "ab"}
    >>> compare("auc", y, pair, margin=0.05).conclusions
    ('a not worse by 0.05 or more: shown; better: not shown',)
    """
    level, measure = check_level(level), get_measure(measure)
    methods = ("auto", "randomization", "t", "wilcoxon", "swap", "bootstrap")
    check_choice("method", method, methods)
    rng, paired = check_generator(random_state), not isinstance(y_true, Mapping)
    if isinstance(scores, np.ndarray) and scores.ndim == 2:
        scores = dict(enumerate(scores.T))
    scores = named_scores(scores, name="scores")
    rows = {"y_true": y_true, "qid": qid, "groups": groups, "sample_weight": sample_weight}
    if paired:
        named = {f"scores[{name!r}]": x for name, x in scores.items()}
        refuse_misread(**rows, **named, value=value, design=design)
    if value is not None:
        rows["y_true"] = y_true = labelled_amounts(measure, y_true, value, design)
    question = Question.of(measure, tuple(scores), baseline, alternative, margin, level)
    for name, labels in ({"y_true": y_true} if paired else y_true).items():
        _refuse_labels(measure, labels, name if paired else f"y_true[{name!r}]")
    for name, column in rows.items():
        if column is not None and isinstance(column, Mapping) == paired:
            raise TypeError(
                f"{name} is a mapping, but y_true is not: pass y_true as a mapping too, if each"
                " ranker has its own data, or one array for all rankers."
                if paired
                else f"{name} is not a mapping, but y_true is one, of the labels of each ranker:"
                " pass a mapping with the names of scores."
            )
    rows["weights"] = weights
    conditional = False if check_weight_meaning(weights, sample_weight) else None
    if design is not None:
        refuse_collections(y_true=y_true, scores=scores)
        rows["y_true"] = array_of_labels(y_true)
        if method != "auto" or not paired:
            raise ValueError(
                "design is for rankers that scored the same rows: leave out method, and pass one"
                " array of labels, or leave out design."
            )
        rows["design"] = design
        if not _is_one_list(rows):
            queries = JudgedQueries.of(measure, rows.pop("y_true"), scores, **rows)
            if queries.is_bounded:
                return _of_bounds(queries, question)
            joint = joint_means(list(queries.values().values()))
            return joint_comparison(joint, question, rng, queries.target)
        return _by_limits(question, scores, rows, conditional)
    if method == "bootstrap":
        if not paired or not _is_one_list(rows):
            raise ValueError(
                "method='bootstrap' is for rankers of the same rows of one list: leave method out."
            )
        if not measure.laws.keys() & {"resamples", "influence"}:
            raise ValueError(
                f"method='bootstrap' is wrong for {measure.name}, which has no influence function,"
                " since single items may decide it: leave method out, or pass qid for a mean over"
                " queries."
            )
        evidences = _evidences(measure, scores, rows, conditional)
        return resampled_comparison(evidences, question, SWAPS, rng)
    if method != "auto":
        if margin is not None or not paired:
            what = "margin" if paired else "separate data of each ranker"
            raise ValueError(f"method={method!r} does not support {what}: leave method out.")
        return _compare_pairs(question, scores, rows, method, rng)
    if paired and "influence" not in measure.laws and _is_one_list(rows):
        return _by_limits(question, scores, rows, conditional)
    estimate = _same_rows if paired else _separate_rows
    joint, target = estimate(measure, scores, rows, conditional is not False)
    return joint_comparison(joint, question, rng, target)


def _refuse_labels(measure: Measure, labels: Any, name: str) -> None:
    """Refuse words, and two numbers that do not tell which of them is the positive class."""
    if any_collection(labels):
        return
    values = np.asarray(labels) if hasattr(labels, "__array__") else np.empty(0)
    if values.size and values.dtype.kind in "biuf":
        # Whatever lies between the ends, the reader of the measure refuses.
        ends = [np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)]
        if measure.kind != "binary" or are_usual_labels(np.unique(ends)):
            return
    of_rows = array_of_labels(labels).ravel().tolist()
    if words := [label for label in of_rows if isinstance(label, str)]:
        raise ValueError(
            f"{name} holds words, as {str(min(words))!r}: pass labels of 0 and 1, or True and"
            f" False, such as {name} == {str(max(words))!r}."
        )
    if measure.kind != "binary" or measure.rel is not None:
        return
    classes = sorted({label for label in of_rows if is_number(label) and label == label})
    if len(classes) in (1, 2) and not are_usual_labels(np.array(classes)):
        raise ValueError(
            f"{name} takes value in {{{', '.join(map(repr, classes))}}}: pass labels of 0 and 1,"
            f" or True and False, such as {name} == {classes[-1]!r}."
        )


def _is_one_list(rows: dict[str, Any]) -> bool:
    y_true = rows["y_true"]
    if rows["qid"] is not None:
        return False
    return any_collection(y_true) or dimensions(ravelled(y_true, "y_true")) != 2


def _evidences(
    measure: Measure, scores: dict[str, Any], rows: dict[str, Any], conditional: bool | None
) -> list[Evidence]:
    """Evidence of each ranker of one list."""
    columns = {name: column for name, column in rows.items() if name not in ("qid", "y_true")}
    of_rankers = list(scores.values())
    return check_lists(measure, rows["y_true"], of_rankers, conditional=conditional, **columns)


def _by_limits(
    question: Question, scores: dict[str, Any], rows: dict[str, Any], conditional: bool | None
) -> Comparison:
    """Compare rankers of one list by limits: without influence function, or labels in part."""
    measure = question.measure
    if rows["weights"] == "sampling":
        refuse_sampling(measure)
    needs_method = "design" not in rows
    if needs_method and (not measure.laws or next(iter(methods_of(measure).values())).explicit):
        refuse_unknown(measure)
    evidences = _evidences(measure, scores, rows, conditional)
    target = f"{measure.name} on {evidences[0].data.sizes[0]:.0f} items"
    if "design" in rows:
        target = target_in_part(evidences[0])
    return interval_comparison(evidences, question, target)


def _of_bounds(queries: JudgedQueries, question: Question) -> Comparison:
    """Compare means over queries by their limits over all labels that are not known."""

    def limits_of(row: FloatArray) -> tuple[float, Callable[[float], Limits]]:
        both = queries.bounds(row.tolist())
        return sum(both) / 2.0, lambda _: both

    values = [limits_of(row)[0] for row in np.eye(len(question.names))]
    return comparison_of_limits(question, values, limits_of, queries.target, "bounds")


def _same_rows(
    measure: Measure, scores: dict[str, Any], rows: dict[str, Any], conditional: bool
) -> tuple[JointEstimate, str]:
    if _is_one_list(rows):
        of_list = {name: value for name, value in rows.items() if name != "qid"}
        influences, groups = measure_influence(
            measure, scores=tuple(scores.values()), conditional=conditional, **of_list
        )
        joint = joint_influence(influences, conditional=conditional, groups=groups)
        return joint, list_target(measure, influences[:1], [groups])
    samples = list(query_values_of(measure, scores=scores, **rows).values())
    joint = joint_means(samples)
    return joint, f"mean {measure.name} over {samples[0].size_text}"


def _separate_rows(
    measure: Measure, scores: dict[str, Any], rows: dict[str, Any], conditional: bool
) -> tuple[JointEstimate, str]:
    """Joint estimate of rankers on separate rows, and its description."""
    options = {"weights": rows.pop("weights")}
    columns: dict[str, dict[str, Any]] = {}
    for name, column in rows.items():
        if column is not None:
            columns[name] = {str(ranker): values for ranker, values in column.items()}
            if set(columns[name]) != set(scores):
                raise ValueError(
                    f"{name} has the names {sorted(columns[name])} and scores has"
                    f" {sorted(scores)}: pass the same names."
                )
    parts = {
        ranker: {name: column[ranker] for name, column in columns.items()} for ranker in scores
    }
    groups = None
    if "groups" in columns:
        refuse_grouped_collections(rows["groups"], y_true=rows["y_true"], scores=scores)
        sizes = [len(part["y_true"]) for part in parts.values()]
        groups = check_joined_groups([part["groups"] for part in parts.values()], sizes)
        for part, n, end in zip(parts.values(), sizes, np.cumsum(sizes), strict=True):
            part["groups"] = groups.only(slice(end - n, end))
    if all(_is_one_list({"qid": None} | part) for part in parts.values()):
        _refuse_weights(rows["sample_weight"], "separate samples of one list each")
        lists = []
        for ranker, part in parts.items():
            part |= {"scores": (scores[ranker],), "name": f"y_true[{ranker!r}]", **options}
            (influence,), of_rows = measure_influence(measure, conditional=conditional, **part)
            lists.append((influence, of_rows))
        joint = joint_samples(lists, conditional=conditional)
        return joint, list_target(measure, *map(list, zip(*lists, strict=True)))
    samples = [
        query_values_of(
            measure, scores={ranker: scores[ranker]}, **{"qid": None, **options, **part}
        )[ranker]
        for ranker, part in parts.items()
    ]
    if groups is None:
        joint = joint_independent([joint_means([sample]) for sample in samples])
    else:
        joint = joint_samples(
            [
                (mean_influences(x.values[np.newaxis], x.range, x.weight)[0], x.groups)
                for x in samples
            ]
        )
    return joint, f"mean {measure.name} over " + " and over ".join(s.size_text for s in samples)


def _refuse_weights(sample_weight: Any, what: str) -> None:
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight is not supported for {what}: pass qid for means over queries, leave"
            " sample_weight out, or compare on the same rows without method."
        )


def _compare_pairs(
    question: Question,
    scores: dict[str, Any],
    rows: dict[str, Any],
    method: str,
    rng: np.random.Generator,
) -> Comparison:
    """Tests of pairs by another method, adjusted by Holm's."""
    one_list = _is_one_list(rows)
    if one_list != (method == "swap"):
        methods = "'randomization', 't' or 'wilcoxon'" if method == "swap" else "'swap'"
        data = "one list" if one_list else "means over queries"
        raise ValueError(
            f"method={method!r} does not support {data}: pass method={methods}, or leave method"
            " out."
        )
    if one_list:
        _refuse_weights(rows["sample_weight"], "method='swap'")
        return swap_tests(question, rows["y_true"], scores, rows["groups"], rng)
    samples = query_values_of(question.measure, scores=scores, **rows)
    return compare_samples(question, samples, method, EXCHANGES, rng)
