"""Measures of one list as LETOR 2.0 and scikit-learn have them."""

from math import log2


def from_the_top(y_true, y_score):
    """Labels in descending order of the scores, tied rows as they come."""
    # Python's sort is stable.
    return [y_true[i] for i in sorted(range(len(y_true)), key=lambda i: -y_score[i])]


def ndcg(labels, k):
    def dcg(some):
        return sum(
            (2**grade - 1) / (1 if i < 2 else log2(i + 1)) for i, grade in enumerate(some[:k])
        )

    ideal = dcg(sorted(labels, reverse=True))
    return dcg(labels) / ideal if ideal else 0.0


def average_precision(labels):
    relevant = [grade >= 1 for grade in labels]
    hits = [sum(relevant[: i + 1]) / (i + 1) for i in range(len(labels)) if relevant[i]]
    return sum(hits) / sum(relevant) if hits else 0.0


def precision(labels, k):
    return sum(grade >= 1 for grade in labels[:k]) / k


def average_precision_at_block_ends(y_true, y_score):
    """Every positive has the precision down to the last item of its score."""
    n_pos = sum(y_true)
    total = 0.0
    for score, label in zip(y_score, y_true, strict=True):
        down_to = [y for s, y in zip(y_score, y_true, strict=True) if s >= score]
        total += label * sum(down_to) / len(down_to)
    return total / n_pos if n_pos else 0.0
