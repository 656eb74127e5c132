"""The point of a convex hull that is nearest to 0, by an active set of its corners."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from .._typing import FloatArray, IntArray


class Hull:
    """Points, and the shares of the nearest one to 0 of their convex hull.

    Wolfe (1976), Finding the nearest point in a polytope, Mathematical Programming 11.
    """

    def __init__(self, n_features: int) -> None:
        self.points = np.empty((0, n_features))
        self.gram = np.empty((0, 0))
        self.shares = np.empty(0)

    def add(self, point: FloatArray) -> None:
        self.shares = np.append(self.shares, 0.0 if len(self.shares) else 1.0)
        self.gram = np.pad(self.gram, (0, 1))
        self.gram[-1] = self.gram[:, -1] = np.append(self.points @ point, point @ point)
        self.points = np.vstack([self.points, point])

    def nearest(self, accuracy: float) -> FloatArray:
        """Find the nearest point to 0; half its squared length is accurate to ``accuracy``."""
        self.shares = nearest_shares(self.gram, self.shares, accuracy)
        return np.asarray(self.shares @ self.points)


def nearest_shares(gram: FloatArray, start: FloatArray, accuracy: float) -> FloatArray:
    """Minimise ``b'Qb / 2`` over shares b >= 0 of sum 1, by an active set."""
    # The start may have been found with fewer points, whose matrix had another factor.
    shares, active = _minimise_active(gram, start, np.flatnonzero(start > 0))
    lowest, best, n_idle = np.inf, shares, 0
    for _ in range(50 * len(start) + 100):
        slope = gram[:, active] @ shares[active]
        value = float(shares[active] @ slope[active]) / 2
        n_idle = 0 if value < lowest else n_idle + 1
        if value < lowest:
            lowest, best = value, shares
        elif n_idle >= 30:
            # Where the matrix has lost digits, points may enter and leave in turn.
            return best
        entering = int(np.argmin(slope))
        gap = shares[active] @ slope[active] - slope[entering]
        if gap <= accuracy or entering in active:
            break
        last_shares = shares
        shares, active = _minimise_active(gram, shares, np.append(active, entering))
        if np.array_equal(last_shares, shares):
            break
    return shares


def _minimise_active(
    gram: FloatArray, shares: FloatArray, active: IntArray
) -> tuple[FloatArray, IntArray]:
    """Minimise over the active points; those whose shares would be negative leave."""
    shares = shares.copy()
    while len(active) > 1:
        values = shares[active]
        step = _step(gram[np.ix_(active, active)], values)
        falling = step < 0
        length = np.full(len(values), np.inf)
        length[falling] = values[falling] / -step[falling]
        nearest = int(np.argmin(length))
        if length[nearest] >= 1.0:
            values = values + step
            shares[active] = values / values.sum()
            break
        values = np.maximum(values + length[nearest] * step, 0.0)
        values[nearest] = 0.0
        shares[active] = values / values.sum()
        active = active[shares[active] > 0]
    else:
        shares[active] = 1.0
    return shares, active[shares[active] > 0]


def _step(gram: FloatArray, shares: FloatArray) -> FloatArray:
    """Newton step within the plane of sum 1; none along directions without curvature."""
    base = int(np.argmax(shares))
    rest = np.delete(np.arange(len(shares)), base)
    slope = gram @ shares
    slope = slope[rest] - slope[base]
    side = gram[rest, base]
    curvature = gram[np.ix_(rest, rest)] - side - side[:, np.newaxis] + gram[base, base]
    least = 1e-13 * gram.diagonal().max()  # Curvature that is rounding
    try:
        factor = cho_factor(curvature, lower=True, check_finite=False)
        if (np.diag(factor[0]) ** 2).min() <= least:
            raise np.linalg.LinAlgError
        step = -cho_solve(factor, slope, check_finite=False)
    except np.linalg.LinAlgError:
        values, vectors = eigh(curvature, check_finite=False)
        flat = values <= least * len(shares)
        parts = np.where(flat, 0.0, (vectors.T @ slope) / np.where(flat, 1.0, values))
        step = -vectors @ parts
    return np.insert(step, base, -step.sum())
