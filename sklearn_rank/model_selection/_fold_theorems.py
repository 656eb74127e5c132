"""Limits for the mean over folds, each scored by a model trained on the others."""

from __future__ import annotations

from math import log

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from .._typing import FloatArray
from ..bounds import Bound
from ..bounds._shared import kl_limits

__all__ = ["FITTED_APART", "chernoff_fold_bound", "fold_entropy", "fold_target", "fold_widths"]

OURS = "sklearn_rank, Choosing a model by what can be guaranteed"
FITTED_APART = "each part is scored by models that were fitted without it"


def fold_entropy(n: int, delta: float) -> float:
    """Largest relative entropy of a mean over folds: ``ln(xi(n) / delta) / n``.

    ``xi(n) = sum_j C(n, j) (j/n)^j (1 - j/n)^(n-j)``, about ``sqrt(pi n / 2)``.
    """
    j = np.arange(n + 1.0)
    terms = gammaln(n + 1.0) - gammaln(j + 1.0) - gammaln(n - j + 1.0)
    terms += xlogy(j, j / n) + xlogy(n - j, 1.0 - j / n)
    return (float(logsumexp(terms)) - log(delta)) / n


def fold_widths(means: FloatArray, n: int, deltas: FloatArray) -> FloatArray:
    """Distances of lower limits from means over folds, in Chernoff's form.

    Shape (n_candidates,).
    """
    entropies = np.array([fold_entropy(n, float(delta)) for delta in deltas])
    return means - kl_limits(means, entropies)[0]


def fold_target(name: str) -> str:
    """Describe the target of a bound for folds. The mean less its expectation, in words."""
    return f"mean {name} of the folds - mean expected {name} of their models"


def chernoff_fold_bound(
    value: float, delta: float, name: str, *, conditioned_on: str, items: str
) -> Bound:
    """Make the bound for a mean over folds, in Chernoff's form."""
    return Bound(
        value=value,
        theorem=f"{OURS}, folds in Chernoff's form, for all candidates",
        target=fold_target(name),
        delta=delta,
        conditioned_on=conditioned_on,
        assumptions=(FITTED_APART, items),
    )
