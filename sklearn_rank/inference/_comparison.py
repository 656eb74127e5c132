"""Simultaneous tests and intervals for contrasts of several statistics (max-t)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from .._arguments import check_choice
from .._typing import BoolArray, FloatArray
from ..metrics import Measure
from ._contrasts import Contrasts, read_contrasts
from ._joint import JointEstimate, least_variance, never_certain_covariance
from ._max_t import largest_of_contrasts
from ._normal_test import level_of_both
from ._results import Comparison

__all__ = ["Question", "joint_comparison"]

# Alternative hypotheses of a contrast.
ALTERNATIVES = ("two-sided", "less", "greater", "non-inferior", "equivalent")

# Differences smaller than this, relative to the largest statistic, are treated as 0.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Question:
    """The question about each contrast: alternative, margin and level, checked."""

    alternative: str  # What is to be shown
    margin: float | None  # Largest difference that does not matter; None is none
    level: float  # Probability with which limits hold, in (0, 1)

    @classmethod
    def of(
        cls, measure: Measure, alternative: str | None, margin: float | None, level: float
    ) -> Question:
        """Check what is asked."""
        if alternative is None:
            alternative = "two-sided" if margin is None else "non-inferior"
        check_choice("alternative", alternative, ALTERNATIVES)
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
            number = isinstance(margin, Real) and not isinstance(margin, bool | np.bool_)
            if not number or not 0.0 < margin < high - low or not isfinite(margin):
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
        """Find the contrasts with a baseline, those that are given, or all pairs."""
        if baseline is not None:
            if contrasts is not None:
                raise ValueError("baseline and contrasts are both given: pass one of them.")
            if str(baseline) not in names:
                raise ValueError(
                    f"baseline={baseline!r} is not among the rankers {list(names)}: pass one of"
                    " these names."
                )
            return read_contrasts(names, str(baseline))
        if self.alternative == "non-inferior" and contrasts is None and len(names) > 2:
            raise ValueError(
                f"margin={self.margin:g} tests non-inferiority to a baseline, but there are"
                f" {len(names)} rankers and no baseline: pass baseline=, or"
                " alternative='equivalent'."
            )
        return read_contrasts(names, contrasts)

    def hypothesis(self, measure: Measure) -> str:
        """Describe the null hypothesis."""
        if self.alternative == "non-inferior":
            return f"{measure.name} worse by {self.margin:g} or more"
        if self.alternative == "equivalent":
            return f"{measure.name} different by {self.margin:g} or more"
        return f"equal {measure.name}"


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
    matrix = contrasts.matrix
    differences = matrix @ joint.estimates
    covariance, certain = _covariance(joint, matrix, differences)
    added = covariance is not joint.covariance or bool(certain.any())
    variances = _variances(matrix, covariance)
    variances[certain] = _variances(matrix[certain], joint.regularized)
    errors = np.sqrt(variances)
    some = matrix if certain.all() else matrix[~certain]
    degrees = joint.spread.least(some)
    sign = 1.0 if measure.greater_is_better else -1.0
    statistics, extreme = _statistics(question, sign, differences, errors)
    one_sided = question.alternative in ("greater", "less", "non-inferior")
    tails = 2.0 if question.alternative == "two-sided" else 1.0
    direction = {"less": -1.0, "non-inferior": sign}.get(question.alternative, 1.0)
    m = len(matrix)
    pvalues = np.minimum(tails * m * stdtr(degrees, -extreme), 1.0)
    critical = float(stdtrit(degrees, 1.0 - (1.0 - question.level) / tails / m))
    if m > 1:
        largest = largest_of_contrasts(
            covariance, direction * some, rng, degrees, signed=one_sided
        )
        beyond = len(largest) - np.searchsorted(largest, extreme * (1.0 - 1e-12), "left")
        pvalues = np.minimum(pvalues, (1.0 + beyond) / (1.0 + len(largest)))
        critical = min(critical, float(np.quantile(largest, question.level, method="higher")))
    half = critical * errors
    reach = joint.length * np.abs(matrix).sum(axis=1) / 2.0
    return Comparison(
        measure=measure.name,
        names=names,
        values=tuple(joint.estimates.tolist()),
        standard_errors=tuple(np.sqrt(np.diag(covariance)).tolist()),
        contrasts=contrasts.names,
        differences=tuple(differences.tolist()),
        low=tuple(np.maximum(differences - half, -reach).tolist()),
        high=tuple(np.minimum(differences + half, reach).tolist()),
        statistics=tuple(statistics.tolist()),
        pvalues=tuple(pvalues.tolist()),
        level=question.level,
        alternative=question.alternative,
        margin=question.margin,
        method="max-t, added items" if added else "max-t",
        target=target,
        hypothesis=question.hypothesis(measure),
        difference_errors=tuple(errors.tolist()),
        greater_is_better=measure.greater_is_better,
    )


def _statistics(
    question: Question, sign: float, differences: FloatArray, errors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Statistic of each contrast, and how extreme it is."""
    margin = question.margin or 0.0
    if question.alternative == "equivalent":
        statistics = (margin - np.abs(differences)) / errors
    elif question.alternative == "non-inferior":
        statistics = (sign * differences + margin) / errors
    else:
        statistics = differences / errors
    if question.alternative == "two-sided":
        return statistics, np.abs(statistics)
    return statistics, -statistics if question.alternative == "less" else statistics


def _variances(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
    """Variance of each contrast, without the covariances of contrasts."""
    return np.asarray(np.einsum("mk,mk->m", matrix @ covariance, matrix))


def _covariance(
    joint: JointEstimate, matrix: FloatArray, differences: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """One covariance for all contrasts, and which contrasts have neither value nor variance.

    It is that with the added items if a difference would else be certain.
    """
    variances = _variances(matrix, joint.covariance)
    unknown = ~(variances > least_variance(differences, joint.length, joint.n_effective))
    none = np.abs(differences) <= ROUNDING * np.abs(joint.estimates).max()
    certain = unknown & none & ~np.isnan(variances)
    if np.array_equal(unknown, certain):
        return joint.covariance, certain
    covariance = never_certain_covariance(joint.estimates, joint.regularized, joint.n_effective)
    return covariance, np.zeros(len(matrix), dtype=bool)
