"""Curves of the items from the top: precision, gain and lift, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._validation import check_choice, check_flag, check_share
from ..inference import CalibrationAtTop, calibration_at_top, precision_at_top_interval
from ..metrics import precision_at_top_curve
from ._common import (
    GREY,
    QUIET,
    REFERENCE,
    CurveDisplay,
    axes_of,
    draw_legend,
    log_positions,
    show_heights,
    systems_of,
    visible,
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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
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
        """Draw the precision at the top of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted estimator. Its scores are those of ``decision_function``, otherwise of
            ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        name : str or None, default=None
            Name in the legend. None means the class name of the estimator.
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
            :func:`sklearn_rank.inference.precision_at_top_interval`.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        TopOfListDisplay
            Display with the drawn plot.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            name,
            sample_weight=sample_weight,
            ax=ax,
            tau=tau,
            level=level,
            groups=groups,
            **kwargs,
        )

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
            :func:`sklearn_rank.inference.precision_at_top_interval`.
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
            intervals = {
                share: precision_at_top_interval(
                    y_true, y_score, tau=share, level=level, groups=groups, pos_label=pos_label
                )
                for share in np.atleast_1d(tau)
            }
        display = cls(position, precision, estimator_name=name, intervals=intervals)
        return display.plot(ax=ax, tau=tau, **kwargs)

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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        kind: str = "gain",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CumulativeGainDisplay:
        """Draw the gain or the lift of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted estimator. Its scores are those of ``decision_function``, otherwise of
            ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        kind : {"gain", "lift"}, default="gain"
            Curve to draw.
        name : str or None, default=None
            Name in the legend. None means the class name of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        CumulativeGainDisplay
            Display with the drawn plot.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            name,
            sample_weight=sample_weight,
            kind=kind,
            ax=ax,
            **kwargs,
        )

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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
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
        """Draw the calibration at the top of a fitted classifier.

        Parameters
        ----------
        estimator : object
            Fitted classifier with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
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
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        name : str or None, default=None
            Name in the legend. None means the class name of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot`` for the observed precision.

        Returns
        -------
        TopCalibrationDisplay
            Display with the drawn plot.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            name,
            of_probabilities=True,
            k=k,
            tau=tau,
            level=level,
            groups=groups,
            band=band,
            ax=ax,
            **kwargs,
        )

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
