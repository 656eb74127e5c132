"""Rows grouped into lists, one list per query: the internal form of ranked data.

A list is the items of one query, a run of consecutive rows here, wherever its rows stood before.
Rows of weight 0 are absent. Everything that works list by list, metrics, losses, rankers and
inference, takes this type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from ._order import (
    ClassBlocks,
    changes,
    class_blocks,
    leading,
    offsets_from,
    ragged_ranges,
    stable_order,
    top_class_blocks,
)
from ._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._validation import (
    CheckedRows,
    Coded,
    are_fractions,
    check_grades,
    check_positive,
    check_rows,
    check_scores_of_rows,
    distinct_codes,
    refuse_marks,
    take,
)
from ._warn import is_called_by, warn
from .exceptions import QueryOverlapWarning, QuerySetupError, SingleListWarning

# Number of queries that a ranker remembers; of more queries it keeps the smallest hashes.
MAX_REMEMBERED = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class TrainingQueries:
    """Queries that a ranker was trained on."""

    hashes: AnyArray
    n_rows: IntArray  # (n_remembered,): Number of rows of positive weight of each
    digests: AnyArray
    threshold: int = 2**64 - 1  # Largest hash that is remembered

    @classmethod
    def of(cls, ids: AnyArray | None, offsets: IntArray, labels: FloatArray) -> TrainingQueries:
        """Remember queries from their rows, query by query."""
        if ids is None:
            return cls(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint64))
        hashes = _hashes_of_ids(ids)
        order = np.argsort(hashes)
        return cls(hashes[order], np.diff(offsets)[order], _digests(labels, offsets)[order]).cut()

    def cut(self) -> TrainingQueries:
        """Forget all but the smallest hashes where there are many."""
        n = MAX_REMEMBERED
        if len(self.hashes) <= n:
            return self
        hashes = self.hashes[:n]
        return TrainingQueries(hashes, self.n_rows[:n], self.digests[:n], int(hashes[-1]))

    def joined(self, other: TrainingQueries) -> TrainingQueries:
        """Add the queries of another batch."""
        hashes, places = np.unique(np.append(self.hashes, other.hashes), return_inverse=True)
        at, at_other = places[: len(self.hashes)], places[len(self.hashes) :]
        n_rows, digests = np.zeros(len(hashes), np.int64), np.zeros(len(hashes), np.uint64)
        n_rows[at], digests[at] = self.n_rows, self.digests
        new = (n_rows[at_other] != other.n_rows) | (digests[at_other] != other.digests)
        n_rows[at_other[new]] += other.n_rows[new]
        digests[at_other[new]] += other.digests[new]
        threshold = min(self.threshold, other.threshold)
        n = int(np.searchsorted(hashes, np.uint64(threshold), "right"))
        return TrainingQueries(hashes[:n], n_rows[:n], digests[:n], threshold).cut()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainingQueries) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("hashes", "n_rows", "digests", "threshold")
        )

    __hash__ = None  # type: ignore[assignment] # equal by their arrays

    def __repr__(self) -> str:
        rest = "" if self.threshold == type(self).threshold else " of more"
        return f"<TrainingQueries: {len(self.hashes)}{rest}>"


@dataclass(frozen=True)
class Overlap:
    """How many of some queries that are scored were trained on."""

    n_queries: int  # Number of queries that are scored
    n_judged: int  # Of how many it is known whether they were trained on
    n_seen: int  # How many of these were
    n_same: int  # How many of these have the same rows
    n_cut: int  # How many of these have another number of rows
    with_other_rows: tuple[Any, ...]
    with_same_rows: tuple[Any, ...]

    @classmethod
    def of(
        cls, trained: TrainingQueries, ids: AnyArray, offsets: IntArray, labels: FloatArray
    ) -> Overlap:
        """Compare queries with those that were trained on."""
        hashes = _hashes_of_ids(ids)
        judged = np.flatnonzero(hashes <= np.uint64(trained.threshold))
        if len(judged) == 0 or len(trained.hashes) == 0:
            return cls(len(ids), 0, 0, 0, 0, (), ())
        hashes = hashes[judged]
        places = np.minimum(np.searchsorted(trained.hashes, hashes), len(trained.hashes) - 1)
        seen = trained.hashes[places] == hashes
        cut = seen & (trained.n_rows[places] != np.diff(offsets)[judged])
        same = seen & ~cut
        same &= trained.digests[places] == _digests(labels, offsets)[judged]
        examples = (ids[judged[mask][:3]].tolist() for mask in (seen & ~same, same))
        n_seen, n_same, n_cut = (int(mask.sum()) for mask in (seen, same, cut))
        return cls(len(ids), len(judged), n_seen, n_same, n_cut, *map(tuple, examples))

    def __add__(self, other: Overlap) -> Overlap:
        names = [field.name for field in fields(self)]
        return Overlap(*(getattr(self, name) + getattr(other, name) for name in names))


def check_overlap(overlap: Overlap, name: str) -> None:
    """Warn where some of the queries that are scored were trained on, but it is no training score.

    Where most of them have other rows, more or fewer in some, a splitter has cut them.
    """
    if not overlap.n_seen or overlap.n_same == overlap.n_judged:
        return
    examples = overlap.with_other_rows or overlap.with_same_rows
    listed = ", ".join(map(repr, examples[:3]))
    n_other = overlap.n_seen - overlap.n_same
    note = "" if overlap.n_judged == overlap.n_queries else " (judged by a sample of the ids)"
    # Other labels of the same rows leave all their numbers as they were.
    cut = overlap.n_cut > 0 and 2 * n_other > overlap.n_judged
    on, n = ("on other rows of", n_other) if cut else ("on", overlap.n_seen)
    how = f", {n_other} of them with other rows" if n_other and not cut else ""
    message = (
        f"{name} was trained {on} {n} of the {overlap.n_judged} queries that it is scored"
        f" on{note}{how}, such as {listed}: the score does not estimate its performance on new"
        " queries. Split by whole queries (cv=QueryKFold() of sklearn_rank.model_selection, or"
        " cv=GroupKFold() with groups=qid); if the two sets number their queries independently,"
        " give them different ids."
    )
    if cut:
        raise QuerySetupError(message)
    warn(message, QueryOverlapWarning)


def _hashes_of_ids(ids: AnyArray) -> AnyArray:
    """Hash ids of any type to 64 bits; equal numbers have one hash, whatever their type."""
    if ids.dtype.kind in "mM":
        ids = ids.astype(f"{ids.dtype.kind}8[ns]").astype(np.int64).astype(str)
    if ids.dtype.kind in "biu":
        return _mix(ids.astype(np.uint64))
    if ids.dtype.kind == "f":
        return _hashes_of_floats(ids.astype(np.float64))
    return np.array([_hash_of_object(value) for value in ids.tolist()], dtype=np.uint64)


def _hashes_of_floats(ids: FloatArray) -> AnyArray:
    whole = (ids == np.floor(ids)) & (np.abs(ids) < 2.0**63)
    hashes = _mix(~ids.view(np.uint64))
    hashes[whole] = _mix(ids[whole].astype(np.int64).astype(np.uint64))
    return hashes


def _hash_of_object(value: Any) -> int:
    if isinstance(value, bool | int) and -(2**63) <= value < 2**64:
        return int(_mix(np.array([int(value) % 2**64], dtype=np.uint64))[0])
    if isinstance(value, float):
        return int(_hashes_of_floats(np.array([value]))[0])
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None
    data = repr(value).encode() if text is None else text
    person = b"text" if text is not None else type(value).__name__.encode()[:16]
    return int.from_bytes(blake2b(data, digest_size=8, person=person).digest(), "little")


def _digests(labels: FloatArray, offsets: IntArray) -> AnyArray:
    """Digest of the labels of each query: a sum, which no order of the rows changes."""
    bits = (np.asarray(labels, dtype=np.float64) + 0.0).view(np.uint64)
    return np.add.reduceat(_mix(bits), offsets[:-1])


def _mix(bits: AnyArray) -> AnyArray:
    """Mix 64 bits one to one, as the generator SplitMix64 does."""
    mixed = bits + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


Kind: TypeAlias = Literal["binary", "graded"]


@dataclass(frozen=True, eq=False)
class Lists:
    """Labelled items, list by list."""

    labels: AnyArray  # (n,): Whether each item is positive, or its grade or utility
    offsets: IntArray  # (n_lists + 1,): Where each list begins, and n; no list is empty
    weight: FloatArray | None = None  # (n,): Positive; None is 1 for each
    ids: AnyArray | None = None  # (n_lists,): Of the queries
    query_weight: FloatArray | None = None  # (n_lists,)
    rows: IntArray | None = None  # (n,): Row of each item in the input; None is 0 to n - 1
    trained_on: TrainingQueries | None = None  # Record of the queries, by a ranker's fit
    draws: float | None = None  # Number of draws that the weights represent

    @property
    def positive(self) -> BoolArray:
        return self.labels

    @property
    def grade(self) -> FloatArray:
        return self.labels

    @property
    def n_lists(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        return np.diff(self.offsets)

    @cached_property
    def sizes(self) -> FloatArray:
        """Weight of the items of each list."""
        if self.weight is None:
            return self.lengths.astype(np.float64)
        return np.add.reduceat(self.weight, self.offsets[:-1])

    @cached_property
    def positives(self) -> FloatArray:
        """Weight of the positives of each list, for lists of two classes."""
        if self.weight is not None:
            return np.add.reduceat(np.where(self.labels, self.weight, 0.0), self.offsets[:-1])
        if self.n_lists == 1:
            return np.array([float(np.count_nonzero(self.labels))])
        return np.add.reduceat(self.labels, self.offsets[:-1], dtype=np.float64)

    @property
    def counts(self) -> FloatArray:
        return np.ones(len(self.labels)) if self.weight is None else self.weight

    @cached_property
    def whole(self) -> BoolArray:
        """Whether all weights of the list are whole numbers: repetitions."""
        if self.weight is None:
            return np.ones(self.n_lists, dtype=bool)
        return np.logical_and.reduceat(self.weight == np.floor(self.weight), self.offsets[:-1])

    @cached_property
    def smallest(self) -> FloatArray:
        if self.weight is None:
            return np.ones(self.n_lists)
        return np.minimum.reduceat(self.weight, self.offsets[:-1])

    @property
    def list_of(self) -> IntArray:
        return np.repeat(np.arange(self.n_lists), self.lengths)

    def to_items(self, by_list: AnyArray) -> Any:
        return np.repeat(by_list, self.lengths)

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each list, each item counted once."""
        return np.add.reduceat(values, self.offsets[:-1])

    def weighted_totals(self, values: FloatArray) -> FloatArray:
        """Sum the values of the items of each list, items counted by their weights."""
        return self.totals(values if self.weight is None else self.weight * values)

    def largest(self, values: FloatArray) -> FloatArray:
        return np.maximum.reduceat(values, self.offsets[:-1])

    def with_labels(self, labels: AnyArray) -> Self:
        return replace(self, labels=labels)

    def only(self, mask: BoolArray) -> Lists:
        if mask.all():
            return self
        return self.take(mask, np.flatnonzero(self.to_items(mask)))

    def take(self, lists: Any, items: Any) -> Lists:
        """Take some lists, or all in another order, and the numbers of their items in order."""
        return Lists(
            labels=self.labels[items],
            offsets=np.append(0, np.cumsum(self.lengths[lists])),
            weight=take(self.weight, items),
            ids=take(self.ids, lists),
            query_weight=take(self.query_weight, lists),
            rows=items if self.rows is None else self.rows[items],
            trained_on=self.trained_on,
        )

    def part(self, start: int, stop: int) -> Lists:
        """Take consecutive lists, without copying their items."""
        items, lists = slice(self.offsets[start], self.offsets[stop]), slice(start, stop)
        return Lists(
            labels=self.labels[items],
            offsets=self.offsets[start : stop + 1] - self.offsets[start],
            weight=take(self.weight, items),
            ids=take(self.ids, lists),
            query_weight=take(self.query_weight, lists),
            rows=take(self.rows, items),
        )

    def parts(self, n_items: int) -> list[tuple[Lists, slice]]:
        """Cut into parts of about so many items, and the items of each; lists stay whole."""
        n = int(self.offsets[-1])
        if n < 2 * n_items or self.n_lists == 1:
            return [(self, slice(0, n))]
        shares = np.linspace(0, n, n // n_items + 1)
        ends = pairwise(np.unique(np.searchsorted(self.offsets, shares)).tolist())
        return [(self.part(a, b), slice(self.offsets[a], self.offsets[b])) for a, b in ends]

    def to_rows(self, values: FloatArray, n_rows: int) -> FloatArray:
        """Put values of the items back into the order of the user's rows."""
        if self.rows is None:
            return values
        by_row = np.full(n_rows, np.nan)
        by_row[self.rows] = values
        return by_row

    def name_of(self, index: int) -> str:
        """Name a list, for messages."""
        return "the list" + ("" if self.ids is None else f" with qid {self.ids.tolist()[index]!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredLists(Lists):
    """Labelled items with scores, list by list."""

    score: AnyArray
    n_relevant: FloatArray | None = None
    n_judged: FloatArray | None = None
    ideal: Lists | None = None

    def scored_by(self, y_score: Any, shape: tuple[int, ...]) -> ScoredLists:
        """Take other scores of the rows from which the lists were made."""
        return replace(self, score=check_scores_of_rows(y_score, shape, self.rows))

    def leading(self, mass: Any) -> ScoredLists:
        """Take the items that can be in the top of their list, ties at the cut included."""
        if mass is None:
            return self
        masses = np.minimum(mass, self.sizes)
        rows = leading(self.score, masses, self.offsets, self.weight)
        if rows is None:
            return self
        return replace(
            self,
            labels=self.labels[rows],
            score=self.score[rows],
            weight=take(self.weight, rows),
            rows=rows if self.rows is None else self.rows[rows],
            offsets=np.searchsorted(rows, self.offsets),
        )

    def blocks(self, *, of_negatives: bool = False, joined: bool = True) -> ClassBlocks:
        """Find the blocks of tied items that hold positives, or negatives."""
        in_class = ~self.positive if of_negatives else self.positive
        return class_blocks(self.score, in_class, self.weight, self.offsets, joined=joined)

    def top_blocks(self, *, of_negatives: bool = False) -> ClassBlocks:
        """Find the topmost block of each list that holds positives, or negatives."""
        in_class = ~self.positive if of_negatives else self.positive
        return top_class_blocks(self.score, in_class, self.weight, self.offsets)


@dataclass(frozen=True)
class LabelType:
    """Type of labels: classes or grades, and how they are read."""

    kind: Kind
    pos_label: Any = None
    lowest: float = 0.0  # Smallest grade that is allowed
    name: str = "y_true"  # Of the labels in messages
    rel: float | None = None

    def read(self, checked: CheckedRows) -> AnyArray:
        """Read the labels of checked rows: whether each is positive, or its grade."""
        if self.kind == "binary":
            if self.rel is None:
                return check_positive(checked, self.pos_label)
            if self.pos_label is not None:
                raise ValueError(
                    f"pos_label={self.pos_label!r} sets a class and rel={self.rel:g} a grade:"
                    " leave out one of the two."
                )
            return check_grades(checked, -np.inf) >= self.rel
        if self.pos_label is not None:
            return check_positive(checked, self.pos_label).astype(np.float64)
        if self.lowest > -np.inf:  # else any numbers are labels, amounts for example
            refuse_marks(checked.labels, self.name)
        return check_grades(checked, self.lowest)


def check_lists(
    labels: Any, label_type: LabelType, *, by_appearance: bool = False, **columns: Any
) -> Lists:
    """Make lists from labels without scores, and columns that check_rows takes: ids, weights."""
    checked = check_rows(labels, None, name=label_type.name, **columns)
    shared, order = _group_checked(checked, by_appearance=by_appearance)
    values = label_type.read(checked)
    return Lists(labels=values if order is None else values[order], **shared)


def check_scored_lists(
    y_true: Any, y_score: Any, label_type: LabelType, **columns: Any
) -> ScoredLists:
    """Make lists from labels and scores, by ascending id."""
    checked = check_rows(y_true, y_score, name=label_type.name, **columns)
    return group_scored_rows(checked, label_type.read)


def group_scored_rows(
    checked: CheckedRows, read: Callable[[CheckedRows], AnyArray]
) -> ScoredLists:
    """Make lists from checked rows that have scores, by ascending id."""
    shared, order = _group_checked(checked)
    values, score = read(checked), checked.scores
    if {*score[:50].tolist()} == {0, 1}:
        _warn_of_exchange(values, score, checked.name)
    if order is not None:
        values, score = values[order], score[order]
    return ScoredLists(labels=values, score=score, **shared)


def _warn_of_exchange(labels: AnyArray, score: AnyArray, name: str) -> None:
    """Warn of labels that look like scores, with scores that look like labels."""
    are_scores = are_fractions(labels) and labels.min() >= 0.0 and labels.max() <= 1.0
    if are_scores and np.isin(score, (0, 1)).all():
        warn(
            f"{name} holds fractions and y_score only 0 and 1: pass the labels first, then the"
            " scores, if these are exchanged.",
            UserWarning,
        )


def _group_checked(
    checked: CheckedRows, *, by_appearance: bool = False
) -> tuple[dict[str, Any], IntArray | None]:
    """Fields common to all lists, and the order of the checked rows by list."""
    weight, by_row, rows = checked.weight, checked.query_weight, checked.rows
    if checked.qid is None:
        offsets, ids, order = np.array([0, len(checked.labels)]), None, None
    else:
        ids, offsets, order = group_rows(checked.qid, by_appearance=by_appearance)
        if order is not None:
            weight, by_row = take(weight, order), take(by_row, order)
            rows = order if rows is None else rows[order]
    by_list = None
    if by_row is not None:
        by_list = by_row[offsets[:-1]]
        differs = by_row != np.repeat(by_list, np.diff(offsets))
        if differs.any():
            bad = int(np.searchsorted(offsets, int(np.argmax(differs)), "right")) - 1
            where = "the list" if ids is None else f"the query {ids.tolist()[bad]!r}"
            raise ValueError(f"query_weight differs within {where}: pass one for each query.")
        if not by_list.any():
            raise ValueError("query_weight is zero for all queries: give one a positive weight.")
    shared = {"offsets": offsets, "ids": ids, "weight": weight, "rows": rows}
    return {**shared, "query_weight": by_list}, order


def treat_as_one_list(subject: str, instead: str) -> None:
    """Warn that rows without ids are one query; in a search, which may have kept them, refuse.

    Scikit-learn's checks of estimators and the members of its ensembles fit without ids.
    """
    if is_called_by("sklearn.model_selection", "sklearn_rank.model_selection"):
        raise QuerySetupError(
            f"{subject}, and a search or cross-validation passes ids on only as groups= after\n"
            "    sklearn.set_config(enable_metadata_routing=True)\n"
            f"Pass them so; or {instead} if all rows are one query."
        )
    warn(
        f"{subject}, which it treats as one query: pass qid=, one id per row (in a pipeline"
        " groups=, after sklearn.set_config(enable_metadata_routing=True)); or"
        f" {instead} if they are one query.",
        SingleListWarning,
    )


def refuse_single_rows(name: str, n_single: int, n_lists: int) -> None:
    """Raise an error if most lists have one row, so that qid seems to number rows."""
    if n_lists > 1 and 2 * n_single > n_lists:
        raise ValueError(
            f"{name} got a qid for which {n_single} of {n_lists} queries have only one row: qid "
            "seems to contain ids of rows. Pass the id of the query of each row, which is the "
            "same for all rows that are ranked against each other, and remove queries of one "
            "row if there really are so many."
        )


def group_rows(
    qid: AnyArray | Coded, *, by_appearance: bool = False
) -> tuple[AnyArray, IntArray, IntArray | None]:
    """Ids and offsets of the queries, and the order of rows by query; None if rows are sorted."""
    values = qid.codes if isinstance(qid, Coded) else qid
    starts = np.flatnonzero(changes(values))
    if not isinstance(qid, Coded) and qid.dtype.kind != "O":
        heads = qid[starts]
        if np.all(heads[1:] > heads[:-1]):
            return heads, np.append(starts, len(qid)), None
    scattered = 2 * len(starts) > len(qid)  # few rows of a query are adjacent
    ids, code = _sort_ids(qid if scattered else qid[starts])
    if by_appearance:
        # Order ids by their first places; of repeated indices NumPy keeps the last value.
        places = np.empty(len(ids), dtype=np.intp)
        places[code[::-1]] = np.arange(len(code))[::-1]
        order = np.argsort(places)
        places[order] = np.arange(len(ids))
        ids, code = ids[order], places[code]
    if scattered:
        sizes = np.bincount(code)
    else:
        sizes = np.bincount(code, weights=np.diff(starts, append=len(qid))).astype(np.intp)
    offsets = np.append(0, np.cumsum(sizes))
    if np.all(code[1:] >= code[:-1]):
        return ids, offsets, None
    order = stable_order(code)
    if len(order) < len(qid):
        order = ragged_ranges(starts[order], np.diff(starts, append=len(qid))[order])
    return ids, offsets, order


def numbers_of_queries(qid: AnyArray | Coded) -> IntArray:
    """Number of the query of each row, in the order in which the queries appear."""
    _, offsets, rows = group_rows(qid, by_appearance=True)
    numbers = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if rows is not None:
        numbers[rows] = numbers.copy()
    return numbers


def _sort_ids(values: AnyArray | Coded) -> tuple[AnyArray, IntArray]:
    """Distinct ids, ascending, and the place of each value among them."""
    if not isinstance(values, Coded):
        if values.dtype.kind in "iu":
            lowest = values.min()
            span = int(values.max()) - int(lowest)
            if span <= 4 * len(values):
                # A table of all integers in the range is faster than a sort.
                offset = offsets_from(values, lowest)
                present = np.zeros(span + 1, dtype=bool)
                present[offset] = True
                places = np.cumsum(present) - 1
                ids = (np.flatnonzero(present) + lowest).astype(values.dtype)
                return ids, places[offset]
        if values.dtype.kind not in "OSU":
            return np.unique(values, return_inverse=True)
        values = distinct_codes(values)
    values = values.used()
    try:
        order = np.argsort(values.distinct)
    except TypeError:
        raise ValueError(
            "qid mixes ids of different types: make them all numbers or all strings."
        ) from None
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return values.distinct[order], places[values.codes]
