"""Partial area under the ROC curve, in exact arithmetic: a step function for every order."""

from fractions import Fraction
from math import comb

from tests.oracles.orders import expected


def area(labels, max_fpr=1, min_tpr=0):
    """Area between the ROC curve and ``min_tpr``, left of ``max_fpr``."""
    max_fpr, min_tpr = Fraction(max_fpr), Fraction(min_tpr)
    n_pos = sum(labels)
    n_neg = len(labels) - n_pos
    total, above, step = Fraction(0), 0, 0
    for label in labels:
        if label:
            above += 1
            continue
        width = min(Fraction(step + 1, n_neg), max_fpr) - Fraction(step, n_neg)
        height = Fraction(above, n_pos) - min_tpr
        total += max(width, 0) * max(height, 0)
        step += 1
    return total


def scaled(value, max_fpr=1, min_tpr=0, scale="raw"):
    largest = Fraction(max_fpr) * (1 - Fraction(min_tpr))
    if scale == "raw":
        return value
    if scale == "normalized":
        return value / largest
    chance = max(Fraction(max_fpr) - Fraction(min_tpr), 0) ** 2 / 2
    return (1 + (value - chance) / (largest - chance)) / 2


def partial_auc(y_true, y_score, max_fpr=1, min_tpr=0, scale="raw"):
    def measure(labels):
        return scaled(area(labels, max_fpr, min_tpr), max_fpr, min_tpr, scale)

    return expected(measure, y_true, y_score)


def area_by_blocks(blocks, max_fpr=1, min_tpr=0):
    """Expected area where block i from the top ties ``blocks[i] = (positives, negatives)``.

    Within a block the number of positives above its i-th negative has the negative
    hypergeometric distribution.
    """
    max_fpr, min_tpr = Fraction(max_fpr), Fraction(min_tpr)
    n_pos, n_neg = (sum(counts) for counts in zip(*blocks, strict=True))
    total, above, step = Fraction(0), 0, 0
    for a, b in blocks:
        for i in range(1, b + 1):
            width = min(Fraction(step + 1, n_neg), max_fpr) - Fraction(step, n_neg)
            step += 1
            if width <= 0:
                continue
            mean = Fraction(0)
            for j in range(a + 1):
                height = Fraction(above + j, n_pos) - min_tpr
                if height > 0:
                    mean += comb(j + i - 1, j) * comb(a - j + b - i, a - j) * height
            total += width * mean / comb(a + b, a)
        above += a
    return total
