"""Utilities of the items of lists, as losses take them, of a measure with discounts."""

from __future__ import annotations

import numpy as np

from .._lists import Lists
from .._typing import FloatArray
from .._warn import warn
from ..exceptions import CalibrationWarning
from ._conventions import PositionalForm
from ._grammar import MeasureLike, get_measure
from ._measure import Measure


def positional_form(measure: MeasureLike) -> tuple[Measure, PositionalForm]:
    """Get a measure and its positional form."""
    measure = get_measure(measure)
    form = measure.positional
    if form is None:
        raise ValueError(
            f"{measure.name!r} defines no utilities of items. Measures with utilities are dcg and "
            "ndcg (also with a cutoff, such as 'ndcg@10'), precision, recall, auc, spearman, "
            "rbp, with a warning ap and err, and measures of make_measure with utilities and "
            "discounts."
        )
    return measure, form


def utilities_of(measure: MeasureLike, lists: Lists) -> FloatArray:
    """Compute the utilities of the items of lists. Shape (n,)."""
    measure, form = positional_form(measure)
    values = form.utilities(lists)
    missing = np.isnan(values)
    if missing.any() and measure.undefined == "raise":
        where = lists.name_of(int(lists.list_of[np.argmax(missing)]))
        raise ValueError(
            f"{measure.in_grammar()[0]} is undefined: {where} has {measure.lacking}; remove it or "
            "pass undefined=."
        )
    return values if measure.undefined == "skip" else np.where(missing, 0.0, values)


def warn_if_not_positional(measure: MeasureLike) -> None:
    """Warn if no order-preserving loss is calibrated for a measure."""
    measure, form = positional_form(measure)
    if form.discounts is None:
        warn(
            f"No order-preserving loss is calibrated for {measure.name} if the labels of a list "
            "are dependent given its items; with independent labels the order by "
            f"{form.expectation} is optimal. (Calauzènes et al. 2013, Theorem 3.3)",
            CalibrationWarning,
        )
