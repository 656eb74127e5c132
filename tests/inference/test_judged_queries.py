"""Means over queries of which some items have no label."""

import numpy as np
import pytest
from scipy.special import expit

from sklearn_rank._labels_in_part._judged_queries import (
    JudgedQueries,
    expected_value,
    limits_of_bounds,
)
from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure
from tests.metrics.test_labels_in_part import NAMES
from tests.naming import for_each
from tests.oracles import judged_queries as oracle

# One of each kind; all are slow.
QUICK = ["ap", "auc", "recall@5", "ndcg@7"]


def queries(rng, n_queries, n, deviation=1.0):
    """Labels, scores of a champion and of a challenger; queries differ in their positives."""
    x, other = rng.normal(size=(2, n_queries, n))
    logits = -3.0 + deviation * rng.normal(size=(n_queries, 1)) + 1.5 * x + 0.8 * other
    y = rng.random((n_queries, n)) < 1.0 / (1.0 + np.exp(-logits))
    qid = np.repeat(np.arange(n_queries), n)
    champion, challenger = x + 0.5 * rng.normal(size=x.shape), x + 0.7 * other
    return y.ravel().astype(float), champion.ravel(), challenger.ravel(), qid


def judged(rng, y, champion, qid, k, probability):
    """Labels of which the first k of each query are known, others with a probability."""
    by_query = champion.reshape(qid.max() + 1, -1)
    top = (np.argsort(np.argsort(-by_query, axis=1), axis=1) < k).ravel()
    inclusion = np.where(top, 1.0, probability)
    return np.where(rng.random(len(y)) < inclusion, y, np.nan), LabelDesign(inclusion)


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(x, marks=pytest.mark.slow) for x in NAMES.split() if x not in QUICK)],
)
def test_the_expected_value_is_the_mean_over_all_labels(name):
    rng, measure = np.random.default_rng(0), get_measure(name)
    score, q = np.round(rng.normal(size=6), 0), rng.random((3, 6))
    score = expit(score) if measure.of_probabilities else score
    q[:, [1, 4]] = 1.0, 0.0
    q[0, 2] = 0.5
    evidence = measure.evidence(measure.lists(np.arange(6) < 2, score))
    found, in_labels = expected_value(evidence, q)
    for b in range(3):
        expected = oracle.expected(measure, q[b], score)
        np.testing.assert_allclose(found[:, b], expected, atol=1e-12)
        for i in range(6):
            slopes = oracle.derivative(measure, q[b], score, i)
            np.testing.assert_allclose(in_labels[:, b, i], slopes, atol=1e-12)


@pytest.mark.parametrize("name", ["ndcg@3", "ap", "auc", "recall@2", "precision@2"])
def test_values_are_corrected_by_the_labels_that_were_drawn(name):
    rng, measure = np.random.default_rng(3), get_measure(name)
    y, champion, _, qid = queries(rng, 12, 6)
    y, design = judged(rng, y, champion, qid, 2, 0.5)
    columns = {"qid": qid, "design": design}
    read = JudgedQueries.of(measure, y, {"a": champion}, **columns)
    q, weights = read._probabilities()
    found = np.array(
        [
            oracle.corrected(
                measure, y[rows], champion[rows], read.partial.probability[rows], q[rows], weight
            )
            for rows, weight in zip(np.arange(72).reshape(12, 6), weights, strict=True)
        ]
    )
    interval = metric_interval(measure, y, champion, qid=qid, design=design)
    expected = min(found[:, 0].sum() / found[:, 1].sum(), 1.0)
    assert interval.estimate == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", ["ndcg@3", "ap", "recall@2", "precision@2", "auc"])
