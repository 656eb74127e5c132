"""Expected measures and the bounds on their regret, by enumeration.

A distribution is a list of pairs (labels of the items, probability); an order is a tuple of items
from the top. Measures are functions of the labels from the top, as in :mod:`tests.oracles.orders`.
"""

from fractions import Fraction
from itertools import permutations
from math import log2


def expected_value(measure, distribution, order):
    return sum(p * measure([labels[i] for i in order]) for labels, p in distribution)


def best_orders(measure, distribution):
    """All orders of greatest expected value."""
    n = len(distribution[0][0])
    values = {o: expected_value(measure, distribution, o) for o in permutations(range(n))}
    best = max(values.values())
    return [order for order, value in values.items() if value == best]


def mixture(parts):
    """The mixture of ``(weight, distribution)``."""
    total = {}
    for weight, distribution in parts:
        for labels, p in distribution:
            total[labels] = total.get(labels, 0) + weight * p
    return list(total.items())


def average_precision(labels):
    precisions = [Fraction(sum(labels[: i + 1]), i + 1) for i, label in enumerate(labels) if label]
    return sum(precisions) / len(precisions) if precisions else Fraction(0)


def expected_reciprocal_rank(labels, highest=1):
    value, going_on = Fraction(0), Fraction(1)
    for position, grade in enumerate(labels, 1):
        stops = Fraction(2**grade - 1, 2**highest)
        value += going_on * stops / position
        going_on *= 1 - stops
    return value


# ------------------------------------------------------------------------- positional measures


def discounts(name, n, k=None, persistence=None):
    phi = {
        "dcg": lambda i: 1 / log2(i + 1),
        "ndcg": lambda i: 1 / log2(i + 1),
        "precision": lambda i: 1.0,
        "top1": lambda i: float(i == 1),
        "recall": lambda i: 1.0,
        "auc": lambda i: float(n - i),
        "spearman": lambda i: float(n - i),
        "rbp": lambda i: persistence ** (i - 1),
    }[name]
    return [phi(i) if k is None or i <= k else 0.0 for i in range(1, n + 1)]


def utilities(name, labels, k=None, persistence=None):
    """Table 1; an item that counts twice is there twice."""
    n, positives = len(labels), sum(labels)
    gains = [2**y - 1 for y in labels]
    if name == "dcg":
        return gains
    if name == "ndcg":
        ideal = sum(
            a * b for a, b in zip(discounts("dcg", n, k), sorted(gains, reverse=True), strict=True)
        )
        return [gain / ideal for gain in gains]
    if name == "top1":
        return [float(y == max(labels)) for y in labels]
    if name == "precision":
        return [y / k for y in labels]
    if name == "recall":
        return [y / positives for y in labels]
    if name == "auc":
        return [y / (positives * (n - positives)) for y in labels]
    if name == "rbp":
        return [(1 - persistence) * y / max(labels) for y in labels]
    # Mean position of tied items.
    above = [sum(other > y for other in labels) for y in labels]
    tied = [labels.count(y) for y in labels]
    positions = [a + (t + 1) / 2 for a, t in zip(above, tied, strict=True)]
    return [12 * (n - r) / (n * (n**2 - 1)) for r in positions]


def regret(phi, utility, order):
    best = sorted(utility, reverse=True)
    return sum(p * (b - utility[i]) for p, b, i in zip(phi, best, order, strict=True))


def worst_regret(phi, utility, score):
    """Over the orders that agree with the scores."""
    order = sorted(range(len(score)), key=lambda i: (-score[i], utility[i]))
    return regret(phi, utility, order)


def discount_norm(phi, p):
    n = len(phi)
    terms = [phi[i - 1] - phi[n - i] for i in range(1, n // 2 + 1)]
    if p == float("inf"):
        return max(terms, default=0.0)
    return sum(term**p for term in terms) ** (1 / p)


# ------------------------------------------------------------------------------------- Lemma 4.1


def printed_pairs(order):
    """The pairs of the printed proof, by exchanges; items are named by their true position."""
    order, pairs, alive = list(order), [], set(range(len(order)))
    while len(alive) > 1:
        places = [p for p in range(len(order)) if order[p] in alive]
        i = min(alive)
        d = order.index(i)
        j = max(order[p] for p in places if p <= d)
        if j != i:
            pairs.append((i, j))
            p = order.index(j)
            order[places[0]], order[p] = order[p], order[places[0]]
            d, r = order.index(i), j
            order[d], order[r] = order[r], order[d]
        alive -= {i, j}
    return pairs
