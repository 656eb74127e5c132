"""Several intervals one below the other: a forest plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..inference import Interval
from ._common import COLORS, GREY, Display, axes_of, label_rows

__all__ = ["IntervalsDisplay"]


class IntervalsDisplay(Display):
    """Estimates of several rankers with their intervals, one row each.

    Make one by :meth:`from_intervals`.

    Parameters
    ----------
    intervals : dict of str to Interval
        Intervals by the name of their row, the first on top.

    Attributes
    ----------
    bars_ : list of matplotlib ErrorbarContainer
        Estimate and limits of each row.
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    QueryScoresDisplay : With the values of all queries.
    QueryDifferenceDisplay : Whether two rankers differ, which overlapping intervals do not say.

    Notes
    -----
    Infinite limits run off the axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.inference import Interval
    >>> from sklearn_rank.plotting import IntervalsDisplay
    >>> display = IntervalsDisplay.from_intervals(
    ...     {
    ...         "linear": Interval(0.81, 0.77, 0.85, 0.95, "t", "mean ndcg over queries"),
    ...         "boosted": Interval(0.84, 0.81, 0.87, 0.95, "t", "mean ndcg over queries"),
    ...     }
    ... )
    >>> display.ax_.get_xlabel()
    'mean ndcg over queries (95 %, t)'
    """

    def __init__(self, intervals: Mapping[str, Interval]) -> None:
        self.intervals = dict(intervals)

    @classmethod
    def from_intervals(
        cls,
        intervals: Mapping[str, Interval],
        *,
        reference: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> IntervalsDisplay:
        """Draw intervals that were made before.

        Parameters
        ----------
        intervals : dict of str to Interval
            Intervals by the name of their row, the first on top.
        reference : float or None, default=None
            Value to mark by a vertical line, as 0.5 for an AUC or 0 for a difference.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``errorbar``.

        Returns
        -------
        IntervalsDisplay
            The display, drawn.
        """
        return cls(intervals).plot(ax=ax, reference=reference, **kwargs)

    def plot(
        self, ax: Any = None, *, reference: float | None = None, **kwargs: Any
    ) -> IntervalsDisplay:
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        reference : float or None, default=None
            Value to mark by a vertical line.
        **kwargs : dict
            Handed to matplotlib's ``errorbar``.

        Returns
        -------
        IntervalsDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there is no interval.
        """
        if not self.intervals:
            raise ValueError("intervals is empty: pass at least one.")
        rows = list(self.intervals.values())
        ax = axes_of(ax, figsize=(6.4, 1.1 + 0.45 * len(rows)), layout="constrained")
        values = np.array([(row.low, row.estimate, row.high) for row in rows])
        finite = values[np.isfinite(values)]
        if reference is not None:
            finite = np.append(finite, reference)
            ax.axvline(reference, color=GREY, linestyle=":", linewidth=1, zorder=0)
        space = 0.06 * (np.ptp(finite) or 1.0)
        edges = finite.min() - space, finite.max() + space
        drawn = np.clip(values, edges[0] - space, edges[1] + space)
        style = {"fmt": "o", "capsize": 4, "color": COLORS[0], "linewidth": 1.8, **kwargs}
        self.bars_ = [
            ax.errorbar(mid, y, xerr=[[mid - low], [high - mid]], **style)
            for y, (low, mid, high) in enumerate(drawn)
        ]
        texts = [f"{row.estimate:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in rows]
        label_rows(ax, list(self.intervals), texts)
        ax.set(xlim=edges, xlabel=_title(rows))
        return self._drawn_on(ax)


def _title(rows: list[Interval]) -> str:
    """What all rows have in common."""
    targets = {row.target for row in rows}
    title = targets.pop() if len(targets) == 1 else "estimate"
    said = [f"{100 * row.level:.4g} %" for row in rows]
    methods = [row.method for row in rows]
    common = [words[0] for words in (said, methods) if len(set(words)) == 1]
    return f"{title} ({', '.join(common)})" if common else title
