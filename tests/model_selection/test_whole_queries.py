"""Whole queries in the helpers of scikit-learn, and what is said where they are cut.

Each helper that splits, draws or refits runs as a user would call it, with ids, and the rows of
each fit are counted.
"""

import warnings
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn import ensemble, feature_selection, inspection, model_selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from sklearn_rank import OrderPreservingRanker, RankEnsemble, metrics
from sklearn_rank.exceptions import QuerySetupError, ScorerSetupError
from sklearn_rank.metrics import get_scorer
from sklearn_rank.model_selection import QueryKFold, query_train_test_split
from tests.naming import for_each

from .query_estimators import queries

X, y, qid = queries(24, kind=str)
SIZES = dict(zip(*np.unique(qid, return_counts=True), strict=True))
GRID = {"alpha": [0.1, 1.0]}
WHOLE = QueryKFold(3, random_state=0)
NDCG = get_scorer("ndcg@3")


class Counting(OrderPreservingRanker):
    """A real ranker that keeps the ids of each fit."""

    seen: ClassVar[list] = []

    def fit(self, X, y, *, qid=None, sample_weight=None, query_weight=None):
        weights = {"sample_weight": sample_weight, "query_weight": query_weight}
        super().fit(X, y, qid=qid, **weights)
        Counting.seen.append(None if qid is None else np.array(qid))
        return self


def by_fit(make):
    """A helper with fit, which is handed the ids as groups."""
    return lambda ranker: make(ranker).fit(X, y, groups=qid)


def by_params(helper, **options):
    """A function that splits, which is handed the ids as params with routing, else as groups."""

    def call(ranker):
        if sklearn.get_config()["enable_metadata_routing"]:
            return helper(ranker, X, y, params={"groups": qid}, **options)
        return helper(ranker, X, y, groups=qid, **options)

    return call


def searches(cv):
    """All helpers with a splitter."""
    curve = {"param_name": "alpha", "param_range": [0.1, 1.0], "cv": cv}
    ms = model_selection
    return {
        "GridSearchCV": by_fit(lambda r: ms.GridSearchCV(r, GRID, cv=cv)),
        "RandomizedSearchCV": by_fit(lambda r: ms.RandomizedSearchCV(r, GRID, cv=cv, n_iter=2)),
        "cross_validate": by_params(ms.cross_validate, cv=cv),
        "cross_val_score": by_params(ms.cross_val_score, cv=cv),
        "cross_val_predict": by_params(ms.cross_val_predict, cv=cv),
        "validation_curve": by_params(ms.validation_curve, **curve),
        "permutation_test_score": by_params(
            ms.permutation_test_score, cv=cv, n_permutations=1, scoring=NDCG
        ),
        "nested": by_params(
            lambda ranker, *a, **k: ms.cross_validate(
                ms.GridSearchCV(ranker, GRID, cv=cv), *a, **k
            ),
            cv=cv,
        ),
        "RFECV": by_fit(lambda r: feature_selection.RFECV(r, cv=cv, scoring=NDCG)),
        "SequentialFeatureSelector": by_fit(
            lambda r: feature_selection.SequentialFeatureSelector(r, cv=cv, scoring=NDCG)
        ),
    }


def halving(cv):
    """Helpers that take rows out of queries even where the splitter keeps them."""
    ms = model_selection
    return {
        "HalvingGridSearchCV": by_fit(
            lambda r: ms.HalvingGridSearchCV(r, GRID, cv=cv, factor=2, random_state=0)
        ),
        "HalvingRandomSearchCV": by_fit(
            lambda r: ms.HalvingRandomSearchCV(
                r, {"alpha": [0.1, 1.0, 2.0]}, cv=cv, factor=2, random_state=0
            )
        ),
        "learning_curve": by_params(ms.learning_curve, cv=cv),
        "learning_curve, incremental": by_params(
            ms.learning_curve, cv=cv, exploit_incremental_learning=True
        ),
    }


