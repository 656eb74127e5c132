"""Clicks and the probability that they could happen: unbiased, or refused."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingRanker, losses
from sklearn_rank.exceptions import CalibrationWarning
from sklearn_rank.metrics import get_measure, get_scorer, make_measure
from tests.losses.cases import CASES
from tests.naming import for_each, shown

# Loss and score of a list of three rows, and grades that an examination reveals.
SHORT = np.array([0.3, -0.5, 0.1])
GRADES = np.array([2.0, 0.0, 1.0])
SEEN = np.array([0.9, 0.2, 0.35])


def clicks(seed=0, n_queries=12, grades=1):
    """Rows of queries in random order, with labels and propensities by position."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 8, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(qid), 3))
    y = rng.binomial(grades, 1 / (1 + np.exp(-X[:, 0])))
    y[np.append(0, np.cumsum(sizes)[:-1])] = grades
    position = np.concatenate([rng.permutation(size) for size in sizes]) + 1
    rows = rng.permutation(len(qid))
    return X[rows], y[rows], qid[rows], 1.0 / position[rows]


def outcomes(propensity):
    """Every examination of a list, and its probability."""
    for bits in product((0.0, 1.0), repeat=len(propensity)):
        seen = np.array(bits)
        yield seen, np.prod(np.where(seen == 1, propensity, 1 - propensity))


UNBIASED = [case for case in CASES if case.loss.is_order_preserving]
LARGE = {
    "PointwiseLogistic": losses.PointwiseLogistic(eta=30.0),
    "PointwiseExponential": losses.PointwiseExponential(eta=30.0),
    "PointwiseSquaredHinge": losses.PointwiseSquaredHinge(eta=30.0, t=1.75),
    "PointwiseDifferentiableHinge": losses.PointwiseDifferentiableHinge(eta=30.0, width=0.3),
}


@pytest.mark.parametrize("case", UNBIASED, ids=shown)
@pytest.mark.parametrize("graded", [False, True])
def test_the_expected_loss_of_clicks_is_that_of_the_relevance(case, graded):
    loss = LARGE.get(type(case.loss).__name__, case.loss)
    truth = GRADES if graded else (GRADES > 0).astype(float)
    gain = 2.0**truth - 1
    # A divergence has a term of the utilities alone; differences of scores are free of it.
    scores = [SHORT, np.array([1.0, 0.5, -1.5]), np.array([-0.2, 0.4, 2.0])]

    def of(utility, score):
        return float(loss.on(utility).value(score)[0])

    expected = [
        sum(
            chance * of((2.0 ** (seen * truth) - 1) / SEEN, score)
            for seen, chance in outcomes(SEEN)
        )
        for score in scores
    ]
    true = [of(gain, score) for score in scores]
    np.testing.assert_allclose(np.diff(expected), np.diff(true), rtol=1e-10)
    naive = [
        sum(chance * of(2.0 ** (seen * truth) - 1, score) for seen, chance in outcomes(SEEN))
        for score in scores
    ]
    assert not np.allclose(np.diff(naive), np.diff(true), rtol=1e-2)


@pytest.mark.parametrize("case", [c for c in CASES if not c.loss.is_order_preserving], ids=shown)
def test_other_losses_are_biased_and_refused(case):
    truth = (GRADES > 0).astype(float)
    scores = [SHORT, np.array([1.0, 0.5, -1.5])]

    def of(utility, score):
        return float(case.loss.on(utility).value(score)[0])

    expected = [
        sum(chance * of(seen * truth / SEEN, score) for seen, chance in outcomes(SEEN))
        for score in scores
    ]
    assert abs(np.diff(expected) - np.diff([of(truth, score) for score in scores])) > 0.01
    X, y, qid, propensity = clicks()
    ranker = OrderPreservingRanker(case.loss, measure="dcg")
    with pytest.raises(ValueError, match=r"propensities cannot make it unbiased.*'softmax'"):
        ranker.fit(X, y, qid=qid, propensity=propensity)


@for_each("loss", losses.get_loss_names(order_preserving=True))
def test_fits_of_all_examinations_are_the_fit_of_the_relevance(loss):
    """Each outcome is a query that weighs as much as its probability."""
    for measure in ("dcg@3", "precision@2"):
        rng = np.random.default_rng(1)
        X = np.vstack((rng.normal(size=(3, 2)), rng.normal(size=(4, 2))))
        truth = np.array([1, 0, 1, 0, 1, 0, 1])
        position = np.array([3, 1, 2, 1, 4, 2, 3])
        qid, propensity = np.array([0, 0, 0, 1, 1, 1, 1]), 1.0 / position
        made = losses.get_loss(loss)
        if np.isfinite(made.largest_utility):
            made = losses.get_loss(loss, eta=5.0)
        ranker = OrderPreservingRanker(made, measure=measure, alpha=0.3, tol=1e-10, max_iter=2000)
        rows, seen, chance, ids = [], [], [], []
        for q in (0, 1):
            own = np.flatnonzero(qid == q)
            for number, (examined, probability) in enumerate(outcomes(propensity[own])):
                rows.append(own)
                seen.append(examined * truth[own])
                chance.append(np.full(len(own), probability))
                ids.append(np.full(len(own), 100 * q + number))
        rows, seen, chance, ids = map(np.concatenate, (rows, seen, chance, ids))
        found = clone(ranker).fit(
            X[rows], seen, qid=ids, query_weight=chance, propensity=propensity[rows]
        )
        expected = clone(ranker).fit(X, truth, qid=qid)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-6)
        naive = clone(ranker).fit(X[rows], seen, qid=ids, query_weight=chance)
        assert np.abs(naive.coef_ - expected.coef_).max() > 0.003


