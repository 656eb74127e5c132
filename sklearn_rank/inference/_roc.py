"""ROC curve: a simultaneous confidence band, and intervals for the partial AUC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Literal

import numpy as np
from scipy.stats import kstwo

from .._arguments import check_choice, check_level, check_number
from .._order import counted_blocks
from .._printed import Printed
from .._typing import FloatArray
from ..metrics import get_measure, partial_auc_score
from ..metrics._shared import partial_auc_influence_of
from ._influence import influence_of, list_interval
from ._limits import independent_rows, kolmogorov_margin
from ._results import Interval
from ._samples import ONE_EACH, check_sample, check_two_classes, refuse_collections


@dataclass(frozen=True, eq=False, repr=False)
class RocBand(Printed):
    """ROC curve with a simultaneous confidence band, given by the corners of its curves.

    Parameters
    ----------
    fpr : ndarray of shape (n_points,)
        False positive rates of the curve, ascending from 0 to 1.
    tpr : ndarray of shape (n_points,)
        True positive rates of the curve.
    upper : ndarray of shape (2, n_upper)
        False and true positive rates of the upper edge of the band.
    lower : ndarray of shape (2, n_lower)
        False and true positive rates of the lower edge of the band.
    fpr_margin : float
        Distance from the curve to either edge of the band along the false positive rate.
    tpr_margin : float
        Distance from the curve to either edge of the band along the true positive rate.
    level : float
        Smallest probability, in (0, 1), that the band contains the whole true curve.
    n_pos : int
        Number of positives in the sample.
    n_neg : int
        Number of negatives in the sample.

    See Also
    --------
    roc_band : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import roc_band
    >>> band = roc_band([1, 0, 1, 0], [4, 3, 2, 1])
    >>> band.tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    fpr: FloatArray
    tpr: FloatArray
    upper: FloatArray
    lower: FloatArray
    fpr_margin: float
    tpr_margin: float
    level: float
    n_pos: int
    n_neg: int

    def __str__(self) -> str:
        return (
            f"The whole true ROC curve lies within ±{self.fpr_margin:.3f} of the false positive"
            f" rate and ±{self.tpr_margin:.3f} of the true one about that of {self.n_pos}"
            f" positives and {self.n_neg} negatives ({100 * self.level:.4g} %)."
        )


