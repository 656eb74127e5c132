"""Structural hinges by the definition: the largest value over all labellings or orders.

Each returns the largest value of ``loss + difference`` over all labellings of rows of weight 1.
"""

from itertools import combinations, permutations, product


def auc(positive, scores):
    """All ways to swap pairs."""
    pairs = [
        (s, t)
        for s, p in zip(scores, positive, strict=True)
        if p
        for t, q in zip(scores, positive, strict=True)
        if not q
    ]
    return max(
        sum(1 - (s - t) for (s, t), swapped in zip(pairs, choice, strict=True) if swapped)
        / len(pairs)
        for choice in product([False, True], repeat=len(pairs))
    )


def top(positive, scores, k, unit, goal, reference):
    """All sets of k rows; the true labelling is all positives, or the mean of the best sets.

    All positives are fewer or more rows than k, which the mean of the negatives makes up.
    The loss is what the positives in the set are less than the goal.
    """
    rows = range(len(scores))
    sets = list(combinations(rows, k))
    hits = [sum(positive[i] for i in one) for one in sets]
    best = max(hits)
    if reference == "labels":
        high = [s for s, p in zip(scores, positive, strict=True) if p]
        low = [s for s, p in zip(scores, positive, strict=True) if not p]
        true = sum(high) + (k - len(high)) * sum(low) / len(low)
    else:
        of_best = [one for one, hit in zip(sets, hits, strict=True) if hit == best]
        true = sum(sum(scores[i] for i in one) for one in of_best) / len(of_best)
    values = [
        (goal - hit + sum(scores[i] for i in one) - true) / unit
        for one, hit in zip(sets, hits, strict=True)
    ]
    return max([0.0, *values])


def orders_of_classes(n_pos, n_neg):
    """All interleavings: places of the positives."""
    return combinations(range(n_pos + n_neg), n_pos)


def average_precision(positive, scores):
    """All orders: interleavings of the two classes, in all orders of the rows of each."""
    high = [s for s, p in zip(scores, positive, strict=True) if p]
    low = [s for s, p in zip(scores, positive, strict=True) if not p]
    n_pos, n_neg = len(high), len(low)
    values = []
    for places in orders_of_classes(n_pos, n_neg):
        precision = sum((i + 1) / (place + 1) for i, place in enumerate(places)) / n_pos
        for one in permutations(high):
            for other in permutations(low):
                taken = 0.0
                for i, place in enumerate(places):
                    for j in range(place - i):
                        taken += other[j] - one[i]
                values.append(1 - precision + taken / (n_pos * n_neg))
    return max(values)


def f1(positive, scores):
    """All sets of rows."""
    n_pos = sum(positive)
    rows = range(len(scores))
    values = []
    for chosen in product([False, True], repeat=len(scores)):
        hits = sum(positive[i] for i in rows if chosen[i])
        score = 2 * hits / (n_pos + sum(chosen))
        taken = sum((chosen[i] - positive[i]) * scores[i] for i in rows)
        values.append(1 - score + taken / (2 * n_pos))
    return max(values)
