"""Correlations of two orders: all pairs, all depths, all orders of both."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

from tests.oracles.orders import orders


def sign(difference):
    return (difference > 0) - (difference < 0)


def tau_b(y_true, y_score):
    """Kendall's tau-b from all pairs; scores that are all tied count 0."""
    pairs = list(combinations(zip(y_true, y_score, strict=True), 2))
    agreement = sum(sign(y1 - y2) * sign(s1 - s2) for (y1, s1), (y2, s2) in pairs)
    untied_y = sum(y1 != y2 for (y1, _), (y2, _) in pairs)
    untied_s = sum(s1 != s2 for (_, s1), (_, s2) in pairs)
    return agreement / sqrt(untied_y * untied_s) if untied_s else 0.0


def tau_x(y_true, y_score):
    """The tau-x of Emond and Mason, from their matrices of 1 (above or tied) and -1 (below)."""
    n = len(y_true)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    truth, order = (
        {(i, j): 1 if values[i] >= values[j] else -1 for i, j in pairs}
        for values in (y_true, y_score)
    )
    return sum(truth[pair] * order[pair] for pair in pairs) / (n * (n - 1))


def over_both(measure, y_true, y_score, **parameters):
    """Mean of ``measure(truth, order)``, both orders of items, over all orders of both."""
    values = [
        measure(truth, order, **parameters)
        for truth in orders(y_true)
        for order in orders(y_score)
    ]
    return float(sum(values) / len(values))


def tau_ap(truth, order):
    place = {item: i for i, item in enumerate(truth)}
    shares = [
        Fraction(sum(place[above] < place[item] for above in order[:i]), i)
        for i, item in enumerate(order)
        if i
    ]
    return 2 * sum(shares) / len(shares) - 1


def agreements(truth, order):
    """Share of the first d items that both orders have, for every depth d."""
    return [len(set(truth[:d]) & set(order[:d])) / d for d in range(1, len(order) + 1)]


def rbo(truth, order, persistence, k=None, beyond="extrapolated", far=400):
    """The sum over the depths to k; what comes after is summed term by term."""
    found = agreements(truth, order)
    found = found[: len(found) if k is None else k]
    last = len(found)
    rest = {
        "extrapolated": lambda depth: found[-1],
        "least": lambda depth: found[-1] * last / depth,
        "nothing": lambda depth: 0.0,
    }[beyond]
    found = found + [rest(depth) for depth in range(last + 1, far)]
    return sum((1 - persistence) * persistence**d * one for d, one in enumerate(found))
