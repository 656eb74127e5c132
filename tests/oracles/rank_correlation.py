"""Correlations of two orders from all pairs."""

from itertools import combinations
from math import sqrt


def sign(difference):
    return (difference > 0) - (difference < 0)


def tau_b(y_true, y_score):
    """Kendall's tau-b from all pairs; scores that are all tied count 0."""
    pairs = list(combinations(zip(y_true, y_score, strict=True), 2))
    agreement = sum(sign(y1 - y2) * sign(s1 - s2) for (y1, s1), (y2, s2) in pairs)
    untied_y = sum(y1 != y2 for (y1, _), (y2, _) in pairs)
    untied_s = sum(s1 != s2 for (_, s1), (_, s2) in pairs)
    return agreement / sqrt(untied_y * untied_s) if untied_s else 0.0


def somers_d(y_true, y_score):
    """Of the pairs that differ in their labels: those in order less those in the other order."""
    pairs = list(combinations(zip(y_true, y_score, strict=True), 2))
    unequal = [(y1 - y2, s1 - s2) for (y1, s1), (y2, s2) in pairs if y1 != y2]
    return sum(sign(y) * sign(s) for y, s in unequal) / len(unequal)


def c_index(y_true, y_score):
    """Share in order of the pairs that differ in their labels, pairs tied by score one half."""
    pairs = list(combinations(zip(y_true, y_score, strict=True), 2))
    unequal = [pair for pair in pairs if pair[0][0] != pair[1][0]]
    # Infinite scores may be equal, but their difference is no number.
    shares = [0.5 if s1 == s2 else (y1 > y2) == (s1 > s2) for (y1, s1), (y2, s2) in unequal]
    return sum(shares) / len(unequal)


def tau_x(y_true, y_score):
    """The tau-x of Emond and Mason, from their matrices of 1 (above or tied) and -1 (below)."""
    n = len(y_true)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    truth, order = (
        {(i, j): 1 if values[i] >= values[j] else -1 for i, j in pairs}
        for values in (y_true, y_score)
    )
    return sum(truth[pair] * order[pair] for pair in pairs) / (n * (n - 1))
