"""Precision among the first items of a list, against their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_share
from ..inference import precision_at_top_interval
from ..metrics import precision_at_top_curve
from ._common import (
    GREY,
    REFERENCE,
    CurveDisplay,
    axes_of,
    draw_legend,
    log_positions,
    show_heights,
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
            sample_weight=sample_weight,
            name=name,
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
                    y_true,
                    y_score,
                    tau=share,
                    level=level,
                    groups=groups,
                    pos_label=pos_label,
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
        self.base_rate_ = ax.axhline(
            self.precision[-1],
            color=GREY,
            linestyle=":",
            linewidth=1,
            label="base rate" if first else None,
            gid=REFERENCE,
        )
        log_positions(ax)
        ax.set(
            xlabel="Items from the top (log scale)",
            ylabel="Precision among them",
        )
        limits = [one.high for one in self.intervals.values()]
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
