"""Interval for the largest difference of the rates of both classes over all thresholds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import smirnovi

from ..metrics import Measure
from ._group_bands import independent_rows, kolmogorov_margin
from ._one_list import OneList
from ._results import Interval

__all__ = ["largest_difference_interval"]

# Shares of the error that one class may have; the best of them depends on the counts alone.
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def largest_difference_interval(measure: Measure, sample: OneList, level: float) -> Interval:
    """Interval for the Kolmogorov-Smirnov statistic of the population, valid for every n.

    The statistic is at most as far from that of the population as both distribution functions
    together: ``|D - D'| <= sup|F+ - F+'| + sup|F- - F-'|``.
    """
    data = sample.data
    estimate = float(measure.values(data)[0])
    k = int(data.positives[0])
    sizes = [k, int(data.sizes[0]) - k]
    if sample.groups is not None:
        sizes = [
            independent_rows(sample.groups.sizes(one)) for one in (data.positive, ~data.positive)
        ]
    reach = _reach(*sizes, level, sample.groups is not None)
    return Interval(
        estimate=estimate,
        low=max(estimate - reach, 0.0),
        high=min(estimate + reach, 1.0),
        level=level,
        method="dkw",
        target=f"{measure.name} of the population",
    )


@lru_cache(maxsize=64)
def _reach(n_pos: int, n_neg: int, level: float, grouped: bool) -> float:
    """Bound for the sum of the deviations of both distribution functions."""
    found = []
    for share in SHARES:
        # The classes are independent unless groups join them.
        first = share * (1.0 - level)
        second = 1.0 - level - first if grouped else 1.0 - level / (1.0 - first)
        margin = kolmogorov_margin if grouped else _margin
        found.append(margin(first, n_pos) + margin(second, n_neg))
    return float(np.min(found))


def _margin(delta: float, n: int) -> float:
    """Largest distance of n independent rows, but for a share delta of the samples."""
    return float(smirnovi(n, delta / 2.0))
