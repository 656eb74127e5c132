"""What holds for every estimator: scikit-learn's checks, and the properties of our rankers."""

import importlib
import inspect
import pickle
import pkgutil
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from lightgbm import LGBMRanker
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import sklearn_rank
from sklearn_rank import OrderPreservingRanker, PNormPushRanker
from sklearn_rank.exceptions import (
    ContinuousLabelWarning,
    PositiveClassWarning,
    SingleListWarning,
    SmallTopWarning,
    ZeroSolutionWarning,
)
from sklearn_rank.metrics import average_precision_score, get_scorer, precision_at_top_score
from sklearn_rank.model_selection import BoundSearchCV, TopThresholdClassifier
from sklearn_rank.preprocessing import QueryNormalizer
from tests.catalogue import (
    BIPARTITE_CLASSES,
    BIPARTITE_RANKERS,
    LABEL_RANKERS,
    META_RANKERS,
    QUERY_RANKERS,
)

pytestmark = pytest.mark.usefixtures("two_folds")

# Estimators that choose among others: no rankers of their own, and named in their room alone.
SELECTIONS = [
    BoundSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, error_score="raise"),
    TopThresholdClassifier(
        DecisionTreeClassifier(max_depth=1), min_recall=0.5, level=0.6, random_state=0
    ),
]

# What prepares rows for rankers, likewise.
TRANSFORMERS = [QueryNormalizer()]

# scikit-learn's checks fit each estimator some hundred times: those that fit others, or a path of
# penalties, take few.
FOR_CHECKS = {
    "AccuracyAtTopRankerCV": {"param_grid": {"C": [1e-4, 1.0]}, "cv": 2},
    "GroupRankerAdapter": {"estimator": LGBMRanker(n_estimators=2, n_jobs=1, verbosity=-1)},
    "RankBoostRanker": {"n_estimators": 10},
    "RankEnsemble": {
        "estimators": [
            ("a", OrderPreservingRanker("pointwise_squared", tol=1e-8)),
            ("b", OrderPreservingRanker(tol=1e-8)),
        ]
    },
    "RankEnsembleClassifier": {
        "estimators": [
            ("linear", LogisticRegression()),
            ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ],
        "cv": 2,
    },
    "RankStatisticRanker": {"n_folds": 2},
}

# The quick tests have one configuration of each class, the slow ones the others too.
every_ranker = pytest.mark.parametrize(
    "ranker",
    [
        pytest.param(one, marks=[] if one in BIPARTITE_CLASSES else pytest.mark.slow, id=repr(one))
        for one in BIPARTITE_RANKERS
    ],
)
every_class = pytest.mark.parametrize("ranker", BIPARTITE_CLASSES, ids=repr)
# What the base class does alone: quick for one class.
classes_of_a_base = pytest.mark.parametrize(
    "ranker",
    [
        pytest.param(one, marks=[] if isinstance(one, PNormPushRanker) else pytest.mark.slow)
        for one in BIPARTITE_CLASSES
    ],
    ids=repr,
)
# One estimator of each base class is checked in the quick tests.
QUICKLY_CHECKED = {
    "BoundSearchCV",
    "OrderPreservingLabelRanker",
    "OrderPreservingRanker",
    "PNormPushRanker",
    "QueryNormalizer",
}


def public_estimators():
    """Every concrete estimator class that a public module offers."""
    found = {}
    for info in pkgutil.walk_packages(sklearn_rank.__path__, "sklearn_rank."):
        if any(part.startswith("_") for part in info.name.split(".")):
            continue
        module = importlib.import_module(info.name)
        for name in dir(module):
            value = getattr(module, name)
            if (
                inspect.isclass(value)
                and issubclass(value, BaseEstimator)
                and value.__module__.startswith("sklearn_rank")
                and not name.startswith("_")
                and not inspect.isabstract(value)
            ):
                found[name] = value
    return sorted(found.values(), key=lambda cls: cls.__name__)


def public_rankers():
    """Those that choose among no others and are no transformers."""
    others = {type(one) for one in SELECTIONS + TRANSFORMERS}
    return [estimator for estimator in public_estimators() if estimator not in others]


