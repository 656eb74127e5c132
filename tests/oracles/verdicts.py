"""Verdicts of limits, counts of queries, and the chance that a larger sample decides."""

import numpy as np
from scipy import stats


def verdict(low, high, margin=None):
    """What two-sided limits of a difference show of the first of two."""
    if margin is not None and max(abs(low), abs(high)) < margin:
        return "equal"
    if low <= 0 <= high:
        return "undecided"
    return "better" if low > 0 else "worse"


def wins_ties_losses(first, second, greater_is_better=True):
    found = [0, 0, 0]
    for a, b in zip(first, second, strict=True):
        if abs(a - b) <= 1e-12:
            found[1] += 1
        else:
            found[0 if (a > b) == greater_is_better else 2] += 1
    return tuple(found)


def chance_to_decide(n, difference, unit_error, critical, margin=None):
    """Chance that limits of a mean over n queries decide, by a sum over the estimates."""
    error = unit_error / np.sqrt(n)
    places = difference + error * np.linspace(-8, 8, 20_001)
    mass = np.diff(stats.norm.cdf(places, difference, error))
    middles = (places[1:] + places[:-1]) / 2
    half = critical * error
    decides = [verdict(d - half, d + half, margin) != "undecided" for d in middles]
    return float(np.sum(mass[decides]))
