"""A measure of data that come in parts, and of parts that are on several machines."""

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

__all__ = ["Accumulator"]

ARGUMENTS = ("y_true", "y_score", "qid", "sample_weight", "query_weight")


class Accumulator:
    """A measure of rows that come in parts, in any order and split in any way.

    The result is that of the measure on all rows together, to rounding: no sample, no bins, ties
    across parts included. Parts may be accumulated apart, pickled, and merged as a tree.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, as :func:`get_measure` reads it.
    max_items : int or None, default=None
        Number of distinct rows of one list for which there is room; None is no limit. More of
        them become bins, and the result needs the rows again; see Notes.
    queries : {"whole", "split"}, default="whole"
        Whether all rows of a query come in one update, so that its value is all that is kept, or
        rows of one query may come in several, so that all rows are kept until :meth:`result`.
    pos_label : int, float, bool or str, default=None
        The positive class, as the function of the measure takes it; None is 1 for labels among 0
        and 1 or among -1 and 1.
    overflow : {"again", "bounds"}, default="again"
        Whether rows that are more than ``max_items`` come again for the exact result, or once only
        for an interval that holds it, :meth:`bounds`.

    Attributes
    ----------
    measure : Measure
        The measure.
    n_items : int
        Number of rows so far, without those of weight 0.
    table : object or None
        Distinct rows of one list, ascending: arrays ``score``, ``label`` and ``weight``. None
        where that is not what is kept.
    needs_again : bool
        Whether the result needs all rows once more.
    query_values : object or None
        Values of queries: arrays ``ids``, ascending, ``values`` and ``query_weight``. None where
        these are not what is kept.

    See Also
    --------
    get_measure : The same of data in memory.

    Notes
    -----
    What is kept depends on the measure and on the ids of queries:

    - without ``qid`` all rows are one list, of which each pair of a score and a label is kept
      once, with the number of its rows: at most the bytes of a score and 1 for the class, or 8
      for the grade, of each row; 8 more where rows are equal or weighted;
    - with ``qid``, and for labels in two dimensions, one list per row, the value of each query is
      kept, with its id and its weight: 16 to 24 bytes. A query that comes again is refused;
    - with ``queries="split"``, for measures that take no weights of items (``Measure.weights`` is
      "none"), of other systems (``convention=``) and of more than two classes, all rows are kept.
      Where such a measure has tied items in the order of the rows, that is the order of updates,
      those of ``merge`` last.

    n rows take time O(n log n), however many updates bring them, and up to three times the memory
    of what is kept while two tables are merged. A part may hold one class only, or nothing; which
    classes there are is checked over all parts. An update that is refused changes nothing.
    Relevant items that are not among the rows (``n_relevant``, ``ideal``) are not taken.
    A warning of the measure about single queries, such as one of a small top, comes with the
    update that brings them; that of undefined ones with the result.

    **More rows than memory.** With ``max_items`` the memory is at most about 60 bytes for each of
    these, and 15 MB. A table of more items becomes counts of the classes in bins of neighbouring
    scores, which hold the value between two :meth:`bounds`. A second pass over the same batches,
    :meth:`again` and :meth:`update`, keeps the rows of the bins whose order counts: for a measure
    of the top those at its cut, for others those of all bins with both classes. It has room for
    ``5 * max_items`` of them, half as many with weights; if they are more, there are further
    passes while ``needs_again`` is True. :meth:`from_batches` makes all passes itself. Bins of one
    class, or of one score, are never read again. This needs a measure of one list of two classes
    in which ranges of scores add up: all that take weights but ``ks``, ``negative_height_loss``
    with p other than 1 and infinity, ``accuracy_loss@top``, ``linear_rank`` with ties that are
    not averaged, and ``ap`` with ``normalize="found"``. Others are refused.

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

    Of queries the values are kept:

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
            Batches, or a function that returns an iterable of them, which ``max_items`` may need
            more than once. A batch is a tuple of labels
            and scores, or of these and ids; or a mapping, data frame or record batch of Arrow with
            the columns named below.
        measure : str, Measure, ScoreGeneratingFunction or callable
            The measure.
        y_true, y_score : str
            Names of the columns of labels and scores.
        qid, sample_weight, query_weight : str or None, default=None
            Names of these columns. None leaves them out, but a mapping may have them under the
            names of the arguments.
        **options : dict
            Other arguments of the class.

        Returns
        -------
        Accumulator
            The accumulator of all batches.

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
                        f"Batch {number} brought more items than max_items="
                        f"{accumulator._max_items}, whose measure needs all batches once more, and"
                        " these can be read once: pass a function that returns an iterator of"
                        " them, a larger max_items, or overflow='bounds'."
                    )
            if accumulator._is_reading:
                raise ValueError(
                    f"The batches had fewer rows than the {accumulator.n_items} of the first time"
                    " when they were read again: pass a function that returns all of them each"
                    " time."
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
            Labels; in two dimensions one list per row, where NaN is no item. May be empty.
        y_score : array-like of the same shape
            Scores.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Either all updates have ids or none.
        sample_weight : array-like of the same shape as labels, default=None
            Non-negative weights; None is 1 for each.
        query_weight : array-like of shape (n_samples,), default=None
            Weight in the mean of the query of each row; in two dimensions one for each list.

        Returns
        -------
        Accumulator
            Itself.
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
        self._n_matrix_rows += part.n_matrix_rows

    def _check_form(self, form: str) -> None:
        if self._form not in (None, form):
            raise ValueError(
                f"These rows are {_FORMS[form]}, and those so far {_FORMS[str(self._form)]}: pass"
                " all updates in one form."
            )

    def _new_kept(self, form: str) -> Kept:
        if form != "list":
            return KeptQueries() if self._queries == "whole" else KeptRows()
        measure = self.measure
        as_rows = getattr(measure, "convention", None) not in (None, "paper")
        all_rows = measure.weights == "none" or measure.by_class or as_rows
        if self._max_items < inf and (all_rows or not is_additive(measure)):
            raise ValueError(
                f"max_items={self._max_items:g} is for measures of one list of two classes that"
                f" are sums over its tied blocks or depend on one of them, and {measure.name} is"
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
                    f"y_true has the label {label!r} where updates so far had"
                    f" {_listed(self._classes)}: a measure of two classes needs the same two in"
                    " all updates; pass labels that are read alike."
                )
        return {**self._classes, **found}

    # ------------------------------------------------------------------------------------ results

    def merge(self, other: Accumulator) -> Accumulator:
        """Add what another accumulator has.

        Parameters
        ----------
        other : Accumulator
            One of the same measure, which is not changed.

        Returns
        -------
        Accumulator
            Itself. Results do not depend on the order of merges, but for rounding.
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
        self._n_updates += other._n_updates
        self._n_matrix_rows += other._n_matrix_rows
        return self

    def result(self) -> float:
        """Evaluate the measure on all rows so far.

        Returns
        -------
        float
            The value that the measure has of all rows together, to rounding.

        Raises
        ------
        ValueError
            If there is no row, or the rows were more than ``max_items`` and their bins do not
            tell the value: see :attr:`needs_again`.
        """
        kept = self._some_kept()
        if isinstance(kept, KeptBins) and kept.needs_again(self.measure):
            known = f"{self.measure.name} of {self.n_items} rows is not known from max_items"
            if self._overflow == "bounds":
                raise ValueError(
                    f"{known}: bounds() has an interval that holds it; for the value pass"
                    " overflow='again' and the rows more than once."
                )
            raise ValueError(
                f"{known}: call again() and pass the same batches to update() once more, while"
                " needs_again is True; from_batches does that for batches that can be read again."
            )
        return kept.result(self.measure)

    @property
    def needs_again(self) -> bool:
        """Whether the result needs all rows once more, after :meth:`again`."""
        kept = self._kept
        if not isinstance(kept, KeptBins) or self._overflow != "again":
            return False
        return kept.needs_again(self.measure)

    def again(self) -> Accumulator:
        """Be ready for all rows once more, which a result of more than ``max_items`` needs.

        Returns
        -------
        Accumulator
            Itself.
        """
        if not isinstance(self._kept, KeptBins) or not self.needs_again:
            raise ValueError("No row is needed again: result() or bounds() has what is known.")
        self._kept.again(self.measure)
        return self

    def bounds(self) -> tuple[float, float]:
        """Find values between which the measure lies.

        Returns
        -------
        low, high : float
            The result twice, where it is known. Else the values with all positives of each bin of
            neighbouring scores below the negatives of the bin, and above them.
        """
        kept = self._some_kept()
        if isinstance(kept, KeptBins) and kept.needs_again(self.measure):
            return kept.bounds(self.measure)
        return (self.result(),) * 2

    def _some_kept(self) -> Kept:
        if self._kept is None:
            raise ValueError(
                f"There is no row to evaluate {self.measure.name} on: pass some to update()."
            )
        return self._kept

    @property
    def n_items(self) -> int:
        """Number of rows so far, without those of weight 0."""
        return self._n_items

    @property
    def table(self) -> ScoreTable | None:
        """Distinct rows of one list; None where that is not what is kept."""
        return self._kept.table if isinstance(self._kept, KeptTable) else None

    @property
    def query_values(self) -> QueryValues | None:
        """Values of queries by ascending id; None where these are not what is kept."""
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
    "list": "one list, without qid",
    "ids": "of queries, with qid",
    "rows": "one list in each row of two dimensions",
}


def _why_not(measure: Measure, all_rows: bool) -> str:
    if measure.kind != "binary" or measure.by_class:
        return "of grades" if measure.kind == "graded" else "of more than two classes"
    return "computed from single rows" if all_rows else "neither"


def _listed(classes: dict[bool, Any]) -> str:
    return " and ".join(repr(label) for label in classes.values())


@contextmanager
def _named_update(number: int) -> Iterator[None]:
    """Say in errors which update they are of."""
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
                f"Batch {number} has {len(batch)} parts: pass (y_true, y_score), (y_true, y_score,"
                " qid), or a mapping from names of arguments."
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
