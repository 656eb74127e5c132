"""Queries with unknown grades: every vector of grades of a query, one by one."""

from itertools import product

import numpy as np

from tests.oracles.judged_queries import value


def chances(logits, deviation):
    """Chance of each grade of each document, from the logits to reach each level."""
    reach = 1 / (1 + np.exp(-(logits + deviation)))
    n = len(logits)
    return -np.diff(np.column_stack([np.ones(n), reach, np.zeros(n)]), axis=1)


def expected(measure, levels, y, score, q):
    """Mean of the value, 0 where there is none, and how often it is defined; NaN is unknown."""
    total = np.zeros(2)
    for codes in product(range(len(levels)), repeat=len(y)):
        grades, of_codes = np.take(levels, codes), q[np.arange(len(y)), list(codes)]
        if np.all(np.isnan(y) | (grades == y)):
            found = measure(grades, score)
            probability = np.prod(of_codes[np.isnan(y)])
            total += probability * (np.array([found, 1.0]) if not np.isnan(found) else 0.0)
    return total


def corrected(measure, levels, y, score, probability, logits, deviations):
    """Value, how often there is one, and what each label that was drawn adds to both."""
    points = [chances(logits, deviation) for deviation in deviations]
    known = np.flatnonzero(~np.isnan(y))
    start = np.mean([expected(measure, levels, y, score, q) for q in points], axis=0)
    added = []
    for j in known[probability[known] < 1]:
        code = list(levels).index(y[j])
        weights = np.array([1 / q[j, code] for q in points])
        weights /= weights.sum()
        of_grades = np.zeros((len(levels), 2))
        for g, grade in enumerate(levels):
            other = np.array(y)
            other[j] = grade
            for weight, q in zip(weights, points, strict=True):
                of_grades[g] += weight * expected(measure, levels, other, score, q)
        mean = sum(w * q[j] for w, q in zip(weights, points, strict=True)) @ of_grades
        odds = (1 - probability[j]) / probability[j]
        added.append(odds * (of_grades[code] - mean))
    return start, np.array(added).T


def extremes(measure, levels, y, scores, contrast):
    """Smallest and largest value of a contrast over all grades, and whether it may lack one."""
    found = []
    for grades in product(levels, repeat=int(np.isnan(y).sum())):
        full = np.array(y)
        full[np.isnan(y)] = grades
        found.append(np.dot(contrast, [value(measure, full, s) for s in scores]))
    return np.nanmin(found), np.nanmax(found), bool(np.isnan(found).any())
