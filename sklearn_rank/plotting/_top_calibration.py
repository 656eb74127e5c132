"""Whether probabilities are true among the first items of the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arguments import check_flag
from ..inference import CalibrationAtTop, calibration_at_top
from ._common import CurveDisplay, axes_of, probabilities_of, systems_of

__all__ = ["TopCalibrationDisplay"]


class TopCalibrationDisplay(CurveDisplay):
    """Observed share of positives and mean probability of the first items, against their number.

    Where the mean probability, the broken line, is above the limits of what was observed, the
    model is over-confident about the items that it is surest of. Make one by
    :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    tops : dict of str to CalibrationAtTop
        Shares of each model, by the name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The observed share, of the last model of several.
    lines_ : dict of str to matplotlib Line2D
        All of them.
    predicted_ : dict of str to matplotlib Line2D
        The mean probabilities.
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        The limits; empty without.
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sklearn_rank.inference.calibration_at_top : The numbers.
    TopOfListDisplay : The precision alone, for scores that are no probabilities.
    sklearn.calibration.CalibrationDisplay : By bins of all probabilities.

    Notes
    -----
    Rows count once: ``sample_weight`` is refused. The limits are pointwise; tied items count by
    the mean over their orders.

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
        """Draw the shares by the probabilities of a fitted classifier.

        Parameters
        ----------
        estimator : object
            Fitted, with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        k : int, array-like of int or None, default=None
            Numbers of items from the top, from 1 to n; None with ``tau=None`` is up to 100 of them
            on a log scale.
        tau : float, array-like of float or None, default=None
            Instead of ``k``: shares of the items that make the top, in (0, 1).
        level : float, default=0.95
            Nominal probability of the limits at each k, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group of each row, for rows that depend on each other; see
            :func:`sklearn_rank.inference.calibration_at_top`.
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
            Handed to matplotlib's ``plot``, for the observed shares.

        Returns
        -------
        TopCalibrationDisplay
            The display, drawn.
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
        """Draw the shares by given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, both present.
        y_prob : array-like of shape (n_samples,), mapping of str to array-like, or data frame
            Probabilities of the positive class, in [0, 1], of one model or of several by name.
        k : int, array-like of int or None, default=None
            Numbers of items from the top, from 1 to n; None with ``tau=None`` is up to 100 of them
            on a log scale.
        tau : float, array-like of float or None, default=None
            Instead of ``k``: shares of the items that make the top, in (0, 1).
        level : float, default=0.95
            Nominal probability of the limits at each k, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group of each row, for rows that depend on each other; see
            :func:`sklearn_rank.inference.calibration_at_top`.
        band : bool, default=True
            Whether the limits are drawn.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
        name : str or None, default=None
            Name in the legend, of one model.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``plot``, for the observed shares.

        Returns
        -------
        TopCalibrationDisplay
            The display, drawn.
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
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        band : bool, default=True
            Whether the limits are drawn.
        **kwargs : dict
            Handed to matplotlib's ``plot``, for the observed shares.

        Returns
        -------
        TopCalibrationDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there is no model.
        """
        check_flag("band", band)
        if not self.tops:
            raise ValueError("tops is empty: pass at least one.")
        ax = axes_of(ax, layout="constrained")
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
                linewidth=1.2,
                label="mean probability" if first else None,
            )
            if band:
                self.bands_[name] = ax.fill_between(
                    top.k, top.low, top.high, color=color, alpha=0.15, linewidth=0
                )
        ax.set(
            xscale="log",
            xlabel="Items from the top (log scale)",
            ylabel="Share of positives among them",
            ylim=(-0.02, 1.02),
        )
        ax.legend(loc="best", fontsize="small")
        return self._drawn_on(ax)
