"""The ROC curve within a band that holds all of the true one."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.stats import kstwo

from .._arguments import check_level
from .._blocks import counted_blocks
from .._printed import Printed
from .._typing import FloatArray
from ._group_bands import independent_rows, kolmogorov_margin
from ._two_classes import check_sample

__all__ = ["RocBand", "roc_band"]


@dataclass(frozen=True, eq=False, repr=False)
class RocBand(Printed):
    """ROC curve with a simultaneous confidence band; each curve by its corners.

    Parameters
    ----------
    fpr : ndarray of shape (n_points,)
        False positive rates of the curve, ascending from 0 to 1.
    tpr : ndarray of shape (n_points,)
        True positive rates.
    upper : ndarray of shape (2, n_upper)
        False and true positive rates of the upper edge of the band.
    lower : ndarray of shape (2, n_lower)
        The same of its lower edge.
    fpr_margin : float
        How far the band reaches from the curve to the left and to the right.
    tpr_margin : float
        How far it reaches upwards and downwards.
    level : float
        Probability, in (0, 1), that the band holds the whole curve, at least.
    n_pos : int
        Positives.
    n_neg : int
        Negatives.

    See Also
    --------
    roc_band : Makes it.

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
    """Band that holds the whole true ROC curve with a probability of at least ``level``.

    The rectangle ``FPR ± d_neg, TPR ± d_pos`` moves along the empirical curve, and the band is
    what it covers; ``d_pos`` and ``d_neg`` are the ``sqrt(level)`` quantiles of the
    Kolmogorov-Smirnov statistics of the positives and of the negatives.

    Parameters
    ----------
    y_true : array-like or dask collection of shape (n_samples,)
        Labels of two classes.
    y_score : array-like or dask collection of shape (n_samples,)
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    level : float, default=0.95
        Coverage, in (0, 1).
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, those of one group may depend on each other in any way. None is independent
        items: a band for rows that depend on each other is then far too narrow.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.

    Returns
    -------
    RocBand
        The curve and the edges of the band.

    Raises
    ------
    ValueError
        If an argument is not valid, there is one class only, or one group only.

    See Also
    --------
    sklearn.metrics.roc_curve : The curve alone.
    sklearn_rank.plotting.RocBandDisplay : Draws it.

    Notes
    -----
    It assumes independent positives of one distribution and independent negatives of another,
    and nothing about the distributions; it is valid for any number of them, conditional on the
    labels. All of the curve is held at once, so that the band is wider than intervals for one
    threshold, and for an interval for the area it is far too wide. The two samples are
    independent, hence the root of the level. Tied items make a sloped piece of the curve, of which
    the true one is inside as well; the quantiles are exact for scores without ties and too large
    with them. O(n log n) time.

    With ``groups`` the band holds too, for items of a class that have one distribution, whatever
    their dependence within groups. The positives are a mean over selections of ``M = floor(n_pos /
    most positives in a group)`` independent ones, so that every convex function of the distance
    has at most the expectation that it has for M items: d_pos is the mean of the tail of the
    Kolmogorov-Smirnov statistic of M beyond its quantile at ``(1 + level) / 2``, d_neg likewise,
    and the two classes, which may share groups, fail with ``(1 - level) / 2`` each.

    Of dask collections, without groups, each distinct pair of a score and a class is counted,
    chunk by chunk, and the counts come to this process: O(m) memory for m pairs.

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
            here = line[coordinate] - bound
            crossed = np.flatnonzero(here[:-1] * here[1:] < 0)
            share = here[crossed] / (here[crossed] - here[crossed + 1])
            corner = line[:, crossed] + share * (line[:, crossed + 1] - line[:, crossed])
            line = np.insert(line, crossed + 1, corner, axis=1)
    return np.clip(line, 0.0, 1.0)
