"""Names, functions and objects that stand for measures."""

import pickle
from functools import partial

import numpy as np
import pytest

from sklearn_rank import metrics
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Measure,
    get_measure,
    get_measure_names,
    make_measure,
    ndcg_score,
)
from tests.catalogue import METRICS


def test_every_name_of_the_list_is_taken():
    names = get_measure_names()
    assert names == sorted(names)
    for name in names:
        measure = get_measure(name)
        assert isinstance(measure, Measure)
        assert measure.name == name
        assert get_measure(measure) is measure


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc@10", "did you mean 'ndcg@10'"),
        ("precision@top", "did you mean 'precision@top0.05'"),
        ("precision@topten", "is not the name"),
        ("NDCG@10", "did you mean 'ndcg@10'"),
        ("precision@0.05", "did you mean 'precision@top0.05'"),
        ("map", "did you mean 'ap'"),
        ("local_auc", "did you mean 'local_auc@0.8'"),
        ("auc@0.8", "did you mean 'local_auc@0.8'"),
        ("bedroc", "did you mean 'bedroc@20'"),
        ("ndcg@", "is not the name"),
        ("ap@0", "is not the name"),
        ("err@2.5", "is not the name"),
        ("rbp@1", "is not the name"),
        ("rbp", "did you mean 'rbp@0.8'"),
        ("precision@top5", "is not the name"),
        ("precision@topnan", "is not the name"),
        ("precision@top 0.1", "is not the name"),
        ("accuracy_loss@top0", "is not the name"),
        ("ndcg@0", "is not the name"),
        ("ndcg@-3", "is not the name"),
        ("ndcg@1_0", "is not the name"),
        ("dcg@2.5", "is not the name"),
        ("precision@", "is not the name"),
        ("precision@05", "is not the name"),
        ("recall@0.5", "is not the name"),
        ("local_auc@1", "is not the name"),
        ("local_auc@0", "is not the name"),
        ("pnorm@-1", "is not the name"),
        ("pnorm@inf", "is not the name"),
        ("bedroc@0", "is not the name"),
        ("bedroc@1e999", "is not the name"),
        ("spearman@3", "is not the name"),
        ("", "is not the name"),
    ],
)
def test_unknown_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        get_measure(name)


def test_what_is_no_measure_is_refused():
    for wrong in (5, None, ["auc"], int):
        with pytest.raises(TypeError, match="must be the name of a measure"):
            get_measure(wrong)
    for function in (max, partial(ndcg_score, k=3)):
        with pytest.raises(TypeError, match=r"is no function of sklearn_rank\.metrics"):
            get_measure(function)
    with pytest.raises(TypeError, match="roc_auc_score has no parameter 'sample_weight'"):
        get_measure("auc", sample_weight=[1, 2])


def test_a_measure_knows_whether_it_is_per_query():
    per_query = {name for name in get_measure_names() if get_measure(name).per_query}
    assert per_query == {
        "ap",
        "ap@10",
        "dcg",
        "dcg@10",
        "err",
        "err@10",
        "ndcg",
        "ndcg@10",
        "precision@5",
        "rbp@0.8",
        "recall@20",
        "rr",
        "rr@10",
        "spearman",
    }


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("precision@5", {"k": 5}),
        ("precision@top0.05", {"tau": 0.05}),
        ("local_auc@.8", {"u0": 0.8}),
        ("pnorm@4", {"p": 4.0}),
        ("pnorm@2.5", {"p": 2.5}),
        ("ap@10", {"k": 10}),
        ("rr", {}),
        ("err@3", {"k": 3}),
        ("rbp@.95", {"persistence": 0.95}),
        ("bedroc@1e+2", {"alpha": 100.0}),
        ("auc", {}),
    ],
)
def test_numbers_in_names(name, parameters):
    measure = get_measure(name)
    assert {name: getattr(measure, name) for name in parameters} == parameters


def test_small_shares_are_read_in_scientific_notation():
    assert get_measure("precision@top1e-05").tau == 1e-5


