"""The nearest point of a convex hull to 0, against an interior point solver."""

import cvxpy as cp
import numpy as np
import pytest

from sklearn_rank._solvers._nearest_point import Hull, nearest_shares


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_shares_against_an_interior_point_solver(scale):
    for rank in (1, 3, 12, 40):
        rng = np.random.default_rng(rank)
        points = rng.normal(size=(30, rank)) + 1.0
        gram = scale * points @ points.T
        start = np.zeros(30)
        start[4] = 1.0
        shares = nearest_shares(gram, start, 1e-13 * max(scale, 1.0))
        assert np.all(shares >= 0)
        assert shares.sum() == pytest.approx(1.0, abs=1e-14)
        b = cp.Variable(30, nonneg=True)
        goal = scale * cp.sum_squares(points.T @ b) / 2
        expected = cp.Problem(cp.Minimize(goal), [cp.sum(b) == 1]).solve(solver="CLARABEL")
        assert shares @ gram @ shares / 2 == pytest.approx(expected, rel=1e-6, abs=1e-7)
        slope = gram @ shares
        assert shares @ slope - slope.min() <= 1e-10 * max(scale, 1.0)


def test_equal_points():
    """The matrix is singular."""
    start = np.full(5, 0.2)
    np.testing.assert_allclose(nearest_shares(np.ones((5, 5)), start, 1e-14).sum(), 1.0)


def test_points_are_added_one_by_one():
    hull = Hull(2)
    for first in (5.0, 4.0, 3.0, 2.0, 1.0):
        hull.add(np.array([first, 0.5]))
        np.testing.assert_allclose(hull.nearest(1e-12), [first, 0.5])
