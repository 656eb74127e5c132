"""P-values and quantiles of statistics that are standard normal or Student's t."""

from __future__ import annotations

from math import inf, isinf
from typing import Literal, TypeAlias

from scipy.special import ndtr, ndtri, stdtr, stdtrit

__all__ = ["ALTERNATIVES", "Alternative", "level_of_both", "pvalue_of", "two_sided_quantile"]

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

ALTERNATIVES = ("two-sided", "less", "greater")


def pvalue_of(statistic: float, alternative: Alternative, degrees: float = inf) -> float:
    """Return the p-value of a statistic with Student's distribution."""
    if alternative == "two-sided":
        return 2.0 * _below(-abs(statistic), degrees)
    return _below(-statistic if alternative == "greater" else statistic, degrees)


def two_sided_quantile(level: float, degrees: float = inf) -> float:
    """Return the two-sided quantile of a statistic."""
    upper = (1.0 + level) / 2.0
    return float(ndtri(upper) if isinf(degrees) else stdtrit(degrees, upper))


def level_of_both(level: float, alternative: str) -> float:
    """Find the level of limits on both sides that agree with a test."""
    if alternative == "two-sided":
        return level
    if level <= 0.5:
        raise ValueError(
            f"level={level:g} gives no interval with alternative={alternative!r}, which applies it"
            " to each limit: pass a level above 0.5."
        )
    return 2.0 * level - 1.0


def _below(statistic: float, degrees: float) -> float:
    return float(ndtr(statistic) if isinf(degrees) else stdtr(degrees, statistic))
