"""Properties that hold for every measure of the catalogue."""

import re
import warnings
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank import metrics
from sklearn_rank.exceptions import SmallTopWarning
from tests.catalogue import FUNCTIONS, METRICS, WAYS_IN
from tests.naming import for_each
from tests.oracles.orders import orders

pytestmark = pytest.mark.filterwarnings(f"ignore::{SmallTopWarning.__module__}.SmallTopWarning")

every_measure = for_each("case", METRICS)
every_function = for_each("case", FUNCTIONS)
every_way_in = for_each("case", WAYS_IN)
WEIGHABLE = [case for case in FUNCTIONS if case.weights != "none"]

EXACT = 1e-13


@cache
def random_lists(grades, n_lists, n_max, seed):
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(n_lists):
        n = int(rng.integers(1, n_max + 1))
        y_true = rng.choice(grades, n)
        # A few levels tie most items, more levels few.
        y_score = rng.integers(0, rng.integers(1, 6), n)
        pair = y_true.tolist(), y_score.tolist()
        # Spearman's oracle tries all pairs of orders.
        if len(grades) == 2 or len(orders(pair[0])) * len(orders(pair[1])) <= 300:
            lists.append(pair)
    return lists


def lists(case, n_lists=25, n_max=6, seed=0):
    """Short lists with many ties for which the measure is defined."""
    candidates = random_lists(case.grades, 2 * n_lists, n_max, seed)
    defined = [pair for pair in candidates if not case.undefined(pair[0])][:n_lists]
    assert len(defined) >= n_lists / 4, "the measure is hardly ever defined for lists so short"
    return defined


def stacked(pairs, seed=0):
    """Lists as one data set: labels, scores, ids, in rows of random order."""
    y_true = np.concatenate([labels for labels, _ in pairs])
    y_score = np.concatenate([scores for _, scores in pairs])
    qid = np.repeat(np.arange(len(pairs)), [len(labels) for labels, _ in pairs])
    rows = np.random.default_rng(seed).permutation(len(qid))
    return y_true[rows], y_score[rows], qid[rows]


def per_list(case, data, **arguments):
    y_true, y_score, qid = data
    return case(y_true, y_score, qid=qid, average=None, **arguments)


def undefined_list(case):
    """Labels for which the measure has no value, or None if it always has one."""
    candidates = ([0, 0, 0], [1, 1, 1], [1], [0])
    return next((labels for labels in candidates if case.undefined(labels)), None)


def real_weights(case, n, seed=0):
    """Weights that are no repetitions, where the measure takes them."""
    rng = np.random.default_rng(seed)
    if case.weights == "whole":
        return rng.integers(1, 4, n).astype(float)
    return rng.uniform(0.3 if case.weights == "relative" else 1.0, 3.0, n)


def close(value, abs=EXACT):
    return pytest.approx(value, rel=1e-12, abs=abs)


def test_every_public_metric_is_listed():
    functions = {name for name in metrics.__all__ if name.endswith(("_score", "_loss"))}
    cases = [case for case in METRICS if not isinstance(case.function, str)]
    assert functions == {case.function.__name__ for case in cases}


# ------------------------------------------------------------------------------ the definition


@every_measure
def test_is_the_mean_over_all_orders_of_ties(case):
    pairs = lists(case, n_lists=25, n_max=7)
    expected = [case.oracle(*pair) for pair in pairs]
    assert [case(*pair) for pair in pairs[:10]] == close(expected[:10])
    assert per_list(case, stacked(pairs)) == close(expected)
    # One item, and all items tied.
    relevant = case.grades[-1]
    for y_true in ([relevant], [relevant, 0, 1, 1, 0]):
        if not case.undefined(y_true):
            y_score = [3] * len(y_true)
            assert case(y_true, y_score) == close(case.oracle(y_true, y_score))


numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e300, -1e300]),
    st.floats(allow_nan=False),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_scores_at_all(data):
    case = data.draw(st.sampled_from(METRICS))
    y_true = data.draw(st.lists(st.sampled_from(case.grades), min_size=1, max_size=5))
    y_score = data.draw(st.lists(numbers, min_size=len(y_true), max_size=len(y_true)))
    if case.undefined(y_true):
        with pytest.warns(UndefinedMetricWarning):
            value = case(y_true, y_score)
        assert value == pytest.approx(case.value_if_undefined, nan_ok=True)
    else:
        assert case(y_true, y_score) == close(case.oracle(y_true, y_score))


