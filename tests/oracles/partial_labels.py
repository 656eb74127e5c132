"""Labels known in part: exact limits of counts, and the variance over all samples."""

from itertools import combinations

import numpy as np
from scipy.stats import hypergeom


def midp_limits_of_total(n_rows, n_sampled, n_found, level):
    """Smallest and largest total of positives whose mid-p-values are not below the error."""
    alpha = (1 - level) / 2
    totals = []
    for total in range(n_found, n_rows - (n_sampled - n_found) + 1):
        law = hypergeom(n_rows, total, n_sampled)
        at = law.pmf(n_found) / 2
        if min(law.cdf(n_found - 1) + at, law.sf(n_found) + at) >= alpha:
            totals.append(total)
    return min(totals), max(totals)


def deviation_of_weighted_sums(values, n_sampled):
    """Standard deviation of ``N / n sum of values`` over all samples without replacement."""
    factor = len(values) / n_sampled
    sums = [
        factor * sum(values[i] for i in sample)
        for sample in combinations(range(len(values)), n_sampled)
    ]
    return float(np.std(sums))


def variance_of_estimate(weight, p, q, known):
    """Variance of ``sum of weight (y - q) / p``, also if predictions q tell nothing.

    By definition: over labels of the predicted and of the mean probability, the second in the
    share of half an item among the labels that speak for the differences of q.
    """
    rows = range(len(q))
    odds = [(1 - p[i]) / p[i] * weight[i] ** 2 for i in rows]
    mean = sum(odds[i] * q[i] for i in rows) / sum(odds)

    def squares(i, share):
        return share * (1 - q[i]) ** 2 + (1 - share) * q[i] ** 2

    right = sum(odds[i] * squares(i, q[i]) for i in rows)
    wrong = sum(odds[i] * squares(i, mean) for i in rows)
    middle = sum((1 / p[i] - 1) * q[i] for i in rows) / sum(1 / p[i] - 1 for i in rows)
    apart = [(q[i] - middle) ** 2 for i in rows]
    n_apart = sum(apart[i] for i in rows if known[i]) / max(apart)
    lacking = 0.5 / (0.5 + n_apart)
    return (1 - lacking) * right + lacking * wrong
