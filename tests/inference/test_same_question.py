"""Functions that answer the same question give the same answer."""

from contextlib import suppress
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn import config_context

from sklearn_rank.inference import (
    ConfidenceSequence,
    compare,
    metric_interval,
    sample_size,
    two_sample_rank_test,
)
from sklearn_rank.metrics import Accumulator, get_measure, get_measure_names, get_scorer
from sklearn_rank.model_selection import BoundSearchCV, cross_val_interval, make_bound_scorer
from tests.catalogue import scores_for
from tests.model_selection.estimators import Column

RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
A, B = np.round(RNG.normal(size=(2, 60)) + 0.8 * Y, 1)
QID = np.arange(60) // 6
GROUPS = np.arange(60) // 2


@pytest.mark.parametrize("measure", ["auc", "precision@top0.2", "partial_auc@fpr0.3", "ap"])
def test_an_interval_is_about_the_value_of_the_measure(measure):
    assert metric_interval(measure, Y, A).estimate == pytest.approx(get_measure(measure)(Y, A))


@pytest.mark.parametrize("labels", [Y, Y.astype(bool), Y.astype(float), 2 * Y - 1])
def test_labels_are_no_sample_of_scores(labels):
    for samples in ((labels, A), (A, labels)):
        with pytest.raises(ValueError, match=r"labels of two classes.*s\[y == 1\], s\[y != 1\]"):
            two_sample_rank_test(*samples)
    assert two_sample_rank_test(Y, 1 - Y).pvalue > 0  # scores of 0 and 1 in both
    assert two_sample_rank_test(Y, A[:20]).pvalue > 0  # and of other lengths


def test_the_pages_count_the_measures_that_have_intervals_and_comparisons():
    rng = np.random.default_rng(0)
    y, grade = np.arange(200) % 3 == 0, rng.integers(0, 4, 200)
    noise, qid = rng.normal(size=(2, 200)), np.arange(200) // 10
    counts = dict.fromkeys(("intervals", "comparisons", "sizes", "over queries"), 0)
    for name in get_measure_names():
        labels = grade if get_measure(name).kind == "graded" else y
        a, b = scores_for(name, noise + labels)
        calls = {
            "intervals": lambda n=name, t=labels, a=a: metric_interval(n, t, a),
            "comparisons": lambda n=name, t=labels, a=a, b=b: compare(n, t, {"a": a, "b": b}),
            "sizes": lambda n=name, t=labels, a=a: sample_size(n, pilot=(t, a), n=5000),
            "over queries": lambda n=name, t=labels, a=a, b=b: (
                metric_interval(n, t, a, qid=qid),
                compare(n, t, {"a": a, "b": b}, qid=qid),
            ),
        }
        for kind, call in calls.items():
            with suppress(ValueError), catch_warnings():
                simplefilter("ignore")
                call()
                counts[kind] += 1
    assert counts["over queries"] >= 54
    assert [counts[x] for x in ("intervals", "comparisons", "sizes")] == [44, 44, 32]
    root = Path(__file__).parents[2]
    text = (root / "docs/user_guide/how_far_to_trust.md").read_text(encoding="utf-8")
    assert "All 54 named measures have intervals and comparisons as means over queries" in text
    assert "44 of them on one list" in text
    text = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    assert "intervals and comparisons for 44 of the 54, and sample sizes for 32" in text


def doors_of_queries(measure):
    """Value over queries that each function states, and the rows that it is of."""
    X, cut = A[:, np.newaxis], 36
    split = [(np.arange(cut), np.arange(cut, len(Y)))]
    total = Accumulator(measure).update(Y, A, qid=QID)
    options = {"cv": split, "measure": measure}
    yield metric_interval(measure, Y, A, qid=QID).estimate, 0
    yield compare(measure, Y, {"a": A, "b": B}, qid=QID).values[0], 0
    yield compare(measure, Y, {"a": A, "b": B}, qid=QID, method="t").values[0], 0
    yield metric_interval(total).estimate, 0
    yield ConfidenceSequence(measure).update(Y, A, qid=QID).estimate, 0
    yield get_scorer(measure)(Column().fit(X, Y), X, Y, qid=QID), 0
    yield cross_val_interval(Column(), X, Y, qid=QID, **options).estimate, cut
    yield BoundSearchCV(Column(), **options).fit(X, Y, qid=QID).best_score_, cut
    with config_context(enable_metadata_routing=True):
        ids = {"groups" if get_measure(measure).per_query else "qid": QID}
        search = BoundSearchCV(Column(), **options).fit(X, Y, **ids)
        yield search.best_score_, cut
        yield search.score(X, Y, **ids), 0


@pytest.mark.filterwarnings("ignore:.* is .* for all")
@pytest.mark.parametrize("measure", ["auc", "bedroc@20", "ks", "ap", "ndcg@3"])
def test_ids_of_queries_make_any_measure_a_mean_over_queries(measure):
    for found, cut in doors_of_queries(measure):
        expected = get_measure(measure)(Y[cut:], A[cut:], qid=QID[cut:])
        assert found == pytest.approx(expected)
    X = A[:, np.newaxis]
    limit = make_bound_scorer(measure, level=0.9, method="t", qid="qid")
    student = metric_interval(measure, Y, A, qid=QID, level=0.8, method="t")
    assert limit(Column().fit(X, Y), X, Y, qid=QID) == pytest.approx(student.low)
