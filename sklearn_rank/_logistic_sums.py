"""Sums of the logistic function over all pairs of two samples, in time linear in their sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

import numpy as np
import scipy.fft
from scipy.special import expit

from ._order import stable_order
from ._typing import FloatArray, IntArray

# The functions of a difference are analytic within a distance of pi of the real line, so that on
# an interval of half width 1 the error of a Chebyshev series of this many terms is some units of
# rounding: (pi + sqrt(pi**2 + 1))**-22 is 2e-18.
N_TERMS = 22

# Intervals further apart than this, by 120, have differences at which the functions are constant
# or linear to rounding.
LARGEST_DISTANCE = 60

# Points whose polynomials are worked on at once, in the cache.
BLOCK = 1024

# A sum of derivatives of some orders, each with a factor of every point of the other sample.
Terms: TypeAlias = tuple[tuple[int, FloatArray], ...]


class LogisticSums:
    """Sums over one sample of ``log(1 + exp(t - s))`` or its derivatives, at each of another.

    The line is cut into intervals. Products of small matrices with the moments of the points of an
    interval give series on the other sample's intervals: linear in time, exact to rounding.
    """

    def __init__(
        self, t: FloatArray, s: FloatArray, lists: tuple[IntArray, IntArray] | None = None
    ) -> None:
        """Sort the points; ``lists`` number those of each, whose pairs alone count.

        The scores of a list are then from 0 to less than the largest distance of two intervals.
        """
        # About zero, where numbers are densest: only differences count.
        low = min(t.min(), s.min()) if lists is None else 0.0
        places = [(points - low) / 2.0 for points in (t, s)]
        keys = cells = [np.floor(place) for place in places]
        span = min(float(max(cell.max() for cell in cells)), LARGEST_DISTANCE)
        self._has_far = lists is None
        if lists is not None:
            keys = [
                x + (span + LARGEST_DISTANCE + 1.0) * y for x, y in zip(cells, lists, strict=True)
            ]
        self._cells = np.unique(np.concatenate([np.unique(key) for key in keys]))
        self._centres = 2.0 * self._cells + 1.0
        self._upper, self._lower = (
            _Sample(2.0 * (place - cell) - 1.0, np.searchsorted(self._cells, key))
            for place, cell, key in zip(places, cells, keys, strict=True)
        )
        # Pairs of cells that are no further apart, by the distance of the upper from the lower.
        self._pairs: list[tuple[int, IntArray, IntArray]] = []
        for offset in range(-int(span), int(span) + 1):
            source = np.searchsorted(self._cells, self._cells - offset)
            source[source == len(self._cells)] = 0
            target = np.flatnonzero(self._cells[source] == self._cells - offset)
            if len(target):
                self._pairs.append((offset, target, source[target]))

    def at_upper(self, *sums: Terms) -> FloatArray:
        """Sums over s at each t of derivatives of some orders. Shape (n_sums, m)."""

        def series(order: int, moments: FloatArray) -> FloatArray:
            series = np.zeros_like(moments)
            for offset, target, source in self._pairs:
                series[target] += moments[source] @ _table(order, offset).T
            if order < 2 and self._has_far:
                # What lies so far below that the logistic function is its asymptote.
                stop = np.searchsorted(self._cells, self._cells - LARGEST_DISTANCE)
                total = np.append(0.0, np.cumsum(moments[:, 0]))[stop]
                if order == 1:
                    series[:, 0] += total
                else:
                    places = self._centres * moments[:, 0] + moments[:, 1]
                    series[:, 0] += self._centres * total - np.append(0.0, np.cumsum(places))[stop]
                    series[:, 1] += total
            return series

        moments = self._lower.moments(sums, len(self._cells))
        return self._upper.values([[series(k, moments[id(f)]) for k, f in x] for x in sums])

    def at_lower(self, *sums: Terms) -> FloatArray:
        """Sums over t at each s, of derivatives by t of order 1 or 2. Shape (n_sums, k)."""

        def series(order: int, moments: FloatArray) -> FloatArray:
            series = np.zeros_like(moments)
            for offset, target, source in self._pairs:
                series[source] += moments[target] @ _table(order, offset)
            if order == 1 and self._has_far:
                total = np.append(0.0, np.cumsum(moments[::-1, 0]))[::-1]
                series[:, 0] += total[
                    np.searchsorted(self._cells, self._cells + LARGEST_DISTANCE, "right")
                ]
            return series

        moments = self._upper.moments(sums, len(self._cells))
        return self._lower.values([[series(k, moments[id(f)]) for k, f in x] for x in sums])


class _Sample:
    """Points within cells, from -1 to 1, in the order of the cells."""

    def __init__(self, local: FloatArray, cell: IntArray) -> None:
        self._order = stable_order(cell)
        self._local, ordered = local[self._order], cell[self._order]
        n = len(cell)
        # Points of one cell and of one block.
        starts = np.union1d(np.flatnonzero(np.diff(ordered, prepend=-1)), np.arange(0, n, BLOCK))
        ends = np.append(starts[1:], n)
        self._blocks = np.split(
            np.stack((ordered[starts], starts, ends), axis=1),
            np.searchsorted(starts, np.arange(BLOCK, n, BLOCK)),
        )
        self._kept: FloatArray | None = None

    def moments(self, sums: tuple[Terms, ...], n_cells: int) -> dict[int, FloatArray]:
        """Sums of the polynomials at the points of each cell, times each factor, by its id."""
        by_id = {id(factor): factor for terms in sums for _, factor in terms}
        factors = np.stack([factor[self._order] for factor in by_id.values()])
        moments = np.zeros((len(by_id), n_cells, N_TERMS))
        for cell, part, polynomials in self._polynomials():
            moments[:, cell] += factors[:, part] @ polynomials.T
        return dict(zip(by_id, moments, strict=True))

    def values(self, series: list[list[FloatArray]]) -> FloatArray:
        """Values at the points of sums of Chebyshev series of their cells. Shape (n_sums, n)."""
        coefficients = np.stack([sum(terms[1:], terms[0]) for terms in series])
        values = np.empty((len(series), len(self._local)))
        by_point = np.empty_like(values)
        for cell, part, polynomials in self._polynomials():
            values[:, part] = coefficients[:, cell] @ polynomials
        by_point[:, self._order] = values
        return by_point

    def _polynomials(self) -> Iterator[tuple[int, slice, FloatArray]]:
        """Chebyshev polynomials (N_TERMS, n) at the points of parts of each cell."""
        n = len(self._local)
        T = np.empty((N_TERMS, min(n, BLOCK)))
        for number, block in enumerate(self._blocks):
            first = number * BLOCK
            if self._kept is None:
                x = self._local[first : first + BLOCK]
                T = T[:, : len(x)]
                T[0], T[1] = 1.0, x
                top = 1
                while top < N_TERMS - 1:
                    # T_(m + k) = 2 T_m T_k - T_(m - k)
                    more = min(top, N_TERMS - 1 - top)
                    new = T[top + 1 : top + 1 + more]
                    np.multiply(T[1 : more + 1], 2.0 * T[top], out=new)
                    new -= T[top - more : top][::-1]
                    top += more
                if n <= BLOCK:
                    self._kept = T
            else:
                T = self._kept
            for cell, start, end in block.tolist():
                yield cell, slice(start, end), T[:, start - first : end - first]


@cache
def _table(order: int, offset: int) -> FloatArray:
    """Chebyshev coefficients (p, q) of a derivative of the logistic function on two intervals."""
    nodes = np.cos(np.pi * (np.arange(N_TERMS) + 0.5) / N_TERMS)
    z = 2.0 * offset + nodes[:, np.newaxis] - nodes
    if order == 0:
        values = np.logaddexp(0.0, z)
    else:
        values = expit(z) if order == 1 else expit(z) * expit(-z)
    table = scipy.fft.dctn(values, type=2) / N_TERMS**2
    table[0] /= 2.0
    table[:, 0] /= 2.0
    return np.asarray(table)
