"""Comparison of two or more rankers, for any measure and design: contrasts, max-t, exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isinf, nan
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import ndtr, stdtr, stdtrit
from scipy.stats import rankdata

from .._partitions import any_collection
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import (
    check_choice,
    check_flag,
    check_generator,
    check_level,
    check_resamples,
    is_number,
    ravelled,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._evidence import (
    Groups,
    JointEstimate,
    WeightMeaning,
    check_groups,
    check_joined_groups,
    check_one_list,
    check_pair_of_groups,
    check_two_classes,
    check_weight_meaning,
    dimensions,
    influence_of,
    joint_independent,
    joint_influence,
    joint_samples,
    least_variance,
    list_target,
    measure_influence,
    named_scores,
    never_certain_covariance,
    refuse_collections,
    refuse_grouped_collections,
    refuse_one_class,
    refuse_unknown,
)
from ._limits import ALTERNATIVES, CONTRAST_ALTERNATIVES, Alternative, holm_adjust
from ._queries import compare_samples, joint_means, query_values_of
from ._results import Comparison, level_of_both

Contrasts: TypeAlias = tuple[tuple[str, ...], FloatArray]


def read_contrasts(names: tuple[str, ...], contrasts: Any) -> Contrasts:
    """Titles and coefficients of contrasts of rankers; shape (n_contrasts, n_rankers)."""
    if contrasts is None:
        return _of_pairs(names, *np.triu_indices(len(names), 1))
    if isinstance(contrasts, str):
        baseline = _index(contrasts, names, f"contrasts={contrasts!r}")
        rankers = np.delete(np.arange(len(names)), baseline)
        return _of_pairs(names, rankers, np.full(len(rankers), baseline))
    if isinstance(contrasts, Mapping):
        rows = {
            str(title): _coefficients(repr(title), row, names) for title, row in contrasts.items()
        }
    elif isinstance(contrasts, list | tuple | np.ndarray):
        pairs = [_read_contrast(i, contrast, names) for i, contrast in enumerate(contrasts)]
        rows = dict(pairs)
        if len(rows) < len(pairs):
            raise ValueError("contrasts contains a contrast twice: pass each contrast once.")
    else:
        raise TypeError(
            f"contrasts={contrasts!r} must be None, the name of a ranker, a mapping of names to"
            " coefficients, or a list of pairs of names or of coefficients."
        )
    if not rows:
        raise ValueError("contrasts is empty: pass at least one contrast or None for all pairs.")
    return tuple(rows), np.stack(list(rows.values()))


def _of_pairs(names: tuple[str, ...], first: IntArray, second: IntArray) -> Contrasts:
    matrix = np.zeros((len(first), len(names)))
    row = np.arange(len(first))
    matrix[row, first], matrix[row, second] = 1.0, -1.0
    return tuple(f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True)), matrix


def _read_contrast(i: int, contrast: Any, names: tuple[str, ...]) -> tuple[str, FloatArray]:
    """Title and coefficients of a contrast that is a pair of names, or coefficients."""
    if isinstance(contrast, str):
        raise ValueError(
            f"contrasts[{i}]={contrast!r} is a single name: pass a pair of names, or"
            f" contrasts={contrast!r} to compare all others with it."
        )
    if isinstance(contrast, list | tuple) and any(isinstance(name, str) for name in contrast):
        pair = [_index(name, names, f"contrasts[{i}] names {name!r}, which") for name in contrast]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(
                f"contrasts[{i}]={contrast!r} must be two different names, or {len(names)}"
                " coefficients."
            )
        row = np.zeros(len(names))
        row[pair] = (1.0, -1.0)
    else:
        row = _coefficients(f"contrasts[{i}]", contrast, names)
    title = ""  # The positive coefficients come first.
    for sign, word in ((1.0, " + "), (-1.0, " - ")):
        for value, name in zip(row, names, strict=True):
            if value * sign > 0.0:
                size = "" if abs(value) == 1.0 else f"{abs(value):g} "
                title += f"{word if title else ''}{size}{name}"
    return title, row


def _index(name: Any, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise ValueError(
            f"{what} is not among the rankers {list(names)}: pass one of these names."
        )
    return names.index(name)


def _coefficients(title: str, coefficients: Any, names: tuple[str, ...]) -> FloatArray:
    try:
        row = np.asarray(coefficients, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.array(np.nan)
    if row.shape != (len(names),) or not np.isfinite(row).all():
        raise ValueError(
            f"The contrast {title} must be {len(names)} finite numbers, one per ranker."
        )
    if not row.any() or abs(row.sum()) > 1e-9 * np.abs(row).sum():
        raise ValueError(
            f"The contrast {title} sums to {row.sum():g} over {len(names)} rankers: its"
            " coefficients must sum to 0 and must not all be 0."
        )
    return row


# Eigenvalues that are smaller, relative to the largest, are 0 up to rounding.
RANK_TOLERANCE = 1e-12
# Draws of the largest of several statistics, and products that they may take in all.
FEWEST, MOST, FLOPS = 10_000, 100_000, 2 * 10**9
# Draws that are held at a time, and entries of a block of contrasts, which the cache holds.
CHUNK, BLOCK = 2**12, 2**18


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Matrix R with ``R R' = covariance``, of shape (n, rank)."""
    values, vectors = np.linalg.eigh(covariance)
    positive = values > RANK_TOLERANCE * values[-1]
    return vectors[:, positive] * np.sqrt(values[positive])


