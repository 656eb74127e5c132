"""Intervals for cross-validation: the definition, what they are of, and what is refused."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from scipy.special import ndtri
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.exceptions import PositiveClassWarning
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure, get_scorer, make_measure
from sklearn_rank.model_selection import QueryKFold, cross_val_interval
from tests.model_selection.estimators import Column, Share
from tests.model_selection.estimators import tied_rows as rows
from tests.oracles import cross_validation as oracle
from tests.oracles import means

OF_GRADES = make_measure(lambda y, s: 0.5, name="own", kind="graded", per_query=False)
UNKNOWN = make_measure(lambda y, s: 0.5, name="own", per_query=False)


def queries(n=12, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n), 5)
    X = rng.normal(size=(5 * n, 2))
    y = rng.binomial(2, 1 / (1 + np.exp(-2 * X[:, 0])))
    y[::5] = 2
    return X, y, qid


class ByQuery(BaseEstimator):
    """Scores by a column, and remembers the ids that it was fitted with."""

    __metadata_request__fit = {"qid": "groups"}

    def __init__(self, needs=True):
        self.needs = needs

    def fit(self, X, y, *, qid=None):
        if self.needs and qid is None:
            raise ValueError("no ids")
        self.n_queries_ = None if qid is None else len(np.unique(qid))
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0] * self.n_queries_


def interval(X, y, estimator=None, *, measure="auc", **options):
    return cross_val_interval(estimator or Column(), X, y, measure=measure, **options)


@pytest.mark.parametrize(
    "cv",
    [
        StratifiedKFold(4),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        StratifiedShuffleSplit(4, test_size=0.4, random_state=0),
    ],
    ids=["folds", "repeated", "random splits"],
)
def test_auc_against_the_definition(cv):
    X, y = rows()
    found = interval(X, y, cv=cv)
    folds = [
        tuple({i: X[i, 0] for i in test if y[i] == label} for label in (1, 0))
        for _, test in cv.split(X, y)
    ]
    value, spread, counts = oracle.fold_mean_auc(folds)
    assert found.estimate == pytest.approx(value)
    np.testing.assert_allclose(
        found.fold_values, [oracle.auc(*map(list, map(dict.values, f))) for f in folds]
    )
    assert found.fold_sizes == tuple((len(p), len(n)) for p, n in folds)
    # A quarter of an item of evidence for half of the largest variance, as of the AUC of a list.
    largest = value * (1 - value)
    shares = [
        ((n - 1) * s + 0.25 * (1 + 1 / n) / 2) / ((n - 1) * largest + 0.25) / n
        for s, n in zip(spread, counts, strict=True)
    ]
    quantile = ndtri(0.975)
    expected = oracle.score_limits(value, sum(shares), 0.25 / min(counts), quantile)
    np.testing.assert_allclose((found.low, found.high), expected, atol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_queries_against_the_definition(grouped):
    X, y, qid = queries()
    shuffled = np.random.default_rng(1).permutation(len(y))
    X, y, qid = X[shuffled], y[shuffled], qid[shuffled]
    groups = qid // 2 if grouped else None
    found = interval(X, y, ByQuery(), measure="ndcg@2", qid=qid, groups=groups, cv=4)
    units = qid if groups is None else groups
    folds = []
    for _, test in QueryKFold(4, shuffle=False).split(X, y, units):
        values, ids = get_measure("ndcg@2")(
            y[test], X[test, 0], qid=qid[test], average=None, return_qid=True
        )
        folds.append(dict(zip(ids.tolist(), values, strict=True)))
    mean, error = oracle.fold_mean_queries(folds)
    assert found.estimate == pytest.approx(mean)
    if not grouped:
        assert found.standard_error == pytest.approx(error)
        added = [*oracle.on_mean(folds).values()]
        values = [x + mean - sum(added) / len(added) for x in added]
        expected = means.limits_of_mean(values, 0.95)
        np.testing.assert_allclose((found.low, found.high), expected, atol=1e-9)
    assert found.fold_sizes == tuple((len(f),) for f in folds)


def test_the_estimate_is_the_mean_of_cross_val_score():
    X, y = rows()
    cv = StratifiedKFold(4)
    for model in (
        LogisticRegression(),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
    ):
        found = interval(X, y, model, cv=cv)
        np.testing.assert_allclose(
            found.fold_values, cross_val_score(model, X, y, cv=cv, scoring="roc_auc")
        )
        assert found.estimate == pytest.approx(np.mean(found.fold_values))
        assert found.low < found.estimate < found.high


def test_one_part_has_the_intervals_of_a_list():
    X, y = rows(1)
    cv = StratifiedShuffleSplit(1, test_size=0.6, random_state=0)
    test = next(cv.split(X, y))[1]
    for measure in ("auc", "bedroc@2", "lift@0.2", "ap", "precision@top0.2"):
        found = interval(X, y, cv=cv, measure=measure, level=0.9)
        expected = metric_interval(measure, y[test], X[test, 0], level=0.9)
        for name in ("estimate", "low", "high", "standard_error"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12), name
    assert "the model fitted without the held-out part" in str(found)


@pytest.mark.parametrize("name", ["spearman", "tau_b", "negative_height_loss@4", "gini"])
def test_grades_powers_and_affine_measures_are_those_of_metric_interval(name):
    X, y, _ = queries(160)
    y = np.minimum(y, 1) if get_measure(name).kind == "binary" else y
    cv = KFold(4, shuffle=True, random_state=0)
    folds = cross_val_interval(Ridge(), X, y, measure=name, cv=cv)
    scores = [Ridge().fit(X[train], y[train]).predict(X[test]) for train, test in cv.split(X)]
    parts = [(y[test], score) for (_, test), score in zip(cv.split(X), scores, strict=True)]
    np.testing.assert_allclose(folds.fold_values, [get_measure(name)(*part) for part in parts])
    assert folds.fold_units == (("positives", "negatives") if y.max() == 1 else ("items",))
    # One part is one list.
    train, test = next(cv.split(X))
    single = cross_val_interval(Ridge(), X, y, measure=name, cv=[(train, test)])
    expected = metric_interval(name, *parts[0])
    assert (single.low, single.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert folds.high - folds.low < 0.8 * (single.high - single.low)


def test_the_same_folds_again_say_nothing_new():
    X, y = rows()
    folds = list(StratifiedKFold(4).split(X, y))
    for measure in ("auc", "bedroc@2"):
        once, twice = (interval(X, y, cv=k * folds, measure=measure) for k in (1, 2))
        assert (once.estimate, once.low, once.high) == pytest.approx(
            (twice.estimate, twice.low, twice.high)
        )
    assert "each" in twice.note
    assert "each on average" not in once.note


def test_groups_widen():
    X, y = rows()
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    groups = np.tile(np.arange(len(y) // 3), 3)
    for measure in ("auc", "bedroc@2"):
        found = interval(X, y, groups=groups, measure=measure, cv=GroupKFold(4))
        alone = interval(X, y, measure=measure, cv=list(GroupKFold(4).split(X, y, groups)))
        assert found.estimate == pytest.approx(alone.estimate)
        assert found.width > 1.4 * alone.width
    copied = interval(X, y, groups=groups)
    assert 1.4 * interval(X, y).width < copied.width < 2.5 * interval(X, y).width


def test_classes_of_any_name():
    X, y = rows()
    cv = StratifiedKFold(4)
    found = interval(X, y, cv=cv)
    named = np.where(y == 1, "yes", "no")
    assert interval(X, named, cv=cv, pos_label="yes") == found
    turned = interval(X, named, cv=cv, pos_label="no")
    assert turned.estimate == pytest.approx(found.estimate)  # the scores are turned round too
    assert turned.fold_sizes == tuple(sizes[::-1] for sizes in found.fold_sizes)
    with pytest.warns(PositiveClassWarning):
        assert interval(X, named, cv=cv) == found
    assert interval(X, 2 * y - 1, cv=cv) == found


def test_kinds_of_rows():
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    model, cv = LogisticRegression(), StratifiedKFold(4)
    found = interval(X, y, model, cv=cv)
    index = np.random.default_rng(0).permutation(len(y))
    frame = pandas.DataFrame(X, index=index, columns=list("abc"))
    assert interval(frame, pandas.Series(y, index=index), model, cv=cv) == found
    assert interval(sp.csr_array(X), y, model, cv=cv).estimate == pytest.approx(found.estimate)
    assert interval(X, y, clone(model).fit(X, y), cv=cv) == found
    assert interval(X, y, model, cv=iter(list(cv.split(X, y)))) == found
    masks = [
        (~np.isin(np.arange(len(y)), t), np.isin(np.arange(len(y)), t)) for _, t in cv.split(X, y)
    ]
    assert interval(X, y, model, cv=masks) == found
    with joblib.parallel_backend("threading"):
        assert interval(X, y, model, cv=cv, n_jobs=2) == found
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        assert interval(X, y[:, None], model, cv=cv) == found
    assert interval(X, y, Ridge(), cv=cv).estimate > 0.5


def test_a_number_of_folds_stratifies_for_every_estimator():
    X, y = rows()
    y = np.sort(y)  # one class after the other
    X[:, 0] += y
    for model in (Ridge(), LogisticRegression()):
        found = interval(X, y, model, cv=4)
        assert {n for n, _ in found.fold_sizes} <= {3, 4}
    assert interval(X, y, cv=4) == interval(X, y, cv=StratifiedKFold(4))
    assert interval(X, y, random_state=0) == interval(X, y, random_state=0)
    assert interval(X, y, random_state=0) != interval(X, y, random_state=1)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("name", ["qid", "params"])
def test_ids_reach_the_fits(routing, name):
    X, y, qid = queries()
    given = {"params": {"qid": qid}} if name == "params" else {name: qid}
    ranker = OrderPreservingRanker(alpha=0.1)
    search = GridSearchCV(ranker, {"alpha": [0.1]}, cv=GroupKFold(2), error_score="raise")
    with sklearn.config_context(enable_metadata_routing=routing):
        for model in (ByQuery(), make_pipeline(StandardScaler(), ByQuery()), ranker, search):
            found = interval(X, y, model, measure="ndcg@2", cv=3, **given)
            assert found.fold_sizes == ((4,),) * 3
    assert found.estimate == pytest.approx(
        interval(X, y, ranker, measure="ndcg@2", cv=3, qid=qid).estimate
    )


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_fits(routing):
    X, y = rows()
    weight = np.where(np.arange(len(y)) % 2, 5.0, 0.1)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = LogisticRegression()
        if routing:
            model.set_fit_request(sample_weight=True)
        found = interval(X, y, model, params={"sample_weight": weight}, cv=3)
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        fitted = LogisticRegression().fit(X[train], y[train], weight[train])
        pos, neg = (fitted.decision_function(X[test][y[test] == label]) for label in (1, 0))
        expected.append(oracle.auc(pos, neg))
    np.testing.assert_allclose(found.fold_values, expected)


def test_average_precision_is_of_one_list_or_of_queries():
    X, y = rows()
    groups = np.arange(len(y)) // 4
    found = interval(X, y, measure="ap", cv=4)
    assert found.fold_sizes[0] == (4, 6)
    values = [get_measure("ap")(y[t], X[t, 0]) for _, t in StratifiedKFold(4).split(X, y)]
    np.testing.assert_allclose(found.fold_values, values)
    # Scores without information: the limits are about the share of positives, as of one list.
    tied = interval(np.zeros_like(X), y, measure="ap", cv=4)
    assert tied.estimate > 0.44
    assert (tied.low + tied.high) / 2 < 0.44
    grouped = interval(X, y, measure="ap", groups=groups, cv=4)
    assert len(grouped.fold_sizes[0]) == 2
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning):
        queries = interval(X, y, measure="ap", qid=groups, cv=4)
    assert len(queries.fold_sizes[0]) == 1


def test_shares_of_queries_have_wilson_limits():
    X, y, qid = queries(13)
    found = interval(X, y > 1, ByQuery(), measure="success@1", qid=qid, cv=4)
    assert found.method == "folds, wilson"
    assert 0 < found.low < found.estimate < found.high < 1
    expected = metric_interval("success@1", y > 1, X[:, 0], qid=qid)
    assert found.width == pytest.approx(expected.width, rel=0.1)
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        sure = interval(y[:, None] + 0.0, y > 1, ByQuery(), measure="success@1", qid=qid, cv=4)
    assert sure.estimate == 1.0
    assert 0.6 < sure.low < 1.0


def test_ties_and_perfect_orders_keep_a_width():
    X, y = rows()
    constant = interval(X, y, Share(), cv=4)
    assert constant.estimate == 0.5
    assert constant.low < 0.45 < 0.55 < constant.high
    perfect = interval(np.c_[y], y, cv=4)
    assert perfect.estimate == 1.0
    assert 0.6 < perfect.low < 0.97
    assert perfect.high == 1.0
    few_X, few_y = rows(3, n_pos=5, n_neg=30)
    few = interval(few_X, few_y, cv=5)
    assert few.width > 0.2
    assert all(size == (1, 6) for size in few.fold_sizes)


def test_folds_without_a_class_or_with_parts_of_a_group_are_refused():
    X, y = rows()
    cut, n = KFold(4, shuffle=True, random_state=0), np.arange(len(y))
    for labels, options, message in (
        (y, {"cv": LeaveOneOut()}, "not leave-one-out"),
        (np.sort(y), {"cv": KFold(4)}, r"without a positive.*stratified folds"),
        (y, {"cv": 15}, r"each of 15 folds needs at least one.*cv=14"),
        (y, {"groups": np.where(y == 1, 0, n)}, "positives in 1 groups only, but each"),
        (None, {}, "y is None"),
        (np.ones(len(y), dtype=int), {}, "one class only"),
        (y, {"groups": n // 2, "cv": cut}, r"The group .* part of split 0.*GroupKFold\(4\)"),
        (y, {"cv": [(n, n[::2])]}, "in the training and the test part"),
    ):
        with pytest.raises(ValueError, match=message):
            interval(X, labels, **options)
    X, y, qid = queries()
    with pytest.raises(ValueError, match=r"The query .* has rows in the training and the test"):
        interval(X, y, ByQuery(), measure="ndcg@2", qid=qid, cv=cut)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": get_scorer("auc")}, "is a scorer: pass the measure, measure='auc'"),
        ({"measure": "ndcg@5"}, "is a mean over queries.*pass qid="),
        ({"measure": OF_GRADES}, "no influence function"),
        ({"measure": UNKNOWN}, "no influence function"),
        (
            {"measure": "auc", "groups": np.arange(40), "params": {"groups": np.arange(40)}},
            "twice",
        ),
        ({"measure": "auc", "groups": np.arange(39)}, "groups"),
        ({"measure": "auc", "cv": 1}, "cv=1"),
        ({"measure": "auc", "level": 95}, "level"),
        ({"measure": "auc", "method": "bootstrap"}, "method"),
        ({"measure": "auc", "params": [1]}, "params is a list"),
        ({"measure": "auc", "pos_label": 7}, "pos_label=7"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value.split()[0],
)
def test_arguments_are_checked(options, words):
    X, y = rows()
    with pytest.raises((ValueError, TypeError), match=words):
        cross_val_interval(Column(), X, y, **options)


def test_errors_of_fits_say_where():
    X, y, qid = queries()

    class Fails(ByQuery):
        def fit(self, X, y, *, qid=None):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no") as caught:
        interval(X, y, Fails(), measure="ndcg@2", qid=qid, cv=3)
    assert caught.value.__notes__ == ["In split 0 of the cross-validation."]


def test_what_is_printed():
    X, y = rows()
    found = interval(X, y, cv=3)
    lines = str(found).splitlines()
    assert "(mean expected auc of the 3 fold models, 95 %, folds, wilson)" in lines[0]
    assert "fitted to 65 to 68 % of the rows; this is not the model fitted to all" in lines[1]
    assert lines[2].split() == ["fold", "value", "positives", "negatives"]
    assert len(lines) == 6
    assert type(found.fold_values[0]) is float
    assert type(found.fold_sizes[0][0]) is int
