"""Discounted gains, where the catalogue says nothing."""

import tracemalloc

import numpy as np
import pytest

from sklearn_rank.metrics import _tied_sums, dcg_score, get_measure, ndcg_score, positional_score


def test_real_weights_take_parts_of_positions():
    # Positions 0 to 1.5, then 1.5 to 2.5: of position 2 half each, and half of position 3.
    value = dcg_score([1, 1], [1, 0], sample_weight=[1.5, 1.0])
    assert value == pytest.approx(1 + 1 / np.log2(3) + 0.5 / np.log2(4))
    cut = dcg_score([0, 1], [1, 0], k=2, sample_weight=[1.5, 1.0])
    assert cut == pytest.approx(0.5 / np.log2(3))


def test_late_positions_keep_their_digits():
    n = 200_000
    y_true = np.zeros(n)
    y_true[-1] = 1
    value = dcg_score(y_true, -np.arange(n))
    assert value == pytest.approx(1 / np.log2(n + 1), rel=1e-14)


def test_gains_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="2000 is inf"):
        dcg_score([2000, 1], [1, 0])


@pytest.mark.parametrize("k", [None, 1, 7, 500])
@pytest.mark.parametrize("gain", ["exponential", "linear", np.sqrt])
def test_dcg_is_a_positional_measure(k, gain):
    rng = np.random.default_rng(1)
    y_true, y_score = rng.integers(0, 5, 300), rng.integers(0, 40, 300)
    qid = rng.integers(0, 25, 300)

    def logarithmic(position, n_items):
        assert position.shape == n_items.shape
        return 1 / np.log2(1 + position)

    for weight in (None, rng.uniform(1, 2.8, 300)):
        for ids in (None, qid):
            expected = dcg_score(y_true, y_score, k=k, gain=gain, qid=ids, sample_weight=weight)
            for discount in ("logarithmic", logarithmic):
                value = positional_score(
                    y_true,
                    y_score,
                    gain=gain,
                    discount=discount,
                    k=k,
                    qid=ids,
                    sample_weight=weight,
                )
                assert value == pytest.approx(expected, rel=1e-12)


def test_discounts_know_the_length_of_their_list():
    lengths = [3, 1, 5, 3]
    qid = np.repeat([5, 2, 9, 1], lengths)
    y_true = np.ones(len(qid))

    def discount(position, n_items):
        return (n_items - position + 1.0) / n_items

    values = positional_score(
        y_true, -np.arange(12), gain="linear", discount=discount, qid=qid, average=None
    )
    # Ids 1, 2, 5, 9 have 3, 1, 3, 5 items: the sum of i / n is (n + 1) / 2.
    assert values == pytest.approx([2, 1, 2, 3])
    linear = positional_score(
        y_true, -np.arange(12), gain="linear", discount="linear", qid=qid, average=None
    )
    assert linear == pytest.approx([3, 0, 3, 10])


def test_negative_relevance_is_refused_with_its_row():
    with pytest.raises(ValueError, match="at row 1"):
        ndcg_score([1, -1], [1, 0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [None, 3])
def test_lists_that_are_evaluated_part_by_part(k, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    n, sizes = 900, rng.integers(1, 30, 900)
    qid = rng.permutation(np.repeat(np.arange(n), sizes)[:n])
    y_true, y_score = rng.integers(1, 5, n), rng.integers(0, 9, n)
    weight = rng.uniform(1, 3, n) if weighted else None
    options = {"k": k, "qid": qid, "sample_weight": weight, "average": None}
    whole = ndcg_score(y_true, y_score, **options)
    monkeypatch.setattr(_tied_sums, "CHUNK", 50)
    assert len(get_measure("ndcg").lists(y_true, y_score, qid=qid).parts(50)) > 10
    np.testing.assert_allclose(ndcg_score(y_true, y_score, **options), whole, rtol=1e-13)


def test_many_lists_take_the_memory_of_few():
    # Only the gains of all rows are there at one time; arrays of all rows took 50 bytes for each.
    n, rng = 2**21, np.random.default_rng(4)
    lists = get_measure("ndcg@10").lists(
        rng.integers(0, 4, n), rng.normal(size=n), qid=np.arange(n) // 16
    )
    tracemalloc.start()
    get_measure("ndcg@10").values(lists)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * n
