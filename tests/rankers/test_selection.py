"""Which solution is selected, and what the certificates say of it."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.exceptions import QuantileDistanceWarning
from tests.rankers.rows import rows as rows_of_classes

rows = partial(rows_of_classes, n=50, shift=0.5)


@pytest.mark.parametrize(
    ("kernel", "C", "tau"), [("linear", 0.01, 0.3), ("linear", 1.0, 0.05), ("rbf", 1.0, 0.3)]
)
def test_refining_lowers_the_value_of_the_problem_and_stays_above_the_bound(kernel, C, tau):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=tau, C=C, kernel=kernel, tol=1e-8)
    fits = {
        selection: clone(ranker).set_params(selection=selection).fit(X, y)
        for selection in ("closest", "objective", "refine")
    }
    refined, others = fits["refine"], (fits["closest"], fits["objective"])
    assert refined.lower_bound_ <= refined.objective_top_
    # Zero is a weight vector as well: all scores tie at their quantile, no hinge is satisfied.
    zero = C * 50
    best = min(zero, *(fit.objective_top_ for fit in others))
    assert refined.objective_top_ <= best * (1 + 1e-12)
    if C == 1.0:
        assert refined.objective_top_ < best
    assert refined.objective_ == refined.objective_top_
    assert refined.quantile_distance_ == 0
    assert {fit.lower_bound_ for fit in others} == {refined.lower_bound_}


def test_the_same_whatever_n_jobs_and_the_order_of_the_rows():
    X, y = rows(2, n=80)
    ranker = AccuracyAtTopRanker(tau=0.1, selection="refine").fit(X, y)
    threads = clone(ranker).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, threads.coef_)
    shuffled = np.random.default_rng(3).permutation(80)
    moved = clone(ranker).fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(ranker.coef_, moved.coef_)
    assert shuffled[moved.pivot_index_] == ranker.pivot_index_


@pytest.mark.parametrize(("C", "pairs"), [(0.01, False), (10.0, False), (10.0, True)])
def test_the_rule_of_the_paper_warns_where_no_candidate_is_near_its_quantile(C, pairs):
    X, y = rows(3, n=40, d=10)
    ranker = AccuracyAtTopRanker(tau=0.06, C=C, selection="closest")

    def fit(ranker):
        if pairs:
            lower, upper = X[y == 0], X[y == 1]
            n = min(len(lower), len(upper))
            return ranker.fit_pairs(lower[:n], upper[:n])
        return ranker.fit(X, y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(ranker)
    far = bool(ranker.candidate_distances_.min() > 1)
    assert far == (C == 10.0)
    assert [w.category for w in caught] == [QuantileDistanceWarning] * far
    if far:
        assert str(caught[0].message).startswith(
            "No candidate is at the top-0.06 quantile of its scores; the closest, which was taken,"
            f" is {ranker.quantile_distance_:.2g} margins away."
        )
        assert caught[0].filename == __file__
    if far and pairs:
        for selection in ("average", "objective", "refine"):
            fit(clone(ranker).set_params(selection=selection))  # warnings are errors


def test_a_distance_of_one_margin_as_of_separable_rows_is_not_far():
    X, y = rows(0, n=20, d=40)
    ranker = AccuracyAtTopRanker(tau=0.3, C=10.0, selection="closest").fit(X, y)
    assert ranker.quantile_distance_ == pytest.approx(1, abs=1e-3)
