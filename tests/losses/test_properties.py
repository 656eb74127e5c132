"""What holds for every loss on any lists: definition, derivatives, flags, limits."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sklearn_rank import losses
from sklearn_rank._lists import Lists
from sklearn_rank.losses import _base
from sklearn_rank.losses._shared import LossOnLists
from tests.losses.cases import CASES
from tests.naming import shown

every_case = pytest.mark.parametrize("case", CASES, ids=shown)
few = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # where other processes take the time
)


@st.composite
def ragged(draw, largest=3.0):
    """Utilities, offsets, and how often each item and each list counts."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    n = sum(sizes)
    level = st.sampled_from([0.0, 0.0, 0.5, 1.0, min(3.0, largest)])
    return {
        "utility": np.array(draw(st.lists(level, min_size=n, max_size=n))),
        "offsets": np.append(0, np.cumsum(sizes)),
        "weight": np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))),
        "query_weight": np.array(
            draw(
                st.lists(
                    st.sampled_from([0.0, 1.0, 2.5]), min_size=len(sizes), max_size=len(sizes)
                )
            )
        ),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


def on(case, lists):
    weight = lists["weight"] if case.weights else None
    return case.loss.on(
        lists["utility"],
        lists["offsets"],
        sample_weight=weight,
        query_weight=lists["query_weight"],
    )


def by_definition(case, lists, score):
    """The sum of the definition over items as often as they count."""
    weight = lists["weight"] if case.weights else np.ones(len(score), dtype=int)
    values = []
    for factor, (begin, end) in zip(
        lists["query_weight"], pairwise(lists["offsets"]), strict=True
    ):
        v, s = (np.repeat(x[begin:end], weight[begin:end]) for x in (lists["utility"], score))
        values.append(factor * case.oracle(v.tolist(), s.tolist()) if len(v) else 0.0)
    return np.array(values)


def scores(lists, scale=1.0):
    rng = np.random.default_rng(lists["seed"])
    return scale * rng.normal(size=len(lists["utility"]))


@every_case
@few
@given(lists=ragged())
def test_values_are_the_definition_on_ties_and_off(case, lists):
    for score in (scores(lists, 2.0), np.round(scores(lists))):
        np.testing.assert_allclose(
            on(case, lists).value(score), by_definition(case, lists, score), rtol=1e-11, atol=1e-10
        )


@every_case
@few
@given(lists=ragged())
def test_the_gradient_is_the_slope_of_the_definition(case, lists):
    score, h = scores(lists), 1e-6
    gradient = on(case, lists).value_and_gradient(score)[1]
    for i, step in enumerate(np.eye(len(score)) * h):
        ahead, behind = (by_definition(case, lists, score + x).sum() for x in (step, -step))
        assert gradient[i] == pytest.approx((ahead - behind) / (2 * h), rel=2e-6, abs=2e-6)


