"""Curves: precision, gain, lift and calibration from the top; ROC and net benefit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_choice, check_flag, check_share
from ..inference import (
    CalibrationAtTop,
    NetBenefitCurve,
    RocBand,
    calibration_at_top,
    metric_interval,
    net_benefit_curve,
    roc_band,
)
from ..metrics import get_measure, precision_at_top_curve, precision_at_top_score
from ..metrics._shared import as_score_generating
from ._common import (
    COLORS,
    CURVE,
    GREY,
    QUIET,
    REFERENCE,
    CurveDisplay,
    axes_of,
    band_alpha,
    draw_legend,
    log_positions,
    of_estimator,
    show_heights,
    systems_of,
    visible,
    wrapped,
)

# Marks nearer than this, as a share of the axis, have their texts one above the other.
CLOSE = 0.09


class TopOfListDisplay(CurveDisplay):
    """Precision among the first k items against k (precision at k).

    Create one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    position : ndarray of shape (n_positions,)
        Numbers of items from the top, ascending.
    precision : ndarray of shape (n_positions,)
        Fraction of positives among them, in [0, 1].
    estimator_name : str or None, default=None
        Name in the legend.
    intervals : dict of float to Interval or None, default=None
        Intervals for the precision among the top fraction of the list, by that fraction; drawn at
        the marks.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    base_rate_ : matplotlib Line2D
        The fraction of positives in the whole list, which is the expected precision of a random
        order.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.metrics.precision_at_top_curve : Compute the curve.
    sklearn.metrics.PrecisionRecallDisplay : Precision against recall.

    Notes
    -----
    Tied items count as the mean over all their orders.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import TopOfListDisplay
    >>> display = TopOfListDisplay.from_predictions([1, 1, 0, 1], [4.0, 3.0, 2.0, 1.0])
    >>> display.precision[:2]
    array([1., 1.])
    """

    def __init__(
        self,
        position: Any,
        precision: Any,
        *,
        estimator_name: str | None = None,
        intervals: Any = None,
    ) -> None:
        self.position = np.asarray(position)
        self.precision = np.asarray(precision)
        self.estimator_name = estimator_name
        self.intervals = dict(intervals or {})

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        tau: Any = (),
        level: float | None = None,
        groups: Any = None,
        **kwargs: Any,
    ) -> TopOfListDisplay:
        """Draw the precision at the top of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores; higher is nearer to the top.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        name : str or None, default=None
            Name in the legend.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        tau : float or sequence of float, default=()
            Fractions of the list that are marked by a vertical line, each in (0, 1).
        level : float or None, default=None
            Nominal coverage of confidence intervals for the precision among the top ``tau`` of
            the population, in (0, 1). They are drawn at the marks. None draws no intervals. Not
            allowed with ``sample_weight``.
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.metric_interval`.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        TopOfListDisplay
            Display with the drawn plot.
        """
        position, precision = precision_at_top_curve(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label
        )
        intervals = {}
        if level is None and groups is not None:
            raise ValueError("groups are for intervals: pass level, or leave groups out.")
        if level is not None:
            if sample_weight is not None:
                raise ValueError(
                    "Intervals are for rows that count once: leave out sample_weight or level."
                )
            options = {"level": level, "groups": groups, "pos_label": pos_label}
            intervals = {
                share: metric_interval(
                    get_measure(precision_at_top_score, tau=share), y_true, y_score, **options
                )
                for share in np.atleast_1d(tau)
            }
        display = cls(position, precision, estimator_name=name, intervals=intervals)
        return display.plot(ax=ax, tau=tau, **kwargs)

    from_estimator = of_estimator(from_predictions)

    def plot(
        self, ax: Any = None, *, name: str | None = None, tau: Any = (), **kwargs: Any
    ) -> TopOfListDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        name : str or None, default=None
            Name in the legend. None means ``estimator_name``.
        tau : float or sequence of float, default=()
            Fractions of the list that are marked by a vertical line, each in (0, 1).
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        TopOfListDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a value of ``tau`` is not in (0, 1).
        """
        shares = [check_share("tau", share) for share in np.atleast_1d(tau).tolist()]
        ax = axes_of(ax)
        seen = visible(np.log(self.position), self.precision)
        x, y = self.position[seen], self.precision[seen]
        first = self._draw_curve(ax, x, y, name, kwargs)
        style = {"color": GREY, "linestyle": ":", "linewidth": 1, "gid": REFERENCE}
        label = "base rate" if first else None
        self.base_rate_ = ax.axhline(self.precision[-1], label=label, **style)
        log_positions(ax)
        ax.set(xlabel="Items from the top (log scale)", ylabel="Precision among them")
        limits = [interval.high for interval in self.intervals.values()]
        show_heights(ax, [*y, self.precision[-1], *limits], first=first)
        draw_legend(ax)
        above, level = -np.inf, 0
        for share in sorted(shares):
            place = np.log(share * self.position[-1]) / np.log(max(self.position[-1], 2.0))
            level = (level + 1) % 3 if place - above < CLOSE else 0
            above = place
            self._mark(ax, share, level)
        return self._drawn_on(ax)

    def _mark(self, ax: Any, share: float, level: int) -> None:
        """Mark the end of a fraction of the list, and draw the interval there."""
        end = max(1.0, np.floor(share * self.position[-1] + 0.5))
        ax.axvline(end, color=GREY, linewidth=0.5, zorder=0)
        if share in self.intervals:
            limits = [self.intervals[share].low, self.intervals[share].high]
            ax.vlines(end, *limits, color=self.line_.get_color())
            ax.plot([end, end], limits, "_", color=self.line_.get_color())
        ax.annotate(
            f"{100 * share:.3g} %",
            (end, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2 + 9 * level),
            textcoords="offset points",
            ha="center",
            color=GREY,
            fontsize="x-small",
        )


# Lift above which both axes are logarithmic.
LARGEST_LINEAR = 10.0


class CumulativeGainDisplay(CurveDisplay):
    """Cumulative gain curve, or the lift over a random order.

    ``gain(t)`` is the fraction of all positives that are in the top fraction t of the list, and
    ``lift(t) = gain(t) / t``. Create one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    share : ndarray of shape (n_positions,)
        Fractions of the list from the top, ascending; the last is 1.
    gain : ndarray of shape (n_positions,)
        Fraction of all positives that they contain, in [0, 1].
    base_rate : float
        Fraction of positives in the list.
    estimator_name : str or None, default=None
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    perfect_ : matplotlib Line2D
        The curve of an order with all positives first.
    random_ : matplotlib Line2D
        The expected curve of a random order.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    TopOfListDisplay : Precision among the first items, on a log scale.
    RocBandDisplay : ROC curve, which does not depend on the base rate.

    Notes
    -----
    Tied items count as the mean over all their orders, which is a straight segment of the gain.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import CumulativeGainDisplay
    >>> display = CumulativeGainDisplay.from_predictions(
    ...     [1, 1, 0, 0], [4.0, 2.0, 3.0, 1.0]
    ... )
    >>> display.gain
    array([0.5, 0.5, 1. , 1. ])
    """

    def __init__(
        self, share: Any, gain: Any, base_rate: float, *, estimator_name: str | None = None
    ) -> None:
        self.share = np.asarray(share)
        self.gain = np.asarray(gain)
        self.base_rate = base_rate
        self.estimator_name = estimator_name

    @property
    def lift(self) -> Any:
        """Gain divided by the fraction of the list."""
        return self.gain / self.share

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        kind: str = "gain",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CumulativeGainDisplay:
        """Draw the gain or the lift of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores; higher is nearer to the top.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        kind : {"gain", "lift"}, default="gain"
            Curve to draw.
        name : str or None, default=None
            Name in the legend.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        CumulativeGainDisplay
            Display with the drawn plot.

        Raises
        ------
        ValueError
            If ``y_true`` has no positives.
        """
        position, precision = precision_at_top_curve(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label
        )
        base_rate = float(precision[-1])
        if base_rate == 0:
            raise ValueError(
                "y_true has no positives, of which a share could be found: check the labels and"
                " pos_label."
            )
        share = position / position[-1]
        display = cls(share, precision * share / base_rate, base_rate, estimator_name=name)
        return display.plot(ax=ax, kind=kind, **kwargs)

    from_estimator = of_estimator(from_predictions)

    def plot(
        self, ax: Any = None, *, kind: str = "gain", name: str | None = None, **kwargs: Any
    ) -> CumulativeGainDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        kind : {"gain", "lift"}, default="gain"
            Curve to draw.
        name : str or None, default=None
            Name in the legend. None means ``estimator_name``.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        CumulativeGainDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``kind`` is neither "gain" nor "lift".
        """
        check_choice("kind", kind, ("gain", "lift"))
        ax = axes_of(ax)
        x, y = self.share, self.lift
        perfect = np.array([[0.0, self.base_rate, 1.0], [0.0, 1.0, 1.0]])
        if kind == "gain":
            x, y = np.append(0.0, self.share), np.append(0.0, self.gain)
        else:
            shares = np.linspace(self.base_rate, 1.0, 200)
            perfect = np.array([np.append(0.0, shares), np.append(shares[0], shares)])
            perfect[1] = 1 / perfect[1]
        # Where few are positive, what the lift falls by lies in a small share of the list.
        log = kind == "lift" and (np.max(y) > LARGEST_LINEAR or ax.get_yscale() == "log")
        starts, highest = (ax.get_xlim()[0], ax.get_ylim()[0]), ax.get_ylim()[1]
        if log:
            perfect[0, 0] = x[0]
            ax.set(xscale="log", yscale="log")
        seen = visible(np.log(x), np.log(np.maximum(y, y[y > 0].min()))) if log else visible(x, y)
        first = self._draw_curve(ax, x[seen], y[seen], name, kwargs)
        labels = ("all positives first", "random order") if first else (None, None)
        (self.perfect_,) = ax.plot(*perfect, **QUIET, linestyle="--", label=labels[0])
        at_random = [0, 1] if kind == "gain" else [1, 1]
        (self.random_,) = ax.plot([0, 1], at_random, **QUIET, linestyle=":", label=labels[1])
        ax.set(
            xlabel="Share of the list, from the top" + (" (log scale)" if log else ""),
            ylabel="Share of the positives found" if kind == "gain" else "Lift over random order",
        )
        if log:
            # The limits of linear axes start at 0, which a logarithm does not have.
            left, low = (start if start > 0 and not first else np.inf for start in starts)
            ax.set_xlim(min(left, x[0]), 1.0)
            top = 1.25 * float(y.max())
            low = min(low, 0.8 * min(1.0, y[y > 0].min()))
            ax.set_ylim(low, top if first else max(top, highest))
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter(lambda value, _: f"{value:g}")
        else:
            ax.set_xlim(0, 1)
            if kind == "gain":
                ax.set_ylim(bottom=0)
            else:
                show_heights(ax, [*y[seen], 1.0], first=first)
        draw_legend(ax)
        return self._drawn_on(ax)


class TopCalibrationDisplay(CurveDisplay):
    """Calibration among the first k items: precision and mean probability against k.

    If the mean probability (dashed line) is above the limits of the observed precision, the model
    is over-confident at the top. Create one with :meth:`from_estimator` or
    :meth:`from_predictions`.

    Parameters
    ----------
    tops : dict of str to CalibrationAtTop
        Values of each model, by the name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Observed precision; if there are several models, of the last one.
    lines_ : dict of str to matplotlib Line2D
        Observed precision by the name of the model.
    predicted_ : dict of str to matplotlib Line2D
        Mean probabilities by the name of the model.
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        Confidence limits by the name of the model; empty if ``band=False``.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.inference.calibration_at_top : Compute the values.
    TopOfListDisplay : Precision alone, for scores that are not probabilities.
    sklearn.calibration.CalibrationDisplay : Calibration curve by bins of all probabilities.

    Notes
    -----
    ``sample_weight`` raises an error, since the limits are for unweighted rows. The limits are
    pointwise. Tied items count as the mean over all their orders.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import TopCalibrationDisplay
    >>> display = TopCalibrationDisplay.from_predictions(
    ...     [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], k=[1, 2, 4], name="model"
    ... )
    >>> display.tops["model"].observed
    array([1. , 0.5, 0.5])
    """

    def __init__(self, tops: Mapping[str, CalibrationAtTop]) -> None:
        self.tops = dict(tops)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        k: Any = None,
        tau: Any = None,
        level: float = 0.95,
        groups: Any = None,
        band: bool = True,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> TopCalibrationDisplay:
        """Draw the calibration at the top of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, both present.
        y_prob : array-like of shape (n_samples,), mapping of str to array-like, or data frame
            Probabilities of the positive class, in [0, 1], of one model or of several by name.
        k : int, array-like of int or None, default=None
            Numbers of items from the top, from 1 to n. If both ``k`` and ``tau`` are None, up to
            100 numbers on a log scale are used.
        tau : float, array-like of float or None, default=None
            Fractions of the items that form the top, in (0, 1), instead of ``k``.
        level : float, default=0.95
            Nominal coverage of the limits at each k, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.calibration_at_top`.
        band : bool, default=True
            Whether to draw the confidence limits.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        name : str or None, default=None
            Name in the legend. Not allowed if ``y_prob`` has names.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot`` for the observed precision.

        Returns
        -------
        TopCalibrationDisplay
            Display with the drawn plot.
        """
        if "sample_weight" in kwargs:
            raise TypeError(
                "TopCalibrationDisplay takes no sample_weight, for its limits are of rows that"
                " count once: leave it out."
            )
        tops = {
            system: calibration_at_top(
                y_true, prob, k=k, tau=tau, level=level, groups=groups, pos_label=pos_label
            )
            for system, prob in systems_of(y_prob, name).items()
        }
        return cls(tops).plot(ax=ax, band=band, **kwargs)

    from_estimator = of_estimator(from_predictions)

    def plot(self, ax: Any = None, *, band: bool = True, **kwargs: Any) -> TopCalibrationDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        band : bool, default=True
            Whether to draw the confidence limits.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot`` for the observed precision.

        Returns
        -------
        TopCalibrationDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``tops`` is empty.
        """
        check_flag("band", band)
        if not self.tops:
            raise ValueError("tops is empty: pass at least one.")
        ax = axes_of(ax)
        self.lines_, self.bands_, self.predicted_ = {}, {}, {}
        for name, top in self.tops.items():
            first = self._draw_curve(ax, top.k, top.observed, name or "observed", kwargs)
            self.lines_[name] = self.line_
            style = {"color": self.line_.get_color(), "linestyle": "--", "linewidth": 0.8}
            label = "mean probability" if first else None
            (self.predicted_[name],) = ax.plot(
                top.k, top.predicted, label=label, gid=REFERENCE, **style
            )
            if band:
                n_bands = len(self.tops)
                self.bands_[name] = self._draw_band(ax, top.k, top.low, top.high, n_bands)
        log_positions(ax)
        ax.set(
            xlabel="Items from the top (log scale)",
            ylabel="Share of positives among them",
            ylim=(-0.02, 1.02),
        )
        draw_legend(ax)
        return self._drawn_on(ax)


