"""Average precision and the measures of readers who stop, where the catalogue says nothing."""

import numpy as np
import pytest

from sklearn_rank.metrics import (
    _positional,
    average_precision_score,
    expected_reciprocal_rank_score,
    rank_biased_precision_score,
    reciprocal_rank_score,
)
from sklearn_rank.metrics import _tied_sums as _stopping
from tests.naming import for_each
from tests.oracles import orders
from tests.oracles.stopping import reciprocal_first, reciprocal_stop

# ------------------------------------------------------------------------------ average precision


def test_repetitions_are_not_laid_out():
    # 2e12 items: the sum of the harmonic series in closed form.
    weight = [10**12, 10**12]
    value = average_precision_score([1, 0], [1.0, 0.0], sample_weight=weight)
    assert value == pytest.approx(1.0)
    tied = average_precision_score([1, 0], [0.0, 0.0], sample_weight=weight)
    assert tied == pytest.approx(0.5, abs=1e-9)


@for_each("k", [1, 7, 60, 100, 130, 10_000])
def test_average_precision_of_a_block_that_is_cut(k):
    # Two blocks of 100 and 500, of which 10 and 40 are positive.
    y_true = np.r_[np.ones(10), np.zeros(90), np.ones(40), np.zeros(460)]
    y_score = np.r_[np.ones(100), np.zeros(500)]
    total = 0.0
    for before, hits, length, positives in ((0, 0, 100, 10), (100, 10, 500, 40)):
        for j in range(1, length + 1):
            if before + j <= k:
                others = (j - 1) * (positives - 1) / (length - 1)
                total += positives / length * (hits + 1 + others) / (before + j)
    value = average_precision_score(y_true, y_score, k=k)
    assert value == pytest.approx(total / 50, rel=1e-13)
    reachable = average_precision_score(y_true, y_score, k=k, normalize="reachable")
    assert reachable == pytest.approx(total / min(k, 50), rel=1e-13)


# -------------------------------------------------------------------------------- reciprocal rank


@for_each(("n_pos", "n"), [(1, 2), (1, 400), (3, 57), (200, 400), (57, 57)])
def test_the_first_of_a_long_block(n_pos, n):
    for above in (0, 1, 30):
        y_true = np.r_[np.zeros(above), np.ones(n_pos), np.zeros(n - n_pos + 5)]
        y_score = np.r_[np.arange(above, 0, -1), np.zeros(n), -np.ones(5)]
        for k in (None, 1, above + 1, above + 2, above + 50, 10**6):
            value = reciprocal_rank_score(y_true, y_score, k=k)
            assert value == pytest.approx(reciprocal_first(n_pos, n, above, k), rel=1e-13)


def test_first_blocks_of_about_equal_lengths_do_not_mix():
    # Items above leave a different number of places within k to each block.
    rng = np.random.default_rng(4)
    shapes = [
        (int(n), int(rng.integers(1, n)), int(rng.integers(0, 9)))
        for n in rng.integers(2, 40, 200)
    ]
    rows = [
        (q, label, score)
        for q, (n, n_pos, above) in enumerate(shapes)
        for label, score in [(0, 1)] * above + [(1, 0)] * n_pos + [(0, 0)] * (n - n_pos)
    ]
    qid, y_true, y_score = np.array(rows).T
    for k in (None, 3, 10):
        values = reciprocal_rank_score(y_true, y_score, k=k, qid=qid, average=None)
        expected = [reciprocal_first(n_pos, n, above, k) for n, n_pos, above in shapes]
        assert values == pytest.approx(expected, rel=1e-13)


# ------------------------------------------------------------------------ expected reciprocal rank


@pytest.mark.parametrize("long", [0, 2])
def test_integrals_and_grades_give_the_mean_over_all_orders(long, monkeypatch):
    monkeypatch.setattr(_stopping, "LONG", long)
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        y_true = rng.choice([0, 0, 1, 2, 4], n).tolist()
        y_score = rng.integers(0, 3, n).tolist()
        for k in (None, 1, 3):
            value = expected_reciprocal_rank_score(y_true, y_score, k=k, max_grade=4)
            expected = orders.expected(
                orders.expected_reciprocal_rank, y_true, y_score, max_grade=4, k=k
            )
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(("n", "n_relevant"), [(40, 20), (1024, 1), (1025, 20), (1500, 1000)])
def test_long_blocks_by_symmetric_means(n, n_relevant):
    rng = np.random.default_rng(n)
    grade = np.zeros(n)
    grade[:n_relevant] = rng.integers(1, 5, min(n, n_relevant))
    above = np.r_[2, np.zeros(30)]
    y_score = np.r_[np.arange(31, 0, -1), np.zeros(n)]
    for head in (above, above[:0]):
        y_true, score = np.r_[head, grade], y_score[len(above) - len(head) :]
        reached = 1 - 3 / 16 if len(head) else 1.0
        start = 3 / 16 if len(head) else 0.0
        for k in (None, len(head) + 5, len(head) + 200):
            inside = reciprocal_stop((2**grade - 1) / 16, len(head), k)
            value = expected_reciprocal_rank_score(y_true, score, k=k, max_grade=4)
            assert value == pytest.approx(start + reached * inside, rel=1e-12)


