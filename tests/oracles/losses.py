"""The losses of utilities and scores, written out item by item and pair by pair.

A list is its items once for each time that they count: no weights are known here.
"""

import math

import numpy as np


def softplus(x):
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


def bent(x, alpha):
    if x <= 0:
        return 0.0
    return x * x / (2 * alpha) if x <= alpha else x - alpha / 2


def items(term):
    return lambda v, s: sum(term(a, b) for a, b in zip(v, s, strict=True))


def pairs(term):
    return lambda v, s: sum(
        term(v[i], v[j], s[i] - s[j]) for i in range(len(v)) for j in range(i + 1, len(v))
    )


def comparisons(phi):
    """Each pair of different utilities, seen from the greater one."""

    def term(a, b, d):
        if a == b:
            return 0.0
        return phi(d) if a > b else phi(-d)

    return pairs(term)


def pointwise_squared():
    return items(lambda v, s: (v - s) ** 2)


def pointwise_logistic(eta):
    return items(lambda v, s: v * softplus(-s) + (eta - v) * softplus(s))


def pointwise_exponential(eta):
    return items(lambda v, s: v * math.exp(-s) + (eta - v) * math.exp(s))


def pointwise_squared_hinge(eta, t):
    return items(lambda v, s: v * max(0, t - s) ** 2 + (eta - v) * max(0, s) ** 2)


def pointwise_differentiable_hinge(eta, alpha):
    return items(lambda v, s: v * bent(1 - s, alpha) + (eta - v) * bent(s, alpha))


def pairwise_squared():
    return pairs(lambda a, b, d: (a - b - d) ** 2)


def pairwise(phi):
    return pairs(lambda a, b, d: a * phi(d) + b * phi(-d))


def softmax(v, s):
    if len(s) == 0:
        return 0.0
    total = math.log(sum(math.exp(x - max(s)) for x in s)) + max(s)
    return sum(a * (total - x) for a, x in zip(v, s, strict=True))


def normalized_softmax(v, s):
    total = sum(v)
    return softmax([a / total for a in v], s) if total > 0 else 0.0


def bregman(psi, gradient, link):
    def loss(v, s):
        v, u = np.array(v), link(np.array(s))
        return psi(v) - psi(u) - gradient(u) @ (v - u)

    return loss


def hinge(margin):
    return comparisons(lambda d: max(0.0, margin - d))


def squared_hinge(margin):
    return comparisons(lambda d: max(0.0, margin - d) ** 2)


def comparison_logistic():
    return comparisons(lambda d: softplus(-d))


def softplus_of_minus(d):
    return softplus(-d)
