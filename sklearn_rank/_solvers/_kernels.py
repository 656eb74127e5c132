"""Compiled loops: series on intervals, searches for stumps, sums over windows of scores."""

from __future__ import annotations

import numpy as np

from .._jit import compiled


@compiled("void(f8[::1], i8[::1], f8[::1], f8[:, ::1])")
def add_moments(x, interval, amount, moments):
    """Add ``amount * T_q(x)``, q = 0, 1, ..., to the moments of the interval of each point."""
    n_terms = moments.shape[1]
    terms = np.empty(n_terms)
    for i in range(len(x)):
        terms[0] = amount[i]
        terms[1] = amount[i] * x[i]
        twice = 2.0 * x[i]
        for q in range(2, n_terms):
            terms[q] = twice * terms[q - 1] - terms[q - 2]
        row = interval[i]
        for q in range(n_terms):
            moments[row, q] += terms[q]


@compiled("void(f8[::1], i8[::1], f8[:, ::1], f8[::1])")
def evaluate_series(x, interval, series, values):
    """Values of the Chebyshev series of the interval of each point, by Clenshaw's recurrence."""
    n_terms = series.shape[1]
    for i in range(len(x)):
        row = interval[i]
        twice = 2.0 * x[i]
        b1 = 0.0
        b2 = 0.0
        for q in range(n_terms - 1, 0, -1):
            b1, b2 = series[row, q] + twice * b1 - b2, b1
        values[i] = series[row, 0] + x[i] * b1 - b2


# Stumps whose |r| differs by less are equally good, since sums of weights are rounded.
SAME = 1e-12


@compiled("void(i4[::1], i8[::1], i8[::1], f8[::1], i8, i8, f8[::1], i8[::1])")
def best_stumps(order, begin, split, signed, first, last, r, place):
    """Best threshold of each feature from ``first`` to ``last``; the lowest of equal ones.

    ``order``, ``begin`` and ``split`` are those of ``SortedColumns``. ``r[j]`` becomes the sum of
    ``signed`` above the threshold, where all of ``signed`` sum to 0, and ``place[j]`` where in
    ``order`` the threshold is: after the row there, -1 if the feature has none.
    """
    for j in range(first, last):
        total, best, chosen, at = 0.0, 0.0, 0.0, -1
        for k in range(begin[j], split[j]):
            row = order[k]
            if row >= 0:
                total += signed[row]
            else:
                total += signed[~row]
                if abs(total) > best + SAME:
                    best, chosen, at = abs(total), -total, k
        total, high, high_chosen, high_at = 0.0, 0.0, 0.0, -1
        for k in range(split[j], begin[j + 1]):
            row = order[k]
            if row >= 0:
                total += signed[row]
            else:
                total += signed[~row]
                if abs(total) > high - SAME:
                    high, high_chosen, high_at = max(high, abs(total)), total, k
        if high > best + SAME:
            chosen, at = high_chosen, high_at
        r[j], place[j] = chosen, at


@compiled("void(f8[:, ::1], i8[::1], i8[::1], f8[::1], f8[::1], f8[::1])")
def table_scores(X, features, begin, knots, values, scores):
    """Sum over features of a step function: ``values`` by the number of ``knots`` below x.

    The knots of the feature number u are from ``begin[u]`` to ``begin[u + 1]``, ascending, and its
    values, one more, from ``begin[u] + u`` on.
    """
    for i in range(X.shape[0]):
        total = 0.0
        for u in range(len(features)):
            x = X[i, features[u]]
            low, left = begin[u], begin[u + 1] - begin[u]
            # Branch-free bisection.
            while left > 1:
                half = left // 2
                low += half * (knots[low + half - 1] < x)
                left -= half
            total += values[low + u + (knots[low] < x)]
        scores[i] = total


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