# Each helper, and what happens with routing.
REFITS = {
    "BaggingRegressor": (by_fit(lambda r: ensemble.BaggingRegressor(r, n_estimators=2)), "cut"),
    "AdaBoostRegressor": (
        by_fit(lambda r: ensemble.AdaBoostRegressor(r, n_estimators=2)),
        "refused: TypeError",
    ),
    "StackingRegressor": (
        by_fit(lambda r: ensemble.StackingRegressor([("a", r)], Ridge(), cv=WHOLE)),
        "refused: ValueError: The estimator Counting should be a regressor",
    ),
    "VotingRegressor": (
        by_fit(lambda r: ensemble.VotingRegressor([("a", r)])),
        "refused: ValueError: The estimator Counting should be a regressor",
    ),
    "RFE": (by_fit(feature_selection.RFE), "whole"),
    "SelectFromModel": (by_fit(feature_selection.SelectFromModel), "whole"),
    "TransformedTargetRegressor": (by_fit(TransformedTargetRegressor), "whole"),
    "MultiOutputRegressor": (
        lambda r: MultiOutputRegressor(r).fit(X, y[:, None], groups=qid),
        "whole",
    ),
    "RegressorChain": (lambda r: RegressorChain(r).fit(X, y[:, None], groups=qid), "whole"),
    "CalibratedClassifierCV": (by_fit(CalibratedClassifierCV), "refused: "),
    "FixedThresholdClassifier": (
        by_fit(model_selection.FixedThresholdClassifier),
        "refused: ValueError: Only binary",
    ),
    "TunedThresholdClassifierCV": (
        by_fit(model_selection.TunedThresholdClassifierCV),
        "refused: ValueError: Only binary",
    ),
}


def outcome(call, routing):
    """What became of the queries: refused, or whole, cut or lost, and what was said of it."""
    Counting.seen.clear()
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            call(Counting(alpha=0.1))
        except Exception as error:
            return f"refused: {type(error).__name__}: {error}"[:160]
    said = {name for name in SAID if any(name in f"{one.category}{one.message}" for one in caught)}
    cut = any(
        ids is not None and any(SIZES[one] != np.sum(ids == one) for one in np.unique(ids))
        for ids in Counting.seen
    )
    lost = any(ids is None for ids in Counting.seen)
    found = "lost" if lost else "cut" if cut else "whole" if Counting.seen else "not fitted"
    return " ".join([found, *sorted(said)])


# What tells that a score is none of new queries, in the text of a warning or its category.
SAID = ("trained on other rows", "QueryOverlapWarning", "SingleListWarning", "got no qid")


@pytest.mark.parametrize("name", searches(WHOLE))
def test_helpers_with_a_splitter_of_whole_queries(name):
    found = outcome(searches(WHOLE)[name], routing=True)
    # RFECV hands on what the ranker itself asks for: see its recipe.
    assert found.startswith("refused: TypeError: RFE.fit" if name == "RFECV" else "whole")


# Without error_score, these tools raise whatever a score raises.
WITHOUT_ERROR_SCORE = {"permutation_test_score", "RFECV"}


@pytest.mark.parametrize("name", searches(3))
def test_helpers_with_a_splitter_that_cuts(name):
    found = outcome(searches(3)[name], routing=True)
    if name in WITHOUT_ERROR_SCORE:
        assert found.startswith("refused: QuerySetupError: Counting was trained on other rows")
    else:
        # Without a score nothing is known of the other rows.
        assert found.startswith("cut")
        assert ("trained on other rows" in found) == (name != "cross_val_predict")


@pytest.mark.parametrize("name", halving(WHOLE))
def test_helpers_that_take_rows_out_of_whole_queries(name):
    """No query is on both sides: the score is honest, of rankers of parts of queries."""
    found = outcome(halving(WHOLE)[name], routing=True)
    expected = {
        "HalvingRandomSearchCV": "refused: ValueError: \nAll the",
        "learning_curve, incremental": "refused: QuerySetupError",
    }
    assert found.startswith(expected.get(name, "cut"))


