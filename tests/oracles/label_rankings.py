"""Distributions of orders of few labels, from their definitions, by enumeration.

An order is a tuple of labels from the top; a distribution is a dict from orders to probabilities.
"""

from itertools import combinations, permutations
from math import exp, prod


def plackett_luce(weights):
    """Label after label from the top, by weight among those that are left."""
    return {
        order: prod(
            weights[one] / sum(weights[left] for left in order[at:])
            for at, one in enumerate(order)
        )
        for order in permutations(range(len(weights)))
    }


def inversions(order, centre):
    """Pairs of labels that two orders have the other way round."""
    return sum(
        (order.index(i) < order.index(j)) != (centre.index(i) < centre.index(j))
        for i, j in combinations(centre, 2)
    )


def mallows(centre, theta):
    """In proportion to exp(-theta * inversions)."""
    weight = {
        order: exp(-theta * inversions(order, centre)) for order in permutations(sorted(centre))
    }
    total = sum(weight.values())
    return {order: one / total for order, one in weight.items()}


def tau(order, other):
    """Kendall's tau of two orders."""
    pairs = len(order) * (len(order) - 1) / 2
    return 1 - 2 * inversions(order, other) / pairs


def expected(distribution, value):
    """Expectation of a function of an order."""
    return sum(p * value(order) for order, p in distribution.items())


def expected_tau(distribution, order):
    """Expected tau of an order."""
    return expected(distribution, lambda drawn: tau(drawn, order))


def above(distribution, i, j):
    """Probability that label i is above label j."""
    return expected(distribution, lambda order: order.index(i) < order.index(j))


def share_below(order, label):
    """Share of the other labels that are below a label."""
    return (len(order) - 1 - order.index(label)) / (len(order) - 1)


def expected_shares(distribution):
    """Expected share of the other labels that are below each."""
    labels = sorted(next(iter(distribution)))
    return [
        expected(distribution, lambda order, i=label: share_below(order, i)) for label in labels
    ]
