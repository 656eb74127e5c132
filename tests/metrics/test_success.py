"""Success, R-precision and F1 among the first k, lift, and average precision of what is found."""

import numpy as np
import pytest
import scipy.stats

from sklearn_rank.metrics import (
    average_precision_score,
    f1_at_k_score,
    get_measure,
    lift_score,
    precision_at_k_score,
    r_precision_score,
    recall_at_k_score,
    success_at_k_score,
)


@pytest.mark.parametrize("n", [10, 1000, 10**5])
def test_success_of_tied_items_is_hypergeometric(n):
    for positives in {1, n // 100 + 1, n // 2, n - 1, n}:
        y_true = (np.arange(n) < positives).astype(int)
        for k in (1, n // 50 + 1, n // 2, n):
            expected = scipy.stats.hypergeom(n, positives, k).sf(0)
            found = success_at_k_score(y_true, np.zeros(n), k=k)
            assert found == pytest.approx(expected, rel=1e-9)


def test_success_of_large_weights():
    # One of 1e12 copies; no loop runs over them.
    found = success_at_k_score([1, 0], [0.0, 0.0], k=10**11, sample_weight=[10**12, 10**12])
    assert found == 1.0
    found = success_at_k_score([1, 0], [0.0, 0.0], k=3, sample_weight=[1, 10**12])
    assert found == pytest.approx(3e-12, rel=1e-4)
    with pytest.raises(ValueError, match="whole"):
        success_at_k_score([1, 0], [0.0, 0.0], k=1, sample_weight=[0.5, 1.0])


def test_success_with_one_positive_is_recall():
    rng = np.random.default_rng(0)
    y, score = np.tile([0, 0, 1, 0], 30), rng.integers(0, 3, 120)
    qid = np.repeat(np.arange(30), 4)
    found = success_at_k_score(y, score, k=2, qid=qid, average=None)
    assert found == pytest.approx(recall_at_k_score(y, score, k=2, qid=qid, average=None))


def test_r_precision_and_f1_from_precision_and_recall():
    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 2, 40), rng.permutation(40)
    n_pos = int(y.sum())
    assert r_precision_score(y, score) == precision_at_k_score(y, score, k=n_pos)
    assert r_precision_score(y, score) == recall_at_k_score(y, score, k=n_pos)
    assert r_precision_score(y, score) == pytest.approx(f1_at_k_score(y, score, k=n_pos))
    for k in (1, 7, 40, 60):
        p, r = (one(y, score, k=k) for one in (precision_at_k_score, recall_at_k_score))
        expected = 2 * p * r / (p + r) if p + r else 0.0
        assert f1_at_k_score(y, score, k=k) == pytest.approx(expected)


def test_f1_is_positional():
    measure = get_measure("f1@3")
    lists = measure.lists([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], qid=[1, 1, 1, 1, 2])
    utilities = measure.positional.utilities(lists)
    assert utilities[:4] == pytest.approx([0.4, 0.0, 0.4, 0.0])
    assert np.isnan(utilities[4])
    assert utilities[:4] @ measure.positional.discounts(4) == measure.values(lists)[0]
    assert measure.positional.largest == 0.5


def test_the_three_denominators_of_average_precision():
    # Positives at 1, 4 and 5, of which the first two places hold one.
    y, score = [1, 0, 0, 1, 1], [5.0, 4.0, 3.0, 2.0, 1.0]
    found = [
        average_precision_score(y, score, k=2, normalize=normalize)
        for normalize in (None, "positives", "reachable", "found")
    ]
    assert found == pytest.approx([1 / 3, 1 / 3, 1 / 2, 1.0])
    assert average_precision_score([0, 0, 1], [3.0, 2.0, 1.0], k=2, normalize="found") == 0
    # Without a last position all of them are found.
    assert average_precision_score(y, score, normalize="found") == average_precision_score(
        y, score
    )


@pytest.mark.parametrize(("n", "n_drawn"), [(50, 4000), (1000, 300)])
def test_average_precision_of_what_is_found_in_a_long_block(n, n_drawn):
    # The mean over the orders by the number found, against drawn orders.
    rng = np.random.default_rng(2)
    y = (np.arange(n) < n // 5).astype(int)
    parameters = {"k": n // 10, "normalize": "found"}
    orders = rng.random((n_drawn, n)).ravel()
    qid = np.repeat(np.arange(n_drawn), n)
    drawn = average_precision_score(
        np.tile(y, n_drawn), orders, qid=qid, average=None, **parameters
    )
    found = average_precision_score(y, np.zeros(n), **parameters)
    assert abs(found - drawn.mean()) < 4 * drawn.std() / np.sqrt(n_drawn)


def test_lift_and_enrichment_factor_differ_by_rounding_only():
    rng = np.random.default_rng(3)
    y, score = (rng.random(100) < 0.2).astype(int), rng.integers(0, 30, 100)
    for tau in (0.01, 0.1, 0.35):
        found = lift_score(y, score, tau=tau)
        assert found == pytest.approx(get_measure(f"enrichment@{tau}")(y, score))
    # Two and a half of ten items; the enrichment factor takes three.
    y, score = [1, 0, 1, 0, 0, 0, 1, 0, 1, 0], -np.arange(10.0)
    assert lift_score(y, score, tau=0.25) == pytest.approx(1.5 / 4 / 0.25)
    assert get_measure("enrichment@0.25")(y, score) == pytest.approx(2 / 3 / 0.4)


@pytest.mark.parametrize("name", ["lift@0.1", "lift@0.3", "enrichment@0.1"])
def test_influence_of_lift_predicts_its_change(name):
    rng = np.random.default_rng(0)
    n = 4000
    y = rng.random(n) < 0.3
    score = y + rng.normal(size=n)
    measure = get_measure(name)
    found = measure.influence_of(measure.lists(y, score))
    assert found.estimate == pytest.approx(measure(y, score))
    changes, predicted = [], []
    for _ in range(100):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == c), np.count_nonzero(y == c)) for c in (True, False)]
        )
        changes.append(measure(y[rows], score[rows]) - measure(y, score))
        predicted.append(found.centred()[rows].mean())
    assert np.corrcoef(changes, predicted)[0, 1] > 0.94
    slope = np.dot(changes, predicted) / np.dot(predicted, predicted)
    assert slope == pytest.approx(1.0, abs=0.12)