# ----------------------------------------------------------------------------------- invariances


def increasing_maps(score):
    return (score * 1e300, score * 5e-324, np.exp(score), score - 7, score - 1e15)


@every_function
def test_increasing_maps_of_the_scores_change_nothing(case):
    pairs = lists(case)
    for y_true, y_score in pairs[:3]:
        score = np.array(y_score, dtype=float)
        value = case(y_true, score)
        for mapped in increasing_maps(score):
            assert case(y_true, mapped) == value
    y_true, y_score, qid = stacked(pairs)
    score = y_score.astype(float)
    by_query = np.choose(qid % 5, increasing_maps(score))
    expected = per_list(case, (y_true, score, qid))
    assert per_list(case, (y_true, by_query, qid)).tolist() == expected.tolist()


@every_way_in
def test_type_of_the_scores_does_not_matter(case):
    y_true, y_score = next(pair for pair in lists(case) if len(pair[0]) > 3)
    y_score = np.array(y_score)
    data = stacked(lists(case))
    for dtype in ("float32", "float16", "int8", "int64", "uint8", "object", "bool"):
        levels = y_score > 1 if dtype == "bool" else y_score
        assert case(y_true, levels.astype(dtype)) == case(y_true, levels.astype(float).tolist())
        levels = data[1] > 1 if dtype == "bool" else data[1]
        typed = per_list(case, (data[0], levels.astype(dtype), data[2]))
        assert typed.tolist() == per_list(case, (data[0], levels.astype(float), data[2])).tolist()


@every_way_in
def test_infinities_are_in_order_and_zeros_are_equal(case):
    y_true = [1, 0, 1, 1, 0]
    finite = case(y_true, [2, 1, 0, -1, -2])
    assert case(y_true, [np.inf, 1, 0, -1, -np.inf]) == finite
    assert case(y_true, [1.7e308, 1e300, 1e-300, 5e-324, 0.0]) == finite
    tied = [1, 0, 1, 1, 0]
    for data, same in (
        ([0.0, -0.0, 0.0, -0.0, -1.0], [0, 0, 0, 0, -1]),
        ([np.inf, np.inf, np.inf, 0.0, -np.inf], [2, 2, 2, 1, 0]),
        ([1, 0, -np.inf, -np.inf, -np.inf], [2, 1, 0, 0, 0]),
    ):
        assert case(tied, data) == case(tied, same)
        two = np.tile(tied, 2), np.tile(data, 2), np.repeat([0, 1], 5)
        assert per_list(case, two) == close([case(tied, same)] * 2)


# --------------------------------------------------------------------------------------- weights


@for_each("case", [case for case in METRICS if case.weights != "none"])
def test_whole_weights_are_repetitions(case):
    rng = np.random.default_rng(2)
    y_true, y_score, qid = stacked(random_lists(case.grades, 12, 6, 0))
    weight = rng.integers(0, 4, len(y_true))
    present = {}
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        repeated = np.repeat(rows, weight[rows])
        if len(repeated) and not case.undefined(y_true[repeated].tolist()):
            present[int(query)] = case(y_true[repeated], y_score[repeated]), rows
    rows = np.isin(qid, list(present))
    values, ids = case(
        y_true[rows],
        y_score[rows],
        qid=qid[rows],
        sample_weight=weight[rows],
        average=None,
        return_qid=True,
    )
    assert ids.tolist() == list(present)
    expected = [value for value, _ in present.values()]
    assert values == close(expected, abs=1e-12)
    for value, rows in list(present.values())[:5]:
        weighted = case(y_true[rows], y_score[rows], sample_weight=weight[rows].astype(float))
        assert weighted == close(value, abs=1e-12)


@for_each("case", [case for case in WAYS_IN if case.weights != "none"])
def test_weight_zero_is_absence(case):
    # Whatever stands in a row of weight 0.
    for y_true, y_score in lists(case, n_lists=4):
        value = case(y_true, y_score)
        for label, score in ((0, 9), (1, -9), (1, 1), (np.nan, 2), (77, np.nan)):
            weight = [1] * len(y_true) + [0]
            assert case([*y_true, label], [*y_score, score], sample_weight=weight) == close(value)
    y_true, y_score, qid = stacked(lists(case))
    values, ids = case(
        np.r_[y_true, 0, 1, np.nan, 1],
        np.r_[y_score, 9, -9, 2, np.nan],
        qid=np.r_[qid, 0, 1, 2, 1000],
        sample_weight=np.r_[np.ones(len(qid)), np.zeros(4)],
        average=None,
        return_qid=True,
    )
    assert values == close(per_list(case, (y_true, y_score, qid)))
    assert 1000 not in ids