@pytest.mark.parametrize("case", METRICS, ids=str)
def test_a_function_and_its_measure_are_one(case):
    measure = get_measure(case.function, **case.parameters)
    rng = np.random.default_rng(3)
    y = np.array(case.grades)[rng.integers(0, len(case.grades), 12)]
    y[:2] = case.grades[:2]
    score, qid = rng.integers(0, 4, 12) / 2.0, np.repeat([2, 1], 6)
    y[6:8] = case.grades[:2]
    assert measure(y, score) == case(y, score)
    values = case(y, score, qid=qid, average=None)
    np.testing.assert_array_equal(measure(y, score, qid=qid, average=None), values)
    lists = measure.lists(y, score, qid=qid)
    np.testing.assert_array_equal(measure.values(lists), values)
    low, high = measure.range
    assert np.all((low <= values) & (values <= high))
    assert measure.greater_is_better is case.greater_is_better
    if case.scorer_name is not None:
        named = get_measure(case.scorer_name.removeprefix("neg_"))
        assert named.name == case.scorer_name.removeprefix("neg_")
        assert type(named) is type(measure)


@pytest.mark.parametrize("name", get_measure_names())
def test_measures_are_values(name):
    measure = get_measure(name)
    assert measure == get_measure(name)
    assert hash(measure) == hash(get_measure(name))
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert measure != get_measure("ndcg@7")
    with pytest.raises(AttributeError, match="cannot assign"):
        measure.undefined = 0.0
    other = get_measure(measure, undefined=0.25)
    assert other.undefined == 0.25
    assert other != measure
    assert get_measure(name, undefined=0.25) == other


def test_a_score_generating_function_is_its_statistic():
    measure = get_measure(LocalAUC(0.5))
    y, score = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    assert measure(y, score) == get_measure("local_auc@0.5")(y, score)
    assert measure.name == "linear_rank(phi=LocalAUC(u0=0.5))"
    mean = get_measure(Exponential(3.0), normalize="mean")
    assert mean(y, score) == metrics.linear_rank_score(
        y, score, phi=Exponential(3.0), normalize="mean"
    )
    assert mean.range == (-np.inf, np.inf)


def test_names_say_what_differs_from_the_usual():
    assert get_measure("ndcg@10", gain="linear").name == "ndcg@10(gain='linear')"
    assert get_measure("ap", convention="sklearn").name == "ap(convention='sklearn')"
    assert get_measure(metrics.partial_auc_score, max_fpr=0.1).name == "partial_auc(max_fpr=0.1)"
    assert get_measure("precision@top0.123456789").name == "precision@top0.123456789"
    assert repr(get_measure("ndcg@10", gain="linear")) == "get_measure('ndcg@10', gain='linear')"
    assert repr(make_measure(share_on_top)) == "<measure 'share_on_top'>"


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("dcg", (0.0, np.inf)),
        ("pos@top", (0.0, np.inf)),
        (get_measure("pos@top", normalize=True), (0.0, 1.0)),
        ("spearman", (-1.0, 1.0)),
        ("rie@20", (0.0, np.inf)),
        ("auc", (0.0, 1.0)),
    ],
)
def test_ranges(measure, expected):
    assert get_measure(measure).range == expected


def test_theorems_are_those_of_the_range_and_the_sample():
    assert get_measure("auc").theorems == ("mcdiarmid", "hoeffding", "kl")
    assert get_measure("ndcg@10").theorems == ("hoeffding", "kl", "bernstein")
    assert get_measure("dcg").theorems == ()
    assert get_measure("precision@top0.1").theorems == ()


@pytest.mark.parametrize(
    "name", ["auc", "local_auc@0.4", "pnorm@3", "bedroc@5", LocalAUC(0.3), Exponential(2.0)]
)
def test_influence_is_in_units_of_the_measure_and_predicts_its_change(name):
    rng = np.random.default_rng(0)
    n = 4000
    y = rng.random(n) < 0.3
    score = y + rng.normal(size=n)
    measure = get_measure(name)
    lists = measure.lists(y, score)
    found = measure.influence(lists)
    assert found.estimate == pytest.approx(measure(y, score), abs=1e-3)
    # Items drawn anew: the change of the measure against the means of the influence values.
    changes, predicted = [], []
    for _ in range(60):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == c), np.count_nonzero(y == c)) for c in (True, False)]
        )
        changes.append(measure(y[rows], score[rows]) - measure(y, score))
        predicted.append(found.centred()[rows].mean())
    assert np.corrcoef(changes, predicted)[0, 1] > 0.98
    slope = np.dot(changes, predicted) / np.dot(predicted, predicted)
    assert slope == pytest.approx(1.0, abs=0.06)


