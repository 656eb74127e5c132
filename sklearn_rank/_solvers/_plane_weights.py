"""Quadratic problem for the dual weights of cutting planes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from .._typing import FloatArray, IntArray

__all__ = ["best_shares"]

# Curvature, relative to the largest, that is rounding.
FLAT = 1e-13

# Steps without a smaller value after which rounding is all that is left.
MOST_IDLE = 30


def best_shares(
    gram: FloatArray, offsets: FloatArray, start: FloatArray, accuracy: float
) -> FloatArray:
    """Minimise ``b'Qb / 2 - offsets.b`` over shares b >= 0 of sum 1, by an active set.

    The shares, of which few are positive. Shape (m,).
    """
    # Those that carry may be badly weighed, since the matrix may have had another factor.
    shares, carrying = _settle(gram, offsets, start, np.flatnonzero(start > 0))
    lowest, best, n_idle = np.inf, shares, 0
    for _ in range(50 * len(offsets) + 100):
        slope = gram[:, carrying] @ shares[carrying] - offsets
        value = float(shares[carrying] @ (slope - offsets)[carrying]) / 2
        n_idle = 0 if value < lowest else n_idle + 1
        if value < lowest:
            lowest, best = value, shares
        elif n_idle >= MOST_IDLE:
            # Where the matrix has lost digits, planes may enter and leave in turn.
            return best
        entering = int(np.argmin(slope))
        left = shares[carrying] @ slope[carrying] - slope[entering]
        if left <= accuracy or entering in carrying:
            break
        before = shares
        shares, carrying = _settle(gram, offsets, shares, np.append(carrying, entering))
        if np.array_equal(before, shares):
            break
    return shares


def _settle(
    gram: FloatArray, offsets: FloatArray, shares: FloatArray, carrying: IntArray
) -> tuple[FloatArray, IntArray]:
    """Minimise over the planes that carry; those that would carry less than nothing leave."""
    shares = shares.copy()
    while len(carrying) > 1:
        step = _step(gram[np.ix_(carrying, carrying)], offsets[carrying], shares[carrying])
        now = shares[carrying]
        falling = step < 0
        reach = np.full(len(now), np.inf)
        reach[falling] = now[falling] / -step[falling]
        first = int(np.argmin(reach))
        if reach[first] >= 1.0:
            now = now + step
            shares[carrying] = now / now.sum()
            break
        now = np.maximum(now + reach[first] * step, 0.0)
        now[first] = 0.0
        shares[carrying] = now / now.sum()
        carrying = carrying[shares[carrying] > 0]
    else:
        shares[carrying] = 1.0
    carrying = carrying[shares[carrying] > 0]
    return shares, carrying


def _step(gram: FloatArray, offsets: FloatArray, shares: FloatArray) -> FloatArray:
    """Newton step within the plane of sum 1; far along where the problem is flat and falling."""
    base = int(np.argmax(shares))
    others = np.delete(np.arange(len(shares)), base)
    slope = gram @ shares - offsets
    slope = slope[others] - slope[base]
    side = gram[others, base]
    curvature = gram[np.ix_(others, others)] - side - side[:, np.newaxis] + gram[base, base]
    try:
        factor = cho_factor(curvature, lower=True, check_finite=False)
        steep = np.diag(factor[0]) ** 2
        if steep.min() <= FLAT * gram.diagonal().max():
            raise np.linalg.LinAlgError
        step = -cho_solve(factor, slope, check_finite=False)
    except np.linalg.LinAlgError:
        values, vectors = eigh(curvature, check_finite=False)
        parts = vectors.T @ slope
        flat = values <= FLAT * gram.diagonal().max() * len(shares)
        falling = np.abs(parts) * flat
        if falling.max() > 1e-12 * max(np.abs(slope).max(), 1e-300):
            step = -vectors @ (parts * flat)
            step *= 1e6 / np.abs(step).max()
        else:
            step = -vectors @ np.where(flat, 0.0, parts / np.where(flat, 1.0, values))
    full = np.empty(len(shares))
    full[others] = step
    full[base] = -step.sum()
    return full
