"""Discounted gains, where the catalogue says nothing."""

import numpy as np
import pytest
import sklearn.metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.metrics import dcg_score, ndcg_score, positional_score


@pytest.mark.parametrize("k", [None, 1, 7, 100])
def test_equals_scikit_learn_with_linear_gain_and_ties(k):
    rng = np.random.default_rng(0)
    for _ in range(20):
        y_true, y_score = rng.integers(0, 5, 30), rng.integers(0, 9, 30)
        for ours, theirs in (
            (dcg_score, sklearn.metrics.dcg_score),
            (ndcg_score, sklearn.metrics.ndcg_score),
        ):
            expected = theirs([y_true], [y_score], k=k)
            assert ours(y_true, y_score, k=k, gain="linear") == pytest.approx(expected, rel=1e-13)


def test_the_two_gains_differ():
    y_true, y_score = [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1]
    assert ndcg_score(y_true, y_score, gain="linear") == pytest.approx(0.9608, abs=5e-5)
    assert ndcg_score(y_true, y_score) == pytest.approx(0.9488, abs=5e-5)


def test_gain_by_a_function():
    y_true, y_score = [3, 0, 1], [0, 1, 2]
    squares = dcg_score(y_true, y_score, gain=np.square)
    assert squares == pytest.approx(dcg_score(np.square(y_true), y_score, gain="linear"))


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k=0 must be"),
        ({"log_base": 1}, "log_base=1 must"),
        ({"log_base": np.inf}, "log_base=inf must"),
        ({"log_base": np.nan}, "log_base=nan must"),
        ({"gain": lambda grade: grade - 0.5}, "relevance 0 is -0.5: gains must"),
        ({"gain": "quadratic"}, "gain='quadratic' must"),
        ({"gain": lambda grade: grade[:1]}, "one gain for each"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        dcg_score([1, 0], [1, 0], **arguments)


@pytest.mark.parametrize("k", [2.5, 2.0, True, "3", np.nan])
def test_k_that_is_no_position_is_refused(k):
    with pytest.raises(TypeError, match="must be a whole number or None"):
        ndcg_score([1, 0], [1, 0], k=k)


@pytest.mark.parametrize("grade", [-1, np.inf, np.nan])
def test_bad_relevance_is_refused_with_its_row(grade):
    with pytest.raises(ValueError, match="at row 1"):
        ndcg_score([1, grade], [1, 0])


def test_gains_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="2000 is inf"):
        dcg_score([2000, 1], [1, 0])


def test_no_gain_at_all():
    with pytest.warns(UndefinedMetricWarning, match="ndcg_score is undefined"):
        assert ndcg_score([0, 0], [1, 0]) == 0.0


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"discount": "quadratic"}, "discount='quadratic'"),
        ({"discount": None}, "discount=None"),
        ({"discount": lambda position, n: position[:1]}, "one value for each"),
        ({"discount": lambda position, n: np.where(position > 1, np.nan, 1.0)}, "position 2"),
        ({"gain": "quadratic"}, "gain='quadratic'"),
        ({"gain": None}, "gain=None"),
        ({"k": 0}, "k=0"),
        ({"k": 1.5}, "k=1.5"),
    ],
)
def test_bad_parameters_of_positional_measures_are_refused(arguments, message):
    arguments = {"gain": "linear", "discount": "linear", **arguments}
    with pytest.raises((TypeError, ValueError), match=message):
        positional_score([1, 0, 2], [1, 0, 3], **arguments)


def test_ideal_of_each_query_is_its_own():
    y_true, y_score = [2, 0, 1, 0, 4], [1, 2, 3, 4, 5]
    values = ndcg_score(y_true, y_score, qid=[0, 0, 1, 1, 2], k=1, average=None)
    assert values == pytest.approx([0, 0, 1])
    assert ndcg_score(y_true, y_true, qid=[0, 0, 1, 1, 2]) == pytest.approx(1)