class RocBandDisplay(CurveDisplay):
    """ROC curve with a simultaneous confidence band.

    The band covers the whole true curve with a probability of at least ``level``. With ``phi``, a
    panel below the curve shows how much a linear rank statistic weighs each part of it. Create one
    with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    band : RocBand
        Curve and band.
    estimator_name : str or None, default=None
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The ROC curve.
    band_ : matplotlib Polygon
        The band.
    chance_ : matplotlib Line2D
        The diagonal, which is the expected curve of random scores.
    weight_ax_ : matplotlib Axes or None
        Axes of the weight below the curve; None without ``phi``.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.inference.roc_band : Compute the band.
    sklearn.metrics.RocCurveDisplay : ROC curve without a band.

    Notes
    -----
    The band is that of Campbell (1994): the union of rectangles along the curve, whose sides are
    Kolmogorov-Smirnov quantiles. It is simultaneous and distribution-free. ``sample_weight``
    raises an error, since the band is for unweighted rows. Curves with many corners are drawn to a
    resolution of 1/2000 of the axes; ``band`` keeps all corners.

    The weight of a linear rank statistic at a false positive rate is ``phi'(u)`` at ``u = 1 - p
    TPR - (1 - p) FPR``, where p is the fraction of positives and u the pooled rank as a fraction.
    It is the gain of the statistic per unit of area under the curve at that rate. The AUC has a
    constant weight. A jump of phi is drawn as a vertical line.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.metrics import LocalAUC
    >>> from sklearn_rank.plotting import RocBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 100])
    >>> score = y + rng.normal(size=400)
    >>> display = RocBandDisplay.from_predictions(y, score, phi=LocalAUC(0.8))
    >>> display.weight_ax_.get_xlabel()
    'False positive rate'
    """

    def __init__(self, band: RocBand, *, estimator_name: str | None = None) -> None:
        self.band = band
        self.estimator_name = estimator_name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        level: float = 0.95,
        groups: Any = None,
        phi: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> RocBandDisplay:
        """Draw the ROC curve of given scores with its band.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores; higher is nearer to the top.
        level : float, default=0.95
            Nominal coverage of the band, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.roc_band`.
        phi : ScoreGeneratingFunction, str or None, default=None
            Score-generating function whose weight is drawn below the curve, such as
            ``LocalAUC(0.8)``. It must have a derivative. None draws no weight.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        name : str or None, default=None
            Name in the legend.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            Display with the drawn plot.
        """
        if "sample_weight" in kwargs:
            raise TypeError(
                "RocBandDisplay takes no sample_weight, for its band is of rows that count once:"
                " leave it out; scikit-learn's RocCurveDisplay draws a weighted curve."
            )
        band = roc_band(y_true, y_score, level=level, groups=groups, pos_label=pos_label)
        return cls(band, estimator_name=name).plot(ax=ax, phi=phi, **kwargs)

    from_estimator = of_estimator(from_predictions)

    def plot(
        self, ax: Any = None, *, phi: Any = None, name: str | None = None, **kwargs: Any
    ) -> RocBandDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        phi : ScoreGeneratingFunction, str or None, default=None
            Score-generating function whose weight is drawn below the curve.
        name : str or None, default=None
            Name in the legend. None means ``estimator_name``.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``phi`` has no derivative.
        """
        ax = axes_of(ax, figsize=(5.2, 5.2 if phi is None else 5.8))
        band = self.band
        auc = f"AUC = {np.trapezoid(band.tpr, band.fpr):.2f}"
        label = self.estimator_name if name is None else name
        label = auc if label is None else f"{wrapped(label, 36)} ({auc})"
        fpr, tpr = _seen(np.stack([band.fpr, band.tpr]))
        first = self._draw_curve(ax, fpr, tpr, label, kwargs)
        corners = np.concatenate([_seen(band.upper), _seen(band.lower)[:, ::-1]], axis=1)
        n_bands = sum(line.get_gid() == CURVE for line in ax.lines)
        (self.band_,) = ax.fill(
            *corners,
            color=self.line_.get_color(),
            alpha=band_alpha(ax, n_bands),
            linewidth=0,
            label=f"{100 * band.level:.4g} % band for the whole curve" if first else None,
            gid=REFERENCE,
        )
        chance = {"color": GREY, "linestyle": ":", "linewidth": 1, "gid": REFERENCE}
        (self.chance_,) = ax.plot([0, 1], [0, 1], label="chance" if first else None, **chance)
        ax.set(
            xlabel="False positive rate",
            ylabel="True positive rate",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
            anchor="N",  # the legend hangs below it
        )
        draw_legend(ax, below=0.0 if phi is None else 0.2)
        self.weight_ax_ = None if phi is None else self._draw_weight(ax, as_score_generating(phi))
        return self._drawn_on(ax)

    def _draw_weight(self, ax: Any, phi: Any) -> Any:
        """Draw the weight of phi against the false positive rate, below the curve."""
        band = self.band
        n, share = band.n_pos + band.n_neg, band.n_pos / (band.n_pos + band.n_neg)
        # By the sum of both rates every point of the curve is reached once.
        along = np.linspace(0.0, 2.0, 2001)
        fpr = np.interp(along, band.fpr + band.tpr, band.fpr)
        # Rank of each point in the pooled sample, as a fraction.
        u = 1 - share * (along - fpr) - (1 - share) * fpr
        u = np.clip(u, 1 / (n + 1), n / (n + 1))
        weight = np.asarray(phi.derivative(u))
        below = ax.inset_axes([0, -0.2, 1, 0.14], sharex=ax)
        below.fill_between(fpr, 0, weight, color=COLORS[4], alpha=0.6, linewidth=0)
        for jump, _ in phi.jumps:
            at = np.interp(-jump, -u, fpr)
            below.axvline(at, color=COLORS[1], linewidth=1.5)
            ax.axvline(at, color=COLORS[1], linewidth=0.8, linestyle="--", zorder=0)
        below.set_ylim(0, 1.15 * weight.max() or 1.0)
        below.set(yticks=[], xlabel="False positive rate")
        line = "\n(line: jump)" if phi.jumps else ""
        below.set_ylabel(
            f"weight of\n{phi!r}{line}", rotation=0, ha="right", va="center", fontsize="x-small"
        )
        ax.set_xlabel("")
        ax.tick_params(labelbottom=False)
        return below


def _seen(corners: FloatArray) -> FloatArray:
    """Corners of a curve, without those that nobody can tell from their neighbours."""
    return corners[:, visible(*corners)]


# Where the vertical axis begins and ends, by the largest benefit or, if that is less, by this one.
BELOW, ABOVE, LEAST_TOP = 0.15, 1.05, 0.001


class DecisionCurveDisplay(CurveDisplay):
    """Decision curve: net benefit against the threshold probability.

    The plot also shows the net benefit of treating all items and of treating none. A model is
    useful at the thresholds where its curve is above both. Create one with :meth:`from_estimator`
    or :meth:`from_predictions`.

    Parameters
    ----------
    curves : dict of str to NetBenefitCurve
        Curves by their names in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; if there are several, the last one.
    lines_ : dict of str to matplotlib Line2D
        All curves by name.
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        Confidence limits by name; empty if ``band=False``.
    treat_all_ : matplotlib Line2D
        Net benefit of treating all items.
    treat_none_ : matplotlib Line2D
        Net benefit of treating no item.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.inference.net_benefit_curve : Compute the curve.
    sklearn_rank.metrics.net_benefit : Net benefit at one threshold, for scorers.
    TopCalibrationDisplay : Calibration of the probabilities at the top.

    Notes
    -----
    ``sample_weight`` raises an error, since the limits are for unweighted rows. The limits are
    pointwise. The vertical axis ends slightly below 0; the line of treating all items leaves the
    plot there.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import DecisionCurveDisplay
    >>> display = DecisionCurveDisplay.from_predictions(
    ...     [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], thresholds=[0.1, 0.2], name="model"
    ... )
    >>> display.curves["model"].net_benefit
    array([0.44444444, 0.4375    ])
    """

    def __init__(self, curves: Mapping[str, NetBenefitCurve]) -> None:
        self.curves = dict(curves)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        thresholds: Any = None,
        positive_fraction: float | None = None,
        standardized: bool = False,
        level: float = 0.95,
        groups: Any = None,
        band: bool = True,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> DecisionCurveDisplay:
        """Draw the decision curve of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, both present.
        y_prob : array-like of shape (n_samples,), mapping of str to array-like, or data frame
            Probabilities of the positive class, in [0, 1], of one model or of several by name.
        thresholds : float, array-like of shape (n_thresholds,) or None, default=None
            Threshold probabilities, in [0, 1). None means 0, 0.01, ..., 0.99.
        positive_fraction : float or None, default=None
            Fraction of positives in the target population, in (0, 1). None means that of the
            sample.
        standardized : bool, default=False
            Whether to divide the net benefit by the fraction of positives. The maximum is then 1.
        level : float, default=0.95
            Nominal coverage of the limits at each threshold, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.net_benefit_curve`.
        band : bool, default=True
            Whether to draw the confidence limits.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        name : str or None, default=None
            Name in the legend. Not allowed if ``y_prob`` has names.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            Display with the drawn plot.
        """
        if "sample_weight" in kwargs:
            raise TypeError(
                "DecisionCurveDisplay takes no sample_weight, for its limits are of rows that"
                " count once: leave it out; sklearn_rank.metrics.net_benefit takes weights."
            )
        curves = {
            system: net_benefit_curve(
                y_true,
                prob,
                thresholds=thresholds,
                positive_fraction=positive_fraction,
                standardized=standardized,
                level=level,
                groups=groups,
                pos_label=pos_label,
            )
            for system, prob in systems_of(y_prob, name).items()
        }
        return cls(curves).plot(ax=ax, band=band, **kwargs)

    from_estimator = of_estimator(from_predictions)

    def plot(self, ax: Any = None, *, band: bool = True, **kwargs: Any) -> DecisionCurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        band : bool, default=True
            Whether to draw the confidence limits.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``curves`` is empty.
        """
        check_flag("band", band)
        if not self.curves:
            raise ValueError("curves is empty: pass at least one.")
        ax = axes_of(ax)
        first = not any(line.get_gid() == CURVE for line in ax.lines)
        self.lines_, self.bands_ = {}, {}
        for name, curve in self.curves.items():
            self._draw_curve(ax, curve.threshold, curve.net_benefit, name, kwargs)
            self.lines_[name] = self.line_
            if band:
                self.bands_[name] = self._draw_band(
                    ax, curve.threshold, curve.low, curve.high, len(self.curves)
                )
        labels = ("treat all", "treat none") if first else (None, None)
        (self.treat_all_,) = ax.plot(
            curve.threshold, curve.treat_all, **QUIET, linestyle="--", label=labels[0]
        )
        self.treat_none_ = ax.axhline(0.0, **QUIET, linestyle=":", label=labels[1])
        heights = [c.high if band else c.net_benefit for c in self.curves.values()]
        top = float(np.max(np.concatenate([*heights, curve.treat_all, [LEAST_TOP]])))
        top = top if first else max(top, ax.get_ylim()[1] / ABOVE)
        ax.set(
            xlabel="Threshold probability",
            ylabel="Standardized net benefit" if curve.standardized else "Net benefit",
            ylim=(-BELOW * top, ABOVE * top),
        )
        draw_legend(ax)
        return self._drawn_on(ax)
