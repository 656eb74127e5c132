"""One account of chance: an interval, a comparison, a plan, folds and an accumulator agree."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_rank.inference import _results, compare, metric_interval, sample_size
from sklearn_rank.inference._evidence import check_lists
from sklearn_rank.inference._methods import methods_of, single
from sklearn_rank.inference._moments import ClassMoments
from sklearn_rank.metrics import Accumulator, get_measure, get_measure_names
from sklearn_rank.metrics._shared import ClassInfluence, Groups
from sklearn_rank.model_selection import cross_val_interval
from tests.catalogue import scores_for
from tests.naming import for_each


def methods_by_name(name):
    try:
        return [x for x in methods_of(get_measure(name)).values() if not x.explicit]
    except ValueError:
        return []


# Of each of two values that hold together at .95, without regard to their correlation.
LEVEL = 0.975
# Of a rate that takes more negatives than there are in a query, another one.
MEASURES = [name.replace("fpr0.01", "fpr0.2") for name in get_measure_names()]
OF_LISTS = [name for name in MEASURES if methods_by_name(name)]
OF_GROUPS = [name for name in OF_LISTS if any(x.groups for x in methods_by_name(name))]
# Of queries the values alone depend on the measure.
CASES = {
    "list": OF_LISTS,
    "groups": OF_GROUPS[::4],
    "queries": MEASURES[::9],
    "groups of queries": MEASURES[1::9],
}


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Scores rows by their first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict_proba(self, X):
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])


@pytest.fixture(autouse=True)
def without_correlation(monkeypatch):
    monkeypatch.setattr(_results, "simultaneous_level", lambda *_: LEVEL)


def rows(n=400):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.2).astype(int)
    score, other = np.round(rng.normal(size=n) + 1.2 * y, 1), rng.normal(size=n) + y
    qid = np.arange(n) // 20
    of_rows = {"list": {}, "groups": {"groups": np.arange(n) // 4}, "queries": {"qid": qid}}
    return y, score, other, of_rows | {"groups of queries": {"qid": qid, "groups": qid // 2}}


def agrees(found, low, high, error=None):
    assert (low, high) == pytest.approx((found.low, found.high), rel=1e-12, abs=1e-12)
    if found.standard_error is not None and error is not None and not np.isnan(error):
        assert error == pytest.approx(found.standard_error, rel=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in CASES.items() for name in names]
)
def test_all_doors_agree(kind, name):
    y, score, other, of_rows = rows()
    columns, measure = of_rows[kind], get_measure(name)
    score, other = scores_for(name, score), scores_for(name, other)
    found = metric_interval(name, y, score, level=LEVEL, **columns)
    compared = compare(name, y, {"a": score, "b": other}, random_state=0, **columns)
    if compared.value_limits:
        agrees(found, *compared.value_limits[0], compared.standard_errors[0])
    has_folds = measure.has_influence or "qid" in columns
    if has_folds and not measure.of_amounts:
        X, ids = np.tile(score, 2)[:, None], {}
        for column, values in columns.items():
            ids[column] = np.append(values, values + 1000)
        cv = [(np.arange(400, 800), np.arange(400))]
        labels: dict = {"measure": name, "cv": cv, "level": LEVEL} | ids
        fold = cross_val_interval(FirstColumn(), X, np.tile(y, 2), **labels)
        agrees(found, fold.low, fold.high, fold.standard_error)
    constant = found.standard_error is None
    if has_folds and not constant and ("qid" in columns or not measure.depends_on_length):
        n = 20 if "qid" in columns else 400
        plan = sample_size(name, pilot=(y, score), n=n, level=LEVEL, random_state=0, **columns)
        assert plan.width == pytest.approx(found.width, rel=1e-12)
    if "groups" not in columns:
        accumulator = Accumulator(name).update(y, score, **columns)
        if "qid" in columns or accumulator.table is not None:
            again = metric_interval(accumulator, level=LEVEL)
            agrees(found, again.low, again.high, again.standard_error)


@pytest.mark.parametrize("weights", ["frequency", "sampling"])
@pytest.mark.parametrize("name", ["auc", "ap", "bedroc@20", "precision@top0.05", "lift@0.1"])
def test_weights_agree(name, weights):
    y, score, other, _ = rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    columns = {"sample_weight": weight, "weights": weights}
    found = metric_interval(name, y, score, level=LEVEL, **columns)
    compared = compare(name, y, {"a": score, "b": other}, random_state=0, **columns)
    agrees(found, *compared.value_limits[0], compared.standard_errors[0])
    if weights == "frequency":
        accumulator = Accumulator(name).update(y, score, sample_weight=weight)
        again = metric_interval(accumulator, level=LEVEL, weights=weights)
        repeated = metric_interval(name, *(np.repeat(x, weight.astype(int)) for x in (y, score)))
        agrees(found, again.low, again.high, again.standard_error)
        assert repeated.standard_error == pytest.approx(found.standard_error, rel=1e-12)


@for_each("name", ["auc", "ap", "bedroc@20", "precision@top0.05", "tpr@fpr0.2"])
def test_limits_of_ever_more_rows_meet_at_the_value(name):
    y, score, _, _ = rows()
    (evidence,) = check_lists(get_measure(name), y, [score])
    moments = single(evidence)
    widths = []
    for times in (1, 100, 10**6):
        low, high = moments.resized((times * y.sum(), times * (1 - y).sum())).limits(0.95)
        widths.append(high - low)
    assert (low, high) == pytest.approx((moments.estimate, moments.estimate), abs=4e-3)
    assert widths[0] > 5 * widths[1] > 25 * widths[2] > 0


def test_groups_that_even_out_are_not_certain():
    # The items of a group vary in opposite directions: the sums over groups do not vary.
    values, positive = np.tile([0.2, 0.8], 8), np.arange(16) < 8
    influence = ClassInfluence(0.5, values, positive, ((0.0, 1.0), (0.0, 1.0)), (0.0, 1.0), 0.0)
    low, high = ClassMoments.of(influence, Groups(np.arange(16) // 2, 8)).limits(0.95)
    assert high - low > 0.1