def test_measures_without_an_influence_function_say_so():
    lists = get_measure("pos@top").lists([1, 0], [1.0, 0.0])
    for name in ("pos@top", "precision@top0.5", get_measure("pnorm@2", normalize=None)):
        assert get_measure(name).influence(lists) is None


# ------------------------------------------------------------------------- measures of one's own


def share_on_top(y_true, y_score):
    """Mean label of the two items on top."""
    return float(np.mean(y_true[np.argsort(-y_score)[:2]]))


def test_a_measure_of_ones_own_is_evaluated_list_by_list():
    measure = make_measure(share_on_top, range=(0.0, 1.0))
    y = ["no", "yes", "yes", "no", "yes", "no"]
    score, qid = [1.0, 2.0, 3.0, 3.0, 2.0, 1.0], [7, 7, 7, 3, 3, 3]
    values, ids = measure(y, score, qid=qid, pos_label="yes", average=None, return_qid=True)
    assert ids.tolist() == [3, 7]
    assert values.tolist() == [0.5, 1.0]
    assert measure.name == "share_on_top"
    assert measure.theorems == ("hoeffding", "kl", "bernstein")
    assert make_measure(share_on_top).theorems == ()
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert measure != make_measure(share_on_top)


def test_a_measure_of_ones_own_may_be_undefined():
    def relative(y_true, y_score):
        return y_true[np.argmax(y_score)] / max(y_true) if max(y_true) else np.nan

    y, score, qid = [0, 0, 2, 1], [1.0, 2.0, 1.0, 2.0], [1, 1, 2, 2]
    skipped = make_measure(relative, kind="graded", lacking="no relevant item")
    with pytest.warns(UserWarning, match="undefined for 1 of 2 lists, with no relevant"):
        assert skipped(y, score, qid=qid) == 0.5
    zero = make_measure(relative, kind="graded", undefined=0.0)
    with pytest.warns(UserWarning, match="counted as 0"):
        assert zero(y, score, qid=qid) == 0.25
    with pytest.raises(ValueError, match="the list with qid 1 has no value"):
        make_measure(relative, kind="graded", undefined="raise")(y, score, qid=qid)


def test_what_a_function_returns_is_checked():
    y, score = [1, 0], [2.0, 1.0]
    for wrong in ("0.5", np.zeros(2), 1j):
        with pytest.raises(ValueError, match="must return one number"):
            make_measure(lambda t, s, wrong=wrong: wrong)(y, score)
    with pytest.raises(ValueError, match=r"is 2 for the list, beyond its range \[0, 1\]"):
        make_measure(lambda t, s: 2.0, range=(0, 1))(y, score)
    assert make_measure(lambda t, s: 1.0 + 1e-12, range=(0, 1))(y, score) == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"func": 3}, TypeError, "func=3 must be a function"),
        ({"range": (1, 0)}, ValueError, r"range=\(1, 0\) must be two numbers"),
        ({"range": 1.0}, ValueError, "must be two numbers"),
        ({"kind": "ternary"}, ValueError, "kind='ternary' must be one of 'binary', 'graded'"),
        ({"per_query": "yes"}, TypeError, "per_query='yes' must be True or False"),
        ({"utilities": np.sqrt}, ValueError, "pass both or none"),
        ({"utilities": 1, "discounts": 2}, TypeError, "utilities=1 must be a function"),
        ({"undefined": "zero"}, ValueError, "undefined='zero'"),
        ({"name": ""}, ValueError, "name=''"),
    ],
)
def test_arguments_of_make_measure_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        make_measure(**{"func": share_on_top, **arguments})


def test_utilities_and_discounts_of_ones_own():
    measure = make_measure(
        share_on_top, utilities=lambda y: y / 2.0, discounts=lambda n: np.arange(n) < 2
    )
    form = measure.positional
    lists = measure.lists([1, 0, 1], [1.0, 2.0, 3.0])
    assert form.utilities(lists).tolist() == [0.5, 0.0, 0.5]
    assert form.discounts(3).tolist() == [1.0, 1.0, 0.0]
    rising = make_measure(share_on_top, utilities=np.sqrt, discounts=np.arange)
    with pytest.raises(ValueError, match="do not rise"):
        rising.positional.discounts(3)
    negative = make_measure(share_on_top, utilities=lambda y: -y, discounts=np.ones)
    with pytest.raises(ValueError, match="one finite number of at least 0 for each"):
        negative.positional.utilities(lists)
