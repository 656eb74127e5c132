"""Success, R-precision and F1 among the first k, lift, and average precision of what is found."""

import numpy as np
import pytest
import scipy.stats

from sklearn_rank.metrics import (
    average_precision_score,
    get_measure,
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


def test_f1_is_positional():
    measure = get_measure("f1@3")
    lists = measure.lists([1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0], qid=[1, 1, 1, 1, 2])
    utilities = measure.positional.utilities(lists)
    assert utilities[:4] == pytest.approx([0.4, 0.0, 0.4, 0.0])
    assert np.isnan(utilities[4])
    assert utilities[:4] @ measure.positional.discounts(4) == measure.values(lists)[0]
    assert measure.positional.largest == 0.5


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
