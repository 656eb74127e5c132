"""Sums of consecutive reciprocals."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray

# From this argument on the expansion of the digamma function is exact in float64.
LARGE = 64


def reciprocals(start: FloatArray, count: FloatArray) -> FloatArray:
    """Sum ``1/x + 1/(x+1) + ... + 1/(x+count-1)`` for whole numbers, to rounding.

    The difference of two digamma functions, from their asymptotic series, which does not cancel;
    the first terms of sums that begin below its range are added one by one.
    """
    if np.all(count == 1):
        return 1.0 / start
    result = np.zeros(len(start))
    start, count = start.copy(), count.copy()
    low = np.flatnonzero(start < LARGE)
    for _ in range(LARGE):
        low = low[(start[low] < LARGE) & (count[low] > 0)]
        if len(low) == 0:
            break
        result[low] += 1.0 / start[low]
        start[low] += 1
        count[low] -= 1
    end = start + count
    result += np.log1p(count / start) + 0.5 * count / (start * end)
    for power, coefficient in ((2, 1 / 12), (4, -1 / 120), (6, 1 / 252)):
        result += coefficient * (start ** -float(power) - end ** -float(power))
    return result