def test_the_utilities_are_divided_row_by_row():
    X, y, qid, propensity = clicks(grades=2)
    by_hand = (2.0**y - 1) / np.maximum(propensity, 0.3)
    linear = get_measure("dcg", gain="linear")
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    ranker = OrderPreservingRanker("softmax", measure=linear, alpha=0.1)
    expected = ranker.fit(X, by_hand, qid=qid, sample_weight=weight).coef_
    ranker = OrderPreservingRanker("softmax", measure="dcg", alpha=0.1, propensity_clip=0.3)
    given = np.where(weight == 0, np.nan, propensity)  # of absent rows nothing is looked at
    ranker.fit(X, y, qid=qid, sample_weight=weight, propensity=given)
    np.testing.assert_allclose(ranker.coef_, expected, atol=1e-12)


def test_a_common_factor_is_one_of_the_penalty():
    X, y, qid, propensity = clicks()
    one = OrderPreservingRanker(measure="dcg", alpha=0.2, tol=1e-10)
    two = clone(one).set_params(alpha=0.4)
    one.fit(X, y, qid=qid, propensity=propensity)
    two.fit(X, y, qid=qid, propensity=propensity / 2)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-8)


@pytest.mark.parametrize("loss", ["pointwise_logistic", "pointwise_exponential"])
def test_the_limit_of_the_utilities_is_above_all_of_them(loss):
    X, y, qid, propensity = clicks()
    ranker = OrderPreservingRanker(loss, measure="precision@2")
    ranker.fit(X, y, qid=qid, propensity=propensity)
    assert ranker.loss_.eta == np.max(y / propensity) / 2
    assert ranker.fit(X, y, qid=qid).loss_.eta == 0.5
    ranker.set_params(propensity_clip=0.5).fit(X, y, qid=qid, propensity=propensity)
    assert ranker.loss_.eta == 1.0
    own = OrderPreservingRanker(losses.PointwiseLogistic(eta=1.0), measure="dcg")
    with pytest.raises(ValueError, match="raise eta above"):
        own.fit(X, y, qid=qid, propensity=propensity)


def test_rows_in_any_order_and_of_any_kind():
    X, y, qid, propensity = clicks()
    ranker = OrderPreservingRanker(measure="dcg", tol=1e-10)
    expected = clone(ranker).fit(X, y, qid=qid, propensity=propensity).coef_
    order = np.random.default_rng(1).permutation(len(y))
    frozen = propensity[order].copy()
    frozen.flags.writeable = False
    moved = clone(ranker).fit(
        sp.csr_array(X[order]), y[order], qid=[f"q{q}" for q in qid[order]], propensity=frozen
    )
    np.testing.assert_allclose(moved.coef_, expected, atol=1e-8)
    for kind in (list, pd.Series, lambda p: pd.Series(p, dtype="Float64"), np.float32):
        found = clone(ranker).fit(X, y, qid=qid, propensity=kind(propensity))
        np.testing.assert_allclose(found.coef_, expected, rtol=1e-5)
    with pytest.warns(DataConversionWarning):
        found = clone(ranker).fit(X, y, qid=qid, propensity=propensity[:, np.newaxis])
    np.testing.assert_array_equal(found.coef_, expected)


