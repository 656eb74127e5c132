"""Each loss against its definition, its derivatives against differences."""

from itertools import pairwise

import numpy as np
import pytest

from sklearn_rank import losses
from sklearn_rank.losses import _base
from sklearn_rank.losses._shared import LossOnLists
from tests.losses.cases import CASES
from tests.naming import shown

every_case = pytest.mark.parametrize("case", CASES, ids=shown)


def draw(seed, n_lists=4):
    """Utilities of few values, scores with ties, offsets."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, n_lists)
    n = sizes.sum()
    utility = rng.choice([0.0, 0.0, 1.0, 3.0], n)
    return utility, rng.integers(-2, 3, n) / 2, np.append(0, np.cumsum(sizes))


def by_definition(case, utility, score, offsets, weight=None):
    values = []
    for begin, end in pairwise(offsets):
        v, s = utility[begin:end], score[begin:end]
        if weight is not None:
            v, s = np.repeat(v, weight[begin:end]), np.repeat(s, weight[begin:end])
        values.append(case.oracle(list(v), list(s)))
    return np.array(values)


def test_losses_of_whole_lists_take_no_weights():
    for case in CASES:
        if not case.weights:
            with pytest.raises(ValueError, match="no sample_weight"):
                case.loss.on([1.0, 2.0], sample_weight=[1.0, 2.0])


@every_case
def test_a_constant_on_all_scores_changes_nothing_where_it_is_said(case):
    utility, score, offsets = draw(5)
    on = case.loss.on(utility, offsets)
    same = np.allclose(on.value(score), on.value(score + 2.0), rtol=1e-12)
    assert same == case.loss.is_translation_invariant


@pytest.mark.parametrize(
    "case", [c for c in CASES if not isinstance(c.loss, losses.ListwiseBregman)], ids=shown
)
def test_a_long_list_with_scores_far_apart(case):
    n = 61
    for spread, weighted in ((1.0, False), (15.0, True), (100.0, False), (330.0, True)):
        rng = np.random.default_rng(3)
        utility, score = rng.choice([0.0, 1.0, 3.0], n), rng.uniform(-spread, spread, n)
        weight = rng.integers(0, 3, n) if weighted else np.ones(n, dtype=int)
        on = case.loss.on(utility, sample_weight=weight if weighted else None)
        value, gradient = on.value_and_gradient(score)
        expected = by_definition(case, utility, score, [0, n], weight)
        np.testing.assert_allclose(value, expected, rtol=1e-11)
        assert np.isfinite(gradient).all()
        if case.loss.is_translation_invariant:
            assert abs(gradient.sum()) <= 1e-12 * np.abs(gradient).sum()
        if case.second and spread == 1.0:
            step = 1e-6 * rng.normal(size=n)
            ahead, behind = (on.value_and_gradient(score + x)[1] for x in (step, -step))
            np.testing.assert_allclose(
                2 * on.hessian_product(score, step), ahead - behind, rtol=1e-4, atol=1e-9
            )


def test_exponentials_beyond_range_are_infinite_and_not_nan():
    utility = np.array([0.0, 1.0, 1.0, 0.0])
    score = np.array([1000.0, -1000.0, 0.0, 0.0])
    for name in ("pointwise_exponential", "pairwise_exponential"):
        value, gradient = losses.get_loss(name).on(utility).value_and_gradient(score)
        assert value[0] == np.inf
        assert not np.isnan(gradient).any()
        assert gradient[1] == -np.inf
        right = losses.get_loss(name).on(utility[::-1] * 0).value_and_gradient(-abs(score))
        assert np.isfinite(right[0]).all()
    apart = losses.PairwiseExponential().on([1.0, 0.0]).value_and_gradient([1000.0, -1000.0])
    np.testing.assert_array_equal(apart[0], [0.0])


def test_pairs_of_a_long_list_in_memory_of_the_list():
    import tracemalloc

    rng = np.random.default_rng(0)
    n = 20_000
    utility, score = (rng.random(n) < 0.002).astype(float), rng.normal(size=n)
    for name in ("pairwise_logistic", "comparison_hinge", "pairwise_squared", "softmax"):
        on = losses.get_loss(name).on(utility)
        on.value_and_gradient(score[:n])
        tracemalloc.start()
        on.value_and_gradient(score)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * n * 8, name


@pytest.mark.parametrize("name", losses.get_loss_names())
def test_names(name):
    loss = losses.get_loss(name)
    assert (name in losses.get_loss_names(order_preserving=True)) == loss.is_order_preserving
    assert repr(eval(repr(loss), vars(losses))) == repr(loss)


def test_an_unknown_name_suggests_one():
    with pytest.raises(
        ValueError, match=r"a loss: did you mean 'pairwise_logistic'\? Names are \["
    ):
        losses.get_loss("pairwise_logistics")
    with pytest.raises(ValueError, match=r"a loss: names are \["):
        losses.get_loss("?")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.PointwiseLogistic(eta=0), "eta=0 must be a finite number greater than 0"),
        (lambda: losses.PointwiseSquaredHinge(t=-1), "t=-1 must be a finite number greater"),
        (lambda: losses.PointwiseDifferentiableHinge(width=np.inf), "width=inf must be"),
        (lambda: losses.ComparisonHinge(margin=0), "margin=0 must be"),
        (
            lambda: losses.PairwiseConvex(np.exp, np.exp),
            "derivative is 1 at 0, but must be negative",
        ),
        (
            lambda: losses.PairwiseConvex(lambda d: -(d**3) - d, lambda d: -3 * d**2 - 1),
            "phi must be convex and nonincreasing",
        ),
        (
            lambda: losses.PairwiseConvex(lambda d: -2 * d, lambda d: -np.ones_like(d)),
            "derivative is not the derivative of phi",
        ),
        (
            lambda: losses.PairwiseConvex(np.sum, lambda d: -d),
            "must return one value for each difference",
        ),
        (lambda: losses.ListwiseBregman(np.sum, np.log, np.exp, mu=0), "mu=0 must be"),
    ],
)
def test_parameters_that_make_no_loss(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("arguments", "weights", "message"),
    [
        (([0.0, 1.5],), {}, r"utility is 1.5 at row 1, but must be in \[0, 1\]"),
        (([0.0, -0.5],), {}, "utility is -0.5 at row 1"),
        (([0.0, np.nan],), {}, "utility is nan at row 1"),
        ((["a", "b"],), {}, "must be numeric"),
        (([[0.0, 1.0]],), {}, "one-dimensional"),
        (([],), {}, "utility is empty"),
        (([0.0, 1.0], [0, 1]), {}, "increase from 0 to 2"),
        (([0.0, 1.0], [0, 0, 2]), {}, "increase from 0 to 2"),
        (([0.0, 1.0], [0.0, 2.0]), {}, "increase from 0 to 2"),
        (([0.0, 1.0],), {"sample_weight": [1.0]}, "sample_weight has 1 entries, but must have 2"),
        (
            ([0.0, 1.0],),
            {"sample_weight": [1.0, -1.0]},
            "sample_weight is -1 at row 1: it must be finite and at least 0",
        ),
        (
            ([0.0, 1.0],),
            {"query_weight": [1.0, 1.0]},
            "query_weight has 2 entries, but must have 1",
        ),
    ],
)
def test_items_that_no_loss_is_of(arguments, weights, message):
    with pytest.raises(ValueError, match=message):
        losses.PointwiseLogistic().on(*arguments, **weights)


def test_scores_that_do_not_fit():
    on = losses.PointwiseSquared().on([0.0, 1.0])
    with pytest.raises(ValueError, match="score has 1 entries, but must have 2"):
        on.value([0.0])
    with pytest.raises(ValueError, match="score is inf at row 0"):
        on.value([np.inf, 0.0])


def test_scores_of_solvers_are_not_checked_those_of_users_are(monkeypatch):
    of_user = losses.PairwiseLogistic().on([0.0, 1.0])
    of_solver = LossOnLists(of_user.loss, of_user.lists)
    with pytest.raises(ValueError, match="score"):
        of_user.value([0.0, np.nan])
    checked = []
    monkeypatch.setattr(_base, "check_vector", lambda name, values, n: checked.append(name))
    of_solver.hessian_product(np.zeros(2), np.ones(2))
    assert not checked
    with pytest.raises(TypeError):
        of_user.value(np.zeros(2))
    assert checked == ["score"]


def test_constants_that_are_not_known():
    with pytest.raises(ValueError, match="not order-preserving"):
        losses.ComparisonHinge().regret_constant(1.0)
    with pytest.raises(ValueError, match="greatest expected utility"):
        losses.PairwiseLogistic().regret_constant()
    with pytest.raises(ValueError, match=r"max_utility=-1\.0"):
        losses.ListwiseSoftmax().regret_constant(-1.0)
    with pytest.raises(ValueError, match="mu="):
        losses.ListwiseBregman(np.sum, np.log, np.exp).regret_constant()
    convex = losses.PairwiseConvex(lambda d: np.exp(-d), lambda d: -np.exp(-d))
    with pytest.raises(ValueError, match="constant="):
        convex.regret_constant(1.0)
    with pytest.raises(NotImplementedError, match="second_derivative="):
        convex.on([0.0, 1.0]).curvature([0.0, 1.0])


def test_a_link_that_does_not_match_is_refused():
    loss = losses.ListwiseBregman(lambda u: u @ u, lambda u: 2 * u, lambda s: s)
    with pytest.raises(ValueError, match="pullback="):
        loss.on([0.0, 1.0]).value([1.0, 2.0])
