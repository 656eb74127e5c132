"""What the two rankers of queries minimise, beside loops over the definition."""

import re

import numpy as np
import pytest
import scipy.optimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import OrderPreservingRanker, losses
from sklearn_rank.exceptions import CalibrationWarning, GrownLimitWarning
from sklearn_rank.metrics import get_measure, make_measure, ndcg_score
from tests.oracles import losses as oracles
from tests.oracles.losses import softplus

UNCALIBRATED = pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.CalibrationWarning")
HINGES = pytest.mark.parametrize("loss", [losses.ComparisonHinge, losses.ComparisonSquaredHinge])


def data(seed=0, n_queries=8):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 8, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(qid), 3))
    y = rng.binomial(2, 1 / (1 + np.exp(-X[:, 0])))
    y[np.append(0, np.cumsum(sizes)[:-1])] = 2
    y[np.cumsum(sizes) - 1] = 0
    return X, y, qid


def dcg_utilities(y):
    return 2.0**y - 1


def ndcg_utilities(y):
    gains = np.sort(2.0**y - 1)[::-1]
    return (2.0**y - 1) / np.sum(gains / np.log2(np.arange(2, len(y) + 2)))


CASES = [
    ("pointwise_squared", "dcg", dcg_utilities, oracles.pointwise_squared()),
    ("pointwise_logistic", "ndcg", ndcg_utilities, oracles.pointwise_logistic(1.0)),
    ("pointwise_logistic", "dcg", dcg_utilities, oracles.pointwise_logistic(3.0)),
    ("pairwise_squared", "ndcg", ndcg_utilities, oracles.pairwise_squared()),
    ("pairwise_logistic", "dcg", dcg_utilities, oracles.pairwise(lambda d: softplus(-d))),
    ("softmax", "ndcg", ndcg_utilities, oracles.softmax),
]


@pytest.mark.parametrize(("loss", "measure", "utilities", "oracle"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fit_minimises_the_objective_of_the_docstring(
    loss, measure, utilities, oracle, weighted
):
    X, y, qid = data()
    alpha = 0.7
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0]) if weighted else np.ones(8)

    def objective(parameters):
        w, b = parameters[:3], parameters[3]
        total = 0.0
        for q in range(8):
            rows = qid == q
            total += weight[q] * oracle(list(utilities(y[rows])), list(X[rows] @ w + b))
        return total / weight.sum() + alpha / 2 * w @ w

    ranker = OrderPreservingRanker(loss, measure=measure, alpha=alpha, tol=1e-9)
    ranker.fit(X, y, qid=qid, query_weight=weight[qid] if weighted else None)
    found = np.append(ranker.coef_, ranker.intercept_)
    assert ranker.objective_ == pytest.approx(objective(found), rel=1e-12)
    best = scipy.optimize.minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-7})
    assert ranker.objective_ <= best.fun + 1e-9
    np.testing.assert_allclose(ranker.coef_, best.x[:3], atol=1e-4)


