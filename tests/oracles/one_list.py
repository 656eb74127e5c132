"""Intervals of one list from their definitions."""

from itertools import pairwise, permutations

import numpy as np
from scipy.stats import binomtest


def exact_limits(hits, draws, level):
    found = binomtest(hits, draws).proportion_ci(level, method="exact")
    return found.low, found.high


def chances_of_places(score):
    """Chance of each item to be at each place, over all orders of tied items."""
    n = len(score)
    orders = [
        order
        for order in permutations(range(n))
        if all(score[a] >= score[b] for a, b in pairwise(order))
    ]
    chance = np.zeros((n, n))
    for order in orders:
        for place, item in enumerate(order):
            chance[item, place] += 1 / len(orders)
    return chance


def above_all_negatives(y, score):
    """Share of the positives above all negatives, over all orders of tied items."""
    shares = []
    for order in permutations(range(len(y))):
        if all(score[a] >= score[b] for a, b in pairwise(order)):
            labels = [y[item] for item in order]
            shares.append(labels.index(0) / sum(y))
    return float(np.mean(shares))


def jackknife(value, y, score):
    """What a measure loses with each item, times the number of the others."""
    n, whole = len(y), value(y, score)
    return np.array(
        [(n - 1) * (whole - value(np.delete(y, i), np.delete(score, i))) for i in range(n)]
    )
