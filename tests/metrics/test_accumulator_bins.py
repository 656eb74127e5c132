"""Accumulators of more rows than there is room for: bins, and rows that come again."""

import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import Accumulator, _ranges, get_measure
from sklearn_rank.metrics import _accumulator as _binned
from sklearn_rank.metrics._ranges import ScoreTable, is_additive
from tests.catalogue import FUNCTIONS

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

N = 500


def measure_of(case):
    return case.measure


TRIED = [case for case in FUNCTIONS if is_additive(measure_of(case))]
ONE_LIST = [
    case
    for case in FUNCTIONS
    if case.weights != "none" and case.grades == (0, 1) and not is_additive(measure_of(case))
]


def data(seed, weights="none", n=N):
    """Rows of few positives or many, scores of which some are tied, weights of any kind."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random(n) < (0.1 if seed % 2 else 0.5)).astype(int)
    y_score = rng.standard_normal(n) + y_true
    y_score[rng.random(n) < 0.1] = 0.5
    columns = {"y_true": y_true, "y_score": y_score}
    if weights != "none" and seed != 1:
        whole = weights == "whole" or seed == 2
        weight = rng.integers(0, 3, n).astype(float) if whole else rng.uniform(1.0, 3.5, n)
        columns["sample_weight"] = weight
    return columns


def parts_of(columns, n_parts=3):
    return [
        {name: column[part::n_parts] for name, column in columns.items()}
        for part in range(n_parts)
    ]


def small(monkeypatch, slice_rows=40, bits=4):
    monkeypatch.setattr(_binned, "SLICE", slice_rows)
    monkeypatch.setattr(_ranges, "SMALLEST_SHARE", 1 / 16)
    monkeypatch.setattr(_binned, "NODE_BITS", bits)


def close(value):
    return pytest.approx(value, rel=1e-12, abs=1e-13, nan_ok=True)


def finished(accumulator, parts):
    """The accumulator after all passes, pickled in the middle of each, and their number."""
    n_passes = 0
    while accumulator.needs_again:
        accumulator.again()
        for part in parts:
            accumulator = pickle.loads(pickle.dumps(accumulator))
            accumulator.update(**part)
        n_passes += 1
    return accumulator, n_passes


# ---------------------------------------------------------------------------------- additivity


@pytest.mark.parametrize("case", TRIED, ids=str)
def test_the_value_of_all_rows_is_that_of_bins_and_what_ranges_add(case, monkeypatch):
    small(monkeypatch)
    seed = len(str(case)) % 3
    columns = data(seed, case.weights)
    parts, measure = parts_of(columns), measure_of(case)
    accumulator = Accumulator(measure, max_items=[30, 20, 50][seed])
    for part in parts:
        accumulator.update(**part)
    expected = case(**columns)
    low, high = accumulator.bounds()
    assert low - 1e-12 <= expected <= high + 1e-12
    accumulator, _ = finished(accumulator, parts)
    assert accumulator.result() == close(expected)
    assert accumulator.bounds() == (accumulator.result(),) * 2


@pytest.mark.parametrize("case", TRIED[::4], ids=str)
def test_each_range_adds_the_same_whatever_is_refined_elsewhere(case):
    measure = measure_of(case)
    rng = np.random.default_rng(3)
    y_true, fine = rng.integers(0, 2, 24), rng.permutation(24) // 2
    coarse = fine // 3
    refined = [np.where(coarse == one, coarse + fine % 3 / 3, coarse) for one in range(4)]
    base = measure(y_true, coarse)
    added = sum(measure(y_true, scores) - base for scores in refined)
    assert base + added == close(measure(y_true, fine))


@pytest.mark.parametrize("case", ONE_LIST, ids=str)
def test_measures_that_are_not_additive_are_refused(case):
    with pytest.raises(ValueError, match="leave max_items out"):
        Accumulator(measure_of(case), max_items=10).update([1, 0], [1.0, 2.0])


def test_a_maximum_is_not_additive():
    # The reason why it is refused: what two ranges add depends on each other.
    measure = get_measure("ks")
    y_true, fine = np.array([1, 0, 1, 0]), np.array([3.0, 2.0, 1.0, 0.0])
    coarse = np.array([1.0, 1.0, 0.0, 0.0])
    upper, lower = np.array([3.0, 2.0, 0.0, 0.0]), np.array([2.0, 2.0, 1.0, 0.0])
    base = measure(y_true, coarse)
    assert base + sum(measure(y_true, one) - base for one in (upper, lower)) != measure(
        y_true, fine
    )


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (get_measure("ks"), "is neither"),
        (get_measure("ndcg"), "takes grades"),
        (get_measure("rr"), "is computed from single rows"),
        (get_measure("precision@5", convention="letor"), "is computed from single rows"),
    ],
    ids=str,
)
def test_measures_without_room(measure, reason):
    score = [1.0, 2.0]
    with pytest.raises(ValueError, match=rf"max_items=10 needs .* {reason}: leave"):
        Accumulator(measure, max_items=10).update([1, 0], score)
    Accumulator(measure, max_items=10).update([1, 0], score, qid=[1, 1])


# -------------------------------------------------------------------------------- what is read


def test_only_ranges_that_count_are_read_again(monkeypatch):
    small(monkeypatch, slice_rows=1000)
    columns = data(0, n=20_000)
    kept = {}
    for name in ("precision@top0.05", "recall@200", "pos@top", "auc"):
        accumulator = Accumulator(name, max_items=2000)
        for part in parts_of(columns):
            accumulator.update(**part)
        accumulator.again()
        kept[name] = accumulator._kept._rows.codes
        for part in parts_of(columns):
            accumulator.update(**part)
        if not accumulator.needs_again:
            assert accumulator.result() == close(get_measure(name)(**columns))
    n_rows = {name: sum(map(len, codes)) for name, codes in kept.items()}
    assert max(n_rows[name] for name in list(kept)[:3]) < 4000
    assert n_rows["auc"] > 8000


def test_bins_of_one_score_or_one_class_tell_the_value():
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 2, 400), rng.integers(-20, 20, 400) / 8
    accumulator = Accumulator("ap", max_items=30).update(y_true, y_score)
    assert not accumulator.needs_again
    assert accumulator.result() == close(get_measure("ap")(y_true, y_score))
    apart = Accumulator("auc", max_items=30).update(
        y_true, np.where(y_true, 1, -1) * rng.random(400)
    )
    assert not apart.needs_again
    assert apart.result() == 1.0
    with pytest.raises(ValueError, match="No further pass is needed"):
        apart.again()


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_that_are_close_together(monkeypatch, weighted):
    # All in one bin at first, and many of them equal.
    small(monkeypatch, bits=2)
    rng = np.random.default_rng(0)
    columns = {"y_true": rng.integers(0, 2, N), "y_score": 1.0 + rng.integers(0, 90, N) * 2.0**-50}
    columns["y_score"][:200] = 1.0 + 30 * 2.0**-50
    if weighted:
        columns["sample_weight"] = rng.choice([0.5, 1.25], N)
    accumulator = Accumulator("auc", max_items=15)
    for part in parts_of(columns):
        accumulator.update(**part)
    accumulator, n_passes = finished(accumulator, parts_of(columns))
    assert accumulator.result() == close(get_measure("auc")(**columns))
    assert 5 < n_passes < 60


@pytest.mark.parametrize("dtype", ["f2", "f4", "i8", "i1"])
def test_scores_of_any_type_and_size(dtype):
    rng = np.random.default_rng(0)
    scores = rng.integers(-100, 100, 300) if dtype[0] == "i" else rng.standard_normal(300) * 100
    y_score = scores.astype(dtype)
    if dtype[0] == "f":
        y_score[:6] = [np.inf, -np.inf, 0.0, -0.0, np.inf, -np.inf]
    y_true = rng.integers(0, 2, 300)
    parts = [{"y_true": y_true, "y_score": y_score}]
    accumulator = Accumulator("partial_auc@fpr0.3", max_items=50).update(**parts[0])
    assert accumulator.table is None
    assert finished(accumulator, parts)[0].result() == close(
        get_measure("partial_auc@fpr0.3")(y_true, y_score)
    )


def test_merges_of_tables_and_bins(monkeypatch):
    small(monkeypatch)
    columns = data(2, "real")
    parts = parts_of(columns, 7)
    several = [Accumulator("auc", max_items=100).update(**part) for part in parts]
    several += [Accumulator("auc", max_items=100)]
    several[3].merge(several[0]).merge(several[1])
    before = pickle.dumps(several[3])
    several[2].merge(several[3]).merge(several[5])
    assert pickle.dumps(several[3]) == before
    several[4].merge(several[2]).merge(several[6]).merge(several[7])
    assert several[4].n_items == np.count_nonzero(columns["sample_weight"])
    accumulator, _ = finished(several[4], parts)
    assert accumulator.result() == close(get_measure("auc")(**columns))
    with pytest.raises(ValueError, match="merge accumulators before again"):
        accumulator.merge(several[0])


def test_undefined_lists():
    accumulator = Accumulator("auc", max_items=10).update(np.ones(30), np.arange(30.0))
    assert not accumulator.needs_again
    with pytest.warns(UndefinedMetricWarning, match="roc_auc_score is undefined"):
        assert np.isnan(accumulator.result())


def test_warnings_of_the_measure_come_once():
    columns = data(0)
    accumulator = Accumulator("precision@top0.0001", max_items=50)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for part in parts_of(columns):
            accumulator.update(**part)
        finished(accumulator, parts_of(columns))[0].result()
    assert len(told) == 1


# ---------------------------------------------------------------------------------- passes


def test_passes_by_hand_and_by_themselves():
    columns = data(1)
    parts = parts_of(columns)
    accumulator = Accumulator("auc", max_items=100)
    for part in parts:
        accumulator.update(**part)
    with pytest.raises(ValueError, match=r"of 500 rows is not determined.*call again\(\)"):
        accumulator.result()
    accumulator.again().update(**parts[0])
    with pytest.raises(ValueError, match="once more, until needs_again"):
        accumulator.result()
    accumulator.again()  # begins the pass anew
    for part in parts:
        accumulator.update(**part)
    expected = get_measure("auc")(**columns)
    assert accumulator.result() == close(expected)
    with pytest.raises(ValueError, match=r"In update 7: This pass already has all 500 rows"):
        accumulator.update(**parts[0])
    assert accumulator.n_items == N
    for batches in (parts, lambda: iter(parts)):
        assert Accumulator.from_batches(batches, "auc", max_items=100).result() == close(expected)


def test_batches_that_cannot_be_read_again():
    parts = parts_of(data(0))
    with pytest.raises(ValueError, match="Batch 0 exceeds max_items=100"):
        Accumulator.from_batches(iter(parts), "auc", max_items=100)
    expected = get_measure("auc")(**data(0))
    assert Accumulator.from_batches(iter(parts), "auc", max_items=N).result() == close(expected)
    tied = [([0, 1], [1.0 * part, part + 1.0]) for part in [*range(249), *range(249)]]
    exact = Accumulator.from_batches(iter(tied), "auc", max_items=N)
    assert not exact.needs_again
    drained = iter(parts)
    with pytest.raises(ValueError, match="fewer rows in a later pass than the 500"):
        Accumulator.from_batches(lambda: drained, "auc", max_items=100)


def test_rows_that_are_not_the_same_again():
    columns = data(0)
    accumulator = Accumulator("auc", max_items=100).update(**columns).again()
    with pytest.raises(ValueError, match="differ from those of the first pass"):
        accumulator.update(1 - columns["y_true"], columns["y_score"])
    accumulator.again().update(**columns)
    assert accumulator.result() == close(get_measure("auc")(**columns))


def test_bounds_of_one_pass():
    columns = data(0)
    bounded = Accumulator.from_batches(
        iter(parts_of(columns)), "auc", max_items=50, overflow="bounds"
    )
    low, high = bounded.bounds()
    expected = get_measure("auc")(**columns)
    assert low < expected < high < low + 0.03
    assert not bounded.needs_again
    with pytest.raises(ValueError, match=re.escape("use bounds() for an interval")):
        bounded.result()
    # Both ends are values of orders within the bins.
    loss = Accumulator("fpr@tpr0.9", max_items=50, overflow="bounds").update(**columns)
    low, high = loss.bounds()
    assert low <= get_measure("fpr@tpr0.9")(**columns) <= high
    with pytest.raises(ValueError, match="overflow='sample'"):
        Accumulator("auc", overflow="sample")
    with pytest.raises(ValueError, match="max_items"):
        Accumulator("auc", max_items=0)


# ---------------------------------------------------------------------------------- the tables


@pytest.mark.parametrize("kind", ["classes", "grades"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_equal_rows_are_made_one(kind, weighted, dtype):
    rng = np.random.default_rng(0)
    score = (rng.integers(-20, 20, 5000) * rng.choice([-0.25, 0.25], 5000)).astype(dtype)
    label = rng.integers(0, 2 if kind == "classes" else 4, 5000)
    label = label.astype(bool if kind == "classes" else float)
    weight = rng.uniform(0.5, 2, 5000) if weighted else None
    counts = np.ones(5000) if weight is None else weight
    table = ScoreTable.of_rows(score, label, weight).condensed()
    expected = {}
    for *row, count in zip(score.tolist(), label.tolist(), counts, strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0.0) + count
    rows = list(zip(table.score.tolist(), table.label.tolist(), strict=True))
    assert rows == sorted(expected)
    np.testing.assert_allclose(table.weight, [expected[row] for row in rows], rtol=1e-12)
    assert table.single.n_rows == 5000
    distinct = ScoreTable.of_rows(rng.permutation(5000) / 8, label)
    assert distinct.condensed() is distinct
    assert distinct.distinct().weight is None
