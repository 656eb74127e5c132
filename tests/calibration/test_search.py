"""The search for counterexamples: what it finds is one, and what it should find it finds."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from sklearn_rank._counterexamples import InnerRisk
from sklearn_rank.calibration import check_calibration
from sklearn_rank.losses import (
    ComparisonHinge,
    ComparisonLogistic,
    ComparisonSquaredHinge,
    ListwiseBregman,
    ListwiseNormalizedSoftmax,
    ListwiseSoftmax,
    PairwiseExponential,
    PairwiseLogistic,
    PairwiseSquared,
    PointwiseDifferentiableHinge,
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSquared,
    PointwiseSquaredHinge,
)
from tests.naming import for_each
from tests.oracles import calibration as oracle
from tests.oracles import losses as losses_by_definition
from tests.oracles import orders

CALIBRATED = [
    PointwiseSquared(),
    PointwiseLogistic(eta=3.5),
    PointwiseExponential(eta=3.5),
    PointwiseSquaredHinge(eta=3.5, t=2.0),
    PointwiseDifferentiableHinge(eta=3.5, width=0.5),
    PairwiseSquared(),
    PairwiseLogistic(),
    PairwiseExponential(),
    ListwiseSoftmax(),
]
UNCALIBRATED = [
    (ComparisonLogistic(), losses_by_definition.comparison_logistic()),
    (ComparisonHinge(), losses_by_definition.hinge(1.0)),
    (ComparisonSquaredHinge(), losses_by_definition.squared_hinge(1.0)),
    (ListwiseNormalizedSoftmax(), losses_by_definition.normalized_softmax),
]
MEASURES = ["dcg", "ndcg", "precision@2", "recall@1", "auc", "spearman", "rbp@0.8"]
VALUES = {
    "dcg": orders.dcg,
    "ndcg": lambda labels: orders.ndcg(labels) if any(labels) else 0.0,
    "ap": lambda labels: float(oracle.average_precision(labels)),
    "err": lambda labels: float(oracle.expected_reciprocal_rank(labels, highest=2)),
}


def assert_counterexample(check, loss):
    """By definitions alone: the measure over all orders, the loss minimised from many starts."""
    assert check.found
    measure = VALUES[check.measure]
    assert check.probabilities.sum() == pytest.approx(1)
    distribution = list(zip(map(tuple, check.labels.tolist()), check.probabilities, strict=True))
    values = {
        order: oracle.expected_value(measure, distribution, order)
        for order in permutations(range(check.n_items))
    }
    best, worst = max(values.values()), min(values.values())
    assert best - values[tuple(check.order)] == pytest.approx(check.regret)
    assert values[tuple(check.best_order)] == pytest.approx(best)
    assert check.regret > check.margin * (best - worst)
    assert np.all(np.diff(check.score[check.order]) <= 0)

    name = {"ap": "precision", "err": "err"}.get(check.measure, check.measure)

    def utilities(labels):
        if name == "err":
            return [(2**y - 1) / 4 for y in labels]
        if name == "ndcg" and not any(labels):
            return [0.0] * len(labels)
        return oracle.utilities(name, list(labels), **({"k": 1} if name == "precision" else {}))

    cases = [(utilities(labels), p) for labels, p in distribution]
    np.testing.assert_allclose(
        sum(p * np.array(u) for u, p in cases), check.expected_utility, atol=1e-12
    )

    def risk(score):
        return sum(p * loss(u, score.tolist()) for u, p in cases)

    rng = np.random.default_rng(0)
    reached = risk(check.score)
    for _ in range(2):
        start = check.score + rng.normal(size=check.n_items)
        found = minimize(
            risk, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}
        )
        assert reached <= found.fun + 1e-6


@pytest.mark.parametrize(
    ("loss", "definition", "measure"),
    [
        pytest.param(
            loss,
            definition,
            ("dcg", "ndcg")[i % 2],
            marks=[pytest.mark.slow] * (i % 2),
            id=repr(loss),
        )
        for i, (loss, definition) in enumerate(UNCALIBRATED)
    ],
)
def test_finds_the_counterexamples_of_the_usual_losses(loss, definition, measure):
    check = check_calibration(loss, measure, n_trials=300, random_state=0)
    assert_counterexample(check, definition)


@pytest.mark.parametrize(
    ("loss", "definition"),
    [
        (PairwiseSquared(), losses_by_definition.pairwise_squared()),
        pytest.param(ListwiseSoftmax(), losses_by_definition.softmax, marks=pytest.mark.slow),
        pytest.param(
            PointwiseLogistic(eta=1.5),
            losses_by_definition.pointwise_logistic(1.5),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["pairwise squared", "softmax", "pointwise logistic"],
)
@pytest.mark.parametrize("measure", ["ap", "err"])
def test_finds_those_of_theorem_3_3(loss, definition, measure):
    check = check_calibration(loss, measure, n_trials=300, random_state=0)
    assert_counterexample(check, definition)


@pytest.mark.parametrize("measure", ["ap", "err"])
def test_none_where_labels_are_independent_or_items_two(measure):
    kinds = {"n_trials": 40, "random_state": 0}
    assert not check_calibration("pairwise_squared", measure, labels="independent", **kinds).found
    assert not check_calibration("pairwise_squared", measure, n_items=2, **kinds).found


@pytest.mark.parametrize("loss", CALIBRATED, ids=repr)
def test_finds_none_for_order_preserving_losses(loss):
    check = check_calibration(loss, "dcg", n_trials=4, random_state=1)
    assert not check.found
    assert check.n_tried == 4
    assert check.labels is None
    assert check.regret is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "measure"),
    [
        (loss, measure)
        for i, loss in enumerate(CALIBRATED)
        for j, measure in enumerate(MEASURES)
        if (i + j) % 5 == 0
    ],
    ids=repr,
)
def test_finds_none_among_many(loss, measure):
    assert not check_calibration(loss, measure, n_trials=12, random_state=2).found
    assert not check_calibration(loss, measure, n_items=4, n_trials=2, random_state=3).found


def test_a_divergence_with_a_matching_link_is_searched_and_none_found():
    loss = ListwiseBregman(lambda u: u @ u / 2, lambda u: u, lambda s: s)
    assert not check_calibration(loss, "dcg", n_trials=10, random_state=0).found


def test_normalised_softmax_is_calibrated_where_utilities_have_one_sum():
    # Those of recall sum to 1, and those of Spearman's correlation to 6 / (n + 1).
    for measure in ("recall@1", "spearman"):
        check = check_calibration("normalized_softmax", measure, n_trials=15, random_state=0)
        assert not check.found


def test_it_prints_well():
    text = str(check_calibration("comparison_logistic", "ndcg", random_state=0))
    assert "ComparisonLogistic() and ndcg: a counterexample" in text
    assert "with probability" in text
    assert "short of" in text
    none = check_calibration("pairwise_squared", "ndcg", n_trials=2, random_state=0)
    assert "no counterexample found.\nTried were 2 distributions" in str(none)


@for_each(
    ("keywords", "message"),
    [
        ({"n_items": 1}, "n_items=1"),
        ({"n_items": 6}, "n_items=6"),
        ({"n_items": 2.0}, "n_items=2.0"),
        ({"n_trials": 0}, "n_trials=0"),
        ({"labels": "iid"}, "labels='iid'"),
        ({"margin": 0.001}, "margin=0.001"),
        ({"margin": 1.0}, "margin=1.0"),
        ({"measure": "pnorm@4"}, "no utilities"),
        ({"loss": "pointwise_logistic", "random_state": 0}, "raise eta"),
        (
            {
                "loss": ListwiseBregman(
                    lambda u: u @ u,
                    lambda u: 2 * u,
                    lambda s: s**3 + s,
                    pullback=lambda s, r: 2 * (3 * s**2 + 1) * r,
                )
            },
            "not convex",
        ),
    ],
)
def test_errors(keywords, message):
    with pytest.raises(ValueError, match=message):
        check_calibration(**{"loss": "pairwise_squared", "measure": "dcg", **keywords})


# ----------------------------------------------------------------------------------- the minimiser


def test_minima_and_their_certificates():
    rng = np.random.default_rng(0)
    for loss in [*CALIBRATED[::3], *(loss for loss, _ in UNCALIBRATED[::2])]:
        utilities = rng.integers(0, 4, (3, 3)).astype(float)
        risk = InnerRisk(loss, utilities, np.array([0.5, 0.3, 0.2]))
        least = risk.minimum(1e-7)
        assert least.gap <= 1e-7
        assert risk.value_and_gradient(least.score)[0] == pytest.approx(least.value)
        for order in permutations(range(3)):
            cone = risk.minimum_in_order(np.array(order), least.value)
            assert np.all(np.diff(cone.score[list(order)]) <= 1e-12)
            assert cone.value >= least.value - least.gap - 1e-9
        cones = [
            risk.minimum_in_order(np.array(order), least.value + 1e-6).value
            for order in permutations(range(3))
        ]
        assert min(cones) <= least.value + 1e-6
        assert risk.minimum_of_constants().value >= least.value - least.gap


def test_kinks_do_not_stop_the_search():
    # All three comparisons in a circle: any scores within the margin of each other are as good.
    utilities = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 0.0, 2.0]])
    least = InnerRisk(ComparisonHinge(), utilities, np.full(3, 1 / 3)).minimum(1e-9)
    assert least.value == pytest.approx(3.0)
    assert least.gap <= 1e-9


@pytest.mark.parametrize("not_a_loss", [3, None, PairwiseLogistic])
def test_what_is_no_loss_is_refused(not_a_loss):
    with pytest.raises(TypeError, match="is not a loss: pass a TemplateLoss or the name of one"):
        check_calibration(not_a_loss, "ndcg")
