"""Structural support vector machines: the problem, its certificate, thresholds, paths over C."""

import pickle
import re

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import RankSVM, StructuralRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import SmallTopWarning, ZeroSolutionWarning
from sklearn_rank.metrics import (
    get_measure,
    precision_at_k_score,
    precision_at_top_score,
    roc_auc_score,
)
from tests.naming import shown
from tests.oracles import labellings

MEASURES = ["auc", "precision@10", "precision@top0.2", "recall@15", "r_precision", "ap", "f1"]
WHOLE = ["auc", "r_precision", "ap", "f1"]
every_measure = pytest.mark.parametrize("measure", MEASURES)


def data(n=60, seed=0, d=5):
    return make_classification(n, d, n_informative=3, weights=[0.6], random_state=seed)


def minimum(X, y, C, risk):
    """Value of the problem by cvxpy, given the slack as an expression of the scores."""
    w = cp.Variable(X.shape[1])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * risk(X @ w, y == 1)))
    return problem.solve(solver="CLARABEL"), w.value


def pairs(scores, positive):
    high, low = np.flatnonzero(positive), np.flatnonzero(~positive)
    one, other = (part.ravel() for part in np.meshgrid(high, low, indexing="ij"))
    return cp.sum(cp.pos(1 - scores[one] + scores[other])) / len(one)


def top(scores, positive, k, best=False):
    high, low = np.flatnonzero(positive), np.flatnonzero(~positive)
    if best:
        true = cp.sum(scores[high]) * (k / len(high))
    else:
        true = cp.sum(scores[high]) + cp.sum(scores[low]) * ((k - len(high)) / len(low))
    return cp.pos((cp.sum_largest(scores + ~positive, k) - true) / k)


@pytest.mark.parametrize(("C", "share"), [(0.01, 0.5), (1.0, 0.0), (1.0, 0.5), (100.0, 0.2)])
@pytest.mark.parametrize(
    ("measure", "risk", "reference"),
    [
        ("auc", pairs, "labels"),
        ("precision@10", lambda s, p: top(s, p, 10), "labels"),
        ("precision@10", lambda s, p: top(s, p, 10, best=True), "best"),
        ("r_precision", lambda s, p: top(s, p, int(p.sum())), "labels"),
        ("precision@top0.2", lambda s, p: top(s, p, 12), "labels"),
    ],
)
def test_the_problem_is_that_of_the_definition(measure, risk, reference, C, share):
    X, y = data()
    X += 3.0

    def mixed(scores, positive):
        return (1 - share) * risk(scores, positive) + share * pairs(scores, positive)

    expected, coef = minimum(X, y, C, mixed)
    ranker = StructuralRanker(measure, C=C, reference=reference, auc_share=share, tol=1e-9)
    fitted = ranker.fit(X, y)
    assert fitted.lower_bound_ <= expected * (1 + 1e-7)
    assert fitted.objective_ == pytest.approx(expected, rel=1e-6)
    # As close as the accuracy of the other solver makes it.
    np.testing.assert_allclose(fitted.coef_[0], coef, atol=0.02 * np.abs(coef).max())


