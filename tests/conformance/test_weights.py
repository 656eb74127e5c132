"""What holds for the weights of items in every measure of the catalogue."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.exceptions import SmallTopWarning
from tests.catalogue import METRICS

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category.__module__}.{category.__name__}")
    for category in (SmallTopWarning, UndefinedMetricWarning)
]

weighable = pytest.mark.parametrize(
    "case", [case for case in METRICS if case.weights != "none"], ids=str
)


def weights_of(case, rng, n):
    """Weights whose sums are rounded, where the measure takes them."""
    if case.weights == "whole":
        return rng.integers(1, 4, n).astype(float)
    return (rng.uniform(0.5, 3.0, n), rng.integers(5, 30, n) / 10.0, np.full(n, 0.7))[
        rng.integers(3)
    ]


def weighted_lists(case, rng, n_lists):
    """Lists of at least two items, of one label or of several, with weights."""
    for i in range(n_lists):
        n = int(rng.integers(2, 9))
        labels = [case.grades, case.grades[:1], case.grades[-1:]][i % 3]
        yield rng.choice(labels, n), rng.integers(0, 4, n), weights_of(case, rng, n)


# ------------------------------------------------------------------------ lists without a value


@weighable
def test_lists_of_one_label_are_undefined_by_count_in_any_order(case):
    rng = np.random.default_rng(0)
    rows = list(weighted_lists(case, rng, 30))
    labels, score, weight = (np.concatenate(values) for values in zip(*rows, strict=True))
    qid = np.repeat(np.arange(len(rows)), [len(row[0]) for row in rows])
    found = []
    for _ in range(8):
        order = rng.permutation(len(qid))
        data = labels[order], score[order]
        more = {"qid": qid[order], "sample_weight": weight[order], "undefined": "skip"}
        found.append(case(*data, average=None, **more))
    for values in found[1:]:
        np.testing.assert_allclose(values, found[0], rtol=1e-9, atol=1e-9)
    for row, value in zip(rows, found[0], strict=True):
        y_true, y_score, own = row
        if len(set(y_true.tolist())) == 1:
            assert np.isnan(value) == case.undefined(y_true.tolist())
        order = rng.permutation(len(own))
        alone = case(y_true[order], y_score[order], sample_weight=own[order], undefined="skip")
        np.testing.assert_allclose(alone, value, rtol=1e-9, atol=1e-9)
