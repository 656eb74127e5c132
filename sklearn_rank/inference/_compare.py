"""Comparison of two or more rankers, for any measure and design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .._arguments import check_choice, check_flag, check_generator, check_level, check_resamples
from .._partitions import any_collection
from .._validation import ravelled
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._comparison import Contrasts, Question, joint_comparison
from ._influence import (
    JointEstimate,
    joint_independent,
    joint_influence,
    joint_query_means,
    joint_samples,
    list_target,
    sample_influence,
    weighted_influence,
)
from ._paired import SWAPS, swap_tests
from ._queries import ComparisonOptions, compare_samples, query_values_of
from ._results import Comparison
from ._samples import (
    WeightMeaning,
    check_groups_of_samples,
    check_weight_meaning,
    dimensions,
    named_scores,
)


def compare(
    measure: MeasureLike,
    y_true: Any,
    scores: Any,
    y_score_b: Any = None,
    *,
    baseline: str | None = None,
    contrasts: Any = None,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    margin: float | None = None,
    alternative: Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]
    | None = None,
    paired: bool = True,
    level: float = 0.95,
    method: Literal["auto", "randomization", "t", "wilcoxon", "swap"] = "auto",
    conditional: bool = True,
    n_resamples: int | None = None,
    random_state: Any = None,
    pos_label: Any = None,
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
        Labels of two classes; with ``qid`` labels or relevance grades, as the measure requires. A
        two-dimensional array has one query per row. With ``paired=False`` a mapping from names to
        labels.
    scores : mapping of str to array-like, data frame, or array-like of shape (n_samples,)
        Scores of the rankers by name, or a pandas or polars data frame with one column per ranker,
        or the scores of ranker ``"a"``. A higher score ranks an item nearer to the top.
    y_score_b : array-like of shape (n_samples,), default=None
        Scores of ranker ``"b"``, if ``scores`` holds those of ``"a"``.
    baseline : str or None, default=None
        Ranker that every other ranker is compared with, ``other - baseline``. None means all
        pairs.
    contrasts : mapping, list or None, default=None
        Contrasts to use instead of ``baseline``. A mapping gives each contrast a name and one
        coefficient per ranker, which sum to 0. A list holds pairs of names, ``("a", "b")`` for ``a
        - b``, or coefficients without a name.
    qid : array-like of shape (n_samples,), or mapping, default=None
        Query id of each row, in any order. The measure is then averaged over queries, and the
        queries are the sample. None means one list, or two-dimensional input.
    groups : array-like of shape (n_samples,), or mapping, default=None
        Id of the group (patient, user) of each row, or of each query for two-dimensional input.
        Rows of different groups are independent, rows of one group may depend on each other in any
        way. None means independent items or queries; if they are not, the test rejects true
        hypotheses much too often.
    sample_weight : array-like of shape (n_samples,), or mapping, default=None
        Weights of the rows, for measures that support weights; ``weights`` says what they mean.
    weights : {"frequency", "sampling"} or None, default=None
        What ``sample_weight`` is; required with it. "frequency": each row stands for that many
        identical rows, a whole number. "sampling": each row was drawn once, with a probability
        proportional to 1 / weight; with ``qid`` each query was, and all its rows have its weight.
    margin : float or None, default=None
        Largest difference that is of no importance, in units of the measure, greater than 0. With
        the default ``alternative`` the test is of non-inferiority: the first ranker of each
        contrast is worse than the second by less than ``margin``. This respects measures for which
        lower is better.
    alternative : {"two-sided", "less", "greater", "non-inferior", "equivalent"}, default=None
        Alternative hypothesis of each contrast: the difference is not 0; below 0; above 0; not
        worse by ``margin`` or more; or smaller than ``margin`` in both directions. None means
        "two-sided" without a margin and "non-inferior" with one.
    paired : bool, default=True
        Whether all rankers scored the same rows. If False, each ranker has its own data:
        ``y_true``, ``scores``, and ``qid``, ``groups`` and ``sample_weight`` if given, are
        mappings with the same names. For measures of one list, an id of ``groups`` that occurs in
        two samples is one group, and the samples depend on each other through it. Means over
        queries treat the samples as independent and such an id as two groups.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals hold. For a one-sided alternative and
        for "equivalent" it is the probability for the limits on one side. The tests are at level
        ``1 - level``.
    method : {"auto", "randomization", "t", "wilcoxon", "swap"}, default="auto"
        "auto" is max-t. "randomization", "t" and "wilcoxon" are the tests of
        :func:`paired_query_test`, for queries. "swap" is the test of :func:`paired_swap_test`, for
        one list. All except "auto" adjust p-values by Holm's method and limits by Bonferroni's.
    conditional : bool, default=True
        Whether the labels of one list are treated as fixed. With ``weights="sampling"`` they are
        random.
    n_resamples : int or None, default=None
        Number of random exchanges for "randomization", "swap" and, with groups, "wilcoxon"; at
        least 99. None means the default of the function of that test: 999 for "swap", which ranks
        all items anew in each, and 10,000 for the others.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the exchanges and of the max-t draws, which change
        limits in the third digit. Pass an int for reproducible results. A single contrast with
        "auto" needs none.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

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
    paired_rank_test, unpaired_rank_test : Test of two rankers on one list.
    paired_query_test : Randomization test of two rankers over queries.

    Notes
    -----
    The distribution of the largest statistic is that of the maximum of correlated normal
    variables, estimated from up to 100,000 draws, with Student's quantiles in place of normal
    ones. Limits are never wider than Bonferroni's. The degrees of freedom are the smallest over
    the contrasts. Items use Satterthwaite's rule with ``n_pos - 1`` and ``n_neg - 1``, n queries
    have ``n - 1``, ``paired=False`` uses Welch's rule, and groups are treated as in
    :func:`paired_rank_test`.

    With a margin, the null hypothesis of the p-value is a difference equal to the margin.
    "equivalent" makes two one-sided tests [3]_. Equivalence is shown if the interval, with
    ``level`` on either side, lies within the margin. For several contrasts its limits are
    two-sided, or Bonferroni's if these are narrower. The attribute ``conclusions`` states the
    result for each contrast. With "non-inferior" it also states superiority, which needs no
    further adjustment.

    At the 5 % level, true hypotheses were rejected in 4 % of samples on average over 360 cells:
    nine measures of lists and queries, rows and groups, ten or a hundred positives. Five cells,
    all with a margin, exceeded .065 by more than chance: ``"bedroc@20"`` in groups (.15 to .18),
    ``"local_auc@0.8"`` with 10 positives (.17) and ``"precision@1"`` over ten queries (.18). The
    table is in :doc:`/benchmarks/inference`.

    A contrast without variation is treated as in :func:`paired_rank_test`. For means over queries,
    half a query is added at either end of the range of the measure. For K rankers the cost is O(n
    K log n) time and O(n K) memory, plus the draws. With ``qid`` and without groups, rows may be
    dask collections: the values of the queries are collected in this process.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Hothorn, Bretz & Westfall (2008), *Simultaneous inference in general parametric
       models*, Biometrical Journal 50.
    .. [3] Schuirmann (1987), *A comparison of the two one-sided tests procedure and the power
       approach for assessing the equivalence of average bioavailability*, Journal of
       Pharmacokinetics and Biopharmaceutics 15.

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
    b - c        +0.2225  [+0.1507, +0.2942]  1.84e-09  b better

    Test whether "a" is worse than "b" by less than 0.05:

    >>> compare("auc", y, scores["a"], scores["b"], margin=0.05).conclusions
    ('a not worse by 0.05 or more: shown; better: not shown',)
    """
    level, conditional = check_level(level), check_flag("conditional", conditional)
    paired, measure = check_flag("paired", paired), get_measure(measure)
    check_choice("method", method, ("auto", "randomization", "t", "wilcoxon", "swap"))
    if n_resamples is None:
        n_resamples = SWAPS if method == "swap" else 10_000
    n_resamples, rng = check_resamples(n_resamples), check_generator(random_state)
    scores = _named(scores, y_score_b)
    names = tuple(scores)
    question = Question.of(measure, alternative, margin, level)
    contrasts = question.contrasts(names, baseline, contrasts)
    rows = {"y_true": y_true, "qid": qid, "groups": groups, "sample_weight": sample_weight}
    for name, column in rows.items():
        if column is not None and isinstance(column, Mapping) == paired:
            raise TypeError(
                f"{name} is a mapping, which paired=True does not support: pass paired=False, or"
                " one array for all rankers."
                if paired
                else f"{name} is not a mapping, but paired=False means separate data for each"
                " ranker: pass a mapping with the names of scores, or leave paired=False out."
            )
    rows["weights"] = weights
    if check_weight_meaning(weights, sample_weight):
        conditional = False
    if method != "auto":
        if margin is not None or not paired:
            argument = "paired=False" if not paired else "margin"
            raise ValueError(f"method={method!r} does not support {argument}: leave method out.")
        return _compare_pairs(
            measure, scores, rows, contrasts, question, method, n_resamples, rng, pos_label
        )
    estimate = _same_rows if paired else _separate_rows
    joint, target = estimate(measure, scores, rows, conditional, pos_label)
    return joint_comparison(joint, names, contrasts, question, rng, measure, target)


