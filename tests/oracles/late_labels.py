"""Weights of labels that come late, row by row from the definition."""

import numpy as np


def what_is_known(entered, resolved, label, horizon, as_of):
    """Label within the horizon (None if unknown), whether mature, and days watched, of a row."""
    until, watched = resolved - entered, as_of - entered
    if resolved <= as_of and until <= horizon:
        return label, watched >= horizon, until
    if watched >= horizon:
        return 0, True, horizon
    return None, False, watched


def censoring_weights(labels, days, strata, case_weights=None):
    """1 / Kaplan and Meier's probability of being watched until just before the label was known.

    A row of a case weight counts so often.
    """
    n = len(labels)
    counts = np.ones(n) if case_weights is None else case_weights
    weights = np.zeros(n)
    for i in range(n):
        if labels[i] is None:
            continue
        share = 1.0
        ends = {days[j] for j in range(n) if labels[j] is None and strata[j] == strata[i]}
        for end in sorted(x for x in ends if x < days[i]):
            at_risk = censored = 0.0
            for j in range(n):
                if strata[j] != strata[i]:
                    continue
                is_censored = labels[j] is None and days[j] == end
                # A label that is known at this time is known before.
                at_risk += counts[j] * (days[j] > end or is_censored)
                censored += counts[j] * is_censored
            share *= 1.0 - censored / at_risk
        weights[i] = 1.0 / share
    return weights


def weighted_auc(labels, scores, weights):
    """Weighted share of pairs of a positive and a negative in the right order, ties a half."""
    total = right = 0.0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if labels[i] == 1 and labels[j] == 0:
                pair = weights[i] * weights[j]
                total += pair
                right += pair * (1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j]))
    return right / total


def net_benefit(labels, scores, weights, threshold):
    """Weighted mean of 1 for positives and minus the odds for negatives above the threshold."""
    odds = threshold / (1.0 - threshold)
    total = 0.0
    for label, score, weight in zip(labels, scores, weights, strict=True):
        if label is not None and score >= threshold:
            total += weight * (1.0 if label == 1 else -odds)
    return total / sum(weights)


def influence(value_of, labels, days, strata, step=1e-4):
    """Derivative in the case weight of each row of a value of weights, by differences.

    The squares sum to its variance, with that of the estimated weights.
    """
    found = np.empty(len(labels))
    for i in range(len(labels)):
        ends = []
        for sign in (1.0, -1.0):
            counts = np.ones(len(labels))
            counts[i] += sign * step
            ends.append(value_of(counts * censoring_weights(labels, days, strata, counts)))
        found[i] = (ends[0] - ends[1]) / (2.0 * step)
    return found