def normal_draws(root: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    for start in range(0, n_draws, CHUNK):
        yield rng.standard_normal((min(CHUNK, n_draws - start), root.shape[1])) @ root.T


def largest_of_contrasts(
    covariance: FloatArray,
    contrasts: FloatArray,
    rng: np.random.Generator,
    degrees: float = inf,
    *,
    signed: bool = False,
) -> FloatArray:
    """Draw the largest statistic of contrasts of normal variables, or Student's; ascending.

    There are 100,000 draws; fewer, at least 10,000, for so many contrasts that they take seconds.
    """
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0.0] = 1.0
    root = (contrasts * scale) @ covariance_root(covariance / np.outer(scale, scale))
    errors = np.sqrt(np.sum(root**2, axis=1, keepdims=True))
    # Contrasts that vary by rounding alone are as good as any one variable.
    varies = errors[:, 0] > RANK_TOLERANCE
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
    largest = np.sort(maxima.astype(np.float64))
    return largest if isinf(degrees) else stdtrit(degrees, ndtr(largest))


# Differences smaller than this, relative to the largest statistic, are treated as 0.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Question:
    """Checked alternative, margin and level of the test of each contrast."""

    alternative: str
    margin: float | None
    level: float

    @classmethod
    def of(
        cls, measure: Measure, alternative: str | None, margin: float | None, level: float
    ) -> Question:
        if alternative is None:
            alternative = "two-sided" if margin is None else "non-inferior"
        check_choice("alternative", alternative, CONTRAST_ALTERNATIVES)
        with_margin = alternative in ("non-inferior", "equivalent")
        if with_margin and margin is None:
            raise ValueError(
                f"alternative={alternative!r} needs a margin, the largest difference of no"
                " importance: pass margin=, in units of the measure."
            )
        if margin is not None:
            if not with_margin:
                raise ValueError(
                    f"margin={margin!r} is only for 'non-inferior' and 'equivalent', but"
                    f" alternative={alternative!r}: leave one of them out."
                )
            low, high = measure.counted_range
            if not is_number(margin) or not 0.0 < margin < high - low or not isfinite(margin):
                raise ValueError(
                    f"margin={margin!r} must be greater than 0 and less than {high - low:g}, the"
                    f" length of the range of {measure.name}: pass the largest difference of no"
                    " importance."
                )
            margin = float(margin)
        level_of_both(level, alternative)
        return cls(alternative, margin, level)

    def contrasts(
        self, names: tuple[str, ...], baseline: str | None, contrasts: Any = None
    ) -> Contrasts:
        """Return the contrasts with a baseline, those of the argument, or all pairs."""
        if baseline is not None:
            if contrasts is not None:
                raise ValueError("baseline and contrasts are both given: pass one of them.")
            _index(str(baseline), names, f"baseline={baseline!r}")
            return read_contrasts(names, str(baseline))
        if self.alternative == "non-inferior" and contrasts is None and len(names) > 2:
            raise ValueError(
                f"margin={self.margin:g} tests non-inferiority to a baseline, but there are"
                f" {len(names)} rankers and no baseline: pass baseline=, or"
                " alternative='equivalent'."
            )
        return read_contrasts(names, contrasts)