def _named(scores: Any, y_score_b: Any) -> dict[str, Any]:
    """Scores by name; two arrays are named a and b."""
    named = isinstance(scores, Mapping) or hasattr(scores, "columns")
    if y_score_b is None:
        return named_scores(scores, name="scores")
    if (named and not hasattr(scores, "divisions")) or isinstance(y_score_b, Mapping):
        raise TypeError(
            "scores is a mapping and y_score_b is given as well: pass either a mapping of all"
            " rankers, or two arrays."
        )
    return {"a": scores, "b": y_score_b}


def _same_rows(
    measure: Measure,
    scores: dict[str, Any],
    rows: dict[str, Any],
    conditional: bool,
    pos_label: Any,
) -> tuple[JointEstimate, str]:
    """Joint estimate of rankers on the same rows, and its description."""
    y_true = rows["y_true"]
    if not any_collection(y_true):
        y_true = ravelled(y_true, "y_true")
    if rows["qid"] is None and dimensions(y_true) != 2:
        influences, groups = weighted_influence(
            measure,
            y_true,
            tuple(scores.values()),
            rows["sample_weight"],
            rows["weights"],
            rows["groups"],
            conditional=conditional,
            pos_label=pos_label,
        )
        joint = joint_influence(influences, conditional=conditional, groups=groups)
        return joint, list_target(measure, influences[:1], [groups])
    samples = list(query_values_of(measure, scores=scores, pos_label=pos_label, **rows).values())
    low, high = measure.counted_range
    values = np.stack([sample.values for sample in samples])
    joint = joint_query_means(values, high - low, samples[0].groups, samples[0].weight)
    return joint, f"mean {measure.name} over {samples[0].size_text}"


