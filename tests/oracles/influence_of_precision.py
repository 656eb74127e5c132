"""Influence on the average precision by its definition: every pair, every order of tied items."""

from tests.oracles.orders import orders


def influence(y_true, y_score):
    """Average precision and the influence of each item, in the mean over the orders of ties."""
    count, average, values = 0, 0.0, [0.0] * len(y_true)
    for order in orders(y_score):
        count += 1
        precision, moved = of_order([y_true[i] for i in order])
        average += precision
        for item, value in zip(order, moved, strict=True):
            values[item] += value
    return average / count, [value / count for value in values]


def of_order(labels):
    """The same of labels from the top, without ties."""
    k, m = labels.count(1), labels.count(0)
    average, values = 0.0, []
    for place, label in enumerate(labels):
        value = 0.0
        for below in range(place, len(labels)):
            if labels[below] == 0:
                continue
            i, j = below + 1, sum(labels[: below + 1])
            value += (i - j) / i**2 if label else -m / k * j / i**2
        if label:
            precision = sum(labels[: place + 1]) / (place + 1)
            value += precision
            average += precision / k
        values.append(value)
    return average, values


def precision_of_distributions(positive, negative, share, steps=1000):
    """Average precision of a population: shares of the classes at each score, from the top.

    Within a score the curve of precision is followed in small steps.
    """
    total = pos_above = neg_above = 0.0
    for a, b in zip(positive, negative, strict=True):
        for step in range(steps):
            part = (step + 0.5) / steps
            tp, fp = share * (pos_above + part * a), (1.0 - share) * (neg_above + part * b)
            if a:
                total += a / steps * tp / (tp + fp)
        pos_above, neg_above = pos_above + a, neg_above + b
    return total