@for_each("case", WEIGHABLE)
def test_tied_items_of_one_label_are_one_item_of_their_weight(case):
    y_true, y_score, qid = stacked([pair for pair in lists(case) if len(pair[0]) > 1])
    weight = real_weights(case, len(qid))
    if case.weights == "whole":
        first = np.floor(weight / 2)
    else:
        weight += 2.0  # neither part is less than an item
        first = 1.0 + (weight - 2.0) * np.random.default_rng(3).uniform(0.1, 0.9, len(weight))
    twice = [np.tile(values, 2) for values in (y_true, y_score, qid)]
    split = per_list(case, twice, sample_weight=np.r_[first, weight - first])
    joined = per_list(case, (y_true, y_score, qid), sample_weight=weight)
    assert split == close(joined, abs=1e-12)
    rows = qid == qid[0]
    alone = case(y_true[rows], y_score[rows], sample_weight=weight[rows])
    assert alone == close(joined[qid[0] == np.unique(qid)][0], abs=1e-12)


# These take ties of real weights as the limit of ever finer repetitions.
LIMITS = ("partial_auc@", "negative_height_loss@", "tpr@fpr", "fpr@tpr", "precision@recall")


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in WEIGHABLE
        if case.weights != "whole"
        and case.measure.stem not in LIMITS
        # The worst and the best value may jump on the other side than the value does.
        and (case.parameters.get("ties"), case.parameters.get("normalize")) != ("max", "minmax")
    ],
    ids=str,
)
def test_real_weights_close_to_whole_ones(case):
    pairs = [(y, s) for y, s in lists(case) if len(y) > 1]
    y_true, y_score, qid = stacked(pairs)
    value = per_list(case, (y_true, y_score, qid))
    same = np.zeros(len(value), dtype=bool)
    # Where the value jumps, as where a top ends between two items, it is continuous on one side.
    for weight in (1 - 1e-9, 1 + 1e-9):
        nearly = per_list(case, (y_true, y_score, qid), sample_weight=np.full(len(qid), weight))
        same |= np.isclose(value, nearly, rtol=1e-6, atol=1e-6, equal_nan=True)
    # A top of whole items is rounded to whole items, one of real weights is not.
    share = getattr(case.measure, "tau", None)
    if share is not None:
        top = share * np.unique(qid, return_counts=True)[1]
        rounded = ~np.isclose(top, np.round(top))
        if rounded.all():
            pytest.skip("no list so short has a top of whole items")
        same |= rounded
    assert same.all()


@for_each("case", [case for case in FUNCTIONS if case.weights == "relative"])
def test_real_weights_scale_freely(case):
    y_true, y_score, qid = stacked(lists(case))
    weight = real_weights(case, len(qid))
    value = per_list(case, (y_true, y_score, qid), sample_weight=weight)
    for factor in (1e-6, 1.7, 1e9):
        scaled = per_list(case, (y_true, y_score, qid), sample_weight=factor * weight)
        assert scaled == pytest.approx(value, rel=1e-9, abs=1e-9)
    # A query of small weights keeps its digits beside one of large weights.
    factor = 10.0 ** (6 * (qid % 5) - 12)
    scaled = per_list(case, (y_true, y_score, qid), sample_weight=factor * weight)
    assert scaled == pytest.approx(value, rel=1e-9, abs=1e-9)


# ------------------------------------------------------------------------------------ many lists


def ids_of(kind, numbers):
    numbers = np.asarray(numbers)
    if kind == "str":
        return np.array([f"query {number:04d}" for number in numbers])
    if kind == "object":
        return np.array([f"query {number:04d}" for number in numbers], dtype=object)
    if kind == "datetime":
        return np.datetime64("2020-02-28") + numbers.astype("timedelta64[D]")
    return {"int": 7 * numbers - 50, "float": numbers / 8 - 3, "big": numbers + 2**62}[kind]


