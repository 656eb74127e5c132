"""What every metric does around its own mathematics: lists in, one value for each out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._lists import Lists, ScoredLists, check_scored_lists
from .._typing import FloatArray

__all__ = ["Average", "Summary", "Undefined", "Value", "binary_lists", "graded_lists"]

Average: TypeAlias = Literal["mean"] | None
Undefined: TypeAlias = Literal["skip", "raise"] | float
Value: TypeAlias = Any  # a float, or with average=None an array, or that and the ids


@dataclass(frozen=True)
class Summary:
    """How the values of the lists become the result of a metric.

    Parameters
    ----------
    name : str
        Name of the metric, for messages.
    average : {"mean"} or None
        Whether to average.
    undefined : {"skip", "raise"} or float
        What lists without a value count.
    return_qid : bool
        Whether to return the ids too.
    """

    name: str
    average: Average
    undefined: Undefined
    return_qid: bool

    def __post_init__(self) -> None:
        if self.average not in ("mean", None):
            raise ValueError(
                f"average={self.average!r} must be 'mean', the mean over the lists, or None, one"
                " value per list."
            )
        if self.undefined not in ("skip", "raise") and (
            not isinstance(self.undefined, Real) or isinstance(self.undefined, bool)
        ):
            raise ValueError(
                f"undefined={self.undefined!r} must be 'skip', 'raise' or the number that a list"
                " without a value counts."
            )
        if self.return_qid and self.average is not None:
            raise ValueError(
                "return_qid=True gives the ids of values per list, but average='mean' gives one"
                " value: pass average=None."
            )

    def of(self, values: FloatArray, lists: Lists, reason: str) -> Value:
        """Make the result of a public metric, which has to be the direct caller.

        Parameters
        ----------
        values : ndarray of shape (n_lists,)
            One value per list, NaN where there is none.
        lists : Lists
            The lists.
        reason : str
            What a list without a value lacks, for messages.

        Returns
        -------
        float or ndarray of shape (n_lists,) or (ndarray, ndarray)
            As ``average`` and ``return_qid`` say.
        """
        if self.return_qid and lists.ids is None:
            raise ValueError("return_qid=True needs qid or one list per row: pass qid.")
        missing = np.isnan(values)
        if lists.query_weight is not None:
            missing &= lists.query_weight > 0
        n_missing = np.count_nonzero(missing)
        if n_missing:
            if self.undefined == "raise":
                raise ValueError(self._refusal(lists, int(np.argmax(missing)), reason))
            values = np.where(
                missing, np.nan if self.undefined == "skip" else self.undefined, values
            )
            warnings.warn(
                self._report(int(n_missing), len(values), reason),
                UndefinedMetricWarning,
                stacklevel=3,
            )
        if self.average is None:
            if lists.query_weight is not None:
                raise ValueError(
                    "query_weight weighs the mean over the lists, but average=None gives one value"
                    " per list: leave it out."
                )
            return (values, lists.ids) if self.return_qid else values
        return _mean(values, lists.query_weight)

    def _refusal(self, lists: Lists, first: int, reason: str) -> str:
        where = (
            "the list" if lists.ids is None else f"the list with qid {lists.ids.tolist()[first]!r}"
        )
        return f"{self.name} is undefined: {where} has {reason}; remove it or choose undefined=."

    def _report(self, n_missing: int, n_lists: int, reason: str) -> str:
        if n_lists == 1:
            became = "nan" if self.undefined == "skip" else f"{self.undefined:g}"
            return f"{self.name} is undefined for a list with {reason}: it was set to {became}."
        became = "left out" if self.undefined == "skip" else f"counted as {self.undefined:g}"
        if self.average is None and self.undefined == "skip":
            became = "set to nan"
        return (
            f"{self.name} is undefined for {n_missing} of {n_lists} lists, with {reason}: they"
            f" were {became}."
        )


def _mean(values: FloatArray, weight: FloatArray | None) -> float:
    defined = ~np.isnan(values)
    if weight is not None:
        defined &= weight > 0
    if not defined.any():
        return float("nan")
    if weight is None:
        return float(values[defined].mean())
    return float(np.average(values[defined], weights=weight[defined]))


def binary_lists(
    y_true: Any, y_score: Any, *, name: str = "", refuse_2d: bool = False, **arguments: Any
) -> ScoredLists:
    """Make lists of two classes."""
    lists = check_scored_lists(y_true, y_score, kind="binary", **arguments)
    if refuse_2d and np.ndim(y_true) == 2:
        raise ValueError(
            f"In two dimensions scikit-learn's {name} takes the columns as classes, and one"
            " list per row would be another number: pass y_true.ravel(), y_score.ravel() and"
            " qid=np.repeat(np.arange(n_lists), n_items) for lists."
        )
    return lists


def graded_lists(y_true: Any, y_score: Any, **arguments: Any) -> ScoredLists:
    """Make graded lists."""
    return check_scored_lists(y_true, y_score, kind="graded", **arguments)
