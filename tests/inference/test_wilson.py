"""Wilson's limits: their equation, their edges, and that one formula serves all."""

import numpy as np
import pytest
from scipy.stats import norm

from sklearn_rank.bounds import auc_bound
from sklearn_rank.bounds._bound import score_limits
from sklearn_rank.inference._limits import wilson_limits


@pytest.mark.parametrize(("n", "level"), [(0.3, 0.5), (17.0, 0.9), (1e6, 0.999)])
def test_they_solve_their_equation(n, level):
    for estimate in (0.0, 1e-3, 0.5, 0.93, 1.0):
        low, high = wilson_limits(estimate, n, level)
        assert 0.0 <= low <= estimate <= high <= 1.0
        assert low < high
        for x in (low, high):
            if 0 < x < 1:
                z = (estimate - x) / np.sqrt(x * (1 - x) / n)
                assert abs(z) == pytest.approx(norm.ppf((1 + level) / 2), rel=1e-4)
        assert (low == 0.0) == (estimate == 0.0)
        assert (high == 1.0) == (estimate == 1.0)


def test_by_hand():
    # 4 (1/2 - A)^2 = 4 A (1 - A), so that A^2 - A + 1/8 = 0.
    level = 2 * norm.cdf(2.0) - 1
    low, high = wilson_limits(0.5, 4.0, level)
    assert (low, high) == pytest.approx((0.5 - 0.125**0.5, 0.5 + 0.125**0.5))


def test_nothing_is_known_of_no_draws():
    assert wilson_limits(0.3, 0.0, 0.95) == pytest.approx((0.0, 1.0))


def test_arrays_are_solved_one_by_one():
    estimates, factors = np.array([[0.0], [0.4], [1.0]]), np.array([1e-12, 0.1, 3.0])
    low, high = score_limits(estimates, factors)
    assert low.shape == high.shape == (3, 3)
    for i, j in np.ndindex(3, 3):
        assert (low[i, j], high[i, j]) == score_limits(estimates[i, 0], factors[j])


def test_chebyshevs_bound_is_the_same_equation():
    for auc in (0.0, 0.3, 0.95):
        bound = auc_bound(7, 30, 0.1, method="chebyshev", auc=auc, side="lower").value
        assert auc - bound == pytest.approx(float(score_limits(auc, (1 / 0.1 - 1) / 7)[0]))
