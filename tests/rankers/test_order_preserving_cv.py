"""The penalty: its scale, and its choice by cross-validation, against loops."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score

from sklearn_rank import OrderPreservingRanker, OrderPreservingRankerCV
from sklearn_rank.datasets import make_clicks, make_subset_ranking
from sklearn_rank.exceptions import QueryOverlapWarning
from sklearn_rank.losses import get_loss
from sklearn_rank.metrics import get_measure, get_scorer
from sklearn_rank.preprocessing import QueryNormalizer

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{QueryOverlapWarning.__module__}.{QueryOverlapWarning.__name__}"
)


def data(n_queries=20, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 9, n_queries))
    X = rng.normal(size=(len(qid), 3)) + qid[:, np.newaxis]
    y = rng.binomial(2, 1 / (1 + np.exp(qid - X[:, 0])))
    order = rng.permutation(len(qid))
    return X[order], y[order], qid[order]


def scale_by_hand(X, v, qid, loss):
    """A tenth of the mean curvature along the utilities, times the unit of each feature."""
    curvatures, variances, squares = [], [], []
    for query in np.unique(qid):
        rows = qid == query
        z = v[rows] - v[rows].mean()
        z /= z.std() if np.ptp(z) > 0 else 1.0
        on = get_loss(loss).on(v[rows])
        slopes = on.value_and_gradient(z / 2)[1] - on.value_and_gradient(-z / 2)[1]
        curvatures.append(z @ slopes)
        variances.append(np.where(np.ptp(X[rows], axis=0) > 0, X[rows].var(axis=0), 0.0))
        squares.append(X[rows][0] ** 2)
    units = []
    for of_queries, square in zip(np.transpose(variances), np.transpose(squares), strict=True):
        varies = of_queries > 0
        values = of_queries if varies.any() else square
        units.append(np.average(values, weights=curvatures * (varies | ~varies.any())))
    penalties = 0.1 * np.mean(curvatures) * np.array(units)
    return np.where(penalties > 0, penalties, 1.0)


@pytest.mark.parametrize(
    "loss", ["pairwise_logistic", "softmax", "pointwise_squared", "pairwise_exponential"]
)
def test_scale(loss):
    X, y, qid = data()
    # Features that vary in few queries, in none, and that are 1 or 0 everywhere.
    X = np.column_stack((X, X[:, 0] * (qid < 3), qid, np.ones(len(qid)), np.zeros(len(qid))))
    v = np.zeros(len(y))
    for query in np.unique(qid):
        rows = qid == query
        gains = 2.0 ** y[rows] - 1
        ideal = np.sort(gains)[::-1] @ (1 / np.log2(np.arange(2, len(gains) + 2)))
        v[rows] = gains / ideal if ideal else 0.0
    ranker = OrderPreservingRanker(loss, alpha="scale").fit(X, y, qid=qid)
    assert ranker.alpha_ == pytest.approx(scale_by_hand(X, v, qid, loss))
    assert clone(ranker).set_params(alpha="10*scale").fit(X, y, qid=qid).alpha_ == pytest.approx(
        10 * ranker.alpha_
    )
    sparse = clone(ranker).fit(sp.csr_array(X), y, qid=qid)
    assert sparse.alpha_ == pytest.approx(ranker.alpha_)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    one = clone(ranker).fit(X, y, qid=qid, sample_weight=weight)
    two = clone(ranker).fit(X[rows], y[rows], qid=qid[rows])
    assert one.alpha_ == pytest.approx(two.alpha_)
    # In other units of each feature, and from another origin, the scores are the same.
    units = np.array([1e4, 1e-6, 1.0, 1e5, 1e-3, 1e4, 1e8])
    moved = np.add(X, [5, 5, 5, 5, 0, 0, 0]) * units
    other = clone(ranker).set_params(tol=1e-10).fit(moved, y, qid=qid)
    same = clone(ranker).set_params(tol=1e-10).fit(X, y, qid=qid)
    assert list(same.varies_) == 4 * [True] + 3 * [False]
    np.testing.assert_allclose(units * other.coef_, same.coef_, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(same.coef_[5:], 0.0, atol=1e-8)


def test_the_scale_of_the_first_batch_in_which_a_feature_varies_stays():
    X, y, qid = data()
    ranker = OrderPreservingRanker("pairwise_squared", alpha="scale")
    first, then = qid < 10, qid >= 10
    # In the first batch the last feature does not vary.
    X[first, 2] = 5.0
    expected = [clone(ranker).fit(X[b], y[b], qid=qid[b]).alpha_ for b in (first, then)]
    ranker.partial_fit(X[first], y[first], qid=qid[first])
    np.testing.assert_array_equal(ranker.alpha_, expected[0])
    for _ in range(2):
        ranker.partial_fit(X[then], y[then], qid=qid[then])
        np.testing.assert_array_equal(ranker.alpha_, [*expected[0][:2], expected[1][2]])
    ranker.partial_fit(X[first], y[first], qid=qid[first])
    np.testing.assert_array_equal(ranker.alpha_, [*expected[0][:2], expected[1][2]])
    assert ranker.varies_.all()


@pytest.mark.parametrize("alpha", ["scales", "-1*scale", "x*scale", "nan*scale", "1*1*scale"])
def test_what_is_no_scale(alpha):
    X, y, qid = data()
    with pytest.raises(ValueError, match="must be a number of at least 0, 'scale'"):
        OrderPreservingRanker(alpha=alpha).fit(X, y, qid=qid)


def test_the_choice_is_that_of_loops():
    X, y, qid = data()
    losses, kinds, alphas = ["softmax", "pairwise_squared"], ["zscore", None], [10.0, 0.1, 1.0]
    search = OrderPreservingRankerCV(
        losses, alphas=alphas, normalize=kinds, measure="ndcg@3", cv=3
    ).fit(X, y, qid=qid)
    # Folds are of the queries in the order in which they appear, whatever their ids.
    code = pd.factorize(qid)[0]
    order = np.argsort(code, kind="stable")
    folds = list(GroupKFold(3).split(order, groups=code[order]))
    means = []
    for kind in kinds:
        for loss in losses:
            for alpha in (10.0, 1.0, 0.1):
                ranker = OrderPreservingRanker(
                    loss, measure="ndcg@3", alpha=f"{alpha:g}*scale", normalize=kind
                )
                values = []
                for train, test in ((order[a], order[b]) for a, b in folds):
                    fitted = clone(ranker).fit(X[train], y[train], qid=qid[train])
                    score = fitted.predict(X[test], qid=qid[test])
                    values += get_measure("ndcg@3")(
                        y[test], score, qid=qid[test], average=None
                    ).tolist()
                means.append(np.mean(values))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], means, atol=2e-3)
    best = int(np.argmax(search.cv_results_["mean_test_score"]))
    assert search.best_params_ == search.cv_results_["params"][best]
    assert search.best_score_ == search.cv_results_["mean_test_score"][best]
    expected = OrderPreservingRanker(measure="ndcg@3", **search.best_params_).fit(X, y, qid=qid)
    np.testing.assert_allclose(search.predict(X, qid=qid), expected.predict(X, qid=qid), atol=1e-8)
    assert search.alpha_ == pytest.approx(expected.alpha_)


def test_weights_jobs_order_and_ids():
    X, y, qid = data()
    ranker = OrderPreservingRankerCV(alphas=[10, 1, 0.1], cv=3)
    expected = clone(ranker).fit(X, y, qid=qid)
    order = np.random.default_rng(3).permutation(len(y))
    names = np.array([f"query {q:02}" for q in qid])
    order = order[np.argsort(pd.factorize(qid)[0][order], kind="stable")]
    found = clone(ranker).set_params(n_jobs=2).fit(X[order], y[order], qid=names[order])
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    weighted = clone(ranker).fit(
        X, y, qid=qid, query_weight=1.0 + qid % 2, sample_weight=2 + 0 * y
    )
    assert weighted.n_queries_ == 20
    with pytest.raises(ValueError, match="alphas must contain at least one number"):
        clone(ranker).set_params(alphas=[0.0]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="cv=3 needs at least 3 queries"):
        clone(ranker).fit(*data(2)[:2], qid=data(2)[2])


def test_routing():
    X, y, qid = data()
    ranker = OrderPreservingRankerCV(alphas=[10, 0.1], cv=3, normalize=QueryNormalizer("rank"))
    with config_context(enable_metadata_routing=True):
        values = cross_val_score(
            ranker, X, y, cv=GroupKFold(3), params={"groups": qid},
            scoring=get_scorer("ndcg@3"), error_score="raise",
        )  # fmt: skip
    assert np.isfinite(values).all()


# ----------------------------------------------------------------------- clicks with propensities


def session_log(seed):
    X, y, qid = make_subset_ranking(
        60, 15, utility="exponential", return_X_y=True, random_state=seed
    )
    shown = X @ [1, 1, 0, 0, 0]
    log = make_clicks(y, shown, qid, n_sessions=150, noise=0.05, random_state=seed)
    return X[log.rows], log


def slow_dcg(gains, scores):
    """The gain at each place from the top, place by place; no scores are tied."""
    ordered = [gain for _, gain in sorted(zip(-scores, gains, strict=True))]
    return sum(gain / np.log2(2 + place) for place, gain in enumerate(ordered))


@pytest.mark.parametrize("seed", [1, 4])
def test_clicks_choose_by_their_value_divided_by_propensities(seed):
    rows, log = session_log(seed)
    alphas, sessions = [10, 0.1, 0.001], np.unique(log.qid)
    by_clicks, by_value = np.zeros(3), np.zeros(3)
    for train, test in GroupKFold(3).split(rows, groups=log.qid):
        for i, alpha in enumerate(alphas):
            ranker = OrderPreservingRanker("softmax", measure="dcg", alpha=f"{alpha}*scale")
            of_train = {"qid": log.qid[train], "propensity": log.propensity[train]}
            ranker.fit(rows[train], log.clicks[train], **of_train)
            for session in np.unique(log.qid[test]):
                own = log.qid == session
                scores, clicks = ranker.predict(rows[own]), log.clicks[own]
                by_clicks[i] += slow_dcg(clicks, scores) / len(sessions)
                by_value[i] += slow_dcg(clicks / log.propensity[own], scores) / len(sessions)
    ranker = OrderPreservingRankerCV("softmax", alphas=alphas, measure="dcg", normalize=None, cv=3)
    ranker.fit(rows, log.clicks, qid=log.qid, propensity=log.propensity)
    np.testing.assert_allclose(ranker.cv_results_["mean_test_score"], by_value, atol=1e-3)
    assert ranker.best_params_["alpha"] == f"{alphas[by_value.argmax()]:g}*scale"
    if seed == 4:
        assert by_clicks.argmax() != by_value.argmax()
    final = OrderPreservingRanker("softmax", measure="dcg", alpha=ranker.best_params_["alpha"])
    final.fit(rows, log.clicks, qid=log.qid, propensity=log.propensity)
    np.testing.assert_allclose(ranker.coef_, final.coef_, rtol=1e-4)


@pytest.mark.parametrize("measure", ["dcg", "dcg@3", "precision@4", "rbp@0.7"])
@pytest.mark.parametrize("weighted", [False, True])
def test_propensities_of_one_leave_the_choice_as_it_was(measure, weighted):
    X, y, qid = data()
    y, weight = (y > 1).astype(int), None
    if weighted and measure != "rbp@0.7":  # which takes no weights of rows
        weight = np.random.default_rng(0).uniform(1, 3, len(y))
    ranker = OrderPreservingRankerCV(alphas=[10, 0.1], measure=measure, cv=3)
    expected = clone(ranker).fit(X, y, qid=qid, sample_weight=weight).cv_results_["test_scores"]
    ranker.fit(X, y, qid=qid, sample_weight=weight, propensity=np.ones(len(y)))
    np.testing.assert_allclose(ranker.cv_results_["test_scores"], expected, rtol=1e-12)


def test_what_has_no_estimate_from_clicks_is_refused():
    rows, log = session_log(0)
    clicks = {"y": log.clicks, "qid": log.qid, "propensity": log.propensity}
    for wish, message in (
        ({"measure": "ndcg"}, "depend on all labels of a query"),
        ({"measure": "ap"}, "no estimate of it on held-out queries: pass measure='dcg'"),
        ({"measure": "dcg", "losses": ["softmax", "ranksvm"]}, "is not order-preserving"),
    ):
        with pytest.raises(ValueError, match=message):
            OrderPreservingRankerCV(**wish).fit(rows, **clicks)
    ranker = OrderPreservingRankerCV(measure="dcg")
    with pytest.raises(ValueError, match="pass 1 / propensity"):
        ranker.fit(rows, **clicks | {"propensity": 1 / log.propensity})
