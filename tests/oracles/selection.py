"""Limits for several candidates by their definitions, slowly."""

from fractions import Fraction
from inspect import signature
from math import comb, exp, log, sqrt

import numpy as np
from scipy import stats
from scipy.optimize import brentq


def auc(positive, score):
    """Share of the pairs in the right order, ties one half."""
    total = Fraction(0)
    for above in score[positive]:
        for below in score[~positive]:
            total += Fraction(1, 1) if above > below else Fraction(int(above == below), 2)
    return float(total / (int(positive.sum()) * int((~positive).sum())))


def kl(p, q):
    """Relative entropy of two coins."""
    value = 0.0
    if p > 0:
        value += p * log(p / q)
    if p < 1:
        value += (1 - p) * log((1 - p) / (1 - q))
    return value


def kl_lower(value, most):
    """Smallest q below the value with KL(value || q) <= most."""
    if value == 0:
        return 0.0
    if value == 1:
        return exp(-most)
    if kl(value, 1e-300) <= most:
        return 0.0
    return brentq(lambda q: kl(value, q) - most, 1e-300, value, xtol=1e-15)


def lower_limit(value, sizes, delta, method):
    """Lower limit of one model on one part; sizes are positives and negatives, or queries."""
    few = min(sizes)
    if method == "kl":
        return kl_lower(value, log(1 / delta) / few)
    if method == "hoeffding":
        return max(0.0, value - sqrt(log(1 / delta) / (2 * few)))
    m, n = sizes
    return max(0.0, value - sqrt(log(1 / delta) * (m + n) / (2 * m * n)))


def bernstein_lower(values, delta):
    """Lower limit by the sample variance of values in [0, 1]."""
    n, each = len(values), log(2 / delta)
    reach = sqrt(2 * np.var(values, ddof=1) * each / n) + 7 * each / (3 * (n - 1))
    return values.mean() - min(reach, 1.0)


def xi(n):
    """Expectation of exp(n KL(mean || p)) for n coins, whatever p."""
    total = Fraction(0)
    for j in range(n + 1):
        share = Fraction(j, n)
        total += comb(n, j) * share**j * (1 - share) ** (n - j)
    return float(total)


def placements(positive, score):
    """Share of the other class on the right side of each item."""
    pos, neg = score[positive], score[~positive]
    wins = (pos[:, None] > neg).astype(float) + 0.5 * (pos[:, None] == neg)
    return wins.mean(axis=1), wins.mean(axis=0)


def auc_covariance(positive, scores):
    """DeLong's covariance of several AUCs."""
    of_pos, of_neg = zip(*(placements(positive, score) for score in scores), strict=True)
    m, n = positive.sum(), (~positive).sum()
    return np.cov(np.stack(of_pos)) / m + np.cov(np.stack(of_neg)) / n


def largest_quantile(covariance, level):
    """Quantile of the largest of standardised normal variables."""
    errors = np.sqrt(np.diag(covariance))
    law = stats.multivariate_normal(
        np.zeros(len(errors)), covariance / np.outer(errors, errors), allow_singular=True
    )
    seeded = "rng" in signature(law.cdf).parameters  # since SciPy 1.16

    def excess(q):
        seed = {"rng": np.random.default_rng(0)} if seeded else {}
        return law.cdf(np.full(len(errors), q), **seed) - level

    return brentq(excess, -1.0, 6.0, xtol=1e-4)


def may_be_best(means, covariance, delta):
    """Candidates that no other is better than by more than the quantile of theirs."""
    stays = []
    for c in range(len(means)):
        rows = np.delete(np.eye(len(means)), c, axis=0)
        rows[:, c] = -1.0
        of_differences = rows @ covariance @ rows.T
        ahead = rows @ means / np.sqrt(np.diag(of_differences))
        stays.append(ahead.max() <= largest_quantile(of_differences, 1 - delta))
    return np.array(stays)
