"""Numbers, labels and ids of a table, read from its text."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, FloatArray
from .._validation import KNOWN_IN_PART
from ..metrics import Measure
from ._columns import Column, is_number
from ._errors import CommandError, listed

__all__ = ["Labels", "ids_of", "labels_of", "numbers_of"]

WORDS = {"true": "1", "false": "0"}
CLASSES = ({0.0, 1.0}, {-1.0, 1.0})


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the rows."""

    values: FloatArray  # (n_rows,): Numbers; 0 and 1 where the positive class was named
    column: str  # Name of their column
    pos_label: str | None  # The positive class, where it was named

    @property
    def are_classes(self) -> bool:
        """Whether they are among 0 and 1, or -1 and 1."""
        return any(set(np.unique(self.values).tolist()) <= pair for pair in CLASSES)

    @property
    def shown(self) -> str:
        """What they are, for the line above the results."""
        if self.are_classes:
            called = self.column if self.pos_label is None else f"{self.column} {self.pos_label}"
            return f"{int((self.values == 1).sum()):,} positive ({called})"
        low, high = self.values.min(), self.values.max()
        return f"labels {low:g} to {high:g} ({self.column})"

    def why_not(self, measure: Measure) -> str | None:
        """Say why a measure cannot take them, None where it can."""
        wanted = measure.label_type()
        if measure.kind == "graded" and self.values.min() < wanted.lowest:
            return (
                f"column {self.column!r} has the grade {self.values.min():g}, but grades start at"
                f" {wanted.lowest:g}"
            )
        if measure.kind == "graded" or wanted.rel is not None or self.are_classes:
            return None
        some, counts = np.unique(self.values, return_counts=True)
        if len(some) == 2:
            rarer = some[0] if counts[0] < counts[1] else some[1]
            which = "rarer" if counts[0] != counts[1] else "second"
            return (
                f"the labels are {some[0]:g} and {some[1]:g}; --pos-label {rarer:g} makes the"
                f" {which} one positive"
            )
        return (
            f"column {self.column!r} has {len(some):,} values, but the measure takes two classes;"
            f" name the relevant grades, as in '{measure.name}(rel>={some[-1]:g})'"
        )


def labels_of(column: Column, pos_label: str | None) -> Labels:
    """Read labels: numbers, or classes of which one is positive."""
    _check_known(column)
    if pos_label is not None:
        values = _is_positive(column, pos_label)
    else:
        words = {text.lower() for text in set(column.cells)}
        if words <= set(WORDS):
            cells = [WORDS[text.lower()] for text in column.cells]
            column = Column(column.name, cells, column.places, column.counts)
        _refuse_words(column)
        values = numbers_of(column)
    if np.ptp(values) == 0.0:
        raise CommandError(
            f"{column.counts} {column.places[0]} and all after it: column {column.name!r} is"
            f" {column.cells[0]!r}, so that no order is better than another; pass rows of both"
            " classes, or of several grades"
        )
    return Labels(values, column.name, pos_label)


def ids_of(column: Column) -> AnyArray:
    """Read ids, none of which is missing. The ids as they are written. Shape (n_rows,)."""
    _check_present(column)
    return np.array(column.cells)


def numbers_of(column: Column) -> FloatArray:
    """Read numbers, none of which is missing. The numbers, infinities among them."""
    try:
        values = np.array([float(text) for text in column.cells])
    except ValueError:
        row, text = next((i, text) for i, text in enumerate(column.cells) if not is_number(text))
        if not text:
            raise column.error(row, "is empty") from None
        hint = ": write decimals with a point" if is_number(text.replace(",", ".")) else ""
        raise column.error(row, f"is {text!r}, not a number{hint}") from None
    if np.isnan(values).any():
        raise column.error(
            int(np.argmax(np.isnan(values))), "is NaN: remove the row or fill it in"
        )
    return values


def _check_present(column: Column) -> None:
    if "" in column.cells:
        raise column.error(column.cells.index(""), "is empty")


def _check_known(column: Column) -> None:
    """Refuse labels that are known in part."""
    for row, text in enumerate(column.cells):
        if text == "" or text.lower() == "nan":
            raise column.error(row, f"is {text or 'empty'}, {KNOWN_IN_PART}")


def _is_positive(column: Column, pos_label: str) -> FloatArray:
    positive = np.array([text == pos_label for text in column.cells])
    if not positive.any() and is_number(pos_label):
        # 1 is also written 1.0, as in a column of real numbers.
        number = float(pos_label)
        positive = np.array([is_number(t) and float(t) == number for t in column.cells])
    if not positive.any():
        raise CommandError(
            f"--pos-label {pos_label!r} is not in column {column.name!r}: its labels are"
            f" {listed(sorted(set(column.cells)))}"
        )
    return positive.astype(float)


def _refuse_words(column: Column) -> None:
    """Refuse labels of which none is a number."""
    if any(map(is_number, column.cells)):
        return
    counts = Counter(column.cells)
    words = sorted(counts)
    rarest = min(reversed(words), key=counts.__getitem__)
    raise column.error(
        0,
        f"is {column.cells[0]!r}: the labels are words ({listed(words)}); name the positive class,"
        f" as in --pos-label {shlex.quote(rarest)}",
    )
