"""Conversion of orders of labels to utilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._label_orders import LabelOrders
from .._lists import Lists
from .._typing import BoolArray, FloatArray
from .._warn import warn
from ..calibration._shared import utilities_of, warn_if_not_positional
from ..exceptions import CalibrationWarning
from ..metrics import Measure, get_measure, rank_positions
from ..metrics._shared import check_two_grades
from ._query_checks import check_gains

__all__ = ["label_utilities", "utility_lists"]


def utility_lists(
    name: str, measure: Any, orders: LabelOrders, weight: FloatArray | None
) -> tuple[Lists, BoolArray]:
    """Make lists of the labels of rows, with the utilities that a measure gives them."""
    some: BoolArray = np.logical_or.reduce(orders.known, axis=1)
    if not some.all():
        # A row without labels has no list.
        orders = LabelOrders(orders.grades[some], orders.labels, orders.target_type)
        weight = None if weight is None else weight[some]
        lists, of_some = utility_lists(name, measure, orders, weight)
        kept = some.copy()
        kept[some] = of_some
        return lists, kept
    found = get_measure(measure)
    if found.positional is not None:
        warn_if_not_positional(found)
        orders = _graded(name, found, orders)
    elif not found.compares_pairs:
        warn(
            f"{found.name} defines no utilities of labels, so the Borda share is learned "
            "instead, which suits measures of whole orders such as 'tau_b': pass a measure with "
            "utilities, such as 'ndcg' or 'precision@1'.",
            CalibrationWarning,
        )
    lists = orders.lists(weight)
    if found.kind == "binary" and found.positional is not None:
        lists = lists.with_labels(lists.labels > 0)
    utilities = label_utilities(found, lists)
    kept = ~np.isnan(utilities[lists.offsets[:-1]])
    if not np.any(utilities > 0):
        raise ValueError(
            f"No row of y has a label of positive utility for {found.name} (all labels of each "
            "row are tied, or each row has one label): check y and target_type."
        )
    lists = lists.with_labels(utilities)
    if kept.all():
        return lists, kept
    known = LabelOrders(orders.grades[kept], orders.labels, orders.target_type)
    utilities = utilities[lists.to_items(kept)]
    return known.lists(None if weight is None else weight[kept]).with_labels(utilities), kept


def _graded(name: str, measure: Measure, orders: LabelOrders) -> LabelOrders:
    """Check grades for a measure with utilities; those of two classes become 0 and 1."""
    grades = orders.grades
    if measure.kind == "binary":
        check_two_grades(measure, grades)
        least = 1.0 if measure.rel is None else measure.rel
        grades = np.where(np.isnan(grades), np.nan, grades >= least)
        return LabelOrders(grades, orders.labels, orders.target_type)
    low = grades < measure.label_type(name="y").lowest
    if low.any():
        row, column = np.argwhere(low)[0].tolist()
        raise ValueError(
            f"y is {grades[row, column]:g} in row {row} for label "
            f"{orders.labels.tolist()[column]!r}, but {measure.name} needs relevances of at "
            "least 0: shift them, or pass target_type='positions' if 1 is the top."
        )
    check_gains(name, measure, grades[~np.isnan(grades)])
    return orders


def label_utilities(measure: Any, lists: Lists) -> FloatArray:
    """Utilities of labels, whose order is the one to learn. Shape (n,)."""
    found = get_measure(measure)
    if found.positional is not None:
        return utilities_of(found, lists)
    below = lists.lengths[lists.list_of] - rank_positions(lists.grade, qid=lists.list_of)
    with np.errstate(invalid="ignore"):
        shares = below / lists.to_items(lists.lengths - 1.0)
    constant = lists.largest(lists.grade) == -lists.largest(-lists.grade)
    return np.where(lists.to_items(constant), np.nan, shares)
