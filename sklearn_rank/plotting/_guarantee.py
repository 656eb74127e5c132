"""What a cut-off could promise, beside what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model_selection import GuaranteeCurve, TopThresholdClassifier
from ._common import (
    COLORS,
    CURVE,
    QUIET,
    Display,
    axes_of,
    draw_legend,
    log_positions,
    show_heights,
    visible,
)


class GuaranteeDisplay(Display):
    """What could be promised of each number of flagged rows, what is seen, and what is chosen.

    Create one with :meth:`from_estimator`.

    Parameters
    ----------
    curves : sequence of GuaranteeCurve
        Curves of the promises.

    Attributes
    ----------
    observed_ : dict of str to matplotlib Line2D
        What is seen, by the name of the promise.
    guaranteed_ : dict of str to matplotlib Line2D
        What could be promised.
    chosen_ : matplotlib Line2D or None
        The number of rows that are flagged.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.model_selection.TopThresholdClassifier.guarantee_curves : Compute the curves.
    TopOfListDisplay : Precision along a list, with intervals.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import TopThresholdClassifier
    >>> from sklearn_rank.plotting import GuaranteeDisplay
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> flag = TopThresholdClassifier(
    ...     LogisticRegression(), min_recall=0.8, random_state=0
    ... )
    >>> display = GuaranteeDisplay.from_estimator(flag.fit(X, y))
    >>> print(display.curves[0])
    recall of 76 rows, goal 0.8: 0.893 seen, 0.815 guaranteed
    """

    def __init__(self, curves: Sequence[GuaranteeCurve]) -> None:
        self.curves = list(curves)

    @classmethod
    def from_estimator(
        cls, estimator: TopThresholdClassifier, X: Any = None, *, ax: Any = None
    ) -> GuaranteeDisplay:
        """Draw the guarantees of a fitted classifier.

        Parameters
        ----------
        estimator : TopThresholdClassifier
            Fitted classifier with a promise.
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
            Rows of a batch, where the promise is for the batch.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        GuaranteeDisplay
            Display with the drawn plot.

        Raises
        ------
        TypeError
            If ``estimator`` is not a TopThresholdClassifier.
        ValueError
            If nothing is promised, or ``X`` is missing for a promise for a batch.
        """
        if not isinstance(estimator, TopThresholdClassifier):
            raise TypeError(
                f"{estimator!r} promises nothing: pass a fitted TopThresholdClassifier."
            )
        return cls(estimator.guarantee_curves(X)).plot(ax=ax)

    def plot(self, ax: Any = None) -> GuaranteeDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        GuaranteeDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``curves`` is empty.
        """
        if not self.curves:
            raise ValueError("curves is empty: pass at least one.")
        ax = axes_of(ax)
        self.observed_, self.guaranteed_, self.chosen_ = {}, {}, None
        heights = []
        for color, curve in zip(COLORS, self.curves, strict=False):
            seen = visible(np.log(curve.n_flagged), curve.observed)
            x, style = curve.n_flagged[seen], {"color": color, "gid": CURVE}
            label = f"{curve.name}, seen"
            (line,) = ax.plot(x, curve.observed[seen], ":", linewidth=1.2, label=label, **style)
            self.observed_[curve.name] = line
            label = f"{curve.name}, guaranteed"
            (line,) = ax.plot(curve.n_flagged, curve.guaranteed, label=label, **style)
            self.guaranteed_[curve.name] = line
            ax.axhline(curve.goal, **(QUIET | {"color": color}), linestyle="--")
            at = np.flatnonzero(curve.n_flagged == curve.chosen)
            if len(at):
                ax.plot(curve.chosen, curve.guaranteed[at[0]], "o", color=color)
            heights += [*curve.observed, curve.goal]
        if self.curves[0].chosen:
            label = f"{self.curves[0].chosen:,} rows are flagged"
            self.chosen_ = ax.axvline(self.curves[0].chosen, **QUIET, label=label)
        log_positions(ax)
        ax.set(xlabel="Rows from the top (log scale)", ylabel="Share")
        if len(self.curves) == 1:
            ax.set_ylabel(self.curves[0].name.capitalize())
        if min(heights) >= 0.0:
            show_heights(ax, heights, first=True)
        draw_legend(ax)
        return self._drawn_on(ax)
