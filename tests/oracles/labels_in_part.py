"""Measures at labels that are fractions, from their definitions: slow sums over orders of ties."""

from itertools import pairwise, permutations

import numpy as np


def orders(scores):
    """All orders of the items, best first, that differ in ties only."""
    return [
        order
        for order in permutations(range(len(scores)))
        if all(scores[i] >= scores[j] for i, j in pairwise(order))
    ]


def of_order(order, y, name):
    """Value of one order; ``y`` in [0, 1]."""
    n, total = len(y), sum(y)
    ordered = [y[i] for i in order]
    if name == "ap":
        return (
            sum(label * (1 + sum(ordered[:i])) / (i + 1) for i, label in enumerate(ordered))
            / total
        )
    if name == "auc":
        ranks = sum(label * (n - i) for i, label in enumerate(ordered))
        return (ranks - total * (total + 1) / 2) / (total * (n - total))
    if name == "precision@2":
        return sum(ordered[:2]) / 2
    if name == "recall@2":
        return sum(ordered[:2]) / total
    if name == "f1@2":
        return 2 * sum(ordered[:2]) / (2 + total)
    if name == "dcg":
        return sum(label / np.log2(i + 2) for i, label in enumerate(ordered))
    raise KeyError(name)


def value(scores, y, name):
    return float(np.mean([of_order(order, y, name) for order in orders(scores)]))


def derivative(scores, y, name, step=1e-6):
    found = []
    for i in range(len(y)):
        up, down = list(y), list(y)
        up[i] += step
        down[i] -= step
        found.append((value(scores, up, name) - value(scores, down, name)) / (2 * step))
    return np.array(found)