def joint_comparison(
    joint: JointEstimate,
    names: tuple[str, ...],
    contrasts: Contrasts,
    question: Question,
    rng: np.random.Generator,
    measure: Measure,
    target: str,
) -> Comparison:
    """Test all contrasts simultaneously by the distribution of the largest statistic."""
    titles, matrix = contrasts
    alternative, margin = question.alternative, question.margin or 0.0
    differences = matrix @ joint.estimates
    covariance, certain = _covariance(joint, matrix, differences)
    added = covariance is not joint.covariance or bool(certain.any())
    variances = _variances(matrix, covariance)
    variances[certain] = _variances(matrix[certain], joint.regularized)
    errors = np.sqrt(variances)
    uncertain = matrix if certain.all() else matrix[~certain]
    degrees = joint.spread.of(uncertain)
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
    critical = float(stdtrit(degrees, 1.0 - (1.0 - question.level) / tails / m))
    if m > 1:
        direction = {"less": -1.0, "non-inferior": sign}.get(alternative, 1.0)
        one_sided = alternative in ("greater", "less", "non-inferior")
        largest = largest_of_contrasts(
            covariance, direction * uncertain, rng, degrees, signed=one_sided
        )
        beyond = len(largest) - np.searchsorted(largest, extreme * (1.0 - 1e-12), "left")
        pvalues = np.minimum(pvalues, (1.0 + beyond) / (1.0 + len(largest)))
        critical = min(critical, float(np.quantile(largest, question.level, method="higher")))
    half = critical * errors
    reach = joint.length * np.abs(matrix).sum(axis=1) / 2.0
    hypothesis = f"equal {measure.name}"
    if question.margin is not None:
        relation = "worse" if alternative == "non-inferior" else "different"
        hypothesis = f"{measure.name} {relation} by {margin:g} or more"
    return Comparison(
        measure=measure.name,
        names=names,
        values=tuple(joint.estimates),
        standard_errors=tuple(np.sqrt(np.diag(covariance))),
        contrasts=titles,
        differences=tuple(differences),
        low=tuple(np.maximum(differences - half, -reach)),
        high=tuple(np.minimum(differences + half, reach)),
        statistics=tuple(statistics),
        pvalues=tuple(pvalues),
        level=question.level,
        alternative=alternative,
        margin=question.margin,
        method="max-t, added items" if added else "max-t",
        target=target,
        hypothesis=hypothesis,
        difference_errors=tuple(errors),
        greater_is_better=measure.greater_is_better,
    )


def _variances(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("mk,mk->m", matrix @ covariance, matrix))


