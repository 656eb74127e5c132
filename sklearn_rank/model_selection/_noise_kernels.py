"""Compiled part of the comparison with the best candidate."""

from __future__ import annotations

from .._jit import compiled
from .._typing import FloatArray, IntArray

# Candidates whose largest value stands for all of them at first.
BLOCK = 32
# Draws that stay in the cache while the candidates take their turns.
TILE = 64


@compiled("void(f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], i8[::1])")
def count_overtaken(
    drawn: FloatArray,
    tops: FloatArray,
    candidates: IntArray,
    leads: FloatArray,
    least_leads: FloatArray,
    counts: IntArray,
) -> None:
    """Count the draws in which some other one is ahead of a candidate by its lead or more."""
    n_draws, n = drawn.shape
    for start in range(0, n_draws, TILE):
        stop = min(start + TILE, n_draws)
        for i in range(len(candidates)):
            for draw in range(start, stop):
                own = drawn[draw, candidates[i]]
                for block in range(tops.shape[1]):
                    if tops[draw, block] - least_leads[i, block] < own:
                        continue
                    ahead = 0
                    for other in range(block * BLOCK, min((block + 1) * BLOCK, n)):
                        ahead += drawn[draw, other] - leads[i, other] >= own
                    if ahead:
                        counts[i] += 1
                        break
