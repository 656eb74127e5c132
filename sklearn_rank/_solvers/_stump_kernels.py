"""Compiled searches for the best stump, and scores by many stumps."""

from __future__ import annotations

from .._jit import compiled

__all__ = ["best_stumps", "table_scores"]

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
