"""Smallest sufficient size, and the root of an increasing function."""

from __future__ import annotations

from collections.abc import Callable

from .._arguments import MOST_ITEMS

__all__ = ["root_between", "smallest_size"]

N_HALVINGS = 100


def smallest_size(enough: Callable[[int], bool], wish: str) -> int:
    """Find the least size that is enough."""
    fewest, most = 1, 2
    while not enough(most):
        fewest, most = most, 2 * most
        if most > MOST_ITEMS:
            raise ValueError(f"{wish} takes more than 2**53 items: ask for less.")
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if enough(middle) else (middle, most)
    return most


def root_between(reaches: Callable[[float], bool], low: float, high: float) -> float:
    """Find where a function reaches a value by bisection."""
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