@UNCALIBRATED
@HINGES
@pytest.mark.parametrize("margin", [1.0, 0.4])
def test_hinges_of_pairs_are_minimised_to_their_certificate(loss, margin):
    X, y, qid = data()
    is_hinge = loss is losses.ComparisonHinge
    oracle = (oracles.hinge if is_hinge else oracles.squared_hinge)(margin)

    def objective(w):
        lists = [(list(y[qid == q]), list(X[qid == q] @ w)) for q in range(8)]
        return 0.5 * alpha @ w**2 + np.mean([oracle(*one) for one in lists])

    ranker = OrderPreservingRanker(loss(margin), tol=1e-7).fit(X, y, qid=qid)
    alpha = ranker.alpha_
    assert ranker.intercept_ == 0.0
    assert ranker.objective_ == pytest.approx(objective(ranker.coef_), rel=1e-12)
    best = scipy.optimize.minimize(
        objective, ranker.coef_, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    assert ranker.objective_ <= best.fun * (1 + 2e-7)
    assert ranker.lower_bound_ <= best.fun * (1 + 1e-15)
    if is_hinge:
        assert ranker.dual_gap_ <= 1e-7
        gap = (ranker.objective_ - ranker.lower_bound_) / ranker.objective_
        assert ranker.dual_gap_ == pytest.approx(gap, abs=1e-15)
    else:
        assert ranker.gradient_norm_ <= 1e-7


@UNCALIBRATED
def test_the_hinge_of_pairs_converges_where_a_feature_separates_them():
    X, y, qid = data()
    X = np.column_stack([X, 10.0 * y])
    ranker = OrderPreservingRanker("ranksvm", alpha=1.0, tol=1e-4).fit(X, y, qid=qid)
    assert ranker.converged_
    # The shortest weights by which all pairs differ by the margin, up to the tolerance.
    assert ranker.objective_ == pytest.approx(0.5 * 0.1**2, rel=1e-4)


@UNCALIBRATED
def test_a_fit_keeps_the_certificate_of_its_loss_alone():
    X, y, qid = data()
    ranker = OrderPreservingRanker("comparison_hinge").fit(X, y, qid=qid)
    assert not hasattr(ranker, "gradient_norm_")
    by_gap = ranker.objective_
    ranker.set_params(solver="lbfgs", tol=1e-2).fit(X, y, qid=qid)
    assert not hasattr(ranker, "dual_gap_")
    assert ranker.objective_ == pytest.approx(by_gap, rel=1e-4)


@UNCALIBRATED
def test_without_a_penalty_the_hinge_has_no_bound_but_0():
    X, y, qid = data()
    ranker = OrderPreservingRanker("comparison_hinge", alpha=0.0, max_iter=20)
    with pytest.warns(ConvergenceWarning, match="duality gap is"):
        ranker.fit(X, y, qid=qid)
    assert ranker.lower_bound_ == 0.0
    penalised = OrderPreservingRanker("comparison_hinge", alpha=1e-6).fit(X, y, qid=qid)
    assert ranker.objective_ == pytest.approx(penalised.objective_, rel=1e-3)


@pytest.mark.parametrize("loss", ["pointwise_squared", "pairwise_squared"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_partial_fit_of_squared_losses_is_fit(loss, alpha):
    X, y, qid = data(n_queries=12)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 12)[qid]
    ranker = OrderPreservingRanker(loss, alpha=alpha, tol=1e-11)
    whole = clone(ranker).fit(X, y, qid=qid, query_weight=weight)
    for n_batches in (2, 5):
        parts = clone(ranker)
        for batch in np.array_split(rng.permutation(12), n_batches):
            rows = np.isin(qid, batch)
            parts.partial_fit(X[rows], y[rows], qid=qid[rows], query_weight=weight[rows])
        np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-7)
        assert parts.intercept_ == pytest.approx(whole.intercept_, abs=1e-7)
        assert parts.n_queries_ == whole.n_queries_ == 12
        # A fit forgets them.
        assert not hasattr(parts.fit(X, y, qid=qid), "curvature_")


@pytest.mark.parametrize("loss", ["pairwise_logistic", "pointwise_logistic", "softmax"])
def test_partial_fit_of_other_losses_comes_near(loss):
    X, y, qid = data(n_queries=60)
    whole = OrderPreservingRanker(loss).fit(X, y, qid=qid)
    parts = OrderPreservingRanker(loss)
    for batch in np.array_split(np.arange(60), 6):
        rows = np.isin(qid, batch)
        parts.partial_fit(X[rows], y[rows], qid=qid[rows])
    first = OrderPreservingRanker(loss).fit(X[qid < 10], y[qid < 10], qid=qid[qid < 10])
    error = np.linalg.norm(parts.coef_ - whole.coef_)
    assert error < 0.05 * np.linalg.norm(whole.coef_)
    assert error < 0.5 * np.linalg.norm(first.coef_ - whole.coef_)


def test_partial_fit_refuses_what_does_not_go_on():
    X, y, qid = data()
    ranker = OrderPreservingRanker("pointwise_logistic", measure="dcg", eta=1.0)
    ranker.partial_fit(X, np.minimum(y, 1), qid=qid)
    before = ranker.coef_.copy()
    with pytest.raises(ValueError, match="utility is 3 at row 0"):
        ranker.partial_fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="features"):
        ranker.partial_fit(X[:, :2], y, qid=qid)
    np.testing.assert_array_equal(ranker.coef_, before)
    assert ranker.n_queries_ == 8
    no_hessian = losses.ListwiseBregman(lambda u: u @ u / 2, lambda u: u, lambda s: s, mu=1.0)
    with pytest.raises(ValueError, match="partial_fit needs Hessian products"):
        OrderPreservingRanker(no_hessian).partial_fit(X, y, qid=qid)


