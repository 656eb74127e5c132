"""Net benefit at many thresholds, with limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_flag, check_level, check_share
from .._optional import import_pandas
from .._printed import Printed, Table, fixed, text_table
from .._typing import BoolArray, FloatArray
from ..metrics._shared import check_probabilities, check_threshold, threshold_of
from ._groups import Groups, check_groups
from ._results import Interval
from ._share_sums import Share, Term, limits_of_sum
from ._two_classes import refuse_one_class

__all__ = ["NetBenefitCurve", "net_benefit_curve"]

# Largest number of printed rows, and the columns of the data frame.
N_SHOWN = 10
_COLUMNS = ("net_benefit", "low", "high", "treat_all")


@dataclass(frozen=True, eq=False, repr=False)
class NetBenefitCurve(Printed):
    """Decision curve: net benefit of a model at several thresholds, with confidence limits.

    Parameters
    ----------
    threshold : ndarray of shape (n_thresholds,)
        Threshold probabilities, ascending.
    net_benefit : ndarray of shape (n_thresholds,)
        Net benefit of acting on the items with a probability of at least the threshold.
    low : ndarray of shape (n_thresholds,)
        Lower confidence limits, pointwise for each threshold.
    high : ndarray of shape (n_thresholds,)
        Upper confidence limits, pointwise for each threshold.
    treat_all : ndarray of shape (n_thresholds,)
        Net benefit of acting on all items. The net benefit of acting on none is 0.
    level : float
        Nominal coverage of each pair of limits, in (0, 1).
    positive_fraction : float
        Fraction of positives in the population for which the net benefit holds.
    standardized : bool
        Whether the net benefit is divided by that fraction.
    n_pos : int
        Number of positives in the sample.
    n_neg : int
        Number of negatives in the sample.

    See Also
    --------
    net_benefit_curve : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import net_benefit_curve
    >>> curve = net_benefit_curve(
    ...     [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], thresholds=[0.1, 0.2]
    ... )
    >>> curve.net_benefit
    array([0.44444444, 0.4375    ])
    """

    threshold: FloatArray
    net_benefit: FloatArray
    low: FloatArray
    high: FloatArray
    treat_all: FloatArray
    level: float
    positive_fraction: float
    standardized: bool
    n_pos: int
    n_neg: int

    def at(self, threshold: float) -> Interval:
        """Confidence interval for the net benefit at one threshold.

        Parameters
        ----------
        threshold : float
            The threshold, one of the values in the attribute ``threshold``.

        Returns
        -------
        Interval
            Net benefit with its limits.

        Raises
        ------
        ValueError
            If ``threshold`` is not one of the thresholds of the curve.
        """
        found = np.flatnonzero(self.threshold == threshold)
        if not found.size:
            raise ValueError(
                f"threshold={threshold!r} is not among the {len(self.threshold)} thresholds of the"
                f" curve: pass thresholds=[{threshold!r}] to net_benefit_curve."
            )
        i = int(found[0])
        return Interval(
            estimate=float(self.net_benefit[i]),
            low=float(self.low[i]),
            high=float(self.high[i]),
            level=self.level,
            method="joined shares",
            target=f"{self._called} at {threshold:g}",
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each threshold.

        Returns
        -------
        pandas.DataFrame
            The index holds the thresholds; the columns are net_benefit, low, high and treat_all.
        """
        pandas = import_pandas("to_frame", "read the arrays of the curve")
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return pandas.DataFrame(columns, index=pandas.Index(self.threshold, name="threshold"))

    @property
    def _called(self) -> str:
        return "standardized net benefit" if self.standardized else "net benefit"

    def _table(self) -> Table:
        level = f"{100 * self.level:.4g} % limits"
        n = len(self.threshold)
        rows = [
            (
                f"{self.threshold[i]:.4g}",
                fixed(self.net_benefit[i]),
                f"[{fixed(self.low[i])}, {fixed(self.high[i])}]",
                fixed(self.treat_all[i]),
            )
            for i in np.unique(np.linspace(0, n - 1, min(n, N_SHOWN)).round().astype(int))
        ]
        title = (
            f"{self._called.capitalize()} at a share of {self.positive_fraction:.4g} positives"
            f" ({self.n_pos} positives and {self.n_neg} negatives"
            f"{f'; {len(rows)} of {n} thresholds' if n > len(rows) else ''})"
        )
        return title, ("threshold", "net benefit", level, "treat all"), rows

    def __str__(self) -> str:
        return text_table(*self._table())


