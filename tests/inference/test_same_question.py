"""Functions that answer the same question give the same answer."""

from contextlib import suppress
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from sklearn_rank.inference import (
    accumulator_interval,
    auc_interval,
    compare,
    linear_rank_interval,
    metric_interval,
    paired_query_test,
    paired_rank_test,
    paired_swap_test,
    partial_auc_interval,
    precision_at_top_interval,
    two_sample_rank_test,
    unpaired_rank_test,
)
from sklearn_rank.metrics import Accumulator, LocalAUC, get_measure, get_measure_names

RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
A, B = np.round(RNG.normal(size=(2, 60)) + 0.8 * Y, 1)
QID = np.arange(60) // 6
GROUPS = np.arange(60) // 2
SEED = {"n_resamples": 199, "random_state": 0}


def paired(measure, **options):
    return (
        compare(measure, Y, A, B, **options),
        paired_rank_test(Y, A, B, measure=measure, **options),
    )


def unpaired(measure):
    rows = {"a": slice(0, 40), "b": slice(40, 60)}
    return (
        compare(
            measure,
            {name: Y[some] for name, some in rows.items()},
            {"a": A[:40], "b": B[40:]},
            paired=False,
        ),
        unpaired_rank_test(Y[:40], A[:40], Y[40:], B[40:], measure=measure),
    )


def interval(measure, other, **options):
    return metric_interval(measure, Y, A, **options), other


def accumulated(measure):
    total = Accumulator(measure)
    for some in (slice(0, 23), slice(23, 60)):
        total.update(Y[some], A[some])
    return accumulator_interval(total), metric_interval(measure, Y, A)


PAIRS = {
    "paired auc": lambda: paired("auc"),
    "paired local AUC, one-sided": lambda: paired("local_auc@0.5", alternative="greater"),
    "paired ap, labels random": lambda: paired("ap", conditional=False),
    "paired, in groups": lambda: paired("auc", groups=GROUPS),
    "paired, at a level": lambda: paired("fpr@tpr0.5", level=0.8),
    "unpaired": lambda: unpaired("auc"),
    "swapped": lambda: (
        compare("auc", Y, A, B, method="swap", **SEED),
        paired_swap_test(Y, A, B, **SEED),
    ),
    "queries": lambda: (
        compare("ndcg@3", Y, A, B, qid=QID, method="randomization", **SEED),
        paired_query_test("ndcg@3", Y, A, B, qid=QID, **SEED),
    ),
    "auc": lambda: interval("auc", auc_interval(Y, A)),
    "auc, in groups": lambda: interval("auc", auc_interval(Y, A, groups=GROUPS), groups=GROUPS),
    "partial auc": lambda: interval("partial_auc@fpr0.3", partial_auc_interval(Y, A, max_fpr=0.3)),
    "top": lambda: interval("precision@top0.2", precision_at_top_interval(Y, A, tau=0.2)),
    "local auc": lambda: interval("local_auc@0.5", linear_rank_interval(Y, A, phi=LocalAUC(0.5))),
    "local auc by resamples": lambda: interval(
        "local_auc@0.5",
        linear_rank_interval(Y, A, phi=LocalAUC(0.5), method="bootstrap", **SEED),
        method="bootstrap",
        **SEED,
    ),
    "accumulated auc": lambda: accumulated("auc"),
}
TESTED = ("names", "values", "differences", "low", "high", "statistics", "pvalues", "method")
ESTIMATED = ("estimate", "low", "high", "level", "method", "standard_error")


@pytest.mark.parametrize("name", PAIRS)
def test_two_functions_give_one_answer(name):
    first, second = PAIRS[name]()
    fields = TESTED if hasattr(first, "pvalues") else ESTIMATED
    for field in fields:
        one, other = getattr(first, field), getattr(second, field)
        if isinstance(one, str) or field == "names":
            assert one == other
        else:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=field)


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
    assert (counts["intervals"], counts["comparisons"]) == (30, 18)
    root = Path(__file__).parents[2]
    text = (root / "docs/user_guide/how_far_to_trust.md").read_text(encoding="utf-8")
    assert "of 30 for one list" in text
    assert "the 18 measures of one list with a known influence" in text