LIMITED = [name for name in losses.get_loss_names() if hasattr(losses.get_loss(name), "eta")]


@pytest.mark.parametrize("loss", LIMITED)
def test_batches_with_one_limit_come_near_to_one_fit(loss):
    X, y, qid = data(n_queries=60)
    y = np.where(qid < 20, np.minimum(y, 1), y)
    ranker = OrderPreservingRanker(loss, measure="dcg", eta=3.0, alpha=0.1)
    whole, parts = clone(ranker).fit(X, y, qid=qid), clone(ranker)
    for start in (0, 20, 40):
        rows = (qid >= start) & (qid < start + 20)
        parts.partial_fit(X[rows], y[rows], qid=qid[rows])
        assert parts.loss_.eta == 3.0
    error = np.linalg.norm(parts.coef_ - whole.coef_)
    assert error < 0.05 * np.linalg.norm(whole.coef_)
    with pytest.raises(ValueError, match=r"utility is 3 .*raise eta"):
        clone(ranker).set_params(eta=2.0).partial_fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="eta=2 applies only to losses given by name"):
        OrderPreservingRanker(losses.PointwiseLogistic(eta=3.0), eta=2.0).fit(X, y, qid=qid)


def test_a_limit_that_grows_is_told_and_makes_a_mixture():
    X, y, qid = data(n_queries=60)
    early = qid < 30
    y = np.where(early, np.minimum(y, 1), y)
    ranker = OrderPreservingRanker("pointwise_logistic", measure="dcg", alpha=0.1, tol=1e-10)
    ranker.partial_fit(X[early], y[early], qid=qid[early])
    first = np.append(ranker.coef_, ranker.intercept_)
    curvature = ranker.curvature_.copy()
    with pytest.warns(GrownLimitWarning, match="utility 3, greater than the limit 1 .*Pass eta="):
        ranker.partial_fit(X[~early], y[~early], qid=qid[~early])
    assert ranker.loss_.eta == 3.0

    def gradient(parameters, rows, limit):
        utility = 2.0 ** y[rows] - 1
        design = np.column_stack((X[rows], np.ones(rows.sum())))
        chance = 1 / (1 + np.exp(-design @ parameters))
        return design.T @ (limit * chance - utility)

    found = np.append(ranker.coef_, ranker.intercept_)
    total = gradient(first, early, 1.0) + curvature @ (found - first)
    total += gradient(found, ~early, 3.0) + 60 * 0.1 * np.append(ranker.coef_, 0.0)
    np.testing.assert_allclose(total, 0, atol=1e-6)


def test_partial_fit_refuses_another_intercept():
    X, y, qid = data()
    ranker = OrderPreservingRanker("pointwise_squared", measure="dcg", fit_intercept=False)
    ranker.partial_fit(X, y, qid=qid)
    before = ranker.coef_.copy()
    message = "fit_intercept=True differs from the value for earlier batches: reset it"
    with pytest.raises(ValueError, match=message):
        ranker.set_params(fit_intercept=True).partial_fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.coef_, before)
    ranker.set_params(fit_intercept=False).partial_fit(X, y, qid=qid)
    assert ranker.n_queries_ == 16


def test_a_divergence_without_second_derivatives_is_minimised_by_lbfgs():
    X, y, qid = data()
    half = losses.ListwiseBregman(lambda u: u @ u / 2, lambda u: u, lambda s: s, mu=1.0)
    one = OrderPreservingRanker(half, alpha=1.0, tol=1e-8).fit(X, y, qid=qid)
    two = OrderPreservingRanker("pointwise_squared", alpha=2.0, tol=1e-8).fit(X, y, qid=qid)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="solver='newton-cg' needs Hessian products"):
        OrderPreservingRanker(half, solver="newton-cg").fit(X, y, qid=qid)
    other_link = losses.ListwiseBregman(
        lambda u: u @ u, lambda u: 2 * u, np.sinh, pullback=lambda s, r: 2 * np.cosh(s) * r
    )
    with pytest.raises(ValueError, match="is not convex"):
        OrderPreservingRanker(other_link).fit(X, y, qid=qid)


