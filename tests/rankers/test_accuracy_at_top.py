"""AccuracyAtTopRanker as users meet it: parameters, weights, input of all kinds, errors."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.exceptions import SmallTopWarning
from tests.naming import for_each
from tests.rankers.rows import rows

SOLVERS = ["newton", "cvxpy"]
both_solvers = pytest.mark.parametrize("solver", SOLVERS)


def learned(ranker):
    return {name: value for name, value in vars(ranker).items() if name.endswith("_")}


def test_every_documented_attribute_is_learned_and_no_other():
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.2).fit(pd.DataFrame(X, columns=list("abc")), y)
    text = inspect.getdoc(AccuracyAtTopRanker)
    section = text[text.index("Attributes\n") : text.index("See Also")]
    names = (line.split(" : ")[0] for line in section.splitlines() if " : " in line)
    documented = {one for name in names if not name.startswith(" ") for one in name.split(", ")}
    kernel = AccuracyAtTopRanker(tau=0.2, kernel="rbf").fit(X, y)
    assert documented == set(learned(ranker)) | set(learned(kernel))
    assert set(learned(ranker)) ^ set(learned(kernel)) == {
        "coef_", "dual_coef_", "support_", "X_fit_", "feature_names_in_",
    }  # fmt: skip
    n = len(ranker.candidate_indices_)
    assert ranker.coef_.shape == (1, 3)
    assert ranker.intercept_.shape == (1,)
    assert ranker.candidate_objectives_.shape == ranker.candidate_distances_.shape == (n,)
    assert ranker.intercept_[0] == -ranker.threshold_
    assert ranker.quantile_distance_ == ranker.candidate_distances_.min()
    for name in ("quantile_", "threshold_", "objective_", "dual_gap_", "lower_bound_"):
        assert isinstance(getattr(ranker, name), float)
    assert isinstance(ranker.pivot_index_, int)
    assert isinstance(ranker.n_iter_, int)


@both_solvers
@pytest.mark.parametrize("tau", [0.03, 0.1, 0.5, 0.97])
def test_exactly_the_top_rows_lie_above_the_threshold(tau, solver):
    X, y = rows(1)
    ranker = AccuracyAtTopRanker(tau=tau, C=0.01, solver=solver).fit(X, y)
    decision = ranker.decision_function(X)
    assert len(set(decision)) == 40
    assert np.count_nonzero(decision > 0) == max(1, int(tau * 40 + 0.5))
    np.testing.assert_array_equal(ranker.predict(X), (decision > 0).astype(int))
    below = (X @ ranker.coef_[0])[decision < 0].max()
    assert ranker.threshold_ == pytest.approx((below + ranker.quantile_) / 2, rel=1e-12)


def test_equal_rows_are_on_one_side_of_the_threshold():
    # The scores of equal rows differ in the last bit where BLAS treats the last rows of a matrix
    # otherwise than the first: the threshold must not fall between them.
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(5, 45), rng.integers(8, 40)
        points = rng.normal(size=(max(2, n // 3), d))
        taken = rng.integers(0, len(points), n)
        X, y = points[taken], rng.integers(0, 2, n)
        y[:2] = [0, 1]
        ranker = AccuracyAtTopRanker(tau=0.3, tol=1e-4).fit(X, y)
        above = ranker.predict(X)
        one_by_one = np.concatenate([ranker.predict(X[i : i + 1]) for i in range(n)])
        np.testing.assert_array_equal(above, one_by_one)
        for point in range(len(points)):
            assert len(set(above[taken == point])) <= 1
        shuffled = rng.permutation(n)
        other = AccuracyAtTopRanker(tau=0.3, tol=1e-4).fit(X[shuffled], y[shuffled])
        np.testing.assert_array_equal(ranker.coef_, other.coef_)
        assert ranker.threshold_ == pytest.approx(other.threshold_, abs=1e-12)


def test_one_huge_row_does_not_tie_the_others():
    X, y = rows(1, 200)
    X[7] *= 1e8
    ranker = AccuracyAtTopRanker(tau=0.2, C=1e-4).fit(X, y)
    assert np.count_nonzero(ranker.decision_function(X) > 0) == 40


# ----------------------------------------------------------------------------- same data, same fit


def test_real_weights():
    X, y = rows(5)
    weight = np.random.default_rng(0).random(40) + 0.1
    ranker = AccuracyAtTopRanker(tau=0.3, C=0.1).fit(X, y, weight)
    scores = X @ ranker.coef_[0]
    reached = weight[scores >= ranker.quantile_].sum() / weight.sum()
    assert reached >= 0.3 - 1e-9
    assert reached - weight[scores == ranker.quantile_].sum() / weight.sum() < 0.3


def test_a_halved_weight_is_a_halved_cost_where_the_classes_are_not_balanced():
    X, y = rows(5)
    half = AccuracyAtTopRanker(tau=0.31, C=0.2, class_weight=None).fit(X, y, np.full(40, 0.5))
    full = AccuracyAtTopRanker(tau=0.31, C=0.1, class_weight=None).fit(X, y)
    assert half.candidate_objectives_ == pytest.approx(full.candidate_objectives_, rel=1e-5)


# --------------------------------------------------------------------------------- hard, but valid


@both_solvers
def test_two_rows(solver):
    ranker = AccuracyAtTopRanker(tau=0.5, C=10.0, solver=solver).fit([[0.0], [1.0]], [0, 1])
    # By symmetry both problems have w = 1, each with one hinge at the pivot.
    assert ranker.coef_[0, 0] == pytest.approx(1, abs=1e-4)
    assert ranker.objective_ == pytest.approx(10.5, rel=1e-5)
    assert ranker.predict([[0.0], [1.0]]).tolist() == [0, 1]


# ----------------------------------------------------------------------------- warnings and errors


@both_solvers
def test_too_few_iterations_warn_with_the_gap(solver):
    X, y = rows(17)
    ranker = AccuracyAtTopRanker(tau=0.2, max_iter=1, solver=solver)
    with pytest.warns(ConvergenceWarning) as caught:
        ranker.fit(X, y)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("40 of 40 problems did not reach tol=1e-06: the largest")
    assert f"relative duality gap is {ranker.dual_gap_:.1e} after 1 iterations; raise" in text
    assert caught[0].filename == __file__
    assert ranker.dual_gap_ > 1e-6
    assert ranker.converged_ is False
    assert ranker.n_iter_ == 1
    assert ranker.lower_bound_ <= ranker.objective_top_
    ranker.set_params(max_iter=500).fit(X, y)
    assert ranker.converged_ is True
    assert ranker.dual_gap_ <= 1e-6


@for_each(
    ("tau", "n", "small"),
    [(0.01, 40, True), (0.012, 40, True), (0.013, 40, False), (0.05, 40, False), (0.3, 2, False)],
)
def test_a_top_of_less_than_half_a_row_warns(tau, n, small):
    X, y = rows(18, n)
    ranker = AccuracyAtTopRanker(tau=tau)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.fit(X, y)
    assert [w.category for w in caught] == [SmallTopWarning] * small
    if small:
        message = str(caught[0].message)
        assert message.startswith(f"tau={tau:g} of {n} rows is less than one row")
        assert caught[0].filename == __file__
        assert np.count_nonzero(ranker.decision_function(X) > 0) == 1


def bad_fits():
    X, y = rows(19)
    nan = X.copy()
    nan[3, 1] = np.nan
    wide = np.random.default_rng(0).normal(size=(40, 5))
    return {
        "NaN in X": ({}, nan, y, None, "Input X contains NaN"),
        "one class with weight": ({}, X, y, 1.0 * y, "got one class only, 1: add rows of the"),
        "real target": ({}, wide, y + 0.5 * X[:, 0], None, "Unknown label type: continuous"),
        "tau = 0": ({"tau": 0.0}, X, y, None, "The 'tau' parameter of AccuracyAtTopRanker must"),
        "tau = 1": ({"tau": 1.0}, X, y, None, r"in the range \(1e-300, 1.0\). Got 1.0 instead"),
        "C = 0": ({"C": 0.0}, X, y, None, "The 'C' parameter of AccuracyAtTopRanker must be"),
        "class_weight": ({"class_weight": "equal"}, X, y, None, "The 'class_weight' parameter"),
        "unseen class": (
            {"class_weight": {0: 1.0, 7: 2.0}},
            X,
            y,
            None,
            r"The classes, \[1\], are",
        ),
        "negative class": ({"class_weight": {0: -1.0, 1: 2.0}}, X, y, None, "class_weight.*-1"),
        "zero class": ({"class_weight": {0: 1.0, 1: 0.0}}, X, y, None, "class_weight.*0"),
        "infinite class": ({"class_weight": {0: np.inf, 1: 1.0}}, X, y, None, "class_weight.*inf"),
        "quantile": ({"quantile": "rows"}, X, y, None, "The 'quantile' parameter"),
        "selection": ({"selection": "best"}, X, y, None, "The 'selection' parameter"),
        "solver": ({"solver": "osqp"}, X, y, None, "The 'solver' parameter"),
        "overflow": ({}, 1e200 * X, y, None, "The scores overflow: the features are too large"),
    }


BAD_FITS = bad_fits()


@for_each("case", BAD_FITS)
def test_bad_input_is_refused_and_leaves_no_trace(case):
    parameters, X, y, weight, message = BAD_FITS[case]
    good = rows(20, 30, 3)
    ranker = AccuracyAtTopRanker(tau=0.2).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, weight)
    assert learned(ranker) == {}
    with pytest.raises(NotFittedError):
        ranker.decision_function(good[0])

    frame = pd.DataFrame(good[0], columns=list("abc"))
    ranker = AccuracyAtTopRanker(tau=0.2).fit(frame, good[1])
    before = {name: np.copy(value) for name, value in learned(ranker).items()}
    decision = ranker.decision_function(frame)
    with pytest.raises(ValueError, match=message):
        ranker.set_params(**parameters).fit(X, y, weight)
    assert set(before) == set(learned(ranker))
    for name, value in before.items():
        np.testing.assert_array_equal(value, getattr(ranker, name))
    np.testing.assert_array_equal(ranker.decision_function(frame), decision)
