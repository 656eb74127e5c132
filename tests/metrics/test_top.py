"""The measures of the top, where the catalogue says nothing."""

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import accuracy_score, coverage_error

from sklearn_rank.exceptions import SmallTopWarning
from sklearn_rank.metrics import (
    accuracy_at_top_loss,
    average_precision_score,
    coverage_loss,
    get_measure,
    precision_at_top_score,
    success_at_k_score,
)


@pytest.mark.parametrize("measure", [precision_at_top_score, accuracy_at_top_loss])
def test_a_top_of_less_than_one_item_warns(measure):
    y_true, y_score = [0, 1, 1], [3, 2, 1]
    with pytest.warns(SmallTopWarning, match="top 0.1 of 3 items"):
        small = measure(y_true, y_score, tau=0.1)
    assert small == measure(y_true, y_score, tau=1 / 3)


def test_more_rows_than_there_are_warn():
    y, score = np.arange(300) % 3 == 0, np.arange(300.0)
    queries = {"qid": np.arange(300) // 100}
    for name, k in (("precision", 5000), ("f1", 301), ("recall", 301)):
        measure = get_measure(f"{name}@{k}")
        with pytest.warns(UserWarning, match=r"of the first [\d,]+ rows, but there are 300: pass"):
            measure(y, score)
        measure(y[:200], score[:200])
        with pytest.warns(UserWarning, match="but 3 of the 3 queries have fewer, whose value"):
            measure(y, score, **queries)
        measure(y[:200], score[:200], qid=queries["qid"][:200])
    get_measure("precision@300")(y, score)
    # Half of the queries are long; the name of a system says what is meant.
    get_measure("precision@101")(y, score, qid=np.arange(300) // 200)
    get_measure("recall@101", convention="trec_eval")(y, score, **queries)


def test_half_an_item_rounds_up():
    # .29 * 50 is 14.499999999999998 in floating point: the top holds 15, of which one is positive.
    y_true = np.r_[np.zeros(14), 1, np.zeros(35)]
    assert precision_at_top_score(y_true, -np.arange(50), tau=0.29) == 1 / 15


def test_the_top_is_rounded_not_raised():
    # ceil(.07 * 100) is 8 in floating point.
    y_true = np.r_[np.ones(7), np.zeros(93)]
    assert precision_at_top_score(y_true, -np.arange(100), tau=0.07) == 1.0


def test_real_weights_by_hand():
    value = precision_at_top_score([1, 0, 1], [3, 2, 1], tau=0.5, sample_weight=[0.25, 0.5, 0.25])
    assert value == pytest.approx(0.5)


def test_small_tops_of_many_queries_warn_once():
    qid = np.repeat(np.arange(10), [1, 2, 3, 30, 40, 1, 2, 3, 30, 40])
    y_true = np.arange(len(qid)) % 2
    with pytest.warns(SmallTopWarning) as caught:
        precision_at_top_score(y_true, y_true, tau=0.1, qid=qid)
    assert len(caught) == 1


def test_a_top_of_positives_only_is_exactly_1():
    for n in range(2, 200):
        y, score = np.arange(n) >= n // 3, np.arange(float(n))
        assert precision_at_top_score(y, score, tau=0.3) == 1.0


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


def test_coverage_is_scikit_learns_without_ties():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, (200, 5)), rng.normal(size=(200, 5))
    y[~y.any(axis=1), 0] = 1
    assert coverage_loss(y, score) == pytest.approx(coverage_error(y, score), abs=1e-13)
    y[:3] = 0
    with pytest.warns(match="no positive"):
        found = coverage_loss(y, score, undefined=0)
    assert found == pytest.approx(coverage_error(y, score), abs=1e-13)


def test_coverage_of_whole_weights_of_any_size():
    found = coverage_loss([1, 0, 1], [3, 2, 2], sample_weight=[5, 10**12, 1])
    assert found == pytest.approx(5 + (10**12 + 2) / 2)
    # Many copies of a positive: the last one is at the end of its block.
    found = coverage_loss([1, 0], [1, 1], sample_weight=[10**12, 1])
    assert found == pytest.approx(10**12 + 1, abs=2)


TOP_ONE = get_measure("top1")


def test_top_one_of_classes_is_the_accuracy():
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 4, 200), rng.normal(size=(200, 4))
    expected = accuracy_score(label, score.argmax(axis=1))
    assert TOP_ONE(np.eye(4)[label], score) == pytest.approx(expected, abs=1e-14)


def test_weights_of_top_one_are_shares_of_the_block_on_top():
    assert TOP_ONE([2, 1, 0], [1, 1, 0], sample_weight=[0.1, 0.3, 9]) == pytest.approx(0.25)
    assert TOP_ONE([0, 1], [np.inf, np.inf]) == 0.5


def test_utilities_of_top_one_are_those_of_the_value():
    form = get_measure("top1").positional
    assert form.discounts(3).tolist() == [1, 0, 0]
    lists = get_measure("top1").lists(
        [3, 3, 1, -1, -2, 5, 5], [1, 2, 3, 2, 1, 0, 1], qid=[1, 1, 1, 2, 2, 3, 3]
    )
    assert form.utilities(lists).tolist()[:5] == [1, 1, 0, 1, 0]
    assert np.isnan(form.utilities(lists)[5:]).all()