@pytest.mark.parametrize("contrast", [(1, 0), (1, -1)])
def test_limits_without_an_audit_are_those_of_the_extremes_over_all_labels(name, contrast):
    rng, measure = np.random.default_rng(9), get_measure(name)
    y, champion, challenger, qid = queries(rng, 7, 5, 0.0)
    y, _ = judged(rng, y, champion, qid, 3, 0.0)
    design, groups = LabelDesign(review_top=3, scores=champion), np.array([5, 5, 5, 1, 4, 4, 7])
    by_query = np.arange(35).reshape(7, 5)
    lists = [(y[rows], (champion[rows], challenger[rows])) for rows in by_query]
    if contrast == (1, 0):
        asked = {"qid": qid, "design": design, "conditional": True}
        found = metric_interval(name, y, champion, **asked)
        np.testing.assert_allclose(
            [found.low, found.high], oracle.limits(measure, lists, contrast)
        )
        assert (found.method, found.level) == ("bounds", 1.0)
        assert "over these queries for any labels of 14 rows" in found.target
    for of_queries in (None, groups):
        asked = {"qid": qid, "design": design, "level": 0.6}
        asked["groups"] = None if of_queries is None else of_queries[qid]
        if contrast == (1, 0):
            interval = metric_interval(name, y, champion, **asked)
        else:
            result = compare(name, y, {"a": champion, "b": challenger}, **asked)
            interval = result.interval
            if result.pvalue < 1.0:
                asked |= {"level": 1.0 - result.pvalue}
                at_its_level = compare(name, y, {"a": champion, "b": challenger}, **asked).interval
                assert min(np.abs([at_its_level.low, at_its_level.high])) < 1e-5
        assert "over queries for any labels of 14 rows" in interval.target
        ends = (-1.0 if contrast[1] else 0.0, 1.0)
        expected = oracle.limits_of_population(measure, lists, contrast, 0.6, ends, of_queries)
        if name == "ap" and contrast == (1, -1):  # which are not sharp
            assert interval.low <= expected[0] + 0.02
            assert interval.high >= expected[1] - 0.02
        else:
            np.testing.assert_allclose([interval.low, interval.high], expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_limits_without_an_audit_cover_the_mean_of_a_population():
    """Queries are drawn from a population, and the labels not known are the worst for one end."""
    name, rng, n_queries = "ndcg@5", np.random.default_rng(0), 40
    y, champion, challenger, qid = queries(rng, 2000, 10)
    y, _ = judged(rng, y, champion, qid, 4, 0.0)
    both, design = {"a": champion, "b": challenger}, LabelDesign(review_top=4, scores=champion)
    read = JudgedQueries.of(get_measure(name), y, both, qid=qid, design=design)
    truths = np.array([[x.mean for x in read.bounds(row)] for row in ((1, 0), (1, -1))])
    missed, n_samples = np.zeros((2, 2)), 80
    columns = [x.reshape(2000, 10) for x in (y, champion, challenger)]
    for _ in range(n_samples):
        drawn = rng.integers(0, 2000, n_queries)
        y, champion, challenger = (x[drawn].ravel() for x in columns)
        design = LabelDesign(review_top=4, scores=champion)
        asked = {"qid": np.repeat(np.arange(n_queries), 10), "design": design}
        found = (
            metric_interval(name, y, champion, **asked),
            compare(name, y, {"a": champion, "b": challenger}, **asked).interval,
        )
        limits = np.array([[x.low, x.high] for x in found])
        missed += np.stack([truths[:, 0] < limits[:, 0], truths[:, 1] > limits[:, 1]], axis=1)
    # 2.5 % on either side, and 3.5 % where values are skewed, with the error of 80 samples.
    assert missed.max() <= 7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", ["ndcg@10", "ap"])
def test_means_of_many_samples_of_labels_are_those_of_all_labels(name):
    # Queries that differ in their positives bias a prediction that is the same for all.
    rng = np.random.default_rng(0)
    y, champion, _, qid = queries(rng, 100, 40, 1.5)
    full = metric_interval(name, y, champion, qid=qid)
    intervals = []
    for _ in range(40):
        known, design = judged(rng, y, champion, qid, 8, 0.15)
        intervals.append(metric_interval(name, known, champion, qid=qid, design=design))
    errors = np.array([interval.estimate for interval in intervals]) - full.estimate
    assert abs(errors.mean()) < 0.3 * errors.std()
    deviation = np.mean([interval.standard_error for interval in intervals])
    # The labels add to the variance between queries.
    assert deviation == pytest.approx(np.hypot(full.standard_error, errors.std()), rel=0.25)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_without_unknown_labels_the_interval_is_that_of_the_values():
    y, champion, challenger, qid = queries(np.random.default_rng(1), 30, 10)
    design = LabelDesign(review_top=10, scores=champion)
    groups = qid // 3
    for name in ("ndcg@5", "precision@1", "auc"):
        expected = metric_interval(name, y, challenger, qid=qid, groups=groups)
        columns = {"qid": qid, "groups": groups, "design": design}
        read = JudgedQueries.of(get_measure(name), y, {"": challenger}, **columns)
        limits = limits_of_bounds(read.bounds([1.0]), 0.95)
        np.testing.assert_allclose(limits, [expected.low, expected.high])
        found = metric_interval(name, y, challenger, qid=qid, groups=groups, design=design)
        np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high])
        assert found.method == expected.method
    expected = compare("ap", y, {"a": champion, "b": challenger}, qid=qid)
    found = compare("ap", y, {"a": champion, "b": challenger}, qid=qid, design=design)
    np.testing.assert_allclose(found.low, expected.low)


