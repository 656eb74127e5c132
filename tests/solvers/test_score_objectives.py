"""Objectives of trees: values by their definitions, derivatives, curvatures and invariances."""

import numpy as np
import pytest
from scipy.special import expit

from sklearn_rank._solvers import (
    CumulatedPhi,
    ExponentialPush,
    LogisticLikelihood,
    LogisticPush,
    SmoothAccuracyAtTop,
    SmoothRankStatistic,
    SmoothTopPush,
)
from sklearn_rank._solvers._score_functions import smooth_quantile
from tests.oracles import score_objectives as oracle
from tests.oracles.smoothed_statistic import smoothed_phi


def square(u):
    return u**2


def squared(length):
    """phi(u) = u**2, summed over ranks."""
    ranks = np.arange(length + 1.0)
    return CumulatedPhi(ranks, np.append(0.0, np.cumsum(square(ranks[1:] / (length + 1)))))


def statistic(positive, weight):
    return SmoothRankStatistic(positive, weight, squared(int(weight.sum())), 2.0, 0.7)


def of_statistic(scores, positive, weight):
    length = int(weight.sum())
    return oracle.rank_statistic(
        scores, positive, weight, lambda place: smoothed_phi(place, length, square, 2.0), 0.7
    )


CASES = {
    "likelihood": (LogisticLikelihood, oracle.likelihood),
    "pairwise": (
        lambda y, w: LogisticPush(y, w, 1.0),
        lambda s, y, w: oracle.push(s, y, w, 1.0, oracle.softplus),
    ),
    "logistic push": (
        lambda y, w: LogisticPush(y, w, 3.5),
        lambda s, y, w: oracle.push(s, y, w, 3.5, oracle.softplus),
    ),
    "exponential push": (
        lambda y, w: ExponentialPush(y, w, 3.5),
        lambda s, y, w: oracle.push(s, y, w, 3.5, np.exp),
    ),
    "top push": (
        lambda y, w: SmoothTopPush(y, w, 0.15, 0.7),
        lambda s, y, w: oracle.top_push(s, y, w, 0.15, 0.7),
    ),
    "accuracy at top": (
        lambda y, w: SmoothAccuracyAtTop(y, w, 0.15, 0.7),
        lambda s, y, w: oracle.accuracy_at_top(s, y, w, 0.15, 0.7),
    ),
    "rank statistic": (statistic, of_statistic),
}
every_objective = pytest.mark.parametrize(("make", "value"), CASES.values(), ids=CASES)
CONVEX = ["likelihood", "pairwise", "logistic push", "exponential push", "top push"]


def data(seed=0, n=12, scale=1.5):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    positive[:2] = True, False
    # Whole numbers, so that some are tied.
    return scale * rng.integers(-2, 3, n), positive, rng.integers(1, 4, n).astype(float)


@every_objective
def test_values_are_those_of_the_definition(make, value):
    for scale in (0.0, 0.1, 1.5):
        for seed in range(3):
            scores, positive, weight = data(seed, scale=scale)
            found = make(positive, weight).value(scores)
            assert found == pytest.approx(value(scores, positive, weight), rel=1e-9)


@every_objective
def test_gradients_are_difference_quotients_and_curvatures_positive(make, value):
    for seed, scale in ((0, 1.5), (1, 0.0), (2, 0.3)):
        scores, positive, weight = data(seed, scale=scale)
        gradient, curvature = make(positive, weight).gradient_and_curvature(scores)
        for i, step in enumerate(1e-5 * np.eye(len(scores))):
            up, down = (value(s, positive, weight) for s in (scores + step, scores - step))
            assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-8)
        assert np.all(curvature > 0)


@pytest.mark.parametrize("name", CASES)
def test_twice_the_curvature_is_above_the_second_derivatives(name):
    make, _ = CASES[name]
    for seed, scale in ((0, 1.5), (1, 0.0), (2, 0.3)):
        scores, positive, weight = data(seed, scale=scale)
        objective = make(positive, weight)
        _, curvature = objective.gradient_and_curvature(scores)
        hessian = np.array(
            [
                (
                    objective.gradient_and_curvature(scores + step)[0]
                    - objective.gradient_and_curvature(scores - step)[0]
                )
                / 2e-5
                for step in 1e-5 * np.eye(len(scores))
            ]
        )
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-9)
        least = np.linalg.eigvalsh(2 * np.diag(curvature) - hessian)[0]
        assert least > -1e-7
        if name in CONVEX:
            assert np.linalg.eigvalsh(hessian)[0] > -1e-8


@every_objective
def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter(make, value):
    scores, positive, weight = data()
    gradient, curvature = make(positive, weight).gradient_and_curvature(scores)
    rows = np.repeat(np.arange(len(scores)), weight.astype(int))
    rows = np.random.default_rng(0).permutation(rows)
    repeated = make(positive[rows], np.ones(len(rows))).gradient_and_curvature(scores[rows])
    for one, many in zip((gradient, curvature), repeated, strict=True):
        np.testing.assert_allclose(np.bincount(rows, many), one, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in CASES if name != "likelihood"])
def test_a_constant_that_is_added_to_all_scores_changes_nothing(name):
    scores, positive, weight = data()
    make, _ = CASES[name]
    objective = make(positive, weight)
    gradient, curvature = objective.gradient_and_curvature(scores)
    assert gradient.sum() == pytest.approx(0.0, abs=1e-14)
    moved = objective.gradient_and_curvature(scores + 100.0)
    np.testing.assert_allclose(moved[0], gradient, atol=1e-13)
    np.testing.assert_allclose(moved[1], curvature, atol=1e-13)


@every_objective
def test_large_scores_do_not_overflow(make, value):
    for scale in (1e3, 1e8):
        scores, positive, weight = data(scale=scale)
        objective = make(positive, weight)
        gradient, curvature = objective.gradient_and_curvature(scores)
        assert np.isfinite(objective.value(scores))
        assert np.all(np.isfinite(gradient))
        assert np.all(np.isfinite(curvature))
        assert np.all(curvature >= 0)


def test_the_top_becomes_the_mean_of_the_largest_scores_as_the_width_shrinks():
    scores, positive, weight = data(3)
    for width in (1e-2, 1e-4):
        found = SmoothTopPush(positive, weight, 0.3, width).value(scores)
        expected = oracle.top_push(scores, positive, weight, 0.3, 0)
        assert found == pytest.approx(expected, abs=3 * width)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6])
def test_the_smooth_quantile_has_its_share_above(scale):
    scores, _, weight = data(scale=scale)
    for tau in (1e-4, 0.05, 0.5, 0.99):
        t = smooth_quantile(scores, weight, tau, 0.5)
        above = weight @ expit((scores - t) / 0.5) / weight.sum()
        assert above == pytest.approx(tau, rel=1e-6 * max(scale, 1.0))
