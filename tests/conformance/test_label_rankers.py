"""What holds for every ranker of labels: forms of orders, rows, weights, columns, and tools."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from sklearn_rank.metrics import get_measure, rank_positions
from tests.catalogue import LABEL_CLASSES, LABEL_RANKERS
from tests.naming import for_each, shown

every_ranker = for_each("ranker", LABEL_RANKERS)
every_class = pytest.mark.parametrize("ranker", LABEL_CLASSES, ids=shown)


def data(n=40, n_labels=4, seed=0):
    """Rows and grades 0 to n_labels - 1, all different in a row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    utility = X @ rng.normal(size=(3, n_labels)) + rng.normal(size=(n, n_labels))
    return X, np.argsort(np.argsort(utility, axis=1), axis=1).astype(np.float64)


def with_gaps(grades, seed=1):
    """Some labels missing, two in each row at least."""
    rng = np.random.default_rng(seed)
    gaps = rng.random(grades.shape) < 0.4
    gaps[:, :2] = False
    return np.where(rng.permuted(gaps, axis=1), np.nan, grades)


def strict(ranker, **parameters):
    """The ranker to more digits, where there are more."""
    parameters["tol"] = 1e-8 if "lbfgs" in repr(ranker) else 1e-10
    return clone(ranker).set_params(**parameters)


def of_utilities(ranker):
    return strict(ranker, target_type="utilities")


def near(one, two):
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-6 * max(1.0, np.abs(two).max()))


def fitted_attributes(estimator):
    return {name: repr(v) for name, v in vars(estimator).items() if name.endswith("_")}


# -------------------------------------------------------------------------------- the estimator


@every_ranker
def test_predict_rank_and_score(ranker):
    X, y = data()
    fitted = of_utilities(ranker).fit(X, y)
    scores = fitted.predict(X)
    assert scores.shape == y.shape
    assert scores.dtype == np.float64
    assert not is_classifier(fitted)
    assert not is_regressor(fitted)
    np.testing.assert_array_equal(fitted.decision_function(X), scores)
    np.testing.assert_array_equal(fitted.rank(X)[0], rank_positions(scores[0]))
    measure = get_measure(ranker.measure)
    rows = np.repeat(np.arange(len(y)), y.shape[1])
    expected = measure(y.ravel(), scores.ravel(), qid=rows)
    assert fitted.score(X, y) == pytest.approx(expected, abs=1e-12)
    assert fitted.score(X, y) > of_utilities(ranker).fit(-X, y).score(X, y)
    np.testing.assert_array_equal(fitted.labels_, np.arange(4))
    assert (fitted.n_labels_, fitted.n_features_in_) == (4, 3)
    assert fitted.target_type_ == "utilities"


# ------------------------------------------------------------------------- rows, weights, labels


@every_ranker
def test_the_order_of_rows_does_not_matter(ranker):
    X, y = data()
    rows = np.random.default_rng(2).permutation(len(X))
    near(
        of_utilities(ranker).fit(X[rows], y[rows]).predict(X),
        of_utilities(ranker).fit(X, y).predict(X),
    )


@every_ranker
def test_the_order_of_labels_does_not_matter(ranker):
    X, y = data()
    y = with_gaps(y)
    columns = [2, 0, 3, 1]
    one, two = of_utilities(ranker).fit(X, y), of_utilities(ranker).fit(X, y[:, columns])
    near(two.predict(X), one.predict(X)[:, columns])


@every_ranker
def test_weights_are_repetitions(ranker):
    X, y = data()
    y = with_gaps(y)
    weight = np.random.default_rng(3).integers(0, 3, len(X))
    weighted = of_utilities(ranker).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(X)), weight)
    near(weighted.predict(X), of_utilities(ranker).fit(X[rows], y[rows]).predict(X))
    assert weighted.score(X, y, weight) == pytest.approx(weighted.score(X[rows], y[rows]))


@every_class
def test_all_forms_of_an_order_are_one(ranker):
    X, y = data()
    expected = of_utilities(ranker).fit(X, y).predict(X)
    forms = {
        "positions": (4 - y).astype(int),
        "orders": [">".join("abcd"[j] for j in np.argsort(-row)) for row in y],
        "utilities": y,
    }
    for target_type, form in forms.items():
        fitted = strict(ranker, target_type=target_type).fit(X, form)
        near(fitted.predict(X), expected)
        assert fitted.score(X, form) == pytest.approx(of_utilities(ranker).fit(X, y).score(X, y))
    sequences = [[list("abcd")[j] for j in np.argsort(-row)] for row in y]
    near(strict(ranker, target_type="orders").fit(X, sequences).predict(X), expected)


@every_class
def test_columns_of_a_frame_are_labels(ranker):
    X, y = data()
    frame = pd.DataFrame(y, columns=list("abcd"))
    fitted = of_utilities(ranker).fit(X, frame)
    np.testing.assert_array_equal(fitted.labels_, list("abcd"))
    assert fitted.score(X, frame[["d", "b", "a", "c"]]) == fitted.score(X, frame)
    near(
        of_utilities(ranker).fit(X, pl.DataFrame(frame.to_dict("list"))).predict(X),
        fitted.predict(X),
    )
    with pytest.raises(ValueError, match="no column 'd'"):
        fitted.score(X, frame.rename(columns={"d": "e"}))
    with pytest.raises(ValueError, match="3 columns, but there are 4 labels"):
        fitted.score(X, y[:, :3])


