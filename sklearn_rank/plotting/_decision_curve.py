"""Decision curves: net benefit against the threshold probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._validation import check_flag
from ..inference import NetBenefitCurve, net_benefit_curve
from ._common import (
    CURVE,
    GREY,
    REFERENCE,
    CurveDisplay,
    axes_of,
    band_alpha,
    draw_legend,
    probabilities_of,
    systems_of,
)

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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
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
        """Draw the decision curve of a fitted classifier.

        Parameters
        ----------
        estimator : object
            Fitted classifier with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
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
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        name : str or None, default=None
            Name in the legend. None means the class name of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            Display with the drawn plot.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            response=probabilities_of,
            thresholds=thresholds,
            positive_fraction=positive_fraction,
            standardized=standardized,
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
        """Draw the decision curves of given probabilities.

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
            one: net_benefit_curve(
                y_true,
                prob,
                thresholds=thresholds,
                positive_fraction=positive_fraction,
                standardized=standardized,
                level=level,
                groups=groups,
                pos_label=pos_label,
            )
            for one, prob in systems_of(y_prob, name).items()
        }
        return cls(curves).plot(ax=ax, band=band, **kwargs)

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
                self.bands_[name] = ax.fill_between(
                    curve.threshold,
                    curve.low,
                    curve.high,
                    color=self.line_.get_color(),
                    alpha=band_alpha(ax, len(self.curves)),
                    linewidth=0,
                )
        quiet = {"color": GREY, "linewidth": 1, "zorder": 1, "gid": REFERENCE}
        labels = ("treat all", "treat none") if first else (None, None)
        (self.treat_all_,) = ax.plot(
            curve.threshold, curve.treat_all, **quiet, linestyle="--", label=labels[0]
        )
        self.treat_none_ = ax.axhline(0.0, **quiet, linestyle=":", label=labels[1])
        seen = [one.high if band else one.net_benefit for one in self.curves.values()]
        top = float(np.max(np.concatenate([*seen, curve.treat_all, [LEAST_TOP]])))
        top = top if first else max(top, ax.get_ylim()[1] / ABOVE)
        ax.set(
            xlabel="Threshold probability",
            ylabel="Standardized net benefit" if curve.standardized else "Net benefit",
            ylim=(-BELOW * top, ABOVE * top),
        )
        draw_legend(ax)
        return self._drawn_on(ax)
