"""AUC of many classes from pairs of items."""

from itertools import combinations

import numpy as np


def auc(positive, negative):
    """Share of the pairs in order, ties by half."""
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    return float(np.mean(pairs))


def multi_class(column, score, kind, class_average):
    """``column`` is the class of each item as a column of ``score``."""
    column, score = np.asarray(column), np.asarray(score)
    areas, weights = [], []
    n_classes = score.shape[1]
    if kind == "ovr":
        for one in range(n_classes):
            areas.append(auc(score[column == one, one], score[column != one, one]))
            weights.append(np.mean(column == one))
    else:
        for one, other in combinations(range(n_classes), 2):
            both = [
                auc(score[column == a, a], score[column == b, a])
                for a, b in ((one, other), (other, one))
            ]
            areas.append(sum(both) / 2)
            weights.append(np.mean((column == one) | (column == other)))
    return float(np.average(areas, weights=weights if class_average == "weighted" else None))