@pytest.mark.parametrize("case", [c for c in CASES if c.second], ids=shown)
@few
@given(lists=ragged())
def test_hessian_products_are_the_slope_of_the_gradient_and_symmetric(case, lists):
    score, h = scores(lists), 1e-6
    rng = np.random.default_rng(lists["seed"] + 1)
    one, two = rng.normal(size=(2, len(score)))
    of = on(case, lists)
    ahead, behind = (of.value_and_gradient(score + x)[1] for x in (h * one, -h * one))
    product = of.hessian_product(score, one)
    np.testing.assert_allclose(product, (ahead - behind) / (2 * h), rtol=1e-4, atol=1e-4)
    assert two @ product == pytest.approx(one @ of.hessian_product(score, two), rel=1e-9, abs=1e-9)
    if case.loss.has_curvature:
        units = np.eye(len(score))
        diagonal = [of.hessian_product(score, unit) @ unit for unit in units]
        np.testing.assert_allclose(of.curvature(score), diagonal, rtol=1e-9, atol=1e-9)
        gradient, curvature = of.gradient_and_curvature(score)
        apart = of.value_and_gradient(score)[1]
        np.testing.assert_allclose(gradient, apart, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(curvature, diagonal, rtol=1e-9, atol=1e-9)
    else:
        with pytest.raises(NotImplementedError, match=r"diagonal of the Hessian of .* not known"):
            of.curvature(score)


@every_case
@few
@given(lists=ragged(), scale=st.sampled_from([0.1, 1.0, 5.0]))
def test_convex_losses_lie_above_their_tangents(case, lists, scale):
    if not case.loss.is_convex:
        return
    here, there = scores(lists), scores(lists) + scale * scores({**lists, "seed": 7})
    values, gradient = on(case, lists).value_and_gradient(here)
    tangent = values.sum() + gradient @ (there - here)
    value = on(case, lists).value(there).sum()
    assert value >= tangent - 1e-10 * (1 + abs(value) + abs(tangent))


@every_case
@few
@given(lists=ragged(), n_threads=st.integers(2, 6))
def test_threads_change_no_bit_and_parts_the_last_ones(case, lists, n_threads):
    made = Lists(
        labels=lists["utility"],
        offsets=lists["offsets"],
        weight=lists["weight"].astype(float) if case.weights else None,
        query_weight=lists["query_weight"],
    )
    score, whole = scores(lists), LossOnLists(case.loss, made)
    with mock.patch.object(_base, "BLOCK", 3):
        one, many = (LossOnLists(case.loss, made, n) for n in (1, n_threads))
    calls = [("value_and_gradient", score)]
    if case.loss.has_hessian_product:
        calls.append(("hessian_product", score, score))
    if case.loss.has_curvature:
        calls += [("curvature", score), ("gradient_and_curvature", score)]
    for name, *arguments in calls:
        results = [np.hstack(getattr(each, name)(*arguments)) for each in (whole, one, many)]
        np.testing.assert_array_equal(results[1], results[2])
        size = np.max(np.abs(results[0]), initial=0.0)
        np.testing.assert_allclose(results[1], results[0], rtol=1e-14, atol=1e-14 * size)
    assert many.is_convex == case.loss.is_convex


# ------------------------------------------------------------------ what order-preserving means

ORDER_PRESERVING = [
    case for case in CASES if case.loss.is_order_preserving and case.loss.is_convex
]


@pytest.mark.parametrize("case", ORDER_PRESERVING, ids=shown)
@pytest.mark.parametrize("seed", range(2))
def test_the_minimiser_of_the_expected_loss_orders_by_expected_utility(case, seed):
    rng = np.random.default_rng(seed)
    n, n_cases = 4, 3
    # Noise of different shape for each item, so that the usual order differs from the expected.
    cases = rng.choice([0.05, 0.2, 1.0, 3.0], (n_cases, n))
    probability = rng.dirichlet(np.ones(n_cases))
    expected = probability @ cases
    offsets = np.arange(n_cases + 1) * n
    of = case.loss.on(cases.ravel(), offsets, query_weight=probability)

    def risk(score):
        values, gradient = of.value_and_gradient(np.tile(score, n_cases))
        return values.sum(), gradient.reshape(cases.shape).sum(axis=0)

    found = minimize(risk, np.full(n, 0.1), jac=True, options={"gtol": 1e-8})
    best = found.x
    for i in range(n):
        for j in range(n):
            if expected[i] > expected[j] + 0.02:
                assert best[i] > best[j]
    try:
        known = case.loss.minimizer(expected)
    except NotImplementedError:
        return
    assert risk(known)[0] <= found.fun + 1e-9 * (1 + abs(found.fun))


@pytest.mark.parametrize(
    "loss",
    [
        losses.ComparisonLogistic(),
        losses.ComparisonSquaredHinge(),
        losses.ListwiseNormalizedSoftmax(),
    ],
    ids=shown,
)
def test_losses_that_are_not_order_preserving_fail_somewhere(loss):
    # The first item is a little better most of the time, and much worse now and then; or has the
    # greater share in a list of small utilities, and the smaller one in a list of large ones.
    cases = np.array([[1.0, 0.5], [0.0, 3.0]])
    probability = np.array([0.7, 0.3])
    if isinstance(loss, losses.ListwiseNormalizedSoftmax):
        cases = np.array([[0.5, 0.0], [1.0, 3.0]])
    assert probability @ cases[:, 0] < probability @ cases[:, 1]
    of = loss.on(cases.ravel(), [0, 2, 4], query_weight=probability)

    def risk(difference):
        return of.value(np.array([difference[0], 0.0] * 2)).sum()

    best = minimize(risk, [0.0], method="Nelder-Mead").x[0]
    assert best > 0.1


WITH_CONSTANT = [
    losses.PointwiseSquared(),
    losses.PointwiseLogistic(eta=4.0),
    losses.PointwiseExponential(eta=4.0),
    losses.PointwiseSquaredHinge(eta=4.0, t=1.5),
    *(losses.PointwiseDifferentiableHinge(eta=4.0, width=width) for width in (0.25, 1.0, 3.0)),
    losses.PairwiseSquared(),
    losses.PairwiseLogistic(),
    losses.PairwiseExponential(),
    losses.ListwiseSoftmax(),
]


@pytest.mark.parametrize("loss", WITH_CONSTANT, ids=shown)
@few
@given(
    expected=st.lists(st.floats(0.05, 3.9), min_size=2, max_size=5),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_pair_in_the_wrong_order_costs_what_the_constant_says(loss, expected, seed):
    # The losses are linear in the utilities up to a term without scores, so that the regret at
    # expected utilities is the expected regret.
    expected = np.array(expected)
    best = loss.minimizer(expected)
    assume(np.isfinite(best).all())
    score = best + np.random.default_rng(seed).normal(size=len(best))
    of = loss.on(expected)
    regret = of.value(score)[0] - of.value(best)[0]
    constant = loss.regret_constant(max_utility=float(expected.max()))
    for i in range(len(best)):
        for j in range(len(best)):
            if score[i] <= score[j] and expected[i] > expected[j]:
                least = ((expected[i] - expected[j]) / constant) ** 2
                assert regret >= least - 1e-9 * (1 + abs(of.value(best)[0]))


# ---------------------------------------------------------------------------------------- limits


OF_ANY_SCORES = [
    case
    for case in CASES
    # Their functions are the user's.
    if not isinstance(case.loss, losses.ListwiseBregman | losses.PairwiseConvex)
]


@pytest.mark.parametrize("size", [1e3, 1e150, 1e155, 1e300])
def test_scores_of_any_size_give_no_nan(size):
    for case in OF_ANY_SCORES:
        for weight in (None, np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0])):
            assert_no_nan(case, size, weight)


