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
from ._of_collections import (
    KeptQueries,
    KeptRows,
    KeptValues,
    read_part,
)
<<<<<<< HEAD
from ._ranges import ScoreTable
=======
from ._ranges import Cells, ScoreTable, SingleWeights, is_additive

# The sign, the exponent and 6 more bits of a score make a bin at first.
ROOT_BITS = 18
# Bins into which a bin that is too large is divided, as a power of 2.
NODE_BITS = 14

# Rows that are counted at once.
CHUNK = 2**16

# What happens to the rows of a bin: they are counted, kept, or count no more.
COUNT, TAKE, REST, DONE = -1, -2, -3, -4

# Entries that are no bins: rows that are kept now, and rows whose order has been seen.
KEPT, SEEN = -1, -2

_ENDS = (np.iinfo(np.int64).max, np.iinfo(np.int64).min)


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins that hold rows, by ascending score."""

    low: IntArray  # (n,): Lowest code of a row of each
    high: IntArray  # (n,): Highest code
    mass: FloatArray  # (n, 2): Weights of the negatives and of the positives of each
    n_rows: IntArray  # (n,): Number of rows of each, or fewer where equal rows came as one
    bin: IntArray  # (n,): Bin that each is; KEPT or SEEN for what is a part of one

    def __len__(self) -> int:
        return len(self.low)

    def at(self, which: AnyArray) -> Bins:
        return Bins(*(column[which] for column in vars(self).values()))

    @classmethod
    def join(cls, parts: list[Bins]) -> Bins:
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        cells = cls(*map(np.concatenate, columns))
        return cells.at(np.argsort(cells.low))

    @property
    def mixed(self) -> BoolArray:
        """Which hold both classes at more than one score, in an order that is not known."""
        return (self.mass > 0).all(axis=1) & (self.low < self.high) & (self.bin >= 0)


class TakenRows:
    """Rows of the bins of which all are kept, class by class."""

    def __init__(self, n_neg: int, n_pos: int, weighted: bool) -> None:
        self.taken = np.zeros(2, dtype=np.int64)
        self.codes = [np.empty(n, dtype=np.int64) for n in (n_neg, n_pos)]
        # Of rows without weights there is no entry.
        self.weights = [np.empty(n + 1 if weighted else 0) for n in (n_neg, n_pos)]

    def take(self, label: int, codes: IntArray, weight: FloatArray | float) -> None:
        """Keep rows of a class, in twice the room where there is too little."""
        start, stop = int(self.taken[label]), int(self.taken[label]) + len(codes)
        for columns, values in ((self.codes, codes), (self.weights, weight)):
            column: Any = columns[label]
            if columns is self.weights and not len(column):
                continue
            if stop > len(column):
                columns[label] = column = np.resize(column, 2 * stop)
            column[start:stop] = values
        self.taken[label] = stop

    def sort(self) -> None:
        for label, n in enumerate(self.taken.tolist()):
            self.codes[label] = self.codes[label][:n]
            if len(self.weights[label]):
                order = np.argsort(self.codes[label])
                self.codes[label] = self.codes[label][order]
                # From here on the sums of the weights below each row.
                self.weights[label] = np.append(0.0, np.cumsum(self.weights[label][:n][order]))
            else:
                self.codes[label].sort()

    def below(self, codes: AnyArray, side: Literal["left", "right"] = "left") -> FloatArray:
        """Weights of the classes in the sorted rows below codes. Shape (n_codes, 2)."""
        places = [np.searchsorted(of_class, codes, side) for of_class in self.codes]
        columns = zip(self.weights, places, strict=True)
        sums = [weights[place] if len(weights) else place for weights, place in columns]
        return np.stack(sums, axis=1).astype(np.float64, copy=False)

    def cells(self, low: IntArray, high: IntArray) -> Bins:
        counts = (
            np.searchsorted(one, high, "right") - np.searchsorted(one, low) for one in self.codes
        )
        mass = self.below(high, "right") - self.below(low)
        return Bins(low, high, mass, np.sum(list(counts), axis=0), np.full(len(low), KEPT))

    def blocks(self, low: int, high: int, whole: Bins) -> FloatArray:
        """Weights of the classes in blocks of ties, ascending; neighbours of one class are one."""
        inside = [one[slice(*np.searchsorted(one, [low, high + 1]))] for one in self.codes]
        codes = np.sort(np.concatenate([min(inside, key=len), whole.low]), kind="stable")
        # Between these are rows of the other class alone.
        codes = codes[np.diff(codes, prepend=low - 1) > 0]
        bounds = np.stack([self.below(codes), self.below(codes, "right")], axis=1).reshape(-1, 2)
        ends = self.below(np.array([low])), self.below(np.array([high]), "right")
        blocks = np.diff(bounds, axis=0, prepend=ends[0], append=ends[1])
        blocks[1 + 2 * np.searchsorted(codes, whole.low)] += whole.mass
        return blocks


# Rows that are evaluated at once.
SLICE = 2**17
# Sums of the weights of the same rows in another order differ by no larger share.
SAME = 1e-9
# Rows kept in a pass for each item of a table: a row is smaller, and sorted in place.
ROWS_PER_ITEM = 5


class KeptBins:
    """One list, as weights of the classes in bins of scores.

    A bin holds the scores whose codes begin with the same bits; one that is too large for its rows
    to be kept is divided by further bits. It takes 14 MB, and 1 more for each division.
    """

    def __init__(self, max_items: int) -> None:
        self._room = ROWS_PER_ITEM * max_items
        self._shift, self._base, self._first, self._child = np.empty((4, 0), dtype=np.int64)
        self._count, self._ends = np.empty((2, 0, 2), dtype=np.int64)
        self._mass = np.empty((0, 2))
        self._add_node(64 - ROOT_BITS, -(2**ROOT_BITS) // 2, 2**ROOT_BITS)
        self._single = SingleWeights(0)
        # Of rows that come again: those that are kept, how many came, and what is done with.
        self._rows: TakenRows | None = None
        self._n_again = 0
        self.is_read_again = False
        self._opened: Bins | None = None
        self._masses = np.zeros(2)
        self._done: list[Bins] = []
        self._added = 0.0

    @classmethod
    def of_table(cls, kept: KeptRows, max_items: int) -> KeptBins:
        bins = cls(max_items)
        table = kept.table
        bins._count_rows(table.score, table.labels, table.weight)
        bins._single |= table.single
        if not bins._is_weighted:
            # The weights are numbers of rows.
            bins._count = bins._mass.astype(np.int64)
        return bins

    @property
    def _is_weighted(self) -> bool:
        return self._single.lightest != 1.0 or self._single.heaviest != 1.0

    def _add_node(self, shift: int, base: int, n_bins: int) -> None:
        self._shift = np.append(self._shift, shift)
        self._base = np.append(self._base, base)
        self._first = np.append(self._first, len(self._child))
        self._child = np.append(self._child, np.full(n_bins, COUNT))
        self._count = np.concatenate([self._count, np.zeros((n_bins, 2), dtype=np.int64)])
        self._mass = np.concatenate([self._mass, np.zeros((n_bins, 2))])
        self._ends = np.concatenate([self._ends, np.tile(np.array(_ENDS), (n_bins, 1))])

    def add(self, lists: ScoredLists, measure: Measure) -> None:
        n = len(lists.labels)
        if self.is_read_again and (self._rows is None or self._n_again + n > self._single.n_rows):
            raise ValueError(
                f"This pass already has all {self._single.n_rows} rows: call again() before"
                " another pass, and pass the same batches each time."
            )
        measure._check_row_weights(lists)
        self._opened = None
        self._count_rows(lists.score, lists.labels, lists.weight)
        if self._rows is None:
            self._single |= SingleWeights.of_rows(n, lists.weight)
            return
        self._n_again += n
        if self._n_again == self._single.n_rows:
            self._finish(measure, self._rows)

    def _count_rows(self, score: AnyArray, positive: BoolArray, weight: FloatArray | None) -> None:
        """Count rows, and keep those of the bins of which all are kept."""
        for start in range(0, len(score), CHUNK):
            # Some at a time, whose copies in another type take no memory.
            part = slice(start, start + CHUNK)
            self._count_part(
                np.ascontiguousarray(score[part], dtype=np.float64).view(np.int64),
                positive[part].astype(np.int64),
                None if weight is None else weight[part],
            )

    def _count_part(self, bits: IntArray, label: IntArray, weight: FloatArray | None) -> None:
        """Send rows down the tree; ``bits`` are those of the scores, ordered as codes."""
        most = np.iinfo(np.int64).max
        code = np.where(bits == ~most, 0, bits)  # one zero of both
        code ^= (code >> 63) & most
        bins = self._first[0] + (code >> self._shift[0]) - self._base[0]
        what = self._child[bins]
        while len(below := np.flatnonzero(what >= 0)):
            node = what[below]
            bins[below] = self._first[node] + (code[below] >> self._shift[node]) - self._base[node]
            what[below] = self._child[bins[below]]
        index: Any = slice(None) if np.all(what == COUNT) else what == COUNT
        counted, codes = bins[index], code[index]
        of_class = 2 * counted + label[index]
        np.add.at(self._count.reshape(-1), of_class, 1)
        np.add.at(self._mass.reshape(-1), of_class, 1.0 if weight is None else weight[index])
        np.minimum.at(self._ends[:, 0], counted, codes)
        np.maximum.at(self._ends[:, 1], counted, codes)
        for number in (0, 1) if self._rows is not None else ():
            kept = (what == TAKE) & (label == number)
            self._rows.take(number, code[kept], 1.0 if weight is None else weight[kept])

    def merge(self, other: KeptBins) -> None:
        """Add the rows of other bins; neither has a bin that was divided."""
        if self.is_read_again or other.is_read_again:
            raise ValueError(
                "One of the accumulators is in another pass: merge accumulators before again()."
            )
        self._opened = None
        self._count += other._count
        self._mass += other._mass
        low, high = other._ends.T
        np.minimum(self._ends[:, 0], low, out=self._ends[:, 0])
        np.maximum(self._ends[:, 1], high, out=self._ends[:, 1])
        self._single |= other._single

    # ------------------------------------------------------------------------ what comes again

    @property
    def is_reading(self) -> bool:
        """Whether the pass since the last call of :meth:`again` lacks some rows."""
        return self._rows is not None

    def again(self, measure: Measure) -> None:
        if self._rows is not None:
            counting = self._child == COUNT
            self._count[counting] = 0
            self._mass[counting] = 0.0
            self._ends[counting] = _ENDS
            self._rows.taken[:] = 0
            self._n_again = 0
            return
        self._masses = self._leaf_masses()
        cells = self._open(measure)
        large = cells.n_rows > self._room
        fits = np.cumsum(np.where(large, 0, cells.n_rows)) <= self._room
        taken = cells.bin[fits & ~large]
        self._child[(self._child < 0) & (self._child > DONE)] = REST
        self._child[taken] = TAKE
        for number in cells.bin[large].tolist():
            self._divide(number)
        n_neg, n_pos = self._count[taken].sum(axis=0).tolist()
        self._rows = TakenRows(n_neg, n_pos, self._is_weighted)
        self._n_again, self.is_read_again = 0, True

    def _divide(self, number: int) -> None:
        low, high = self._ends[number].tolist()
        shift = 0
        while (high >> shift) - (low >> shift) >= 2**NODE_BITS:
            shift += 1
        base = low >> shift
        self._child[number] = len(self._shift)
        self._add_node(shift, base, (high >> shift) - base + 1)

    def _leaf_masses(self) -> FloatArray:
        """Weights of the negatives and of the positives, whatever has been divided."""
        return self._mass[self._child < 0].sum(axis=0)

    def _is_taken(self, bins: IntArray) -> BoolArray:
        return (bins >= 0) & (self._child[np.maximum(bins, 0)] == TAKE)

    def needs_again(self, measure: Measure) -> bool:
        return self._rows is not None or len(self._open(measure)) > 0

    def _cells(self) -> Bins:
        bins = np.flatnonzero((self._child < 0) & (self._child > DONE) & self._count.any(axis=1))
        low, high = self._ends[bins].T
        cells = Bins(low, high, self._mass[bins], self._count[bins].sum(axis=1), bins)
        return Bins.join([cells, *self._done])

    def _open(self, measure: Measure) -> Bins:
        """Bins with rows whose order is unknown and changes the value."""
        if self._opened is not None:
            return self._opened
        cells = self._cells()
        is_open = Cells(cells.mass, self._single).open(measure, cells.mixed, cells.n_rows)
        self._opened = cells.at(is_open)
        return self._opened

    # ---------------------------------------------------------------------------- what it adds

    def _finish(self, measure: Measure, rows: TakenRows) -> None:
        """Add what the order of the rows that were kept adds to the value."""
        rows.sort()
        cells = self._cells()
        self._check_same(rows, cells)
        cells = _cut(cells, self._is_taken(cells.bin), rows)
        taken, masses = cells.bin == KEPT, Cells(cells.mass, self._single)
        size = np.where(taken, cells.n_rows, 0) + 1
        edges = np.unique(np.append(np.arange(0, size.sum(), SLICE), size.sum()))
        edges = np.unique(np.searchsorted(np.append(0, np.cumsum(size)), edges))
        for start, stop in pairwise(edges.tolist()):
            part = slice(start, stop)
            if not taken[part].any():
                continue
            whole = cells.at(np.arange(start, stop)[~taken[part]])
            blocks = rows.blocks(int(cells.low[start]), int(cells.high[stop - 1]), whole)
            fine = masses.value(measure, part, blocks)
            coarse = masses.value(measure, part, cells.mass[part])
            self._added += fine - coarse
        self._child[self._child == TAKE] = DONE
        done = cells.at(taken)
        self._done.append(replace(done, bin=np.full(len(done), SEEN)))
        self._rows = None

    def _check_same(self, rows: TakenRows, cells: Bins) -> None:
        taken = self._is_taken(cells.bin)
        expected = [*self._masses, *cells.mass[taken].sum(axis=0)]
        highest = np.array([np.iinfo(np.int64).max])
        masses = [*self._leaf_masses(), *rows.below(highest, "right")[0]]
        if not np.allclose(expected, masses, rtol=SAME, atol=0.0):
            raise ValueError(
                "The rows of this pass differ from those of the first pass: call again(), and pass"
                " the same batches each time."
            )

    # --------------------------------------------------------------------------------- results

    def result(self, measure: Measure) -> float:
        cells = self._cells()
        lists = ScoreTable.of_blocks(cells.mass, self._single)
        return float(np.clip(value_of_rows(lists, measure) + self._added, *measure.range))

    def bounds(self, measure: Measure) -> tuple[float, float]:
        cells = self._cells()
        whole = slice(0, len(cells))
        extremes = Cells(cells.mass, self._single).extremes(measure, cells.mixed, whole)
        low, high = np.clip(np.sort(extremes) + self._added, *measure.range).tolist()
        return low, high


def _cut(cells: Bins, taken: BoolArray, rows: TakenRows) -> Bins:
    """Cut the cells whose rows are kept into parts that can be evaluated at once."""
    kept = cells.at(taken)
    low = np.unique(np.concatenate([kept.low, *(codes[:: SLICE // 2] for codes in rows.codes)]))
    high = kept.high[np.searchsorted(kept.low, low, "right") - 1]
    high[:-1] = np.minimum(high[:-1], low[1:] - 1)
    parts = rows.cells(low, high)
    return Bins.join([cells.at(~taken), parts])

>>>>>>> 83aaefe4 (numba is the extra [fast]: array operations do everything without it)

ARGUMENTS = ("y_true", "y_score", "qid", "sample_weight", "query_weight")


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
        columns = dict(
            zip(ARGUMENTS, (y_true, y_score, qid, sample_weight, query_weight), strict=True)
        )
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
            raise ValueError(
                f"This update has {_FORMS[form]}, but earlier updates have"
                f" {_FORMS[str(self._form)]}: pass all updates in one form."
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
        if other._kept is None or other._form is None:
            self._n_matrix_rows += other._n_matrix_rows
            return self
        kept, classes = self._fit(other._form, other._classes)
        theirs = other._kept
        if other._form == "rows" and self._n_matrix_rows:
            theirs = theirs.shift_ids(self._n_matrix_rows)
        kept.merge(theirs)
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


_FORMS = {
    "list": "rows of one list, without qid",
    "ids": "rows with qid",
    "rows": "one list per row, in two dimensions",
}


def _arguments_of(batch: Any, columns: Mapping[str, str | None], number: int) -> dict[str, Any]:
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
        # Record batches and tables of Arrow have no columns by [].
        column = batch.column if hasattr(batch, "column") else batch.__getitem__
        return {argument: column(name) for argument, name in named.items()}
    except (KeyError, TypeError, AttributeError):
        raise ValueError(
            f"Batch {number}, a {type(batch).__name__}, has no columns {list(named.values())}:"
            " pass their names, as y_true='label', y_score='score'."
        ) from None
