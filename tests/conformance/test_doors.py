"""One rule at every door, for every measure: no ids are one list, ids are a mean over queries."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingRanker
from sklearn_rank.exceptions import SingleListWarning
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import Accumulator, get_measure, get_measure_names, get_scorer
from sklearn_rank.metrics._top import AtKMeasure
from sklearn_rank.model_selection import cross_val_compare, cross_val_interval
from tests.catalogue import scores_for
from tests.naming import for_each

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.UndefinedMetricWarning",
    "ignore::sklearn_rank.exceptions.SmallTopWarning",
    "ignore::sklearn_rank.exceptions.QueryOverlapWarning",
    "ignore:The .* for all 12 queries:UserWarning",
)
RNG = np.random.default_rng(3)
N_QUERIES, N_ITEMS = 12, 10
QID = np.repeat(np.arange(N_QUERIES), N_ITEMS)
Y = np.tile([1, 0, 0, 1, 0, 0, 1, 0, 0, 0], N_QUERIES)
SCORE = Y + RNG.normal(size=len(Y))
X = np.column_stack([SCORE, RNG.normal(size=len(Y))])
WAYS = {"no ids": {}, "one id": {"qid": 0}, "ids": {"qid": QID}}
MEASURES = get_measure_names()


class First(RegressorMixin, BaseEstimator):
    """Scores rows by their first feature."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def expected(measure, way):
    """Value of one list, or the mean over lists, each evaluated alone."""
    measure, score = get_measure(measure), scores_for(measure, SCORE)
    if way != "ids":
        return measure(Y, score)
    values = [measure(Y[rows], score[rows]) for rows in np.split(np.arange(len(Y)), N_QUERIES)]
    return np.nanmean(values) if measure.undefined == "skip" else np.mean(values)


def by_scorer(measure, **ids):
    sign = 1 if get_measure(measure).greater_is_better else -1
    with warnings.catch_warnings():
        if not ids:
            warnings.simplefilter("ignore", SingleListWarning)
        columns = scores_for(measure, X)
        return sign * get_scorer(get_measure(measure))(First().fit(X, Y), columns, Y, **ids)


def by_batches(measure, **ids):
    accumulator = Accumulator(measure)
    half = 5 * N_ITEMS
    for rows in (slice(0, half), slice(half, None)):
        part = {name: value if np.ndim(value) == 0 else value[rows] for name, value in ids.items()}
        accumulator.update(Y[rows], scores_for(measure, SCORE)[rows], **part)
    return accumulator.result()


@for_each("measure", MEASURES)
def test_values_of_a_measure_are_the_same_at_every_door(measure):
    score, other = (scores_for(measure, x) for x in X.T)
    for way, ids in WAYS.items():
        value = pytest.approx(expected(measure, way))
        assert get_measure(measure)(Y, score, **ids) == value
        if get_measure(measure).has_direction:
            assert by_scorer(measure, **ids) == value
        if way != "one id":
            # In batches one id is that of the query of an update.
            assert by_batches(measure, **ids) == value
    assert metric_interval(measure, Y, score, qid=QID).estimate == value
    assert compare(measure, Y, {"a": score, "b": other}, qid=QID).values[0] == value


@for_each("measure", [x for x in MEASURES if get_measure(x).has_direction][::4])
def test_a_scorer_without_ids_warns_once_unless_told(measure):
    model, scorer = First().fit(X, Y), get_scorer(get_measure(measure))
    columns = scores_for(measure, X)
    if get_measure(measure).per_query and not isinstance(get_measure(measure), AtKMeasure):
        with pytest.warns(SingleListWarning, match="got no qid and takes all rows as one list"):
            scorer(model, columns, Y)
    told = get_scorer(get_measure(measure), single_list=True)
    for quiet in (told(model, columns, Y), scorer(model, columns, Y, qid=0)):
        assert abs(quiet) == pytest.approx(abs(expected(measure, "no ids")))


@pytest.mark.parametrize("measure", ["ndcg", "precision@3", "auc"])
def test_a_scorer_refuses_what_was_fitted_to_queries(measure):
    ranker = OrderPreservingRanker().fit(X, Y, qid=QID)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), OrderPreservingRanker()).fit(X, Y, groups=QID)
        search = GridSearchCV(OrderPreservingRanker(), {"alpha": [0.1]}, cv=GroupKFold(2))
        search.fit(X, Y, groups=QID)
    for fitted in (ranker, pipe, search):
        with pytest.raises(ValueError, match=r"was fitted to 12 queries, but .* got no qid"):
            get_scorer(measure)(fitted, X, Y)
        assert np.isfinite(get_scorer(measure, single_list=True)(fitted, X, Y))
        assert np.isfinite(get_scorer(measure)(fitted, X, Y, qid=QID))


def test_a_scorer_that_asks_for_ids_refuses_to_go_without():
    with pytest.raises(ValueError, match="asks for 'groups', but got no qid"):
        get_scorer("auc", qid="groups")(First().fit(X, Y), X, Y)


def test_a_search_by_a_measure_of_queries_without_ids_warns():
    with pytest.warns(SingleListWarning):
        values = cross_val_score(LogisticRegression(), X, Y, scoring=get_scorer("ndcg@5"))
    told = get_scorer("ndcg@5", single_list=True)
    assert values.tolist() == cross_val_score(LogisticRegression(), X, Y, scoring=told).tolist()


@pytest.mark.parametrize("measure", ["auc", "precision@3", "ndcg", "pnorm@2"])
def test_ids_are_a_mean_over_queries_in_cross_validation(measure):
    value = expected(measure, "ids")
    options = {"measure": measure, "qid": QID, "cv": 3, "random_state": 0}
    found = cross_val_interval(First(), X, Y, **options)
    assert found.estimate == pytest.approx(value)
    both = cross_val_compare({"a": First(), "b": LogisticRegression()}, X, Y, **options)
    assert both.values[0] == pytest.approx(value)
