"""Measures of one list as other systems have them, rows of equal scores in a given order."""

from math import log2


def from_the_top(y_true, y_score):
    """Labels in descending order of the scores, tied rows as they come."""
    # Python's sort is stable.
    return [y_true[i] for i in sorted(range(len(y_true)), key=lambda i: -y_score[i])]


def ndcg(labels, k, gain, discount, empty):
    def dcg(some):
        return sum(gain(g) * discount(i + 1) for i, g in enumerate(some[:k]))

    ideal = dcg(sorted(labels, reverse=True))
    return dcg(labels) / ideal if ideal else empty


def exponential(grade):
    return 2**grade - 1


def linear(grade):
    return grade


def logarithmic(position):
    return 1 / log2(position + 1)


def letor(position):
    return 1 if position <= 2 else 1 / log2(position)


def average_precision(labels, k, reachable, empty):
    relevant = [grade >= 1 for grade in labels]
    hits = [sum(relevant[: i + 1]) / (i + 1) for i in range(min(k, len(labels))) if relevant[i]]
    if not any(relevant):
        return empty
    return sum(hits) / (min(k, sum(relevant)) if reachable else sum(relevant))


def precision(labels, k, by_length):
    return sum(grade >= 1 for grade in labels[:k]) / (min(k, len(labels)) if by_length else k)


def recall(labels, k):
    n_relevant = sum(grade >= 1 for grade in labels)
    return sum(grade >= 1 for grade in labels[:k]) / n_relevant if n_relevant else 0.0


def reciprocal_rank(labels):
    return next((1 / (i + 1) for i, grade in enumerate(labels) if grade >= 1), 0.0)


def average_precision_at_block_ends(y_true, y_score):
    """Every positive has the precision down to the last item of its score."""
    n_pos = sum(y_true)
    total = 0.0
    for score, label in zip(y_score, y_true, strict=True):
        down_to = [y for s, y in zip(y_score, y_true, strict=True) if s >= score]
        total += label * sum(down_to) / len(down_to)
    return total / n_pos if n_pos else 0.0