def roc_band(
    y_true: Any,
    y_score: Any,
    *,
    level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
) -> RocBand:
    """Confidence band for the whole ROC curve, simultaneous and distribution-free.

    The band contains the whole true curve with probability at least ``level``. It is the union of
    the rectangles ``FPR ± d_neg, TPR ± d_pos`` along the empirical curve; ``d_pos`` and ``d_neg``
    are the ``sqrt(level)`` quantiles of the Kolmogorov-Smirnov statistics of the positives and of
    the negatives.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    level : float, default=0.95
        Smallest coverage of the whole curve, in (0, 1). A higher level gives a wider band.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; the band is much too narrow if they are not.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    RocBand
        The empirical curve and the edges of the band.

    Raises
    ------
    ValueError
        If an argument is not valid, or there is only one class or one group.

    See Also
    --------
    sklearn.metrics.roc_curve : The ROC curve without a band.
    sklearn_rank.plotting.RocBandDisplay : Plots the result.

    Notes
    -----
    The positives must be independent with one distribution, and the negatives independent with
    another; no assumption is made about these distributions. The band is valid for any sample
    size, conditional on the labels. It holds for the whole curve simultaneously, so it is wider
    than intervals at one threshold, and much too wide for an interval for the AUC. The two samples
    are independent, therefore each uses the root of the level. Tied items give a sloped segment,
    and the band contains that of the true curve too. The quantiles are exact for scores without
    ties and too large with ties. The cost is O(n log n) time.

    With ``groups`` the band is valid if the items of a class have one distribution, for any
    dependence within groups. The positives are a mean over selections of ``M = floor(n_pos / most
    positives in a group)`` independent ones. Therefore every convex function of the distance has
    at most the expectation that it has for M items. d_pos is the mean of the Kolmogorov-Smirnov
    statistic of M items above its quantile at ``(1 + level) / 2``, and d_neg likewise. The two
    classes may share groups, so each may fail with probability ``(1 - level) / 2``.

    For dask collections (without ``groups``) the distinct pairs of a score and a class are counted
    chunk by chunk, and the counts are collected in this process: O(m) memory for m pairs.

    References
    ----------
    .. [1] Campbell (1994), *Advances in statistical methodology for the evaluation of diagnostic
       and laboratory tests*, Statistics in Medicine 13.
    .. [2] Macskassy, Provost & Rosset (2005), *ROC confidence bands: an empirical evaluation*,
       ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import roc_band
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 100])
    >>> print(roc_band(y, y + rng.normal(size=400)))
    The whole true ROC curve lies within ±0.085 of the false positive rate and ±0.146 of the true \
one about that of 100 positives and 300 negatives (95 %).
    """
    level = check_level(level)
    data, dependent = check_sample(y_true, y_score, pos_label, groups)
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n_pos, n_neg = blocks.k, blocks.n - blocks.k
    fpr = np.append(0.0, np.cumsum(blocks.size - blocks.n_pos) / n_neg)
    tpr = np.append(0.0, np.cumsum(blocks.n_pos) / n_pos)
    if dependent is None:
        across, up = (float(kstwo.ppf(sqrt(level), n)) for n in (n_neg, n_pos))
    else:
        across, up = (
            kolmogorov_margin((1.0 - level) / 2.0, independent_rows(dependent.sizes(of_class)))
            for of_class in (~data.positive, data.positive)
        )
    return RocBand(
        fpr=fpr,
        tpr=tpr,
        upper=_within_square(np.append(fpr - across, 1.0), np.append(tpr + up, 1.0 + up)),
        lower=_within_square(np.append(0.0, fpr + across), np.append(-up, tpr - up)),
        fpr_margin=across,
        tpr_margin=up,
        level=level,
        n_pos=n_pos,
        n_neg=n_neg,
    )


def _within_square(x: FloatArray, y: FloatArray) -> FloatArray:
    """Cut an ascending line to [0, 1], with a corner where it leaves or enters."""
    line = np.stack([x, y])
    for coordinate in range(2):
        for bound in (0.0, 1.0):
            distance = line[coordinate] - bound
            crossed = np.flatnonzero(distance[:-1] * distance[1:] < 0)
            share = distance[crossed] / (distance[crossed] - distance[crossed + 1])
            corner = line[:, crossed] + share * (line[:, crossed + 1] - line[:, crossed])
            line = np.insert(line, crossed + 1, corner, axis=1)
    return np.clip(line, 0.0, 1.0)


def partial_auc_influence(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    pos_label: Any = None,
) -> FloatArray:
    """Influence function of the partial AUC, one value per item.

    With f(x) and t(x) the false and the true positive rate at a threshold x, f1 the false positive
    rate at which the curve reaches ``min_tpr``, and t0 the true positive rate at ``max_fpr``, a
    positive at x has the influence ``clip(max_fpr - f(x), 0, max_fpr - f1)`` times n / k. A
    negative with f(x) < max_fpr has ``max(t(x) - min_tpr, 0) - max(t0 - min_tpr, 0)`` times n / m.
    The mean of the class is subtracted from each.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    max_fpr : float, default=1
        Upper limit of the false positive rate, in (0, 1].
    min_tpr : float, default=0
        Lower limit of the true positive rate, in [0, 1).
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influence on the raw area, in the order of the rows, with mean 0 within each class.

    Raises
    ------
    ValueError
        If an argument is not valid, or one class is absent.

    See Also
    --------
    partial_auc_interval : Confidence interval from these values.
    linear_rank_influence : Influence function of linear rank statistics.

    Notes
    -----
    Both limits are quantiles of a class, and the influence includes their variation. No density is
    needed, because one rate is fixed at each limit. The influence of a tied item is the mean over
    the positions within its block, where the curve is a straight line. The cost is O(n log n) time
    and O(n) memory.

    References
    ----------
    .. [1] Dodd & Pepe (2003), *Partial AUC estimation and regression*, Biometrics 59.
    .. [2] Yang, Lu, Lyu & Hu (2019), *Two-way partial AUC and its properties*, Statistical
       Methods in Medical Research 28.

    Examples
    --------
    >>> from sklearn_rank.inference import partial_auc_influence
    >>> partial_auc_influence([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], max_fpr=0.5)
    array([ 0.5,  0. , -0.5,  0. ])
    """
    refuse_collections(ONE_EACH, y_true=y_true, y_score=y_score)
    data = check_two_classes(y_true, y_score, pos_label)
    limits = _check_limits(max_fpr, min_tpr)
    return partial_auc_influence_of(data.positive, data.score, *limits).centred()