def test_reviews_and_audits_are_counted_by_query():
    rng = np.random.default_rng(2)
    y, champion, challenger, qid = queries(rng, 40, 12)
    y, _ = judged(rng, y, champion, qid, 4, 0.0)
    full = np.nan_to_num(y)
    for rows in np.arange(480).reshape(40, 12):
        drawn = rng.choice(rows[np.isnan(y[rows])], 2, replace=False)
        y[drawn] = full[drawn]
    shuffled = rng.permutation(480)
    y, champion, challenger, qid = (x[shuffled] for x in (y, champion, challenger, qid))
    design = LabelDesign(review_top=4, audit=2, scores=champion)
    weight = design.sample_weight(y, qid=qid)
    assert sorted(set(weight)) == [0.0, 1.0, 4.0]
    by_hand = LabelDesign(np.where(weight == 1.0, 1.0, 0.25))
    first, second = (
        compare("ndcg@5", y, {"a": champion, "b": challenger}, qid=qid, design=d)
        for d in (design, by_hand)
    )
    assert first.low == second.low
    rows = np.flatnonzero(qid == 7)
    y[rows[weight[rows] == 4.0][0]] = np.nan
    with pytest.raises(ValueError, match="In the query 7: audit=2, but 1 rows"):
        compare("ndcg@5", y, {"a": champion, "b": challenger}, qid=qid, design=design)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_sample_without_a_positive_leaves_room_for_some():
    # With 5 positives among 360 documents, half of which are judged, 3 % of samples show none.
    qid = np.repeat(np.arange(30), 12)
    score = np.random.default_rng(0).normal(size=360)
    labels = np.where(np.arange(360) % 2 == 0, 0.0, np.nan)
    found = metric_interval("ap", labels, score, qid=qid, design=LabelDesign(np.full(360, 0.5)))
    with_some = np.zeros(360)
    with_some[[1, 75, 145, 221, 301]] = 1.0
    value = metric_interval("ap", with_some, score, qid=qid).estimate
    assert found.low == pytest.approx(0.0)
    assert found.low <= found.estimate
    assert found.high > 0.8 * value


@for_each(
    ("arguments", "message"),
    [
        ({"method": "bca"}, "method='bca' does not support design"),
        ({"sample_weight": np.ones(60), "weights": "frequency"}, "leave sample_weight out"),
        ({"measure": "rr"}, "no known function of a sum"),
        ({"design": LabelDesign(review_top=2, scores=np.arange(60), most_below=1)}, "one list"),
        ({"design": LabelDesign(review_top=2, scores=np.arange(50))}, "50 entries for 60"),
        ({"qid": None, "y_true": np.full((6, 10), np.nan)}, "and qid"),
    ],
)
def test_what_queries_do_not_support_is_refused(arguments, message):
    rng = np.random.default_rng(5)
    y, champion, _, qid = queries(rng, 6, 10)
    y[qid == 3] = 0.0
    y, design = judged(rng, y, champion, qid, 3, 0.5)
    call = {"measure": "ap", "y_true": y, "y_score": champion, "qid": qid, "design": design}
    with pytest.raises(ValueError, match=message):
        metric_interval(**call | arguments)
