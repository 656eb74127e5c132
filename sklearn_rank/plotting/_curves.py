"""Curves of a measure, or of its differences, with their bands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from .._printed import text_table
from .._validation import check_flag
from ..inference import Intervals
from ._common import COLORS, GREY, axes_of, band_alpha, draw_legend

# What the places of a curve are, by the parameter of the measure.
PLACES = {
    "k": "Items from the top (log scale)",
    "tau": "Share of the items (log scale)",
    "max_fpr": "False positive rate",
    "min_tpr": "True positive rate (recall)",
    "threshold": "Threshold probability",
}

# Where the colours are used up, they begin again with another style of lines.
STYLES = "-", *((0, dashes) for dashes in ((5, 2), (1, 1.2), (5, 1.5, 1, 1.5), (9, 2, 1, 2, 1, 2)))


class CurveDisplay:
    """A measure, or its differences, at all places of a curve, with the band that holds for all.

    Create one with :meth:`from_result`.

    Parameters
    ----------
    curve : Intervals
        Result of :func:`~sklearn_rank.inference.curve`.
    table : float or sequence of float, default=()
        Places that are marked, and listed below with the limits of the band.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        Curves by ranker or contrast.
    bands_ : dict of str to matplotlib PolyCollection
        Limits that hold for all places, by ranker or contrast; empty if ``band=False``.
    ranges_ : list of matplotlib Line2D
        Ranges of places at which one side of a contrast is better.
    references_ : dict of str to matplotlib Line2D
        Lines of reference by their labels.
    table_ : matplotlib Annotation or None
        Table of the chosen places; None without any.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    IntervalsDisplay : Intervals, one a row.
    sklearn.metrics.PrecisionRecallDisplay : Precision against recall, at all thresholds.
    sklearn.calibration.CalibrationDisplay : Calibration curve by bins of all probabilities.

    Notes
    -----
    The limits of each place by itself are drawn darker within the band. Lines of reference are
    those of the result: a random order, and for net benefit acting on all; and 0 for differences,
    on which the ranges are marked where the band excludes it.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.inference import curve
    >>> from sklearn_rank.plotting import CurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) < 100
    >>> scores = {"a": rng.normal(size=1000) + 1.5 * y, "b": rng.normal(size=1000) + y}
    >>> found = curve("recall@k", y, scores, random_state=0)
    >>> display = CurveDisplay.from_result(found, table=[50, 100])
    >>> sorted(display.lines_), sorted(display.references_)
    (['a', 'b'], ['random order'])
    """

    lines_: dict[str, Any]
    bands_: dict[str, Any]
    ranges_: list[Any]
    references_: dict[str, Any]
    table_: Any
    ax_: Any
    figure_: Any

    def __init__(self, curve: Intervals, *, table: float | Sequence[float] = ()) -> None:
        if not isinstance(curve, Intervals) or "at" not in curve.keys:
            raise TypeError(
                f"{type(curve).__name__} is no curve: pass the result of"
                " sklearn_rank.inference.curve; IntervalsDisplay draws other tables."
            )
        self.curve = curve
        self.table = tuple(np.atleast_1d(table).tolist())

    @classmethod
    def from_result(
        cls,
        curve: Intervals,
        *,
        table: float | Sequence[float] = (),
        band: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> CurveDisplay:
        """Draw a curve of one or of several rankers, or of differences.

        Parameters
        ----------
        curve : Intervals
            Result of :func:`~sklearn_rank.inference.curve`, or a part of it, such as
            ``found["a"]``.
        table : float or sequence of float, default=()
            Places that are marked, and listed below with the limits of the band.
        band : bool, default=True
            Whether to draw the limits.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot`` for the curves.

        Returns
        -------
        CurveDisplay
            Display with the drawn plot.
        """
        return cls(curve, table=table).plot(ax, band=band, **kwargs)

    def plot(self, ax: Any = None, *, band: bool = True, **kwargs: Any) -> CurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        band : bool, default=True
            Whether to draw the limits.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot`` for the curves.

        Returns
        -------
        CurveDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a place of the table is outside of the curve.
        """
        check_flag("band", band)
        found = self.curve
        column = "contrast" if "contrast" in found.keys else "ranker"
        names = list(dict.fromkeys(found.keys[column]))
        told = dict(zip(names, found.conclusions, strict=False))
        # Own figures have room for a legend and a table of as many lines.
        height = 4.4 + 0.2 * len(names) * (1 + len(self.table))
        ax = axes_of(ax, figsize=(6.4, height))
        ylabel, places = found.target.rsplit(" on ", 1)[0], np.array(found.keys["at"])
        ax.set(xlabel=PLACES.get(found.parameter, found.parameter), ylabel=ylabel)
        if found.parameter in ("k", "tau"):
            _log_places(ax, places)
        self.lines_, self.bands_, self.ranges_, self.references_ = {}, {}, [], {}
        earlier = sum(line.get_gid() == "curve" for line in ax.lines)
        seen, level = [0.0], f"{100 * found.level:.4g} %"
        for number, name in enumerate(names, earlier):
            part = found[name]
            x, y = part.keys["at"], [row.estimate for row in part.pointwise]
            style = {"color": COLORS[number % len(COLORS)], "linewidth": 1.5}
            style |= {"linestyle": STYLES[number // len(COLORS) % len(STYLES)], "gid": "curve"}
            style["label"] = told.get(name, name if len(names) > 1 else ylabel)
            (self.lines_[name],) = ax.plot(x, y, **{**style, **kwargs})
            color, seen = self.lines_[name].get_color(), [*seen, *y]
            drawn = {"for all places": part.together, "for each (darker)": part.pointwise}
            for text, limits in drawn.items() if band else ():
                edges = np.array([(row.low, row.high) for row in limits])
                seen += edges[np.isfinite(edges)].tolist()
                area = {"alpha": band_alpha(ax, len(names)), "color": color, "linewidth": 0}
                area |= {"label": None if number else f"{level} {text}", "gid": "reference"}
                self.bands_.setdefault(
                    name, ax.fill_between(x, *np.clip(edges, -1e9, 1e9).T, **area)
                )
            for _, first, last, *_ in part.ranges:
                self.ranges_ += ax.plot([first, last], [0, 0], color=color, linewidth=5)
        quiet = {"color": GREY, "linewidth": 1, "zorder": 1, "gid": "reference"}
        for text, values in found[names[0]].references.items():
            (line,) = ax.plot(x, values, linestyle="--", label=text, **quiet)
            self.references_[text] = line
        low, high = min(seen), max(seen)
        if low < 0.0:
            self.references_["0"] = ax.axhline(0.0, linestyle=":", **quiet)
        if found.parameter == "threshold" and column == "ranker":
            low = max(low, -0.15 * high)  # Acting on all at high thresholds is far below.
        ax.set_ylim(low - 0.02 * (high - low) * (low < 0.0), high + 0.02 * (high - low))
        self.table_ = self._draw_table(ax, names) if self.table else None
        draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_table(self, ax: Any, names: list[str]) -> Any:
        """Mark the chosen places, and list them below the axes with the limits of the band."""
        rows = []
        for place, name in product(self.table, names):
            one, color = self.curve[name].at(place), self.lines_[name].get_color()
            ends = [[one.estimate - one.low], [one.high - one.estimate]]
            ax.errorbar(place, one.estimate, yerr=ends, color=color, fmt="o", capsize=3)
            limits = f"[{one.low:z.3f}, {one.high:z.3f}]"
            rows.append((f"{place:,g}", name, f"{one.estimate:z.3f}", limits))
        header = "at", "", "estimate", f"{100 * self.curve.level:.4g} % band"
        _, text = text_table("", header, rows, left=("",)).split("\n", 1)
        where = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
        return ax.annotate(text, (0, 0), (0, -40), family="monospace", fontsize="small", **where)


def _log_places(ax: Any, places: Any) -> None:
    """Put numbers of items, or shares of them, on a logarithmic axis with ticks such as 1, 10."""
    ax.set_xscale("log")
    whole, (low, high) = places.dtype.kind == "i", (float(places.min()), float(places.max()))
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    factors = (1, 2, 5) if high < 200.0 * low else (1,)
    ticks = [x for power in powers for x in power * np.array(factors) if low <= x <= high]
    ax.set_xticks(ticks, [f"{x:,.0f}" if whole else f"{100 * x:g} %" for x in ticks])
    ax.xaxis.set_minor_formatter("")
