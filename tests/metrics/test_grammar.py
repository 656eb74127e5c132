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
    ndcg_score,
)
from tests.catalogue import FUNCTIONS
from tests.naming import for_each


def test_every_name_of_the_list_is_taken():
    names = get_measure_names()
    assert names == sorted(names)
    for name in names:
        measure = get_measure(name)
        assert isinstance(measure, Measure)
        assert measure.name == name
        assert get_measure(measure) is measure


NO_NAMES = """
    precision@topten ndcg@ ap@0 err@2.5 rbp@1 precision@top5 precision@topnan accuracy_loss@top0
    ndcg@0 ndcg@-3 ndcg@1_0 dcg@2.5 precision@ precision@05 recall@0.5 local_auc@1 local_auc@0
    pnorm@-1 pnorm@inf bedroc@0 bedroc@1e999 spearman@3 partial_auc@ partial_auc@tpr0.5fpr0.1
    partial_auc@fpr1 partial_auc@fpr-1 tpr@fpr1 fpr@tpr0 mrr@0 enrichment@1
"""


@for_each(
    ("name", "message"),
    [
        ("ndgc@10", "did you mean 'ndcg@10'"),
        ("precision@top", "did you mean 'precision@top0.05'"),
        ("recal@10", "did you mean 'recall@10'"),
        ("precision@0.05", "did you mean 'precision@top0.05'"),
        ("auprc", "did you mean 'ap'"),
        ("roc_auc_score", "did you mean 'auc'"),
        ("precision", "did you mean 'precision@5'"),
        ("kendalltau", "did you mean 'tau_b'"),
        ("concordance_index", "did you mean 'c_index'"),
        ("local_auc", "did you mean 'local_auc@0.8'"),
        ("auc@0.8", "did you mean 'auc'"),
        ("rbp", "did you mean 'rbp@0.8'"),
        ("partial_auc@0.1", "did you mean 'partial_auc@fpr0.1'"),
        ("hit_rate@x", "'hit_rate@x' is not the name of a measure: did you mean 'success@10'"),
        ("precision@top 0.1", "is not the name"),
        ("", "is not the name"),
        *((name, "is not the name") for name in NO_NAMES.split()),
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
        with pytest.raises(TypeError, match=r"is not a function of sklearn_rank\.metrics"):
            get_measure(function)
    with pytest.raises(TypeError, match="roc_auc_score has no parameter 'sample_weight'"):
        get_measure("auc", sample_weight=[1, 2])


def test_a_measure_knows_whether_it_is_per_query():
    of_one_list = """
        accuracy_loss@top0.05 auc bedroc@20 enrichment@0.01 fpr@tpr0.9 gini ks lift@0.1
        net_benefit@0.1
        local_auc@0.8 negative_height_loss@4 partial_auc@fpr0.1 pnorm@4 pos@top precision@recall0.8
        precision@top0.05 recall@top0.05 rie@20 smoothed_precision@top0.05 tpr@fpr0.01 profit@10
        profit@top0.05 value_recall@10 uplift@10 uplift@top0.05 qini auuc autoc lorenz@0.1
        insurance_gini somers_d c_index
    """
    names = {name for name in get_measure_names() if not get_measure(name).per_query}
    assert names == set(of_one_list.split())


@for_each(
    ("name", "parameters"),
    [
        ("precision@top1e-05", {"tau": 1e-5}),
        ("local_auc@.8", {"u0": 0.8}),
        ("pnorm@2.5", {"p": 2.5}),
        ("ap@10", {"k": 10}),
        ("rbp@.95", {"persistence": 0.95}),
        ("bedroc@1e+2", {"alpha": 100.0}),
        ("partial_auc@tpr0.8", {"max_fpr": 1.0, "min_tpr": 0.8}),
        ("partial_auc@fpr1e-05tpr0.8", {"max_fpr": 1e-5, "min_tpr": 0.8}),
        ("tpr@fpr0", {"max_fpr": 0.0}),
        ("fpr@tpr1", {"min_tpr": 1.0}),
        ("enrichment@.01", {"tau": 0.01}),
    ],
)
def test_numbers_in_names(name, parameters):
    measure = get_measure(name)
    assert {name: getattr(measure, name) for name in parameters} == parameters


@for_each(
    ("alias", "name"),
    [
        ("MRR", "rr"),
        ("mrr@10", "rr@10"),
        ("hit_rate@5", "success@5"),
        ("hit@5", "success@5"),
        ("kendall", "tau_b"),
        ("nDCG", "ndcg"),
        ("KS", "ks"),
        ("EF@0.01", "enrichment@0.01"),
        ("AUROC", "auc"),
        ("MAP", "ap"),
        ("map_cut.5", "ap@5"),
        ("P_10", "precision@10"),
        ("P.5", "precision@5"),
        ("ndcg_cut_10", "ndcg@10"),
        ("recall_20", "recall@20"),
        ("success_1", "success@1"),
        ("recip_rank", "rr"),
        ("Rprec", "r_precision"),
    ],
)
def test_other_names_are_of_the_same_measure(alias, name):
    assert get_measure(alias) == get_measure(name)
    assert get_measure(alias).name == name
    assert alias not in get_measure_names()
    assert repr(metrics.get_scorer(alias)) == f"get_scorer({name!r})"


def test_a_limit_is_said_once():
    with pytest.raises(TypeError, match=r"max_fpr=0.2 is already set by the name"):
        get_measure("partial_auc@fpr0.1", max_fpr=0.2)
    both = get_measure("partial_auc@fpr0.3", min_tpr=0.7)
    assert both.name == "partial_auc@fpr0.3tpr0.7"
    assert get_measure(both.name) == both


@for_each("case", FUNCTIONS)
def test_a_function_and_its_measure_are_one(case):
    measure = case.measure
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


def test_measures_are_values():
    for name in get_measure_names():
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
    area = get_measure(metrics.partial_auc_score, max_fpr=0.1, scale="mcclish")
    assert area.name == "partial_auc@fpr0.1(scale='mcclish')"
    assert repr(area) == "get_measure('partial_auc@fpr0.1', scale='mcclish')"
    assert repr(get_measure(metrics.partial_auc_score)) == "get_measure(partial_auc_score)"
    assert get_measure("precision@top0.123456789").name == "precision@top0.123456789"
    assert repr(get_measure("ndcg@10", gain="linear")) == "get_measure('ndcg@10', gain='linear')"


@for_each(
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
    assert get_measure("precision@top0.1").theorems == ("exact",)
    assert get_measure("local_auc@0.8").theorems == ("dkw",)
    assert get_measure("bedroc@20").theorems == ("dkw",)
    assert get_measure("bedroc@20", convention="rdkit").theorems == ()
    for name in ("pos@top", "tpr@fpr0.1", "fpr@tpr0.9", "ks"):
        assert get_measure(name).theorems == ()


RANKS = ["auc", "local_auc@0.4", "pnorm@3", "bedroc@5", LocalAUC(0.3), Exponential(2.0)]
# 0.4 has two shares that are the whole list.
TOPS = ["lift@0.1", "lift@0.3", "enrichment@0.1"]
TOPS += ["smoothed_precision@top0.05", "smoothed_precision@top0.4"]


@pytest.mark.parametrize(
    ("name", "n_drawn", "conditional", "least", "within"),
    [
        *((name, 60, True, 0.98, 0.06) for name in RANKS),
        *((name, 100, True, 0.94, 0.12) for name in TOPS),
        *((name, 200, False, 0.94, 0.12) for name in TOPS[-1:]),
    ],
)
def test_influence_predicts_the_change_of_the_measure(name, n_drawn, conditional, least, within):
    rng = np.random.default_rng(0)
    n = 4000
    y = rng.random(n) < 0.3
    score = y + rng.normal(size=n)
    measure = get_measure(name)
    value = measure(y, score)
    estimate = measure.influence_of(measure.lists(y, score)).estimate
    assert estimate == pytest.approx(value, abs=1e-3 if name in RANKS else None)
    influence = measure.influence(y, score, conditional=conditional)
    # Items drawn anew: the change of the measure against the means of the influence values.
    changes, predicted = [], []
    for _ in range(n_drawn):
        rows = rng.integers(0, n, n)
        if conditional:
            rows = np.concatenate([rng.choice(np.flatnonzero(c), c.sum()) for c in (y, ~y)])
        changes.append(measure(y[rows], score[rows]) - value)
        predicted.append(influence[rows].mean())
    assert np.corrcoef(changes, predicted)[0, 1] > least
    slope = np.dot(changes, predicted) / np.dot(predicted, predicted)
    assert slope == pytest.approx(1.0, abs=within)


def test_influence_of_rows_is_that_of_the_list_centred():
    y, score = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 3.0, 1.0]
    for name in ("auc", "partial_auc@fpr0.3", "ap", "tau_b"):
        measure = get_measure(name)
        inner = measure.influence_of(measure.lists(y, score))
        np.testing.assert_array_equal(measure.influence(y, score), inner.centred())
        share = 0.0 if inner.positive is None else np.array(y) - 0.4
        expected = inner.centred() + inner.label_slope * share
        np.testing.assert_allclose(measure.influence(y, score, conditional=False), expected)


@pytest.mark.parametrize(
    ("name", "y_true", "message"),
    [
        ("auc", [1, 1], "one class only"),
        ("ap", [0, 0], "one class only"),
        ("ap", [[1, 0]], "2 dimensions"),
        ("negative_height_loss@inf", [1, 0], "no influence function"),
    ],
)
def test_influence_refuses_lists_that_have_none(name, y_true, message):
    with pytest.raises(ValueError, match=message):
        get_measure(name).influence(y_true, np.zeros(np.shape(y_true)))


def test_measures_without_an_influence_function_say_so():
    lists = get_measure("rr").lists([1, 0], [1.0, 0.0])
    for name in ("rr", get_measure("pnorm@2", normalize=None)):
        assert get_measure(name).influence_of(lists) is None
        assert not get_measure(name).has_influence
    assert get_measure("local_auc@0.5").has_influence
    assert get_measure("pnorm@2", normalize="mean").has_influence


# ------------------------------------------------------------------------------ what is misplaced


@pytest.mark.parametrize("k", [1, 10**6, 10**12, 3])
def test_names_of_any_position_are_read_back(k):
    measure = get_measure("ndcg", k=k)
    assert measure.name == f"ndcg@{k}"
    assert get_measure(measure.name) == measure


def test_a_convention_can_be_set_and_changed_on_a_measure():
    measure = get_measure("ndcg@5", convention="letor")
    assert measure.undefined == 0.0
    changed = get_measure(measure, convention="lightgbm")
    assert changed == get_measure("ndcg@5", convention="lightgbm")
    assert changed.undefined == 1.0


def test_a_parameter_that_is_needed_is_named():
    with pytest.raises(TypeError, match=r"needs phi: pass get_measure\(linear_rank_score, phi"):
        get_measure(metrics.linear_rank_score)