CHECKED = [
    *(ranker(**FOR_CHECKS.get(ranker.__name__, {})) for ranker in public_rankers()),
    *SELECTIONS,
    *TRANSFORMERS,
]
WARNINGS = (
    SmallTopWarning,
    SingleListWarning,
    PositiveClassWarning,
    ZeroSolutionWarning,
    ContinuousLabelWarning,
)


def passes(estimator, check):
    with warnings.catch_warnings():
        for category in WARNINGS:
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", "The guarantee is vacuous|No cut-off has", UserWarning)
        check(estimator)


@parametrize_with_checks([one for one in CHECKED if type(one).__name__ in QUICKLY_CHECKED])
def test_scikit_learns_checks(estimator, check):
    passes(estimator, check)


@pytest.mark.slow
@parametrize_with_checks([one for one in CHECKED if type(one).__name__ not in QUICKLY_CHECKED])
def test_scikit_learns_checks_of_the_others(estimator, check):
    passes(estimator, check)


def test_every_public_estimator_is_listed_and_at_the_front_door():
    listed = BIPARTITE_RANKERS + META_RANKERS + QUERY_RANKERS + LABEL_RANKERS
    classes = {type(ranker) for ranker in listed}
    assert classes == set(public_rankers())
    assert {type(one) for one in SELECTIONS + TRANSFORMERS} <= set(public_estimators())
    for cls in classes:
        assert getattr(sklearn_rank, cls.__name__) is cls
        assert cls.__name__ in sklearn_rank.__all__


# ----------------------------------------------------------------------- rankers of two classes


def data(n=40, seed=0):
    X, y = make_classification(
        n, n_features=5, n_informative=3, weights=[0.6], class_sep=0.8, random_state=seed
    )
    return X, y


def learned(estimator):
    fitted = {name: v for name, v in vars(estimator).items() if name.endswith("_")}
    # Estimators within are no values to compare.
    return {name: np.copy(v) for name, v in fitted.items() if name != "estimators_"}


def grid_of(ranker, prefix=""):
    """Two settings of a parameter, for searches; one of tau, for which scorers ask."""
    for name in ("C", "learning_rate"):
        if name in ranker.get_params():
            return {f"{prefix}{name}": [1e-3, 0.1]}
    return {f"{prefix}tau": [0.2]}


def strictly(ranker):
    """The ranker, with a small tolerance if it has one."""
    return clone(ranker).set_params(**({"tol": 1e-10} if "tol" in ranker.get_params() else {}))


def assert_same(one, two, but=()):
    one, two = learned(one), learned(two)
    assert set(one) == set(two)
    for name in set(one) - set(but):
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


@every_ranker
def test_two_fits_are_the_same_fit(ranker):
    X, y = data(30)
    again = clone(ranker).fit(*data(20, seed=5))
    assert_same(clone(ranker).fit(X, y), again.fit(X, y))


@every_ranker
def test_the_order_of_rows_does_not_matter(ranker):
    X, y = data()
    shuffled = np.random.default_rng(0).permutation(len(y))
    one, two = clone(ranker).fit(X, y), clone(ranker).fit(X[shuffled], y[shuffled])
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), rtol=1e-9, atol=1e-12
    )


@every_ranker
def test_weights_are_repetitions(ranker):
    if getattr(ranker, "counts_rows", False):
        pytest.skip("leaves and bins count rows, whatever they weigh")
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    strict = strictly(ranker)
    one = clone(strict).fit(X, y, sample_weight=weight)
    two = clone(strict).fit(X[repeated], y[repeated])
    one_scores, two_scores = one.decision_function(X), two.decision_function(X)
    if not isinstance(ranker.get_params().get("weak_ranker", ""), str):
        # A tree breaks ties between splits by the number of rows, in the folds of the threshold.
        one_scores, two_scores = one_scores + one.threshold_, two_scores + two.threshold_
    np.testing.assert_allclose(one_scores, two_scores, atol=1e-3)


@every_ranker
def test_rows_without_weight_are_absent(ranker):
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 2, len(y))
    one = clone(ranker).fit(X, y, sample_weight=weight)
    two = clone(ranker).fit(X[weight == 1], y[weight == 1])
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@every_class
def test_labels_of_any_type(ranker):
    X, y = data()
    expected = clone(ranker).fit(X, y)
    for labels in (["no", "yes"], [False, True], [-1, 1], [-3.0, 7.0]):
        told, named = clone(ranker).set_params(pos_label=labels[1]), np.array(labels)[y]
        # As lists where they are words.
        rows = (X.tolist(), named.tolist()) if labels[0] == "no" else (X, named)
        fitted = told.fit(*rows)
        np.testing.assert_array_equal(fitted.classes_, labels)
        np.testing.assert_array_equal(fitted.decision_function(X), expected.decision_function(X))
        np.testing.assert_array_equal(fitted.predict(X), np.array(labels)[expected.predict(X)])


