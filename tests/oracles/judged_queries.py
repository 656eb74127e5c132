"""Queries with unknown labels: every labelling of a query, one by one."""

import warnings
from itertools import combinations, product

import numpy as np

from tests.oracles import means


def value(measure, y, score):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(np.array(y, dtype=int), score)


def expected(measure, labels, score):
    """Mean of the value, 0 where it is not defined, and how often it is, over labels of fractions.

    An unknown label is a probability.
    """
    mean = defined = 0.0
    for y in product((0, 1), repeat=len(labels)):
        probability = np.prod([p if one else 1 - p for p, one in zip(labels, y, strict=True)])
        if probability > 0 and not np.isnan(found := value(measure, y, score)):
            mean, defined = mean + probability * found, defined + probability
    return np.array([mean, defined])


def derivative(measure, labels, score, item):
    ends = [np.r_[labels[:item], y, labels[item + 1 :]] for y in (1, 0)]
    return expected(measure, ends[0], score) - expected(measure, ends[1], score)


def corrected(measure, y, score, probability, q, weights):
    """Value of a query, and how often it has one, corrected by the labels that were drawn.

    ``q[i, b]`` is the probability of label i at point b of the query, which has ``weights[b]``.
    """
    is_known, points = ~np.isnan(y), range(len(weights))
    at = [np.where(is_known, y, q[:, b]) for b in points]
    result = sum(weights[b] * expected(measure, at[b], score) for b in points)
    for i in np.flatnonzero(is_known & (probability < 1)):
        without = np.array([weights[b] / (q[i, b] if y[i] else 1 - q[i, b]) for b in points])
        without /= without.sum()
        slope = sum(without[b] * derivative(measure, at[b], score, i) for b in points)
        residual = y[i] - without @ q[i]
        result = result + slope * residual * (1 - probability[i]) / probability[i]
    return result


def values_of_labels(measure, y, scores, contrast):
    """Values of a contrast of one query, over all labels that NaN may stand for."""
    y, found = np.array(y, dtype=float), []
    is_open = np.isnan(y)
    for labels in product((0, 1), repeat=int(is_open.sum())):
        y[is_open] = labels
        found.append(np.dot(contrast, [value(measure, y, s) for s in scores]))
    return np.unique(np.round(found, 12))


def limits(measure, queries, contrast):
    """Limits of the mean over queries of a contrast; each is labels with NaN, and scores."""
    choices = [values_of_labels(measure, *query, contrast) for query in queries]
    means = [np.nanmean(x) for x in product(*choices) if not np.isnan(x).all()]
    return min(means), max(means)


def limits_of_population(measure, queries, contrast, level, ends, groups=None):
    """Lower limit of the mean of the least values of the queries, the upper one of the largest.

    Of the queries that may lack a value those count with which the mean is the smallest, or the
    largest, as many as possible. One group of values tells nothing.
    """
    choices = [values_of_labels(measure, *query, contrast) for query in queries]
    known = [i for i, x in enumerate(choices) if not np.isnan(x).all()]
    always = [i for i in known if not np.isnan(choices[i]).any()]
    optional = [i for i in known if i not in always]
    found = []
    for sign, end in zip((-1.0, 1.0), ends, strict=True):
        best = [np.nanmax(sign * x) if i in known else np.nan for i, x in enumerate(choices)]
        some = [list(x) for n in range(len(optional) + 1) for x in combinations(optional, n)]
        sets = [sorted(always + x) for x in some if always + x]
        rows = max(sets, key=lambda rows: (round(np.mean(np.take(best, rows)), 9), len(rows)))
        values, n = np.take(best, rows), len(rows)
        ids = np.arange(n) if groups is None else np.take(groups, rows)
        if len(set(ids.tolist())) == 1:
            found.append(end)
            continue
        low, high = ends
        shares = (sign * values - low) / (high - low)
        both = means.limits_of_mean(shares.tolist(), level, ids.tolist())
        found.append(low + (high - low) * both[int(sign > 0.0)])
    return tuple(found)
