"""Cumulative gain and lift curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_choice
from ..metrics import precision_at_top_curve
from ._common import GREY, REFERENCE, CurveDisplay, axes_of, draw_legend, show_heights, visible

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
            sample_weight=sample_weight,
            kind=kind,
            name=name,
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
        quiet = {"color": GREY, "linewidth": 1, "zorder": 1, "gid": REFERENCE}
        (self.perfect_,) = ax.plot(
            *perfect, **quiet, linestyle="--", label="all positives first" if first else None
        )
        (self.random_,) = ax.plot(
            [0, 1],
            [0, 1] if kind == "gain" else [1, 1],
            **quiet,
            linestyle=":",
            label="random order" if first else None,
        )
        ax.set(
            xlabel="Share of the list, from the top" + (" (log scale)" if log else ""),
            ylabel="Share of the positives found" if kind == "gain" else "Lift over random order",
        )
        if log:
            # The limits of linear axes start at 0, which a logarithm does not have.
            left, low = (one if one > 0 and not first else np.inf for one in starts)
            ax.set_xlim(min(left, x[0]), 1.0)
            top = 1.25 * float(y.max())
            ax.set_ylim(
                min(low, 0.8 * min(1.0, y[y > 0].min())), top if first else max(top, highest)
            )
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
