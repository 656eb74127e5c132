"""A log of rows whose labels come late, which is read again at each look.

A row counts at the first look at which it is mature, whatever was known of it before, and at no
other. The log is passed as it stands, so that a row that was open comes again with what is known
by then: nothing tells of a row that does not come again whether an event came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lists import numbers_of_queries
from .._times import check_times, in_days
from .._typing import AnyArray, IntArray
from .._validation import check_qid
from ..metrics._shared import PartialLabels
from ._label_design import LabelDesign, rows_at_random
from ._late_labels import LateLabels, in_words


@dataclass(frozen=True, eq=False)
class Log:
    """What is kept of a log between looks."""

    horizon: float
    days: AnyArray  # (n_looks,): Of the looks, ascending
    n_matured: IntArray  # (n_looks,): Rows that were mature for the first time
    open: AnyArray  # (n_open,): Times of entry of the rows that were open at the last look


def rows_of_look(
    log: Log | None,
    y_true: Any,
    design: LabelDesign,
    rng: np.random.Generator,
    qid: Any = None,
    pos_label: Any = None,
) -> tuple[IntArray, AnyArray, Log]:
    """Rows that count at a look, their labels, and what is kept for the next one.

    A query counts when all of its rows are mature.
    """
    late = LateLabels.of(design, y_true, pos_label)
    times = check_times(entered=design.entered, as_of=design.as_of)
    if design.as_of is None or len(times["as_of"]) != 1:
        raise ValueError("A look is on one day: pass it as as_of, a single time.")
    entered, days = times["entered"], times["as_of"]
    if log is not None:
        _refuse_other(log, late.horizon, days)
        days = np.append(log.days, days)
    n_mature = np.zeros(len(entered), dtype=np.intp)  # at so many looks
    for day in days:
        # The same for each row at all looks, up to what sums of times are rounded by.
        slack = 4.0 * np.spacing(np.abs(day)) if days.dtype.kind == "f" else 0.0
        n_mature += in_days(day - entered) >= late.horizon - slack
    if qid is not None:
        queries = numbers_of_queries(check_qid(qid, len(entered)))
        least = np.full(queries.max() + 1, len(days))
        np.minimum.at(least, queries, n_mature)
        n_mature = least[queries]
    # By the look at which they count, and the open ones.
    n_rows = np.bincount(len(days) - n_mature, minlength=len(days) + 1)
    if log is not None:
        _refuse_gaps(log, n_rows[:-2], entered)
    counts = late.chosen & (n_mature == 1)
    if qid is not None and not late.chosen.all():
        raise ValueError("Rows that were chosen for labels are of one list: leave qid out.")
    rows = rows_at_random(PartialLabels(counts, late.probability), rng)
    labels = in_words(late.labels[rows], pos_label)
    n_matured = n_rows[: len(days)]
    if log is not None:
        n_matured = np.append(log.n_matured, n_matured[-1])
    return rows, labels, Log(late.horizon, days, n_matured, entered[n_mature == 0])


def _refuse_other(log: Log, horizon: float, day: AnyArray) -> None:
    """Refuse another label, and a look before the last one."""
    if horizon != log.horizon:
        raise ValueError(
            f"horizon is {horizon:g} days, but was {log.horizon:g} at earlier looks: pass the"
            " same, or begin another sequence."
        )
    if day.dtype.kind != log.days.dtype.kind:
        raise ValueError(
            "Times are numbers in one update and times in another: pass all in the same way."
        )
    if day[0] < log.days[-1]:
        raise ValueError(
            f"as_of is {day[0]}, before the last look at {log.days[-1]}: pass looks in order."
        )


def _refuse_gaps(log: Log, n_rows: IntArray, entered: AnyArray) -> None:
    """Refuse a log without rows that were open, or with rows that should have counted before."""
    ids, codes = np.unique(np.append(log.open, entered), return_inverse=True)
    before, now = (np.bincount(x, minlength=len(ids)) for x in np.split(codes, [len(log.open)]))
    if n_lost := int(np.maximum(before - now, 0).sum()):
        raise ValueError(
            f"{n_lost} of the {len(log.open)} rows that were open at the last look are not here,"
            " and nothing tells whether an event came: pass the log as it stands, the rows that"
            " were open with what is known of them by now, and newer ones."
        )
    if n_late := int(np.maximum(n_rows - log.n_matured, 0).sum()):
        raise ValueError(
            f"{n_late} rows that were mature at an earlier look were not in the log then, and may"
            " be here because of their labels: leave out all rows that were mature at the last"
            " look, which need not come again."
        )
