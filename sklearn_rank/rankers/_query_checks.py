"""Checks of query ids: missing ids and ids of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import Lists
from .._typing import FloatArray
from .._warn import warn
from ..exceptions import LargeGainWarning, QuerySetupError, SingleListWarning
from ..metrics import Measure
from ..metrics._shared import has_exponential_gain

__all__ = ["check_gains", "check_given_ids", "check_held_out_weights"]

# Maximum number of rows treated as one query without qid; the longest query of MSLR has 1,251.
LONGEST_SINGLE_LIST = 2000

# Largest grade g for which float64 holds the sum of 2**g - 1 and a few gains of 1.
LARGEST_CLEAR_GRADE = 50
# Grades from which 2**g is beyond float64.
LARGEST_GRADE = 1024

ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def check_given_ids(name: str, qid: Any, n_rows: int, *, single_list: bool) -> None:
    """Check that ids were given or are not needed."""
    if qid is None:
        if not single_list:
            _miss(name, n_rows)
        return
    if single_list and np.ndim(qid) > 0:
        raise ValueError(
            f"{name} got both qid and single_list=True, which treats all rows as one query: "
            "leave out one of the two."
        )


def check_gains(name: str, measure: Measure, y: FloatArray) -> None:
    """Check that relevances have gains, where those of the measure are exponential."""
    if y.dtype.kind not in "biuf" or not has_exponential_gain(measure):
        return
    largest = float(y.max(initial=0))
    if not largest > LARGEST_CLEAR_GRADE:
        return
    stem = "dcg" if measure.in_grammar()[0].startswith("dcg") else "ndcg"
    line = f'pass measure=get_measure("{stem}", gain="linear")'
    if largest >= LARGEST_GRADE:
        raise ValueError(
            f"y contains the relevance {largest:g}, whose gain 2**y - 1 in {measure.name} is "
            f"infinite: if y is a count or an amount and not a grade, {line}."
        )
    warn(
        f"{name} got the relevance {largest:g}, whose gain 2**y - 1 in {measure.name} is so "
        f"great that a relevance of 1 is lost in float64 rounding, and {largest - 10:g} gains a "
        f"thousandth of it: if y is a count or an amount and not a grade, {line}.",
        LargeGainWarning,
    )


def check_held_out_weights(measure: Measure, lists: Lists, instead: str = "") -> None:
    """Raise an error if held-out queries cannot be scored by their weights."""
    try:
        measure._check_weights(lists)
    except ValueError as error:
        raise ValueError(
            f"Held-out queries are scored by their weights. {error}{instead}"
        ) from None


def _miss(name: str, n_rows: int) -> None:
    """Say that there are no ids, as loudly as they are likely to be wanted."""
    if n_rows > LONGEST_SINGLE_LIST:
        raise QuerySetupError(
            f"{name} got no qid for {n_rows} rows, too many for one query by default. Pass qid=, "
            f"one id per row; in a pipeline or search write\n    {ROUTING}\n    ....fit(X, y, "
            "groups=qid)\nIf all rows are one query, pass qid=0 or set single_list=True."
        )
    warn(
        f"{name} got no qid and treats all {n_rows} rows as one query: pass qid=, one id per row, "
        f"or groups= to a search or pipeline after {ROUTING}; or qid=0 or single_list=True if "
        "they are one query.",
        SingleListWarning,
    )
