"""Conditional linear rank statistics: Definition 1 of Clémençon & Vayatis (2009).

A score-generating function is here a function of the ascending rank (n = top) and of n.
"""

from math import atan, exp, log2
from statistics import NormalDist

from tests.oracles.orders import expected


def wilcoxon(rank, n):
    return rank / (n + 1)


def local_auc(rank, n, u0):
    u = rank / (n + 1)
    return u if u >= u0 else 0.0


def power(rank, n, p):
    return (rank / (n + 1)) ** p


def exponential(rank, n, alpha):
    return exp(-alpha * (1 - rank / (n + 1)))


def cauchy(rank, n, width):
    share = 1 - rank / (n + 1)
    return 1 - atan(share / width) / atan(1 / width)


def van_der_waerden(rank, n):
    return NormalDist().inv_cdf(rank / (n + 1))


def top_dcg(rank, n, k):
    return 1 / log2(n - rank + 2) if rank >= n - k + 1 else 0.0


def of_share(rank, n, function):
    return function(rank / (n + 1))


def _normalized(total, n, n_pos, phi, normalize):
    if normalize is None:
        return total
    if normalize == "mean":
        return total / n_pos
    ranks = range(1, n + 1)
    worst = sum(phi(rank, n) for rank in ranks[:n_pos])
    best = sum(phi(rank, n) for rank in ranks[n - n_pos :])
    return (total - worst) / (best - worst)


def on_one_order(labels, phi, normalize="mean"):
    n = len(labels)
    total = sum(phi(n - i, n) for i, label in enumerate(labels) if label)
    return _normalized(total, n, sum(labels), phi, normalize)


def statistic(y_true, y_score, phi, ties="average", normalize="mean"):
    if ties == "average":
        return expected(on_one_order, y_true, y_score, phi=phi, normalize=normalize)
    n = len(y_score)
    total = 0.0
    for label, score in zip(y_true, y_score, strict=True):
        highest = sum(other <= score for other in y_score)
        lowest = sum(other < score for other in y_score) + 1
        if label:
            total += phi(highest if ties == "max" else (lowest + highest) / 2, n)
    return _normalized(total, n, sum(y_true), phi, normalize)


def is_constant(n, phi):
    return len({phi(rank, n) for rank in range(1, n + 1)}) == 1
