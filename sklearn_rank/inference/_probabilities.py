"""Probabilities at the top: calibration, and net benefit at many thresholds, with limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

import numpy as np

from .._lists import LabelType, ScoredLists, check_scored_lists
from .._optional import import_pandas
from .._order import top_mass
from .._printed import Printed, Table, fixed
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import (
    array_of_labels,
    check_column,
    check_flag,
    check_level,
    check_number,
    check_scores,
    check_share,
    check_whole,
    refuse_mask,
    refuse_misread,
)
from ..metrics._shared import Groups
from ._evidence import check_groups, refuse_one_class
from ._joint import GroupPart
from ._limits import share_limits
from ._results import Interval

# Entries of the counts by top and group that are laid out at once.
MOST_COUNTS = 2**22

# Probabilities may be rounded by so much, in float32 too.
ROUNDING = 1e-6


def check_probabilities(
    y_true: Any, y_prob: Any, pos_label: Any, *, sample_weight: Any = None, groups: Any = None
) -> ScoredLists:
    refuse_misread(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, groups=groups)
    refuse_mask(y_true, "y_true")
    y_true, y_prob = array_of_labels(y_true), check_column("y_prob", y_prob, (1, 2))
    if y_prob.ndim == 2:
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


def threshold_of(threshold: Any, y_prob: Any) -> FloatArray:
    """Round thresholds as the probabilities were, so that those equal to one reach it."""
    kind = np.asarray(y_prob).dtype
    rounded = np.asarray(threshold, dtype=kind if kind.kind == "f" else np.float64)
    return rounded.astype(np.float64)


def check_threshold(threshold: Any, name: str = "threshold") -> float:
    return check_number(name, threshold, 0.0, 1.0, closed="left", what="a probability below 1")


def reaching(
    score: FloatArray, rows: BoolArray, cuts: FloatArray, groups: Groups | None
) -> FloatArray:
    """Number of rows that reach each of some scores, ascending, by group if there are any.

    Shape (n_cuts, n_groups) or (n_cuts, 1).
    """
    score = score[rows]
    if groups is None:
        return np.float64(len(score)) - np.searchsorted(np.sort(score), cuts)[:, np.newaxis]
    n_reached = np.searchsorted(cuts, score, "right")
    shape = (groups.n_groups, len(cuts) + 1)
    places = groups.codes[rows] * shape[1] + n_reached
    counts = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
    return np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1].T.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of hits among items, one for each top, and what is known of their errors."""

    estimate: FloatArray  # (n_tops,)
    draws: FloatArray  # (n_tops,): Effective number of draws
    degrees: FloatArray  # (n_tops,): Degrees of freedom of the variance
    influence: FloatArray | None  # (n_tops, n_groups): What each group moves the share

    @classmethod
    def of(cls, hits: FloatArray, among: FloatArray, groups: Groups | None) -> Shares:
        """Shares of counts by group; of none it is 0."""
        hits, among = np.broadcast_arrays(hits, among)
        draws = np.maximum(among.sum(axis=1), 1.0)
        estimate, degrees = hits.sum(axis=1) / draws, np.full(len(draws), inf)
        if groups is None:
            return cls(estimate, draws, degrees, None)
        influence = (hits - estimate[:, np.newaxis] * among) / draws[:, np.newaxis]
        for i in np.flatnonzero(among.any(axis=1)):
            part = GroupPart(influence[i : i + 1], among[i])
            draws[i] = min(part.draws_of_share(float(estimate[i]))[0], draws[i])
            degrees[i] = part.degrees
        return cls(estimate, draws, degrees, influence)

    def term(self, factor: Any, level: float, *, odds: bool = False) -> FloatArray:
        """A factor times the shares, or times their odds ``x / (1 - x)``, and the limits.

        Shape (3, n_tops).
        """
        limits = share_limits(self.estimate, self.draws, level, self.degrees)
        shares = np.stack([self.estimate, *limits])
        with np.errstate(divide="ignore", invalid="ignore"):
            # The odds of a share that may be 1 have no limit.
            terms = factor * (shares / (1.0 - shares) if odds else shares)
        terms = np.where(np.equal(factor, 0.0), 0.0, terms)
        terms[1:].sort(axis=0)
        return terms

    def correlation(self, other: Shares, *, exclusive: bool) -> FloatArray:
        """Correlation with shares of other items, or of what no item is at once."""
        if self.influence is not None and other.influence is not None:
            x, y = self.influence, other.influence
            product, squares = ((x * a).sum(axis=1) for a in (y, x))
            squares *= (y * y).sum(axis=1)
        else:
            x, y = self.estimate, other.estimate
            product = -x * y if exclusive else np.zeros(len(x))
            squares = x * (1.0 - x) * y * (1.0 - y)
        # Where no item moves one of the shares, they are not correlated.
        root = np.sqrt(np.where(squares > 0.0, squares, inf))
        return np.clip(product / root, -1.0, 1.0)