def assert_no_nan(case, size, weight):
    utility = np.array([0.0, 1.0, 1.0, 0.5, 0.0, 3.0])
    score = size * np.array([1.0, -1.0, 0.0, 1.0, -0.999, 0.5])
    of = case.loss.on(utility, [0, 4, 6], sample_weight=weight)
    values, gradient = of.value_and_gradient(score)
    assert np.all(values >= 0)
    assert not np.isnan(gradient).any()
    # Another list does not know of them.
    near = np.append(score[:4], [0.25, -0.5])
    alone = case.loss.on(utility[4:], sample_weight=None if weight is None else weight[4:])
    assert of.value(near)[1] == alone.value(near[4:])[0]
    if case.loss.has_hessian_product:
        assert not np.isnan(of.hessian_product(score, np.ones(6))).any()
        assert not np.isnan(of.curvature(score)).any()


@pytest.mark.parametrize("name", losses.get_loss_names())
def test_one_item_and_items_that_do_not_count(name):
    loss = losses.get_loss(name)
    absent = loss.on([0.5, 1.0, 0.0], [0, 2, 3], sample_weight=[0.0, 0.0, 1.0])
    values, gradient = absent.value_and_gradient([3.0, -2.0, 1.0])
    assert values[0] == 0
    np.testing.assert_array_equal(gradient[:2], 0)
    if not name.startswith("pointwise"):
        alone, slope = loss.on([1.0]).value_and_gradient([7.0])
        assert alone == pytest.approx(0, abs=1e-12)
        assert slope == pytest.approx(0, abs=1e-12)


def test_lists_are_taken_as_they_are_and_their_domain_is_checked_once():
    made = Lists(labels=np.array([0.0, 2.0]), offsets=np.array([0, 2]), rows=np.array([9, 4]))
    with pytest.raises(ValueError, match=r"utility is 2 at row 4, but must be in \[0, 1\]"):
        LossOnLists(losses.PointwiseLogistic(), made, 1)
    taken = LossOnLists(losses.PointwiseSquared(), made, 1).lists
    assert np.shares_memory(taken.labels, made.labels)


# ---------------------------------------------------------------------------------------- names


def test_names_that_people_use():
    kinds = losses.ComparisonLogistic, losses.ListwiseNormalizedSoftmax, losses.ComparisonHinge
    aliases = "ranknet", "listnet", "ranksvm"
    assert tuple(type(losses.get_loss(alias)) for alias in aliases) == kinds
    for kind in (None, False, True):
        more = set(losses.get_loss_names(order_preserving=kind, aliases=True))
        expected = set() if kind else set(aliases)
        assert more - set(losses.get_loss_names(order_preserving=kind)) == expected


class Huber(losses.TemplateLoss):
    """A loss of one's own needs a value and a gradient."""

    def _value_and_gradient(self, prepared, score):
        residual = score - prepared.grade
        slope = np.clip(residual, -1, 1)
        return prepared.totals(prepared.counts * slope * (residual - slope / 2)), (
            prepared.counts * slope
        )


def test_a_loss_of_ones_own_says_what_it_lacks():
    loss = Huber()
    assert not loss.has_curvature
    assert not loss.has_hessian_product
    values, gradient = loss.on([0.0, 3.0]).value_and_gradient([0.5, 1.0])
    np.testing.assert_allclose(values, [0.125 + 1.5])
    np.testing.assert_allclose(gradient, [0.5, -1.0])
    with pytest.raises(NotImplementedError, match=r"Hessian products of Huber\(\) are not known"):
        loss.on([0.0]).hessian_product([1.0], [1.0])
