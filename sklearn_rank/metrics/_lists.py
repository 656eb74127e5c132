"""What every metric does around its own mathematics: lists in, one value for each out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._order import ClassBlocks, class_blocks
from .._queries import group_rows
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import Scores, check_binary_scores, check_graded_scores

__all__ = ["Average", "BinaryLists", "GradedLists", "Summary", "Undefined", "Value"]

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


@dataclass(frozen=True, eq=False)
class Lists:
    """Scored items, list by list.

    Parameters
    ----------
    score : ndarray of shape (n,)
        Scores without NaN.
    weight : ndarray of shape (n,) or None
        Positive weights; None is 1 for each.
    offsets : ndarray of shape (n_lists + 1,)
        Where each list begins, and n.
    ids : ndarray of shape (n_lists,) or None
        Ids of the lists, ascending; None for one list without an id.
    query_weight : ndarray of shape (n_lists,) or None
        Weight of each list; None is 1 for each.
    """

    score: FloatArray
    weight: FloatArray | None
    offsets: IntArray
    ids: AnyArray | None
    query_weight: FloatArray | None

    @property
    def sizes(self) -> FloatArray:
        """Weight of each list."""
        if self.weight is None:
            return np.diff(self.offsets).astype(np.float64)
        return np.add.reduceat(self.weight, self.offsets[:-1])

    @property
    def whole(self) -> BoolArray:
        """Whether all weights of the list are whole numbers: repetitions."""
        if self.weight is None:
            return np.ones(len(self.offsets) - 1, dtype=bool)
        return np.logical_and.reduceat(self.weight == np.floor(self.weight), self.offsets[:-1])

    @property
    def list_of(self) -> IntArray:
        """List of each item."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True, eq=False)
class BinaryLists(Lists):
    """Scored items of two classes, list by list.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Whether each item is positive.
    """

    positive: BoolArray = field(kw_only=True)

    @classmethod
    def of(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        name: str = "",
        refuse_2d: bool = False,
        **arguments: Any,
    ) -> BinaryLists:
        """Check the arguments of a metric.

        Parameters
        ----------
        y_true : array-like
            Labels.
        y_score : array-like
            Scores.
        name : str, default=""
            Name of the metric, for messages.
        refuse_2d : bool, default=False
            Whether two dimensions mean something else in scikit-learn.
        **arguments : dict
            Further arguments of :func:`sklearn_rank._validation.check_binary_scores`.

        Returns
        -------
        BinaryLists
            The lists.
        """
        data = check_binary_scores(y_true, y_score, **arguments)
        if refuse_2d and np.ndim(y_true) == 2:
            raise ValueError(
                f"In two dimensions scikit-learn's {name} takes the columns as classes, and one"
                " list per row would be another number: pass y_true.ravel(), y_score.ravel() and"
                " qid=np.repeat(np.arange(n_lists), n_items) for lists."
            )
        shared, rows = _grouped(data)
        return cls(**shared, positive=data.positive if rows is None else data.positive[rows])

    def blocks(self, *, of_negatives: bool = False) -> ClassBlocks:
        """Find the blocks of tied items that hold positives, or negatives.

        Parameters
        ----------
        of_negatives : bool, default=False
            Whether negatives are the class that the blocks hold.

        Returns
        -------
        ClassBlocks
            The blocks.
        """
        held = ~self.positive if of_negatives else self.positive
        return class_blocks(self.score, held, self.weight, self.offsets)


@dataclass(frozen=True, eq=False)
class GradedLists(Lists):
    """Scored items with relevance grades, list by list.

    Parameters
    ----------
    grade : ndarray of shape (n,)
        Finite relevance.
    """

    grade: FloatArray = field(kw_only=True)

    @classmethod
    def of(cls, y_true: Any, y_score: Any, **arguments: Any) -> GradedLists:
        """Check the arguments of a metric.

        Parameters
        ----------
        y_true : array-like
            Relevance.
        y_score : array-like
            Scores.
        **arguments : dict
            Further arguments of :func:`sklearn_rank._validation.check_graded_scores`.

        Returns
        -------
        GradedLists
            The lists.
        """
        data = check_graded_scores(y_true, y_score, **arguments)
        shared, rows = _grouped(data)
        return cls(**shared, grade=data.grade if rows is None else data.grade[rows])


def _grouped(data: Scores) -> tuple[dict[str, Any], IntArray | None]:
    """Arrays list by list, and the rows that were moved for it."""
    score, weight, by_row = data.score, data.weight, data.query_weight
    if data.qid is None:
        offsets, ids, rows = np.array([0, len(score)]), None, None
    else:
        queries = group_rows(data.qid)
        offsets, ids, rows = queries.offsets, queries.ids, queries.rows
        if rows is not None:
            score = score[rows]
            weight = None if weight is None else weight[rows]
            by_row = None if by_row is None else by_row[rows]
    shared = {"score": score, "weight": weight, "offsets": offsets, "ids": ids}
    return {**shared, "query_weight": _by_list(by_row, offsets, ids)}, rows


def _by_list(
    by_row: FloatArray | None, offsets: IntArray, ids: AnyArray | None
) -> FloatArray | None:
    """Weight of each list from that of its rows."""
    if by_row is None:
        return None
    weight = by_row[offsets[:-1]]
    differs = by_row != np.repeat(weight, np.diff(offsets))
    if differs.any():
        bad = int(np.searchsorted(offsets, int(np.argmax(differs)), "right")) - 1
        where = "the list" if ids is None else f"the query {ids.tolist()[bad]!r}"
        raise ValueError(
            f"query_weight differs within {where}: pass one weight per row that is the same for"
            " all rows of a query."
        )
    if not weight.any():
        raise ValueError("query_weight is zero everywhere: at least one query must count.")
    return weight