def test_partial_fit_takes_propensities():
    X, y, qid, propensity = clicks()
    ranker = OrderPreservingRanker("pairwise_squared", measure="dcg", alpha=1.0, tol=1e-11)
    whole = clone(ranker).fit(X, y, qid=qid, propensity=propensity)
    parts = clone(ranker)
    for rows in (qid < 5, qid >= 5):
        parts.partial_fit(X[rows], y[rows], qid=qid[rows], propensity=propensity[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-7)


@for_each("measure", ["ndcg", "ndcg@10", "recall@5", "auc", "spearman", "f1@3"])
def test_measures_that_look_at_the_whole_list_are_refused(measure):
    X, y, qid, propensity = clicks()
    ranker = OrderPreservingRanker(measure=measure)
    with pytest.raises(ValueError, match=r"propensities cannot make them unbiased.*measure='dcg'"):
        ranker.fit(X, y, qid=qid, propensity=propensity)
    assert not hasattr(ranker, "coef_")


def test_what_is_said_of_a_measure_is_true_of_its_labels():
    X, y, qid, propensity = clicks(grades=2)
    accepted = [
        get_measure("rbp@0.8", max_grade=2),
        make_measure(
            lambda y, s: 0.0,
            utilities=lambda y: np.sqrt(y),
            discounts=lambda n: np.arange(n, 0.0, -1),
            kind="graded",
        ),
    ]
    refused = [
        "rbp@0.8",
        get_measure("dcg", gain=lambda grade: grade + 1.0),
        make_measure(
            lambda y, s: 0.0,
            utilities=lambda y: y / max(y.sum(), 1.0),
            discounts=lambda n: np.arange(n, 0.0, -1),
            kind="graded",
        ),
    ]
    for measure in accepted:
        OrderPreservingRanker(measure=measure).fit(X, y, qid=qid, propensity=propensity)
    for measure in refused:
        with pytest.raises(ValueError, match="propensities cannot make them unbiased"):
            OrderPreservingRanker(measure=measure).fit(X, y, qid=qid, propensity=propensity)
    # Of clicks, the highest grade of a list does not matter: they are 1, or no click counts.
    OrderPreservingRanker(measure="rbp@0.8").fit(X, y > 0, qid=qid, propensity=propensity)
    with pytest.warns(CalibrationWarning, match="are dependent"):
        OrderPreservingRanker(measure="ap").fit(X, y > 0, qid=qid, propensity=propensity)


@for_each(
    ("change", "message"),
    [
        (lambda p: np.where(p == 1, 0.0, p), r"is 0 at row \d+, .* remove rows that nobody"),
        (lambda p: np.where(p == 1, np.nan, p), r"is nan at row \d+, .*position of the row"),
        (lambda p: np.where(p == 1, -0.1, p), r"is -0\.1 at row \d+"),
        (lambda p: 1.5 * p, r"is 1\.5 at row \d+, .*divide estimates by the largest"),
        (lambda p: 1 / p, r"pass 1 / propensity"),
        (lambda p: [1.0, 0.5, 0.3], r"has 3 entries for \d+ rows.*propensity\[position - 1\]"),
        (lambda p: 0.5, r"is a single number for \d+ rows"),
        (lambda p: np.stack((p, p)), r"propensity has shape"),
        (lambda p: np.full(len(p), "often"), r"propensity must be numeric"),
        (lambda p: "position", r"propensity"),
    ],
)
def test_propensities_that_are_refused(change, message):
    for method in ("fit", "partial_fit"):
        X, y, qid, propensity = clicks()
        ranker = OrderPreservingRanker(measure="dcg").fit(X, y, qid=qid)
        before = ranker.coef_.copy()
        with pytest.raises(ValueError, match=message):
            getattr(ranker, method)(X, y, qid=qid, propensity=change(propensity))
        np.testing.assert_array_equal(ranker.coef_, before)


def test_a_clip_that_is_no_probability_is_refused():
    X, y, qid, propensity = clicks()
    for clip in (-0.1, 1.5, None):
        with pytest.raises(ValueError, match="propensity_clip"):
            OrderPreservingRanker(measure="dcg", propensity_clip=clip).fit(
                X, y, qid=qid, propensity=propensity
            )


def test_propensities_travel_with_the_ids():
    X, y, qid, propensity = clicks(n_queries=24)
    with config_context(enable_metadata_routing=True):
        ranker = OrderPreservingRanker(measure="dcg@3", alpha=0.1)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), ranker.set_fit_request(propensity=True)),
            {"orderpreservingranker__propensity_clip": [0.0, 0.4]},
            scoring=get_scorer("ndcg@3"),
            cv=GroupKFold(3),
            error_score="raise",
            refit=False,
        ).fit(X, y, groups=qid, propensity=propensity)
        for column, clip in enumerate((0.0, 0.4)):
            for fold, (train, test) in enumerate(GroupKFold(3).split(X, y, qid)):
                scaler = StandardScaler().fit(X[train])
                one = clone(ranker).set_params(propensity_clip=clip)
                one.fit(
                    scaler.transform(X[train]),
                    y[train],
                    qid=qid[train],
                    propensity=propensity[train],
                )
                score = get_measure("ndcg@3")(
                    y[test], one.predict(scaler.transform(X[test])), qid=qid[test]
                )
                found = search.cv_results_[f"split{fold}_test_score"][column]
                assert found == pytest.approx(score, abs=1e-12)
        unasked = OrderPreservingRanker(measure="dcg@3")
        with pytest.raises(Exception, match="propensity"):
            cross_val_score(
                unasked, X, y, cv=GroupKFold(3), params={"groups": qid, "propensity": propensity}
            )
