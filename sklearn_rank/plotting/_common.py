"""What every display does: load matplotlib, find axes, colours, and the scores of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..metrics._shared import ranking_scores

__all__ = [
    "COLORS",
    "GREY",
    "axes_of",
    "binary_response",
    "line_style",
    "query_response",
    "systems_of",
]

# Okabe and Ito: told apart with any kind of colour vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#767676"


def axes_of(ax: Any, **kwargs: Any) -> Any:
    """Give the axes to draw on, new ones where there are none.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Axes.
    **kwargs : dict
        Handed to ``subplots`` for new ones.

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


def line_style(ax: Any) -> dict[str, Any]:
    """Colour of the next curve on axes, and the mark by which the one after it counts it.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes.

    Returns
    -------
    dict
        Arguments of matplotlib's ``plot``.
    """
    earlier = sum(line.get_gid() == "ranker" for line in ax.lines)
    return {"color": COLORS[earlier % len(COLORS)], "gid": "ranker"}


def query_response(estimator: Any, X: Any, name: str | None) -> tuple[Any, str]:
    """Find the scores of a fitted estimator, and its name.

    Parameters
    ----------
    estimator : object
        Fitted estimator.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    name : str or None
        Name; None is the class of the estimator.

    Returns
    -------
    y_score : ndarray of shape (n_samples,)
        The scores.
    name : str
        The name.
    """
    check_is_fitted(estimator)
    return ranking_scores(estimator, X), type(estimator).__name__ if name is None else name


def binary_response(estimator: Any, X: Any, name: str | None) -> tuple[Any, Any, str]:
    """Find the scores of a fitted estimator for two classes, its positive class, and its name.

    Parameters
    ----------
    estimator : object
        Fitted estimator.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    name : str or None
        Name; None is the class of the estimator.

    Returns
    -------
    y_score : ndarray of shape (n_samples,)
        The scores.
    pos_label : object
        The second class; None for what is no classifier.
    name : str
        The name.
    """
    y_score, name = query_response(estimator, X, name)
    return y_score, estimator.classes_[1] if is_classifier(estimator) else None, name


def systems_of(y_score: Any, name: str | None) -> dict[str, Any]:
    """Take scores by the name of their system.

    Parameters
    ----------
    y_score : array-like or dict of str to array-like
        Scores of one system, or of several by name.
    name : str or None
        Name of the one system.

    Returns
    -------
    dict of str to array-like
        Scores by name.
    """
    if not isinstance(y_score, dict):
        return {"" if name is None else name: np.asarray(y_score)}
    if name is not None:
        raise ValueError(f"name={name!r} is for one ranker, but y_score is a dict with names.")
    if not y_score:
        raise ValueError("y_score is an empty dict: pass the scores of at least one ranker.")
    return y_score
