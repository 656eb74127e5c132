"""Sums of the logistic function of all differences between two samples, without pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import scipy.fft
from scipy.special import expit

from .._typing import FloatArray, IntArray

__all__ = ["LogisticSums"]

# The functions of a difference are analytic within a distance of pi of the real line, so that on
# an interval of this half width the error of a Chebyshev series of this many terms is some units
# of rounding: (pi + sqrt(pi**2 + 1))**-22 is 2e-18.
HALF_WIDTH, N_TERMS = 1.0, 22

# Intervals further apart than this, by 120, have differences at which the functions are constant
# or linear to rounding.
REACH = 60


class LogisticSums:
    """Sums over one sample of ``log(1 + exp(t - s))`` or its derivatives, at each of another.

    The line is cut into intervals. What the points of an interval contribute is summed up in their
    moments with Chebyshev polynomials, products with a small matrix for each distance of two
    intervals turn these into series on the other sample's intervals, and these are evaluated
    there. Time and memory are linear in the number of points, and the sums are exact to rounding.
    """

    def __init__(self, t: FloatArray, s: FloatArray) -> None:
        # About zero, where numbers are densest: only differences count.
        low = min(t.min(), s.min())
        cells = [np.floor((points - low) / (2.0 * HALF_WIDTH)) for points in (t, s)]
        self._cells, place = np.unique(np.concatenate(cells), return_inverse=True)
        self._centres = (self._cells + 0.5) * 2.0 * HALF_WIDTH
        self._upper = self._part(t - low, place[: len(t)])
        self._lower = self._part(s - low, place[len(t) :])
        self._pairs = list(self._near_cells())

    def _part(self, points: FloatArray, place: IntArray) -> tuple[FloatArray, IntArray]:
        local = (points - self._centres[place]) / HALF_WIDTH
        return np.ascontiguousarray(local), np.ascontiguousarray(place, dtype=np.int64)

    def _near_cells(self) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Pairs of cells within reach, for each distance of an upper cell above a lower one."""
        for offset in range(-REACH, REACH + 1):
            source = np.searchsorted(self._cells, self._cells - offset)
            source[source == len(self._cells)] = 0
            target = np.flatnonzero(self._cells[source] == self._cells - offset)
            if len(target):
                yield offset, target, source[target]

    def at_upper(self, *terms: tuple[int, FloatArray]) -> FloatArray:
        """Sums over s at each t. Shape (m,)."""
        series = np.zeros((len(self._cells), N_TERMS))
        for order, factor in terms:
            moments = self._moments(self._lower, factor)
            for offset, target, source in self._pairs:
                series[target] += moments[source] @ _table(order, offset).T
            self._add_far_below(order, moments, series)
        return self._values(self._upper, series)

    def at_lower(self, *terms: tuple[int, FloatArray]) -> FloatArray:
        """Sums over t at each s, of derivatives by t; see :meth:`at_upper`. Shape (k,)."""
        series = np.zeros((len(self._cells), N_TERMS))
        for order, factor in terms:
            moments = self._moments(self._upper, factor)
            for offset, target, source in self._pairs:
                series[source] += moments[target] @ _table(order, offset)
            if order == 1:
                total = np.append(0.0, np.cumsum(moments[::-1, 0]))[::-1]
                first = np.searchsorted(self._cells, self._cells + REACH, side="right")
                series[:, 0] += total[first]
        return self._values(self._lower, series)

    def _add_far_below(self, order: int, moments: FloatArray, series: FloatArray) -> None:
        """Add what lies so far below that the logistic function is its asymptote."""
        if order == 2:
            return
        stop = np.searchsorted(self._cells, self._cells - REACH)
        total = np.append(0.0, np.cumsum(moments[:, 0]))[stop]
        if order == 1:
            series[:, 0] += total
            return
        places = self._centres * moments[:, 0] + HALF_WIDTH * moments[:, 1]
        series[:, 0] += self._centres * total - np.append(0.0, np.cumsum(places))[stop]
        series[:, 1] += HALF_WIDTH * total

    def _moments(self, part: tuple[FloatArray, IntArray], factor: FloatArray) -> FloatArray:
        from ._chebyshev_kernels import add_moments

        moments = np.zeros((len(self._cells), N_TERMS))
        add_moments(*part, np.ascontiguousarray(factor), moments)
        return moments

    def _values(self, part: tuple[FloatArray, IntArray], series: FloatArray) -> FloatArray:
        from ._chebyshev_kernels import evaluate_series

        values = np.empty(len(part[0]))
        evaluate_series(*part, series, values)
        return values


@cache
def _table(order: int, offset: int) -> FloatArray:
    """Chebyshev coefficients of a derivative of the logistic function on two intervals.

    Entry (p, q) is the coefficient of ``T_p(x) T_q(y)``, the difference being that of the points
    at x and y of intervals ``offset`` apart.
    """
    nodes = np.cos(np.pi * (np.arange(N_TERMS) + 0.5) / N_TERMS)
    z = HALF_WIDTH * (2.0 * offset + nodes[:, np.newaxis] - nodes)
    if order == 0:
        values = np.logaddexp(0.0, z)
    else:
        values = expit(z) if order == 1 else expit(z) * expit(-z)
    table = scipy.fft.dctn(values, type=2) / N_TERMS**2
    table[0] /= 2.0
    table[:, 0] /= 2.0
    return np.asarray(table)
