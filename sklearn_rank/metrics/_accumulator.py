"""Accumulator: a measure of data in batches, or of parts on several machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from .._lists import ScoredLists
from .._validation import check_choice
from ._grammar import MeasureLike, get_measure
from ._measure import Measure
from ._of_collections import KeptQueries, KeptRows, KeptValues, read_part
from ._ranges import ScoreTable


class Accumulator:
    """Compute a measure exactly from rows that arrive in batches, in any order.

    The result equals the measure on all rows together, up to rounding; ties across batches are
    included. Accumulators of parts of the data can be pickled and merged in any order.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, as :func:`get_measure` takes it.
    queries : {"whole", "split"}, default="whole"
        Whether all rows of a query come in one update ("whole"), so that only its value is kept,
        or in several ("split"), so that all rows are kept until :meth:`result`.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Attributes
    ----------
    measure : Measure
        The measure.
    n_items : int
        Number of rows so far, not counting rows of weight 0.
    item_weights : {"none", "whole", "real"}
        Weights of the items so far: none, whole numbers or others.
    table : object or None
        Distinct rows of one list, ascending: arrays ``score``, ``label`` and ``weight``. None if
        no such table is kept.
    query_values : object or None
        Values of the queries: arrays ``ids``, ascending, ``values`` and ``query_weight``. None if
        no such values are kept.

    See Also
    --------
    get_measure : Evaluates data in memory.

    Notes
    -----
    The data that is kept depends on the measure and on ``qid``:

    - Without ``qid`` all rows are one list. A row takes the bytes of its score and 1 for the class
      or 8 for the grade, and 8 for its weight. Where about half of the rows or more are equal,
      each distinct pair of score and label is kept once, with its number.
    - With ``qid``, or with labels in two dimensions (one list per row), the value, id and weight
      of each query are kept: 16 to 24 bytes. A query that comes a second time raises an error.
    - All rows are kept with ``queries="split"``, for measures that take no item weights
      (``Measure.weights`` is "none"), and for measures of other systems (``convention=``). If
      such a measure orders ties by row, the order is that of the updates, and rows from ``merge``
      come last.

    Scores of two floating-point types are compared in the coarser one, so that ties hold across
    batches.

    The time for n rows is O(n log n) for any number of updates: the rows of one list are sorted
    by :meth:`result`, which takes up to three times the memory of the kept data. A batch may be
    empty or hold one class. An update that raises an error changes nothing. ``n_relevant`` and
    ``ideal`` are not supported. The warning about undefined queries comes with the result, others
    with their update.

    Examples
    --------
    >>> from sklearn_rank.metrics import Accumulator
    >>> accumulator = Accumulator("auc")
    >>> accumulator.update([1, 1], [0.9, 0.4]).update([0, 0, 1], [0.4, 0.1, 0.2])
    Accumulator('auc', n_items=5)
    >>> accumulator.result()
    0.75
    >>> other = Accumulator("auc").update([0], [0.0])
    >>> round(accumulator.merge(other).result(), 4)
    0.8333
    """

    def __init__(
        self,
        measure: MeasureLike,
        *,
        queries: Literal["whole", "split"] = "whole",
        pos_label: Any = None,
    ) -> None:
        self.measure: Measure = get_measure(measure)
        check_choice("queries", queries, ("whole", "split"))
        self._queries = queries
        self._pos_label = pos_label
        self._classes: dict[bool, Any] = {}
        # Whether rows are of one list, of lists with ids, or of lists in rows of two dimensions.
        self._form: str | None = None
        self._kept: Any = None  # None before the first rows
        self._n_items = self._n_updates = self._n_matrix_rows = 0
        self._item_weights = 0

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Any] | Callable[[], Iterable[Any]],
        measure: MeasureLike,
        *,
        y_true: str = "y_true",
        y_score: str = "y_score",
        qid: str | None = None,
        sample_weight: str | None = None,
        query_weight: str | None = None,
        **options: Any,
    ) -> Accumulator:
        """Accumulate all batches of an iterable.

        Parameters
        ----------
        batches : iterable or callable
            Batches, or a function that returns an iterable of them. A batch is a tuple
            ``(y_true, y_score)`` or ``(y_true, y_score, qid)``, or a mapping, data frame or Arrow
            record batch with the columns named below.
        measure : str, Measure, ScoreGeneratingFunction or callable
            The measure.
        y_true, y_score : str
            Names of the columns with labels and scores.
        qid, sample_weight, query_weight : str or None, default=None
            Names of these columns. With None the data has no such column, unless a mapping has it
            under the name of the argument.
        **options : dict
            Other arguments of :class:`Accumulator`.

        Returns
        -------
        Accumulator
            The accumulator, filled with all batches.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_rank.metrics import Accumulator
        >>> def batches():
        ...     for part in range(3):
        ...         yield np.array([0, 1]), np.array([0.5, 0.5 + part])
        >>> Accumulator.from_batches(batches, "auc").result().__round__(4)
        0.8333
        """
        accumulator = cls(measure, **options)
        columns = {"y_true": y_true, "y_score": y_score, "qid": qid}
        columns |= {"sample_weight": sample_weight, "query_weight": query_weight}
        for number, batch in enumerate(batches() if callable(batches) else batches):
            accumulator.update(**_arguments_of(batch, columns, number))
        return accumulator

    def update(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> Accumulator:
        """Add rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_lists, n_items)
            Labels or grades; may be empty. In two dimensions each row is a list, and NaN is a
            missing item.
        y_score : array-like of the same shape
            Scores.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row. Either all updates have ids or none.
        sample_weight : array-like of the same shape as labels, default=None
            Non-negative weights of the items. None is 1 for each item.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the query of each row in the mean. In two dimensions pass one weight per
            list.

        Returns
        -------
        Accumulator
            The accumulator itself.
        """
        columns = {"qid": qid, "sample_weight": sample_weight, "query_weight": query_weight}
        try:
            self._add(
                *read_part(self.measure, y_true, y_score, **columns, pos_label=self._pos_label)
            )
        except (TypeError, ValueError) as error:
            if len(error.args) == 1:
                error.args = (f"In update {self._n_updates}: {error}",)
            raise
        self._n_updates += 1
        return self

    def _add(
        self, lists: ScoredLists | None, form: str, classes: dict[bool, Any], n_matrix_rows: int
    ) -> None:
        if lists is not None:
            if form == "rows":
                lists = replace(lists, ids=np.asarray(lists.ids) + self._n_matrix_rows)
            kept, classes = self._fit(form, classes)
            kept.add(lists, self.measure)
            self._n_items += len(lists.labels)
            self._kept, self._form, self._classes = kept, form, classes
            if lists.weight is not None:
                self._item_weights = max(self._item_weights, 1 if lists.whole.all() else 2)
        self._n_matrix_rows += n_matrix_rows

    def _fit(self, form: str, classes: dict[bool, Any]) -> tuple[Any, dict[bool, Any]]:
        """Where rows of this form and of these classes go, and the classes of all rows."""
        if self._form not in (None, form):
            forms = {
                "list": "rows of one list, without qid",
                "ids": "rows with qid",
                "rows": "one list per row, in two dimensions",
            }
            raise ValueError(
                f"This update has {forms[form]}, but earlier updates have"
                f" {forms[str(self._form)]}: pass all updates in one form."
            )
        for value, label in classes.items():
            if self._classes.get(value, label) != label:
                earlier = " and ".join(map(repr, self._classes.values()))
                raise ValueError(
                    f"y_true has the label {label!r}, but earlier updates had {earlier}: a measure"
                    " of two classes needs the same two labels in all updates."
                )
        kept = self._new_kept(form) if self._kept is None else self._kept
        return kept, {**self._classes, **classes}

    def _new_kept(self, form: str) -> KeptRows | KeptQueries:
        if form != "list":
            return KeptQueries() if self._queries == "whole" else KeptRows()
        as_rows = getattr(self.measure, "convention", None) not in (None, "paper")
        return KeptRows(distinct=self.measure.weights != "none" and not as_rows)

    # ------------------------------------------------------------------------------------ results

    def merge(self, other: Accumulator) -> Accumulator:
        """Add the rows of another accumulator.

        Parameters
        ----------
        other : Accumulator
            An accumulator of the same measure; it is not changed.

        Returns
        -------
        Accumulator
            The accumulator itself. Up to rounding, the result does not depend on the order of
            merges.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(
                f"An Accumulator merges with another one, not with a {type(other).__name__}: pass"
                " rows to update()."
            )
        for name in ("measure", "_pos_label", "_queries"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(
                    f"The accumulators have {name.lstrip('_')}={mine!r} and {theirs!r}: make both"
                    " with the same arguments."
                )
        if other._kept is not None:
            kept, classes = self._fit(str(other._form), other._classes)
            shifts = other._form == "rows" and self._n_matrix_rows
            kept.merge(other._kept.shift_ids(self._n_matrix_rows) if shifts else other._kept)
            self._kept, self._form, self._classes = kept, other._form, classes
            self._n_items += other._n_items
            self._item_weights = max(self._item_weights, other._item_weights)
            self._n_updates += other._n_updates
        self._n_matrix_rows += other._n_matrix_rows
        return self

    def result(self) -> float:
        """Evaluate the measure on all rows so far.

        Returns
        -------
        float
            The value of the measure on all rows together, up to rounding.

        Raises
        ------
        ValueError
            If there is no row.
        """
        if self._kept is None:
            raise ValueError(
                f"The accumulator has no rows to evaluate {self.measure.name} on: pass rows to"
                " update()."
            )
        return float(self._kept.result(self.measure))

    @property
    def n_items(self) -> int:
        """Number of rows so far, not counting rows of weight 0."""
        return self._n_items

    @property
    def item_weights(self) -> Literal["none", "whole", "real"]:
        """Weights of the items so far: none, whole numbers or others."""
        return ("none", "whole", "real")[self._item_weights]

    @property
    def table(self) -> ScoreTable | None:
        """Distinct rows of one list; None if no such table is kept."""
        return None if self._rows is None else self._rows.distinct()

    @property
    def _rows(self) -> ScoreTable | None:
        is_table = isinstance(self._kept, KeptRows) and self._kept.distinct
        return self._kept.table if is_table else None

    @property
    def query_values(self) -> KeptValues | None:
        """Values of the queries by ascending id; None if no such values are kept."""
        return self._kept.values if isinstance(self._kept, KeptQueries) else None

    def __repr__(self) -> str:
        return f"Accumulator({self.measure.name!r}, n_items={self.n_items})"


def _arguments_of(batch: Any, columns: Mapping[str, str | None], number: int) -> dict[str, Any]:
    if isinstance(batch, tuple | list):
        if len(batch) not in (2, 3):
            raise ValueError(
                f"Batch {number} is a tuple of length {len(batch)}: pass (y_true, y_score),"
                " (y_true, y_score, qid), or a mapping from argument names."
            )
        return dict(zip(columns, batch, strict=False))
    named = {argument: name for argument, name in columns.items() if name is not None}
    if isinstance(batch, Mapping):
        named = {name: name for name in columns if name in batch} | named
    try:
        # Record batches and tables of Arrow have no columns by [].
        column = batch.column if hasattr(batch, "column") else batch.__getitem__
        return {argument: column(name) for argument, name in named.items()}
    except (KeyError, TypeError, AttributeError):
        raise ValueError(
            f"Batch {number}, a {type(batch).__name__}, has no columns {list(named.values())}:"
            " pass their names, as y_true='label', y_score='score'."
        ) from None
