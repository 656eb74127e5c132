"""Dependence within groups by definition: matrices of a regression, every exchange and choice."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from tests.oracles.resampling import sign_flip_pvalues


def robust_variance(values, labels, groups):
    """Variance of the sum of the class means, by the residuals of a regression on the classes.

    The residuals of a group are multiplied by the root of the inverse of its block of ``1 - H``.
    """
    values, labels = np.asarray(values, dtype=float), np.asarray(labels)
    classes = np.unique(labels)
    X = np.stack([(labels == one).astype(float) for one in classes], axis=1)
    bread = np.linalg.inv(X.T @ X)
    residual = values - X @ bread @ X.T @ values
    meat = np.zeros((len(classes), len(classes)))
    for group in sorted(set(groups)):
        here = np.array([one == group for one in groups])
        part = X[here]
        eigenvalues, vectors = np.linalg.eigh(np.eye(len(part)) - part @ bread @ part.T)
        root = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        score = part.T @ root @ residual[here]
        meat += np.outer(score, score)
    contrast = np.ones(len(classes))
    return float(contrast @ bread @ meat @ bread @ contrast)


def degrees_of_squares(sizes):
    """Twice the squared mean over the variance of the sum of squares of normal sums, less one.

    Rows of a group say all the same, so that a sum has its size as standard deviation.
    """
    mean = sum(size**2 for size in sizes)
    variance = sum(2 * size**4 for size in sizes)
    return 2 * mean**2 / variance - 1


def group_flip_pvalues(differences, groups):
    """P-values (greater, less) of the mean over all assignments of one sign to each group."""
    names = sorted(set(groups))
    sums = [
        sum(Fraction(d) for d, g in zip(differences, groups, strict=True) if g == name)
        for name in names
    ]
    return sign_flip_pvalues(sums)


def signed_ranks(differences):
    """Ranks of the absolute values, tied ones sharing their mean, with the signs."""
    size = [abs(d) for d in differences]
    ranks = [sum(o < s for o in size) + (sum(o == s for o in size) + 1) / 2 for s in size]
    return [r * ((d > 0) - (d < 0)) for r, d in zip(ranks, differences, strict=True)]


def group_choice_pvalues(values, first_groups, groups):
    """P-values (less, greater) of the sum over all choices of as many groups."""
    names = sorted(set(groups))
    center = sum(values) / len(values)
    totals = {
        name: sum(v - center for v, g in zip(values, groups, strict=True) if g == name)
        for name in names
    }
    observed = sum(totals[name] for name in first_groups)
    sums = [
        sum(totals[name] for name in chosen) for chosen in combinations(names, len(first_groups))
    ]
    less = sum(one <= observed + 1e-9 for one in sums) / len(sums)
    greater = sum(one >= observed - 1e-9 for one in sums) / len(sums)
    return less, greater


def group_bootstrap_means(values, groups):
    """Means of all samples of as many groups, each equally likely."""
    names = sorted(set(groups))
    rows = [[v for v, g in zip(values, groups, strict=True) if g == name] for name in names]
    means = []
    for drawn in product(rows, repeat=len(rows)):
        together = [v for row in drawn for v in row]
        means.append(sum(together) / len(together))
    return means
