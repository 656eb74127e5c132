"""Net benefit of selecting all items whose probability reaches a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import LabelType, ScoredLists, check_scored_lists
from .._validation import check_flag, check_number, check_scores, check_share, ravelled

# Sums of rounded probabilities may be as much more than 1, in float32 too.
ROUNDING = 1e-6


def check_probabilities(
    y_true: Any, y_prob: Any, pos_label: Any, *, sample_weight: Any = None
) -> ScoredLists:
    y_true, y_prob = ravelled(y_true, "y_true"), ravelled(y_prob, "y_prob")
    if np.ndim(y_prob) == 2:
        raise ValueError(
            f"y_prob has {np.shape(y_prob)[1]} columns, but must have one probability per row:"
            " pass that of the positive class, predict_proba(X)[:, 1]."
        )
    values = check_scores(y_prob, name="y_prob")
    prob = np.clip(values, 0.0, 1.0)
    if np.ndim(y_true) == 1 and len(y_true) != len(prob):
        raise ValueError(
            f"y_prob has {len(prob)} rows, but y_true has {len(y_true)}: pass one probability per"
            " row."
        )
    outside = np.flatnonzero(np.abs(values - prob) > ROUNDING)
    if outside.size:
        raise ValueError(
            f"y_prob is {values[outside[0]]:.4g} in row {outside[0]}, which is not a probability:"
            " pass predict_proba(X)[:, 1], or calibrate the scores with"
            " sklearn.calibration.CalibratedClassifierCV."
        )
    return check_scored_lists(
        y_true, prob, LabelType("binary", pos_label), sample_weight=sample_weight
    )


def threshold_of(threshold: float, y_prob: Any) -> float:
    """Round a threshold as the probabilities were, so that those equal to it reach it."""
    kind = np.asarray(y_prob).dtype
    return float(kind.type(threshold)) if kind.kind == "f" else threshold


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
    """Net benefit of a probability threshold, as in decision curve analysis.

    ``TP / n - FP / n * t / (1 - t)``, TP and FP the positives and negatives among the items with a
    probability of at least t: true positives per item minus false positives per item, weighted by
    the odds of t.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, in [0, 1].
    threshold : float
        Threshold t in [0, 1): items with at least this probability are selected. A greater
        threshold gives false positives more weight.
    positive_fraction : float or None, default=None
        Share of positives in the population, in (0, 1), for samples whose cases and controls were
        drawn separately. None is the share in the sample.
    standardized : bool, default=False
        Whether to divide by the share of positives, so that selecting exactly the positives has
        the value 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, read as repetitions.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    float
        The net benefit, at most the share of positives, or at most 1 if ``standardized``; higher
        is better.

    Raises
    ------
    ValueError
        If an argument is invalid, if a value of ``y_prob`` is not a probability, or if
        ``positive_fraction`` or ``standardized`` divides by the size of a class that is absent.

    See Also
    --------
    sklearn_rank.inference.net_benefit_curve : Net benefit at many thresholds, with confidence
        limits.
    sklearn_rank.plotting.DecisionCurveDisplay : Plots the decision curve.

    Notes
    -----
    The net benefit depends on the scale of the scores. So it is not a ranking measure and has no
    name for :func:`get_measure`. For a scorer use
    ``make_scorer(net_benefit, response_method="predict_proba", threshold=0.1)`` of scikit-learn.
    Items with a probability equal to the threshold are selected; the threshold is rounded to the
    precision of the probabilities, for example float32. With ``positive_fraction=pi`` the value is
    ``pi TPR - (1 - pi) FPR t / (1 - t)``. The time is O(n).

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
    selected = lists.score >= threshold_of(threshold, y_prob)
    n_pos, n = float(weight @ positive), float(weight.sum())
    true_pos = float(weight @ (selected & positive))
    false_pos = float(weight @ (selected & ~positive))
    exchange = threshold / (1.0 - threshold)
    if n_pos == 0.0 and (standardized or positive_fraction is not None):
        raise ValueError(
            "y_true has no positives, so the net benefit cannot be divided by their number: check"
            " the labels and pos_label, or leave out standardized and positive_fraction."
        )
    if positive_fraction is None:
        return (true_pos - exchange * false_pos) / (n_pos if standardized else n)
    share = check_share("positive_fraction", positive_fraction, what="the share of positives")
    if n_pos == n:
        raise ValueError(
            "y_true has no negatives, so the net benefit cannot be divided by their number: check"
            " the labels and pos_label, or leave out positive_fraction."
        )
    benefit = share * true_pos / n_pos - exchange * (1.0 - share) * false_pos / (n - n_pos)
    return benefit / share if standardized else benefit


def check_threshold(threshold: Any, name: str = "threshold") -> float:
    return check_number(name, threshold, 0.0, 1.0, closed="left", what="a probability below 1")