@every_ranker
def test_sparse_rows_are_as_dense_ones(ranker):
    assert get_tags(of_utilities(ranker)).input_tags.sparse
    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    expected = of_utilities(ranker).fit(X, y).predict(X)
    for container in (sp.csr_matrix, sp.csc_array, sp.coo_matrix):
        fitted = of_utilities(ranker).fit(container(X), y)
        assert fitted.predict(container(X)).shape == y.shape
        near(fitted.predict(container(X)), expected)


@every_ranker
def test_classes_and_indicators(ranker):
    X, y = data()
    top = np.argmax(y, axis=1)
    indicator = np.zeros_like(y)
    indicator[np.arange(len(y)), top] = 1
    of_classes = strict(ranker).fit(X, np.array(list("abcd"))[top])
    np.testing.assert_array_equal(of_classes.labels_, list("abcd"))
    assert of_classes.target_type_ == "classes"
    near(strict(ranker).fit(X, indicator).predict(X), of_classes.predict(X))
    near(strict(ranker).fit(X, sp.csr_array(indicator)).predict(X), of_classes.predict(X))


# ------------------------------------------------------------------------------------ bad input


@every_class
@pytest.mark.parametrize(
    ("target_type", "change", "match"),
    [
        (
            "orders",
            lambda y: ["a>b>a", *["a>b"] * (len(y) - 1)],
            "row 0, which has the label 'a' twice",
        ),
        ("positions", lambda y: np.where(y == 3, 9, y + 1), r"in row 0"),
        ("positions", lambda y: y, "begin with 1 .the top.: add 1"),
        ("utilities", lambda y: y[:, :1], "one label only"),
        ("utilities", lambda y: np.where(y == 3, np.inf, y), "infinite at row 0"),
        ("utilities", lambda y: np.zeros_like(y), "No row of y has a label of positive utility"),
        ("auto", lambda y: y + 1, "target_type='positions' or"),
        ("utilities", lambda y: y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_bad_orders_are_refused_and_leave_a_fit_as_it_was(ranker, target_type, change, match):
    X, y = data()
    fitted = of_utilities(ranker).fit(X, y)
    before = fitted_attributes(fitted)
    with pytest.raises(ValueError, match=match):
        fitted.set_params(target_type=target_type).fit(X, change(y))
    assert fitted_attributes(fitted) == before


@every_ranker
def test_rows_without_labels_are_left_out_as_those_of_one_label(ranker):
    X, y = data()
    weight = np.ones(len(y))
    weight[[0, 5]] = 0.0
    expected = of_utilities(ranker).fit(X, y, sample_weight=weight)
    score = expected.score(X, y, sample_weight=weight)
    y[0], y[5] = np.nan, np.nan
    found = of_utilities(ranker).fit(X, y)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-6)
    assert expected.score(X, y) == pytest.approx(score)


@every_class
def test_bad_rows_are_named_by_their_number_among_all(ranker):
    X, y = data()
    y[5] = np.inf
    weight = np.ones(len(y))
    weight[:3] = 0.0
    with pytest.raises(ValueError, match="infinite at row 5"):
        of_utilities(ranker).fit(X, y, sample_weight=weight)
    weight[5] = 0.0
    fitted = of_utilities(ranker).fit(X, y, sample_weight=weight)
    y[7] = np.inf
    with pytest.raises(ValueError, match="infinite at row 7"):
        fitted.score(X, y, sample_weight=weight)


@every_class
def test_bad_rows_and_weights_leave_a_fit_as_it_was(ranker):
    X, y = data()
    fitted = of_utilities(ranker).fit(X, y)
    before = fitted_attributes(fitted)
    wide = np.column_stack((X, X[:, 0]))
    for bad in (np.full_like(wide, np.inf), wide[:-1]):
        with pytest.raises(ValueError, match=r"infinity|inconsistent"):
            fitted.fit(bad, y)
    with pytest.raises(ValueError, match="sample_weight has shape"):
        fitted.fit(wide, y, sample_weight=np.ones_like(y))
    with pytest.raises(ValueError, match="4 features"):
        fitted.predict(wide)
    assert fitted_attributes(fitted) == before


# ---------------------------------------------------------------------------------------- tools


@every_class
@pytest.mark.parametrize("routing", [False, True])
def test_searched_with_its_own_score(ranker, routing):
    X, y = data()
    grid = {"measure": ["tau_b", "spearman"]}
    weight = np.random.default_rng(0).integers(1, 3, len(X)).astype(float)
    with config_context(enable_metadata_routing=routing):
        searched = of_utilities(ranker)
        if routing:
            searched.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(searched, grid, cv=3, error_score="raise")
        search.fit(X, y, sample_weight=weight)
    best = of_utilities(ranker).set_params(**search.best_params_).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.predict(X), best.predict(X))


@every_class
def test_sparse_rows_of_one_class_each_need_a_word(ranker):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    with pytest.raises(ValueError, match=r'X is sparse .* pass target_type="classes"'):
        clone(ranker).fit(sp.csr_array(X), y)
    said = clone(ranker).set_params(target_type="classes")
    dense, sparse = (clone(said).fit(rows, y).predict(rows) for rows in (X, sp.csr_array(X)))
    assert dense.shape == sparse.shape == (60, 3)
    clone(ranker).fit(sp.csr_array(X), np.eye(3)[y])