@pytest.mark.parametrize("measure", ["ap", "f1"])
def test_all_labellings_at_once(measure):
    """On six rows all constraints can be written down."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(6, 2)), np.array([0, 1, 0, 1, 0, 0])
    positive = (y == 1).tolist()
    oracle = labellings.average_precision if measure == "ap" else labellings.f1
    rows = np.column_stack([X, np.ones(6)]) if measure == "f1" else X
    fitted = StructuralRanker(measure, C=5.0, auc_share=0.0, tol=1e-10).fit(X, y)
    coef = fitted.coef_[0]
    if measure == "f1":
        coef = np.append(coef, fitted.constant_)

    def objective(w):
        return w @ w / 2 + 5.0 * oracle(positive, (rows @ w).tolist())

    assert fitted.objective_ == pytest.approx(objective(coef), rel=1e-12)
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            near = coef + scale * rng.normal(size=len(coef))
            assert objective(near) >= fitted.lower_bound_ * (1 - 1e-12)
            assert objective(near) >= fitted.objective_ * (1 - 1e-9)


def test_auc_is_the_hinge_of_pairs_of_the_ranking_svm():
    X, y = data(200)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) / 2
    for sample_weight in (None, weight):
        ones = np.ones(len(y)) if sample_weight is None else sample_weight
        n_pairs = ones[y == 1].sum() * ones[y == 0].sum()
        one = StructuralRanker("auc", C=50.0, tol=1e-9).fit(X, y, sample_weight)
        other = RankSVM(C=50.0 / n_pairs, tol=1e-8).fit(
            X, y, qid=np.zeros(len(y)), sample_weight=sample_weight
        )
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
        np.testing.assert_allclose(one.coef_[0], other.coef_, rtol=1e-3, atol=1e-4)


@every_measure
def test_a_small_cost_still_learns(measure):
    """The objective is then within tol of that at 0, whatever the weights."""
    X, y = load_ionosphere(return_X_y=True)
    X = X - X.mean(axis=0)
    loose = StructuralRanker(measure, C=1e-5).fit(X, y).coef_[0]
    exact = StructuralRanker(measure, C=1e-5, tol=1e-9).fit(X, y).coef_[0]
    assert loose @ exact > 0.95 * np.linalg.norm(loose) * np.linalg.norm(exact)


@every_measure
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
def test_every_fit_ends_with_its_certificate(measure, C):
    X, y = load_ionosphere(return_X_y=True)
    fitted = StructuralRanker(measure, C=C).fit(X - X.mean(axis=0), y)
    assert fitted.converged_
    assert 0 <= fitted.dual_gap_ <= fitted.tol
    assert fitted.lower_bound_ <= fitted.objective_ <= C * 1.1
    assert fitted.coef_.any()


# The top of a share of whole-number weights is rounded.
@pytest.mark.parametrize("measure", [one for one in MEASURES if "top" not in one])
def test_weights_that_are_parts_of_rows(measure):
    X, y = data()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    ranker = StructuralRanker(measure, tol=1e-9)
    whole = clone(ranker).fit(X, y, weight)
    rows, halves = np.repeat(np.arange(len(y)), 2), np.repeat(weight / 2, 2)
    if measure in ("ap", "f1"):
        with pytest.raises(ValueError, match="needs whole sample_weight, which is"):
            clone(ranker).fit(X[rows], y[rows], halves)
        return
    parts = clone(ranker).fit(X[rows], y[rows], halves)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-6)


def test_the_message_on_weights_names_the_row():
    X, y = data()
    weight = np.ones(len(y))
    weight[0], weight[7] = 0.0, 1.5
    with pytest.raises(ValueError, match=r"is 1\.5 in row 7: pass whole numbers of repetitions"):
        StructuralRanker("ap").fit(X, y, weight)


# ------------------------------------------------------------------------------------- thresholds


@pytest.mark.parametrize(("measure", "k"), [("precision@10", 10), ("recall@15", 15)])
def test_the_threshold_of_the_top_is_below_its_last_row(measure, k):
    X, y = data()
    fitted = StructuralRanker(measure).fit(X, y)
    assert fitted.predict(X).sum() == k
    ordered = np.sort(X @ fitted.coef_[0])[::-1]
    assert fitted.threshold_ == pytest.approx((ordered[k - 1] + ordered[k]) / 2)


def test_the_threshold_of_the_break_even_point_predicts_as_many_positives_as_there_are():
    X, y = data()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    fitted = StructuralRanker("r_precision").fit(X, y)
    assert fitted.predict(X).sum() == y.sum()
    weighted = StructuralRanker("r_precision").fit(X, y, weight)
    predicted = weight[weighted.predict(X) == 1].sum()
    assert abs(predicted - weight[y == 1].sum()) <= 1


def test_f1_learns_a_constant():
    X, y = data(300)
    fitted = StructuralRanker("f1", C=100.0).fit(X, y)
    predicted = X @ fitted.coef_[0] + fitted.constant_ > 0
    # All rows positive are 0.57.
    assert 2 * (predicted & y).sum() / (predicted.sum() + y.sum()) > 0.63
    assert abs(fitted.constant_) > 0.01
    assert not hasattr(fitted.set_params(measure="auc").fit(X, y), "constant_")


# -------------------------------------------------------------------------------------- measures


@pytest.mark.parametrize(
    "measure",
    [
        get_measure("auc"),
        get_measure("ap"),
        get_measure("precision@10"),
        get_measure("precision@10", undefined=0.0),
    ],
    ids=shown,
)
def test_measures_may_be_objects(measure):
    X, y = data()
    one = StructuralRanker(measure).fit(X, y)
    two = StructuralRanker(measure.in_grammar()[0]).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    "measure",
    [
        "ndcg@10",
        "ap@10",
        "f1@10",
        "pnorm@4",
        "precision@10(rel>=2)",
        get_measure("auc", multi_class="ovr"),
        get_measure("precision@10", convention="trec_eval"),
        get_measure("ap", normalize="found"),
        precision_at_k_score,
    ],
    ids=shown,
)
def test_other_measures_are_refused_with_a_list_of_what_is_possible(measure):
    X, y = data(30)
    if callable(measure) and not hasattr(measure, "in_grammar"):
        with pytest.raises(TypeError, match="needs k"):
            StructuralRanker(measure).fit(X, y)
        return
    with pytest.raises(
        ValueError, match=r"is not supported by StructuralRanker: .*'r_precision'.*'f1'"
    ):
        StructuralRanker(measure).fit(X, y)


def test_names_that_are_close():
    X, y = data(30)
    with pytest.raises(ValueError, match="pass measure='r_precision'"):
        StructuralRanker("prbep").fit(X, y)
    with pytest.raises(ValueError, match="is not the name of a measure"):
        StructuralRanker("AUC-ROC").fit(X, y)


@pytest.mark.parametrize("measure", ["precision@30", "recall@31", "precision@top0.99"])
def test_a_top_of_all_rows_is_refused(measure):
    X, y = data(30)
    with pytest.raises(ValueError, match="pass a smaller top"):
        StructuralRanker(measure).fit(X, y)


def test_a_top_of_less_than_one_row_warns():
    X, y = data(30)
    with pytest.warns(SmallTopWarning, match="less than one"):
        fitted = StructuralRanker("precision@top0.01").fit(X - X.mean(axis=0), y)
    assert fitted.predict(X).any()


def test_recall_is_precision_with_another_cost():
    """Away from a slack of 0."""
    X, y = data()
    n_pos = y.sum()
    recall = StructuralRanker("recall@10", C=0.1, tol=1e-9, reference="best", auc_share=0.0)
    recall.fit(X, y)
    precision = clone(recall).set_params(measure="precision@10", C=0.1 * 10 / n_pos).fit(X, y)
    np.testing.assert_allclose(recall.coef_, precision.coef_, atol=1e-6)


# ------------------------------------------------------------------------------ solutions of zero


def test_zero_is_the_solution_where_the_mean_of_the_positives_is_one_of_negatives():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), (np.arange(400) % 10 == 0).astype(int)
    ranker = StructuralRanker("precision@10", reference="best", auc_share=0.0, C=100.0)
    with pytest.warns(ZeroSolutionWarning, match="raise auc_share, standardise"):
        fitted = clone(ranker).fit(X, y)
    assert not fitted.coef_.any()
    assert fitted.converged_
    # The condition, as a linear programme: shares of at most 1/k whose mean is that of the others.
    b = cp.Variable((y == 0).sum(), nonneg=True)
    feasible = [cp.sum(b) == 1, b <= 0.1, X[y == 0].T @ b == X[y == 1].mean(axis=0)]
    assert cp.Problem(cp.Minimize(0), feasible).solve() == 0
    apart = X + 3.0 * y[:, np.newaxis]
    assert ranker.fit(apart, y).coef_.any()


def test_a_solution_of_zero_is_not_what_rounding_leaves():
    """Weights of 1e-17 order rows, and said nothing."""
    X, y = make_classification(
        2000, 18, n_informative=4, n_redundant=14, weights=[0.97], flip_y=0.002, random_state=1
    )
    with pytest.warns(ZeroSolutionWarning, match="raise auc_share"):
        fitted = StructuralRanker("r_precision", auc_share=0.0).fit(X, y)
    assert not fitted.coef_.any()
    small = StructuralRanker("r_precision").fit(1e-9 * X, y)
    assert roc_auc_score(y, small.decision_function(1e-9 * X)) > 0.7


@pytest.mark.parametrize("reference", ["labels", "best"])
def test_a_number_added_to_the_features(reference):
    for measure in ("precision@10", "recall@40", "r_precision"):
        X, y = data()
        ranker = StructuralRanker(measure, reference=reference, tol=1e-8)
        np.testing.assert_allclose(
            clone(ranker).fit(X + 10.0, y).coef_, clone(ranker).fit(X, y).coef_, atol=1e-5
        )


@pytest.mark.parametrize(
    ("measure", "scaled"), [("precision@top0.05", False), ("recall@50", True), (WHOLE[0], False)]
)
def test_no_default_ranks_backwards(measure, scaled):
    """Held-out AUC and precision in the top 5 % of sets whose means are far from 0."""
    sets = [load_breast_cancer(return_X_y=True), load_ionosphere(return_X_y=True)]
    X, digit = load_digits(return_X_y=True)
    sets += [(X, (digit == 8).astype(int)), (X, (digit != 8).astype(int))]
    for X, y in sets:
        X = StandardScaler().fit_transform(X) if scaled else X
        fitted = StructuralRanker(measure, tol=1e-3).fit(X[::2], y[::2])
        scores = fitted.decision_function(X[1::2])
        assert roc_auc_score(y[1::2], scores) > 0.7
        logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        other = logistic.fit(X[::2], y[::2]).decision_function(X[1::2])
        top = [precision_at_top_score(y[1::2], s, tau=0.05) for s in (scores, other)]
        assert top[0] >= top[1] - 0.1


# ----------------------------------------------------------------------------------- paths over C


@every_measure
def test_planes_of_another_cost(measure):
    X, y = load_ionosphere(return_X_y=True)
    X = X - X.mean(axis=0)
    path = StructuralRanker(measure, warm_start=True, tol=1e-6)
    warm = cold = 0
    for C in (0.1, 1.0, 3.0, 1.0):
        path.set_params(C=C).fit(X, y)
        alone = StructuralRanker(measure, C=C, tol=1e-6).fit(X, y)
        assert path.objective_ == pytest.approx(alone.objective_, rel=2e-6)
        assert path.converged_
        warm, cold = warm + path.n_iter_, cold + alone.n_iter_
    assert warm < cold


@pytest.mark.parametrize(
    "change", ["X", "y", "weight", "measure", "reference", "auc_share", "kernel"]
)
def test_planes_of_other_data_are_not_used(change):
    X, y = data()
    weight = np.ones(len(y))
    path = StructuralRanker("precision@10", warm_start=True).fit(X, y, weight)
    if change == "X":
        X = X.copy()
        X[[0, 1]] = X[[1, 0]]
        X[5, 2] = np.nextafter(X[5, 2], 9)
    elif change == "y":
        y = 1 - y
    elif change == "weight":
        weight[3] = 2.0
    elif change == "measure":
        path.set_params(measure="precision@11")
    elif change == "reference":
        path.set_params(reference="labels")
    elif change == "auc_share":
        path.set_params(auc_share=0.4)
    else:
        path.set_params(kernel="rbf")
    path.fit(X, y, weight)
    alone = clone(path).fit(X, y, weight)
    assert path.n_iter_ == alone.n_iter_
    np.testing.assert_array_equal(path.decision_function(X), alone.decision_function(X))


def test_warm_starts_with_sparse_rows_and_after_pickling():
    X, y = data()
    X = sp.csr_array(X * (np.abs(X) > 0.5))
    path = StructuralRanker(warm_start=True, C=10.0).fit(X, y)
    first = path.n_iter_
    again = pickle.loads(pickle.dumps(path)).fit(X, y)
    assert again.n_iter_ < first
    other = X.copy()
    other.data[0] += 1e-3
    assert path.fit(other, y).n_iter_ == clone(path).fit(other, y).n_iter_


def test_planes_are_forgotten_without_warm_start():
    X, y = data()
    path = StructuralRanker(warm_start=True, C=10.0).fit(X, y)
    n_iter = path.n_iter_
    path.set_params(warm_start=False).fit(X, y)
    assert path.n_iter_ == n_iter
    path.set_params(warm_start=True).fit(X, y)
    assert path.n_iter_ == n_iter


def test_an_interrupted_fit_leaves_planes_and_attributes(monkeypatch):
    X, y = data(200)
    path = StructuralRanker("ap", warm_start=True).fit(X, y)
    before = path.coef_.copy()
    fresh = pickle.loads(pickle.dumps(path)).set_params(C=30.0).fit(X, y)
    calls = []

    def interrupted(*_):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("sklearn_rank.rankers._base.FitProgress.iteration", interrupted)
    with pytest.raises(KeyboardInterrupt):
        path.set_params(C=30.0).fit(X, y)
    monkeypatch.undo()
    np.testing.assert_array_equal(path.coef_, before)
    np.testing.assert_array_equal(path.fit(X, y).coef_, fresh.coef_)


@every_measure
def test_a_linear_kernel_is_no_kernel(measure):
    X, y = data()
    plain = StructuralRanker(measure, tol=1e-9).fit(X, y)
    kernel = StructuralRanker(measure, tol=1e-9, kernel="precomputed").fit(X @ X.T, y)
    np.testing.assert_allclose(
        kernel.decision_function(X @ X.T) + kernel.threshold_,
        plain.decision_function(X) + plain.threshold_,
        atol=1e-5,
    )


def test_progress_on_request(capsys):
    X, y = data()
    StructuralRanker(verbose=1).fit(X, y)
    assert re.match(r"iteration 1: objective \S+, relative duality gap", capsys.readouterr().err)
