"""Intervals for the height of the negatives, and for the largest difference of the rates."""

import numpy as np
import pytest
from scipy.stats import kstwo, norm

from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure


def drawn(rng, n_pos=40, n_neg=120, shift=1.0, step=None):
    y = np.arange(n_pos + n_neg) < n_pos
    score = rng.normal(size=len(y)) + shift * y
    return y, score if step is None else np.round(score / step) * step


def jackknife_error(measure, y, score):
    """Standard error by leaving out one item at a time, class by class."""
    variance = 0.0
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        left = [measure(np.delete(y, i), np.delete(score, i)) for i in rows]
        variance += (len(rows) - 1) * np.var(left)
    return np.sqrt(variance)


@pytest.mark.parametrize("step", [None, 0.5])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_the_error_of_the_height_is_that_of_the_jackknife(p, step):
    measure = get_measure(f"negative_height_loss@{p}")
    y, score = drawn(np.random.default_rng(p), step=step)
    found = metric_interval(measure, y, score)
    assert found.estimate == pytest.approx(measure(y, score), rel=1e-14)
    assert found.low < found.estimate < found.high
    np.testing.assert_allclose(found.standard_error, jackknife_error(measure, y, score), rtol=0.05)


def test_the_height_covers_and_never_claims_certainty():
    rng = np.random.default_rng(0)
    grid = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    target = np.mean(norm.cdf(grid - 1.0) ** 4) ** 0.25
    found = [metric_interval("negative_height_loss@4", *drawn(rng, 15, 60)) for _ in range(150)]
    assert np.mean([target in one for one in found]) >= 0.92
    perfect = metric_interval("negative_height_loss@4", [0, 0, 0, 1, 1], [1, 2, 3, 4, 5])
    assert perfect.estimate == perfect.low == 0.0 < perfect.high
    assert perfect.standard_error is None


def test_the_norm_of_the_highest_negative_alone_is_refused():
    y, score = drawn(np.random.default_rng(2))
    with pytest.raises(ValueError, match="no influence function"):
        metric_interval("negative_height_loss@inf", y, score)


def test_the_largest_difference_strays_no_farther_than_both_distributions():
    y, score = drawn(np.random.default_rng(3))
    found = metric_interval("ks", y, score, level=0.9)
    half = found.high - found.estimate
    # Kolmogorov's quantiles are two-sided: each class with half of the error is an upper bound.
    each = 1 - np.sqrt(0.9)
    assert half <= kstwo.isf(each, 40) + kstwo.isf(each, 120) + 1e-3
    assert half >= kstwo.isf(0.1, 40)
    assert found.estimate - found.low == pytest.approx(half)


@pytest.mark.parametrize("step", [None, 1.0])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_largest_difference_covers(shift, step):
    rng = np.random.default_rng(4)
    edges = np.linspace(-8, 8, 4001) if step is None else np.arange(-8, 9) - 0.5
    target = np.max(norm.sf(edges - shift) - norm.sf(edges))
    found = [metric_interval("ks", *drawn(rng, 10, 60, shift, step), level=0.8) for _ in range(60)]
    assert np.mean([target in one for one in found]) >= 0.8
