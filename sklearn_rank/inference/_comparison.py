"""Any number of rankers on the same items: joint test, contrasts, simultaneous intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc

from .._arguments import check_generator, check_level
from .._typing import BoolArray, FloatArray
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._contrasts import read_contrasts
from ._joint import (
    JointEstimate,
    joint_influence,
    joint_query_means,
    least_variance,
    never_certain_covariance,
)
from ._max_t import largest_statistics
from ._measure_influence import measure_influence
from ._normal_test import normal_pvalue
from ._query_values import query_values_of
from ._results import Interval, RankTestResult

__all__ = ["RankerComparison", "compare_rankers"]

# Draws from which the largest of several statistics is known.
DRAWS = 100_000

# Differences that are smaller, relative to the largest statistic, are none.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class RankerComparison:
    """Outcome of a comparison of several rankers on the same items.

    Parameters
    ----------
    names : tuple of str
        The rankers.
    estimates : ndarray of shape (n_rankers,)
        Their statistics.
    covariance : ndarray of shape (n_rankers, n_rankers)
        Covariance of the statistics.
    statistic : float
        Chi-square statistic of the hypothesis that all contrasts are 0.
    degrees_of_freedom : int
        Rank of the covariance of the contrasts.
    pvalue : float
        P-value of that hypothesis.
    contrasts : dict of str to RankTestResult
        For each contrast its estimate, its p-value adjusted for their number, and an interval;
        all intervals together cover with the probability ``level``.
    critical_value : float
        Half width of the intervals in standard errors.
    level : float
        That probability.

    Examples
    --------
    >>> from sklearn_rank.inference import compare_rankers
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"a": [8, 7, 6, 3, 5, 4, 2, 1], "b": [8, 2, 6, 3, 5, 4, 7, 1],
    ...           "c": [8, 3, 6, 7, 1, 4, 5, 2]}
    >>> found = compare_rankers(y_true, scores, random_state=0)
    >>> list(found.contrasts)
    ['a - b', 'a - c', 'b - c']
    """

    names: tuple[str, ...]
    estimates: FloatArray
    covariance: FloatArray
    statistic: float
    degrees_of_freedom: int
    pvalue: float
    contrasts: dict[str, RankTestResult]
    critical_value: float
    level: float

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, *self.contrasts))
        errors = np.sqrt(np.diag(self.covariance))
        lines = [
            f"{name:{width}}  {value:.4f}  (se {error:.4f})"
            for name, value, error in zip(self.names, self.estimates, errors, strict=True)
        ]
        lines.append(
            f"all contrasts 0: chi-square {self.statistic:.4g} on {self.degrees_of_freedom},"
            f" p = {self.pvalue:.4g}"
        )
        for name, test in self.contrasts.items():
            limits = test.interval
            if limits is not None:
                lines.append(
                    f"{name:{width}}  {test.estimate:+.4f} [{limits.low:+.4f}, {limits.high:+.4f}]"
                    f"  p = {test.pvalue:.2g}"
                )
        lines.append(f"(simultaneous at {100 * self.level:.4g} %, max-t)")
        return "\n".join(lines)


def compare_rankers(
    y_true: Any,
    y_scores: Mapping[str, Any],
    *,
    measure: MeasureLike = "auc",
    qid: Any = None,
    contrasts: str | Mapping[str, Any] | None = None,
    level: float = 0.95,
    conditional: bool = True,
    random_state: Any = None,
    pos_label: Any = None,
) -> RankerComparison:
    """Compare a measure of several scorers on the same items.

    The covariance is that of the influence values, item by item, or with ``qid`` of the values of
    the queries. The hypothesis that all contrasts are 0 has the statistic ``d' (C S C')^+ d`` with
    a chi-square distribution; each contrast has an interval, all of which hold together.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present; with ``qid`` labels or grades as the measure takes
        them.
    y_scores : mapping of str to array-like of shape (n_samples,)
        Scores of at least two scorers by name; higher is nearer to the top.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        With ``qid`` any measure of a list; without it one of which the influence of single items
        is known: ``"auc"``, ``"local_auc@0.8"``, ``"bedroc@20"``, a score-generating function (its
        statistic between the worst and the best order), or ``make_measure(..., influence=)``. As
        :func:`sklearn_rank.metrics.get_measure` takes it.
    qid : array-like of shape (n_samples,), default=None
        Id of the query of each row, the rows in any order. The statistics are then means over the
        queries, which are the sample; in two dimensions each row is a query. None is one list.
    contrasts : str, mapping or None, default=None
        None is all pairs; the name of a scorer compares every other one with it; a mapping gives
        the coefficients of each contrast by name, in the order of ``y_scores``, which sum to 0.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals cover.
    conditional : bool, default=True
        Whether the labels of one list count as fixed: the target is then at their share of
        positives.
    random_state : int, Generator, RandomState or None, default=None
        Source of the draws from which the distribution of the largest statistic is known; None is
        fresh, and moves limits in their third digit.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankerComparison
        Estimates, covariance, joint test and contrasts.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the influence of single items on the
        measure is not known and there is no ``qid``, or fewer than two queries have a value.

    See Also
    --------
    paired_rank_test : Two scorers.
    paired_query_tests : Several systems on many queries.

    Notes
    -----
    The largest of the absolute statistics has the distribution of that of correlated normal
    variables, taken from 100,000 draws: shorter intervals than Bonferroni's, and p-values below
    1e-4 are Bonferroni's. A contrast without any variation is treated as by
    :func:`paired_rank_test`, with half a query at either end of the range of the measure for
    means over queries. O(n K log n) time for K scorers and O(n K) memory, beyond the draws.

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
    >>> {name: round(test.estimate, 4) for name, test in found.contrasts.items()}
    {'a - c': 0.0, 'b - c': -0.3125}
    """
    level = check_level(level)
    measure = get_measure(measure)
    if not isinstance(y_scores, Mapping) or len(y_scores) < 2:
        raise ValueError(
            "y_scores must be a mapping of at least two names to scores, as {'a': scores_a, 'b':"
            " scores_b}."
        )
    names = tuple(str(name) for name in y_scores)
    rows = read_contrasts(names, contrasts)
    rng = check_generator(random_state)
    if qid is None and np.ndim(y_true) != 2:
        found = measure_influence(
            measure,
            y_true,
            tuple(y_scores.values()),
            conditional=conditional,
            pos_label=pos_label,
        )
        joint, called = joint_influence(found, conditional=conditional), measure.name
    else:
        samples = list(
            query_values_of(measure, y_true, y_scores, qid=qid, pos_label=pos_label).values()
        )
        low, high = measure.counted_range
        joint = joint_query_means(np.stack([one.values for one in samples]), high - low)
        called = f"mean {measure.name} over queries"
    return _comparison(joint, names, rows, level, rng, called)


def _comparison(
    joint: JointEstimate,
    names: tuple[str, ...],
    rows: dict[str, FloatArray],
    level: float,
    rng: np.random.Generator,
    called: str,
) -> RankerComparison:
    """Test all contrasts together, and each with the largest of all in mind."""
    matrix = np.stack(list(rows.values()))
    differences = matrix @ joint.estimates
    covariance, certain = _covariance(joint, matrix, differences)
    contrast_covariance = matrix @ covariance @ matrix.T
    variances = np.diag(contrast_covariance).copy()
    variances[certain] = np.diag(matrix @ joint.regularized @ matrix.T)[certain]
    errors = np.sqrt(variances)
    uncertain = contrast_covariance[np.ix_(~certain, ~certain)]
    largest = largest_statistics(uncertain if len(uncertain) else np.ones((1, 1)), DRAWS, rng)
    critical = float(np.quantile(largest, level, method="higher"))
    statistic, degrees = _chi_square(differences, contrast_covariance)
    tests = {}
    for name, value, error, row in zip(rows, differences, errors, matrix, strict=True):
        reach = joint.length * float(np.abs(row).sum()) / 2.0
        half = critical * float(error)
        interval = Interval(
            estimate=float(value),
            low=max(float(value) - half, -reach),
            high=min(float(value) + half, reach),
            level=level,
            method="max-t",
            target=f"difference of {called}, simultaneous",
            standard_error=float(error),
        )
        tests[name] = _contrast_test(interval, float(value / error), largest, len(rows), called)
    return RankerComparison(
        names=names,
        estimates=joint.estimates,
        covariance=covariance,
        statistic=statistic,
        degrees_of_freedom=degrees,
        pvalue=float(chdtrc(degrees, statistic)) if degrees else 1.0,
        contrasts=tests,
        critical_value=critical,
        level=level,
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


def _chi_square(differences: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Quadratic form of the differences in the inverse of their covariance, and its rank."""
    values, vectors = np.linalg.eigh(covariance)
    if values[-1] <= 0.0:
        return 0.0, 0
    kept = values > 1e-10 * values[-1]
    along = differences @ vectors[:, kept]
    return float(np.sum(along**2 / values[kept])), int(np.count_nonzero(kept))


def _contrast_test(
    interval: Interval, z: float, largest: FloatArray, n_contrasts: int, called: str
) -> RankTestResult:
    """P-value, adjusted for the number of contrasts, from the draws or by Bonferroni."""
    beyond = len(largest) - int(np.searchsorted(largest, abs(z) * (1.0 - 1e-12), "left"))
    pvalue = (1.0 + beyond) / (1.0 + len(largest))
    if pvalue < 1e-4:
        pvalue = min(pvalue, n_contrasts * normal_pvalue(z, "two-sided"))
    return RankTestResult(
        statistic=z,
        pvalue=pvalue,
        estimate=interval.estimate,
        alternative="two-sided",
        method="max-t",
        hypothesis=f"contrast of {called} is 0",
        interval=interval,
    )
