"""ROC curve with a simultaneous confidence band."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.stats import kstwo

from .._arguments import check_level
from .._order import counted_blocks
from .._printed import Printed
from .._typing import FloatArray
from ._limits import independent_rows, kolmogorov_margin
from ._samples import check_sample


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
