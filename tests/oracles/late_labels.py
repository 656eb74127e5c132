"""Weights of labels that come late, from the definition."""

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
    counts = np.ones(len(labels)) if case_weights is None else case_weights
    days, strata = np.asarray(days), np.asarray(strata)
    is_open = np.array([label is None for label in labels])
    weights = np.where(is_open, 0.0, 1.0)
    for stratum in set(strata.tolist()):
        same = strata == stratum
        for end in set(days[same & is_open].tolist()):
            censored = counts[same & is_open & (days == end)].sum()
            # A label that is known at this time is known before.
            at_risk = censored + counts[same & (days > end)].sum()
            later = same & ~is_open & (days > end)
            weights[later] /= 1.0 - censored / at_risk
    return weights


def weighted_auc(labels, scores, weights):
    """Weighted share of pairs of a positive and a negative in the right order, ties a half."""
    s, w, y = np.asarray(scores), np.asarray(weights), np.array(labels, dtype=float)
    first, second = np.nonzero((y[:, np.newaxis] == 1) & (y == 0))
    right = (s[first] > s[second]) + 0.5 * (s[first] == s[second])
    return np.average(right, weights=w[first] * w[second])


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