def net_benefit_curve(
    y_true: Any,
    y_prob: Any,
    *,
    thresholds: Any = None,
    positive_fraction: float | None = None,
    standardized: bool = False,
    level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
) -> NetBenefitCurve:
    """Net benefit of a classifier at several thresholds (decision curve), with limits.

    The net benefit at threshold t is ``TP / n - FP / n * t / (1 - t)``, where TP and FP count the
    positives and negatives with a probability of at least t. With ``positive_fraction`` it is ``pi
    TPR - (1 - pi) FPR t / (1 - t)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, in [0, 1].
    thresholds : float, array-like of shape (n_thresholds,) or None, default=None
        Threshold probabilities, in [0, 1), in any order. None means 0, 0.01, ..., 0.99.
    positive_fraction : float or None, default=None
        Fraction of positives in the target population, in (0, 1), treated as known. None means
        that of the sample. Needed if cases and controls were sampled separately.
    standardized : bool, default=False
        Whether to divide the net benefit by the fraction of positives. The maximum is then 1.
    level : float, default=0.95
        Nominal coverage of each pair of limits, in (0, 1). A higher level gives wider limits.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent, items of one group may depend on each other in any way. None means independent
        items; the limits are much too narrow if they are not.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    NetBenefitCurve
        Net benefit and limits at each threshold.

    Raises
    ------
    ValueError
        If an argument is not valid, a value of ``y_prob`` is outside [0, 1], or there is only one
        class or one group.

    See Also
    --------
    sklearn_rank.metrics.net_benefit : Net benefit as a metric, with sample weights.
    sklearn_rank.plotting.DecisionCurveDisplay : Plots the result.
    calibration_at_top : Calibration of the highest probabilities.

    Notes
    -----
    The limits are pointwise, not simultaneous over thresholds. The net benefit is a sum of two
    proportions. They are TP and FP as fractions of all items, or TPR and FPR with
    ``positive_fraction``. If ``standardized`` without it, the divisor is random too, and they are
    TPR and the odds of ``FP / (FP + positives)``. Each proportion has Wilson's limits, or exact
    mid-p limits if these are wider. Their distances are combined like correlated standard errors
    [3]_, so the limits are valid for few or no true or false positives. With ``groups`` the
    effective number of draws and the correlation come from the sums over groups, with Student's
    quantile.

    With ``positive_fraction``, pass the probabilities of the target population. If the model was
    fitted to a sample with the fraction p of positives, first divide their odds by ``p / (1 - p)``
    and multiply them by ``pi / (1 - pi)``.

    Items with a probability equal to the threshold count as acted on. The threshold is rounded to
    the precision of the probabilities, such as float32. The cost is O(n) time for each threshold
    and O(n) memory. The result is deterministic.

    References
    ----------
    .. [1] Vickers & Elkin (2006), *Decision curve analysis: a novel method for evaluating
       prediction models*, Medical Decision Making 26.
    .. [2] Pfeiffer & Gail (2020), *Estimating the decision curve and its precision from three
       study designs*, Biometrical Journal 62.
    .. [3] Zou & Donner (2008), *Construction of confidence limits about effect measures: a
       general approach*, Statistics in Medicine 27.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import net_benefit_curve
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.beta(1, 4, size=500)
    >>> y = rng.random(500) < prob
    >>> print(net_benefit_curve(y, prob, thresholds=[0.1, 0.2, 0.3]))
    Net benefit at a share of 0.228 positives (114 positives and 386 negatives)
    threshold  net benefit       95 % limits  treat all
    0.1             0.1536  [0.1172, 0.1937]     0.1422
    0.2             0.1040  [0.0694, 0.1425]     0.0350
    0.3             0.0591  [0.0294, 0.0926]    -0.1029
    """
    level = check_level(level)
    check_flag("standardized", standardized)
    chosen = _checked_thresholds(thresholds)
    data = check_probabilities(y_true, y_prob, pos_label)
    refuse_one_class(data)
    dependent = check_groups(groups, len(data.score))
    share, is_given = float(np.mean(data.positive)), positive_fraction is not None
    if positive_fraction is not None:
        share = check_share("positive_fraction", positive_fraction, what="the share of positives")
    exchange = chosen / (1.0 - chosen)
    benefit, low, high = np.empty((3, len(chosen)))
    sample = _Sample(data.positive, dependent, share if is_given else None, bool(standardized))
    for i, threshold in enumerate(chosen):
        treated = data.score >= threshold_of(float(threshold), y_prob)
        terms = sample.terms(treated, float(exchange[i]))
        benefit[i], (low[i], high[i]) = limits_of_sum(terms, level)
    all_treated = share - (1.0 - share) * exchange
    return NetBenefitCurve(
        threshold=chosen,
        net_benefit=benefit,
        low=low,
        high=high,
        treat_all=all_treated / share if standardized else all_treated,
        level=level,
        positive_fraction=share,
        standardized=bool(standardized),
        n_pos=int(np.count_nonzero(data.positive)),
        n_neg=int(np.count_nonzero(~data.positive)),
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """Labels, and the proportions whose sum is the net benefit."""

    positive: BoolArray  # (n,): Which items are positive
    groups: Groups | None
    share: float | None  # Share of positives where the benefit is; None is that of the sample
    standardized: bool  # Whether to divide by the share

    def terms(self, treated: BoolArray, exchange: float) -> list[Term]:
        """Terms whose sum is the net benefit."""
        positive, wrong = self.positive, treated & ~self.positive
        gained, lost, odds = 1.0, -exchange, False
        if self.share is not None:
            among, beside = positive, ~positive
            if self.standardized:
                lost *= (1.0 - self.share) / self.share
            else:
                gained, lost = self.share, lost * (1.0 - self.share)
        elif self.standardized:
            among, beside, odds = positive, positive | wrong, True
        else:
            among = beside = np.ones(len(positive), dtype=bool)
        terms = [Term(gained, Share.of_items(treated & positive, among, self.groups))]
        if exchange:
            terms.append(Term(lost, Share.of_items(wrong, beside, self.groups), odds))
        return terms


def _checked_thresholds(thresholds: Any) -> FloatArray:
    """Thresholds in [0, 1), ascending, each once."""
    if thresholds is None:
        return np.arange(100) / 100
    given = np.atleast_1d(np.asarray(thresholds))
    if given.ndim != 1 or not given.size:
        raise ValueError(
            f"thresholds has shape {np.shape(thresholds)}, but must be one or more probabilities:"
            " pass a list of them."
        )
    return np.unique([check_threshold(one, "thresholds") for one in given.tolist()])
