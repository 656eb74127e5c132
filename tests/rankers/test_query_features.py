"""Linear rankers that normalise features per query, and scorers that hand them the ids."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline

from sklearn_rank import OrderPreservingRanker
from sklearn_rank._lists import Lists
from sklearn_rank._solvers import as_design
from sklearn_rank.exceptions import QueryOverlapWarning
from sklearn_rank.metrics import get_measure, get_scorer
from sklearn_rank.preprocessing import QueryNormalizer
from sklearn_rank.rankers import _linear_base as _penalty

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{QueryOverlapWarning.__module__}.{QueryOverlapWarning.__name__}"
)
RANKERS = [
    OrderPreservingRanker(normalize="zscore", tol=1e-9),
    OrderPreservingRanker("softmax", normalize=QueryNormalizer("minmax"), alpha=0.1, tol=1e-9),
    OrderPreservingRanker("pairwise_squared", normalize="rank", tol=1e-9),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=repr)
CV = GroupKFold(3)


def data(n_queries=12, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 9, n_queries))
    X = rng.normal(size=(len(qid), 3)) + qid[:, np.newaxis]
    y = rng.binomial(2, 1 / (1 + np.exp(qid - X[:, 0])))
    order = rng.permutation(len(qid))
    return X[order], y[order], qid[order]


def normalizer_of(ranker):
    kind = ranker.normalize
    return clone(kind) if isinstance(kind, QueryNormalizer) else QueryNormalizer(kind)


@every_ranker
def test_it_is_the_ranker_of_normalised_features(ranker):
    X, y, qid = data()
    fitted = clone(ranker).fit(X, y, qid=qid)
    Z = normalizer_of(ranker).fit_transform(X, qid=qid)
    plain = clone(ranker).set_params(normalize=None).fit(Z, y, qid=qid)
    expected = plain.predict(Z)
    np.testing.assert_allclose(fitted.predict(X, qid=qid), expected, atol=1e-6)
    found = fitted.decision_function(X, qid=qid)
    np.testing.assert_array_equal(found, fitted.predict(X, qid=qid))
    assert fitted.score(X, y, qid=qid) == get_measure(ranker.measure)(y, found, qid=qid)
    assert set(fitted.rank(X, qid=qid)[qid == 1]) == set(range(1, np.sum(qid == 1) + 1))
    np.testing.assert_array_equal(plain.predict(Z, qid=qid), expected)
    with pytest.raises(ValueError, match="normalises features within each query and needs qid"):
        fitted.predict(X)
    with pytest.raises(TypeError, match="dense data is required"):
        clone(ranker).fit(sp.csr_array(X), y, qid=qid)


@every_ranker
def test_weights_are_repetitions(ranker):
    X, y, qid = data()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    one = clone(ranker).fit(X, y, qid=qid, sample_weight=weight)
    two = clone(ranker).fit(X[rows], y[rows], qid=qid[rows])
    np.testing.assert_allclose(one.predict(X, qid=qid), two.predict(X, qid=qid), atol=1e-6)


@every_ranker
def test_one_list_needs_no_ids(ranker):
    X, y, _ = data(3)
    fitted = clone(ranker).fit(X, y, qid=0)
    np.testing.assert_allclose(fitted.predict(X), fitted.predict(X, qid=0), atol=1e-12)
    np.testing.assert_allclose(fitted.predict(X)[:2], fitted.predict(X[:2]), atol=1e-12)


def test_batches_are_the_fit_of_all():
    X, y, qid = data()
    ranker = OrderPreservingRanker("pairwise_squared", alpha=1.0, normalize="zscore", tol=1e-10)
    whole = clone(ranker).fit(X, y, qid=qid)
    for query in range(12):
        rows = qid == query
        if len(np.unique(y[rows])) > 1:
            ranker.partial_fit(X[rows], y[rows], qid=0)
    np.testing.assert_allclose(ranker.predict(X, qid=qid), whole.predict(X, qid=qid), atol=1e-5)
    with pytest.raises(ValueError, match="needs qid to score"):
        ranker.predict(X)


def by_hand(model, X, y, qid, measure):
    values = []
    for train, test in CV.split(X, y, qid):
        normalizer = QueryNormalizer("rank")
        Z, Z_test = (normalizer.fit_transform(X[r], qid=qid[r]) for r in (train, test))
        fitted = clone(model).fit(Z, y[train])
        if hasattr(fitted, "predict_proba"):
            score = fitted.decision_function(Z_test)
        else:
            score = fitted.predict(Z_test)
        values.append(get_measure(measure)(y[test], score, qid=qid[test]))
    return values


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()])
def test_scorers_hand_ids_to_the_steps_of_a_pipeline(model):
    X, y, qid = data()
    y = (y > 0).astype(int)
    pipe = make_pipeline(QueryNormalizer("rank"), model)
    with config_context(enable_metadata_routing=True):
        result = cross_validate(
            pipe, X, y, cv=CV, params={"groups": qid}, error_score="raise",
            scoring={"a": get_scorer("ndcg@3"), "b": get_scorer("ap")},
        )  # fmt: skip
        fitted = clone(pipe).fit(X, y, groups=qid)
        inside = get_scorer("ndcg@3")(fitted, X, y, qid=qid)
    np.testing.assert_allclose(result["test_a"], by_hand(model, X, y, qid, "ndcg@3"))
    np.testing.assert_allclose(result["test_b"], by_hand(model, X, y, qid, "ap"))
    # With routing off, too.
    assert get_scorer("ndcg@3")(fitted, X, y, qid=qid) == inside


def test_groups_reach_predict_in_pipelines_and_searches():
    (X, y, qid), ranker = data(), RANKERS[1]
    with config_context(enable_metadata_routing=True):
        values = cross_val_score(
            clone(ranker), X, y, cv=CV, params={"groups": qid}, error_score="raise"
        )
        scored = cross_val_score(
            make_pipeline(clone(ranker)), X, y, cv=CV, params={"groups": qid},
            scoring=get_scorer("ndcg"), error_score="raise",
        )  # fmt: skip
        np.testing.assert_allclose(scored, values)
        search = GridSearchCV(
            clone(ranker), {"alpha": [0.1, 1.0]}, cv=CV, scoring=get_scorer("ndcg@3"),
            error_score="raise",
        ).fit(X, y, groups=qid)  # fmt: skip
        pipe = make_pipeline(clone(ranker)).fit(X, y, groups=qid)
        np.testing.assert_array_equal(pipe.predict(X, groups=qid), pipe[-1].predict(X, qid=qid))
    best = search.best_estimator_
    found = get_measure("ndcg@3")(y, best.predict(X, qid=qid), qid=qid)
    assert get_scorer("ndcg@3")(search, X, y, qid=qid) == found


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_variances_within_lists_by_blocks_of_rows(block, weighted, monkeypatch):
    monkeypatch.setattr(_penalty, "COPIED_ROWS", block)
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 20, 12)
    offsets = np.append(0, np.cumsum(sizes))
    X = rng.normal(size=(offsets[-1], 3)) + 1e6
    weight = rng.integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    parts = [slice(a, b) for a, b in itertools.pairwise(offsets)]
    means = [np.average(X[q], axis=0, weights=weight[q]) for q in parts]
    factor = rng.uniform(1, 2, len(sizes))
    variances = [
        np.average((X[q] - mean) ** 2, axis=0, weights=weight[q])
        for q, mean in zip(parts, means, strict=True)
    ]
    expected = (
        factor @ variances,
        factor @ (np.array(variances) > 0),
        factor @ X[offsets[:-1]] ** 2,
    )
    lists = Lists(labels=np.zeros(len(X)), offsets=offsets, weight=weight if weighted else None)
    found = _penalty._variances(as_design(X), lists, factor)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    centred = X - 1e6
    found = _penalty._variances(as_design(sp.csr_array(centred)), lists, factor)
    np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-8, atol=1e-10)