@every_way_in
def test_queries_are_the_mean_of_their_values(case):
    y_true, y_score, qid = stacked(lists(case))
    expected = [case(y_true[qid == query], y_score[qid == query]) for query in np.unique(qid)]
    for kind in ("int", "str", "float", "datetime", "object", "big"):
        ids = ids_of(kind, qid)
        assert case(y_true, y_score, qid=ids) == close(np.mean(expected))
        values, shown = case(y_true, y_score, qid=ids, average=None, return_qid=True)
        assert isinstance(values, np.ndarray)
        assert values == close(expected)
        assert shown.tolist() == ids_of(kind, np.unique(qid)).tolist()


@every_function
def test_many_short_and_long_queries(case):
    # Lengths that repeat, lengths that do not, and rows that stand together or not.
    rng = np.random.default_rng(4)
    lengths = np.r_[rng.integers(1, 12, 12), 40, 90]
    qid = np.repeat(rng.permutation(len(lengths)), lengths)
    y_true = rng.choice(case.grades, len(qid))
    y_score = rng.integers(0, 6, len(qid))
    defined = np.array(
        [not case.undefined(y_true[qid == query].tolist()) for query in range(len(lengths))]
    )
    kept = defined[qid]
    y_true, y_score, qid = y_true[kept], y_score[kept], qid[kept]
    expected = [case(y_true[qid == query], y_score[qid == query]) for query in np.unique(qid)]
    rows = rng.permutation(len(qid))
    for moved in (np.arange(len(qid)), np.argsort(qid, kind="stable"), rows):
        assert per_list(case, (y_true[moved], y_score[moved], qid[moved])) == close(expected)
    weight = real_weights(case, len(qid))
    expected = [
        case(y_true[qid == q], y_score[qid == q], **case.weighted(weight[qid == q]))
        for q in np.unique(qid)
    ]
    moved = y_true[rows], y_score[rows], qid[rows]
    weighted = per_list(case, moved, **case.weighted(weight[rows]))
    assert weighted == close(expected, abs=1e-12)


@every_way_in
def test_one_list_without_an_id(case):
    y_true, y_score = lists(case)[0]
    value = case(y_true, y_score)
    assert isinstance(value, float)
    alone = case(y_true, y_score, average=None)
    assert alone.shape == (1,)
    assert alone[0] == value
    assert case(y_true, y_score, qid=["only"] * len(y_true)) == close(value)
    assert case(y_true, y_score, query_weight=[2.5] * len(y_true)) == close(value)


def equally_long(case, n_lists=12, n=4):
    rng = np.random.default_rng(5)
    candidates = rng.choice(case.grades, (4 * n_lists, n))
    rows = [y_true for y_true in candidates if not case.undefined(y_true.tolist())][:n_lists]
    assert len(rows) > 1, "the measure is hardly ever defined for lists so short"
    return np.array(rows), rng.integers(0, 4, (len(rows), n))


@every_way_in
def test_two_dimensions_are_one_list_per_row(case):
    y_true, y_score = equally_long(case)
    if not case.two_dimensions:
        with pytest.raises(ValueError, match=r"scikit-learn|exponential"):
            case(y_true, y_score)
        return
    n_lists, n = y_true.shape
    flat = y_true.ravel(), y_score.ravel(), np.repeat(np.arange(n_lists), n)
    weight = real_weights(case, y_true.size)
    of_list = np.random.default_rng(6).uniform(0, 2, n_lists)
    assert case(y_true.tolist(), y_score.tolist(), average=None) == close(per_list(case, flat))
    values, ids = case(
        np.asfortranarray(y_true),
        y_score,
        **case.weighted(weight.reshape(n_lists, n)),
        average=None,
        return_qid=True,
    )
    assert values == close(per_list(case, flat, **case.weighted(weight)))
    assert ids.tolist() == list(range(n_lists))
    assert case(y_true, y_score, query_weight=of_list) == close(
        case(flat[0], flat[1], qid=flat[2], query_weight=np.repeat(of_list, n))
    )


