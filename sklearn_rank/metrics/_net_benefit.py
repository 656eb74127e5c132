"""Net benefit of acting on all items whose probability reaches a threshold."""

from __future__ import annotations

from typing import Any

from .._arguments import check_flag, check_number, check_share
from ._probabilities import check_probabilities, threshold_of

__all__ = ["check_threshold", "net_benefit"]


def net_benefit(
    y_true: Any,
    y_prob: Any,
    *,
    threshold: float,
    positive_fraction: float | None = None,
    standardized: bool = False,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Net benefit of acting where the probability reaches a threshold.

    ``TP / n - FP / n * t / (1 - t)``, TP and FP the positives and negatives among the items of a
    probability of at least t: true positives per item, less the false ones at the rate of exchange
    at which one is indifferent about an item of probability t.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, in [0, 1].
    threshold : float
        Probability from which on one acts, in [0, 1).
    positive_fraction : float or None, default=None
        Share of positives, in (0, 1), where the benefit is wanted; None is that of the sample. For
        samples whose cases and controls were drawn apart.
    standardized : bool, default=False
        Whether to divide by the share of positives: 1 is to act on all positives and nothing else.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights: how many times each item counts.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    float
        The net benefit, at most the share of positives, or 1 if standardized.

    Raises
    ------
    ValueError
        If an argument is not valid, a score is no probability, or with ``positive_fraction`` or
        ``standardized`` if a class is absent that is divided by.

    See Also
    --------
    sklearn_rank.inference.net_benefit_curve : At many thresholds, with limits.
    sklearn_rank.plotting.DecisionCurveDisplay : Draws it.

    Notes
    -----
    It is no measure of a ranking, since it changes with the scale of the scores, and has no name
    for :func:`get_measure`; scikit-learn makes a scorer of it by ``make_scorer(net_benefit,
    response_method="predict_proba", threshold=0.1)``. Probabilities equal to the threshold are
    acted on; it is rounded to their precision, as to float32. With ``positive_fraction`` the rates
    of both classes are weighted by it: ``pi TPR - (1 - pi) FPR t / (1 - t)``. O(n) time.

    References
    ----------
    .. [1] Vickers & Elkin (2006), *Decision curve analysis: a novel method for evaluating
       prediction models*, Medical Decision Making 26.

    Examples
    --------
    >>> from sklearn_rank.metrics import net_benefit
    >>> net_benefit([1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], threshold=0.2)
    0.4375
    """
    threshold = check_threshold(threshold)
    check_flag("standardized", standardized)
    lists = check_probabilities(y_true, y_prob, pos_label, sample_weight=sample_weight)
    positive, weight = lists.positive, lists.counts
    treated = lists.score >= threshold_of(threshold, y_prob)
    n_pos, n = float(weight @ positive), float(weight.sum())
    found, wrong = float(weight @ (treated & positive)), float(weight @ (treated & ~positive))
    exchange = threshold / (1.0 - threshold)
    if n_pos == 0.0 and (standardized or positive_fraction is not None):
        raise ValueError(
            "y_true has no positives, by whose number to divide: check the labels and pos_label,"
            " or leave out standardized and positive_fraction."
        )
    if positive_fraction is None:
        return (found - exchange * wrong) / (n_pos if standardized else n)
    share = check_share("positive_fraction", positive_fraction, what="the share of positives")
    if n_pos == n:
        raise ValueError(
            "y_true has no negatives, by whose number to divide: check the labels and pos_label,"
            " or leave out positive_fraction."
        )
    benefit = share * found / n_pos - exchange * (1.0 - share) * wrong / (n - n_pos)
    return benefit / share if standardized else benefit


def check_threshold(threshold: Any, name: str = "threshold") -> float:
    """Check a threshold of probabilities.

    Parameters
    ----------
    threshold : float
        The threshold, in [0, 1).
    name : str, default="threshold"
        What it is called in messages.

    Returns
    -------
    float
        The threshold.
    """
    return check_number(name, threshold, 0.0, 1.0, closed="left", what="a probability below 1")
