"""Objectives of scores of two classes, pair by pair; whole weights are repetitions."""

import numpy as np
from scipy.optimize import minimize_scalar


def repeated(scores, positive, weight):
    rows = np.repeat(np.arange(len(scores)), weight.astype(int))
    return scores[rows], positive[rows]


def softplus(u):
    return np.logaddexp(0.0, u)


def likelihood(scores, positive, weight):
    s, y = repeated(scores, positive, weight)
    return np.mean([softplus(-a if b else a) for a, b in zip(s, y, strict=True)])


def push(scores, positive, weight, p, loss):
    """p-norm over the negatives of their mean loss, or its logarithm for the exponential."""
    s, y = repeated(scores, positive, weight)
    heights = [np.mean([loss(j - i) for i in s[y]]) for j in s[~y]]
    norm = np.mean([height**p for height in heights]) ** (1 / p)
    return np.log(norm) if loss is np.exp else norm


def top_mean(s, tau, width):
    """The least value over the cut, by search; the mean of the largest scores for a width of 0."""
    s = np.sort(s)[::-1]
    if width == 0:
        # The share tau may cut a score.
        taken = np.clip(tau * len(s) - np.arange(len(s)), 0.0, 1.0)
        return taken @ s / taken.sum()

    def value(cut):
        return cut + width / tau * np.mean(softplus((s - cut) / width))

    edges = s.min() - 50 * width, s.max() + 50 * width
    return minimize_scalar(value, bounds=edges, method="bounded", options={"xatol": 1e-12}).fun


def top_push(scores, positive, weight, tau, width):
    s, y = repeated(scores, positive, weight)
    top = top_mean(s[~y], tau, width)
    return np.mean([softplus(top - i) for i in s[y]])


def quantile(s, tau, width):
    """Where the smooth share above is tau, by bisection."""
    low, high = s.min() - 100 * width, s.max() + 100 * width
    for _ in range(200):
        middle = (low + high) / 2
        above = np.mean([1 / (1 + np.exp((middle - one) / width)) for one in s])
        low, high = (middle, high) if above > tau else (low, middle)
    return low


def accuracy_at_top(scores, positive, weight, tau, width):
    s, y = repeated(scores, positive, weight)
    t = quantile(s, tau, width)
    of_positives = np.mean([softplus(t - i) for i in s[y]])
    return (of_positives + np.mean([softplus(j - t) for j in s[~y]])) / 2


def rank_statistic(scores, positive, weight, phi, width):
    """Minus the mean of phi of the smooth rank less 1/2; phi takes the place in (0, n)."""
    s, y = repeated(scores, positive, weight)
    ranks = [sum(1 / (1 + np.exp((j - i) / width)) for j in s) for i in s[y]]
    return -np.mean([phi(rank) for rank in ranks])
