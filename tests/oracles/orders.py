"""Measures straight from their definitions, on one order, and their mean over all orders.

Slow and obvious: an order is a list of items from the top, and every order that agrees with the
scores is tried.
"""

from fractions import Fraction
from itertools import permutations
from math import floor, log


def orders(y_score):
    """All orders of the items in which no item stands above one with a higher score."""
    n = len(y_score)
    return [
        order
        for order in permutations(range(n))
        if all(y_score[order[i]] >= y_score[order[i + 1]] for i in range(n - 1))
    ]


def expected(measure, y_true, y_score, **parameters):
    """Mean of ``measure(labels from the top)`` over all orders that agree with the scores."""
    values = [measure([y_true[i] for i in order], **parameters) for order in orders(y_score)]
    return sum(values) / len(values)


def top_count(n, tau):
    # tau as the decimal that it is written as, so that halves are halves.
    return max(1, floor(Fraction(str(tau)) * n + Fraction(1, 2)))


def precision_at_top(labels, tau):
    j = top_count(len(labels), tau)
    return sum(labels[:j]) / j


def positives_at_top(labels, normalize=False):
    count = 0
    for label in labels:
        if not label:
            break
        count += 1
    return count / sum(labels) if normalize else count


def average_precision(labels):
    precisions = [sum(labels[: i + 1]) / (i + 1) for i, label in enumerate(labels) if label]
    return sum(precisions) / len(precisions)


def gain_of(grade, gain):
    return {"exponential": 2**grade - 1, "linear": grade}[gain]


def dcg(labels, k=None, gain="exponential", log_base=2):
    k = len(labels) if k is None else k
    return sum(gain_of(g, gain) / log(i + 2, log_base) for i, g in enumerate(labels[:k]))


def ndcg(labels, k=None, gain="exponential", log_base=2):
    ideal = dcg(sorted(labels, reverse=True), k, gain, log_base)
    return dcg(labels, k, gain, log_base) / ideal


def accuracy_at_top(y_true, y_score, tau):
    """The loss, which is a function of the scores and not of an order."""
    quantile = sorted(y_score, reverse=True)[top_count(len(y_score), tau) - 1]
    negatives = [s for s, y in zip(y_score, y_true, strict=True) if not y]
    positives = [s for s, y in zip(y_score, y_true, strict=True) if y]
    above = sum(s > quantile for s in negatives) / len(negatives)
    below = sum(s < quantile for s in positives) / len(positives)
    return (above + below) / 2