# What is in units of the decision value, whose sign is that of the second class.
IN_UNITS_OF_DECISION = {
    "constant_",
    "coef_",
    "dual_coef_",
    "intercept_",
    "quantile_",
    "staged_thresholds_",
    "threshold_",
}


@every_ranker
def test_the_first_class_as_the_positive_one_is_the_mirrored_problem(ranker):
    X, y = data()
    labels = "fraud", "ok"
    named, weight = np.array(labels)[y], np.random.default_rng(0).integers(0, 3, len(y))
    mirrored = clone(ranker).fit(X, 1 - y, weight)
    fitted = clone(ranker).set_params(pos_label=labels[0]).fit(X, named, weight)
    assert fitted.pos_label_ == labels[0]
    np.testing.assert_array_equal(fitted.classes_, labels)
    one, two = learned(fitted), learned(mirrored)
    assert set(one) == set(two)
    for name in set(one) - {"categories_", "classes_", "pos_label_"}:
        sign = -1 if name in IN_UNITS_OF_DECISION else 1
        np.testing.assert_array_equal(one[name], sign * two[name], err_msg=name)
    decision = fitted.decision_function(X)
    np.testing.assert_array_equal(decision, -mirrored.decision_function(X))
    np.testing.assert_array_equal(fitted.predict(X) == labels[0], mirrored.predict(X) == 1)
    np.testing.assert_array_equal(fitted.predict(X) == labels[1], decision > 0)
    assert fitted.score(X, named, weight) == mirrored.score(X, 1 - y, weight)
    read = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(read.decision_function(X), decision)
    np.testing.assert_array_equal(read.predict(X), fitted.predict(X))
    # What was learned does not depend on what the parameter is set to afterwards.
    read.set_params(pos_label=labels[1])
    np.testing.assert_array_equal(read.predict(X), fitted.predict(X))


@classes_of_a_base
def test_scikit_learns_tools_on_a_first_class_that_is_positive(ranker):
    X, y = data(60)
    named = np.array(["fraud", "ok"])[y]
    told, mirrored = clone(ranker).set_params(pos_label="fraud"), clone(ranker)
    fitted, other = clone(told).fit(X, named), clone(mirrored).fit(X, 1 - y)
    score = -fitted.decision_function(X)
    auc = sklearn.metrics.roc_auc_score(named == "fraud", score)
    assert sklearn.metrics.get_scorer("roc_auc")(fitted, X, named) == pytest.approx(auc)
    theirs = sklearn.metrics.make_scorer(
        sklearn.metrics.average_precision_score,
        response_method="decision_function",
        pos_label="fraud",
    )
    ap = sklearn.metrics.average_precision_score(named == "fraud", score)
    assert theirs(fitted, X, named) == pytest.approx(ap)
    np.testing.assert_allclose(
        CalibratedClassifierCV(clone(told), cv=2).fit(X, named).predict_proba(X)[:, 0],
        CalibratedClassifierCV(clone(mirrored), cv=2).fit(X, 1 - y).predict_proba(X)[:, 1],
        atol=1e-3,
    )
    tuned = TunedThresholdClassifierCV(clone(mirrored), cv=2).fit(X, 1 - y)
    assert set(tuned.predict(X)) <= {0, 1}
    for at in (-0.5, 0.0, 0.3):
        fixed = FixedThresholdClassifier(fitted, threshold=at, pos_label="fraud")
        expected = FixedThresholdClassifier(other, threshold=at, pos_label=1)
        np.testing.assert_array_equal(
            fixed.fit(X, named).predict(X) == "fraud", expected.fit(X, 1 - y).predict(X) == 1
        )
    # Stacking numbers the classes for what it stacks.
    stacked = StackingClassifier(
        [("ranker", clone(told).set_params(pos_label=0))], LogisticRegression(), cv=2
    )
    expected = StackingClassifier([("ranker", clone(mirrored))], LogisticRegression(), cv=2)
    probability = stacked.fit(X, named).predict_proba(X)[:, 0]
    np.testing.assert_allclose(
        probability, expected.fit(X, 1 - y).predict_proba(X)[:, 1], atol=1e-3
    )
    assert sklearn.metrics.roc_auc_score(1 - y, probability) > 0.6
    with pytest.raises(ValueError, match=r"is not among .* number sorted classes\), 0, 1: pass"):
        StackingClassifier([("ranker", told)], LogisticRegression(), cv=2).fit(X, named)


