"""The choice of parameters by cross-validation, against searches that fit every setting anew."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline

from sklearn_rank import AccuracyAtTopRanker, AccuracyAtTopRankerCV
from sklearn_rank.exceptions import (
    OtherTopWarning,
    QuantileDistanceWarning,
    SmallTopWarning,
)
from sklearn_rank.metrics import (
    Exponential,
    average_precision_score,
    get_measure,
    get_scorer,
    precision_at_top_score,
)
from tests.naming import for_each, shown

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{QuantileDistanceWarning.__module__}.QuantileDistanceWarning"
)
SETTINGS = {
    "C": [0.01, 0.1],
    "quantile": ["sample", "pairs"],
    "selection": ["average", "closest", "objective"],
}
FEW = {"C": [0.01, 0.1], "quantile": ["pairs"], "selection": ["average", "objective"]}


def data(n=72, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def search(grid=None, **parameters):
    return AccuracyAtTopRankerCV(
        **{
            "tau": 0.1,
            "cv": 3,
            "param_grid": SETTINGS | (grid or {}),
        }
        | parameters
    )


def by_grid(
    X,
    y,
    *,
    scoring="smoothed_precision@top0.1",
    cv=3,
    weight=None,
    settings=SETTINGS,
    **parameters,
):
    """The same by scikit-learn: the oracle."""
    with warnings.catch_warnings():
        # What a setting that is not chosen is like, and shares that are to differ.
        warnings.simplefilter("ignore", QuantileDistanceWarning)
        warnings.simplefilter("ignore", OtherTopWarning)
        scorer = scoring if callable(scoring) else get_scorer(scoring)
        grid = settings | {name: parameters.pop(name) for name in ("tau",) if name in parameters}
        return GridSearchCV(
            AccuracyAtTopRanker(**{"tau": 0.1} | parameters), grid, scoring=scorer, cv=cv
        ).fit(X, y, **({} if weight is None else {"sample_weight": weight}))


def assert_same_search(found, grid, X):
    assert found.cv_results_["params"] == [
        {"tau": 0.1} | one for one in grid.cv_results_["params"]
    ]
    for name in grid.cv_results_:
        if name.startswith(("split", "mean_test", "std_test", "rank_test")):
            np.testing.assert_allclose(
                found.cv_results_[name], grid.cv_results_[name], rtol=0, atol=1e-12, err_msg=name
            )
    assert found.best_score_ == pytest.approx(grid.best_score_, abs=1e-12)
    assert found.best_params_ == {"tau": 0.1} | grid.best_params_
    np.testing.assert_array_equal(found.decision_function(X), grid.decision_function(X))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {
            "class_weight": {0: 1.0, 1: 3.0},
            "kernel": "poly",
            "kernel_params": {"degree": 2, "gamma": 0.5},
        },
        {"class_weight": "pairs", "pos_label": 0},
    ],
    ids=shown,
)
def test_as_a_grid_search(parameters):
    X, y = data()
    settings = FEW if parameters else SETTINGS
    cv = 2 if parameters else 3
    found = search(settings, cv=cv, **parameters)
    grid = by_grid(X, y, cv=cv, settings=settings, **parameters)
    assert_same_search(found.fit(X, y), grid, X)


@pytest.mark.parametrize(
    "scoring",
    [
        "precision@top0.1",
        "neg_accuracy_loss@top0.1",
        "average_precision",
        get_measure("bedroc@20"),
        Exponential(20),
        make_scorer(precision_at_top_score, response_method="decision_function", tau=0.1),
        lambda ranker, X, y: average_precision_score(y, ranker.decision_function(X)),
    ],
    ids=shown,
)
def test_by_any_scorer(scoring):
    X, y = data(seed=1)
    known = callable(scoring) and not hasattr(scoring, "in_grammar")
    known = known and not isinstance(scoring, Exponential)
    few = {"C": [0.01, 0.1], "quantile": ["sample"], "selection": ["average"]}
    grid = by_grid(
        X, y, scoring=scoring if known else get_scorer(scoring, single_list=True), settings=few
    )
    found = search(few, scoring=scoring).fit(X, y)
    assert_same_search(found, grid, X)
    assert found.score(X, y) == pytest.approx(grid.score(X, y), abs=1e-12)


def test_sparse_rows_and_kernels_that_are_computed():
    X, y = data(48, seed=2)
    few = {"C": [0.01, 0.1], "quantile": ["pairs"], "selection": ["average", "closest"]}
    dense = search(FEW).fit(X, y)
    sparse = search(FEW).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-12)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    K = rbf_kernel(X, gamma=1 / 3)
    computed = search(few, kernel="precomputed")
    by_scikit_learn = by_grid(K, y, settings=few, kernel="precomputed")
    assert_same_search(computed.fit(K, y), by_scikit_learn, K)


def test_a_mean_over_queries_takes_the_rows_as_one_list():
    X, y = data(seed=3)
    found = search(FEW, scoring="ap").fit(X, y)
    scorer = get_scorer("ap", single_list=True)
    assert_same_search(found, by_grid(X, y, scoring=scorer, settings=FEW), X)


def test_shares_to_train_for_and_the_one_that_is_acted_on():
    X, y = data(seed=4)
    taus = [0.05, 0.1, 0.3]
    found = search(FEW | {"tau": taus}).fit(X, y)
    grid = by_grid(X, y, tau=taus, settings=FEW)
    assert found.scores_.shape == (3, 2, 1, 2, 3)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-12
    )
    assert found.best_params_ == grid.best_params_
    # By the share of 0.3, whatever wins otherwise.
    found = search({"tau": [0.3], "quantile": "sample", "selection": "average"}).fit(X, y)
    ranker = AccuracyAtTopRanker(0.3, C=found.C_).fit(X, y)
    np.testing.assert_array_equal(found.coef_, ranker.coef_)
    assert found.objective_top_ == ranker.objective_top_
    # Seven of 72 rows are the top tenth.
    assert found.predict(X).sum() == 7
    assert ranker.predict(X).sum() == 22


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_learned_is_that_of_the_ranker(weighted):
    X, y = data(seed=5)
    weight = np.random.default_rng(0).integers(0, 3, len(y)) if weighted else None
    found = search(FEW).fit(X, y, weight)
    ranker = AccuracyAtTopRanker(**found.best_params_).fit(X, y, weight)
    learned = {name: value for name, value in vars(ranker).items() if name.endswith("_")}
    for name, value in learned.items():
        np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)
    assert (found.C_, found.quantile_of_, found.selection_, found.tau_) == tuple(
        found.best_params_[name] for name in ("C", "quantile", "selection", "tau")
    )
    bound = found.margin_bound(X, y, radius=100.0)
    assert bound.value == ranker.margin_bound(X, y, radius=100.0).value


# ------------------------------------------------------------------------------------ weights


def test_scores_are_weighted():
    X, y = data(seed=7)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    found = search(FEW).fit(X, y, weight)
    measure = get_measure("smoothed_precision@top0.1")
    values = []
    for train, test in StratifiedKFold(3).split(X, y):
        ranker = AccuracyAtTopRanker(**found.best_params_)
        ranker.fit(X[train], y[train], weight[train])
        score = ranker.decision_function(X[test])
        values.append(measure(y[test], score, sample_weight=weight[test]))
    np.testing.assert_allclose(
        found.scores_.reshape(3, -1)[:, found.best_index_], values, atol=1e-12
    )
    score = measure(y, found.decision_function(X), sample_weight=weight)
    assert found.score(X, y, sample_weight=weight) == score
    # A function of rows and labels gets no weights.
    search(FEW, scoring=lambda ranker, X, y: len(y)).fit(X, y, weight)


def test_rows_without_weight_are_absent():
    X, y = data(seed=8)
    weight = np.random.default_rng(0).integers(0, 2, len(y))
    groups = np.arange(len(y)) % 5
    kept = weight == 1
    for cv, params in ((3, {}), (GroupKFold(2), {"groups": groups})):
        one = search({"selection": ["average"]}, cv=cv).fit(X, y, weight, **params)
        two = search({"selection": ["average"]}, cv=cv).fit(
            X[kept], y[kept], **{name: value[kept] for name, value in params.items()}
        )
        np.testing.assert_array_equal(one.scores_, two.scores_)
        np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.candidate_indices_, np.flatnonzero(kept))
    # Folds by numbers are of the rows as they are passed.
    folds = list(StratifiedKFold(3).split(X, y))
    one = search({"selection": ["average"]}, cv=folds).fit(X, y, weight)
    number = np.cumsum(kept) - 1
    folds = [[number[part][kept[part]] for part in fold] for fold in folds]
    two = search({"selection": ["average"]}, cv=folds).fit(X[kept], y[kept])
    np.testing.assert_array_equal(one.scores_, two.scores_)


# ------------------------------------------------------------------------------------- choice


def test_one_standard_error():
    X, y = data(120, 4, seed=9)
    found = search(
        {"C": [1e-4, 1e-3, 0.01, 0.1], "selection": ["average", "objective"]},
        rule="one_standard_error",
    ).fit(X, y)
    table = pd.DataFrame(found.cv_results_)
    folds = table[[f"split{i}_test_score" for i in range(3)]].to_numpy()
    mean, error = folds.mean(axis=1), folds.std(axis=1, ddof=1) / np.sqrt(3)
    top = int(np.argmax(mean))
    within = mean >= mean[top] - error[top]
    np.testing.assert_array_equal(table["within_one_standard_error"], within)
    np.testing.assert_allclose(table["standard_error"], error)
    smallest = table["param_C"][within].min()
    assert found.C_ == smallest < found.cv_results_["param_C"][top]
    of_smallest = table["param_C"] == smallest
    assert found.best_score_ == mean[of_smallest].max()
    np.testing.assert_array_equal(table["params"][found.best_index_], found.best_params_)


def test_ties_go_to_the_strongest_regularisation_and_the_first_named():
    X, y = data(seed=10)
    for rule in ("best", "one_standard_error"):
        found = search(
            {"C": [1.0, 0.1, 0.01], "selection": ["objective", "average"]},
            scoring=lambda ranker, X, y: 0.5,
            rule=rule,
        ).fit(X, y)
        np.testing.assert_array_equal(found.Cs_, [0.01, 0.1, 1.0])
        assert (found.C_, found.selection_, found.quantile_of_) == (0.01, "objective", "sample")
        assert found.cv_results_["rank_test_score"].tolist() == [1] * 12
        assert found.cv_results_["rank_test_score"].dtype == np.int32


def test_the_defaults():
    X, y = data()
    found = AccuracyAtTopRankerCV(0.1).fit(X, y)
    np.testing.assert_allclose(found.Cs_, [1e-4, 1e-3, 1e-2, 0.1, 1.0])
    assert found.scores_.shape == (5, 5, 1, 2, 1)
    assert found.n_splits_ == 5


# ----------------------------------------------------------------------------------- metadata


def test_groups_without_routing():
    X, y = data(seed=11)
    groups = np.arange(len(y)) // 6
    found = search({"selection": ["average"]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    folds = list(GroupKFold(3).split(X, y, groups))
    expected = search({"selection": ["average"]}, cv=folds).fit(X, y)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    with pytest.raises(TypeError, match="fit got the unexpected argument 'qid': pass groups"):
        search().fit(X, y, qid=groups)


@pytest.mark.parametrize("scoring", [None, "auc", "roc_auc"])
def test_metadata_routing(scoring):
    X, y = data(seed=12)
    groups, weight = np.arange(len(y)) // 6, np.random.default_rng(0).integers(1, 4, len(y))
    ranker = search({"selection": ["average"]}, cv=GroupKFold(3), scoring=scoring)
    expected = clone(ranker).fit(X, y, weight, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        told = clone(ranker).set_fit_request(sample_weight=True)
        told.set_score_request(sample_weight=True)
        found = make_pipeline(told).fit(X, y, sample_weight=weight, groups=groups)
        np.testing.assert_array_equal(found[-1].scores_, expected.scores_)
        score = found.score(X, y, sample_weight=weight)
    assert score == expected.score(X, y, weight)
    assert score != expected.score(X, y)


def test_a_scorer_that_requests_no_weights():
    X, y = data(seed=13)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("auc").set_score_request(sample_weight=False)
        ranker = search({"selection": ["average"]}, scoring=scorer)
        found = ranker.fit(X, y, sample_weight=weight)
    train, test = next(StratifiedKFold(3).split(X, y))
    one = AccuracyAtTopRanker(**found.best_params_).fit(X[train], y[train], weight[train])
    expected = get_measure("auc")(y[test], one.decision_function(X[test]))
    assert found.scores_.reshape(3, -1)[0, found.best_index_] == pytest.approx(expected)


# ----------------------------------------------------------------------------- as an estimator


# --------------------------------------------------------------------------- errors, warnings


def test_measures_are_no_scorers_and_groups_are_one_a_row():
    X, y = data(seed=16)
    for measure in (precision_at_top_score, sklearn.metrics.average_precision_score):
        with pytest.raises(TypeError, match=f"pass get_scorer\\({measure.__name__}\\)"):
            search(scoring=measure).fit(X, y)
    for wrong in (len(y) - 1, len(y) + 1):
        with pytest.raises(ValueError, match=f"groups has {wrong} values for {len(y)} rows"):
            search(cv=GroupKFold(3)).fit(X, y, groups=np.arange(wrong))


@for_each(
    ("parameters", "message"),
    [
        ({"grid": {"C": []}}, "must give each parameter at least one value"),
        ({"grid": {"C": [0.1, 0.0]}}, "C=.*0.0"),
        ({"grid": {"selection": "nearest"}}, "selection='nearest' must be one of 'average', 'clo"),
        ({"grid": {"quantile": ["all"]}}, "quantile='all' must be one of 'sample', 'pairs'"),
        ({"grid": {"tau": [0.1, 1.0]}}, "tau=1.0"),
        ({"grid": {"gamma": [1.0]}}, "param_grid='gamma' must be one of 'C', 'quantile'"),
        ({"tau": 1.0}, "'tau' parameter"),
        ({"rule": "two"}, "'rule' parameter"),
        ({"scoring": "precision@0.1"}, "is not the name of a measure"),
        ({"scoring": lambda ranker, X, y: np.nan}, "is not finite on fold 0"),
        ({"cv": []}, "yields no folds"),
        (
            {"cv": ShuffleSplit(1, random_state=0), "rule": "one_standard_error"},
            "at least two folds",
        ),
        (
            {"cv": [(np.arange(0, 72, 3), np.arange(72))]},
            "training part of fold 0 has rows of one",
        ),
        (
            {"cv": [(np.arange(72), np.arange(0, 72, 3))]},
            "test part of fold 0 .*24 of all 72 rows",
        ),
    ],
)
def test_refusals(parameters, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        search(**parameters).fit(X, y)


def test_tops_of_less_than_one_row_warn_once():
    X, y = data()
    with pytest.warns(SmallTopWarning) as caught:
        AccuracyAtTopRankerCV(0.009, cv=3).fit(X, y)
    # Of 48 rows that are trained on, of 24 that are held out; 72 are enough.
    assert len(caught) == 2
    assert all(one.filename == __file__ for one in caught)
    messages = sorted(str(one.message) for one in caught)
    assert messages[0].startswith("The top 0.009 of 24 items")
    assert messages[1].startswith("tau=0.009 of 48 rows")


def test_problems_that_miss_the_tolerance_warn_once():
    X, y = data()
    with pytest.warns(ConvergenceWarning) as caught:
        search({"selection": ["average"]}, max_iter=1, scoring="auc").fit(X, y)
    messages = [str(one.message) for one in caught]
    assert len(messages) == 2
    assert "problems in folds did not reach tol=1e-06" in messages[0]
    assert "leave out the largest C" in messages[0]
    assert "of 72 problems did not reach tol=1e-06" in messages[1]


def test_chosen_at_another_share_than_is_acted_on():
    X, y = data()
    with pytest.warns(OtherTopWarning, match="top 0.1 of the list .* at the top 0.2") as caught:
        search({"selection": ["average"]}, scoring="precision@top0.2").fit(X, y)
    assert len(caught) == 1
