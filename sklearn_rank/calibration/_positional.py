"""Utilities and discounts of measures."""

from __future__ import annotations

import numpy as np

from .._lists import Lists
from .._typing import FloatArray
from .._warn import warn
from ..exceptions import CalibrationWarning
from ..metrics import Measure, get_measure
from ..metrics._shared import MeasureLike, PositionalForm

__all__ = ["positional_form", "utilities_of", "warn_if_not_positional"]


def positional_form(measure: MeasureLike) -> tuple[Measure, PositionalForm]:
    """Get a measure and its positional form."""
    found = get_measure(measure)
    form = found.positional
    if form is None:
        raise ValueError(
            f"{found.name!r} defines no utilities of items. Measures with utilities are dcg and "
            "ndcg (also with a cutoff, such as 'ndcg@10'), precision, recall, auc, spearman, "
            "rbp, with a warning ap and err, and measures of make_measure with utilities and "
            "discounts."
        )
    return found, form


def utilities_of(measure: MeasureLike, lists: Lists) -> FloatArray:
    """Compute the utilities of the items of lists. Shape (n,)."""
    found, form = positional_form(measure)
    values = form.utilities(lists)
    missing = np.isnan(values)
    if missing.any() and found.undefined == "raise":
        where = lists.name_of(int(lists.list_of[np.argmax(missing)]))
        raise ValueError(
            f"{found.in_grammar()[0]} is undefined: {where} has {found.lacking}; remove it or "
            "pass undefined=."
        )
    return values if found.undefined == "skip" else np.where(missing, 0.0, values)


def warn_if_not_positional(measure: MeasureLike) -> None:
    """Warn if no order-preserving loss is calibrated for a measure."""
    found, form = positional_form(measure)
    if form.discounts is None:
        warn(
            f"No order-preserving loss is calibrated for {found.name} if the labels of a list "
            "are dependent given its items; with independent labels the order by "
            f"{form.expectation} is optimal. (Calauzènes et al. 2013, Theorem 3.3)",
            CalibrationWarning,
        )
