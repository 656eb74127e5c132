"""Means over queries of graded measures, of which some documents have no grade."""

from itertools import cycle
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_rank._labels_in_part import _judged_grades as judged_grades
from sklearn_rank._labels_in_part._judged_queries import JudgedQueries
from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure
from tests.naming import for_each
from tests.oracles import judged_grades as oracle

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
MEASURES = [
    get_measure("dcg@3"),
    get_measure("ndcg@2"),
    get_measure("ndcg@4", gain="linear"),
    get_measure("ndcg@2", undefined=0.5),
    get_measure("ndcg@3", undefined="skip"),
]


def queries(rng, n_queries, n, favour=0.0):
    """Grades from 0 to 3, scores of two systems, grades of a judge and query ids."""
    x = rng.normal(size=(n_queries, n))
    latent = x + 0.8 * rng.normal(size=(n_queries, 1)) + 0.5 * rng.normal(size=x.shape)
    y = (latent > 1.0).astype(float) + (latent > 1.7) + (latent > 2.4)
    a, b = x + 0.8 * rng.normal(size=x.shape), x + rng.normal(size=x.shape)
    judge = latent + 0.6 * rng.normal(size=x.shape) + favour * (a - x)
    judge = np.clip(np.round(1.3 * judge - 0.8), 0.0, 3.0)
    qid = np.repeat(np.arange(n_queries), n)
    return (*(z.ravel() for z in (y, a, b, judge)), qid)


