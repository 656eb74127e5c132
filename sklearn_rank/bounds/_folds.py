"""Bound of the deviation of the mean AUC of cross-validation folds from its expectation."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Literal

from .._arguments import check_choice, check_count, check_share, check_whole
from ._bound import Bound
from ._finite_class import finite_width
from ._statements import INDEPENDENT, OURS, SIDES, Side

__all__ = ["auc_fold_mean_bound"]

DEVIATIONS: dict[Side, str] = {
    "both": "|mean AUC of the folds - mean expected AUC of their models|",
    "lower": "mean AUC of the folds - mean expected AUC of their models",
    "upper": "mean expected AUC of their models - mean AUC of the folds",
}


def auc_fold_mean_bound(
    n_pos: Sequence[int],
    n_neg: Sequence[int],
    delta: float,
    *,
    n_functions: int = 1,
    method: Literal["mcdiarmid", "hoeffding"] = "hoeffding",
    side: Side = "both",
) -> Bound:
    """Bound how far the mean AUC of folds is from the mean expected AUC of the fold models.

    The mean over folds of ``sqrt(ln(2 |F|/delta) / (2 min(n_pos, n_neg)))``, or with "mcdiarmid"
    of ``sqrt(ln(2 |F|/delta) (n_pos + n_neg) / (2 n_pos n_neg))``.

    Parameters
    ----------
    n_pos : sequence of int
        Number of positives of each held-out fold, at least 0.
    n_neg : sequence of int
        Number of negatives of each fold, at least 0.
    delta : float
        Probability that the bound fails, in (0, 1). A smaller value gives a larger bound.
    n_functions : int, default=1
        Number ``|F|`` of candidates compared on the same folds, at least 1. The bound holds for
        all candidates at once.
    method : {"mcdiarmid", "hoeffding"}, default="hoeffding"
        Inequality for one fold; "hoeffding" is always smaller.
    side : {"both", "lower", "upper"}, default="both"
        "lower" bounds how far the expected mean is below the observed one (a lower limit for it),
        "upper" how far it is above, "both" both at once.

    Returns
    -------
    Bound
        Bound of the deviation of the mean, at most 1.

    Raises
    ------
    TypeError
        If a count is not a whole number.
    ValueError
        If an argument is out of range, or if ``n_pos`` and ``n_neg`` have different lengths.

    See Also
    --------
    auc_bound : Bound for one held-out set.

    Notes
    -----
    The folds depend on each other, because each is training data of the others. So K folds give no
    stronger guarantee than one, although their mean varies less. The bound holds under any
    dependence, also for repeated folds that share items. It does not apply to the model that is
    finally fitted to all rows. The guide "Proofs of bounds" has the proof.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 5 for a fold.

    Examples
    --------
    >>> from sklearn_rank.bounds import auc_fold_mean_bound
    >>> print(auc_fold_mean_bound([20] * 5, [180] * 5, 0.05))
    With probability 0.95 given the labels: |mean AUC of the folds - mean expected AUC of their \
models| <= 0.3037.
    Proof: sklearn_rank, Proofs of bounds, Theorem 5.
    It holds where each fold is scored by a model that was trained without it; items are \
independent given their labels.
    """
    n_functions = check_whole("n_functions", n_functions)
    check_choice("method", method, ("mcdiarmid", "hoeffding"))
    check_choice("side", side, SIDES)
    delta = check_share("delta", delta, what="the probability of failure")
    counts = [_of_folds(name, given) for name, given in (("n_pos", n_pos), ("n_neg", n_neg))]
    n_folds, n_others = map(len, counts)
    if n_folds != n_others:
        raise ValueError(
            f"n_pos has {n_folds} folds, but n_neg has {n_others}: pass both for each fold."
        )
    each = log(delta) - log(n_functions)
    value = 0.0
    for some, others in zip(*counts, strict=True):
        value += finite_width(some, others, each, method, None, side) / n_folds
    return Bound(
        value=min(value, 1.0),
        theorem=f"{OURS}, Theorem 5",
        target=DEVIATIONS[side],
        delta=delta,
        conditioned_on="the labels",
        assumptions=("each fold is scored by a model that was trained without it", INDEPENDENT),
    )


def _of_folds(name: str, counts: Sequence[int]) -> list[int]:
    """Check the counts of one class in the folds."""
    listed = None if isinstance(counts, str) or not hasattr(counts, "__iter__") else list(counts)
    if not listed:
        raise ValueError(f"{name}={counts!r} must list the number of items of each fold.")
    return [check_count(f"{name}[{fold}]", count, 0) for fold, count in enumerate(listed)]