@for_each("case", [case for case in WAYS_IN if case.two_dimensions])
def test_nan_in_two_dimensions_is_no_item(case):
    pairs = [pair for pair in lists(case, n_lists=12) if len(pair[0]) < 6]
    y_true, y_score, weight = np.full((3, len(pairs), 6), np.nan)
    weight[:] = 7.0
    rng = np.random.default_rng(8)
    for i, (labels, scores) in enumerate(pairs):
        # Items stand anywhere in the row; what the score is where there is none does not count.
        there = np.sort(rng.choice(6, len(labels), replace=False))
        y_true[i, there], y_score[i, there] = labels, scores
        weight[i, there] = real_weights(case, len(labels), seed=i)
        y_score[i, np.isnan(y_true[i])] = rng.choice([np.nan, np.inf, 3.0])
    some = ~np.isnan(y_true)
    flat = y_true[some], y_score[some], np.nonzero(some)[0]
    assert case(y_true, y_score, average=None) == close(per_list(case, flat))
    missing = np.where(some, y_true, None)
    values, ids = case(missing, y_score, average=None, return_qid=True)
    assert values == close(per_list(case, flat))
    assert ids.tolist() == list(range(len(pairs)))
    values = case(y_true, y_score, average=None, **case.weighted(weight))
    assert values == close(per_list(case, flat, **case.weighted(weight[some])))
    of_list = rng.uniform(0.5, 2, len(pairs))
    assert case(y_true, y_score, query_weight=of_list) == close(
        case(flat[0], flat[1], qid=flat[2], query_weight=of_list[flat[2]])
    )
    y_true[2] = np.nan
    with pytest.raises(ValueError, match="y_true is NaN in all of row 2"):
        case(y_true, y_score)


@every_way_in
def test_query_weights(case):
    rng = np.random.default_rng(7)
    y_true, y_score, qid = stacked(lists(case, n_lists=8))
    values = per_list(case, (y_true, y_score, qid))
    real = rng.uniform(0, 3, len(values))
    expected = np.average(values, weights=real)
    assert case(y_true, y_score, qid=qid, query_weight=real[qid]) == close(expected)
    whole = np.arange(len(values)) % 3
    rows = [np.flatnonzero(qid == query) for query in range(len(values))]
    copies = np.concatenate([np.tile(rows[q], whole[q]) for q in range(len(values))])
    names = np.concatenate(
        [[f"{q} {copy}"] * len(rows[q]) for q in range(len(values)) for copy in range(whole[q])]
    )
    repeated = case(y_true[copies], y_score[copies], qid=names)
    assert case(y_true, y_score, qid=qid, query_weight=whole[qid]) == close(repeated)


# --------------------------------------------------------------------------- lists without a value


