"""Points of the ROC curve: one rate at a limit of the other, and the largest difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from .._arguments import check_flag, check_number
from .._lists import ScoredLists
from .._top import MASS_SLACK
from .._typing import FloatArray
from ._influence import ClassInfluence
from ._influence_of_rates import rate_influence
from ._measure import Average, Measure, Undefined, Value

__all__ = [
    "FPRAtTPRMeasure",
    "KolmogorovSmirnovMeasure",
    "TPRAtFPRMeasure",
    "fpr_at_tpr_loss",
    "kolmogorov_smirnov_score",
    "tpr_at_fpr_score",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class TPRAtFPRMeasure(Measure):
    """True positive rate at a largest false positive rate; see ``tpr_at_fpr_score``.

    Parameters
    ----------
    max_fpr : float
        Largest false positive rate, in [0, 1).
    """

    lacking = "items of one class only"
    weights = "relative"
    function = "tpr_at_fpr_score"
    stem = "tpr@fpr"
    in_name = "max_fpr"
    from_ranges = "sum"

    max_fpr: float

    def __post_init__(self) -> None:
        check_number("max_fpr", self.max_fpr, 0.0, 1.0, closed="left")
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Rate of each list."""
        blocks = lists.blocks()
        allowed = self._allowed(blocks.n_other)
        # Among b negatives and a positives that are tied, i / (b + 1) of the positives precede
        # negative i; of ever finer repetitions all of the first share of the negatives do.
        whole = blocks.by_block(np.floor(allowed)) + 1.0 - blocks.other_above
        # Sums of real weights are rounded, and what is above may seem to be more than nothing.
        real = blocks.by_block(allowed + MASS_SLACK * blocks.n_other) - blocks.other_above
        with np.errstate(divide="ignore", invalid="ignore"):
            fine = np.where(blocks.of_other > 0, real / blocks.of_other, real >= 0)
        exact = blocks.by_block(lists.whole)
        share = np.clip(np.where(exact, whole / (blocks.of_other + 1.0), fine), 0.0, 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.minimum(blocks.sums(blocks.of_class * share) / blocks.n_class, 1.0)
        return np.where((blocks.n_class > 0) & (blocks.n_other > 0), rate, np.nan)

    def _allowed(self, n_neg: FloatArray) -> FloatArray:
        """Weight of the negatives that may be above the threshold, up to rounding."""
        allowed = float(self.max_fpr) * n_neg
        return allowed + 4 * np.spacing(allowed)

    @property
    def has_influence(self) -> bool:
        """Not above all negatives, where the rate hangs on the highest one."""
        return self.max_fpr > 0

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Find how much each item of one list moves the rate.

        Parameters
        ----------
        lists : ScoredLists
            One list with items of both classes; weights are whole and count them.

        Returns
        -------
        ClassInfluence or None
            The influence, by the slope of the ROC curve at the threshold; None for
            ``max_fpr=0``.
        """
        if not self.has_influence:
            return None
        n_neg = float(lists.sizes[0] - lists.positives[0])
        allowed = int(self._allowed(np.array([n_neg]))[0])
        if allowed < 1:
            raise ValueError(
                f"max_fpr={self.max_fpr!r} of {n_neg:.0f} negatives is less than one, so that the"
                " rate hangs on the highest negative and nothing is known of how it varies: pass"
                f" at least {ceil(1.0 / self.max_fpr - 1e-9)} negatives or a larger max_fpr."
            )
        return rate_influence(
            lists.positive,
            lists.score,
            allowed,
            float(self.max_fpr),
            of_positives=True,
            counts=lists.weight,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class FPRAtTPRMeasure(Measure):
    """False positive rate at a smallest true positive rate; see ``fpr_at_tpr_loss``.

    Parameters
    ----------
    min_tpr : float
        Smallest true positive rate, in (0, 1].
    """

    greater_is_better = False
    lacking = "items of one class only"
    weights = "relative"
    function = "fpr_at_tpr_loss"
    stem = "fpr@tpr"
    in_name = "min_tpr"
    from_ranges = "sum"

    min_tpr: float

    def __post_init__(self) -> None:
        check_number("min_tpr", self.min_tpr, 0.0, 1.0, closed="right")
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Rate of each list."""
        blocks = lists.blocks()
        needed = self._needed(blocks.n_class)
        needed = np.where(lists.whole, np.ceil(needed), needed - MASS_SLACK * blocks.n_class)
        defined = np.flatnonzero((blocks.n_class > 0) & (blocks.n_other > 0))
        values = np.full(lists.n_lists, np.nan)
        if len(defined) == 0:
            return values
        # The topmost block down to whose end the rate is reached.
        reached = blocks.class_above + blocks.of_class >= blocks.by_block(needed)
        below = blocks.sums(np.where(reached, 0.0, 1.0))[defined].astype(np.intp)
        at = blocks.top[defined] - below
        positive, whole = blocks.of_class[at], lists.whole[defined]
        inside = np.clip(needed[defined] - blocks.class_above[at], 0.0, positive)
        inside = blocks.of_other[at] * inside / np.where(whole, positive + 1.0, positive)
        values[defined] = (blocks.other_above[at] + inside) / blocks.n_other[defined]
        return np.minimum(values, 1.0)

    def _needed(self, n_pos: FloatArray) -> FloatArray:
        """Weight of the positives that must be above the threshold, up to rounding."""
        needed = float(self.min_tpr) * n_pos
        return needed - 4 * np.spacing(needed)

    @property
    def has_influence(self) -> bool:
        """Not below all positives, where the rate hangs on the lowest one."""
        return self.min_tpr < 1

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Find how much each item of one list moves the rate.

        Parameters
        ----------
        lists : ScoredLists
            One list with items of both classes; weights are whole and count them.

        Returns
        -------
        ClassInfluence or None
            The influence, by the slope of the ROC curve at the threshold; None for
            ``min_tpr=1``.
        """
        if not self.has_influence:
            return None
        n_pos = float(lists.positives[0])
        missed = int(n_pos - np.ceil(self._needed(np.array([n_pos]))[0]))
        if missed < 1:
            least = ceil(1.0 / (1.0 - self.min_tpr) - 1e-9)
            raise ValueError(
                f"min_tpr={self.min_tpr!r} of {n_pos:.0f} positives is all of them, so that the"
                " rate hangs on the lowest positive and nothing is known of how it varies: pass"
                f" at least {least} positives or a smaller min_tpr."
            )
        return rate_influence(
            lists.positive,
            lists.score,
            missed,
            1.0 - float(self.min_tpr),
            of_positives=False,
            counts=lists.weight,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class KolmogorovSmirnovMeasure(Measure):
    """Largest difference of the rates over all thresholds; see ``kolmogorov_smirnov_score``.

    Parameters
    ----------
    two_sided : bool, default=False
        Whether the difference counts where more negatives than positives are above.
    """

    lacking = "items of one class only"
    weights = "relative"
    function = "kolmogorov_smirnov_score"
    stem = "ks"
    from_ranges = "largest"

    two_sided: bool = False

    def __post_init__(self) -> None:
        check_flag("two_sided", self.two_sided)
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Difference of each list."""
        blocks = lists.blocks()
        n_class, n_other = blocks.by_block(blocks.n_class), blocks.by_block(blocks.n_other)
        of_list = blocks.list_of
        if of_list is None:
            of_list = np.zeros(len(blocks.of_class), dtype=np.intp)
        largest = np.zeros(lists.n_lists)
        with np.errstate(divide="ignore", invalid="ignore"):
            # The difference rises only through blocks that hold positives.
            difference = (blocks.class_above + blocks.of_class) / n_class
            difference -= (blocks.other_above + blocks.of_other) / n_other
            np.maximum.at(largest, of_list, difference)
            if self.two_sided:
                before = blocks.other_above / n_other - blocks.class_above / n_class
                np.maximum.at(largest, of_list, before)
        defined = (blocks.n_class > 0) & (blocks.n_other > 0)
        return np.where(defined, np.minimum(largest, 1.0), np.nan)


def tpr_at_fpr_score(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """True positive rate where the false positive rate is at most a limit.

    ``TPR@FPR = (number of positives above negative j + 1) / k``, ``j = floor(max_fpr * m)``, for k
    positives and m negatives: the height of the ROC curve, a step function for every order, at
    ``max_fpr``. The mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    max_fpr : float
        Largest false positive rate, in [0, 1).
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts. Only their proportions matter.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Rate in [0, 1]; more is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and
        ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    fpr_at_tpr_loss : The reverse.
    partial_auc_score : The mean height up to the limit.
    positives_at_top_score : The positives above all negatives, ``max_fpr=0``.
    sklearn.metrics.roc_curve : The points from which others read the rate.

    Notes
    -----
    In a tied block of a positives and b negatives, of which the i-th is negative j + 1, the mean
    over the orders counts ``a i / (b + 1)`` of its positives. Other readings agree where no block
    ties the two classes: ``tpr[fpr <= max_fpr].max()`` of scikit-learn's ``roc_curve`` counts none
    of the block, being at a threshold that exists; a line through the block, as pROC draws the
    curve, counts ``a (max_fpr m - negatives above) / b``. That line is the limit of ever finer
    repetitions, which is what weights that are not whole count.

    The influence of single items is known for ``max_fpr > 0`` and lists of ``1 / max_fpr``
    negatives or more, by the slope of the curve over two standard deviations of the threshold on
    either side. 95 % intervals of :func:`sklearn_rank.inference.metric_interval` covered .92 to 1
    where 3 negatives or more were allowed, cusps of the curve and T near 1 included, and .78 to 1
    where one was. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and
       Prediction*, Oxford University Press, Chapter 4.

    Examples
    --------
    >>> from sklearn_rank.metrics import tpr_at_fpr_score
    >>> tpr_at_fpr_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], max_fpr=0.1)
    0.5
    >>> tpr_at_fpr_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], max_fpr=0.5)
    1.0
    """
    return TPRAtFPRMeasure(max_fpr=max_fpr, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def fpr_at_tpr_loss(
    y_true: Any,
    y_score: Any,
    *,
    min_tpr: float,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """False positive rate where the true positive rate reaches a limit.

    ``FPR@TPR = (number of negatives above positive j) / m``, ``j = ceil(min_tpr * k)``, for k
    positives and m negatives; the mean is over all orders of tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    min_tpr : float
        Smallest true positive rate, in (0, 1]; .95 gives what is called FPR95.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts. Only their proportions matter.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Rate in [0, 1]; less is better.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and
        ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    tpr_at_fpr_score : The reverse.
    negative_height_loss : Where each negative stands among the positives.

    Notes
    -----
    In a tied block of a positives and b negatives, of which the i-th positive is the one, the mean
    over the orders counts ``b i / (a + 1)`` of its negatives. Weights that are not whole are the
    limit of ever finer repetitions: a line through the block. The name of its scorer begins with
    ``"neg_"``: ``get_scorer("neg_fpr@tpr0.95")``. The influence of
    single items is that of :func:`tpr_at_fpr_score` with the classes exchanged and the list
    reversed. O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and
       Prediction*, Oxford University Press, Chapter 4.

    Examples
    --------
    >>> from sklearn_rank.metrics import fpr_at_tpr_loss
    >>> fpr_at_tpr_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], min_tpr=0.5)
    0.0
    >>> fpr_at_tpr_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], min_tpr=0.9)
    0.5
    """
    return FPRAtTPRMeasure(min_tpr=min_tpr, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )


def kolmogorov_smirnov_score(
    y_true: Any,
    y_score: Any,
    *,
    two_sided: bool = False,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
) -> Value:
    """Largest difference of the true and the false positive rate over all thresholds.

    ``KS = max over t of [P(s >= t | positive) - P(s >= t | negative)]``, t any score or above all:
    Kolmogorov and Smirnov's statistic of the two classes, and the largest of Youden's J.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        Labels of two classes; in two dimensions one list per row, where NaN is no item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinities are in order, NaN is refused.
    two_sided : bool, default=False
        Whether the difference counts by its absolute value, so that an order that is wrong
        throughout has the value 1 too.
    qid : array-like of shape (n_samples,), default=None
        Id of the list of each item, the rows in any order; None is one list.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights: how many times each item counts. Only their proportions matter.
    query_weight : array-like of shape (n_samples,), default=None
        Weight in the mean of the list of each item, the same for all items of a list; in two
        dimensions one for each list.
    average : {"mean"} or None, default="mean"
        Mean over the lists, or None: one value for each, by ascending id.
    undefined : {"skip", "raise"}, float or None, default=None
        What a list of one class counts: nothing (alone it is NaN), an error, or this value.
    return_qid : bool, default=False
        Whether to return the ids of the lists too; with ``average=None``.
    pos_label : int, float, bool or str, default=None
        The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
    rel : float or None, default=None
        Least grade that is relevant, where ``y_true`` holds grades; None takes two classes.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Difference in [0, 1]; more is better, of order only if not ``two_sided``.

    Raises
    ------
    ValueError
        If an argument is not valid, or a list is undefined and
        ``undefined="raise"``.
    TypeError
        If ``two_sided`` is neither True nor False.

    Warns
    -----
    UndefinedMetricWarning
        Once, with their number, if lists are undefined.

    See Also
    --------
    scipy.stats.ks_2samp : The same statistic, two-sided by default, with its test.
    roc_auc_score : The mean over pairs instead of the largest difference.

    Notes
    -----
    It is a function of the two empirical distributions: thresholds lie at distinct scores, a tied
    block is passed as a whole, and no mean over its orders is taken, which would find differences
    within the block that no threshold has. A constant score has the value 0. Its influence on
    single items is that of the rates at one threshold that the sample chose; none is given.
    O(n log n) time, O(n) memory.

    References
    ----------
    .. [1] Smirnov (1948), *Table for estimating the goodness of fit of empirical distributions*,
       Annals of Mathematical Statistics 19.

    Examples
    --------
    >>> from sklearn_rank.metrics import kolmogorov_smirnov_score
    >>> kolmogorov_smirnov_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5
    >>> kolmogorov_smirnov_score([1, 0, 1, 0], [4.0, 2.0, 2.0, 1.0])
    0.5
    >>> kolmogorov_smirnov_score([0, 0, 1, 1], [4.0, 3.0, 2.0, 1.0])
    0.0
    >>> kolmogorov_smirnov_score([0, 0, 1, 1], [4.0, 3.0, 2.0, 1.0], two_sided=True)
    1.0
    """
    return KolmogorovSmirnovMeasure(two_sided=two_sided, undefined=undefined, rel=rel)(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        query_weight=query_weight,
        average=average,
        return_qid=return_qid,
        pos_label=pos_label,
    )
