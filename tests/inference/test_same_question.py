"""Functions that answer the same question give the same answer."""

from contextlib import suppress
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from sklearn_rank.inference import (
    compare,
    metric_interval,
    two_sample_rank_test,
)
from sklearn_rank.metrics import get_measure, get_measure_names

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
    y, grade = np.arange(400) % 3 == 0, rng.integers(0, 4, 400)
    noise, qid = rng.normal(size=(2, 400)), np.arange(400) // 10
    counts = dict.fromkeys(("intervals", "comparisons", "over queries"), 0)
    for name in get_measure_names():
        labels = grade if get_measure(name).kind == "graded" else y
        a, b = noise + labels
        calls = {
            "intervals": lambda n=name, t=labels, a=a: metric_interval(n, t, a),
            "comparisons": lambda n=name, t=labels, a=a, b=b: compare(n, t, a, b),
            "over queries": lambda n=name, t=labels, a=a, b=b: (
                metric_interval(n, t, a, qid=qid),
                compare(n, t, a, b, qid=qid),
            ),
        }
        for kind, call in calls.items():
            with suppress(ValueError), catch_warnings():
                simplefilter("ignore")
                call()
                counts[kind] += 1
    assert counts["over queries"] >= 40
    assert (counts["intervals"], counts["comparisons"]) == (30, 30)
    root = Path(__file__).parents[2]
    text = (root / "docs/user_guide/how_far_to_trust.md").read_text(encoding="utf-8")
    assert "of 30 for one list" in text
    assert "the 30 measures that have an interval for one list" in text
