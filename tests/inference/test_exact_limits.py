"""Limits of few draws: their equation, their edges, and their coverage by summation."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._limits import midp_limits, safe_limits, wilson_limits
from sklearn_rank.inference._moments import top_limits, top_variance
from tests.naming import for_each


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_midp_limits_solve_their_equation(level):
    for n in (1, 5, 40):
        for hits in range(n + 1):
            low, high = midp_limits(hits / n, n, level)
            if hits:
                chance = binom.sf(hits, n, low) + binom.pmf(hits, n, low) / 2
                assert chance == pytest.approx((1 - level) / 2, rel=1e-6)
            if hits < n:
                chance = binom.cdf(hits - 1, n, high) + binom.pmf(hits, n, high) / 2
                assert chance == pytest.approx((1 - level) / 2, rel=1e-6)
            mirrored = midp_limits(1 - hits / n, n, level)
            assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("limits", [midp_limits, safe_limits])
def test_limits_at_the_edges(limits):
    for estimate in (0.0, 1e-9, 0.2, 0.5, 0.93, 1.0):
        for n in (0.0, 1e-6, 0.3, 7.5, 1e4, 1e12):
            low, high = limits(estimate, n, 0.95)
            assert 0.0 <= low <= estimate <= high <= 1.0
            if estimate in (0.0, 1.0):
                assert (low, high)[int(estimate)] == estimate
        near = limits(estimate, 1e12, 0.95)
        assert near == pytest.approx(wilson_limits(estimate, 1e12, 0.95), abs=1e-9)


@for_each("n", [2, 5, 10, 30, 200])
def test_coverage_by_summation(n):
    """Wilson's alone falls to .83 next to an end; with the exact ones no less than .91."""
    chances = np.linspace(0.0005, 0.9995, 2000)
    hits = np.arange(n + 1)
    mass = binom.pmf(hits[:, None], n, chances)
    covered = {}
    for limits in (wilson_limits, safe_limits):
        ends = np.array([limits(h / n, n, 0.95) for h in hits])
        inside = (ends[:, :1] <= chances) & (chances <= ends[:, 1:])
        covered[limits] = np.sum(mass * inside, axis=0).min()
    assert covered[safe_limits] >= 0.91
    if n < 100:  # nearer to the end than the grid goes
        assert covered[wilson_limits] <= 0.86


# ---------------------------------------------------------------------------- precision at the top


@pytest.mark.parametrize(("eta", "top"), [(0.0, 5), (0.3, 80), (1.0, 5)])
def test_top_limits_are_the_wider_of_score_and_exact(eta, top):
    tau, level = 0.1, 0.95
    z = norm.ppf(0.975)
    grid = np.linspace(0.0, 1.0, 200_001)
    for hits in range(top + 1):
        seen = hits / top
        low, high = top_limits(seen, eta, top, tau, level)
        variance, _ = top_variance(seen, eta, top, tau)
        within = grid[
            top * (seen - grid) ** 2
            <= z**2 * (grid * (1 - grid) + (1 - tau) * (grid - eta) ** 2) + 1e-12
        ]
        shrunken = (hits + 0.5) / (top + 1)
        binomial = shrunken * (1 - shrunken)
        expected = (binomial + (1 - tau) * (shrunken - eta) ** 2) / top
        exact = midp_limits(seen, binomial / expected, level)
        assert variance == pytest.approx(expected)
        assert low == pytest.approx(min(within[0], exact[0]), abs=1e-5)
        assert high == pytest.approx(max(within[-1], exact[1]), abs=1e-5)
        assert low <= seen <= high


CELLS = [(50, 0.1, 0.1, 2.9), (100, 0.05, 0.1, 2.9), (100, 0.1, 0.1, 2.9), (200, 0.05, 0.3, 1.8)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tau", "share", "shift"), CELLS)
def test_coverage_of_a_top_of_five_to_ten_items(n, tau, share, shift):
    """From .80 to .90 with Wilson's limits."""
    grid = np.linspace(-6, 10, 100_001)
    above = share * norm.sf(grid - shift) + (1 - share) * norm.sf(grid)
    target = share * norm.sf(grid[np.argmax(above <= tau)] - shift) / tau
    rng, covered = np.random.default_rng(n), 0
    for _ in range(500):
        y_true = np.arange(n) < np.clip(rng.binomial(n, share), 1, n - 1)
        y_score = rng.normal(size=n) + shift * y_true
        covered += target in metric_interval(f"precision@top{tau}", y_true, y_score)
    assert covered / 500 >= 0.93
