"""Means over folds from their definitions: slow, obvious, and independent of the package."""

from __future__ import annotations

import math


def above(a, b):
    """1 if a is above b, 1/2 if they are tied."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def auc(positives, negatives):
    """Share of the pairs in order."""
    return math.fsum(above(a, b) for a in positives for b in negatives) / (
        len(positives) * len(negatives)
    )


def variance(values):
    mean = math.fsum(values) / len(values)
    return math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)


def on_mean(folds):
    """What each item of one class adds to the mean over the folds, times the number of items.

    ``folds`` has for each fold its items, and for each item its value on the fold.
    """
    center = math.fsum(math.fsum(f.values()) / len(f) for f in folds) / len(folds)
    count = len({item for f in folds for item in f})
    total = {item: 0.0 for f in folds for item in f}
    for f in folds:
        for item, value in f.items():
            total[item] += (value - center) / (len(folds) * len(f))
    return {item: center + count * value for item, value in total.items()}


def fold_mean_auc(folds):
    """Mean AUC, and of either class the variance of what its items add, and how many there are.

    ``folds`` has for each fold the scores of its positives and of its negatives, by item.
    """
    values, of_pos, of_neg = [], [], []
    for pos, neg in folds:
        values.append(auc(list(pos.values()), list(neg.values())))
        of_pos.append(
            {i: math.fsum(above(s, t) for t in neg.values()) / len(neg) for i, s in pos.items()}
        )
        of_neg.append(
            {j: math.fsum(above(s, t) for s in pos.values()) / len(pos) for j, t in neg.items()}
        )
    added = [on_mean(of_pos), on_mean(of_neg)]
    return (
        math.fsum(values) / len(values),
        [variance(list(one.values())) for one in added],
        [len(one) for one in added],
    )


def fold_mean_queries(folds):
    """Mean over the folds of the means over their queries, and its standard error."""
    mean = math.fsum(math.fsum(f.values()) / len(f) for f in folds) / len(folds)
    added = list(on_mean(folds).values())
    return mean, math.sqrt(variance(added) / len(added))


def score_limits(value, effect, unseen, quantile):
    """The AUCs whose squared distance from the value is that of the quantile, by bisection."""

    def outside(auc, distance, end):
        spread = effect * auc * (1 - auc) + unseen * distance * end
        return distance**2 > quantile**2 * spread

    limits = []
    for target in (0.0, 1.0):
        near, far = value, target
        for _ in range(200):
            middle = (near + far) / 2
            end = middle if target == 0.0 else 1 - middle
            if outside(middle, abs(value - middle), end):
                far = middle
            else:
                near = middle
        limits.append(near)
    return tuple(limits)
