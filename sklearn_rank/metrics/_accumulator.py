"""Accumulator: a measure of data in batches, or of parts on several machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any, Literal

import numpy as np

from .._arguments import check_choice, check_count
from ._accumulated import Kept, KeptQueries, KeptRows, KeptTable, QueryValues
from ._binned import KeptBins, is_additive
from ._grammar import MeasureLike, get_measure
from ._measure import Measure
from ._parts import check_classes_known, read_part
from ._score_table import ScoreTable

ARGUMENTS = ("y_true", "y_score", "qid", "sample_weight", "query_weight")


class Accumulator:
    """Compute a measure exactly from rows that arrive in batches, in any order.

    The result equals the measure on all rows together, up to rounding; ties across batches are
    included. Accumulators of parts of the data can be pickled and merged in any order.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, as :func:`get_measure` takes it.
    max_items : int or None, default=None
        Largest number of distinct rows of one list to keep; None is no limit. Beyond it the rows
        are binned, and the exact result needs them again; see Notes. A greater value uses more
        memory and fewer passes.
    queries : {"whole", "split"}, default="whole"
        Whether all rows of a query come in one update ("whole"), so that only its value is kept,
        or in several ("split"), so that all rows are kept until :meth:`result`.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    overflow : {"again", "bounds"}, default="again"
        What happens beyond ``max_items``: "again" reads the rows again for the exact result,
        "bounds" reads them once, and :meth:`bounds` returns an interval that contains the result.

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
    needs_again : bool
        Whether the exact result needs another pass over all rows.
    query_values : object or None
        Values of the queries: arrays ``ids``, ascending, ``values`` and ``query_weight``. None if
        no such values are kept.

    See Also
    --------
    get_measure : Evaluates data in memory.

    Notes
    -----
    The data that is kept depends on the measure and on ``qid``:

    - Without ``qid`` all rows are one list. Each distinct pair of score and label is kept once,
      with the number of its rows. A row takes at most the bytes of its score and 1 byte for the
      class, or 8 for the grade; 8 more if rows are equal or weighted.
    - With ``qid``, or with labels in two dimensions (one list per row), the value, id and weight
      of each query are kept: 16 to 24 bytes. A query that comes a second time raises an error.
    - All rows are kept with ``queries="split"``, for measures that take no item weights
      (``Measure.weights`` is "none"), for measures of other systems (``convention=``) and for
      more than two classes. If such a measure orders ties by row, the order is that of the
      updates, and rows from ``merge`` come last.

    The time for n rows is O(n log n) for any number of updates. While two tables are merged, the
    memory is up to three times that of the kept data. A batch may be empty or hold one class; the
    classes are checked over all batches. An update that raises an error changes nothing.
    ``n_relevant`` and ``ideal`` are not supported. Warnings about single queries, such as one
    about a small top, come with their update; the warning about undefined queries comes with the
    result.

    **More rows than memory.** With ``max_items`` the memory is at most about 60 bytes per item,
    plus 15 MB. A larger table is replaced by counts of the classes in bins of neighbouring scores,
    from which :meth:`bounds` computes an interval. A second pass over the same batches,
    :meth:`again` and :meth:`update`, keeps the rows of the bins whose order matters: for a measure
    of the top the bins at its cut, for other measures all bins with both classes. It keeps up to
    ``5 * max_items`` rows, half as many with weights; if there are more, further passes are needed
    while ``needs_again`` is True. :meth:`from_batches` makes all passes itself. Bins with one
    class or one score are never read again. ``max_items`` needs a measure of one list of two
    classes that is a sum over ranges of scores. These are all measures with item weights except
    ``ks``, ``negative_height_loss`` with p other than 1 and infinity, ``accuracy_loss@top``,
    ``linear_rank`` with ties that are not averaged, and ``ap`` with ``normalize="found"``. Other
    measures raise an error.

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

    With query ids:

    >>> of_queries = Accumulator("ndcg@2").update([2, 0], [1.0, 2.0], qid=[1, 1])
    >>> of_queries.update([1, 0], [4.0, 3.0], qid=[2, 2]).result().__round__(4)
    0.8155
    """

    def __init__(
        self,
        measure: MeasureLike,
        *,
        max_items: int | None = None,
        queries: Literal["whole", "split"] = "whole",
        pos_label: Any = None,
        overflow: Literal["again", "bounds"] = "again",
    ) -> None:
        self.measure: Measure = get_measure(measure)
        check_choice("queries", queries, ("whole", "split"))
        check_choice("overflow", overflow, ("again", "bounds"))
        self._max_items = inf if max_items is None else check_count("max_items", max_items)
        self._overflow = overflow
        check_classes_known(self.measure)
        self._queries = queries
        self._pos_label = pos_label
        self._classes: dict[bool, Any] = {}
        # Whether rows are of one list, of lists with ids, or of lists in rows of two dimensions.
        self._form: str | None = None
        self._kept: Kept | None = None
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
        """Accumulate all batches of an iterable, in as many passes as needed.

        Parameters
        ----------
        batches : iterable or callable
            Batches, or a function that returns an iterable of them; with ``max_items`` it may be
            called more than once. A batch is a tuple ``(y_true, y_score)`` or
            ``(y_true, y_score, qid)``, or a mapping, data frame or Arrow record batch with the
            columns named below.
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
        >>> Accumulator.from_batches(batches, "auc", max_items=2).result().__round__(4)
        0.8333
        """
        accumulator = cls(measure, **options)
        columns = dict(
            zip(ARGUMENTS, (y_true, y_score, qid, sample_weight, query_weight), strict=True)
        )
        comes_again = callable(batches) or iter(batches) is not batches
        while True:
            for number, batch in enumerate(batches() if callable(batches) else batches):
                accumulator.update(**_arguments_of(batch, columns, number))
                if accumulator._reads_again and not comes_again:
                    raise ValueError(
                        f"Batch {number} exceeds max_items={accumulator._max_items}, so all"
                        " batches are needed once more, but this iterator can be read only once:"
                        " pass a function that returns an iterator of them, a larger max_items, or"
                        " overflow='bounds'."
                    )
            if accumulator._is_reading:
                raise ValueError(
                    f"The batches had fewer rows in a later pass than the {accumulator.n_items} of"
                    " the first pass: pass a function that returns all batches each time."
                )
            if not accumulator.needs_again:
                return accumulator
            accumulator.again()

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
        with _named_update(self._n_updates):
            self._update(y_true, y_score, qid, sample_weight, query_weight)
        self._n_updates += 1
        return self

    def _update(
        self, y_true: Any, y_score: Any, qid: Any, sample_weight: Any, query_weight: Any
    ) -> None:
        part = read_part(
            self.measure,
            y_true,
            y_score,
            qid=qid,
            sample_weight=sample_weight,
            query_weight=query_weight,
            pos_label=self._pos_label,
        )
        lists = part.lists
        if lists is not None:
            if part.form == "rows":
                lists = replace(lists, ids=np.asarray(lists.ids) + self._n_matrix_rows)
            self._check_form(part.form)
            classes = self._joined_classes(part.classes)
            kept = self._new_kept(part.form) if self._kept is None else self._kept
            kept.add(lists, self.measure)
            if not (isinstance(kept, KeptBins) and kept.is_read_again):
                self._n_items += len(lists.labels)
            self._kept, self._form, self._classes = self._bounded(kept), part.form, classes
            if lists.weight is not None:
                self._item_weights = max(self._item_weights, 1 if lists.whole.all() else 2)
        self._n_matrix_rows += part.n_matrix_rows

    def _check_form(self, form: str) -> None:
        if self._form not in (None, form):
            raise ValueError(
                f"This update has {_FORMS[form]}, but earlier updates have"
                f" {_FORMS[str(self._form)]}: pass all updates in one form."
            )

    def _new_kept(self, form: str) -> Kept:
        if form != "list":
            return KeptQueries() if self._queries == "whole" else KeptRows()
        measure = self.measure
        as_rows = getattr(measure, "convention", None) not in (None, "paper")
        all_rows = measure.weights == "none" or measure.by_class or as_rows
        if self._max_items < inf and (all_rows or not is_additive(measure)):
            raise ValueError(
                f"max_items={self._max_items:g} needs a measure of one list of two classes that is"
                f" a sum over blocks of ties or depends on one of them, but {measure.name}"
                f" {_why_not(measure, all_rows)}: leave max_items out."
            )
        return KeptRows() if all_rows else KeptTable(self._max_items)

    def _bounded(self, kept: Kept, *, always: bool = False) -> Kept:
        """Make bins of a table that is too large."""
        if isinstance(kept, KeptTable) and (kept.is_full or always):
            return KeptBins.of_table(kept, int(self._max_items))
        return kept

    def _joined_classes(self, found: dict[bool, Any]) -> dict[bool, Any]:
        for value, label in found.items():
            known = self._classes.get(value, label)
            if known != label:
                raise ValueError(
                    f"y_true has the label {label!r}, but earlier updates had"
                    f" {_listed(self._classes)}: a measure of two classes needs the same two"
                    " labels in all updates."
                )
        return {**self._classes, **found}

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
        for name in ("measure", "_pos_label", "_queries", "_max_items", "_overflow"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(
                    f"The accumulators have {name.lstrip('_')}={mine!r} and {theirs!r}: make both"
                    " with the same arguments."
                )
        if other._kept is None or other._form is None:
            self._n_matrix_rows += other._n_matrix_rows
            return self
        self._check_form(other._form)
        classes = self._joined_classes(other._classes)
        kept = self._new_kept(other._form) if self._kept is None else self._kept
        theirs = other._kept
        if isinstance(kept, KeptBins) or isinstance(theirs, KeptBins):
            kept, theirs = (self._bounded(one, always=True) for one in (kept, theirs))
        if other._form == "rows" and self._n_matrix_rows:
            theirs = theirs.shifted(self._n_matrix_rows)
        kept.merge(theirs)
        self._kept, self._form, self._classes = self._bounded(kept), other._form, classes
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
            If there is no row, or if more rows than ``max_items`` were binned and the bins do not
            determine the value; see :attr:`needs_again`.
        """
        kept = self._some_kept()
        if isinstance(kept, KeptBins) and kept.needs_again(self.measure):
            known = f"{self.measure.name} of {self.n_items} rows is not determined by max_items"
            if self._overflow == "bounds":
                raise ValueError(
                    f"{known}: use bounds() for an interval that contains it, or pass"
                    " overflow='again' and the rows more than once."
                )
            raise ValueError(
                f"{known}: call again() and pass the same batches to update() once more, until"
                " needs_again is False; from_batches does this for batches that can be read again."
            )
        return kept.result(self.measure)

    @property
    def needs_again(self) -> bool:
        """Whether the exact result needs another pass over all rows, after :meth:`again`."""
        kept = self._kept
        if not isinstance(kept, KeptBins) or self._overflow != "again":
            return False
        return kept.needs_again(self.measure)

    def again(self) -> Accumulator:
        """Begin another pass over all rows, if there are more than ``max_items``.

        Returns
        -------
        Accumulator
            The accumulator itself.
        """
        if not isinstance(self._kept, KeptBins) or not self.needs_again:
            raise ValueError("No further pass is needed: call result() or bounds().")
        self._kept.again(self.measure)
        return self

    def bounds(self) -> tuple[float, float]:
        """Compute an interval that contains the exact value of the measure.

        Returns
        -------
        low, high : float
            Both are the result if it is known. Otherwise each bin of neighbouring scores has all
            its positives below its negatives for ``low``, and above them for ``high``.
        """
        kept = self._some_kept()
        if isinstance(kept, KeptBins) and kept.needs_again(self.measure):
            return kept.bounds(self.measure)
        return (self.result(),) * 2

    def _some_kept(self) -> Kept:
        if self._kept is None:
            raise ValueError(
                f"The accumulator has no rows to evaluate {self.measure.name} on: pass rows to"
                " update()."
            )
        return self._kept

    @property
    def n_items(self) -> int:
        """Number of rows so far, not counting rows of weight 0."""
        return self._n_items

    @property
    def item_weights(self) -> Literal["none", "whole", "real"]:
        """Weights of the items so far: none, whole numbers or others."""
        kinds: tuple[Literal["none", "whole", "real"], ...] = ("none", "whole", "real")
        return kinds[self._item_weights]

    @property
    def table(self) -> ScoreTable | None:
        """Distinct rows of one list; None if no such table is kept."""
        return self._kept.table if isinstance(self._kept, KeptTable) else None

    @property
    def query_values(self) -> QueryValues | None:
        """Values of the queries by ascending id; None if no such values are kept."""
        return self._kept.values if isinstance(self._kept, KeptQueries) else None

    @property
    def _reads_again(self) -> bool:
        return isinstance(self._kept, KeptBins) and self._overflow == "again"

    @property
    def _is_reading(self) -> bool:
        return isinstance(self._kept, KeptBins) and self._kept.is_reading

    def __repr__(self) -> str:
        return f"Accumulator({self.measure.name!r}, n_items={self.n_items})"