def test_losses_that_are_not_order_preserving_warn():
    X, y, qid = data()
    with pytest.warns(CalibrationWarning, match="is not order-preserving") as caught:
        OrderPreservingRanker("comparison_logistic").fit(X, y, qid=qid)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("measure", "quantity"), [("ap", "probability of relevance")])
def test_measures_without_a_calibrated_loss_warn(measure, quantity):
    X, y, qid = data()
    with pytest.warns(CalibrationWarning, match=quantity) as caught:
        ranker = OrderPreservingRanker(measure=measure).fit(X, y == 2, qid=qid)
    assert caught[0].filename == __file__
    with pytest.warns(CalibrationWarning, match="are dependent"):
        ranker.score(X, y == 2, qid=qid)


def test_queries_without_a_relevant_row():
    X, y, qid = data()
    y = y * (qid > 1)
    kept = OrderPreservingRanker("pointwise_squared", measure="ndcg@3").fit(X, y, qid=qid)
    assert kept.n_queries_ == 8
    with pytest.raises(ValueError, match="No query has a row of positive utility"):
        OrderPreservingRanker().fit(X, 0 * y, qid=qid)
    left_out = OrderPreservingRanker("pointwise_squared", measure="recall@3")
    left_out.fit(X, y == 2, qid=qid)
    assert left_out.n_queries_ == 6
    rows = qid > 1
    without = clone(left_out).fit(X[rows], y[rows] == 2, qid=qid[rows])
    np.testing.assert_array_equal(left_out.coef_, without.coef_)


def test_the_limit_of_the_utilities_is_that_of_the_measure():
    X, y, qid = data()
    for measure, eta in (("ndcg", 1.0), ("dcg", 3.0), ("spearman", 2.0)):
        ranker = OrderPreservingRanker("pointwise_logistic", measure=measure).fit(X, y, qid=qid)
        assert ranker.loss_.eta == eta
    told = losses.PointwiseLogistic(eta=7.0)
    assert OrderPreservingRanker(told, measure="dcg").fit(X, y, qid=qid).loss_ is not None
    with pytest.raises(ValueError, match=r"utility is 3 .* \[0, 1\]"):
        OrderPreservingRanker(losses.PointwiseLogistic(), measure="dcg").fit(X, y, qid=qid)


@UNCALIBRATED
def test_unfinished_fits_warn_with_what_they_reached():
    X, y, qid = data()
    with pytest.warns(ConvergenceWarning, match="did not reach tol=1e-12") as caught:
        ranker = OrderPreservingRanker(tol=1e-12, max_iter=1).fit(X, y, qid=qid)
    assert caught[0].filename == __file__
    assert not ranker.converged_
    assert ranker.gradient_norm_ > 1e-12
    with pytest.warns(ConvergenceWarning, match="duality gap is"):
        OrderPreservingRanker("comparison_hinge", tol=1e-12, max_iter=2).fit(X, y, qid=qid)


@UNCALIBRATED
def test_verbose_writes_to_the_standard_error(capsys):
    X, y, qid = data()
    OrderPreservingRanker(verbose=1).fit(X, y, qid=qid)
    OrderPreservingRanker("comparison_hinge", verbose=1).fit(X, y, qid=qid)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert all(re.fullmatch(r"iteration \d+: objective \S+, .* \S+e-?\+?\d+", x) for x in lines)
    assert lines[0].startswith("iteration 1: objective ")
    assert "gradient norm relative to that at 0" in lines[0]
    assert "relative duality gap" in lines[-1]


def test_parameters_and_measures_that_do_not_exist():
    X, y, qid = data()
    with pytest.raises(ValueError, match="The 'loss' parameter"):
        OrderPreservingRanker("hinge").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="did you mean"):
        OrderPreservingRanker(measure="ncdg").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="defines no utilities of items"):
        OrderPreservingRanker(measure="pos@top").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="3 classes"):
        OrderPreservingRanker(measure="precision@3").fit(X, y, qid=qid)


