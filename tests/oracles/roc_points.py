"""Points of the ROC curve, of one order and of the thresholds that scores allow."""

from fractions import Fraction
from math import ceil, floor, inf, sqrt
from statistics import pvariance


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


def largest_difference(y_true, y_score, gain, two_sided=False):
    """What items count at the best threshold, and what another threshold may gain on it."""

    def of_classes(statistic, counted):
        return [
            statistic([one for one, y in zip(counted, y_true, strict=True) if y == label])
            for label in (1, 0)
        ]

    def difference(counted):
        above, wrong = of_classes(lambda x: sum(x) / len(x), counted)
        return above - wrong

    def deviation(counted):
        return sqrt(sum(of_classes(lambda x: pvariance(x) / len(x), counted)))

    all_counted = [
        [sign * float(s >= threshold) for s in y_score]
        for sign in ((1, -1) if two_sided else (1,))
        for threshold in [inf, *set(y_score)]
    ]
    best = max(all_counted, key=difference)
    gains = [
        gain * deviation([a - b for a, b in zip(one, best, strict=True)])
        + difference(one)
        - difference(best)
        for one in all_counted
    ]
    return best, max(gains)
