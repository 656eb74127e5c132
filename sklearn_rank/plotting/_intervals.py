"""Forest plot of several confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..inference import Comparison, Interval
from ._common import COLORS, GREY, Display, axes_of, label_rows


class IntervalsDisplay(Display):
    """Forest plot: several estimates or differences with their confidence intervals.

    Create one with :meth:`from_intervals`.

    Parameters
    ----------
    intervals : dict of str to Interval
        Intervals by the names of their rows, the first on top.
    reference : float or None, default=None
        Value marked by a dotted line, such as 0.5 for an AUC or 0 for a difference.
    margins : sequence of float, default=()
        Values marked by dashed lines, such as the margins of a non-inferiority test.

    Attributes
    ----------
    bars_ : list of matplotlib ErrorbarContainer
        Estimate and limits of each row.
    reference_ : matplotlib Line2D or None
        Line at the reference; None without one.
    margins_ : list of matplotlib Line2D
        Lines at the margins.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    QueryScoresDisplay : Means and intervals with the values of all queries.
    QueryDifferenceDisplay : Paired comparison of two rankers on the same queries.

    Notes
    -----
    Infinite limits extend beyond the axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.inference import Interval
    >>> from sklearn_rank.plotting import IntervalsDisplay
    >>> display = IntervalsDisplay.from_intervals(
    ...     {
    ...         "linear": Interval(
    ...             0.81, 0.77, 0.85, 0.95, "t", "mean ndcg over queries"
    ...         ),
    ...         "boosted": Interval(
    ...             0.84, 0.81, 0.87, 0.95, "t", "mean ndcg over queries"
    ...         ),
    ...     }
    ... )
    >>> display.ax_.get_xlabel()
    'mean ndcg over queries (95 %, t)'
    """

    def __init__(
        self,
        intervals: Mapping[str, Interval],
        *,
        reference: float | None = None,
        margins: Sequence[float] = (),
    ) -> None:
        self.intervals = dict(intervals)
        self.reference = reference
        self.margins = tuple(margins)

    @classmethod
    def from_intervals(
        cls,
        intervals: Mapping[str, Interval] | Comparison,
        *,
        reference: float | None = None,
        margins: float | Sequence[float] = (),
        ax: Any = None,
        **kwargs: Any,
    ) -> IntervalsDisplay:
        """Draw computed intervals.

        Parameters
        ----------
        intervals : dict of str to Interval, or Comparison
            Intervals by the names of their rows, the first on top. For a comparison the rows are
            its contrasts.
        reference : float or None, default=None
            Value marked by a dotted line, such as 0.5 for an AUC. None means 0 for a comparison
            and no line for other intervals.
        margins : float or sequence of float, default=()
            Values marked by dashed lines. () means the margin of a comparison, if it has one, on
            the tested side or sides.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``errorbar``.

        Returns
        -------
        IntervalsDisplay
            Display with the drawn plot.
        """
        marks = tuple(np.atleast_1d(margins).tolist())
        if isinstance(intervals, Comparison):
            reference = 0.0 if reference is None else reference
            marks = marks or _margins_of(intervals)
            intervals = _intervals_of(intervals)
        elif isinstance(intervals, Interval):
            raise TypeError(
                "intervals is one interval, but each row has a name: pass {'name': interval}."
            )
        return cls(intervals, reference=reference, margins=marks).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> IntervalsDisplay:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``errorbar``.

        Returns
        -------
        IntervalsDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``intervals`` is empty.
        """
        if not self.intervals:
            raise ValueError("intervals is empty: pass at least one.")
        rows = list(self.intervals.values())
        ax = axes_of(ax, figsize=(6.4, 1.1 + 0.45 * len(rows)))
        values = np.array([(row.low, row.estimate, row.high) for row in rows])
        finite = values[np.isfinite(values)]
        quiet = {"color": GREY, "linewidth": 1, "zorder": 0}
        marks = [*([] if self.reference is None else [self.reference]), *self.margins]
        finite = np.append(finite, marks)
        self.reference_ = None
        if self.reference is not None:
            self.reference_ = ax.axvline(self.reference, linestyle=":", **quiet)
        self.margins_ = [ax.axvline(margin, linestyle="--", **quiet) for margin in self.margins]
        space = 0.06 * (np.ptp(finite) or 1.0)
        edges = finite.min() - space, finite.max() + space
        drawn = np.clip(values, edges[0] - space, edges[1] + space)
        style = {"fmt": "o", "capsize": 4, "color": COLORS[0], "linewidth": 1.8, **kwargs}
        self.bars_ = [
            ax.errorbar(mid, y, xerr=[[mid - low], [high - mid]], **style)
            for y, (low, mid, high) in enumerate(drawn)
        ]
        texts = [f"{row.estimate:z.3f} [{row.low:z.3f}, {row.high:z.3f}]" for row in rows]
        label_rows(ax, list(self.intervals), texts)
        ax.set(xlim=edges, xlabel=_title(rows))
        return self._drawn_on(ax)


def _intervals_of(comparison: Comparison) -> dict[str, Interval]:
    """Return the intervals of the contrasts; their method states whether they are simultaneous."""
    alone = len(comparison) == 1
    method = comparison.method if alone else f"{comparison.method}, simultaneous"
    return {name: replace(comparison[name].interval, method=method) for name in comparison}


def _margins_of(comparison: Comparison) -> tuple[float, ...]:
    """Return the margins of a comparison: on the side of worse values, or on both sides."""
    margin = comparison.margin
    if margin is None:
        return ()
    if comparison.alternative == "equivalent":
        return (-margin, margin)
    return (-margin,) if comparison.greater_is_better else (margin,)


def _title(rows: list[Interval]) -> str:
    """Return the target, level and method that all rows have in common."""
    targets = {row.target for row in rows}
    title = targets.pop() if len(targets) == 1 else "estimate"
    said = [f"{100 * row.level:.4g} %" for row in rows]
    methods = [row.method for row in rows]
    common = [words[0] for words in (said, methods) if len(set(words)) == 1]
    return f"{title} ({', '.join(common)})" if common else title
