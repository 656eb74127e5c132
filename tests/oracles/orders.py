"""Measures straight from their definitions, on one order, and their mean over all orders.

Slow and obvious: an order is a list of items from the top, and every order that agrees with the
scores is tried.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import exp, floor, inf, log


def orders(y_score):
    """All orders of the items in which no item stands above one with a higher score."""
    return _orders(tuple(y_score))


@cache
def _orders(y_score):
    values = sorted(set(y_score), reverse=True)
    blocks = [[i for i, score in enumerate(y_score) if score == value] for value in values]
    return [sum(parts, ()) for parts in product(*(permutations(block) for block in blocks))]


def expected(measure, y_true, y_score, **parameters):
    """Mean of ``measure(labels from the top)`` over all orders that agree with the scores."""
    rows = Counter(tuple(y_true[i] for i in order) for order in orders(y_score))
    total = sum(count * measure(list(labels), **parameters) for labels, count in rows.items())
    return float(total / rows.total())


def top_count(n, tau):
    # tau as the decimal that it is written as, so that halves are halves.
    return max(1, floor(Fraction(str(tau)) * n + Fraction(1, 2)))


def precision_at_top(labels, tau):
    j = top_count(len(labels), tau)
    return sum(labels[:j]) / j


def recall_at_top(labels, tau):
    return sum(labels[: top_count(len(labels), tau)]) / sum(labels)


def smoothed_precision_at_top(labels, tau):
    shares = [min(Fraction(1), Fraction(str(tau)) * times) for times in (Fraction(1, 2), 1, 2, 4)]
    return sum(precision_at_top(labels, share) for share in shares) / 4


def enrichment_factor(labels, fraction):
    return precision_at_top(labels, fraction) / (sum(labels) / len(labels))


def precision_at_k(labels, k):
    return sum(labels[:k]) / k


def recall_at_k(labels, k):
    return sum(labels[:k]) / sum(labels)


def success(labels, k):
    return float(any(labels[:k]))


def top_1(labels):
    return float(labels[0] == max(labels))


def coverage(labels):
    """Number of items from the top to the last positive."""
    return len(labels) - labels[::-1].index(1)


def r_precision(labels):
    return precision_at_k(labels, sum(labels))


def bpref(labels, n_relevant=None, n_other=None):
    """Labels of judged items that were retrieved, and the numbers of all judged ones."""
    n_relevant = sum(labels) if n_relevant is None else n_relevant
    n_other = labels.count(0) if n_other is None else n_other
    total = 0
    for i, label in enumerate(labels):
        above = labels[:i].count(0)
        if label:
            total += 1 - min(above, n_relevant) / min(n_relevant, n_other) if above else 1
    return total / n_relevant


def f1_at_k(labels, k):
    precision, recall = precision_at_k(labels, k), recall_at_k(labels, k)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def lift(labels, fraction):
    """Share of the positives among the first ``fraction * n`` items over the fraction."""
    mass = Fraction(str(fraction)) * len(labels)
    parts = [min(max(mass - i, 0), 1) for i in range(len(labels))]
    found = sum(part for part, label in zip(parts, labels, strict=True) if label)
    return float(found / sum(labels) / Fraction(str(fraction)))


def positives_at_top(labels, normalize=False):
    count = 0
    for label in labels:
        if not label:
            break
        count += 1
    return count / sum(labels) if normalize else count


def average_precision(labels, k=None, normalize=None):
    k = len(labels) if k is None else k
    precisions = [sum(labels[: i + 1]) / (i + 1) for i, label in enumerate(labels[:k]) if label]
    n_pos = sum(labels)
    if normalize == "found":
        return sum(precisions) / max(len(precisions), 1)
    return sum(precisions) / (min(k, n_pos) if normalize == "reachable" else n_pos)


def reciprocal_rank(labels, k=None):
    k = len(labels) if k is None else k
    return next((1 / (i + 1) for i, label in enumerate(labels[:k]) if label), 0.0)


def expected_reciprocal_rank(labels, max_grade, k=None):
    k = len(labels) if k is None else k
    value, reading = 0.0, 1.0
    for i, grade in enumerate(labels[:k]):
        satisfied = (2**grade - 1) / 2**max_grade
        value += reading * satisfied / (i + 1)
        reading *= 1 - satisfied
    return value


def rank_biased_precision(labels, max_grade, persistence=0.8, k=None):
    k = len(labels) if k is None else k
    seen = sum(grade * persistence**i for i, grade in enumerate(labels[:k]))
    return (1 - persistence) * seen / max_grade


def auc(labels):
    """Share of the pairs in which the positive stands above the negative."""
    n_pos = sum(labels)
    pairs = n_pos * (len(labels) - n_pos)
    right = sum(
        labels[i] > labels[j] for i in range(len(labels)) for j in range(i + 1, len(labels))
    )
    return Fraction(right, pairs)


def positives_below(labels):
    """For each negative, from the top, the number of positives below it."""
    return [sum(labels[i:]) for i, label in enumerate(labels) if not label]


def p_norm_push(y_true, y_score, p):
    """The loss; the mean over the orders is inside the root."""
    n_pos = sum(y_true)
    if p == inf:
        return expected(lambda labels: max(positives_below(labels)) / n_pos, y_true, y_score)
    mean = expected(
        lambda labels: (
            sum((h / n_pos) ** p for h in positives_below(labels)) / (len(labels) - n_pos)
        ),
        y_true,
        y_score,
    )
    return mean ** (1 / p)


def exponential_sum(labels, alpha):
    n = len(labels)
    return sum(exp(-alpha * (i + 1) / n) for i, label in enumerate(labels) if label)


def rie(labels, alpha):
    everything = exponential_sum([1] * len(labels), alpha) / len(labels)
    return exponential_sum(labels, alpha) / sum(labels) / everything


def bedroc(labels, alpha):
    best = exponential_sum(sorted(labels, reverse=True), alpha)
    worst = exponential_sum(sorted(labels), alpha)
    return (exponential_sum(labels, alpha) - worst) / (best - worst)


def gain_of(grade, gain):
    if callable(gain):
        return float(gain(grade))
    return {"exponential": 2**grade - 1, "linear": grade}[gain]


def dcg(labels, k=None, gain="exponential", log_base=2):
    k = len(labels) if k is None else k
    return sum(gain_of(g, gain) / log(i + 2, log_base) for i, g in enumerate(labels[:k]))


def ndcg(labels, k=None, gain="exponential", log_base=2):
    ideal = dcg(sorted(labels, reverse=True), k, gain, log_base)
    return dcg(labels, k, gain, log_base) / ideal


def profit(amounts, k):
    return sum(amounts[:k])


def value_recall(amounts, k):
    gains = [max(amount, 0) for amount in amounts]
    return sum(gains[:k]) / sum(gains)


def mean_of_tops(amounts, weight_of_share):
    """Mean over k of a weight of k / n, times by how much the first k exceed all on average."""
    n = len(amounts)
    mean = sum(amounts) / n
    tops = ((k / n, sum(amounts[:k]) / k - mean) for k in range(1, n + 1))
    return sum(weight_of_share(u) * excess for u, excess in tops) / n


def qini(amounts):
    return mean_of_tops(amounts, lambda u: u)


def autoc(amounts):
    return mean_of_tops(amounts, lambda u: 1)


def auuc(amounts):
    """Area below the straight pieces between the running sums divided by n, from 0."""
    n = len(amounts)
    heights = [sum(amounts[:k]) / n for k in range(n + 1)]
    return sum((heights[k] + heights[k + 1]) / 2 / n for k in range(n))


def lorenz(amounts, tau):
    """Share of the total in the first rows, the last of them in part."""
    left, found = tau * len(amounts), 0
    for amount in amounts:
        found += min(max(left, 0), 1) * amount
        left -= 1
    return found / sum(amounts)


def insurance_gini(amounts):
    """Twice the area between the Lorenz curve from the top and the diagonal."""
    n = len(amounts)
    heights = [lorenz(amounts, k / n) for k in range(n + 1)]
    return 2 * sum((heights[k] + heights[k + 1]) / 2 / n for k in range(n)) - 1


def positional(labels, gain, discount, k=None):
    """``discount(position, n_items)`` counts positions from 1."""
    n = len(labels)
    k = n if k is None else k
    return sum(gain_of(g, gain) * discount(i + 1, n) for i, g in enumerate(labels[:k]))


def spearman(y_true, y_score):
    """Mean over the orders of both, rank 1 being the highest; NaN where no order is better."""
    n = len(y_true)
    if len(set(y_true)) == 1:
        return float("nan")
    products = []
    for by_truth in orders(y_true):
        credit = {item: n - (i + 1) for i, item in enumerate(by_truth)}
        for by_score in orders(y_score):
            products.append(sum(credit[item] * (n - (i + 1)) for i, item in enumerate(by_score)))
    mean = Fraction(sum(products), len(products))
    return float(12 * mean / (n * (n * n - 1)) - Fraction(3 * (n - 1), n + 1))


def accuracy_at_top(y_true, y_score, tau):
    """The loss, which is a function of the scores and not of an order."""
    quantile = sorted(y_score, reverse=True)[top_count(len(y_score), tau) - 1]
    negatives = [s for s, y in zip(y_score, y_true, strict=True) if not y]
    positives = [s for s, y in zip(y_score, y_true, strict=True) if y]
    above = sum(s > quantile for s in negatives) / len(negatives)
    below = sum(s < quantile for s in positives) / len(positives)
    return (above + below) / 2