def _covariance(
    joint: JointEstimate, matrix: FloatArray, differences: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Covariance for all contrasts, and which contrasts have neither value nor variance.

    It is that with the added items if a difference would otherwise be certain.
    """
    variances = _variances(matrix, joint.covariance)
    unknown = ~(variances > least_variance(differences, joint.length, joint.n_effective))
    zero = np.abs(differences) <= ROUNDING * np.abs(joint.estimates).max()
    certain = unknown & zero & ~np.isnan(variances)
    if np.array_equal(unknown, certain):
        return joint.covariance, certain
    covariance = never_certain_covariance(joint.estimates, joint.regularized, joint.n_effective)
    return covariance, np.zeros(len(matrix), dtype=bool)


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
        independent. Whole groups are exchanged. None means independent items; if they are not, the
        test rejects true hypotheses too often.
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
    measures need not be exchangeable; the test is asymptotically valid for them too, as each
    difference is divided by its standard error. The cost is O(n_resamples n log n) time and O(n)
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
    >>> round(found.estimate, 4), found.pvalue
    (0.3125, 0.497)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    scores = {"a": y_score_a, "b": y_score_b}
    question = Question(alternative, None, check_level(level))
    draws = check_resamples(n_resamples), check_generator(random_state)
    options = (question, *draws, groups, pos_label)
    return swap_tests(get_measure(measure), y_true, scores, [("a", "b")], *options)


def swap_tests(
    measure: Measure,
    y_true: Any,
    scores: Mapping[str, Any],
    pairs: Sequence[tuple[str, str]],
    question: Question,
    n_resamples: int,
    rng: np.random.Generator,
    groups: Any,
    pos_label: Any,
) -> Comparison:
    refuse_collections("scores are exchanged row by row", y_true=y_true, **scores, groups=groups)
    lists = {name: check_two_classes(y_true, score, pos_label) for name, score in scores.items()}
    positive = next(iter(lists.values())).positive
    n = len(positive)
    dependent = check_groups(groups, n)
    unit = np.arange(n) if dependent is None else dependent.codes
    ranks = {name: rankdata(data.score) for name, data in lists.items()}
    influences, _ = measure_influence(measure, positive, [*ranks.values()])
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
        if question.alternative == "two-sided":
            observed, draws = abs(observed), np.abs(draws)
        elif question.alternative == "less":
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
        level=question.level,
        alternative=question.alternative,
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
    (a, b), _ = measure_influence(measure, positive, (ranks[0], ranks[1]))
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
        independent. None means independent items; the test rejects too often if they are not.
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
    If the influence values have almost no variance, as for two perfect rankings or one item of a
    class, half an item is added at either end of the list in both classes. No difference is
    certain then, and the method is named "max-t, added items". The degrees of freedom follow
    Satterthwaite's rule with ``n_pos - 1`` and ``n_neg - 1``. If few items distinguish the
    scorers, the test rejects too seldom: at AUC .98 with 30 positives and 30 negatives, in at most
    .004 at the 5 % level. The cost is O(n log n) time and O(n) memory.

    With ``groups`` the variance is the sum over groups of the squared contributions of their
    items, that of either class over ``sqrt(1 - share)`` of its fraction of the class. Instead of
    items their effective number counts, ``(sum of s^2)^2 / sum of s^4`` for groups of s items of a
    class (measured rejection rates in :doc:`/benchmarks/inference`).

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
    rows = {"y_true": y_true, "groups": groups, "pos_label": pos_label}
    joint, target = _of_one_list(measure, (y_score_a, y_score_b), rows, conditional)
    return _test(joint, alternative, level, measure, target)


def _of_one_list(
    measure: Measure, scores: tuple[Any, ...], rows: dict[str, Any], conditional: bool
) -> tuple[JointEstimate, str]:
    influences, groups = measure_influence(measure, scores=scores, conditional=conditional, **rows)
    joint = joint_influence(influences, conditional=conditional, groups=groups)
    return joint, list_target(measure, influences[:1], [groups])


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
    it, a difference may be due to it and not to the scorers. Differences without variation and
    groups are treated as in :func:`paired_rank_test`. The cost is O(n log n) time and O(n) memory.
    Dask collections (without ``groups``) are counted chunk by chunk, and the counts collected in
    this process: O(m) memory for m distinct pairs of a score and a class.

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
    check_pair_of_groups(groups)
    samples = {"y_true_a": (y_true_a, y_score_a), "y_true_b": (y_true_b, y_score_b)}
    joint, target = _separate_lists(measure, samples, groups, conditional, pos_label)
    return _test(joint, alternative, level, measure, target)


def _separate_lists(
    measure: Measure,
    samples: Mapping[str, tuple[Any, Any]],
    groups: Sequence[Any] | None,
    conditional: bool,
    pos_label: Any,
) -> tuple[JointEstimate, str]:
    """Joint estimate of one list each, of labels by name and scores, and its description."""
    influences = []
    for name, (y_true, y_score) in samples.items():
        if any_collection(y_true, y_score):
            refuse_unknown(measure)
            data = check_one_list(measure, y_true, y_score, pos_label=pos_label).data
            refuse_one_class(data)
            influences.append(influence_of(measure, data, conditional=conditional))
        else:
            options = {"conditional": conditional, "pos_label": pos_label, "name": name}
            influences += measure_influence(measure, y_true, (y_score,), **options)[0]
    parts: list[Groups | None] = [None] * len(influences)
    if groups is not None:
        sizes = [len(influence.positive) for influence in influences]
        joined, ends = check_joined_groups(groups, sizes), np.cumsum(sizes)
        parts = [joined.only(slice(end - n, end)) for n, end in zip(sizes, ends, strict=True)]
    joint = joint_samples(list(zip(influences, parts, strict=True)), conditional=conditional)
    return joint, list_target(measure, influences, parts)


def _test(
    joint: JointEstimate, alternative: Alternative, level: float, measure: Measure, target: str
) -> Comparison:
    """Compare two scorers as `compare` does, whose single contrast needs no draws."""
    names = ("a", "b")
    question = Question.of(measure, alternative, None, level)
    contrasts, rng = read_contrasts(names, None), np.random.default_rng(0)
    return joint_comparison(joint, names, contrasts, question, rng, measure, target)


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
        way. None means independent items or queries; the test rejects too often if they are not.
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
    The largest statistic has the distribution of the maximum of correlated normal variables, from
    up to 100,000 draws, with Student's quantiles. Limits are never wider than Bonferroni's. The
    degrees of freedom are the smallest over the contrasts: items use Satterthwaite's rule with
    ``n_pos - 1`` and ``n_neg - 1``, n queries have ``n - 1``, ``paired=False`` uses Welch's rule.
    Groups and contrasts without variation are treated as in :func:`paired_rank_test`; for means
    over queries, half a query is added at either end of the range.

    With a margin, the null hypothesis is a difference equal to the margin. "equivalent" makes two
    one-sided tests [3]_: equivalence is shown if the interval, with ``level`` on either side, lies
    within the margin. The attribute ``conclusions`` states the result for each contrast; with
    "non-inferior" also superiority, which needs no further adjustment.

    Measured rejection rates, some of which exceed the level with a margin, are in
    :doc:`/benchmarks/inference`.

    For K rankers the cost is O(n K log n) time and O(n K) memory, plus the draws. With ``qid`` and
    without groups, rows may be dask collections: the values of the queries are collected in this
    process.

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
    rows |= {"weights": weights, "pos_label": pos_label}
    if check_weight_meaning(weights, sample_weight):
        conditional = False
    if method != "auto":
        if margin is not None or not paired:
            argument = "paired=False" if not paired else "margin"
            raise ValueError(f"method={method!r} does not support {argument}: leave method out.")
        return _compare_pairs(measure, scores, rows, contrasts, question, method, n_resamples, rng)
    estimate = _same_rows if paired else _separate_rows
    joint, target = estimate(measure, scores, rows, conditional)
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
    measure: Measure, scores: dict[str, Any], rows: dict[str, Any], conditional: bool
) -> tuple[JointEstimate, str]:
    y_true = rows["y_true"]
    if not any_collection(y_true):
        y_true = ravelled(y_true, "y_true")
    if rows["qid"] is None and dimensions(y_true) != 2:
        of_list = {name: value for name, value in rows.items() if name != "qid"}
        of_list["y_true"] = y_true
        return _of_one_list(measure, tuple(scores.values()), of_list, conditional)
    samples = list(query_values_of(measure, scores=scores, **rows).values())
    joint = joint_means(samples)
    return joint, f"mean {measure.name} over {samples[0].size_text}"


def _separate_rows(
    measure: Measure, scores: dict[str, Any], rows: dict[str, Any], conditional: bool
) -> tuple[JointEstimate, str]:
    """Joint estimate of rankers on separate rows, and its description."""
    options = {"weights": rows.pop("weights"), "pos_label": rows.pop("pos_label")}
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
        lists = {
            f"y_true[{ranker!r}]": (part["y_true"], scores[ranker])
            for ranker, part in parts.items()
        }
        groups = [part["groups"] for part in parts.values()] if "groups" in columns else None
        return _separate_lists(measure, lists, groups, conditional, options["pos_label"])
    samples = [
        query_values_of(
            measure, scores={ranker: scores[ranker]}, **{"qid": None, **options, **part}
        )[ranker]
        for ranker, part in parts.items()
    ]
    joint = joint_independent([joint_means([sample]) for sample in samples])
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
        options = (question, n_resamples, rng, rows["groups"], rows["pos_label"])
        return swap_tests(measure, rows["y_true"], scores, pairs, *options)
    alternative: Any = question.alternative
    samples = query_values_of(measure, scores=scores, **rows)
    of_test = (method, alternative, question.level, n_resamples)
    return compare_samples(measure, samples, pairs, *of_test, rng)
