"""P-values of standard normal statistics."""

from __future__ import annotations

from typing import Literal, TypeAlias

from scipy.special import ndtr

__all__ = ["ALTERNATIVES", "Alternative", "normal_pvalue"]

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

ALTERNATIVES = ("two-sided", "less", "greater")


def normal_pvalue(z: float, alternative: Alternative) -> float:
    """Return the p-value of a standard normal statistic.

    Parameters
    ----------
    z : float
        The statistic.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme.

    Returns
    -------
    float
        Probability of a value at least as extreme.
    """
    if alternative == "two-sided":
        return float(2.0 * ndtr(-abs(z)))
    return float(ndtr(-z if alternative == "greater" else z))
