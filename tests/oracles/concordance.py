"""Harrell's and Uno's C, pair by pair from the definition."""

import numpy as np

from .late_labels import censoring_weights


def concordance(times, is_event, scores, *, weighted, case_weights=None):
    """Share of pairs in which the row whose event is known to come first has the higher score.

    A row that is censored at the time of an event comes after it; two events at one time are no
    pair; scores that tie count one half. Weighted, a pair has the inverse of the probability that
    both rows are watched until the event. A row of a case weight counts so often.
    """
    n = len(times)
    counts = np.ones(n) if case_weights is None else case_weights
    known = [1 if event else None for event in is_event]
    inverse = censoring_weights(known, times, [0] * n, counts)
    is_later = (times > times[:, np.newaxis]) | (times == times[:, np.newaxis]) & ~is_event
    first, later = np.nonzero(is_event[:, np.newaxis] & is_later)
    weights = counts[first] * counts[later] * (inverse[first] ** 2 if weighted else 1.0)
    right = (scores[first] > scores[later]) + 0.5 * (scores[first] == scores[later])
    return np.average(right, weights=weights)
