"""Compiled sums of a polynomial kernel over windows of sorted scores."""

from __future__ import annotations

import numpy as np

from .._jit import compiled

__all__ = ["window_sums"]


@compiled("void(f8[::1], f8[::1], b1, f8[::1])")
def window_sums(z, weight, integrated, values):
    """Sums over j of ``weight_j k(z_i - z_j)`` of ascending z, or of the integral of k.

    ``k(t) = 3/4 (1 - t^2)`` on [-1, 1]. Powers are cumulated of the distance to the middle of a
    cell of length 1, which is at most 1/2, so that nothing cancels.
    """
    n = len(z)
    sums = np.zeros((n + 1, 4))
    for j in range(n):
        x = z[j] - np.floor(z[j]) - 0.5
        term = weight[j]
        for k in range(4):
            sums[j + 1, k] = sums[j, k] + term
            term *= x
    # Where a window begins, its middle cell begins and ends, and where it ends.
    low = start = end = high = 0
    for i in range(n):
        cell = np.floor(z[i])
        while low < n and z[low] < z[i] - 1.0:
            low += 1
        while start < n and z[start] < cell:
            start += 1
        while end < n and z[end] < cell + 1.0:
            end += 1
        while high < n and z[high] < z[i] + 1.0:
            high += 1
        total = sums[low, 0] if integrated else 0.0
        for part in range(3):
            first = low if part == 0 else (start if part == 1 else end)
            last = start if part == 0 else (end if part == 1 else high)
            y = z[i] - cell + 0.5 - part
            m0 = sums[last, 0] - sums[first, 0]
            m1 = sums[last, 1] - sums[first, 1]
            m2 = sums[last, 2] - sums[first, 2]
            if integrated:
                m3 = sums[last, 3] - sums[first, 3]
                total += m0 * (0.5 + 0.75 * y - 0.25 * y * y * y) + 0.25 * m3
                total += 0.75 * (m1 * (y * y - 1.0) - m2 * y)
            else:
                total += 0.75 * (m0 * (1.0 - y * y) + 2.0 * y * m1 - m2)
        values[i] = total
