"""Whether it is worth to act on probabilities: net benefit against the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arguments import check_flag
from ..inference import NetBenefitCurve, net_benefit_curve
from ._common import CURVE, GREY, CurveDisplay, axes_of, probabilities_of, systems_of

__all__ = ["DecisionCurveDisplay"]

# Where the vertical axis begins and ends, by the largest benefit or, if that is less, by this one.
BELOW, ABOVE, LEAST_TOP = 0.15, 1.05, 0.001


class DecisionCurveDisplay(CurveDisplay):
    """Net benefit of acting on the items above a threshold, against the threshold.

    Beside the curve stand what acting on all items and on none would give: a model is of use at
    the thresholds where it is above both. Make one by :meth:`from_estimator` or
    :meth:`from_predictions`.

    Parameters
    ----------
    curves : dict of str to NetBenefitCurve
        Curves by the name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve, the last one of several.
    lines_ : dict of str to matplotlib Line2D
        All of them.
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        Their limits; empty without.
    treat_all_ : matplotlib Line2D
        Acting on all items.
    treat_none_ : matplotlib Line2D
        Acting on none.
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sklearn_rank.inference.net_benefit_curve : The numbers.
    sklearn_rank.metrics.net_benefit : One of them, for scorers.
    TopCalibrationDisplay : Whether the probabilities are true.

    Notes
    -----
    Rows count once: ``sample_weight`` is refused. The limits are pointwise. The vertical axis ends
    a little below 0, which acting on all items leaves soon.

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
        """Draw the curve of the probabilities of a fitted classifier.

        Parameters
        ----------
        estimator : object
            Fitted, with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        thresholds : float, array-like of shape (n_thresholds,) or None, default=None
            Probabilities from which on one acts, in [0, 1); None is 0, 0.01, ..., 0.99.
        positive_fraction : float or None, default=None
            Share of positives, in (0, 1), where the benefit is wanted; None is that of the sample.
        standardized : bool, default=False
            Whether to divide by the share of positives.
        level : float, default=0.95
            Nominal probability of the limits at each threshold, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group of each row, for rows that depend on each other; see
            :func:`sklearn_rank.inference.net_benefit_curve`.
        band : bool, default=True
            Whether the limits are drawn.
        pos_label : int, float, bool, str or None, default=None
            The positive class. None is the ``pos_label`` of the estimator, where it or what it
            wraps has one, else 1 for labels among 0 and 1 or among -1 and 1.
        name : str or None, default=None
            Name in the legend; None is the class of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            The display, drawn.
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
        """Draw the curves of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, both present.
        y_prob : array-like of shape (n_samples,), mapping of str to array-like, or data frame
            Probabilities of the positive class, in [0, 1], of one model or of several by name.
        thresholds : float, array-like of shape (n_thresholds,) or None, default=None
            Probabilities from which on one acts, in [0, 1); None is 0, 0.01, ..., 0.99.
        positive_fraction : float or None, default=None
            Share of positives, in (0, 1), where the benefit is wanted; None is that of the sample.
        standardized : bool, default=False
            Whether to divide by the share of positives.
        level : float, default=0.95
            Nominal probability of the limits at each threshold, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group of each row, for rows that depend on each other; see
            :func:`sklearn_rank.inference.net_benefit_curve`.
        band : bool, default=True
            Whether the limits are drawn.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
        name : str or None, default=None
            Name in the legend, of one model.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            The display, drawn.
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
            Axes to draw on; None makes new ones.
        band : bool, default=True
            Whether the limits are drawn.
        **kwargs : dict
            Handed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there is no curve.
        """
        check_flag("band", band)
        if not self.curves:
            raise ValueError("curves is empty: pass at least one.")
        ax = axes_of(ax, layout="constrained")
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
                    alpha=0.15,
                    linewidth=0,
                )
        quiet = {"color": GREY, "linewidth": 1, "zorder": 1}
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
        ax.legend(loc="upper right", fontsize="small")
        return self._drawn_on(ax)
