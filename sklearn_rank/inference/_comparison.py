"""Any number of rankers on the same items: joint test, contrasts, simultaneous intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr

from .._typing import BoolArray, FloatArray
from ..metrics._shared import Normalize, Phi
from ._arguments import check_choice, check_level
from ._influence import check_limit, check_two_classes
from ._paired import INSTEAD, JointEstimate, joint_estimate, safe_variance
from ._resampling import generator_of
from ._results import Interval, RankTestResult

__all__ = ["RankerComparison", "compare_rankers"]

# Draws from which the largest of several statistics is known, and how many are held at a time.
DRAWS, CHUNK = 100_000, 2**14


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
    >>> found = compare_rankers(y_true, scores)
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
    phi: Phi = "wilcoxon",
    contrasts: str | Mapping[str, Any] | None = None,
    level: float = 0.95,
    conditional: bool = True,
    normalize: Normalize = "minmax",
    random_state: Any = 0,
    pos_label: Any = None,
) -> RankerComparison:
    """Compare the rank statistics of several scorers on the same items.

    The covariance is that of the influence values, item by item. The hypothesis that all
    contrasts are 0 has the statistic ``d' (C S C')^+ d`` with a chi-square distribution; each
    contrast has an interval, all of which hold together.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_scores : mapping of str to array-like of shape (n_samples,)
        Scores of at least two scorers by name; higher is nearer to the top.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1); one that depends on the length of the list is refused.
    contrasts : str, mapping or None, default=None
        None is all pairs; the name of a scorer compares every other one with it; a mapping gives
        the coefficients of each contrast by name, in the order of ``y_scores``, which sum to 0.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals cover.
    conditional : bool, default=True
        Whether the labels count as fixed: the target is then at their share of positives.
    normalize : {"mean", "minmax"}, default="minmax"
        Of the places between the worst and the best order (with Wilcoxon's phi, the AUC), or of
        the means over the positives.
    random_state : int, Generator, RandomState or None, default=0
        Source of the draws from which the distribution of the largest statistic is known.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RankerComparison
        Estimates, covariance, joint test and contrasts.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, no place counts, or phi depends on the
        length of the list.

    See Also
    --------
    paired_rank_test : Two scorers.
    paired_query_tests : Several systems on many queries.

    Notes
    -----
    The largest of the absolute statistics has the distribution of that of correlated normal
    variables, taken from 100,000 draws: shorter intervals than Bonferroni's, and p-values below
    1e-4 are Bonferroni's. A contrast without any variation is treated as by
    :func:`paired_rank_test`. O(n K log n) time for K scorers and O(n K) memory, beyond the draws.

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
    check_choice("normalize", normalize, ("mean", "minmax"))
    level = check_level(level)
    function = check_limit(phi, INSTEAD)
    if not isinstance(y_scores, Mapping) or len(y_scores) < 2:
        raise ValueError(
            "y_scores must be a mapping of at least two names to scores, as {'a': scores_a, 'b':"
            " scores_b}."
        )
    names = tuple(str(name) for name in y_scores)
    checked = [check_two_classes(y_true, score, pos_label) for score in y_scores.values()]
    joint = joint_estimate(
        checked[0][0],
        [score for _, score in checked],
        function,
        conditional=conditional,
        normalize=normalize,
    )
    rows = _contrasts(names, contrasts)
    matrix = np.stack(list(rows.values()))
    differences = matrix @ joint.estimates
    covariance, certain = _covariance(joint, matrix, differences)
    of_contrasts = matrix @ covariance @ matrix.T
    variances = np.diag(of_contrasts).copy()
    variances[certain] = np.diag(matrix @ joint.spare @ matrix.T)[certain]
    errors = np.sqrt(variances)
    largest = _largest_statistics(of_contrasts[np.ix_(~certain, ~certain)], random_state)
    critical = float(np.quantile(largest, level, method="higher"))
    statistic, degrees = _chi_square(differences, of_contrasts)
    tests = {
        name: _contrast_test(
            float(value), float(error), critical, level, largest, len(rows), _reach(joint, row)
        )
        for name, value, error, row in zip(rows, differences, errors, matrix, strict=True)
    }
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


def _contrasts(
    names: tuple[str, ...], contrasts: str | Mapping[str, Any] | None
) -> dict[str, FloatArray]:
    """Coefficients of each contrast by its name."""
    unit = np.eye(len(names))
    if contrasts is None:
        pairs = combinations(range(len(names)), 2)
        return {f"{names[i]} - {names[j]}": unit[i] - unit[j] for i, j in pairs}
    if isinstance(contrasts, str):
        if contrasts not in names:
            raise ValueError(
                f"contrasts={contrasts!r} is not among the scorers {list(names)}: pass one of"
                " their names."
            )
        at = names.index(contrasts)
        others = (i for i in range(len(names)) if i != at)
        return {f"{names[i]} - {contrasts}": unit[i] - unit[at] for i in others}
    rows = {}
    for name, coefficients in contrasts.items():
        row = np.asarray(coefficients, dtype=np.float64)
        if row.shape != (len(names),) or not np.isfinite(row).all():
            raise ValueError(
                f"The contrast {name!r} must be {len(names)} finite numbers, one per scorer."
            )
        if not row.any() or abs(row.sum()) > 1e-9 * np.abs(row).sum():
            raise ValueError(
                f"The contrast {name!r} sums to {row.sum():g} over {len(names)} scorers: its"
                " coefficients must sum to 0 and not all be 0."
            )
        rows[str(name)] = row
    if not rows:
        raise ValueError("contrasts is empty: pass at least one contrast or None for all pairs.")
    return rows


def _covariance(
    joint: JointEstimate, matrix: FloatArray, differences: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """One covariance for all contrasts, and which contrasts have neither value nor variance.

    It is that with the added items if a difference would else be certain.
    """
    variances = np.diag(matrix @ joint.covariance @ matrix.T)
    needed = np.array(
        [
            safe_variance(
                float(variance), 0.0, float(value), unit=joint.unit, effective=joint.effective
            )[1]
            for variance, value in zip(variances, differences, strict=True)
        ]
    )
    certain = needed & (differences == 0.0) & ~np.isnan(variances)
    if np.array_equal(needed, certain):
        return joint.covariance, certain
    apart = joint.estimates - joint.estimates.mean()
    return joint.spare + np.outer(apart, apart) / joint.effective, np.zeros(
        len(matrix), dtype=bool
    )


def _largest_statistics(covariance: FloatArray, random_state: Any) -> FloatArray:
    """Draws of the largest standardised absolute value of normal variables, ascending."""
    rng = generator_of(random_state)
    if len(covariance) == 0:
        covariance = np.ones((1, 1))
    errors = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(errors, errors)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > 1e-10 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    largest = [
        np.abs(rng.standard_normal((min(CHUNK, DRAWS - start), root.shape[1])) @ root.T).max(
            axis=1
        )
        for start in range(0, DRAWS, CHUNK)
    ]
    return np.sort(np.concatenate(largest))


def _chi_square(differences: FloatArray, covariance: FloatArray) -> tuple[float, int]:
    """Quadratic form of the differences in the inverse of their covariance, and its rank."""
    values, vectors = np.linalg.eigh(covariance)
    if values[-1] <= 0.0:
        return 0.0, 0
    kept = values > 1e-10 * values[-1]
    along = differences @ vectors[:, kept]
    return float(np.sum(along**2 / values[kept])), int(np.count_nonzero(kept))


def _reach(joint: JointEstimate, row: FloatArray) -> float:
    """Largest possible value of a contrast."""
    return joint.unit * float(np.abs(row).sum()) / 2.0


def _contrast_test(
    difference: float,
    error: float,
    critical: float,
    level: float,
    largest: FloatArray,
    n_contrasts: int,
    reach: float,
) -> RankTestResult:
    z = difference / error
    beyond = len(largest) - int(np.searchsorted(largest, abs(z) * (1.0 - 1e-12), "left"))
    pvalue = (1.0 + beyond) / (1.0 + len(largest))
    if pvalue < 1e-4:
        pvalue = min(pvalue, n_contrasts * float(2.0 * ndtr(-abs(z))))
    interval = Interval(
        estimate=difference,
        low=max(difference - critical * error, -reach),
        high=min(difference + critical * error, reach),
        level=level,
        method="max-t",
        target="difference of W_phi, simultaneous",
        standard_error=error,
    )
    return RankTestResult(
        statistic=z,
        pvalue=pvalue,
        estimate=difference,
        alternative="two-sided",
        method="max-t",
        hypothesis="contrast of W_phi is 0",
        interval=interval,
    )