def sampled(rng, y, qid, m):
    """Grades of m random documents of each query."""
    places = rng.random((qid.max() + 1, len(y) // (qid.max() + 1))).argsort(axis=1)
    return np.where(places.ravel() < m, y, np.nan)


@pytest.mark.parametrize(
    ("measure", "graded"),
    [(one, (3.0, 1.0)) for one in MEASURES[:3]] + [(one, (0.0, 0.0)) for one in MEASURES[3:]],
    ids=str,
)
def test_values_are_the_means_over_all_grades(measure, graded):
    rng, levels = np.random.default_rng(0), np.array([0.0, 1.0, 3.0])
    y = np.array([np.nan, graded[0], np.nan, graded[1], np.nan])
    scores = np.array([[3.0, 2.0, 2.0, 1.0, 0.0], [1.0, 5.0, 0.0, 4.0, 3.0]])
    probability = np.array([0.5, 0.4, 0.5, 1.0, 0.3])
    logits = -1.0 + np.sort(rng.normal(size=(5, 2)), axis=1)[:, ::-1]
    deviations = np.array([-1.0, 0.0, 1.5])
    filled = np.nan_to_num(y)
    partial = judged_grades.PartialLabels(~np.isnan(y), probability)
    evidences = [
        judged_grades.Evidence(measure, measure.lists(filled, s), partial=partial) for s in scores
    ]
    exact = measure.name.startswith("dcg")
    drawn = np.tile(deviations, 1 if exact else 10_000)[np.newaxis]
    model = SimpleNamespace(
        levels=levels, codes=np.searchsorted(levels, filled), logits=logits, deviations=drawn
    )
    ((expected, _, shown),) = judged_grades.corrected_values([evidences], model)
    for i, score in enumerate(scores):
        start, added = oracle.corrected(measure, levels, y, score, probability, logits, deviations)
        np.testing.assert_allclose(expected[i], start, atol=1e-12 if exact else 2e-3)
        np.testing.assert_allclose(shown[i], added, atol=1e-12 if exact else 4e-3)
        assert np.abs(added[0]).min() > 0.008


@pytest.mark.parametrize(
    ("measure", "contrast"),
    list(
        zip(
            [*MEASURES, get_measure("ndcg@3", gain=np.sqrt)],
            cycle([(1.0, 0.0), (1.0, -1.0)]),
        )
    ),
    ids=str,
)
def test_limits_of_pools_are_the_extremes_over_all_grades(measure, contrast):
    rng = np.random.default_rng(1)
    for trial in range(3):
        y, a, b = rng.integers(0, 4, size=6).astype(float), *rng.normal(size=(2, 6)).round(0)
        y[rng.permutation(6)[:3]] = np.nan
        y[~np.isnan(y)] *= trial % 3 > 0
        labels, qid = np.append(y, [3.0, 2.0]), np.repeat([0, 1], [6, 2])
        scores = {"a": np.append(a, [1.0, 0.0]), "b": np.append(b, [0.0, 1.0])}
        design = LabelDesign(pool=~np.isnan(labels))
        read = JudgedQueries.of(measure, labels, scores, qid=qid, design=design)
        low, high = read.bounds(contrast)
        levels = np.unique(np.append(0.0, labels[~np.isnan(labels)]))
        least, most, lacks = oracle.extremes(measure, levels, y, (a, b), contrast)
        second = oracle.extremes(measure, levels, labels[6:], (([1, 0]), [0, 1]), contrast)[0]
        for side, end in ((low, least), (high, most)):
            found = side.values[0] if len(side.values) == 2 else None
            if found is None:  # The mean is nearer to the end without the query.
                assert lacks
                assert (end >= second) if side is low else (end <= second)
            else:
                assert found == pytest.approx(end, abs=1e-9)


def test_a_document_that_was_not_retrieved_has_no_position():
    rng = np.random.default_rng(2)
    y, a, b, _, qid = queries(rng, 5, 8)
    places = (-a.reshape(5, 8)).argsort(axis=1).argsort(axis=1).ravel()
    y[places >= 3] = np.nan
    design, cut = LabelDesign(pool=~np.isnan(y)), np.where(places < 4, a, -np.inf)
    columns = {"qid": qid, "design": design}
    for scores in ((a, b), (cut, b)):
        found = compare("ndcg@4", y, dict(zip("ab", scores, strict=True)), **columns)
        assert found.low == compare("ndcg@4", y, {"a": a, "b": b}, **columns).low


@pytest.mark.slow
@pytest.mark.parametrize(("name", "favour"), [("ndcg@10", 0.7), ("dcg@10", 0.0)])
def test_means_of_many_samples_are_those_of_all_grades(name, favour):
    rng, n_samples = np.random.default_rng(0), 30
    errors, deviations = np.empty((2, n_samples, 2)), np.empty((2, n_samples, 2, 2))
    for i in range(n_samples):
        y, a, b, judge, qid = queries(rng, 60, 30, favour)
        in_part, scores = sampled(rng, y, qid, 8), {"a": a, "b": b}
        full = compare(name, y, scores, qid=qid)
        for of_judge, proxy in enumerate((None, judge)):
            design = LabelDesign(strata="qid", proxy=proxy)
            found = compare(name, in_part, scores, qid=qid, design=design)
            errors[of_judge, i] = np.subtract(
                [found.values[0], found.estimate], [full.values[0], full.estimate]
            )
            for j, x in enumerate((found, full)):
                deviations[of_judge, i, j] = x.standard_errors[0], x.difference_errors[0]
    spread, deviations = errors.std(axis=1), deviations.mean(axis=1)
    assert np.all(np.abs(errors.mean(axis=1)) < 3.0 * spread / np.sqrt(n_samples))
    # The grades that are not known add to the variance between queries.
    ratio = deviations[:, 0] / np.hypot(deviations[:, 1], spread)
    assert ratio.min() > 0.8
    assert ratio.max() < 1.3


def test_with_all_grades_the_interval_is_that_of_the_values():
    y, a, b, judge, qid = queries(np.random.default_rng(3), 30, 10)
    design = LabelDesign(np.ones(300), proxy=judge)
    for name in ("ndcg@5", "dcg@5"):
        expected = compare(name, y, {"a": a, "b": b}, qid=qid)
        found = compare(name, y, {"a": a, "b": b}, qid=qid, design=design)
        np.testing.assert_allclose(found.low, expected.low)
        np.testing.assert_allclose(found.value_limits, expected.value_limits)


def test_corrections_are_the_differences_to_the_grades_of_the_judge():
    rng = np.random.default_rng(4)
    y, a, b, judge, qid = queries(rng, 80, 30, favour=1.5)
    scores, in_part = {"a": a, "b": b}, sampled(rng, y, qid, 10)
    design = LabelDesign(strata="qid", proxy=judge)
    found = compare("ndcg@10", in_part, scores, qid=qid, design=design)
    naive = [get_measure("ndcg@10")(judge, x, qid=qid) for x in (a, b)]
    expected = [*np.subtract(found.values, naive), found.estimate - (naive[0] - naive[1])]
    np.testing.assert_allclose([x.estimate for x in found.corrections], expected, atol=1e-12)
    assert found.corrections[2].high < 0.0
    assert "the proxy favours a" in str(found)
    assert found["a - b"].corrections == found.corrections
    backwards = compare("ndcg@10", in_part, {"b": b, "a": a}, qid=qid, design=design)
    assert "the proxy favours a" in str(backwards)
    single = metric_interval("ndcg@10", in_part, a, qid=qid, design=design)
    (correction,) = single.corrections
    assert correction.estimate == pytest.approx(single.estimate - naive[0])
    assert f"by {correction.estimate:+.4f} [" in str(single)
    # Another scale tells as much, but is no grade.
    other = LabelDesign(strata="qid", proxy=10.0 * judge - 5.0)
    rescaled = compare("ndcg@10", in_part, scores, qid=qid, design=other)
    np.testing.assert_allclose(rescaled.values, found.values, atol=1e-9)
    assert rescaled.corrections == ()


def test_a_good_judge_makes_limits_narrower():
    rng = np.random.default_rng(5)
    y, a, b, judge, qid = queries(rng, 60, 30)
    in_part = sampled(rng, y, qid, 6)
    designs = LabelDesign(strata="qid", proxy=judge), LabelDesign(strata=qid)
    for name in ("ndcg@10", "dcg@10"):
        with_judge, alone = (
            compare(name, in_part, {"a": a, "b": b}, qid=qid, design=x).interval.width
            for x in designs
        )
        assert with_judge < 0.85 * alone


def test_strata_by_query_are_the_queries():
    rng = np.random.default_rng(6)
    y, a, b, _, qid = queries(rng, 20, 12)
    in_part = sampled(rng, y, qid, 4)
    by_name, by_rows = LabelDesign(strata="qid"), LabelDesign(strata=qid)
    one, other = (
        compare("ndcg@5", in_part, {"a": a, "b": b}, qid=qid, design=x) for x in (by_name, by_rows)
    )
    assert one == other
    # Few queries, of which none may be left for a fold or its fit.
    few = qid < 2
    found = metric_interval("ndcg@5", in_part[few], a[few], qid=qid[few], design=by_name)
    assert 0.0 <= found.low < found.estimate < found.high <= 1.0
    weight = by_name.sample_weight(in_part, qid=qid)
    np.testing.assert_array_equal(weight, np.where(np.isnan(in_part), 0.0, 3.0))


@for_each(
    ("arguments", "message"),
    [
        ({"measure": "err@5"}, "is no sum of gains"),
        ({"y_true": np.where(np.arange(240) % 3, np.nan, np.arange(240))}, "80 distinct grades"),
        ({"measure": get_measure("ndcg@5", convention="xgboost")}, "rule for ties"),
        ({"design": LabelDesign(strata="qid", proxy=np.full(240, np.inf))}, "proxy is inf"),
        ({"design": LabelDesign(strata="qid"), "qid": None}, "strata='qid' needs the queries"),
    ],
)
def test_what_grades_in_part_do_not_support_is_refused(arguments, message):
    rng = np.random.default_rng(7)
    y, a, _, _, qid = queries(rng, 20, 12)
    in_part = sampled(rng, y, qid, 4)
    call = {"measure": "ndcg@5", "y_true": in_part, "y_score": np.round(a), "qid": qid}
    call["design"] = LabelDesign(strata="qid")
    with pytest.raises(ValueError, match=message):
        metric_interval(**call | arguments)


@pytest.mark.parametrize("graded", [True, False])
def test_pools_are_no_random_samples(graded):
    y, a, b, _, qid = queries(np.random.default_rng(8), 60, 30)
    y = y if graded else (y > 0).astype(float)
    places = [(-x.reshape(60, 30)).argsort(axis=1).argsort(axis=1).ravel() for x in (a, b)]
    y[np.minimum(*places) >= 4] = np.nan
    for design in ("all", LabelDesign(strata="qid")):
        with pytest.raises(ValueError, match=r"LabelDesign\(pool=~np.isnan\(y_true\)\)"):
            compare("ndcg@5", y, {"a": a, "b": b}, qid=qid, design=design)
    design = LabelDesign(pool=~np.isnan(y))
    assert compare("ndcg@5", y, {"a": a, "b": b}, qid=qid, design=design).high[0] > 0.0
