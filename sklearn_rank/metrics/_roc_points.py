"""Points of the ROC curve: one rate at a limit of the other, and the largest difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Unpack

import numpy as np

from .._arguments import check_flag, check_number
from .._lists import ScoredLists
from .._order import MASS_SLACK
from .._typing import FloatArray
from ._functions import BinaryOptions, evaluate, function_of
from ._influence import ClassInfluence
from ._influence_of_rates import rate_influence
from ._measure import Measure, Value
from ._named_numbers import NamedNumber, large_rate, small_rate


@dataclass(frozen=True, kw_only=True, repr=False)
class TPRAtFPRMeasure(Measure):
    """True positive rate at a largest false positive rate; see ``tpr_at_fpr_score``."""

    lacking = "items of one class only"
    weights = "relative"
    range = (0.0, 1.0)
    stem = "tpr@fpr"
    in_name = NamedNumber("max_fpr", small_rate, "0.01")
    from_ranges = "sum"

    max_fpr: float

    def __post_init__(self) -> None:
        check_number("max_fpr", self.max_fpr, 0.0, 1.0, closed="left")
        super().__post_init__()

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
        """Compute the influence of each item of one list on the rate."""
        if not self.has_influence:
            return None
        n_neg = float(lists.sizes[0] - lists.positives[0])
        allowed = int(self._allowed(np.array([n_neg]))[0])
        if allowed < 1:
            raise ValueError(
                f"max_fpr={self.max_fpr!r} of {n_neg:.0f} negatives is less than one, so the rate"
                " depends on the highest negative only and its variance cannot be estimated: pass"
                f" at least {ceil(1.0 / self.max_fpr - 1e-9)} negatives or a larger max_fpr."
            )
        return rate_influence(
            lists.positive,
            lists.score,
            allowed,
            float(self.max_fpr),
            of_positives=True,
            counts=lists.weight,
            draws=lists.draws,
        )


@function_of(TPRAtFPRMeasure)
def tpr_at_fpr_score(
    y_true: Any, y_score: Any, *, max_fpr: float, **options: Unpack[BinaryOptions]
) -> Value:
    """True positive rate at a given false positive rate (TPR at FPR).

    ``TPR@FPR = (number of positives above negative j + 1) / k``, ``j = floor(max_fpr * m)``, for k
    positives and m negatives: the height of the ROC curve, a step function for every order, at
    ``max_fpr``. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    max_fpr : float
        Largest false positive rate allowed, in [0, 1). A greater value gives a greater rate.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Rate in [0, 1]; higher is better.

    See Also
    --------
    fpr_at_tpr_loss : False positive rate at a given true positive rate.
    partial_auc_score : Area under the ROC curve up to the limit.
    positives_at_top_score : Number of positives above all negatives, the case ``max_fpr=0``.
    sklearn.metrics.roc_curve : Points of the ROC curve, from which the rate can be read.

    Notes
    -----
    If negative j + 1 is the i-th of the b negatives in a block of ties with a positives, the mean
    over the orders counts ``a i / (b + 1)`` of these positives. Other definitions agree if no
    block ties the two classes. ``tpr[fpr <= max_fpr].max()`` of scikit-learn's ``roc_curve``
    counts no positive of the block. A line through the block, as in pROC, counts
    ``a (max_fpr m - negatives above) / b``. That line is the limit of finer and finer repetitions,
    and is used for weights that are not whole.

    The influence of single items is known for ``max_fpr > 0`` and lists of at least
    ``1 / max_fpr`` negatives. It uses the slope of the curve over two standard deviations of the
    threshold on either side. In simulations 95 % intervals of
    :func:`sklearn_rank.inference.metric_interval` covered .92 to 1 if ``max_fpr`` allowed at least
    3 negatives, cusps of the curve and rates near 1 included, and .78 to 1 if it allowed one. The
    time is O(n log n), the memory O(n).

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
    return evaluate(TPRAtFPRMeasure, y_true, y_score, max_fpr=max_fpr, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class FPRAtTPRMeasure(Measure):
    """False positive rate at a smallest true positive rate; see ``fpr_at_tpr_loss``."""

    greater_is_better = False
    lacking = "items of one class only"
    weights = "relative"
    range = (0.0, 1.0)
    stem = "fpr@tpr"
    in_name = NamedNumber("min_tpr", large_rate, "0.9")
    from_ranges = "sum"

    min_tpr: float  # Smallest true positive rate, in (0, 1]

    def __post_init__(self) -> None:
        check_number("min_tpr", self.min_tpr, 0.0, 1.0, closed="right")
        super().__post_init__()

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
        """Compute the influence of each item of one list on the rate."""
        if not self.has_influence:
            return None
        n_pos = float(lists.positives[0])
        missed = int(n_pos - np.ceil(self._needed(np.array([n_pos]))[0]))
        if missed < 1:
            least = ceil(1.0 / (1.0 - self.min_tpr) - 1e-9)
            raise ValueError(
                f"min_tpr={self.min_tpr!r} of {n_pos:.0f} positives is all of them, so the rate"
                " depends on the lowest positive only and its variance cannot be estimated: pass"
                f" at least {least} positives or a smaller min_tpr."
            )
        return rate_influence(
            lists.positive,
            lists.score,
            missed,
            1.0 - float(self.min_tpr),
            of_positives=False,
            counts=lists.weight,
            draws=lists.draws,
        )


@function_of(FPRAtTPRMeasure)
def fpr_at_tpr_loss(
    y_true: Any, y_score: Any, *, min_tpr: float, **options: Unpack[BinaryOptions]
) -> Value:
    """False positive rate at a given true positive rate (FPR at TPR).

    ``FPR@TPR = (number of negatives above positive j) / m``, ``j = ceil(min_tpr * k)``, for k
    positives and m negatives. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    min_tpr : float
        True positive rate to reach, in (0, 1]; .95 gives FPR95. A greater value gives a greater
        loss.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Rate in [0, 1]; lower is better.

    See Also
    --------
    tpr_at_fpr_score : True positive rate at a given false positive rate.
    negative_height_loss : Mean share of positives below the negatives.

    Notes
    -----
    If positive j is the i-th of the a positives in a block of ties with b negatives, the mean over
    the orders counts ``b i / (a + 1)`` of these negatives. Weights that are not whole are the
    limit of finer and finer repetitions, which is a line through the block. The name of the scorer
    begins with ``"neg_"``: ``get_scorer("neg_fpr@tpr0.95")``. The influence of single items is
    that of :func:`tpr_at_fpr_score` with the classes exchanged and the list reversed. The time is
    O(n log n), the memory O(n).

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
    return evaluate(FPRAtTPRMeasure, y_true, y_score, min_tpr=min_tpr, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class KolmogorovSmirnovMeasure(Measure):
    """Largest difference of the rates over all thresholds; see ``kolmogorov_smirnov_score``."""

    lacking = "items of one class only"
    weights = "relative"
    range = (0.0, 1.0)
    stem = "ks"
    from_ranges = "largest"

    two_sided: bool = False

    def __post_init__(self) -> None:
        check_flag("two_sided", self.two_sided)
        super().__post_init__()

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


@function_of(KolmogorovSmirnovMeasure)
def kolmogorov_smirnov_score(
    y_true: Any, y_score: Any, *, two_sided: bool = False, **options: Unpack[BinaryOptions]
) -> Value:
    """Kolmogorov-Smirnov statistic: largest difference of true and false positive rate.

    ``KS = max over t of [P(s >= t | positive) - P(s >= t | negative)]``, t any score or a value
    above all scores. It is the two-sample Kolmogorov-Smirnov statistic of the classes, and the
    maximum of Youden's J.

    Parameters
    ----------
    two_sided : bool, default=False
        Whether to take the absolute value of the difference. The reversed perfect order then has
        the value 1 too.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Difference in [0, 1]; higher is better. With ``two_sided`` a high value can also mean a
        reversed order.

    See Also
    --------
    scipy.stats.ks_2samp : The same statistic, two-sided by default, with its test.
    roc_auc_score : A mean over pairs instead of a maximum over thresholds.

    Notes
    -----
    The statistic is a function of the two empirical distributions. Thresholds lie at distinct
    scores, so that ties are not averaged over orders. A constant score has the value 0. No
    influence of single items is given, because the threshold depends on the sample. The time is
    O(n log n), the memory O(n).

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
    return evaluate(KolmogorovSmirnovMeasure, y_true, y_score, two_sided=two_sided, **options)
