"""What holds for every public function that takes labels, scores, ids or weights."""

import inspect
from dataclasses import fields, is_dataclass
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import DataConversionWarning

from sklearn_rank import calibration, inference, metrics
from sklearn_rank.exceptions import CalibrationWarning, SmallTopWarning

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{one.__module__}.{one.__name__}")
    for one in (CalibrationWarning, SmallTopWarning)
]

N_QUERIES = 8
RNG = np.random.default_rng(0)
LABELS = np.tile([1, 0, 0, 1, 0], N_QUERIES)
IDS = np.repeat(np.arange(N_QUERIES), 5)


def scores():
    return LABELS + RNG.normal(size=len(LABELS)).round(1)


# One entry for each row: what a column of them must be read as.
ARRAYS = {
    **dict.fromkeys(("y_true", "y_true_a", "y_true_b"), LABELS),
    **{name: scores() for name in ("y_score", "y_score_a", "y_score_b")},
    **{name: {"a": scores(), "b": scores()} for name in ("y_scores", "scores")},
    "scores_pos": RNG.normal(1.0, 1.0, 12).round(1),
    "scores_neg": RNG.normal(0.0, 1.0, 9).round(1),
    "qid": IDS,
    "groups": IDS,
    "sample_weight": np.tile([1, 2, 1, 1, 3], N_QUERIES),
    "query_weight": IDS + 1.0,
}
# What the functions need beside them.
OTHERS = {
    "value": (2.0, -1.0),
    "measure": "ap",
    "k": 3,
    "u0": 0.5,
    "p": 4.0,
    "phi": "wilcoxon",
    "tau": 0.2,
    "max_fpr": 0.5,
    "min_tpr": 0.5,
    "threshold": 0.4,
    "gain": "exponential",
    "discount": "logarithmic",
}
IDS_OF = ("qid", "groups")
# Of two samples: the groups of either.
GROUPS = {"two_sample_rank_test": (np.arange(12) // 2, 10 + np.arange(9) // 2)}


def functions():
    """Every public function that takes one of the arrays."""
    found = {}
    for room in (metrics, inference, calibration):
        for name in room.__all__:
            value = getattr(room, name)
            if inspect.isfunction(value) and set(inspect.signature(value).parameters) & (
                ARRAYS.keys()
            ):
                found[name] = value
    # A scorer takes the name under which ids are passed, and no ids.
    del found["get_scorer"]
    # The ids are those of its pilot: tests/inference/test_pilots.py.
    del found["sample_size"]
    # Its measures are names without a number: tests/inference/test_simultaneous.py.
    del found["curve"]
    # Labels may be missing there, and scores are those of one ranker or of other rows: their own
    # tests.
    del found["plan_labels"], found["recall_certificate"], found["batch_limits"]
    return found


def arguments_of(function, leave_out=()):
    """One value for each array that the function takes, and for each parameter that it needs."""
    given = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in leave_out:
            continue
        if name == "groups" and function.__name__ in GROUPS:
            given[name] = GROUPS[function.__name__]
        elif name == "y_score" and "threshold" in inspect.signature(function).parameters:
            given[name] = expit(ARRAYS[name])
        elif name in ARRAYS:
            given[name] = ARRAYS[name]
        elif parameter.default is parameter.empty:
            given[name] = OTHERS[name]
        elif name == "random_state":
            given[name] = 0
        elif name == "weights" and "sample_weight" in given:
            given[name] = "frequency"
        elif name == "n_resamples":
            given[name] = 99
    return given


every_function = pytest.mark.parametrize("function", functions().values(), ids=functions())


def names_of(function, names=ARRAYS):
    """Those of the arrays that the function takes."""
    return [name for name in inspect.signature(function).parameters if name in names]


def as_column(values):
    if isinstance(values, dict):
        return {name: as_column(one) for name, one in values.items()}
    if isinstance(values, tuple):
        return tuple(as_column(one) for one in values)
    return np.reshape(values, (-1, 1))


def assert_same(found, expected):
    assert type(found) is type(expected)
    if is_dataclass(expected):
        for field in fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert_same(found[name], value)
    elif isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(found, expected)


def test_the_functions_are_found():
    assert len(functions()) > 35
    assert {"ndcg_score", "rank_positions", "two_sample_rank_test", "utility"} <= set(functions())


@every_function
def test_a_column_is_a_vector(function):
    given = arguments_of(function)
    expected = function(**given)
    for name in names_of(function):
        with pytest.warns(
            DataConversionWarning, match=r"is a column, of shape \(\d+, 1\)"
        ) as told:
            found = function(**{**given, name: as_column(given[name])})
        assert_same(found, expected)
        assert {one.filename for one in told} == {__file__}


def test_columns_are_one_list():
    """Without ids a column of labels and scores is one list, not many of one item each."""
    for function in functions().values():
        given = arguments_of(function, leave_out=("groups", "query_weight", "sample_weight"))
        if inspect.signature(function).parameters.get("qid") is not None:
            if "measure" in given or function.__name__ == "compare":
                continue  # a mean over queries
            given.pop("qid")
        columns = {
            name: as_column(value) if name in ARRAYS else value for name, value in given.items()
        }
        expected = function(**given)
        with pytest.warns(DataConversionWarning):
            found = function(**columns)
        assert_same(found, expected)


NO_IDS = ["groups", b"groups", (i for i in IDS), dict(enumerate(IDS)), set(IDS), len, True]


def test_what_is_no_array_of_ids_is_refused():
    for function in functions().values():
        for name, ids in product(names_of(function, IDS_OF), NO_IDS):
            kind, told = ValueError, "pass a one-dim"
            if name == "groups" and function.__name__ in GROUPS:
                ids, told = (ids, ids), r"pass \(groups_first, groups_second"
            if function is inference.compare and isinstance(ids, dict):
                kind, told = TypeError, "pass y_true as a mapping too"  # it has a meaning there
            with pytest.raises(kind, match=rf"{name}[= ].*({told})"):
                function(**{**arguments_of(function), name: ids})


def test_one_number_is_the_id_of_one_list():
    for function in functions().values():
        if {"qid", "average"} <= set(inspect.signature(function).parameters):
            given = arguments_of(function, leave_out=("qid", "query_weight"))
            assert function(**given, qid=7) == function(**given)
            values, ids = function(**given, qid=7, average=None, return_qid=True)
            assert len(values) == 1
            assert ids.tolist() == [7]
