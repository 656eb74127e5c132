"""A linear rank statistic with smoothed ranks and smoothed phi, over pairs and rank by rank."""

import numpy as np


def integrated_kernel(t):
    """Integral of Epanechnikov's kernel."""
    t = np.clip(t, -1.0, 1.0)
    return 0.5 + 0.75 * t - 0.25 * t**3


def integrated_triangle(t):
    t = np.clip(t, -1.0, 1.0)
    return np.where(t < 0, (1 + t) ** 2 / 2, 1 - (1 - t) ** 2 / 2)


def smoothed_phi(place, n, phi, width):
    """Mean of phi about a place, rank r filling (r - 1, r]; constant beyond the ends."""
    total = phi(1 / (n + 1)) * integrated_triangle((0 - place) / width)
    for r in range(1, n + 1):
        share = integrated_triangle((r - place) / width)
        total += phi(r / (n + 1)) * (share - integrated_triangle((r - 1 - place) / width))
    return total + phi(n / (n + 1)) * (1 - integrated_triangle((n - place) / width))


def smoothed_statistic(scores, positive, weight, phi, bandwidth):
    """Between the worst and the best order, 0 and 1; whole weights are repetitions."""
    rows = np.repeat(np.arange(len(scores)), weight.astype(int))
    s, y = scores[rows], positive[rows]
    n, k = len(s), int(y.sum())
    z = (s - s.mean()) / (s.std() * bandwidth)
    value = 0.0
    for i in np.flatnonzero(y):
        place = integrated_kernel(z[i] - z).sum()
        value += smoothed_phi(place, n, phi, max(1.0, bandwidth * n / 4))
    at_ranks = [phi(r / (n + 1)) for r in range(1, n + 1)]
    worst, best = sum(at_ranks[:k]), sum(at_ranks[n - k :])
    return (value - worst) / (best - worst)
