"""Functions shared by the displays: matplotlib import, axes, colours, scores of an estimator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc, signature
from textwrap import fill
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._optional import import_optional
from ..inference._shared import named_scores
from ..metrics import Measure, get_measure
from ..metrics._shared import own_pos_label, positive_class, ranking_scores

Method = TypeVar("Method", bound=Callable[..., Any])
D = TypeVar("D", bound="Display")
P = ParamSpec("P")

# The palette of Okabe and Ito, for all kinds of colour vision; line styles continue it.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (9, 2, 1, 2, 1, 2)))
GREY = "#767676"  # visible on white and on black

# Groups of artists, by their gid.
CURVE = "ranker"
REFERENCE = "reference"

# Style of lines to compare curves with.
QUIET = {"color": GREY, "linewidth": 1, "zorder": 1, "gid": REFERENCE}

# Figures that a display made, with their height in inches without a legend.
_OWN_FIGURES: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

# Largest number of legend entries that stay inside axes of the caller.
INSIDE = 6

# Sizes of small text in inches, for the columns of a legend and the height of its rows.
LETTER, LINE = 0.075, 0.18

# Cells of the axes along a direction within which a drawn curve need not be exact.
CELLS = 2000


def axes_of(ax: Any, **kwargs: Any) -> Any:
    """Return the axes to draw on; without any, create a figure with constrained layout."""
    plt = import_optional("matplotlib.pyplot", "Drawing")
    if ax is not None:
        return ax
    figure, ax = plt.subplots(layout="constrained", **kwargs)
    _OWN_FIGURES[figure] = figure.get_figheight()
    return ax


def foreground(ax: Any) -> Any:
    """Return the colour of text, which stands out from the background in any style."""
    return ax.yaxis.label.get_color()


def band_alpha(ax: Any, n_bands: int) -> float:
    """Return the opacity of bands: lighter for many, stronger on a dark background."""
    dark = np.mean(ax.get_facecolor()[:3]) < 0.5
    return (0.22 if n_bands <= 3 else 0.08) * (2.0 if dark else 1.0)


def wrapped(name: str, width: int) -> str:
    """Break a long name into lines."""
    return fill(name, width, break_long_words=True) if len(name) > width else name


def draw_legend(ax: Any, below: float = 0.0, inside: str = "best") -> None:
    """Draw the legend with rankers first and reference lines last, off the curves.

    In a figure that a display made, the legend is below the axes, and the figure grows by its
    height. In axes of the caller it is inside for a few entries, else to the right if there is
    room for it.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    pairs = zip(handles, labels, strict=True)
    ordered = sorted(pairs, key=lambda pair: getattr(pair[0], "get_gid", str)() == REFERENCE)
    handles = [handle for handle, _ in ordered]
    labels = [wrapped(label, 54) for _, label in ordered]
    figure = ax.figure
    style: dict[str, Any] = {"fontsize": "small", "loc": inside}
    longest = max(len(line) for label in labels for line in label.splitlines()) + 6
    lines = [label.count("\n") + 1 for label in labels]
    if figure in _OWN_FIGURES:
        columns = max(1, min(len(labels), int(figure.get_figwidth() / (longest * LETTER))))
        rows = sum(lines) if columns == 1 else -(-len(labels) // columns) * max(lines)
        height = rows * LINE + 0.3
        figure.set_figheight(_OWN_FIGURES[figure] + height)
        from matplotlib.transforms import ScaledTranslation

        # Below the numbers and the label of the horizontal axis.
        size = ax.xaxis.label.get_fontsize() + ax.xaxis.get_ticklabels()[0].get_fontsize()
        shift = ScaledTranslation(0, -(1.25 * size + 12) / 72, figure.dpi_scale_trans)
        style |= {"loc": "upper center", "ncols": columns, "borderaxespad": 0.0}
        style |= {"bbox_to_anchor": (0.5, -below), "bbox_transform": ax.transAxes + shift}
    elif len(labels) > INSIDE:
        box, dpi = ax.get_window_extent(), figure.dpi
        # Beside the axes it leaves half of their width.
        if longest * LETTER < 0.5 * box.width / dpi and sum(lines) * LINE < box.height / dpi:
            style |= {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
    legend = ax.legend(handles, labels, **style)
    # A legend inside takes no room, even if its entries are higher than small axes.
    legend.set_in_layout("bbox_to_anchor" in style)


def log_positions(ax: Any) -> None:
    """Put positions from the top on a logarithmic axis with the numbers 1, 10, 100."""
    largest = max(float(ax.dataLim.x1), 2.0)
    factors = range(1, 10) if largest <= 10 else (1, 2, 5) if largest < 200 else (1,)
    powers = 10 ** np.arange(int(np.log10(largest)) + 1)
    ticks = [k for power in powers for k in power * np.array(factors) if k <= largest]
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.xaxis.set_minor_formatter("")


def visible(x: Any, y: Any) -> Any:
    """Which points of a curve are drawn: the first and the last of each run within a cell."""
    points = np.stack([np.asarray(x, float), np.asarray(y, float)])
    low, span = points.min(axis=1, keepdims=True), np.ptp(points, axis=1)[:, None]
    cell = np.floor((points - low) / np.where(span > 0, span, 1.0) * CELLS)
    new = (cell[:, 1:] != cell[:, :-1]).any(axis=0)
    return np.append(True, new) | np.append(new, True)


class Display:
    """Base class of all displays; stores the axes and the figure of the plot."""

    ax_: Any
    figure_: Any

    def _drawn_on(self, ax: Any) -> Self:
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


class CurveDisplay(Display):
    """Base class of displays with a curve; several can share the same axes."""

    estimator_name: str | None
    line_: Any

    def _draw_curve(
        self, ax: Any, x: Any, y: Any, name: str | None, style: dict[str, Any]
    ) -> bool:
        """Draw the curve in the next colour; return whether it is the first one on the axes."""
        earlier = sum(line.get_gid() == CURVE for line in ax.lines)
        usual = {
            "color": COLORS[earlier % len(COLORS)],
            "linestyle": STYLES[earlier // len(COLORS) % len(STYLES)],
            "label": self.estimator_name if name is None else name,
            "linewidth": 1.5,
        }
        (self.line_,) = ax.plot(x, y, **{**usual, **style, "gid": CURVE})
        return earlier == 0

    def _draw_band(self, ax: Any, x: Any, low: Any, high: Any, n_bands: int) -> Any:
        """Draw limits of the last curve, in its colour."""
        color, alpha = self.line_.get_color(), band_alpha(ax, n_bands)
        return ax.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0)


def show_heights(ax: Any, heights: Any, *, first: bool) -> None:
    """Let the axis reach from 0 to the highest of shares, those drawn before included."""
    heights = np.asarray(heights)
    top = 1.02 * float(np.max(heights[np.isfinite(heights)], initial=0.0)) or 1.02
    ax.set_ylim(0.0, top if first else max(top, ax.get_ylim()[1]))


def label_rows(ax: Any, names: Any, texts: Any) -> None:
    """Label the rows, the first on top, with a text to the right of each."""
    for row, text in enumerate(texts):
        ax.text(1.02, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.set_yticks(range(len(names)), [wrapped(name, 24) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)


ESTIMATOR = """\
estimator : object
    Fitted estimator. Its scores are those of ``decision_function``, otherwise of
    ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
"""
CLASSIFIER = """\
estimator : object
    Fitted classifier with ``predict_proba``.
"""
ROWS = """\
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Feature values of the rows.
"""
POS_LABEL = """\
pos_label : int, float, bool, str or None, default=None
    Label of the positive class. None means the ``pos_label`` of the estimator, or of the
    estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
    or {-1, 1}.
"""


def documented_by(
    from_predictions: Any, estimators: str = ESTIMATOR, names: str = ""
) -> Callable[[Method], Method]:
    """Decorator: a summary gets the sections of ``from_predictions``, with estimators and rows."""

    def entry(match: re.Match[str]) -> str:
        """Entry of a parameter: none for scores, another for what an estimator has."""
        name, sentence = match[1], match[0].partition(". ")[0].rstrip(".\n")
        if name.startswith(("y_score", "y_prob")):
            return ""
        replaced = {
            "pos_label": POS_LABEL,
            "name": f"{sentence}. None means the class name of the estimator.\n",
            "names": names,
        }
        return replaced.get(name, match[0])

    def complete(method: Method) -> Method:
        text = cleandoc(from_predictions.__doc__ or "") + "\n"
        _, heading, sections = text.partition("Parameters\n----------\n")
        sections = re.sub(r"^(\w+) :.*\n(?: .*\n)*", entry, sections, flags=re.MULTILINE)
        sections = sections.replace("y_true", "y")
        if method.__doc__:
            method.__doc__ += f"\n\n{heading}{estimators}{ROWS}{sections}"
        return method

    return complete


def of_estimator(
    from_predictions: Callable[Concatenate[Any, Any, Any, P], D],
) -> classmethod[D, Concatenate[Any, Any, Any, P], D]:
    """Class method that draws the scores of an estimator, declared as ``from_predictions`` is."""
    function: Any = from_predictions.__func__  # type: ignore[attr-defined]
    declared = signature(function)
    cls, y_true, y_score, *options = declared.parameters.values()
    measures, of_probabilities = declared.parameters.get("measure"), y_score.name == "y_prob"

    def from_estimator(cls, estimator, X, y, *, pos_label=None, name=None, **options):
        completed.__signature__.bind(cls, estimator, X, y, **options)
        if measures is None:
            y_score, pos_label = _response(estimator, X, pos_label, of_probabilities)
        else:
            options["measure"] = get_measure(options.get("measure", measures.default))
            y_score, pos_label = query_response(estimator, X, options["measure"], pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, y_score, pos_label=pos_label, name=name, **options)

    completed: Any = from_estimator
    completed.__module__ = function.__module__
    completed.__qualname__ = function.__qualname__.replace("from_predictions", "from_estimator")
    rows = (y_true.replace(name=name) for name in ("estimator", "X", "y"))
    completed.__signature__ = declared.replace(parameters=[cls, *rows, *options])
    given, fitted, estimators = (
        ("given probabilities", "a fitted classifier", CLASSIFIER)
        if of_probabilities
        else ("given scores", "a fitted estimator", ESTIMATOR)
    )
    if function.__doc__:
        completed.__doc__ = function.__doc__.partition("\n")[0].replace(given, fitted)
    return classmethod(documented_by(from_predictions, estimators)(completed))


def query_response(estimator: Any, X: Any, measure: Measure, pos_label: Any) -> tuple[Any, Any]:
    """Scores of a fitted estimator for queries, and the positive class of their labels."""
    y_score, positive = _response(estimator, X, pos_label)
    pos_label = own_pos_label(estimator) if pos_label is None else pos_label
    return y_score, None if pos_label is None and measure.kind == "graded" else positive


def _response(
    estimator: Any, X: Any, pos_label: Any, of_probabilities: bool = False
) -> tuple[Any, Any]:
    """Scores or probabilities of the positive class by a fitted estimator, and that class."""
    check_is_fitted(estimator)
    if of_probabilities and not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f"{type(estimator).__name__} has no predict_proba, but a threshold of probabilities"
            " needs them: fit sklearn.calibration.CalibratedClassifierCV on it."
        )
    positive = positive_class(estimator, pos_label)
    methods = ("predict_proba",) if of_probabilities else ()
    return ranking_scores(estimator, X, positive, *methods), positive


def systems_of(y_score: Any, name: str | None) -> dict[str, Any]:
    """Return a dict of the scores by the name of the system."""
    if not isinstance(y_score, Mapping) and not hasattr(y_score, "columns"):
        return {"" if name is None else name: np.asarray(y_score)}
    if name is not None:
        raise ValueError(
            f"name={name!r} is for one ranker, but y_score has names of its own: leave it out."
        )
    return named_scores(y_score, name="y_score", least=1)
