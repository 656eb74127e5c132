"""Calibration of probabilities among the first items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_level, check_share, check_whole
from .._lists import ScoredLists
from .._optional import import_pandas
from .._printed import Printed, Table, fixed, text_table
from .._top import top_mass
from .._typing import FloatArray, IntArray
from ..metrics._shared import check_probabilities
from ._groups import Groups, check_groups
from ._results import Interval
from ._share_sums import Share, Term, limits_of_sum
from ._two_classes import refuse_one_class

__all__ = ["CalibrationAtTop", "calibration_at_top"]

# Default number of lengths of the top, number of printed rows, and columns of the data frame.
N_LENGTHS, N_SHOWN = 100, 10
_COLUMNS = ("predicted", "observed", "low", "high", "error")


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationAtTop(Printed):
    """Calibration at the top: predicted and observed fraction of positives among the first k.

    Parameters
    ----------
    k : ndarray of int of shape (n_lengths,)
        Numbers of items from the top, ascending.
    predicted : ndarray of shape (n_lengths,)
        Mean predicted probability of the first k items.
    observed : ndarray of shape (n_lengths,)
        Fraction of positives among the first k items; the mean over all orders of tied items.
    low : ndarray of shape (n_lengths,)
        Lower limits of the expected fraction of positives, pointwise for each k.
    high : ndarray of shape (n_lengths,)
        Upper limits of the expected fraction of positives, pointwise for each k.
    level : float
        Nominal coverage of each pair of limits, in (0, 1).
    n_pos : int
        Number of positives in the sample.
    n_neg : int
        Number of negatives in the sample.

    See Also
    --------
    calibration_at_top : Computes it.

    Examples
    --------
    >>> from sklearn_rank.inference import calibration_at_top
    >>> found = calibration_at_top([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], k=2)
    >>> found.error.round(2)
    array([0.35])
    """

    k: IntArray
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    n_pos: int
    n_neg: int

    @property
    def error(self) -> FloatArray:
        """Calibration error: predicted minus observed; positive values mean over-confidence."""
        return self.predicted - self.observed

    def at(self, k: int) -> Interval:
        """Confidence interval for the calibration error among the first k items.

        Parameters
        ----------
        k : int
            Number of items from the top, one of the values in the attribute ``k``.

        Returns
        -------
        Interval
            The error, predicted minus observed, and limits for predicted minus expected. If the
            interval lies above 0, the probabilities are too high.

        Raises
        ------
        ValueError
            If ``k`` is not one of the values in the attribute ``k``.
        """
        found = np.flatnonzero(self.k == k)
        if not found.size:
            raise ValueError(
                f"k={k!r} is not among the {len(self.k)} lengths of this result: pass k=[{k!r}] to"
                " calibration_at_top."
            )
        i = int(found[0])
        return Interval(
            estimate=float(self.error[i]),
            low=float(self.predicted[i] - self.high[i]),
            high=float(self.predicted[i] - self.low[i]),
            level=self.level,
            method="joined shares",
            target=f"predicted less expected share of positives among the first {k}",
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each k.

        Returns
        -------
        pandas.DataFrame
            The index is k; the columns are predicted, observed, low, high and error.
        """
        pandas = import_pandas("to_frame", "read the arrays of the result")
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return pandas.DataFrame(columns, index=pandas.Index(self.k, name="k"))

    def _table(self) -> Table:
        n = len(self.k)
        rows = [
            (
                f"{self.k[i]}",
                fixed(self.predicted[i]),
                fixed(self.observed[i]),
                f"[{fixed(self.low[i])}, {fixed(self.high[i])}]",
                fixed(self.error[i], sign=True),
            )
            for i in np.unique(np.linspace(0, n - 1, min(n, N_SHOWN)).round().astype(int))
        ]
        title = (
            f"Positives among the first k, {self.n_pos} positives and {self.n_neg} negatives"
            f"{f' ({len(rows)} of {n} lengths)' if n > len(rows) else ''}"
        )
        level = f"{100 * self.level:.4g} % limits"
        return title, ("k", "predicted", "observed", level, "error"), rows

    def __str__(self) -> str:
        return text_table(*self._table())