def _separate_rows(
    measure: Measure,
    scores: dict[str, Any],
    rows: dict[str, Any],
    conditional: bool,
    pos_label: Any,
) -> tuple[JointEstimate, str]:
    """Joint estimate of rankers on separate rows, and its description."""
    weights = rows.pop("weights")
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
    if "qid" not in columns and dimensions(next(iter(parts.values()))["y_true"]) != 2:
        _refuse_weights(rows["sample_weight"], "separate samples of one list each")
        influences = [
            sample_influence(
                measure,
                part["y_true"],
                scores[ranker],
                conditional=conditional,
                pos_label=pos_label,
                name=f"y_true[{ranker!r}]",
            )
            for ranker, part in parts.items()
        ]
        groups = check_groups_of_samples(
            [part["groups"] for part in parts.values()] if "groups" in columns else None,
            [len(influence.positive) for influence in influences],
        )
        joint = joint_samples(list(zip(influences, groups, strict=True)), conditional=conditional)
        return joint, list_target(measure, influences, groups)
    samples = [
        query_values_of(
            measure,
            scores={ranker: scores[ranker]},
            weights=weights,
            pos_label=pos_label,
            **{"qid": None, **part},
        )[ranker]
        for ranker, part in parts.items()
    ]
    low, high = measure.counted_range
    joint = joint_independent(
        [joint_query_means(x.values[np.newaxis], high - low, x.groups, x.weight) for x in samples]
    )
    return joint, f"mean {measure.name} over " + " and over ".join(s.size_text for s in samples)


def _refuse_weights(sample_weight: Any, what: str) -> None:
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight is not supported for {what}: pass qid for means over queries, leave"
            " sample_weight out, or compare on the same rows without method."
        )


def _compare_pairs(
    measure: Measure,
    scores: dict[str, Any],
    rows: dict[str, Any],
    contrasts: Contrasts,
    question: Question,
    method: str,
    n_resamples: int,
    rng: np.random.Generator,
    pos_label: Any,
) -> Comparison:
    """Tests of pairs by another method, adjusted by Holm's."""
    _, matrix = contrasts
    is_pair = (np.count_nonzero(matrix, axis=1) == 2) & (np.abs(matrix).max(axis=1) == 1.0)
    if not is_pair.all():
        raise ValueError(
            f"method={method!r} compares pairs of rankers, but contrasts has other coefficients:"
            " pass pairs of names, or leave method out."
        )
    names = tuple(scores)
    ends = zip(matrix.argmax(axis=1), matrix.argmin(axis=1), strict=True)
    pairs = [(names[i], names[j]) for i, j in ends]
    one_list = rows["qid"] is None and dimensions(ravelled(rows["y_true"], "y_true")) != 2
    if one_list != (method == "swap"):
        methods = "'randomization', 't' or 'wilcoxon'" if method == "swap" else "'swap'"
        data = "one list" if one_list else "means over queries"
        raise ValueError(
            f"method={method!r} does not support {data}: pass method={methods}, or leave method"
            " out."
        )
    if one_list:
        _refuse_weights(rows["sample_weight"], "method='swap'")
        return swap_tests(
            measure,
            rows["y_true"],
            scores,
            pairs,
            alternative=question.alternative,
            level=question.level,
            n_resamples=n_resamples,
            rng=rng,
            groups=rows["groups"],
            pos_label=pos_label,
        )
    alternative: Any = question.alternative
    options = ComparisonOptions(method, alternative, question.level, n_resamples)
    samples = query_values_of(measure, scores=scores, pos_label=pos_label, **rows)
    return compare_samples(samples, pairs, options, rng, measure)
