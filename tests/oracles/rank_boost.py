"""RankBoost from its definition: all pairs, all thresholds, in plain loops."""

from itertools import pairwise

import numpy as np


def pairs_of(positive):
    """Numbers of the negative and of the positive row of each pair."""
    negatives, positives = np.flatnonzero(~positive), np.flatnonzero(positive)
    return [(a, b) for a in negatives for b in positives]


def exponential_loss(scores, positive, weight):
    """Mean over pairs of exp(H(a) - H(b))."""
    pairs = pairs_of(positive)
    total = sum(weight[a] * weight[b] for a, b in pairs)
    return sum(weight[a] * weight[b] * np.exp(scores[a] - scores[b]) for a, b in pairs) / total


def stumps_of(X):
    """Every stump of every feature, in the order in which ties go to them."""
    found = []
    for j in range(X.shape[1]):
        values = sorted(set(X[:, j]))
        found += [(j, (low + high) / 2) for low, high in pairwise(values)]
    return found


def features_of(X):
    """The features that are not constant."""
    return [j for j in range(X.shape[1]) if np.ptp(X[:, j]) > 0]


def values_of(weak, X):
    """Values of a stump (feature, threshold), or of a feature divided by its range."""
    if isinstance(weak, tuple):
        return (X[:, weak[0]] > weak[1]).astype(float)
    return X[:, weak] / np.ptp(X[:, weak])


def rank_boost(X, positive, weight, *, n_rounds, linear=False, rate=1.0):
    """Figure 1 of the paper with the third method.

    Returns the weak rankings with their coefficients, and the product of the Z of each round.
    """
    pairs = pairs_of(positive)
    D = np.array([weight[a] * weight[b] for a, b in pairs], dtype=float)
    D /= D.sum()
    weak_rankings = features_of(X) if linear else stumps_of(X)
    chosen, losses, product = [], [], 1.0
    for _ in range(n_rounds):
        best, best_r, best_u = None, 0.0, None
        for weak in weak_rankings:
            h = values_of(weak, X)
            u = np.array([h[b] - h[a] for a, b in pairs])
            r = float(D @ u)
            if abs(r) > abs(best_r) + 1e-12:
                best, best_r, best_u = weak, r, u
        if best is None:
            break
        alpha = 0.5 * np.log((1 + best_r) / (1 - best_r))
        D = D * np.exp(-rate * alpha * best_u)
        product *= D.sum()
        D /= D.sum()
        chosen.append((best, rate * alpha))
        losses.append(product)
    return chosen, losses


def scores_of(chosen, X):
    """Sum of the weak rankings times their coefficients."""
    return sum((alpha * values_of(weak, X) for weak, alpha in chosen), np.zeros(len(X)))
