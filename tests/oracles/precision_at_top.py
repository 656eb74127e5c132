"""Limits for the precision at the top of a population, from definitions."""

from math import comb


def binomial(n, p, k):
    """Probability of k hits in n draws."""
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def possible(share, labels, tau, tail):
    """Whether a precision of the population is not excluded, labels from the top.

    K positives and N negatives may be above the threshold if neither number is improbable: no more
    positives than the smallest k with ``P(K > k) <= tail``, no fewer negatives than the largest
    with ``P(N < m) <= tail``. The list must have such a place.
    """
    n, n_pos = len(labels), sum(labels)
    n_neg, mass = n - n_pos, tau * n
    of_pos, of_neg = min(share * mass / n_pos, 1), min((1 - share) * mass / n_neg, 1)
    most = next(
        k
        for k in range(n_pos + 1)
        if sum(binomial(n_pos, of_pos, j) for j in range(k + 1, n_pos + 1)) <= tail
    )
    fewest = next(
        m
        for m in range(n_neg, -1, -1)
        if sum(binomial(n_neg, of_neg, j) for j in range(m)) <= tail
    )
    return any(
        sum(labels[:place]) <= most and place - sum(labels[:place]) >= fewest
        for place in range(n + 1)
    )


def lower_limit(labels, tau, tail, grid=200):
    """Smallest precision that is possible, on a grid."""
    n, n_pos = len(labels), sum(labels)
    least, most = max(0, 1 - (n - n_pos) / (tau * n)), min(1, n_pos / (tau * n))
    shares = [least + (most - least) * i / grid for i in range(grid + 1)]
    return next(share for share in shares if possible(share, labels, tau, tail))