# ------------------------------------------------------------------- rows, lists and measures


def test_messages_name_the_row_of_the_caller():
    X, y, qid = data()
    y = y.astype(float)
    order = np.random.default_rng(2).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    y[7] = -2.0
    with pytest.raises(ValueError, match=r"^y has the relevance -2 at row 7"):
        OrderPreservingRanker().fit(X, y, qid=qid)
    y[7] = 9.0
    with pytest.raises(ValueError, match=r"^utility is 511 at row 7, but must be in \[0, 4\]"):
        OrderPreservingRanker(losses.PointwiseLogistic(eta=4.0), measure="dcg").fit(X, y, qid=qid)


def test_a_loss_without_second_derivatives_is_minimised_all_the_same():
    X, y, qid = data()
    exponential = {"phi": lambda d: np.exp(-d), "derivative": lambda d: -np.exp(-d)}
    found = OrderPreservingRanker(losses.PairwiseConvex(**exponential), tol=1e-8)
    found.fit(X, y, qid=qid)
    expected = OrderPreservingRanker("pairwise_exponential", tol=1e-8).fit(X, y, qid=qid)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    refused = clone(found).set_params(solver="newton-cg")
    with pytest.raises(ValueError, match="solver='newton-cg' needs Hessian products"):
        refused.fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="partial_fit needs Hessian products"):
        clone(found).partial_fit(X, y, qid=qid)


def graded_gain(y_true, y_score):
    return float(np.sum(y_true[np.argsort(-y_score)][:2]))


GAIN_AT_2 = make_measure(
    graded_gain,
    kind="graded",
    utilities=lambda y: y,
    discounts=lambda n: (np.arange(n) < 2).astype(float),
)


def test_a_measure_of_ones_own_goes_where_a_name_goes():
    X, y, qid = data()
    ranker = OrderPreservingRanker("pointwise_squared", measure=GAIN_AT_2, alpha=1.0, tol=1e-9)
    ranker = clone(ranker)
    ranker.fit(X, y, qid=qid)
    by_loss = np.linalg.lstsq(
        np.vstack((np.column_stack((X, np.ones(len(y)))), 2 * np.eye(4)[:3])),
        np.append(y, np.zeros(3)),
        rcond=None,
    )[0]
    # Squares sum over 8 queries: 1/8 |y - Xw - b|**2 + 1/2 |w|**2 is the least squares above.
    np.testing.assert_allclose(np.append(ranker.coef_, ranker.intercept_), by_loss, atol=1e-6)
    by_hand = np.mean([graded_gain(y[qid == q], ranker.predict(X[qid == q])) for q in range(8)])
    assert ranker.score(X, y, qid=qid) == pytest.approx(by_hand)


def test_a_function_or_an_object_is_the_measure_of_its_name():
    X, y, qid = data()
    by_name = OrderPreservingRanker(measure="ndcg").fit(X, y, qid=qid)
    for measure in (get_measure("ndcg"), ndcg_score):
        other = OrderPreservingRanker(measure=measure).fit(X, y, qid=qid)
        np.testing.assert_array_equal(other.coef_, by_name.coef_)
        assert other.score(X, y, qid=qid) == by_name.score(X, y, qid=qid)
    with pytest.raises(ValueError, match="The 'measure' parameter of OrderPreserving"):
        OrderPreservingRanker(measure=3).fit(X, y, qid=qid)


def test_lists_without_a_value_count_as_the_measure_says():
    X, y, qid = data()
    y = y * (qid > 1)
    left_out = OrderPreservingRanker(measure=get_measure("ndcg", undefined="skip"))
    assert left_out.fit(X, y, qid=qid).n_queries_ == 6
    kept = OrderPreservingRanker(measure=get_measure("recall@3", undefined=0.0))
    assert kept.fit(X, y == 2, qid=qid).n_queries_ == 8
    refused = OrderPreservingRanker(measure=get_measure("ndcg", undefined="raise"))
    with pytest.raises(ValueError, match=r"ndcg is undefined: the list with qid 0 has no item"):
        refused.fit(X, y, qid=qid)
