"""Calibration of predicted probabilities among the first items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._validation import check_flag
from ..inference import CalibrationAtTop, calibration_at_top
from ._common import (
    REFERENCE,
    CurveDisplay,
    axes_of,
    band_alpha,
    draw_legend,
    log_positions,
    probabilities_of,
    systems_of,
)


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
            response=probabilities_of,
            k=k,
            tau=tau,
            level=level,
            groups=groups,
            band=band,
            name=name,
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
            one: calibration_at_top(
                y_true, prob, k=k, tau=tau, level=level, groups=groups, pos_label=pos_label
            )
            for one, prob in systems_of(y_prob, name).items()
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
            color = self.line_.get_color()
            (self.predicted_[name],) = ax.plot(
                top.k,
                top.predicted,
                color=color,
                linestyle="--",
                linewidth=0.8,
                label="mean probability" if first else None,
                gid=REFERENCE,
            )
            if band:
                self.bands_[name] = ax.fill_between(
                    top.k,
                    top.low,
                    top.high,
                    color=color,
                    alpha=band_alpha(ax, len(self.tops)),
                    linewidth=0,
                )
        log_positions(ax)
        ax.set(
            xlabel="Items from the top (log scale)",
            ylabel="Share of positives among them",
            ylim=(-0.02, 1.02),
        )
        draw_legend(ax)
        return self._drawn_on(ax)
