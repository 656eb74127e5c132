"""Precision at the top of a list whose items depend on each other within groups."""

from __future__ import annotations

import numpy as np

from .._blocks import TiedBlocks
from .._typing import BoolArray
from ..metrics._shared import PSEUDO_WEIGHT
from ._groups import GroupPart, Groups, Spread

__all__ = ["grouped_top"]


def grouped_top(
    positive: BoolArray, blocks: TiedBlocks, groups: Groups, top: int, eta: float
) -> tuple[float, float, float]:
    """Compute the effective number of Bernoulli draws of the precision at the top.

    An item of the share u in the top moves the precision by ``(u (y - eta) - (pi - eta) top / n) /
    top``, which includes what it moves the threshold. Half a group of positives and half one of
    negatives is added to the top.
    """
    n, sizes = len(positive), blocks.lengths()
    inside = np.empty(n)
    share = np.clip((top - blocks.starts) / sizes, 0.0, 1.0)
    inside[blocks.order] = np.repeat(share, sizes)
    precision = float(inside @ positive) / top
    moved = (inside * (positive - eta) - (precision - eta) * top / n) / top
    in_top = groups.only(inside > 0.0)
    part = GroupPart(groups.sums(moved)[np.newaxis], in_top.sizes())
    count = part.effective + 2.0 * PSEUDO_WEIGHT
    shrunken = (part.effective * precision + PSEUDO_WEIGHT) / count
    ends = PSEUDO_WEIGHT * ((1.0 - shrunken) ** 2 + shrunken**2)
    variance = float(np.sum(part.sums**2)) * (part.effective / count) ** 2 + ends / count**2
    degrees = float(Spread.of_groups([part]).degrees[0])
    return shrunken * (1.0 - shrunken) / variance, variance, degrees
