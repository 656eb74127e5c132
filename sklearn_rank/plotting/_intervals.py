"""Intervals of several estimates, and differences of two rankers on all queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations, takewhile
from typing import Any

import numpy as np

from .._validation import is_number
from ..inference import Comparison, Interval, Intervals
from ._common import COLORS, GREY, axes_of, band_alpha, draw_legend, label_rows, wrapped


class IntervalsDisplay:
    """Several estimates or differences with their intervals, in rows or along an axis of numbers.

    Create one with :meth:`from_result`.

    Parameters
    ----------
    intervals : dict of str to Interval, or of float to Interval
        Intervals by the names of their rows, the first on top: a forest plot. Intervals by
        numbers, such as an assumption that varies, are a band above the axis of these numbers.
    reference : float or None, default=None
        Value marked by a dotted line, such as 0.5 for an AUC or 0 for a difference.
    margins : sequence of float, default=()
        Values marked by dashed lines, such as the margins of a non-inferiority test.

    Attributes
    ----------
    bars_ : list of matplotlib ErrorbarContainer
        Estimate and limits of each row. Empty for a band.
    band_ : matplotlib PolyCollection or None
        Limits by numbers; None for rows.
    mark_ : matplotlib Line2D or None
        Line at ``clear_up_to``; None without it.
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
    QueryDifferenceDisplay : Differences of two rankers on all queries.
    CurveDisplay : Curves with their limits.

    Notes
    -----
    Infinite limits extend beyond the axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.inference import Interval
    >>> from sklearn_rank.plotting import IntervalsDisplay
    >>> display = IntervalsDisplay.from_result(
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

    The AUC where nothing below the first 50 rows has a label, by how frequent positives are there
    relative to the cut. It exceeds .5 if they are at most 0.8 times as frequent:

    >>> import numpy as np
    >>> from sklearn_rank.inference import LabelDesign, metric_interval
    >>> y_true, score = np.full(500, np.nan), np.arange(500)
    >>> y_true[450:] = np.arange(50) > 40
    >>> display = IntervalsDisplay.from_result(
    ...     {
    ...         factor: metric_interval(
    ...             "auc",
    ...             y_true,
    ...             score,
    ...             design=LabelDesign(review_top=50, scores=score, most_below=factor),
    ...         )
    ...         for factor in np.linspace(0, 2, 21)
    ...     },
    ...     reference=0.5,
    ... )
    >>> display.clear_up_to
    0.8
    """

    def __init__(
        self,
        intervals: Mapping[str, Interval] | Mapping[float, Interval],
        *,
        reference: float | None = None,
        margins: Sequence[float] = (),
    ) -> None:
        self.intervals: dict[Any, Interval] = dict(intervals)
        self.reference = reference
        self.margins = tuple(margins)

    @property
    def clear_up_to(self) -> float | None:
        """Largest number up to which all intervals are on the same side of the reference.

        None if the first is not on one side, without a reference, and for rows with names.
        """
        if self.reference is None or not self._by_numbers:
            return None
        numbers = sorted(self.intervals)
        rows = [self.intervals[number] for number in numbers]
        sides = [(row.low > self.reference) - (row.high < self.reference) for row in rows]
        clear = takewhile(lambda pair: pair[1] == sides[0] != 0, zip(numbers, sides, strict=True))
        return max((float(number) for number, _ in clear), default=None)

    @property
    def _by_numbers(self) -> bool:
        return any(map(is_number, self.intervals))

    @classmethod
    def from_result(
        cls,
        intervals: Mapping[str, Interval] | Mapping[float, Interval] | Comparison | Intervals,
        *,
        reference: float | None = None,
        margins: float | Sequence[float] = (),
        ax: Any = None,
        **kwargs: Any,
    ) -> IntervalsDisplay:
        """Draw computed intervals.

        Parameters
        ----------
        intervals : dict of str to Interval, dict of float to Interval, Comparison or Intervals
            Intervals by the names of their rows, the first on top, or by numbers, which make a
            band. For a comparison the rows are its contrasts; for a table of several measures or
            segments they are its rows, with the limits that hold all together.
        reference : float or None, default=None
            Value marked by a dotted line, such as 0.5 for an AUC. None means 0 for differences
            and no line for other intervals.
        margins : float or sequence of float, default=()
            Values marked by dashed lines. () means the margin of a comparison, if it has one, on
            the tested side or sides.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``errorbar``, for a band to ``fill_between``.

        Returns
        -------
        IntervalsDisplay
            Display with the drawn plot.
        """
        marks = tuple(np.atleast_1d(margins).tolist())
        if isinstance(intervals, Intervals):
            if intervals.better and reference is None:
                reference = 0.0
            columns = list(intervals.keys.values())
            several = [column for column in columns if len(set(column)) > 1] or columns[:1]
            names = [", ".join(str(x) for x in row if x) for row in zip(*several, strict=True)]
            told: Any = {"method": "all together", "target": intervals.target}
            each = [replace(row, **told) for row in intervals.together]
            intervals = dict(zip(names, each, strict=True))
        if isinstance(intervals, Comparison):
            reference = 0.0 if reference is None else reference
            margin = intervals.margin
            if margin is not None and not marks:
                # On the side of worse values, or on both sides.
                if intervals.alternative != "non-inferior":
                    marks = (-margin, margin)
                else:
                    marks = (-margin,) if intervals.greater_is_better else (margin,)
            # Their method states whether they are simultaneous.
            method = intervals.method + ("" if len(intervals) == 1 else ", simultaneous")
            intervals = {
                name: replace(intervals[name].interval, method=method) for name in intervals
            }
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
            Keyword arguments passed to matplotlib's ``errorbar``, for a band to ``fill_between``.

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
        TypeError
            If the keys of ``intervals`` are neither all names nor all finite numbers.
        """
        if not self.intervals:
            raise ValueError("intervals is empty: pass at least one.")
        rows = list(self.intervals.values())
        upright = self._by_numbers
        for key in self.intervals:
            if not (is_number(key) and np.isfinite(key) if upright else isinstance(key, str)):
                raise TypeError(
                    f"intervals has the key {key!r}: pass names for rows, or finite numbers for a"
                    " band."
                )
        ax = axes_of(ax, **({} if upright else {"figsize": (6.4, 1.1 + 0.45 * len(rows))}))
        values = np.array([(row.low, row.estimate, row.high) for row in rows])
        finite = np.append(values[np.isfinite(values)], self.margins)
        quiet = {"color": GREY, "linewidth": 1, "zorder": 0}
        line = ax.axhline if upright else ax.axvline
        self.reference_ = None
        if self.reference is not None:
            finite = np.append(finite, self.reference)
            self.reference_ = line(self.reference, linestyle=":", **quiet)
        self.margins_ = [line(margin, linestyle="--", **quiet) for margin in self.margins]
        space = 0.06 * (np.ptp(finite) or 1.0)
        edges = finite.min() - space, finite.max() + space
        drawn = np.clip(values, edges[0] - space, edges[1] + space)
        self.bars_, self.band_, self.mark_ = [], None, None
        if upright:
            self._draw_band(ax, drawn, quiet, kwargs)
            ax.set(ylim=(edges[0], edges[1] + space), ylabel=_title(rows))
        else:
            style = {"fmt": "o", "capsize": 4, "color": COLORS[0], "linewidth": 1.8, **kwargs}
            self.bars_ = [
                ax.errorbar(mid, y, xerr=[[mid - low], [high - mid]], **style)
                for y, (low, mid, high) in enumerate(drawn)
            ]
            texts = [
                "no value"
                if np.isnan(row.estimate)
                else f"{row.estimate:z.3f} [{row.low:z.3f}, {row.high:z.3f}]"
                for row in rows
            ]
            label_rows(ax, list(self.intervals), texts)
            ax.set(xlim=edges, xlabel=_title(rows))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_band(self, ax: Any, drawn: Any, quiet: Any, style: Any) -> None:
        """Draw limits above numbers, and a line at the number up to which they are clear."""
        order = np.argsort(numbers := np.array(list(self.intervals), dtype=np.float64))
        low, _, high = drawn[order].T
        style = {"color": COLORS[0], "alpha": band_alpha(ax, 1), "linewidth": 1.8, **style}
        self.band_ = ax.fill_between(numbers[order], low, high, **style)
        ax.margins(x=0)
        end = self.clear_up_to
        if end is not None:
            self.mark_ = ax.axvline(end, linestyle="-.", **quiet)
            side = "right" if 2.0 * end > numbers.min() + numbers.max() else "left"
            text = f" {self.reference:g} is outside up to {end:.3g} "
            where = {"ha": side, "va": "top", "transform": ax.get_xaxis_transform()}
            ax.text(end, 0.98, text, fontsize="small", **where)


def _title(rows: list[Interval]) -> str:
    """Return the target, level and method that all rows have in common."""
    parts = zip(*(row.target.split(", ") for row in rows), strict=False)
    title = ", ".join(words[0] for words in takewhile(lambda w: len(set(w)) == 1, parts))
    levels = [f"{100 * row.level:.4g} %" for row in rows]
    methods = [row.method for row in rows]
    common = [words[0] for words in (levels, methods) if len(set(words)) == 1]
    title = title or "estimate"
    title = f"{title} ({', '.join(common)})" if common else title
    return wrapped(title, 64)


class QueryDifferenceDisplay:
    """Sorted differences of a measure between two rankers, one per query, with a paired test.

    Create one with :meth:`from_result`.

    Parameters
    ----------
    comparison : Comparison
        Result of the paired test, with one contrast.
    values : mapping of str to array-like of shape (n_queries,)
        Values of the measure on the queries, by the names of the rankers. Queries without a value
        (NaN) are left out.

    Attributes
    ----------
    differences : ndarray of shape (n_queries,)
        Value of the first ranker minus the value of the second, per query, in descending order.
    wins_ : matplotlib StepPatch
        Queries on which the first ranker is better.
    losses_ : matplotlib StepPatch
        Queries on which the second ranker is better.
    mean_ : matplotlib Line2D
        Line at the mean difference.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    IntervalsDisplay : Means and intervals of several rankers.
    sklearn_rank.inference.compare : The paired test.

    Notes
    -----
    Differences due to rounding alone count as ties.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.inference import compare
    >>> from sklearn_rank.metrics import ndcg_score
    >>> from sklearn_rank.plotting import QueryDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(50), 10)
    >>> grade = rng.integers(0, 3, size=500)
    >>> scores = {"A": grade + rng.normal(size=500), "B": rng.normal(size=500)}
    >>> values = {
    ...     name: ndcg_score(grade, score, qid=qid, average=None)
    ...     for name, score in scores.items()
    ... }
    >>> display = QueryDifferenceDisplay.from_result(
    ...     compare("ndcg", grade, scores, qid=qid), values
    ... )
    >>> display.wins, display.ties, display.losses
    (44, 0, 6)
    """

    def __init__(self, comparison: Comparison, values: Mapping[str, Any]) -> None:
        if len(comparison.contrasts) != 1:
            raise ValueError(
                f"The comparison has {len(comparison.contrasts)} contrasts, but one is drawn: pass"
                " one of them, such as found['a - b']."
            )
        self.comparison = comparison
        self.names = next(
            pair
            for pair in permutations(comparison.names, 2)
            if " - ".join(pair) == comparison.contrasts[0]
        )
        if missing := [name for name in self.names if name not in values]:
            raise ValueError(f"values has no {missing[0]!r}: pass those of {self.names}.")
        first, second = (np.asarray(values[name], dtype=np.float64) for name in self.names)
        known = ~np.isnan(first + second)
        differences = (first - second)[known]
        # Sums of a query differ by rounding where its order is the same.
        largest = max(np.abs(first[known]).max(), np.abs(second[known]).max())
        differences[np.abs(differences) <= 1e-12 * largest] = 0.0
        self.differences = np.sort(differences)[::-1]

    @property
    def wins(self) -> int:
        """Number of queries on which the first ranker is better."""
        return int(np.count_nonzero(self._gains > 0))

    @property
    def ties(self) -> int:
        """Number of queries on which both rankers are equal."""
        return int(np.count_nonzero(self.differences == 0))

    @property
    def losses(self) -> int:
        """Number of queries on which the second ranker is better."""
        return int(np.count_nonzero(self._gains < 0))

    @property
    def _gains(self) -> Any:
        """Differences, signed so that positive values mean that the first ranker is better."""
        return self.differences if self.comparison.greater_is_better else -self.differences

    @classmethod
    def from_result(
        cls, comparison: Comparison, values: Mapping[str, Any], *, ax: Any = None
    ) -> QueryDifferenceDisplay:
        """Draw the differences of a comparison.

        Parameters
        ----------
        comparison : Comparison
            Result of :func:`~sklearn_rank.inference.compare` with query ids, for two rankers, or
            one of its contrasts.
        values : mapping of str to array-like of shape (n_queries,)
            Values of the measure on the queries, by the names of the rankers, such as those of
            ``ndcg_score(..., average=None)``.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        QueryDifferenceDisplay
            Display with the drawn plot.
        """
        return cls(comparison, values).plot(ax)

    def plot(self, ax: Any = None) -> QueryDifferenceDisplay:
        """Draw the differences.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.

        Returns
        -------
        QueryDifferenceDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_of(ax)
        result, d, (a, b) = self.comparison, self.differences, self.names
        n, edges = len(d), np.arange(len(d) + 1)
        won, lost = np.where(self._gains > 0, d, 0.0), np.where(self._gains < 0, d, 0.0)
        self.wins_ = ax.stairs(won, edges, fill=True, color=COLORS[0])
        self.losses_ = ax.stairs(lost, edges, fill=True, color=COLORS[1])
        # The colour of text stands out from the background in any style.
        line = {"color": ax.yaxis.label.get_color(), "linewidth": 0.8}
        ax.axhline(0, **line)
        estimate, interval, largest = result.estimate, result.interval, np.abs(d).max() or 1.0
        label = f"mean {estimate:+z.3f}"
        if np.isfinite([interval.low, interval.high]).all():
            low, high = np.clip([interval.low, interval.high], -2 * largest, 2 * largest)
            ax.axhspan(low, high, color=GREY, alpha=0.3, linewidth=0)
            level = f"{100 * interval.level:.4g} %"
            label += f", {level} [{interval.low:+z.3f}, {interval.high:+z.3f}]"
        self.mean_ = ax.axhline(
            estimate, **{**line, "linestyle": "--", "linewidth": 1}, label=label
        )
        counts = [(a, self.wins, COLORS[0]), (b, self.losses, COLORS[1])]
        corners = [(0.02, 0.97, "left", "top"), (0.98, 0.03, "right", "bottom")]
        # Positive differences are drawn on the left.
        for (name, count, color), (x, y, ha, va) in zip(
            counts if result.greater_is_better else counts[::-1], corners, strict=True
        ):
            text = wrapped(f"{name} better: {count}", 36)
            ax.text(x, y, text, transform=ax.transAxes, ha=ha, va=va, color=color, weight="bold")
        ax.set(
            xlim=(0, n),
            ylim=(-1.25 * largest, 1.25 * largest),
            xlabel=f"Queries, sorted ({n}; equal on {self.ties})",
            ylabel=wrapped(f"{result.measure}: {a} minus {b}", 48),
        )
        ax.set_title(
            f"p = {result.pvalue:.3g} ({result.method}, {result.alternative})", fontsize="medium"
        )
        draw_legend(ax, "upper right")  # The corners of the counts are the other two
        self.ax_, self.figure_ = ax, ax.figure
        return self
