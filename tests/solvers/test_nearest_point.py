"""The nearest point of a convex hull to 0, against an interior point solver."""

import cvxpy as cp
import numpy as np
import pytest

from sklearn_rank._solvers._top_push import nearest_in_hull


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("rank", [1, 3, 12, 40])
def test_nearest_point_against_an_interior_point_solver(scale, rank):
    rng = np.random.default_rng(rank)
    points = rng.normal(size=(30, rank)) + 1.0
    nearest = nearest_in_hull(scale * points) / scale
    b = cp.Variable(30, nonneg=True)
    goal = cp.sum_squares(points.T @ b)
    expected = cp.Problem(cp.Minimize(goal), [cp.sum(b) == 1]).solve(solver="CLARABEL")
    assert nearest @ nearest == pytest.approx(expected, rel=1e-6, abs=1e-7)
    # All points lie beyond the plane through the nearest one.
    assert nearest @ nearest - np.min(points @ nearest) <= 1e-10


def test_points_may_be_equal():
    np.testing.assert_allclose(nearest_in_hull(np.ones((5, 3))), np.ones(3))
    np.testing.assert_allclose(nearest_in_hull(np.zeros((5, 3))), np.zeros(3))
