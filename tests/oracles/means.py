"""Limits for means of values from [0, 1], for differences of two, and tests by exchanges."""

from itertools import product
from math import inf, sqrt

from scipy.optimize import brentq
from scipy.special import betainc
from scipy.stats import norm, t


def limits_of_mean(values, level, ids=None):
    """As many draws of 0 and 1 as vary like the mean of the values; half a value at either end.

    With ids of groups their sums vary, each over ``sqrt(1 - share)``.
    """
    n = len(values)
    ids = list(range(n)) if ids is None else list(ids)
    groups = sorted(set(ids))
    mean = sum(values) / n
    sizes = [ids.count(g) for g in groups]
    sums = [sum(v - mean for v, i in zip(values, ids, strict=True) if i == g) / n for g in groups]
    sums = [x if abs(x) > 1e-12 else 0.0 for x in sums]
    effective = sum(s**2 for s in sizes) ** 2 / sum(s**4 for s in sizes)
    squares, fourths = sum(x**2 for x in sums), sum(x**4 for x in sums)
    count, weight = len(groups), 1.0
    if squares > 0:
        weight = min(max(fourths / squares**2 - 2 / effective, 0), 1)
    # So many units move it as much as a value that takes along those of its group which it moves.
    rows = sum((v - mean) ** 2 for v in values) / n**2
    together = squares / rows / n if rows > 0 else inf
    units = 1 / min(max(together, 1 / n), sum((s / n) ** 2 for s in sizes))
    # The variance of the mean, as the sum of squares of so many independent values.
    variance = sum(x**2 / (1 - s / n) for x, s in zip(sums, sizes, strict=True))
    spread = units * (units - 1) * variance
    total = units + weight
    center = (units * mean + weight / 2) / total
    spread += units * (mean - center) ** 2 + weight / 2 * (center**2 + (1 - center) ** 2)
    variance = spread / total / (total - 1)
    # For 0 and 1 the weights cancel: n draws.
    draws = center * (1 - center) / variance + 1 - weight
    shares = all(v in (0, 1) for v in values) and (count == n or len(set(values)) == 1)
    z = norm.ppf((1 + level) / 2)
    quantile = z if shares else t.ppf((1 + level) / 2, max(effective - 1, 1))
    draws *= (z / quantile) ** 2
    missed = weight * (1 - (1 - level) ** (1 / units))

    def upper(m):
        def score(x):
            return draws * (m - x) ** 2 - z * z * x * (1 - x)

        wilson = 1.0 if m == 1 else brentq(score, m + 1e-12 if m else 1e-9, 1.0, xtol=1e-15)
        return max(
            wilson, mid_p(draws * m, draws * (1 - m), (1 - level) / 2), m + missed * (1 - m)
        )

    return 1 - upper(1 - mean), upper(mean)


def mid_p(hits, misses, tail):
    """The p for which at most so many hits have the mid-p value ``tail``."""

    def chance(p):
        least = 1 - betainc(hits + 1, misses, p) if misses > 0 else 1.0
        fewer = 1 - betainc(hits, misses + 1, p) if hits > 0 else 0.0
        return (least + fewer) / 2 - tail

    return 1.0 if misses <= 0 else brentq(chance, 1e-300, 1 - 1e-15, xtol=1e-15)


def square_and_add(first, second, values, r=0.0):
    """Limits of ``values[0] - values[1]`` from the limits of each (Zou 2007)."""
    a, b = values
    (low_a, high_a), (low_b, high_b) = first, second
    down = (a - low_a) ** 2 + (high_b - b) ** 2 - 2 * r * (a - low_a) * (high_b - b)
    up = (high_a - a) ** 2 + (b - low_b) ** 2 - 2 * r * (high_a - a) * (b - low_b)
    return a - b - sqrt(down), a - b + sqrt(up)


def exchange_pvalue(differences, shift=0.0):
    """Two-sided p-value of all exchanges of signs of the differences from a shift."""
    moved = [d - shift for d in differences]
    observed = sum(moved)
    sums = [
        sum(s * d for s, d in zip(signs, moved, strict=True))
        for signs in product((1, -1), repeat=len(moved))
    ]
    slack = 1e-12 * sum(map(abs, moved))
    above = sum(x >= observed - slack for x in sums)
    below = sum(x <= observed + slack for x in sums)
    return min(1.0, 2 * min(above, below) / len(sums)) if sums else inf
