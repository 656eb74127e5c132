"""Compiled passes over points that lie in intervals: moments, and values of series."""

from __future__ import annotations

import numpy as np

from .._jit import compiled

__all__ = ["add_moments", "evaluate_series"]


@compiled("void(f8[::1], i8[::1], f8[::1], f8[:, ::1])")
def add_moments(x, interval, amount, moments):
    """Add ``amount * T_q(x)``, q = 0, 1, ..., to the moments of the interval of each point."""
    n_terms = moments.shape[1]
    terms = np.empty(n_terms)
    for i in range(len(x)):
        terms[0] = amount[i]
        terms[1] = amount[i] * x[i]
        twice = 2.0 * x[i]
        for q in range(2, n_terms):
            terms[q] = twice * terms[q - 1] - terms[q - 2]
        row = interval[i]
        for q in range(n_terms):
            moments[row, q] += terms[q]


@compiled("void(f8[::1], i8[::1], f8[:, ::1], f8[::1])")
def evaluate_series(x, interval, series, values):
    """Values of the Chebyshev series of the interval of each point, by Clenshaw's recurrence."""
    n_terms = series.shape[1]
    for i in range(len(x)):
        row = interval[i]
        twice = 2.0 * x[i]
        one = 0.0
        two = 0.0
        for q in range(n_terms - 1, 0, -1):
            one, two = series[row, q] + twice * one - two, one
        values[i] = series[row, 0] + x[i] * one - two
