"""Ranks smoothed by a kernel, and the corresponding density of scores."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray

__all__ = ["KernelWindows"]


class KernelWindows:
    """Sums of Epanechnikov's kernel, or of its integral, at the differences of given scores.

    The kernel is ``k(t) = 3/4 (1 - t^2)`` on [-1, 1], its integral ``K`` rises from 0 to 1: both
    are polynomials on a window of the sorted scores. Time O(n log n), memory O(n).
    """

    def __init__(self, scores: FloatArray) -> None:
        self._order = np.argsort(scores)
        self._ascending = scores[self._order]

    def below(self, weight: FloatArray) -> FloatArray:
        """Smoothed weight below each score, ``sum_j weight_j K(z_i - z_j)``. Shape (n,)."""
        return self._sums(weight, True)

    def near(self, weight: FloatArray) -> FloatArray:
        """Smoothed weight at each score, ``sum_j weight_j k(z_i - z_j)``. Shape (n,)."""
        return self._sums(weight, False)

    def _sums(self, weight: FloatArray, integrated: bool) -> FloatArray:
        from ._window_kernels import window_sums

        ascending, found = np.empty_like(weight), np.empty_like(weight)
        window_sums(self._ascending, weight[self._order], integrated, ascending)
        found[self._order] = ascending
        return found