def calibration_at_top(
    y_true: Any,
    y_prob: Any,
    *,
    k: Any = None,
    tau: Any = None,
    level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
) -> CalibrationAtTop:
    """Check the calibration of predicted probabilities among the first k items.

    With the items in descending order of probability, the function compares the mean probability
    ``(p_1 + ... + p_k) / k`` with the fraction of positives ``(y_1 + ... + y_k) / k``. A model can
    be calibrated overall and over-confident at the top.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, in [0, 1].
    k : int, array-like of int or None, default=None
        Numbers of items from the top, from 1 to n, in any order. If both ``k`` and ``tau`` are
        None, up to 100 numbers on a log scale are used.
    tau : float, array-like of float or None, default=None
        Fractions of the items that form the top, in (0, 1), instead of ``k``. The top has at least
        one item.
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
    CalibrationAtTop
        Predicted probability, observed fraction and limits for each k.

    Raises
    ------
    ValueError
        If an argument is not valid, a value of ``y_prob`` is outside [0, 1], or there is only one
        class or one group.

    See Also
    --------
    precision_at_top_interval : Interval for the precision at the top of the population.
    sklearn_rank.plotting.TopCalibrationDisplay : Plots the result.
    sklearn.calibration.calibration_curve : Calibration over bins of all probabilities.

    Notes
    -----
    The limits are for the expected fraction of positives among these k items given their
    probabilities. They are pointwise, not simultaneous over k. The positives among the first k are
    a sum of independent draws whose probabilities may differ. Such a sum varies at most as much as
    k draws of one probability, for which Wilson's limits are used, or the exact mid-p limits if
    these are wider. If k cuts a block of m tied items with j of them inside, the block counts as m
    draws with weight ``j / k``. Its limits are combined with those of the items above as
    independent errors (Zou & Donner 2008). With ``groups`` the effective number of draws comes
    from the variance of the sums over groups, with Student's quantile.

    The cost is O(n) time for each k after sorting and O(n) memory. The result is deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import calibration_at_top
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.beta(1, 4, size=500)
    >>> y = rng.random(500) < prob**1.5
    >>> print(calibration_at_top(y, prob, k=[10, 100, 500]))
    Positives among the first k, 59 positives and 441 negatives
    k    predicted  observed       95 % limits    error
    10      0.6801    0.5000  [0.2120, 0.7880]  +0.1801
    100     0.4444    0.3600  [0.2705, 0.4576]  +0.0844
    500     0.1983    0.1180  [0.0919, 0.1492]  +0.0803
    """
    level = check_level(level)
    data = check_probabilities(y_true, y_prob, pos_label)
    refuse_one_class(data)
    dependent = check_groups(groups, len(data.score))
    chosen = _checked_lengths(k, tau, len(data.score))
    descending = np.sort(data.score)[::-1]
    predicted = np.cumsum(descending)[chosen - 1] / chosen
    observed, low, high = np.empty((3, len(chosen)))
    for i, length in enumerate(chosen):
        terms = _terms(data, dependent, int(length), float(descending[length - 1]))
        observed[i], (low[i], high[i]) = limits_of_sum(terms, level)
    return CalibrationAtTop(
        k=chosen,
        predicted=predicted,
        observed=observed,
        low=low,
        high=high,
        level=level,
        n_pos=int(np.count_nonzero(data.positive)),
        n_neg=int(np.count_nonzero(~data.positive)),
    )


def _terms(data: ScoredLists, groups: Groups | None, k: int, last: float) -> list[Term]:
    """Share of positives of the top; if it cuts a tied block, above the block and in the block."""
    above, inside = data.score > last, data.score >= last
    n_above = int(np.count_nonzero(above))
    parts = [(n_above / k, above), (1.0 - n_above / k, inside & ~above)]
    if np.count_nonzero(inside) == k:
        parts = [(1.0, inside)]
    return [
        Term(factor, Share.of_items(data.positive, among, groups))
        for factor, among in parts
        if factor
    ]


def _checked_lengths(k: Any, tau: Any, n: int) -> IntArray:
    """Numbers of items, ascending, each once."""
    if k is not None and tau is not None:
        raise ValueError(
            "k and tau are both given, and both set the length of the top: pass one of the two."
        )
    if tau is not None:
        shares = [check_share("tau", one) for one in _listed("tau", tau)]
        lengths = [top_mass(np.array([float(n)]), one)[0] for one in shares]
    elif k is not None:
        lengths = [check_whole("k", one, 1, n) for one in _listed("k", k)]
    else:
        lengths = np.geomspace(1, n, N_LENGTHS).round().tolist()
    return np.unique(np.asarray(lengths, dtype=np.intp))


def _listed(name: str, given: Any) -> list[Any]:
    values = np.atleast_1d(np.asarray(given))
    if values.ndim != 1 or not values.size:
        raise ValueError(
            f"{name} has shape {np.shape(given)}, but must be one or more numbers: pass a list."
        )
    return list(values.tolist())
