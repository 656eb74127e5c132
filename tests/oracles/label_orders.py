"""Orders of labels by their definition, one row at a time, on lists."""

from itertools import product
from math import isnan


def grades_of_levels(levels, labels):
    """Number of labels of the row below each; NaN for those that it does not have."""
    found = []
    for label in labels:
        place = [at for at, level in enumerate(levels) if label in level]
        found.append(sum(map(len, levels[place[0] + 1 :])) if place else float("nan"))
    return found


def grades_of_positions(positions):
    """The same, from positions."""
    return [
        float("nan") if isnan(one) else sum(other > one for other in positions)
        for one in positions
    ]


def weak_orders(n):
    """All orders of n labels with ties, as the level of each from the top, without gaps."""
    for levels in product(range(1, n + 1), repeat=n):
        if set(levels) == set(range(1, max(levels) + 1)):
            yield levels


def numberings(levels):
    """Positions of tied labels in four ways: dense, first, last and middle."""
    first = [1 + sum(other < one for other in levels) for one in levels]
    last = [sum(other <= one for other in levels) for one in levels]
    middle = [(a + b) / 2 for a, b in zip(first, last, strict=True)]
    return [list(levels), first, last, middle]


def borda_shares(grades):
    """Share of the other labels of the row that are below each, ties half."""
    known = [one for one in grades if not isnan(one)]
    shares = []
    for one in known:
        below = sum(other < one for other in known)
        tied = sum(other == one for other in known) - 1
        shares.append((below + tied / 2) / (len(known) - 1))
    return shares


def objective(loss, utilities, weight, alpha, X, coef, intercept):
    """Mean over rows of a loss of their labels, with a ridge penalty; None is a missing label."""
    total = 0.0
    for x, row, w in zip(X, utilities, weight, strict=True):
        known = [k for k in range(len(row)) if row[k] is not None]
        scores = [
            sum(a * b for a, b in zip(coef[k], x, strict=True)) + intercept[k] for k in known
        ]
        total += w * loss([row[k] for k in known], scores)
    return total / sum(weight) + alpha / 2 * sum(c * c for row in coef for c in row)