def one_warning(call, count):
    """Value of the call, which has to warn once, name the count, and point here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = call()
    caught = [warning for warning in caught if warning.category is UndefinedMetricWarning]
    assert len(caught) == 1
    if count > 1:
        assert f" {count} of " in str(caught[0].message)
    return value, caught[0]


def no_warning(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        return call()


def with_undefined(case):
    """Three lists that have a value, of ids 0, 2, 4, and two that have none, of ids 1 and 3."""
    labels = undefined_list(case)
    empty = (labels, list(range(len(labels))))
    some = lists(case)[:3]
    return stacked([some[0], empty, some[1], empty, some[2]]), [case(*pair) for pair in some]


@for_each("case", [case for case in WAYS_IN if undefined_list(case)])
def test_undefined_lists(case):
    (y_true, y_score, qid), values = with_undefined(case)
    a, b, c = values

    def mean(**arguments):
        return lambda: case(y_true, y_score, qid=qid, **arguments)

    skipped, warning = one_warning(mean(undefined="skip"), 2)
    assert skipped == close(np.mean(values))
    # The line that called the measure.
    assert warning.filename.endswith("catalogue.py")
    filled, _ = one_warning(mean(undefined=-3), 2)
    assert filled == close((a + b + c - 6) / 5)
    zero, _ = one_warning(mean(undefined=0.0), 2)
    assert zero == close((a + b + c) / 5)
    default, _ = one_warning(mean(), 2)
    assert default == close(zero if case.value_if_undefined == 0 else skipped)
    listed, _ = one_warning(mean(undefined="skip", average=None), 2)
    assert listed == pytest.approx([a, np.nan, b, np.nan, c], abs=EXACT, nan_ok=True)
    listed, _ = one_warning(mean(undefined=0.5, average=None), 2)
    assert listed == close([a, 0.5, b, 0.5, c])
    with pytest.raises(ValueError, match=r"\bquery 0001\b"):
        case(y_true, y_score, qid=ids_of("str", qid), undefined="raise")
    # Defined lists alone: nothing to say.
    kept = np.isin(qid, [0, 2, 4])
    for undefined in ("skip", "raise", 0.5):
        value = case(y_true[kept], y_score[kept], qid=qid[kept], undefined=undefined)
        assert value == close(np.mean(values))


@pytest.mark.parametrize("case", [case for case in WAYS_IN if undefined_list(case)], ids=str)
def test_undefined_lists_and_query_weights(case):
    (y_true, y_score, qid), (a, b, c) = with_undefined(case)
    weight = np.array([1.0, 5.0, 2.0, 5.0, 0.0])[qid]

    def mean(weight, undefined):
        return lambda: case(y_true, y_score, qid=qid, query_weight=weight, undefined=undefined)

    skipped, _ = one_warning(mean(weight, "skip"), 2)
    assert skipped == close((a + 2 * b) / 3)
    filled, _ = one_warning(mean(weight, 1.0), 2)
    assert filled == close((a + 2 * b + 10) / 13)
    # Queries of weight 0 do not count, so nothing that counts is undefined.
    weight = np.array([1.0, 0.0, 2.0, 0.0, 3.0])[qid]
    for undefined in ("skip", "raise", 1.0):
        value = no_warning(mean(weight, undefined))
        assert value == close((a + 2 * b + 3 * c) / 6)


@every_function
def test_a_single_undefined_list(case):
    labels = undefined_list(case)
    y_true = [1, 0] if labels is None else labels
    y_score = list(range(len(y_true)))
    if labels is None:
        value = case(y_true, y_score)
        for undefined in ("skip", "raise", 0.25):
            assert case(y_true, y_score, undefined=undefined) == value
        return
    for arguments, expected in (
        ({}, case.value_if_undefined),
        ({"undefined": "skip"}, np.nan),
        ({"undefined": 0.25}, 0.25),
        ({"undefined": np.nan}, np.nan),
    ):
        value, _ = one_warning(lambda given=arguments: case(y_true, y_score, **given), 1)
        assert value == pytest.approx(expected, nan_ok=True)
        value, _ = one_warning(
            lambda given=arguments: case(
                y_true * 2, y_score * 2, qid=np.repeat([1, 2], len(y_true)), **given
            ),
            2,
        )
        assert value == pytest.approx(expected, nan_ok=True)
    with pytest.raises(ValueError, match="is undefined"):
        case(y_true, y_score, undefined="raise")


# ---------------------------------------------------------------------------------- what goes in


@contextmanager
def refused(case, message):
    """A ValueError with the message; a failure names the case."""
    error = None
    try:
        yield
    except ValueError as caught:
        error = caught
    assert error is not None, f"{case} did not refuse"
    assert re.search(message, str(error)), f"{case}: {error}"


@pytest.mark.parametrize("library", ["numpy", "list", "tuple", "pandas", "polars", "categorical"])
def test_containers(library):
    for case in WAYS_IN:
        assert_taken(case, library)


def assert_taken(case, library):
    y_true, y_score, weight = (
        [1, 0, 1, 0, 0, 1],
        [3.0, 3.0, 1.0, 0.0, 2.0, 1.0],
        [1, 2, 1, 1, 1, 1],
    )
    qid = ["b", "b", "b", "a", "a", "a"]
    of_query = [2, 2, 2, 1, 1, 1]
    arguments = {"qid": qid, "query_weight": of_query, **case.weighted(weight)}
    value = case(y_true, y_score, **arguments)
    assert isinstance(value, float)
    pandas = pytest.importorskip("pandas")
    convert = {
        "numpy": np.array,
        "list": list,
        "tuple": tuple,
        # An index in another order must not move the rows.
        "pandas": lambda values: pandas.Series(values, index=range(len(values))[::-1]),
        "polars": lambda values: pytest.importorskip("polars").Series(values),
        "categorical": lambda values: pandas.Series(values),
    }[library]
    given = {name: convert(values) for name, values in arguments.items()}
    if library == "categorical":
        given["qid"] = given["qid"].astype("category")
    assert case(convert(y_true), convert(y_score), **given) == value
    names = case(
        convert(y_true), convert(y_score), qid=given["qid"], average=None, return_qid=True
    )
    assert names[1].tolist() == ["a", "b"]


@every_way_in
def test_input_is_left_alone(case):
    pairs = lists(case)
    y_true, y_score, qid = stacked(pairs)
    weight = np.arange(len(qid)) % 3 + 1.0
    given = [np.array(values) for values in (y_true, y_score.astype(float), qid, weight)]
    for values in given:
        values.setflags(write=False)
    of_query = given[2] + 1.0
    case(given[0], given[1], qid=given[2], query_weight=of_query, **case.weighted(given[3]))
    case(*(np.array(values) for values in pairs[0]))
    assert given[1].tolist() == y_score.tolist()


@every_way_in
def test_nan_is_refused_with_its_row(case):
    with pytest.raises(ValueError, match="y_score is NaN at row 2"):
        case([1, 0, 1], [1.0, 2.0, np.nan])
    with pytest.raises(ValueError, match="y_score is NaN at row 1"):
        case([1, 0, 1, 0], [1.0, np.nan, 3.0, 4.0], qid=[9, 1, 1, 9])
    with pytest.raises(ValueError, match="y_score is NaN at row 3"):
        case([1, 0, 1, 0], [1.0, 2, 3.0, np.nan], **case.weighted([0, 1, 1, 1]))


@for_each(
    ("arguments", "message"),
    [
        (([1, 0], [1.0]), r"\(2,\), but y_score \(1,\)"),
        (([], []), "is empty"),
        (([[[1, 0]]], [[[1.0, 0.0]]]), r"shape \(1, 1, 2\)"),
        (([[1, 0], [1]], [[1.0, 0.0], [2.0]]), "rows of different lengths"),
        (([1, 0], [[1.0, 0.0]]), "shape"),
        (([1, 0, 1], [[0.2, 0.8]] * 3), "column of the positive|one class, predict_proba"),
        ((1, 0), "y_true is 1: pass an array"),
        (([1, 0], ["a", "b"]), "must be numeric"),
        (([1, 0], [1 + 2j, 1]), "must be numeric"),
        (([1, 0], [2**53 + 1, 2]), "beyond 2\\*\\*53"),
        (([1, 0], [1, 2], [1]), r"sample_weight has shape \(1,\)"),
        (([1, 0], [1, 2], [1, -1]), "sample_weight is -1 at row 1"),
        (([1, 0], [1, 2], [0, 0]), "sample_weight is zero for all items"),
        (([1, 0], [1, 2], [1, np.nan]), "nan at row 1"),
        (([1, 0], [1, 2], [1, np.inf]), "inf at row 1"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    y_true, y_score, *weight = arguments
    for case in FUNCTIONS:
        if not weight:
            with refused(case, message):
                case(y_true, y_score)
        elif case.weights != "none":
            with refused(case, message):
                case(y_true, y_score, sample_weight=weight[0])


FOUR = ([1, 0, 1, 0], [4, 3, 2, 1])
MISSING_DATE = np.array(["2020-01-01", "NaT", "2020-01-01", "2020-01-02"], dtype="datetime64[D]")


@for_each(
    ("arguments", "message"),
    [
        ({"qid": [2, 2]}, r"np\.repeat"),
        ({"qid": [3]}, r"np\.repeat"),
        ({"qid": [1, 1, 2, 2, 2]}, r"np\.repeat"),
        ({"qid": [[1, 1, 2, 2]]}, "qid"),
        ({"qid": [1, 1, np.nan, 2]}, "qid is missing at row 2"),
        ({"qid": ["a", None, "b", "b"]}, "qid is missing at row 1"),
        ({"qid": MISSING_DATE}, "qid is missing at row 1"),
        ({"qid": np.array([1, "a", 2, "b"], dtype=object)}, "different types"),
        ({"query_weight": [1, 1, 1, 2], "qid": [1, 1, 2, 2]}, "query_weight.*2"),
        ({"query_weight": [1, 2, 1, 1]}, "query_weight"),
        ({"query_weight": [1, 2], "qid": [1, 1, 2, 2]}, "query_weight.*row"),
        ({"query_weight": [1, 1, -1, -1], "qid": [1, 1, 2, 2]}, "query_weight is -1 at row 2"),
        ({"query_weight": [1, 1, np.nan, 1], "qid": [1, 1, 2, 2]}, "query_weight"),
        ({"query_weight": [0, 0, 0, 0], "qid": [1, 1, 2, 2]}, "query_weight is zero for all"),
        ({"query_weight": [1] * 4, "qid": [1, 1, 2, 2], "average": None}, "query_weight"),
        ({"query_weight": 2.0, "qid": [1, 1, 2, 2]}, "query_weight"),
        ({"return_qid": True, "qid": [1, 1, 2, 2]}, "average=None"),
        ({"return_qid": True, "average": None}, "qid"),
        ({"average": "macro"}, "average='macro'"),
        ({"average": "weighted", "qid": [1, 1, 2, 2]}, "average='weighted'"),
        ({"undefined": "foo"}, "undefined='foo'"),
        ({"undefined": "zero"}, "undefined='zero'"),
    ],
)
def test_bad_lists_are_refused(arguments, message):
    for case in FUNCTIONS:
        with refused(case, message):
            case(*FOUR, **arguments)


@for_each(
    ("arguments", "message"),
    [
        ({"qid": [1, 2]}, "qid"),
        ({"qid": [1, 1, 2, 2]}, "qid"),
        ({"sample_weight": [1, 2]}, "query_weight"),
        ({"sample_weight": [1, 2, 3, 4]}, "sample_weight"),
        ({"sample_weight": [[1, 2]]}, "sample_weight"),
        ({"query_weight": [1, 2, 3]}, "query_weight"),
        ({"query_weight": [1, 1, 2, 2]}, "query_weight"),
        ({"query_weight": [[1, 1], [2, 2]]}, "query_weight"),
        ({"return_qid": True}, "average=None"),
    ],
)
def test_bad_arguments_of_two_dimensions_are_refused(arguments, message):
    for case in FUNCTIONS:
        if case.two_dimensions and not (case.weights == "none" and "sample_weight" in arguments):
            with refused(case, message):
                case([[1, 0], [1, 0]], [[4, 3], [2, 1]], **arguments)


@for_each("case", [case for case in FUNCTIONS if case.two_dimensions])
def test_shapes_of_two_dimensions_must_agree(case):
    for y_score in ([[1, 2, 3]], [1, 2, 3], [[1, 2], [3, 4]]):
        with pytest.raises(ValueError, match="shape"):
            case([[1, 0, 1], [0, 1, 1]], y_score)
    with pytest.raises(ValueError, match="y_score is NaN at row 1"):
        case([[1, 0, 1], [0, 1, 1]], [[1, 2, 3], [4, np.nan, 6]])


# ----------------------------------------------------------------------------------------- labels


BINARY = [case for case in FUNCTIONS if case.grades == (0, 1)]


@for_each("case", BINARY)
def test_labels_of_any_kind(case):
    y_true, y_score = np.array([1, 0, 0, 1, 1]), [5, 4, 3, 3, 1]
    value = case(y_true, y_score)
    for negative, positive in ((-1, 1), (False, True), (0.0, 1.0)):
        assert case(np.where(y_true, positive, negative), y_score) == value
    assert case(np.where(y_true, "good", "bad"), y_score, pos_label="good") == value
    assert case(np.where(y_true, 3, 7), y_score, pos_label=3) == value
    assert case(y_true.astype(object), y_score) == value
    assert case(1 - y_true, y_score, pos_label=0) == value


@for_each(
    ("y_true", "pos_label", "message"),
    [
        (["a", "b"], None, "pass pos_label explicitly"),
        ([1, 2], None, "pass pos_label explicitly"),
        ([0, 1], 2, "pos_label=2 is not among"),
        ([0, 1, 2], None, "has 3 classes"),
        ([0.0, np.nan], None, "missing label at row 1"),
        ([None, "a"], "a", "missing label at row 0"),
    ],
)
def test_labels_that_say_too_little_are_refused(y_true, pos_label, message):
    for case in BINARY:
        with refused(case, message):
            case(y_true, list(range(len(y_true))), pos_label=pos_label)


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "Float64"])
def test_missing_labels_of_pandas(dtype):
    labels = pytest.importorskip("pandas").Series([1, 0, None, 1], dtype=dtype)
    for case in FUNCTIONS:
        with refused(case, "at row 2"):
            case(labels, [4, 3, 2, 1])


@for_each("case", [case for case in FUNCTIONS if case.grades != (0, 1)])
def test_graded_measures_take_a_positive_label(case):
    y_score = [5, 4, 3, 3, 1]
    value = case([1, 0, 0, 1, 1], y_score)
    assert case(["good", "bad", "bad", "good", "good"], y_score, pos_label="good") == value
    assert case([3, 7, 7, 3, 3], y_score, pos_label=3) == value
    with pytest.raises(ValueError, match="row 1"):
        case([1, np.nan, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="row 1"):
        case([1, np.inf, 1], [1, 2, 3])
