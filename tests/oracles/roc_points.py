"""Points of the ROC curve, of one order and of the thresholds that scores allow."""

from fractions import Fraction
from math import ceil, floor


def tpr_at_fpr(labels, max_fpr):
    """Positives above the negative that would exceed the rate, as a share."""
    # The rate as the decimal that it is written as, so that products with counts are exact.
    allowed = floor(Fraction(str(max_fpr)) * labels.count(0))
    positives, negatives = 0, 0
    for label in labels:
        negatives += not label
        if negatives > allowed:
            break
        positives += label
    return positives / labels.count(1)


def fpr_at_tpr(labels, min_tpr):
    """Negatives above the positive with which the rate is reached, as a share."""
    needed = ceil(Fraction(str(min_tpr)) * labels.count(1))
    positives, negatives = 0, 0
    for label in labels:
        positives += label
        if positives >= needed:
            break
        negatives += not label
    return negatives / labels.count(0)


def items_a_positive(labels, min_recall):
    """Length of the shortest top with such a share of the positives, over its positives."""
    needed = ceil(Fraction(str(min_recall)) * sum(labels))
    length = next(n for n in range(1, len(labels) + 1) if sum(labels[:n]) >= needed)
    return Fraction(length, needed)


def kolmogorov_smirnov(y_true, y_score, two_sided=False):
    """Largest difference of the rates over all thresholds; a function of the scores."""
    pairs = list(zip(y_true, y_score, strict=True))
    differences = [Fraction(0)]
    for threshold in set(y_score):
        rates = [
            Fraction(sum(y == label and s >= threshold for y, s in pairs), y_true.count(label))
            for label in (1, 0)
        ]
        differences.append(rates[0] - rates[1])
    if two_sided:
        differences = [abs(one) for one in differences]
    return float(max(differences))
