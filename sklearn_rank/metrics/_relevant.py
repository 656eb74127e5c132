"""Relevant items that are not among the rows, because they were not retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import ragged_ranges, sorted_descending
from .._typing import FloatArray
from .._validation import check_vector


def check_takes(called: str, takes: tuple[str, ...], **given: Any) -> None:
    """Refuse what a measure does not depend on, and what is said twice."""
    names = [name for name, value in given.items() if value is not None]
    for name in names:
        if name not in takes:
            instead = f"; pass {takes[0]}" if takes else ""
            raise TypeError(f"{called} does not depend on {name}: leave it out{instead}.")
    if len(names) > 1:
        raise ValueError("n_relevant and ideal are alternatives: leave out one of the two.")


def with_n_relevant(
    lists: ScoredLists, shape: tuple[int, ...], n_relevant: Any, name: str = "n_relevant"
) -> ScoredLists:
    """Say how many relevant items each list has, whether they are among the rows or not."""
    if isinstance(n_relevant, Mapping):
        given = np.array(_by_list(n_relevant, lists, name))
    elif np.ndim(n_relevant) == 0:
        if lists.n_lists > 1:
            raise ValueError(
                f"{name} is one number for {lists.n_lists} lists: pass one per row, or a mapping"
                " from the ids of the lists."
            )
        given = np.reshape(n_relevant, 1)
    elif len(shape) == 2:
        given = check_vector(name, n_relevant, lists.n_lists)
    else:
        given = _same_in_list(check_vector(name, n_relevant, shape[0]), lists, name)
    number = check_vector(name, given)
    found = lists.totals(lists.positive.astype(np.float64))
    wrong = (number != np.floor(number)) | (number < found)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"{name} of {lists.name_of(first)} is {number[first]:g}, but must be a whole number of"
            f" at least {found[first]:g}, the number of its relevant rows: pass the number of all"
            " its relevant items, including those among the rows."
        )
    return replace(lists, n_relevant=number)


def with_ideal(
    lists: ScoredLists, shape: tuple[int, ...], ideal: Any, *, graded: bool, rel: float | None
) -> ScoredLists:
    """Say which grades the relevant items of each list have, among the rows or not."""
    best = _grades(lists, shape, ideal)
    if graded:
        _check_holds(best, lists)
        return replace(lists, ideal=best)
    if rel is None:
        if not np.isin(best.grade, [0.0, 1.0]).all():
            raise ValueError(
                "ideal has grades other than 0 and 1, but the labels are of two classes: pass"
                " grades in both and rel=, the smallest relevant grade."
            )
        rel = 1.0
    number = best.totals((best.grade >= rel).astype(np.float64))
    by_list = dict(zip(_ids(lists), number.tolist(), strict=True))
    return with_n_relevant(lists, shape, by_list, "the number of relevant items in ideal")


def _grades(lists: ScoredLists, shape: tuple[int, ...], ideal: Any) -> Lists:
    """Grades of the best order of each list, a grade of 0 where there is nothing."""
    if isinstance(ideal, Mapping):
        parts = _by_list(ideal, lists, "ideal")
    elif len(shape) == 2:
        parts = list(ideal)
        if len(parts) != lists.n_lists:
            raise ValueError(
                f"ideal has {len(parts)} entries for {lists.n_lists} lists: pass one array of"
                " grades for each."
            )
    elif lists.n_lists == 1:
        parts = [ideal]
    else:
        raise ValueError(
            f"ideal is one array for {lists.n_lists} lists: pass a mapping from their ids to"
            " arrays of grades."
        )
    # A list of no relevant item has one of grade 0.
    parts = [part if np.size(part) else [0.0] for part in parts]
    offsets = np.append(0, np.cumsum([np.size(part) for part in parts]))
    grade = np.concatenate([np.ravel(part) for part in parts])
    try:
        grade = check_vector("ideal", grade)
    except ValueError:
        # The error is raised again with the name of the list.
        for index, part in enumerate(parts):
            check_vector(f"ideal of {lists.name_of(index)}", part)
        raise
    # Grades below 0 (junk documents) count as 0.
    return Lists(labels=np.maximum(grade, 0.0), offsets=offsets, ids=lists.ids)


def _check_holds(best: Lists, lists: ScoredLists) -> None:
    """Refuse a best order that an order of the rows beats."""
    ordered = sorted_descending(lists.grade, lists.offsets)
    ideal = sorted_descending(best.grade, best.offsets)
    place = ragged_ranges(np.zeros(lists.n_lists, dtype=np.intp), lists.lengths)
    inside = place < lists.to_items(best.lengths)
    # Positions beyond the end of the best order have no gain.
    at = np.where(inside, lists.to_items(best.offsets[:-1]) + place, 0)
    beats = ordered > np.where(inside, ideal[at], 0.0)
    if beats.any():
        first = int(np.searchsorted(lists.offsets, int(np.argmax(beats)), "right")) - 1
        raise ValueError(
            f"ideal of {lists.name_of(first)} lacks relevance that its rows have: pass the grades"
            " of all its relevant items, including those among the rows."
        )


def _ids(lists: ScoredLists) -> list[Any]:
    return [None] * lists.n_lists if lists.ids is None else lists.ids.tolist()


def _by_list(given: Mapping[Any, Any], lists: ScoredLists, name: str) -> list[Any]:
    """What a mapping has for each list."""
    if lists.ids is None and None not in given:
        raise ValueError(f"{name} is a mapping from ids, but qid is None: pass qid.")
    try:
        return [given[key] for key in _ids(lists)]
    except KeyError as error:
        raise ValueError(
            f"{name} has no entry for the list with qid {error.args[0]!r}: add one."
        ) from None


def _same_in_list(by_row: FloatArray, lists: ScoredLists, name: str) -> FloatArray:
    by_item = by_row if lists.rows is None else by_row[lists.rows]
    number = by_item[lists.offsets[:-1]]
    differs = by_item != lists.to_items(number)
    if differs.any():
        first = int(np.searchsorted(lists.offsets, int(np.argmax(differs)), "right")) - 1
        raise ValueError(
            f"{name} differs within {lists.name_of(first)}: pass one number per row that is the"
            " same for all rows of a list."
        )
    return number
