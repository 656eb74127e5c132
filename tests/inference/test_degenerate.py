"""No list, however plain, gives certainty: limits of positive width, and no zero that is none."""

import warnings

import numpy as np
import pytest

from sklearn_rank._printed import fixed
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import Accumulator, Wilcoxon
from tests.naming import for_each

Y = (np.arange(40) % 4 == 0).astype(int)
UP = np.arange(40.0)
LISTS = {
    "perfect": (Y, 100 * Y - UP),
    "reversed": (Y, UP - 100 * Y),
    "all tied": (Y, np.zeros(40)),
    "one positive": ((UP == 3).astype(int), UP),
    "one positive at the top": ((UP == 39).astype(int), UP),
    "one of each": (np.array([1, 0]), np.array([2.0, 1.0])),
}
MEASURES = [
    *("auc", "ap", "gini", "ks", "lift@0.1", "enrichment@0.1", "precision@5", "precision@top0.1"),
    *("tpr@fpr0.1", "fpr@tpr0.5", "partial_auc@fpr0.1", "local_auc@0.8", "bedroc@20", "rie@20"),
    *("pnorm@4", "accuracy_loss@top0.1", "spearman", "tau_b"),
]


def shown(make):
    """The result, or None where it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return make()
    except ValueError:
        return None


def errors_of(found):
    if hasattr(found, "standard_errors"):
        return found.standard_errors
    return np.nan if found.standard_error is None else found.standard_error


@pytest.mark.parametrize("name", LISTS)
def test_plain_lists_have_no_certain_values(name):
    y, score = LISTS[name]
    five = {"qid": np.repeat(np.arange(5), len(y))}
    makes = [
        lambda: metric_interval("auc", y, score),
        lambda: metric_interval("precision@top0.1", y, score),
    ]
    makes += [lambda: metric_interval(Wilcoxon(), y, score)]
    makes += [lambda: compare("auc", y, {"a": score, "b": -score}, method="swap")]
    for measure in MEASURES:
        makes += [
            lambda m=measure: metric_interval(m, y, score),
            lambda m=measure: metric_interval(m, np.tile(y, 5), np.tile(score, 5), **five),
            lambda m=measure: metric_interval(Accumulator(m).update(y, score)),
        ]
        other = (score, -score, np.zeros(len(y)))[len(makes) // 4 % 3]
        makes += [lambda m=measure, b=other: compare(m, y, {"a": score, "b": b})]
    results = [found for found in map(shown, makes) if found is not None]
    assert len(results) > 20
    for found in results:
        width = np.subtract(found.high, found.low)
        assert np.all((width > 1e-9) | np.isnan(width)), found
        errors = np.atleast_1d(errors_of(found))
        assert np.all((errors > 1e-12) | np.isnan(errors)), found
        assert "-0.0000" not in str(found)


@for_each(
    ("value", "sign", "text"),
    [
        (-0.0, False, "0.0000"),
        (-0.0, True, "+0.0000"),
        (-1e-17, False, "0.0000"),
        (-2.04e-5, False, "-2.0e-05"),
        (4e-5, True, "+4.0e-05"),
        (-5.1e-5, False, "-0.0001"),
        (0.75, False, "0.7500"),
        (float("nan"), False, "nan"),
    ],
)
def test_numbers_are_printed_without_a_negative_zero(value, sign, text):
    assert fixed(value, sign=sign) == text
