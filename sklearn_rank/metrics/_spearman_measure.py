"""Spearman's rank correlation as a measure."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import tied_blocks
from .._typing import BoolArray, FloatArray
from ._measure import Measure
from ._positional_form import PositionalForm, linear_discounts

# Lists of more than this weight are measured in units of their own.
HEAVY = 1e90


@dataclass(frozen=True, kw_only=True, repr=False)
class SpearmanMeasure(Measure):
    """Rank correlation of relevance and score; see ``spearman_score``."""

    kind = "graded"
    per_query = True
    weights = "whole"
    lowest = -inf
    lacking = "one grade only"
    function = "spearman_score"
    stem = "spearman"
    from_ranges = "sum"

    @property
    def range(self) -> tuple[float, float]:
        """From -1 to 1."""
        return (-1.0, 1.0)

    @property
    def positional(self) -> PositionalForm:
        """Multiples of ``n - r``, r the position by relevance, at linear discounts."""
        return PositionalForm(
            _utilities,
            linear_discounts,
            largest=2.0,
            largest_by_length=lambda n: 12 / (n * (n + 1)),
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """Correlation of each list."""
        size = lists.sizes
        constant = _constant(lists)
        n = lists.to_items(size)
        # Positions from the middle of the list, whose products need no offset.
        by_score, by_grade = (
            (n + 1.0) / 2.0 - middle_positions(values, lists.weight, lists.offsets)
            for values in (lists.score, lists.grade)
        )
        if size.max() > HEAVY:
            # Third powers would overflow; quotients by powers of 2 are exact.
            unit = np.ldexp(1.0, np.frexp(size)[1])
            by_score, by_grade = by_score / lists.to_items(unit), by_grade / lists.to_items(unit)
        else:
            unit = np.ones(1)
        sums = lists.weighted_totals(by_score * by_grade) / unit
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = (size / unit) * ((size + 1.0) / unit) * ((size - 1.0) / unit)
            return np.where(constant, np.nan, 12.0 * sums / parts)


def _constant(lists: Lists) -> BoolArray:
    """Whether all items of the list are of one grade, as of one item."""
    return lists.largest(lists.grade) == -lists.largest(-lists.grade)


def _utilities(lists: Lists) -> FloatArray:
    if not lists.whole.all():
        raise ValueError(
            "sample_weight has a value that is not whole, but Spearman's correlation takes weights"
            " as numbers of repetitions: pass whole numbers."
        )
    position = middle_positions(lists.grade, lists.weight, lists.offsets)
    n, constant = lists.to_items(lists.sizes), lists.to_items(_constant(lists))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(constant, np.nan, 12 * ((n - position) / n) / ((n - 1) * (n + 1)))


def middle_positions(values: FloatArray, weight: FloatArray | None, offsets: Any) -> FloatArray:
    """Middle of the positions of the tied block of each item, from the top of its list.

    Shape (n,).
    """
    blocks = tied_blocks(values, offsets)
    mass: Any = blocks.lengths() if weight is None else blocks.totals(weight)
    middle = blocks.running(mass) - (mass - 1.0) / 2.0
    positions = np.empty(len(values))
    positions[blocks.order] = np.repeat(middle, blocks.lengths())
    return positions
