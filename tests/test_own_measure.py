"""One measure of a user, through everything that takes a measure."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.calibration import check_calibration, discount_norm, regret_bound, utility
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import (
    LocalAUC,
    get_measure,
    get_scorer,
    linear_rank_score,
    make_measure,
    positional_score,
)
from sklearn_rank.model_selection import BoundSearchCV, make_bound_scorer

# ------------------------------------------------------------------------- the ten lines of a user


def first_two(y_true, y_score):
    """Share of what the first two places can hold, by grade."""
    best = np.sort(y_true)[::-1][:2].sum()
    return y_true[np.argsort(-y_score, kind="stable")[:2]].sum() / best if best else np.nan


def utilities(y_true):
    best = np.sort(y_true)[::-1][:2].sum()
    return y_true / best if best else np.full(len(y_true), np.nan)


def discounts(n):
    return (np.arange(n) < 2).astype(float)


MEASURE = make_measure(
    first_two, kind="graded", range=(0.0, 1.0), utilities=utilities, discounts=discounts
)


# ------------------------------------------------------------------------------------- its travels


@pytest.fixture
def data():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 4))
    qid = np.repeat(np.arange(60), 10)
    y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0] - 0.5 * X[:, 1])))
    y[::10] = 1
    return X, y, qid


@pytest.fixture
def scores(data):
    X, y, _ = data
    rng = np.random.default_rng(8)
    good, bad = X[:, 0] + 0.5 * X[:, 1], X[:, 2]
    return {"good": good, "noisy": good + rng.normal(size=len(y)), "bad": bad}


def by_hand(y, score, qid):
    return np.array([first_two(y[qid == one], score[qid == one]) for one in np.unique(qid)])


def test_intervals_and_tests(data, scores):
    _, y, qid = data
    values = by_hand(y, scores["good"], qid)
    interval = metric_interval(MEASURE, y, scores["good"], qid=qid)
    assert interval.estimate == pytest.approx(values.mean(), rel=1e-14)
    assert 0 < interval.low < interval.high <= 1
    assert "first_two" in interval.target
    worse = by_hand(y, scores["bad"], qid)
    result = compare(
        MEASURE, y, {"a": scores["good"], "b": scores["bad"]}, qid=qid, method="randomization"
    )
    assert result.estimate == pytest.approx((values - worse).mean(), rel=1e-13)
    assert result.pvalue < 0.01
    many = compare(MEASURE, y, scores, qid=qid, method="t")
    assert many.values[many.names.index("bad")] == pytest.approx(worse.mean(), rel=1e-14)
    compared = compare(MEASURE, y, scores, qid=qid, random_state=0)
    assert compared.values[compared.names.index("good")] == pytest.approx(values.mean(), rel=1e-14)


def test_scorers_and_searches(data):
    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_val_score(
            Ridge(),
            X,
            y,
            scoring=get_scorer(MEASURE),
            cv=GroupKFold(3),
            params={"groups": qid},
            error_score="raise",
        )
        search = GridSearchCV(
            OrderPreservingRanker(measure=MEASURE),
            {"alpha": [0.1, 10.0]},
            cv=GroupKFold(3),
            error_score="raise",
        ).fit(X, y, groups=qid)
        bounded = BoundSearchCV(
            OrderPreservingRanker(measure=MEASURE),
            {"alpha": [0.1, 10.0]},
            measure=MEASURE,
            cv=GroupKFold(3),
            random_state=0,
        ).fit(X, y, groups=qid)
    train, test = next(iter(GroupKFold(3).split(X, y, qid)))
    model = Ridge().fit(X[train], y[train])
    expected = by_hand(y[test], model.predict(X[test]), qid[test]).mean()
    assert found[0] == pytest.approx(expected, rel=1e-14)
    assert search.best_score_ > 0.6
    assert 0 <= bounded.best_bound_ < bounded.best_score_ <= 1
    assert "first_two" in str(bounded.report_)
    model = Ridge().fit(X, y)
    limit = make_bound_scorer(MEASURE)(model, X, y, qid=qid)
    assert 0 < limit < get_scorer(MEASURE)(model, X, y, qid=qid)


def test_rankers_that_minimise_a_loss_for_it(data):
    X, y, qid = data
    ranker = OrderPreservingRanker("pairwise_squared", measure=MEASURE, alpha=0.01)
    ranker.fit(X, y, qid=qid)
    expected = by_hand(y, ranker.predict(X), qid).mean()
    assert ranker.score(X, y, qid=qid) == pytest.approx(expected, rel=1e-14)
    assert ranker.coef_[0] > 2 * abs(ranker.coef_[2])


def test_calibration(data):
    _, y, qid = data
    u = utility(MEASURE, y, qid=qid)
    np.testing.assert_array_equal(u[qid == 3], utilities(y[qid == 3]))
    assert discount_norm(MEASURE, 10) == pytest.approx(np.sqrt(2.0))
    bound = regret_bound("pairwise_squared", MEASURE, 0.01, n_items=10, max_utility=1.0)
    assert bound.target == "best expected first_two - expected first_two"
    assert not check_calibration("pairwise_squared", MEASURE, n_trials=5, random_state=0).found


# --------------------------------------------------------- a gain, a discount, a phi of one's own


def test_a_gain_and_a_discount_of_ones_own(data, scores):
    X, y, qid = data
    parameters = {"gain": np.sqrt, "discount": lambda i, n: 1.0 / i}
    measure = get_measure(positional_score, **parameters)
    value = positional_score(y, scores["good"], qid=qid, **parameters)
    assert metric_interval(measure, y, scores["good"], qid=qid).estimate == pytest.approx(value)
    ranker = OrderPreservingRanker("pairwise_squared", measure=measure).fit(X, y, qid=qid)
    assert ranker.score(X, y, qid=qid) == positional_score(
        y, ranker.predict(X), qid=qid, **parameters
    )
    np.testing.assert_allclose(utility(measure, y, qid=qid), np.sqrt(y))


def test_a_score_generating_function_of_ones_own(data, scores):
    X, grade, _ = data
    y = (grade > 1).astype(int)
    phi = LocalAUC(0.7)
    arguments = {"phi": phi, "normalize": "minmax"}
    compared = compare(phi, y, scores, random_state=0)
    assert compared.values[compared.names.index("good")] == pytest.approx(
        linear_rank_score(y, scores["good"], **arguments), abs=1e-12
    )
    values = cross_val_score(LogisticRegression(), X, y, scoring=get_scorer(phi), cv=2)
    assert values.shape == (2,)
    assert np.all((values > 0.5) & (values <= 1))
