"""Properties that hold for every metric of the catalogue."""

import numpy as np
import pytest

from sklearn_rank import metrics
from sklearn_rank.exceptions import SmallTopWarning
from tests.catalogue import METRICS

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

every_metric = pytest.mark.parametrize("case", METRICS, ids=str)


def lists(case, n_lists=25, n_max=6, seed=0):
    """Short lists with many ties for which the metric is defined."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < n_lists:
        n = int(rng.integers(1, n_max + 1))
        y_true = rng.choice(case.grades, n).tolist()
        y_score = rng.integers(0, 4, n).tolist()
        if not case.undefined(y_true):
            found += 1
            yield y_true, y_score


def test_every_public_metric_is_listed():
    functions = {name for name in metrics.__all__ if name.endswith(("_score", "_loss"))}
    assert functions == {case.function.__name__ for case in METRICS}


@every_metric
def test_is_the_mean_over_all_orders_of_ties(case):
    for y_true, y_score in lists(case, n_lists=60):
        assert case(y_true, y_score) == pytest.approx(case.oracle(y_true, y_score), abs=1e-14)


@every_metric
def test_one_item_and_all_tied(case):
    for y_true in ([1], [1, 0, 1, 1, 0]):
        if not case.undefined(y_true):
            y_score = [3] * len(y_true)
            assert case(y_true, y_score) == pytest.approx(case.oracle(y_true, y_score))


@every_metric
def test_order_of_rows_does_not_matter(case):
    rng = np.random.default_rng(1)
    for y_true, y_score in lists(case):
        shuffled = rng.permutation(len(y_true))
        value = case(np.array(y_true)[shuffled], np.array(y_score)[shuffled])
        assert value == pytest.approx(case(y_true, y_score), abs=1e-14)


@every_metric
def test_increasing_maps_of_the_scores_change_nothing(case):
    for y_true, y_score in lists(case):
        score = np.array(y_score, dtype=float)
        value = case(y_true, score)
        for mapped in (score * 1e300, score * 5e-324, np.exp(score), score - 7, score - 1e15):
            assert case(y_true, mapped) == value


@every_metric
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint8", "bool"])
def test_type_of_the_scores_does_not_matter(case, dtype):
    for y_true, y_score in lists(case, n_lists=5):
        score = np.array(y_score)
        if dtype == "bool":
            score = score > 1
        assert case(y_true, score.astype(dtype)) == case(y_true, score.astype(float).tolist())


@every_metric
def test_infinities_are_in_order_and_zeros_are_equal(case):
    y_true = [1, 0, 1, 1, 0]
    finite = case(y_true, [2, 1, 0, -1, -2])
    assert case(y_true, [np.inf, 1, 0, -1, -np.inf]) == finite
    assert case([1, 0, 1], [0.0, -0.0, -1.0]) == case([1, 0, 1], [0, 0, -1])


@every_metric
def test_nan_is_refused_with_its_row(case):
    with pytest.raises(ValueError, match="y_score is NaN at row 2"):
        case([1, 0, 1], [1.0, 2.0, np.nan])


@every_metric
def test_whole_weights_are_repetitions(case):
    rng = np.random.default_rng(2)
    for y_true, y_score in lists(case):
        weight = rng.integers(0, 4, len(y_true))
        repeated = np.repeat(y_true, weight).tolist()
        if repeated and not case.undefined(repeated):
            expected = case(repeated, np.repeat(y_score, weight))
            assert case(y_true, y_score, sample_weight=weight) == pytest.approx(expected)


@every_metric
def test_weight_zero_is_absence(case):
    for y_true, y_score in lists(case):
        value = case(y_true, y_score)
        for label, score in ((0, 9), (1, -9), (1, 1)):
            weight = [1] * len(y_true) + [0]
            assert case([*y_true, label], [*y_score, score], sample_weight=weight) == value


@every_metric
@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
def test_containers(case, library):
    y_true, y_score, weight = [1, 0, 1, 0], [3.0, 3.0, 1.0, 0.0], [1, 2, 1, 1]
    value = case(y_true, y_score, sample_weight=weight)
    if library == "numpy":
        container = np.array
    else:
        container = pytest.importorskip(library).Series
    arguments = [container(values) for values in (y_true, y_score, weight)]
    assert case(*arguments[:2], sample_weight=arguments[2]) == value
    assert isinstance(value, float)


@every_metric
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [1.0]), "2 items and y_score 1"),
        (([], []), "is empty"),
        (([[1, 0]], [[1.0, 0.0]]), "one list at a time"),
        (([1, 0], ["a", "b"]), "must be numeric"),
        (([1, 0], [2**53 + 1, 2]), "beyond 2\\*\\*53"),
        (([1, 0], [1, 2], [1]), "sample_weight 1"),
        (([1, 0], [1, 2], [1, -1]), "sample_weight is -1 at row 1"),
        (([1, 0], [1, 2], [0, 0]), "zero everywhere"),
        (([1, 0], [1, 2], [1, np.nan]), "nan at row 1"),
    ],
)
def test_bad_input_is_refused(case, arguments, message):
    y_true, y_score, *weight = arguments
    with pytest.raises(ValueError, match=message):
        case(y_true, y_score, sample_weight=weight[0] if weight else None)
