"""Variance of measures of rows drawn with unequal probabilities, by the delete-one jackknife.

A row of weight w stands for w rows of the population. The value is that of the weighted list;
the variance is that of the values with one row left out, or of rows drawn anew. Slow and plain.
"""

import numpy as np


def auc(y, score, weight):
    """Weight of the pairs in the right order, ties half, over that of all pairs."""
    right = total = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            pair = weight[i] * weight[j]
            total += pair
            right += pair * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
    return right / total


def partial_auc(y, score, weight, max_fpr):
    """Area under the weighted ROC curve up to a false positive rate."""
    area = fpr = tpr = 0.0
    n_pos, n_neg = weight[y == 1].sum(), weight[y == 0].sum()
    for i in np.argsort(-score, kind="stable"):
        if y[i] == 1:
            tpr += weight[i] / n_pos
        else:
            step = min(fpr + weight[i] / n_neg, max_fpr) - min(fpr, max_fpr)
            area += step * tpr
            fpr += weight[i] / n_neg
    return area


def most_unseen(of_class, weight):
    """Share of a class in rows heavier than its heaviest, of which none was drawn.

    The largest share of such rows, none of which is in the class with a chance of .05.
    """
    heavier = [w for w in weight if w > max(of_class)]
    rate = next(i / 1e5 for i in range(10**5) if (1.0 - i / 1e5) ** len(heavier) <= 0.05)
    unseen = rate * sum(heavier)
    return unseen / (unseen + sum(of_class))


def mean(values, weight):
    """Weighted mean."""
    return float(np.sum(weight * values) / np.sum(weight))


def jackknife_variance(value, *rows):
    """``(n - 1) / n`` times the sum of squares of the values with one row left out."""
    n = len(rows[0])
    left_out = np.array([value(*(np.delete(one, i) for one in rows)) for i in range(n)])
    return (n - 1.0) / n * float(np.sum((left_out - left_out.mean()) ** 2))


def bootstrap_variance(value, rows, rng, n_resamples):
    """Variance of the value over rows drawn with replacement."""
    n = len(rows[0])
    drawn = [
        value(*(one[i] for one in rows))
        for i in (rng.integers(0, n, n) for _ in range(n_resamples))
    ]
    return float(np.var(drawn))