def partial_auc_interval(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    scale: Literal["raw", "mcclish", "normalized"] = "raw",
    level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
) -> Interval:
    """Confidence interval for the partial AUC, one-way or two-way.

    The variance comes from the influence values within each class, or from their sums over groups.
    These values include the variation of both limits of the partial area.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    max_fpr : float, default=1
        Upper limit of the false positive rate, in (0, 1].
    min_tpr : float, default=0
        Lower limit of the true positive rate, in [0, 1).
    scale : {"raw", "mcclish", "normalized"}, default="raw"
        Scale of the area, as in :func:`sklearn_rank.metrics.partial_auc_score`.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; the interval is much too short if they are not.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    Interval
        The interval, of positive width and within the range of the measure.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, or there is only one group.

    See Also
    --------
    partial_auc_influence : The influence values that this interval uses.
    auc_interval : Interval for the whole AUC, with more methods.
    linear_rank_interval : Interval for linear rank statistics, such as the local AUC.

    Notes
    -----
    The target is the partial area under the ROC curve of the population. It does not depend on the
    fraction of positives, so the labels may be fixed or random. Half an item is added at either
    end of the list in both classes. The area as a fraction of its largest value then has an
    effective sample size, which enters Wilson's method. On each side Clopper and Pearson's limits
    with mid-p values replace it if they are wider. A two-way area is a mean of positive parts, so
    it is biased upwards if the curve barely reaches ``min_tpr``. With an AUC of .6 and both limits
    at one half, the interval covers .86 to .91 instead of .95. With ``groups`` half a group is
    added at either end and the quantile is Student's, as in :func:`paired_rank_test`. The cost is
    O(n log n) time and O(n) memory.

    For dask collections (without ``groups``) the distinct pairs of a score and a class are counted
    chunk by chunk, and the counts are collected in this process: O(m) memory for m pairs.

    References
    ----------
    .. [1] Dodd & Pepe (2003), *Partial AUC estimation and regression*, Biometrics 59.
    .. [2] Yang, Lu, Lyu & Hu (2019), *Two-way partial AUC and its properties*, Statistical
       Methods in Medical Research 28.

    Examples
    --------
    >>> from sklearn_rank.inference import partial_auc_interval
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    >>> print(partial_auc_interval(y_true, y_score, max_fpr=0.5, scale="normalized"))
    0.6250 [0.0674, 0.9890] (partial AUC of the population, 95 %, influence)
    """
    level = check_level(level)
    check_choice("scale", scale, ("raw", "mcclish", "normalized"))
    max_fpr, min_tpr = _check_limits(max_fpr, min_tpr)
    data, dependent = check_sample(y_true, y_score, pos_label, groups)
    measure = get_measure(partial_auc_score, max_fpr=max_fpr, min_tpr=min_tpr, scale=scale)
    interval = list_interval(
        measure, influence_of(measure, data, conditional=True), level, dependent
    )
    return replace(interval, target="partial AUC of the population")


def _check_limits(max_fpr: Any, min_tpr: Any) -> tuple[float, float]:
    return (
        check_number("max_fpr", max_fpr, 0.0, 1.0, closed="right"),
        check_number("min_tpr", min_tpr, 0.0, 1.0, closed="left"),
    )
