"""Curves of results with their limits and lines of reference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray
from .._validation import check_flag
from ..inference import CalibrationAtTop, NetBenefitCurve, RocBand
from ._common import COLORS, GREY, axes_of, band_alpha, draw_legend


class Curve(NamedTuple):
    """What is drawn of a result."""

    points: FloatArray  # (2, n_points)
    xlabel: str
    ylabel: str
    references: dict[str, tuple[Any, Any]]  # Lines to compare with, by label
    edges: tuple[FloatArray, FloatArray] | None = None  # Upper and lower edge of a band
    limits: str = ""  # What the band is
    note: str = ""  # Value in the legend
    companion: tuple[str, FloatArray] | None = None  # Label and second values at the same points
    bottom: float = 0.0  # Start of the vertical axis below 0, as a share of its end
    log: bool = False  # Whether the horizontal axis has positions, which are logarithmic
    square: bool = False


@singledispatch
def curve_of(result: Any) -> Curve:
    """Return what is drawn of a result; a new kind of result registers a function here."""
    raise TypeError(
        f"{type(result).__name__} is no curve: pass the result of roc_band, net_benefit_curve,"
        " calibration_at_top or precision_at_top_curve, or a dict of them by name."
    )


@curve_of.register
def _(result: RocBand) -> Curve:
    return Curve(
        np.stack([result.fpr, result.tpr]),
        "False positive rate",
        "True positive rate",
        {"chance": ([0, 1], [0, 1])},
        (result.upper, result.lower),
        f"{100 * result.level:.4g} % band for the whole curve",
        f"AUC = {np.trapezoid(result.tpr, result.fpr):.2f}",
        bottom=0.01,
        square=True,
    )


@curve_of.register
def _(result: NetBenefitCurve) -> Curve:
    x = result.threshold
    return Curve(
        np.stack([x, result.net_benefit]),
        "Threshold probability",
        "Standardized net benefit" if result.standardized else "Net benefit",
        {"treat all": (x, result.treat_all), "treat none": ([x[0], x[-1]], [0, 0])},
        (np.stack([x, result.high]), np.stack([x, result.low])),
        f"{100 * result.level:.4g} % limits at each threshold",
        bottom=0.15,
    )


@curve_of.register
def _(result: CalibrationAtTop) -> Curve:
    return Curve(
        np.stack([result.k, result.observed]),
        "Items from the top (log scale)",
        "Share of positives among them",
        {},
        (np.stack([result.k, result.high]), np.stack([result.k, result.low])),
        f"{100 * result.level:.4g} % limits at each k",
        companion=("mean probability", result.predicted),
        log=True,
    )


@curve_of.register(tuple)
def _(result: tuple[FloatArray, FloatArray]) -> Curve:
    position, precision = result
    return Curve(
        np.stack([position, precision]),
        "Items from the top (log scale)",
        "Precision among them",
        {"base rate": ([position[0], position[-1]], [precision[-1]] * 2)},
        log=True,
    )


class CurveDisplay:
    """Curves of one or of several models, with confidence limits and lines of reference.

    Create one with :meth:`from_result`.

    Parameters
    ----------
    results : dict of str to result
        Results of one kind, by the name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; if there are several, the last one.
    lines_ : dict of str to matplotlib Line2D
        All curves by name.
    bands_ : dict of str to matplotlib Polygon
        Confidence limits by name; empty if ``band=False`` or the results have none.
    references_ : dict of str to matplotlib Line2D
        Lines of reference of the last curve, by their labels.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    IntervalsDisplay : Intervals, one a row.
    sklearn.metrics.PrecisionRecallDisplay : Precision against recall.
    sklearn.calibration.CalibrationDisplay : Calibration curve by bins of all probabilities.

    Notes
    -----
    The band of :func:`sklearn_rank.inference.roc_band` holds for the whole curve; the limits of
    net benefit and of calibration are pointwise. Points that cannot be told from their neighbours
    are not drawn; ``results`` keep all of them.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.metrics import precision_at_top_curve
    >>> from sklearn_rank.plotting import CurveDisplay
    >>> y, score = [1, 1, 0, 1], [4.0, 3.0, 2.0, 1.0]
    >>> display = CurveDisplay.from_result(
    ...     precision_at_top_curve(y, score), name="model"
    ... )
    >>> display.line_.get_ydata()
    array([1.        , 1.        , 0.66666667, 0.75      ])

    Several models:

    >>> from sklearn_rank.inference import roc_band
    >>> bands = {"model": roc_band(y, score), "other": roc_band(y, [1, 2, 3, 4])}
    >>> CurveDisplay.from_result(bands).line_.get_label()
    'other (AUC = 0.33)'
    """

    lines_: dict[str, Any]
    bands_: dict[str, Any]
    references_: dict[str, Any]
    line_: Any
    ax_: Any
    figure_: Any

    def __init__(self, results: Mapping[str, Any]) -> None:
        self.results = dict(results)

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        name: str | None = None,
        band: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> CurveDisplay:
        """Draw a curve, or several on the same axes.

        Parameters
        ----------
        result : result or dict of str to result
            What :func:`~sklearn_rank.metrics.precision_at_top_curve`,
            :func:`~sklearn_rank.inference.calibration_at_top`,
            :func:`~sklearn_rank.inference.net_benefit_curve` or
            :func:`~sklearn_rank.inference.roc_band` returns, or several of one kind by name.
        name : str or None, default=None
            Name in the legend. Not allowed with a dict.
        band : bool, default=True
            Whether to draw the confidence limits.
        ax : matplotlib Axes or None, default=None
            Axes to draw on, which may have curves. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot`` for the curves.

        Returns
        -------
        CurveDisplay
            Display with the drawn plot.
        """
        if not isinstance(result, Mapping):
            result = {name or "": result}
        elif name is not None:
            raise ValueError(
                f"name={name!r} is for one result, but a dict has names: leave it out."
            )
        return cls(result).plot(ax, band=band, **kwargs)

    def plot(self, ax: Any = None, *, band: bool = True, **kwargs: Any) -> CurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on, which may have curves. None creates new axes.
        band : bool, default=True
            Whether to draw the confidence limits.
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
        TypeError
            If a result is no curve.
        ValueError
            If there is no result, or if they are of several kinds.
        """
        check_flag("band", band)
        curves = {name: curve_of(result) for name, result in self.results.items()}
        if len({(curve.xlabel, curve.ylabel) for curve in curves.values()}) != 1:
            raise ValueError("Pass at least one result, and results of one kind.")
        of_all = next(iter(curves.values()))
        # Own figures have room for a legend of as many lines.
        height = (5.0 if of_all.square else 4.4) + 0.2 * len(curves)
        ax = axes_of(ax, figsize=(5.2 if of_all.square else 6.4, height))
        self.lines_, self.bands_, self.references_ = {}, {}, {}
        for name, curve in curves.items():
            self._draw(ax, name, curve, len(curves) if band else 0, kwargs)
        ax.set(xlabel=of_all.xlabel, ylabel=of_all.ylabel)
        if of_all.log:
            _log_positions(ax)
        if of_all.square:
            ax.set(xlim=(-0.01, 1.01), aspect="equal")
        draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, name: str, curve: Curve, n_bands: int, style: Any) -> None:
        """Draw a curve in the next colour, its band, and its lines of reference."""
        earlier = sum(line.get_gid() == "curve" for line in ax.lines)
        label = f"{name} ({curve.note})" if name and curve.note else name or curve.note
        # Line styles continue the colours.
        dashes = ((5, 2), (1, 1.2), (5, 1.5, 1, 1.5), (9, 2, 1, 2, 1, 2))
        styles = ["-", *((0, lengths) for lengths in dashes)]
        usual = {
            "color": COLORS[earlier % len(COLORS)],
            "linestyle": styles[earlier // len(COLORS) % len(styles)],
            "linewidth": 1.5,
            "label": label or curve.ylabel,
        }
        x, y = curve.points
        seen = _visible(np.log(x) if curve.log else x, y)
        (self.line_,) = ax.plot(x[seen], y[seen], **{**usual, **style, "gid": "curve"})
        self.lines_[name], color = self.line_, self.line_.get_color()
        heights = [y, *(line[1] for line in curve.references.values())]
        if n_bands and curve.edges is not None:
            upper, lower = (edge[:, _visible(*edge)] for edge in curve.edges)
            (self.bands_[name],) = ax.fill(
                *np.concatenate([upper, lower[:, ::-1]], axis=1),
                color=color,
                alpha=band_alpha(ax, n_bands),
                linewidth=0,
                label=None if earlier else curve.limits,
                gid="reference",
            )
            heights.append(upper[1])
        lines = [(text, *line, GREY) for text, line in curve.references.items()]
        if curve.companion is not None:
            text, values = curve.companion
            lines.append((text, x, values, color))
            heights.append(values)
        for number, (text, along, values, of_line) in enumerate(lines):
            (self.references_[text],) = ax.plot(
                along,
                values,
                color=of_line,
                linestyle=("--", ":")[number % 2],
                linewidth=1,
                zorder=1,
                label=None if earlier else text,
                gid="reference",
            )
        highest = float(np.max(np.concatenate(heights))) or 1.0
        top = max(1.02 * highest, ax.get_ylim()[1] if earlier else 0.0)
        ax.set_ylim(-curve.bottom * top, top)


def _log_positions(ax: Any) -> None:
    """Put positions from the top on a logarithmic axis with the numbers 1, 10, 100."""
    largest = max(float(ax.dataLim.x1), 2.0)
    factors = range(1, 10) if largest <= 10 else (1, 2, 5) if largest < 200 else (1,)
    powers = 10 ** np.arange(int(np.log10(largest)) + 1)
    ticks = [k for power in powers for k in power * np.array(factors) if k <= largest]
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.xaxis.set_minor_formatter("")


def _visible(x: Any, y: Any) -> BoolArray:
    """Mask of the points that are drawn: the ends of each run within 1/2000 of the axes."""
    points = np.stack([np.asarray(x, float), np.asarray(y, float)])
    low, span = points.min(axis=1, keepdims=True), np.ptp(points, axis=1)[:, None]
    cell = np.floor((points - low) / np.where(span > 0, span, 1.0) * 2000)
    new = (cell[:, 1:] != cell[:, :-1]).any(axis=0)
    return np.append(True, new) | np.append(new, True)
