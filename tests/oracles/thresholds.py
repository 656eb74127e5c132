"""Probabilities at a threshold and at the top, item by item from the definitions."""

from itertools import permutations


def net_benefit(labels, probabilities, threshold, prevalence=None, standardized=False):
    """Net benefit of acting on the items that reach a threshold."""
    n_pos = labels.count(1)
    n_neg = len(labels) - n_pos
    exchange = threshold / (1 - threshold)
    found = sum(y == 1 and p >= threshold for y, p in zip(labels, probabilities, strict=True))
    wrong = sum(y == 0 and p >= threshold for y, p in zip(labels, probabilities, strict=True))
    share = n_pos / len(labels) if prevalence is None else prevalence
    benefit = share * found / n_pos if n_pos else 0.0
    if n_neg:
        benefit -= (1 - share) * exchange * wrong / n_neg
    return benefit / share if standardized else benefit


def observed_at_top(labels, probabilities, k):
    """Share of positives among the first k, in the mean over all orders of tied items."""
    shares = []
    for order in permutations(range(len(labels))):
        descending = [probabilities[i] for i in order]
        if descending == sorted(descending, reverse=True):
            shares.append(sum(labels[i] for i in order[:k]) / k)
    return sum(shares) / len(shares)