@classes_of_a_base
def test_searches_count_the_positive_class_of_a_ranker_in_a_pipeline(ranker):
    X, y = data(60)
    named = np.array(["fraud", "ok"])[y]
    name = type(ranker).__name__.lower()
    model = make_pipeline(StandardScaler(), clone(ranker).set_params(pos_label="fraud"))
    search = GridSearchCV(
        model,
        grid_of(ranker, f"{name}__"),
        scoring={
            "top": get_scorer("precision@top0.2"),
            "ap": get_scorer("ap", single_list=True),
            "auc": "roc_auc",
        },
        refit="top",
        cv=StratifiedKFold(3),
        error_score="raise",
    ).fit(X, named)
    assert np.all(search.cv_results_["mean_test_auc"] > 0.5)
    values = []
    for train, test in StratifiedKFold(3).split(X, named):
        other = make_pipeline(StandardScaler(), clone(ranker)).set_params(**search.best_params_)
        score = other.fit(X[train], 1 - y[train]).decision_function(X[test])
        values.append(precision_at_top_score(1 - y[test], score, tau=0.2))
    assert search.best_score_ == pytest.approx(np.mean(values))
    # Nested, the scorer asks what the search chose.
    score = -search.decision_function(X)
    expected = precision_at_top_score(named, score, tau=0.2, pos_label="fraud")
    assert get_scorer("precision@top0.2")(search, X, named) == expected


@every_class
def test_labels_without_a_positive_class_warn_in_fit(ranker):
    X, y = data(30)
    named = np.array(["fraud", "ok"])[y]
    with pytest.warns(PositiveClassWarning, match="pass pos_label='ok', or pos_label='fraud'"):
        fitted = clone(ranker).fit(X, named)
    expected = clone(ranker).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), expected.decision_function(X))


@every_class
def test_columns_of_labels_and_weights_are_vectors(ranker):
    X, y = data(30)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    expected = clone(ranker).fit(X, y, weight)
    for labels, weights in ((y[:, np.newaxis], weight), (y, weight[:, np.newaxis])):
        with pytest.warns(DataConversionWarning):
            assert_same(clone(ranker).fit(X, labels, weights), expected)
    with pytest.warns(DataConversionWarning):
        found = expected.score(X, y[:, np.newaxis], weight[:, np.newaxis])
    assert found == expected.score(X, y, weight)


@every_class
def test_predict_is_the_sign_and_score_the_average_precision(ranker):
    X, y = data()
    fitted = clone(ranker).fit(X, y)
    decision = fitted.decision_function(X)
    assert decision.shape == (len(y),)
    np.testing.assert_array_equal(fitted.predict(X) == 1, decision > 0)
    assert fitted.score(X, y) == average_precision_score(y, decision)
    assert fitted.score(X, y) > y.mean()


@every_class
def test_frames_with_names(ranker):
    X, y = data()
    expected = clone(ranker).fit(X, y)
    names = [f"feature {j}" for j in range(X.shape[1])]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        fitted = clone(ranker).fit(frame, y)
        assert fitted.feature_names_in_.tolist() == names
        # Frames are stored by column, which BLAS rounds differently.
        np.testing.assert_allclose(
            fitted.decision_function(frame), expected.decision_function(X), atol=1e-12
        )
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(frame[names[::-1]])
    by_index = pd.Series(np.array(["a", "b"])[y], index=np.arange(len(y))[::-1] + 1000)
    fitted = clone(ranker).set_params(pos_label="b").fit(pd.DataFrame(X, columns=names), by_index)
    np.testing.assert_allclose(
        fitted.decision_function(pd.DataFrame(X, columns=names)),
        expected.decision_function(X),
        atol=1e-12,
    )


