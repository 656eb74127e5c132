"""Variance of the AUC by definition: every pair, every pair of pairs, every sample."""

from itertools import product
from math import exp, inf, log, sqrt


def outcomes(pos, neg):
    """1, 1/2 or 0 for every positive against every negative."""
    return [[(p > q) + (p == q) / 2 for q in neg] for p in pos]


def auc(pos, neg):
    table = outcomes(pos, neg)
    return sum(map(sum, table)) / (len(pos) * len(neg))


def tied(pos, neg):
    return sum(p == q for p in pos for q in neg) / (len(pos) * len(neg))


def placements(pos, neg):
    table = outcomes(pos, neg)
    rows = [sum(row) / len(neg) for row in table]
    columns = [sum(column) / len(pos) for column in zip(*table, strict=True)]
    return rows, columns


def sample_variance(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def delong(pos, neg):
    of_pos, of_neg = placements(pos, neg)
    return sample_variance(of_pos) / len(pos) + sample_variance(of_neg) / len(neg)


def unbiased(pos, neg):
    """AUC^2 less its mean over pairs of pairs that share nothing, which estimates A^2."""
    table = outcomes(pos, neg)
    total, count = 0.0, 0
    for i, j in product(range(len(pos)), range(len(neg))):
        for other_i, other_j in product(range(len(pos)), range(len(neg))):
            if i != other_i and j != other_j:
                total += table[i][j] * table[other_i][other_j]
                count += 1
    return auc(pos, neg) ** 2 - total / count


def moments_of_distribution(of_pos, of_neg):
    """Expected AUC, P(tie), and p1 and p2, for scores 0, 1, ... with these probabilities."""
    expected = {"auc": 0.0, "tied": 0.0, "p1": 0.0, "p2": 0.0}
    values = range(len(of_pos))

    def outcome(p, q):
        return (p > q) + (p == q) / 2

    for p, q in product(values, values):
        mass = of_pos[p] * of_neg[q]
        expected["auc"] += mass * outcome(p, q)
        expected["tied"] += mass * (p == q)
        for other in values:
            expected["p1"] += mass * of_pos[other] * outcome(p, q) * outcome(other, q)
            expected["p2"] += mass * of_neg[other] * outcome(p, q) * outcome(p, other)
    return expected


def variance_over_samples(of_pos, of_neg, n_pos, n_neg):
    """Variance of the AUC over every sample of these sizes."""
    mean = square = 0.0
    values = range(len(of_pos))
    for pos in product(values, repeat=n_pos):
        for neg in product(values, repeat=n_neg):
            mass = 1.0
            for p in pos:
                mass *= of_pos[p]
            for q in neg:
                mass *= of_neg[q]
            value = auc(pos, neg)
            mean += mass * value
            square += mass * value**2
    return square - mean**2


def binary_entropy(p, q):
    total = 0.0
    for first, second in ((p, q), (1 - p, 1 - q)):
        if first > 0:
            total += inf if second <= 0 else first * log(first / second)
    return total


def farthest(fits, start, end, steps=200):
    """Farthest point from ``start`` towards ``end`` that fits; those that fit are a range."""
    for _ in range(steps):
        middle = (start + end) / 2
        if fits(middle):
            start = middle
        else:
            end = middle
    return start


def mcdiarmid_probability(epsilon, changes):
    """Two-sided bound where item i can change the statistic by ``changes[i]``."""
    return 2 * exp(-2 * epsilon**2 / sum(change**2 for change in changes))


def wilson(value, variance_share, z):
    """Ends of the A with (value - A)^2 <= z^2 variance_share A (1 - A)."""
    a = 1 + z**2 * variance_share
    b = -(2 * value + z**2 * variance_share)
    root = sqrt(max(b * b - 4 * a * value**2, 0.0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def score_limits(value, variance_share, unseen, z):
    """Farthest A with (value - A)^2 <= z^2 (variance_share A (1 - A) + unseen |value - A| end).

    ``end`` is the way that is left: A below the value, 1 - A above it.
    """

    def fits(a):
        end = a if a < value else 1 - a
        most = variance_share * a * (1 - a) + unseen * abs(value - a) * end
        return (value - a) ** 2 <= z**2 * most

    return farthest(fits, value, 0.0), farthest(fits, value, 1.0)


def mixture_variance(placements, share):
    """Mean and variance of placements of which a share is replaced by 0."""
    chances = [(1 - share) / len(placements)] * len(placements) + [share]
    mean = sum(c * v for c, v in zip(chances, [*placements, 0.0], strict=True))
    return mean, sum(c * (v - mean) ** 2 for c, v in zip(chances, [*placements, 0.0], strict=True))
