"""Harrell's and Uno's C, pair by pair from the definition."""

from .late_labels import censoring_weights


def concordance(times, is_event, scores, *, weighted, case_weights=None):
    """Share of pairs in which the row whose event is known to come first has the higher score.

    A row that is censored at the time of an event comes after it; two events at one time are no
    pair; scores that tie count one half. Weighted, a pair has the inverse of the probability that
    both rows are watched until the event. A row of a case weight counts so often.
    """
    n = len(times)
    counts = [1.0] * n if case_weights is None else case_weights
    known = [1 if event else None for event in is_event]
    inverse = censoring_weights(known, times, [0] * n, counts)
    total = right = 0.0
    for i in range(n):
        for j in range(n):
            is_later = times[j] > times[i] or (times[j] == times[i] and not is_event[j])
            if not is_event[i] or not is_later:
                continue
            pair = counts[i] * counts[j] * (inverse[i] ** 2 if weighted else 1.0)
            total += pair
            right += pair * (1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j]))
    return right / total
