"""Sign flips and bootstrap of a mean by listing every outcome, and Holm's steps one by one."""

from fractions import Fraction
from itertools import product
from math import sqrt
from statistics import NormalDist


def sign_flip_pvalues(differences):
    """P-values (greater, less) of the mean over all assignments of signs, in exact arithmetic."""
    values = [Fraction(d) for d in differences]
    observed = sum(values)
    flipped = [
        sum(sign * value for sign, value in zip(signs, values, strict=True))
        for signs in product((1, -1), repeat=len(values))
    ]
    greater = Fraction(sum(total >= observed for total in flipped), len(flipped))
    less = Fraction(sum(total <= observed for total in flipped), len(flipped))
    return greater, less


def is_rejected(differences, shift, level):
    """Whether the test in both directions rejects that the differences less a shift flip."""
    greater, less = sign_flip_pvalues([Fraction(d) - Fraction(shift) for d in differences])
    return 2 * min(greater, less) <= 1 - Fraction(str(level))


def bootstrap_means(values):
    """Means of all samples of the same size, each equally likely."""
    return [sum(sample) / len(values) for sample in product(values, repeat=len(values))]


def bca_levels(values, level):
    """Levels of bias-corrected accelerated limits, jackknife and bootstrap by listing."""
    n = len(values)
    mean = sum(values) / n
    means = bootstrap_means(values)
    below = sum((m < mean - 1e-12) + (abs(m - mean) <= 1e-12) / 2 for m in means) / len(means)
    left_out = [sum(values[:i] + values[i + 1 :]) / (n - 1) for i in range(n)]
    center = sum(left_out) / n
    cubes = sum((center - x) ** 3 for x in left_out)
    squares = sum((center - x) ** 2 for x in left_out)
    acceleration = cubes / (6 * sqrt(squares) ** 3)
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    levels = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        levels.append(normal.cdf(bias + z / (1 - acceleration * z)))
    return tuple(levels)


def holm_rejects(pvalues, alpha):
    """Which hypotheses Holm's step-down procedure rejects."""
    rejected = [False] * len(pvalues)
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    for step, i in enumerate(order):
        if pvalues[i] > alpha / (len(pvalues) - step):
            break
        rejected[i] = True
    return rejected
