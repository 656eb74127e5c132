"""Influence of each item on a linear rank statistic (public function)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_choice, check_flag
from .._typing import FloatArray
from ..metrics._shared import (
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    linear_rank_influence_of,
)
from ._collections import refuse_collections
from ._two_classes import check_two_classes

__all__ = ["ONE_EACH", "check_limit", "linear_rank_influence"]

# Reason why functions with one value for each row do not support collections.
ONE_EACH = "the influence is an array with one value for each row"


def check_limit(phi: Phi, instead: str) -> ScoreGeneratingFunction:
    """Read a score-generating function that does not depend on the length of the list."""
    function = as_score_generating(phi)
    if not function.is_limit_functional:
        raise ValueError(
            f"phi={function!r} depends on the length of the list, so the statistic has no"
            f" influence function: {instead}."
        )
    return function


def linear_rank_influence(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi = "wilcoxon",
    conditional: bool = True,
    normalize: Normalize = "minmax",
    pos_label: Any = None,
) -> FloatArray:
    """Influence function of a linear rank statistic, one value per item (Hájek projection).

    Up to terms of smaller order ``W / k = target + mean(influence)``. With F the distribution of
    all scores, G that of the k positives, m negatives, p = k / n and
    ``T(x) = integral over u >= x of phi'(F(u)) dG(u)``, a positive at x has the influence
    ``(phi(F(x)) + p T(x)) / p`` and a negative ``T(x)``, each less the mean of its class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1) that does not depend on the length of the list.
    conditional : bool, default=True
        Whether the labels are treated as fixed. If True, the target is E[phi(F) | positive] at the
        sample's fraction of positives, k / n. If False, it is at the population's fraction of
        positives, and the influence includes that on k.
    normalize : {"mean", "minmax"}, default="minmax"
        "mean" is the mean of phi over the positives; "minmax" rescales it so that the worst order
        has the value 0 and the best order 1.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influence values in the order of the rows, with mean 0, and with mean 0 within each class
        if ``conditional``.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst and the best order have the
        same mean with "minmax", or phi depends on the length of the list.
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    linear_rank_interval : Confidence interval from these values.
    partial_auc_influence : Influence function of the partial AUC.

    Notes
    -----
    Each item of a tied block gets the mean of phi over the ranks of the block. Items of a block
    count each other with the part that lies above, which is one half for Wilcoxon's phi. A jump D
    of phi at u0 adds ``D eta`` below the quantile u0 to p T. Here eta is the fraction of positives
    at the jump, estimated within sqrt(n) ranks on either side or within the tied block; without
    this term the variance is several times too large. If phi has no ``derivative``, a difference
    quotient over the same ranks replaces it and includes the jumps. The paper attaches T to the
    positives only. The cost is O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.
    .. [2] Hájek (1968), *Asymptotic normality of simple linear rank statistics under
       alternatives*, Annals of Mathematical Statistics 39.

    Examples
    --------
    >>> from sklearn_rank.inference import linear_rank_influence
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> linear_rank_influence(y_true, y_score, phi="wilcoxon").round(2)
    array([ 0.5, -0.5, -0.5,  0.5])
    """
    check_choice("normalize", normalize, ("mean", "minmax"))
    conditional = check_flag("conditional", conditional)
    refuse_collections(ONE_EACH, y_true=y_true, y_score=y_score)
    data = check_two_classes(y_true, y_score, pos_label)
    function = check_limit(phi, "resample instead, linear_rank_interval(method='bootstrap')")
    found = linear_rank_influence_of(data.positive, data.score, function, normalize=normalize)
    influence = found.centred()
    if not conditional:
        share = float(data.positive.mean())
        influence += found.label_slope * np.where(data.positive, 1.0 - share, -share)
    return influence