@pytest.mark.parametrize(("helper", "expected"), REFITS.values(), ids=REFITS)
def test_helpers_that_refit(helper, expected):
    assert outcome(helper, routing=True).startswith(expected)


@for_each("name", [*searches(WHOLE), *halving(WHOLE), *REFITS])
def test_without_routing_nothing_is_lost_in_silence(name):
    refits = {name: helper for name, (helper, _) in REFITS.items()}
    helpers = {**searches(WHOLE), **halving(WHOLE), **refits}
    found = outcome(helpers[name], routing=False)
    # All scores of a validation curve are NaN then, without a word of scikit-learn.
    assert found.startswith(("refused", "not fitted")) or "SingleListWarning" in found


# --------------------------------------------------------------------------------- the user's own


@pytest.mark.parametrize(
    "part",
    [
        lambda: model_selection.train_test_split(X, y, qid, random_state=0),
        lambda: [a for b in (X, y, qid) for a in (resample(b, random_state=0), b)],
    ],
    ids=["train_test_split", "resample"],
)
def test_what_the_user_cut_is_seen_in_the_score(part):
    X_train, X_test, y_train, y_test, qid_train, qid_test = part()
    ranker = OrderPreservingRanker(alpha=0.1).fit(X_train, y_train, qid=qid_train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.UndefinedMetricWarning)
        with pytest.raises(QuerySetupError, match="trained on other rows"):
            ranker.score(X_test, y_test, qid=qid_test)
    parts = query_train_test_split(X, y, qid=qid, random_state=0)
    ranker.fit(parts[0], parts[2], qid=parts[4]).score(parts[1], parts[3], qid=parts[5])


# --------------------------------------------------------------------------------------- recipes


def test_recipe_rfecv(routing):
    ranker = Counting(alpha=0.1).set_fit_request(qid=True)
    rfe = feature_selection.RFECV(ranker, cv=WHOLE, scoring=NDCG, min_features_to_select=1)
    found = outcome(lambda _: rfe.fit(X, y, groups=qid, qid=qid), routing=True)
    assert found == "whole"
    assert rfe.support_[0]
    scores = rfe.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()


def test_recipe_permutation_importance(routing):
    """Scikit-learn's hands no ids to scorers: a function has them, of the very rows of X."""
    pipe = make_pipeline(StandardScaler(), OrderPreservingRanker(alpha=0.1))
    pipe.fit(X, y, groups=qid)
    for scoring in (None, NDCG):
        with pytest.raises(ScorerSetupError, match=r"got no qid.*scoring=functools\.partial"):
            inspection.permutation_importance(pipe, X, y, scoring=scoring)
    found = inspection.permutation_importance(
        pipe, X, y, scoring=partial(NDCG, qid=qid), random_state=0
    )
    assert found.importances_mean.argmax() == 0
    assert found.importances_mean[0] > 0.1


@pytest.mark.parametrize(
    ("ranker", "on"),
    [
        (RankEnsemble([("a", OrderPreservingRanker())]), True),
        (OrderPreservingRanker(normalize="zscore"), False),
    ],
)
def test_recipe_predictions_that_need_ids(ranker, on):
    """What the message says in place of cross_val_predict."""
    given = {"params": {"groups": qid}} if on else {"params": {"qid": qid}, "groups": qid}
    with (
        sklearn.config_context(enable_metadata_routing=on),
        pytest.raises(ValueError, match=r"QueryKFold\(\)\.split\(X, y, qid\) fit to train"),
    ):
        model_selection.cross_val_predict(ranker, X, y, cv=WHOLE, **given)
    scores = np.empty(len(y))
    for train, test in QueryKFold().split(X, y, qid):
        ranker.fit(X[train], y[train], qid=qid[train])
        scores[test] = ranker.predict(X[test], qid=qid[test])
    assert metrics.get_measure("ndcg@3")(y, scores, qid=qid) > 0.5
