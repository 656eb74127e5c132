"""Functions shared by the displays: matplotlib import, axes, colours, scores of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..inference._shared import named_scores
from ..metrics import Measure
from ..metrics._shared import own_pos_label, positive_class, ranking_scores

__all__ = [
    "COLORS",
    "CURVE",
    "GREY",
    "CurveDisplay",
    "Display",
    "axes_of",
    "label_rows",
    "probabilities_of",
    "query_response",
    "systems_of",
]

# Okabe and Ito: told apart with any kind of colour vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#767676"

# How curves of rankers are told from the lines beside them.
CURVE = "ranker"


def axes_of(ax: Any, **kwargs: Any) -> Any:
    """Return the axes to draw on, and create them if there are none.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Axes.
    **kwargs : dict
        Keyword arguments passed to ``subplots`` if new axes are created.

    Returns
    -------
    matplotlib Axes
        Axes to draw on.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Drawing needs matplotlib: python -m pip install "sklearn-rank[plot]"'
        ) from error
    return plt.subplots(**kwargs)[1] if ax is None else ax


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

    @classmethod
    def _of_estimator(
        cls: Any,
        estimator: Any,
        X: Any,
        y: Any,
        pos_label: Any,
        *,
        response: Callable[[Any, Any, Any], tuple[Any, Any]] | None = None,
        **arguments: Any,
    ) -> Any:
        """Draw the scores of a fitted estimator, or another response of it."""
        y_score, pos_label = (response or _response)(estimator, X, pos_label)
        if arguments["name"] is None:
            arguments["name"] = type(estimator).__name__
        return cls.from_predictions(y, y_score, pos_label=pos_label, **arguments)

    def _draw_curve(
        self, ax: Any, x: Any, y: Any, name: str | None, style: dict[str, Any]
    ) -> bool:
        """Draw the curve in the next colour; return whether it is the first one on the axes."""
        earlier = sum(line.get_gid() == CURVE for line in ax.lines)
        label = self.estimator_name if name is None else name
        usual = {"color": COLORS[earlier % len(COLORS)], "label": label, "linewidth": 1.5}
        (self.line_,) = ax.plot(x, y, **{**usual, **style, "gid": CURVE})
        return earlier == 0


def label_rows(ax: Any, names: Any, texts: Any) -> None:
    """Label the rows, the first on top, with a text to the right of each.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes.
    names : sequence of str
        Labels of the rows.
    texts : sequence of str
        Texts on the right.
    """
    for row, text in enumerate(texts):
        ax.text(1.02, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)


def query_response(estimator: Any, X: Any, measure: Measure, pos_label: Any) -> tuple[Any, Any]:
    """Find the scores of a fitted estimator for queries, and the positive class of their labels.

    Parameters
    ----------
    estimator : object
        Fitted estimator.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    measure : Measure
        The measure.
    pos_label : object
        The positive class if the caller passes it, else None.

    Returns
    -------
    y_score : ndarray of shape (n_samples,)
        Scores; the positive class is expected at the top.
    pos_label : object
        The positive class. None if it is not given and the labels may be grades.
    """
    y_score, positive = _response(estimator, X, pos_label)
    said = own_pos_label(estimator) if pos_label is None else pos_label
    return y_score, None if said is None and measure.kind == "graded" else positive


def _response(estimator: Any, X: Any, pos_label: Any) -> tuple[Any, Any]:
    """Return the scores of a fitted estimator for the positive class, and that class."""
    check_is_fitted(estimator)
    positive = positive_class(estimator, pos_label)
    return ranking_scores(estimator, X, positive), positive


def probabilities_of(estimator: Any, X: Any, pos_label: Any) -> tuple[Any, Any]:
    """Find the probabilities of a fitted classifier, and its positive class.

    Parameters
    ----------
    estimator : object
        Fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    pos_label : object
        The positive class if the caller passes it, else None.

    Returns
    -------
    y_prob : ndarray of shape (n_samples,)
        Probability of the positive class.
    pos_label : object
        That class.
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f"{type(estimator).__name__} has no predict_proba, but a threshold of probabilities"
            " needs them: fit sklearn.calibration.CalibratedClassifierCV on it."
        )
    positive = positive_class(estimator, pos_label)
    return ranking_scores(estimator, X, positive, "predict_proba"), positive


def systems_of(y_score: Any, name: str | None) -> dict[str, Any]:
    """Return a dict of the scores by the name of the system.

    Parameters
    ----------
    y_score : array-like, mapping of str to array-like, or data frame
        Scores of one system, or of several by name.
    name : str or None
        Name of a single system.

    Returns
    -------
    dict of str to array-like
        Scores by name.
    """
    if not isinstance(y_score, Mapping) and not hasattr(y_score, "columns"):
        return {"" if name is None else name: np.asarray(y_score)}
    if name is not None:
        raise ValueError(
            f"name={name!r} is for one ranker, but y_score has names of its own: leave it out."
        )
    return named_scores(y_score, name="y_score", least=1)
