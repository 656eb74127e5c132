"""Level of a fixed interval that is valid at all times, by a normal mixture."""

from __future__ import annotations

from math import e, log, log1p

from scipy.special import lambertw, ndtr

__all__ = ["WIDEST", "level_at_all_times"]

# Distance in standard errors, and its level, from which on limits are those of the range: nearer
# to 1 a level is rounded.
WIDEST = 2.0 * float(ndtr(7.0)) - 1.0


def level_at_all_times(level: float, n: float, n_best: float) -> float:
    """Level of the fixed interval that is as wide as the confidence sequence.

    With ``x = x_best n / n_best`` it reaches ``z = sqrt((1 + 1/x) (ln(1 + x) + 2 ln(1 / (1 -
    level))))`` standard errors.
    """
    alpha = 1.0 - level
    # Where z is least: ln((1 + x) / alpha^2) = x.
    best = -float(lambertw(-(alpha**2) / e, -1).real) - 1.0
    x = best * n / n_best
    z = ((1.0 + 1.0 / x) * (log1p(x) - 2.0 * log(alpha))) ** 0.5
    return min(2.0 * float(ndtr(z)) - 1.0, WIDEST)
