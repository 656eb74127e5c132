"""Any number of rankers on the same items: joint test, contrasts, simultaneous intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_flag, check_generator, check_level
from .._partitions import any_collection
from .._typing import BoolArray, FloatArray
from .._validation import ravelled
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike
from ._contrasts import read_contrasts
from ._groups import check_groups
from ._joint import (
    JointEstimate,
    joint_influence,
    joint_query_means,
    least_variance,
    never_certain_covariance,
)
from ._max_t import largest_statistics
from ._measure_influence import list_target, measure_influence
from ._normal_test import pvalue_of
from ._query_values import query_values_of
from ._results import Comparison
from ._systems import named_scores
from ._two_classes import dimensions

__all__ = ["compare_rankers", "joint_comparison"]

# Draws from which the largest of several statistics is known.
DRAWS = 100_000

# Differences that are smaller, relative to the largest statistic, are none.
ROUNDING = 1e-12


def compare_rankers(
    y_true: Any,
    y_scores: Any,
    *,
    measure: MeasureLike = "auc",
    qid: Any = None,
    contrasts: Any = None,
    level: float = 0.95,
    conditional: bool = True,
    groups: Any = None,
    random_state: Any = None,
    pos_label: Any = None,
) -> Comparison:
    """Compare a measure of several scorers on the same items.

    The covariance is that of the influence values, item by item, or with ``qid`` of the values of
    the queries, or of their sums over groups. Each contrast has an interval and all of them hold
    together; that all contrasts are 0 is rejected where one of the intervals leaves 0 out.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present; with ``qid`` labels or grades as the measure takes
        them.
    y_scores : mapping of str to array-like of shape (n_samples,), or data frame
        Scores of at least two scorers by name; higher is nearer to the top. Columns of a data
        frame of pandas or polars are scorers.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        With ``qid`` any measure of a list; without it one of which the influence of single items
        is known: ``"auc"``, ``"local_auc@0.8"``, ``"bedroc@20"``, a score-generating function (its
        statistic between the worst and the best order), or ``make_measure(..., influence=)``. As
        :func:`sklearn_rank.metrics.get_measure` takes it.
    qid : array-like of shape (n_samples,), default=None
        Id of the query of each row, the rows in any order. The statistics are then means over the
        queries, which are the sample; in two dimensions each row is a query. None is one list.
    contrasts : str, mapping, list or None, default=None
        None is all pairs; the name of a scorer compares every other one with it; a mapping gives
        the coefficients of each contrast by name, in the order of ``y_scores``, which sum to 0; a
        list holds pairs of names, ``("a", "b")`` for a - b, or coefficients without a name.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals cover.
    conditional : bool, default=True
        Whether the labels of one list count as fixed: the target is then at their share of
        positives.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row; rows of different groups are independent,
        those of one group may depend on each other in any way. With ``qid`` it is the group of
        the query, in two dimensions of shape (n_queries,). None is independent items or queries:
        rows that depend on each other then reject true hypotheses far too often.
    random_state : int, Generator, RandomState or None, default=None
        Source of the draws from which the distribution of the largest statistic is known; None is
        fresh, and moves limits in their third digit.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    Comparison
        Values of the scorers, and the contrasts with their intervals and p-values.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the influence of single items on the
        measure is not known and there is no ``qid``, fewer than two queries have a value, there is
        one group only, or a query lies in several.
    TypeError
        If ``y_scores`` or ``contrasts`` is of another type, or ``conditional`` is no bool.

    See Also
    --------
    paired_rank_test : Two scorers; without groups by the normal distribution.
    paired_query_tests : Several systems on many queries.

    Notes
    -----
    The largest of the absolute statistics has the distribution of that of correlated normal
    variables, taken from 100,000 draws, with Student's quantiles in place of normal ones, since
    each has a variance of its own: shorter intervals than Bonferroni's, and p-values below 1e-4
    are Bonferroni's. The degrees of freedom are the least over the contrasts: by
    Satterthwaite's rule from ``n_pos - 1`` and ``n_neg - 1`` for items, ``n - 1`` for n queries,
    and with groups as in :func:`paired_rank_test`. At 5 % the hypothesis that all contrasts are 0
    was rejected in 0 to 6 % of the samples where it is true, over 21 designs: 5 rankers at
    10/90, 20 at 20/180, heavy tails, 5 positives, strongly correlated rankers, queries and groups
    (the user guide has the table).

    A contrast without any variation is treated as by :func:`paired_rank_test`, with half a query
    at either end of the range of the measure for means over queries. O(n K log n) time for K
    scorers and O(n K) memory, beyond the draws. With ``qid`` and without groups rows may be dask
    collections: the values of the queries come to this process.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson (1988), *Comparing the areas under two or more
       correlated receiver operating characteristic curves*, Biometrics 44.
    .. [2] Hothorn, Bretz & Westfall (2008), *Simultaneous inference in general parametric
       models*, Biometrical Journal 50.

    Examples
    --------
    >>> from sklearn_rank.inference import compare_rankers
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"a": [8, 7, 6, 3, 5, 4, 2, 1], "b": [8, 2, 6, 3, 5, 4, 7, 1],
    ...           "c": [8, 3, 6, 7, 1, 4, 5, 2]}
    >>> found = compare_rankers(y_true, scores, contrasts="c")
    >>> {name: round(found[name].estimate, 4) for name in found}
    {'a - c': 0.0, 'b - c': -0.3125}
    """
    level, conditional = check_level(level), check_flag("conditional", conditional)
    measure = get_measure(measure)
    scores = named_scores(y_scores, name="y_scores")
    names = tuple(scores)
    rows = read_contrasts(names, contrasts)
    rng = check_generator(random_state)
    if not any_collection(y_true):
        y_true = ravelled(y_true, "y_true")
    if qid is None and dimensions(y_true) != 2:
        found = measure_influence(
            measure,
            y_true,
            tuple(scores.values()),
            conditional=conditional,
            pos_label=pos_label,
        )
        dependent = check_groups(groups, len(found[0].positive))
        joint = joint_influence(found, conditional=conditional, groups=dependent)
        target = list_target(measure, found[:1], [dependent])
    else:
        samples = list(
            query_values_of(
                measure, y_true, scores, qid=qid, groups=groups, pos_label=pos_label
            ).values()
        )
        low, high = measure.counted_range
        values = np.stack([one.values for one in samples])
        joint = joint_query_means(values, high - low, samples[0].groups)
        target = f"mean {measure.name} over {samples[0].counted}"
    return joint_comparison(joint, names, rows, level, rng, measure, target)


def joint_comparison(
    joint: JointEstimate,
    names: tuple[str, ...],
    rows: dict[str, FloatArray],
    level: float,
    rng: np.random.Generator,
    measure: Measure,
    target: str,
) -> Comparison:
    """Test all contrasts together, and each with the largest of all in mind.

    Parameters
    ----------
    joint : JointEstimate
        Values of the rankers, and how they vary together.
    names : tuple of str
        The rankers.
    rows : dict of str to ndarray of shape (n_rankers,)
        Coefficients of each contrast, by its name.
    level : float
        Probability with which all intervals hold.
    rng : numpy.random.Generator
        Source of the draws.
    measure : Measure
        The measure.
    target : str
        What the values are of.

    Returns
    -------
    Comparison
        Differences, simultaneous intervals and adjusted p-values.
    """
    matrix = np.stack(list(rows.values()))
    differences = matrix @ joint.estimates
    covariance, certain = _covariance(joint, matrix, differences)
    contrast_covariance = matrix @ covariance @ matrix.T
    variances = np.diag(contrast_covariance).copy()
    variances[certain] = np.diag(matrix @ joint.regularized @ matrix.T)[certain]
    errors = np.sqrt(variances)
    uncertain = contrast_covariance[np.ix_(~certain, ~certain)]
    degrees = min(joint.spread.of(row) for row in (matrix if certain.all() else matrix[~certain]))
    largest = largest_statistics(
        uncertain if len(uncertain) else np.ones((1, 1)), DRAWS, rng, degrees
    )
    critical = float(np.quantile(largest, level, method="higher"))
    reach = joint.length * np.abs(matrix).sum(axis=1) / 2.0
    half = critical * errors
    statistics = differences / errors
    return Comparison(
        measure=measure.name,
        names=names,
        values=tuple(joint.estimates),
        standard_errors=tuple(np.sqrt(np.diag(covariance))),
        contrasts=tuple(rows),
        differences=tuple(differences),
        low=tuple(np.maximum(differences - half, -reach)),
        high=tuple(np.minimum(differences + half, reach)),
        statistics=tuple(statistics),
        pvalues=tuple(_adjusted(z, largest, len(rows), degrees) for z in statistics.tolist()),
        level=level,
        alternative="two-sided",
        margin=None,
        method="max-t",
        target=target,
        hypothesis=f"equal {measure.name}",
        difference_errors=tuple(errors),
        greater_is_better=measure.greater_is_better,
    )


def _covariance(
    joint: JointEstimate, matrix: FloatArray, differences: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """One covariance for all contrasts, and which contrasts have neither value nor variance.

    It is that with the added items if a difference would else be certain.
    """
    variances = np.diag(matrix @ joint.covariance @ matrix.T)
    unknown = ~(variances > least_variance(differences, joint.length, joint.n_effective))
    none = np.abs(differences) <= ROUNDING * np.abs(joint.estimates).max()
    certain = unknown & none & ~np.isnan(variances)
    if np.array_equal(unknown, certain):
        return joint.covariance, certain
    covariance = never_certain_covariance(joint.estimates, joint.regularized, joint.n_effective)
    return covariance, np.zeros(len(matrix), dtype=bool)


def _adjusted(z: float, largest: FloatArray, n_contrasts: int, degrees: float) -> float:
    """P-value, adjusted for the number of contrasts, from the draws or by Bonferroni."""
    beyond = len(largest) - int(np.searchsorted(largest, abs(z) * (1.0 - 1e-12), "left"))
    pvalue = (1.0 + beyond) / (1.0 + len(largest))
    if pvalue < 1e-4:
        return min(pvalue, n_contrasts * pvalue_of(z, "two-sided", degrees))
    return pvalue
