"""P-values and quantiles of statistics that are standard normal or Student's t."""

from __future__ import annotations

from math import inf, isinf
from typing import Literal, TypeAlias

from scipy.special import ndtr, ndtri, stdtr, stdtrit

__all__ = ["ALTERNATIVES", "Alternative", "level_of_both", "pvalue_of", "two_sided_quantile"]

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

ALTERNATIVES = ("two-sided", "less", "greater")


def pvalue_of(statistic: float, alternative: Alternative, degrees: float = inf) -> float:
    """Return the p-value of a statistic with Student's distribution.

    Parameters
    ----------
    statistic : float
        The statistic.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme.
    degrees : float, default=inf
        Degrees of freedom; infinitely many are the normal distribution.

    Returns
    -------
    float
        Probability of a value at least as extreme.
    """
    if alternative == "two-sided":
        return 2.0 * _below(-abs(statistic), degrees)
    return _below(-statistic if alternative == "greater" else statistic, degrees)


def two_sided_quantile(level: float, degrees: float = inf) -> float:
    """Return the two-sided quantile of a statistic.

    Parameters
    ----------
    level : float
        The probability, in (0, 1).
    degrees : float, default=inf
        Degrees of freedom; infinitely many are the normal distribution.

    Returns
    -------
    float
        The quantile.
    """
    upper = (1.0 + level) / 2.0
    return float(ndtri(upper) if isinf(degrees) else stdtrit(degrees, upper))


def level_of_both(level: float, alternative: str) -> float:
    """Find the level of limits on both sides that agree with a test.

    Parameters
    ----------
    level : float
        One less the level of the test, in (0, 1).
    alternative : str
        What counts as extreme.

    Returns
    -------
    float
        The level itself with "two-sided"; else each side has it alone.
    """
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
