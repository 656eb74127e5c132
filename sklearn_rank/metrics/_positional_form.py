"""The positional form of a measure: utilities of the items, discounts of the positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._lists import Lists
from .._typing import FloatArray


@dataclass(frozen=True)
class PositionalForm:
    """A measure as ``b(y) + sum over positions i of discount(i) utility(item at i)``."""

    utilities: Callable[[Lists], FloatArray]
    discounts: Callable[[int], FloatArray] | None
    largest: float | None = None  # Largest utility that any labels give; None where there is none
    largest_by_length: Callable[[int], float] | None = None
    expectation: str = ""

    def largest_among(self, n: int) -> float | None:
        """Largest utility that any labels of n items give."""
        if self.largest_by_length is None or n < 2:
            return self.largest
        return self.largest_by_length(n)


def cut_after(discounts: FloatArray, k: int | None) -> FloatArray:
    """Set the discounts after position k to 0. The same array. Shape (n,)."""
    if k is not None:
        discounts[k:] = 0.0
    return discounts


def logarithmic_discounts(n: int) -> FloatArray:
    """Return ``1 / log2(1 + i)`` for the positions i = 1..n. Shape (n,)."""
    return np.asarray(1 / np.log2(np.arange(2, n + 2)))


def linear_discounts(n: int) -> FloatArray:
    """Return ``n - i`` for the positions i = 1..n. Shape (n,)."""
    return np.arange(n - 1, -1, -1, dtype=np.float64)


def share_of_total(lists: Lists, total: FloatArray) -> FloatArray:
    """Divide the class of each item, 0 or 1, by a number of its list. Shape (n,)."""
    divisor = np.where(total > 0, total, np.nan)
    return lists.positive / lists.to_items(divisor)