_FORMS = {
    "list": "rows of one list, without qid",
    "ids": "rows with qid",
    "rows": "one list per row, in two dimensions",
}


def _why_not(measure: Measure, all_rows: bool) -> str:
    if measure.kind != "binary" or measure.by_class:
        return "takes grades" if measure.kind == "graded" else "takes more than two classes"
    return "is computed from single rows" if all_rows else "is neither"


def _listed(classes: dict[bool, Any]) -> str:
    return " and ".join(repr(label) for label in classes.values())


@contextmanager
def _named_update(number: int) -> Iterator[None]:
    """Prefix errors with the number of the update."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if len(error.args) == 1:
            error.args = (f"In update {number}: {error}",)
        raise


def _arguments_of(batch: Any, columns: Mapping[str, str | None], number: int) -> dict[str, Any]:
    """Arguments of :meth:`Accumulator.update` from a batch of any kind."""
    if isinstance(batch, tuple | list):
        if len(batch) not in (2, 3):
            raise ValueError(
                f"Batch {number} is a tuple of length {len(batch)}: pass (y_true, y_score),"
                " (y_true, y_score, qid), or a mapping from argument names."
            )
        return dict(zip(ARGUMENTS, batch, strict=False))
    named = {argument: name for argument, name in columns.items() if name is not None}
    if isinstance(batch, Mapping):
        named = {name: name for name in ARGUMENTS if name in batch} | named
    try:
        return {argument: _column(batch, name) for argument, name in named.items()}
    except (KeyError, TypeError, AttributeError):
        raise ValueError(
            f"Batch {number}, a {type(batch).__name__}, has no columns {list(named.values())}:"
            " pass their names, as y_true='label', y_score='score'."
        ) from None


def _column(batch: Any, name: str) -> Any:
    # Record batches and tables of Arrow have no columns by [].
    return batch.column(name) if hasattr(batch, "column") else batch[name]