def test_blocks_of_about_equal_lengths_do_not_mix():
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 60, 200)
    qid = np.repeat(np.arange(200), sizes)
    grade = rng.integers(0, 5, len(qid))
    for k in (None, 9):
        values = expected_reciprocal_rank_score(
            grade, np.zeros(len(qid)), k=k, max_grade=4, qid=qid, average=None
        )
        expected = [reciprocal_stop((2.0 ** grade[qid == q] - 1) / 16, k=k) for q in range(200)]
        assert values == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("max_grade", [4, 25])
def test_many_grades_and_small_chances(max_grade):
    # Chances of 1e-7 are neither lost beside 1 nor cut off early.
    rng = np.random.default_rng(1)
    grade = rng.uniform(0, 4, 1500)
    chance = 2 ** (grade - max_grade) - 2.0**-max_grade
    for k in (None, 400):
        value = expected_reciprocal_rank_score(grade, np.zeros(1500), k=k, max_grade=max_grade)
        assert value == pytest.approx(reciprocal_stop(chance, k=k), rel=1e-12)


def test_a_long_list_of_tied_items():
    # Item by item it would be 1e10 steps.
    rng = np.random.default_rng(2)
    grade = rng.choice(5, 100_000)
    values = [
        expected_reciprocal_rank_score(grade, np.zeros(100_000), k=k, max_grade=4)
        for k in (None, 10, 50_000)
    ]
    assert values[0] == pytest.approx(values[2], rel=1e-12)
    # A reader who goes on after 10 of 1e5 is not much different from one who draws at random.
    mean = np.mean((2.0**grade - 1) / 16)
    expected = np.sum(mean * (1 - mean) ** np.arange(10) / np.arange(1, 11))
    assert values[1] == pytest.approx(expected, rel=1e-3)


def test_the_highest_grade():
    y_true, y_score = [2, 0, 1, 0], [4, 3, 2, 1]
    value = expected_reciprocal_rank_score(y_true, y_score)
    assert value == expected_reciprocal_rank_score(y_true, y_score, max_grade=2)
    assert value > expected_reciprocal_rank_score(y_true, y_score, max_grade=4)
    # Over all lists, not in each.
    y_true, y_score, qid = [2, 0, 1, 0], [2, 1, 2, 1], [1, 1, 2, 2]
    for function in (expected_reciprocal_rank_score, rank_biased_precision_score):
        values = function(y_true, y_score, qid=qid, average=None)
        assert (
            values.tolist()
            == function(y_true, y_score, qid=qid, average=None, max_grade=2).tolist()
        )
        assert function([0, 0], [1, 2]) == 0.0
        for max_grade, message in ((1, "above max_grade=1"), (np.inf, "finite"), ("4", "finite")):
            with pytest.raises(ValueError, match=message):
                function(y_true, y_score, max_grade=max_grade)
    assert expected_reciprocal_rank_score([1100, 0], [1, 0]) == 1.0


# ------------------------------------------------------------------------- rank-biased precision


def test_blocks_that_nobody_reaches(monkeypatch):
    rng = np.random.default_rng(0)
    grade, score = rng.integers(0, 5, 20_000), np.repeat(np.arange(20.0), 1000)
    rare = (rng.random(20_000) < 0.0005).astype(int)
    for y, max_grade in ((grade, 4), (rare, 1), (rare, 3)):
        found = expected_reciprocal_rank_score(y, score, max_grade=max_grade)
        monkeypatch.setattr(_stopping, "LONG", 10**9)
        monkeypatch.setattr(_positional, "LOOKED_AT", (None,))
        expected = expected_reciprocal_rank_score(y, score, max_grade=max_grade)
        monkeypatch.undo()
        assert found == pytest.approx(expected, rel=1e-12)