@every_class
def test_float32_and_integers(ranker):
    X, y = data()
    for dtype in (np.float32, np.int64):
        narrow = (10 * X).astype(dtype)
        one = clone(ranker).fit(narrow, y)
        two = clone(ranker).fit(narrow.astype(np.float64), y)
        assert_same(one, two)
        np.testing.assert_array_equal(one.decision_function(narrow), two.decision_function(narrow))


@every_ranker
def test_sparse_is_dense(ranker):
    if not ranker.__sklearn_tags__().input_tags.sparse:
        pytest.skip("dense input only")
    X, y = data()
    X = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    strict = strictly(ranker)
    dense = clone(strict).fit(X, y)
    # A refinement ends where a round improves its objective by little.
    atol = 1e-2 if ranker.get_params().get("selection") == "refine" else 1e-3
    container = (sp.csc_array, sp.csr_matrix)[BIPARTITE_RANKERS.index(ranker) % 2]
    sparse = clone(strict).fit(container(X), y)
    shift = 0.0
    if type(ranker).__name__ == "RankStatisticRanker" or hasattr(dense, "estimators_"):
        # In the folds of the threshold, rounding may lead a climb to another local maximum,
        # and a tree to another of two equal splits.
        shift = dense.threshold_ - sparse.threshold_
    np.testing.assert_allclose(
        sparse.decision_function(container(X)) - shift, dense.decision_function(X), atol=atol
    )


@every_class
def test_the_number_of_jobs_changes_no_bit(ranker):
    if "n_jobs" not in ranker.get_params():
        pytest.skip("no n_jobs")
    X, y = data(80)
    assert_same(clone(ranker).fit(X, y), clone(ranker).set_params(n_jobs=2).fit(X, y))


@every_class
def test_pickle_and_clone(ranker):
    X, y = data()
    fitted = clone(ranker).fit(X, y)
    read = pickle.loads(pickle.dumps(fitted))
    assert_same(fitted, read)
    np.testing.assert_array_equal(read.decision_function(X), fitted.decision_function(X))
    fresh = clone(fitted)
    assert learned(fresh) == {}
    assert repr(fresh.get_params()) == repr(ranker.get_params())


@every_class
def test_a_bad_refit_leaves_the_ranker_as_it_was(ranker):
    X, y = data()
    fitted = clone(ranker).fit(X, y)
    before = learned(fitted)
    wide = np.ones((len(y), 9))
    named = pd.DataFrame(wide, columns=list("abcdefghi"))
    missing = np.nan if not ranker.__sklearn_tags__().input_tags.allow_nan else np.inf
    for bad, message in (
        ((np.full_like(X, missing), y, None), "contains (NaN|infinity)"),
        ((X, np.zeros_like(y), None), "one class only, 0"),
        ((wide, np.arange(len(y)) % 3, None), "type of the target is multiclass"),
        ((wide, y[:-1], None), "inconsistent numbers of samples"),
        ((wide, y, np.full(len(y), -1.0)), "sample_weight is -1 at row 0"),
        ((named, np.zeros_like(y), None), "one class only, 0"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.fit(bad[0], bad[1], sample_weight=bad[2])
        assert set(before) == set(learned(fitted))
        for name, value in before.items():
            np.testing.assert_array_equal(value, getattr(fitted, name), err_msg=name)


@every_class
def test_weights_are_routed_through_a_search(ranker):
    X, y = data(60)
    weight = np.random.default_rng(0).integers(1, 3, 60)
    with config_context(enable_metadata_routing=True):
        request = clone(ranker).set_fit_request(sample_weight=True)
        request.set_score_request(sample_weight=True)
        result = cross_validate(
            request, X, y, cv=3, params={"sample_weight": weight}, error_score="raise"
        )
    for (train, test), score in zip(
        StratifiedKFold(3).split(X, y), result["test_score"], strict=True
    ):
        fitted = clone(ranker).fit(X[train], y[train], weight[train])
        assert score == fitted.score(X[test], y[test], weight[test])
        decision = fitted.decision_function(X[test])
        assert score == average_precision_score(y[test], decision, sample_weight=weight[test])


def test_the_repr_in_html_links_to_the_documentation():
    for ranker in BIPARTITE_CLASSES:
        assert f"sklearn_rank.{type(ranker).__name__}.html" in clone(ranker)._repr_html_()
