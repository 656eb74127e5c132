"""Whether one of the best items is on top: against the accuracy and success at 1."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from sklearn_rank.metrics import get_measure

TOP_ONE = get_measure("top1")


def test_of_classes_it_is_the_accuracy():
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 4, 200), rng.normal(size=(200, 4))
    expected = accuracy_score(label, score.argmax(axis=1))
    assert TOP_ONE(np.eye(4)[label], score) == pytest.approx(expected, abs=1e-14)


def test_weights_are_shares_of_the_block_on_top():
    assert TOP_ONE([2, 1, 0], [1, 1, 0], sample_weight=[0.1, 0.3, 9]) == pytest.approx(0.25)
    assert TOP_ONE([0, 1], [np.inf, np.inf]) == 0.5


def test_its_utilities_are_those_of_the_value():
    form = get_measure("top1").positional
    assert form.discounts(3).tolist() == [1, 0, 0]
    lists = get_measure("top1").lists(
        [3, 3, 1, -1, -2, 5, 5], [1, 2, 3, 2, 1, 0, 1], qid=[1, 1, 1, 2, 2, 3, 3]
    )
    assert form.utilities(lists).tolist()[:5] == [1, 1, 0, 1, 0]
    assert np.isnan(form.utilities(lists)[5:]).all()
