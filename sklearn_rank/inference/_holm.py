"""P-values of several tests, adjusted by Holm's method."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ._collections import refuse_collections

__all__ = ["holm_adjust"]


def holm_adjust(pvalues: Any) -> FloatArray:
    """Adjust p-values for multiple tests by Holm's method (family-wise error rate).

    With ``p_(1) <= ... <= p_(m)``, the adjusted value of ``p_(i)`` is the largest of ``min(1, (m -
    j + 1) p_(j))`` over j = 1..i. Rejecting the hypotheses with an adjusted value of at most alpha
    keeps the probability of one or more false rejections at most alpha.

    Parameters
    ----------
    pvalues : array-like of shape (n_tests,)
        P-values in [0, 1]; the tests may depend on each other in any way.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values, in the order of ``pvalues``.

    Raises
    ------
    ValueError
        If ``pvalues`` is empty or has a value outside [0, 1].

    See Also
    --------
    scipy.stats.false_discovery_control : Controls the false discovery rate instead.
    compare : Compares several rankers, with adjusted p-values.

    Notes
    -----
    The adjusted p-values are never larger than Bonferroni's ``min(1, m p)``. The cost is O(m log
    m) time.

    References
    ----------
    .. [1] Holm (1979), *A simple sequentially rejective multiple test procedure*, Scandinavian
       Journal of Statistics 6.

    Examples
    --------
    >>> from sklearn_rank.inference import holm_adjust
    >>> holm_adjust([0.01, 0.04, 0.02])
    array([0.03, 0.04, 0.04])
    """
    refuse_collections("all p-values are sorted together", pvalues=pvalues)
    values = np.asarray(pvalues, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"pvalues has shape {values.shape}, but must be one-dimensional with at least one"
            " value."
        )
    if not (values.min() >= 0 and values.max() <= 1):
        first = int(np.argmax(~((values >= 0) & (values <= 1))))
        raise ValueError(
            f"pvalues is {values[first]:g} at index {first}: pass probabilities between 0 and 1."
        )
    order = np.argsort(values, kind="stable")
    scaled = np.arange(len(values), 0, -1) * values[order]
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
