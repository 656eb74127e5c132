"""Sums of discounts over runs of positions: added one by one, and known limits of long runs."""

from math import exp, fsum, log, pi, sqrt
from statistics import NormalDist


def logarithmic(position, length):
    return 1 / log(1 + position)


def normal_quantile(position, length):
    return NormalDist().inv_cdf(position / length)


def power(position, length, p):
    return (position / length) ** p


def run(function, before, count, length, **parameters):
    """Sum over the positions ``before + 1, ..., before + count``."""
    return fsum(function(before + j, length, **parameters) for j in range(1, count + 1))


def between(function, begin, end, length, **parameters):
    """Sum over ``(begin, end]``, a part of a position counting by its share."""
    terms, position = [], int(begin) + 1
    while position - 1 < end:
        share = min(end, position) - max(begin, position - 1)
        terms.append(share * function(position, length, **parameters))
        position += 1
    return fsum(terms)


def logarithmic_integral(count):
    """``li(1 + count)`` by its asymptotic series, to its least term."""
    by = 1 / log(count)
    total = term = 1.0
    for order in range(1, 200):
        if order * by >= 1:
            break
        term *= order * by
        total += term
    return count * by * total


def power_mean(p):
    """Mean of ``u**p`` over [0, 1]."""
    return 1 / (p + 1)


def lower_normal_mean(share):
    """Integral of the normal quantile function over [0, share]."""
    z = NormalDist().inv_cdf(share)
    return -exp(-z * z / 2) / sqrt(2 * pi)