def limits_of_sum(x: FloatArray, y: FloatArray, r: FloatArray) -> FloatArray:
    """Return sums of two terms and their limits.

    A limit is as far from the sum as ``sqrt(a**2 + b**2 + 2 r a b)``, a and b the distances of the
    limits of the terms on that side, r their correlation. Shape (3, n_tops).
    """
    (a, low_a, high_a), (b, low_b, high_b) = x, y

    def distance(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.hypot(a + r * b, b * np.sqrt(np.maximum(1.0 - r * r, 0.0)))

    with np.errstate(invalid="ignore"):
        low = a + b - distance(a - low_a, b - low_b)
        return np.stack([a + b, low, a + b + distance(high_a - a, high_b - b)])


def in_parts(limits: Callable[[Any], FloatArray], tops: Any, groups: Groups | None) -> FloatArray:
    """Compute limits of so many tops at once that the counts by group take little memory."""
    n_groups = 1 if groups is None else groups.n_groups
    n_parts = min(ceil(len(tops) * n_groups / MOST_COUNTS), len(tops))
    return np.concatenate([limits(part) for part in np.array_split(tops, n_parts)], axis=1)


def _printed_rows(*columns: Any) -> list[Any]:
    """At most ten rows of a table, the first and the last among them."""
    n = len(columns[0])
    places = np.unique(np.linspace(0, n - 1, min(n, 10)).round().astype(int))
    return list(zip(*(column[places] for column in columns), strict=True))


def _place_of(name: str, value: Any, values: Any, what: str, instead: str) -> int:
    """Place of a value among those of a result."""
    places = np.flatnonzero(values == value)
    if not places.size:
        raise ValueError(
            f"{name}={value!r} is not among the {len(values)} {what}: pass"
            f" {instead.format(repr(value))}."
        )
    return int(places[0])


def _frame_of(result: Any, index: str, *names: str) -> Any:
    pandas = import_pandas("to_frame", "read the arrays of the result")
    columns = {name: getattr(result, name) for name in (index, *names)}
    return pandas.DataFrame(columns).set_index(index)


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
        i = _place_of("k", k, self.k, "lengths of this result", "k=[{}] to calibration_at_top")
        error = float(self.error[i])
        low, high = (float(self.predicted[i] - x[i]) for x in (self.high, self.low))
        target = f"predicted less expected share of positives among the first {k}"
        return Interval(error, low, high, self.level, "joined shares", target)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each k.

        Returns
        -------
        pandas.DataFrame
            The index is k; the columns are predicted, observed, low, high and error.
        """
        return _frame_of(self, "k", "predicted", "observed", "low", "high", "error")

    def _table(self) -> Table:
        n, columns = len(self.k), (self.k, self.predicted, self.observed, self.low, self.high)
        rows = [
            (f"{k}", fixed(p), fixed(o), f"[{fixed(low)}, {fixed(high)}]", fixed(e, sign=True))
            for k, p, o, low, high, e in _printed_rows(*columns, self.error)
        ]
        title = (
            f"Positives among the first k, {self.n_pos} positives and {self.n_neg} negatives"
            f"{f' ({len(rows)} of {n} lengths)' if n > len(rows) else ''}"
        )
        level = f"{100 * self.level:.4g} % limits"
        return title, ("k", "predicted", "observed", level, "error"), rows


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
        independent. None means independent items; the limits are much too narrow if they are not.
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
    metric_interval : Interval for ``"precision@top"``, the precision at the top of the population.
    sklearn_rank.plotting.CurveDisplay : Plots the result.
    sklearn.calibration.calibration_curve : Calibration over bins of all probabilities.

    Notes
    -----
    The limits are pointwise and asymptotic, for the expected fraction of positives
    among these k items given their probabilities, with new independent labels: Wilson's limits, or
    the exact mid-p limits if these are wider. If k cuts a block of m tied items with j of them
    inside, the block counts as m draws with weight ``j / k``, whose limits are combined with those
    of the items above as independent errors (Zou & Donner 2008). With ``groups`` the effective
    number of draws comes from the variance of the sums over groups, with Student's quantile. The
    cost is O(n log n) time and O(n) memory.

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
    data = check_probabilities(y_true, y_prob, pos_label, groups=groups)
    refuse_one_class(data)
    dependent = check_groups(groups, len(data.score))
    n = len(data.score)
    if k is not None and tau is not None:
        raise ValueError(
            "k and tau are both given, and both set the length of the top: pass one of the two."
        )
    if tau is not None:
        shares = [check_share("tau", share) for share in _numbers("tau", tau)]
        lengths = [top_mass(np.array([float(n)]), share)[0] for share in shares]
    elif k is not None:
        lengths = [check_whole("k", length, 1, n) for length in _numbers("k", k)]
    else:
        lengths = np.geomspace(1, n, 100).round().tolist()
    sizes = np.unique(np.asarray(lengths, dtype=np.intp))
    descending = np.sort(data.score)[::-1]
    predicted = np.cumsum(descending)[sizes - 1] / sizes

    def limits(sizes: IntArray) -> FloatArray:
        # Scores ascend with fewer items.
        n, cuts = sizes[::-1, np.newaxis], descending[sizes - 1][::-1]
        all_rows = np.ones(len(data.score), dtype=bool)
        (hits, inside), (hits_above, above) = (
            [reaching(data.score, rows, at, dependent) for rows in (data.positive, all_rows)]
            for at in (cuts, np.nextafter(cuts, inf))
        )
        # Above the tied block that the top cuts, and in the block; if it cuts none, in the top.
        whole = inside.sum(axis=1, keepdims=True) == n
        hits_above, above = np.where(whole, hits, hits_above), np.where(whole, inside, above)
        head = Shares.of(hits_above, above, dependent)
        tied = Shares.of(hits - hits_above, inside - above, dependent)
        share = above.sum(axis=1) / n[:, 0]
        terms = head.term(share, level), tied.term(1.0 - share, level)
        return limits_of_sum(*terms, head.correlation(tied, exclusive=False))[:, ::-1]

    observed, low, high = in_parts(limits, sizes, dependent)
    n_pos = int(np.count_nonzero(data.positive))
    return CalibrationAtTop(sizes, predicted, observed, low, high, level, n_pos, n - n_pos)


def _numbers(name: str, numbers: Any, what: str = "numbers") -> list[Any]:
    values = np.atleast_1d(np.asarray(numbers))
    if values.ndim != 1 or not values.size:
        raise ValueError(
            f"{name} has shape {np.shape(numbers)}, but must be one or more {what}: pass a list."
        )
    return list(values.tolist())


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
    prevalence : float
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
    prevalence: float
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
        more = "thresholds=[{}] to net_benefit_curve"
        i = _place_of("threshold", threshold, self.threshold, "thresholds of the curve", more)
        value, low, high = (float(x[i]) for x in (self.net_benefit, self.low, self.high))
        target = f"{self._name} at {threshold:g}"
        return Interval(value, low, high, self.level, "joined shares", target)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row for each threshold.

        Returns
        -------
        pandas.DataFrame
            The index holds the thresholds; the columns are net_benefit, low, high and treat_all.
        """
        return _frame_of(self, "threshold", "net_benefit", "low", "high", "treat_all")

    @property
    def _name(self) -> str:
        return "standardized net benefit" if self.standardized else "net benefit"

    def _table(self) -> Table:
        level = f"{100 * self.level:.4g} % limits"
        n, columns = len(self.threshold), (self.threshold, self.net_benefit, self.low, self.high)
        rows = [
            (f"{at:.4g}", fixed(value), f"[{fixed(low)}, {fixed(high)}]", fixed(of_all))
            for at, value, low, high, of_all in _printed_rows(*columns, self.treat_all)
        ]
        title = (
            f"{self._name.capitalize()} at a share of {self.prevalence:.4g} positives"
            f" ({self.n_pos} positives and {self.n_neg} negatives"
            f"{f'; {len(rows)} of {n} thresholds' if n > len(rows) else ''})"
        )
        return title, ("threshold", "net benefit", level, "treat all"), rows


def net_benefit_curve(
    y_true: Any,
    y_prob: Any,
    *,
    thresholds: Any = None,
    prevalence: float | None = None,
    standardized: bool = False,
    level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
) -> NetBenefitCurve:
    """Net benefit of a classifier at several thresholds (decision curve), with limits.

    The net benefit at threshold t is ``TP / n - FP / n * t / (1 - t)``, where TP and FP count the
    positives and negatives with a probability of at least t. With ``prevalence`` it is ``pi
    TPR - (1 - pi) FPR t / (1 - t)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, in [0, 1].
    thresholds : float, array-like of shape (n_thresholds,) or None, default=None
        Threshold probabilities, in [0, 1), in any order. None means 0, 0.01, ..., 0.99.
    prevalence : float or None, default=None
        Fraction of positives in the target population, in (0, 1), treated as known. None means
        that of the sample. Needed if cases and controls were sampled separately.
    standardized : bool, default=False
        Whether to divide the net benefit by the fraction of positives. The maximum is then 1.
    level : float, default=0.95
        Nominal coverage of each pair of limits, in (0, 1). A higher level gives wider limits.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user, query) of each item; items of different groups are
        independent. None means independent items; the limits are much too narrow if they are not.
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
    sklearn_rank.plotting.CurveDisplay : Plots the result.
    calibration_at_top : Calibration of the highest probabilities.

    Notes
    -----
    The limits are pointwise and asymptotic, for independent items, or groups, and for
    the population; with ``prevalence`` numbers of both classes are fixed. The net benefit is a sum
    of two proportions: TP and FP as fractions of all items, or TPR and FPR with ``prevalence``. If
    ``standardized`` without it, they are TPR and the odds of ``FP / (FP + positives)``. Each
    proportion has Wilson's limits, or exact mid-p limits if these are wider. Their distances are
    combined like correlated standard errors [3]_. With ``groups`` the effective number of draws
    and the correlation come from the sums over groups, with Student's quantile.

    With ``prevalence``, pass the probabilities of the target population. If the model was
    fitted to a sample with the fraction p of positives, first divide their odds by ``p / (1 - p)``
    and multiply them by ``pi / (1 - pi)``. Items with a probability equal to the threshold count
    as acted on; it is rounded to the precision of the probabilities, such as float32. The cost is
    O(n log n) time and O(n) memory.

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
    if thresholds is None:
        thresholds = np.arange(100) / 100
    else:
        values = _numbers("thresholds", thresholds, "probabilities")
        thresholds = np.unique([check_threshold(x, "thresholds") for x in values])
    data = check_probabilities(y_true, y_prob, pos_label, groups=groups)
    refuse_one_class(data)
    dependent = check_groups(groups, len(data.score))
    positive = data.positive
    share = float(np.mean(positive))
    if prevalence is not None:
        share = check_share("prevalence", prevalence, what="the share of positives")
    unit = share if standardized else 1.0

    def limits(thresholds: FloatArray) -> FloatArray:
        rate = thresholds / (1.0 - thresholds)
        cuts = threshold_of(thresholds, y_prob)
        (hits, wrong), (n_pos, n_neg) = (
            [reaching(data.score, rows, at, dependent) for rows in (positive, ~positive)]
            for at in (cuts, np.full(1, -inf))
        )
        # The net benefit is the sum of a term of hits and one of false alarms.
        gain, loss, odds = 1.0, -rate, prevalence is None and standardized
        if prevalence is not None:
            among = n_pos, n_neg
            gain, loss = share / unit, loss * ((1.0 - share) / unit)
        else:
            among = (n_pos, n_pos + wrong) if standardized else (n_pos + n_neg,) * 2
        right, false = map(Shares.of, (hits, wrong), among, (dependent,) * 2)
        terms = right.term(gain, level), false.term(loss, level, odds=odds)
        exclusive = among[0] is among[1]
        return limits_of_sum(*terms, -right.correlation(false, exclusive=exclusive))

    benefit, low, high = in_parts(limits, thresholds, dependent)
    treat_all = (share - (1.0 - share) * (thresholds / (1.0 - thresholds))) / unit
    n_neg, n_pos = np.bincount(positive, minlength=2).tolist()
    found = thresholds, benefit, low, high, treat_all
    return NetBenefitCurve(*found, level, share, bool(standardized), n_pos, n_neg)
