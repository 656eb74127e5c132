"""Margin bounds: losses against pairs one by one, guarantees by simulation, and refusals."""

from itertools import product
from math import inf, log, nan, sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

from sklearn_rank.bounds import accuracy_at_top_margin_bound, auc_margin_bound
from sklearn_rank.bounds._rank_statistics import GRID, auc_margin_loss, margin_loss
from sklearn_rank.metrics import roc_auc_score
from tests.naming import for_each


def phi(u, rho):
    """The definition, for one margin."""
    return (1.0 if u <= 0 else 0.0) + (max(1 - u / rho, 0.0) if u > 0 else 0.0)


# ------------------------------------------------------------------------------------------ losses


@pytest.mark.parametrize("rho", [0.3, 1.0, 2.5])
def test_margin_loss_by_definition(rho):
    rng = np.random.default_rng(0)
    for _ in range(20):
        margins = rng.integers(-3, 6, 7) / 2
        found = margin_loss(margins, rho)
        assert found == pytest.approx(np.mean([phi(u, rho) for u in margins]))
        # Equation 5, and what is to be bounded.
        assert np.mean(margins < 0) <= found <= np.mean(margins < rho) + np.mean(margins <= 0)
        assert found <= margin_loss(margins, 2 * rho)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_auc_margin_loss_by_pairs(offset):
    for rho in (0.3, 1.0, 2.5):
        rng = np.random.default_rng(1)
        for n_pos, n_neg in ((1, 1), (3, 8), (9, 4)):
            for _ in range(10):
                pos, neg = rng.integers(-2, 8, n_pos) / 2, rng.integers(-3, 6, n_neg) / 2
                expected = np.mean([phi(s - t, rho) for s, t in product(pos, neg)])
                found = auc_margin_loss(pos + offset, neg + offset, rho)
                assert found == pytest.approx(expected, abs=1e-9)
                y = np.repeat([1, 0], [n_pos, n_neg])
                assert found >= 1 - roc_auc_score(y, np.concatenate([pos, neg])) - 1e-12


def test_infinite_margins():
    assert margin_loss(np.array([inf, -inf]), 1.0) == 0.5
    # As a threshold beyond all scores makes them.
    found = accuracy_at_top_margin_bound([inf, inf], [-inf], 0.1, radius=1, norm=1)
    assert found.value > 1
    # No function has one row infinitely far above another.
    with pytest.raises(ValueError, match="scores with a range of inf"):
        accuracy_at_top_margin_bound([inf], [inf], 0.1, radius=1, norm=1)


# --------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize(("k_neg", "k_pos"), [(100, 100), (40, 900)])
def test_fixed_class_is_the_formula(k_neg, k_pos):
    rng = np.random.default_rng(2)
    neg, pos = rng.uniform(-1, 3, k_neg), rng.uniform(-1, 3, k_pos)
    r, norm_, rho, delta = 2.0, 1.5, 0.7, 0.05
    reach = r * norm_ / rho
    loss = (margin_loss(neg, rho) + margin_loss(pos, rho)) / 2
    given = {"radius": r, "norm": norm_, "rho": rho, "fixed": True}
    # R_hat + (1/rho) (rL/sqrt k- + rL/sqrt k+ + M/sqrt k- + M/sqrt k+) + deviation, M = rL.
    found = accuracy_at_top_margin_bound(neg, pos, delta, **given).value
    expected = loss + 2 * reach * (1 / sqrt(k_neg) + 1 / sqrt(k_pos))
    expected += sqrt(log(1 / delta) * (1 / k_neg + 1 / k_pos) / 8)
    assert found == pytest.approx(expected)
    squares = (1.3, 2.0)
    found = accuracy_at_top_margin_bound(neg, pos, delta, squares=squares, **given).value
    expected = loss + 3 * sqrt(log(2 / delta) * (1 / k_neg + 1 / k_pos) / 8)
    for square, k in zip(squares, (k_neg, k_pos), strict=True):
        expected += (norm_ * sqrt(square) + r * norm_) / rho / sqrt(k)
    assert found == pytest.approx(expected)
    found = auc_margin_bound(pos, neg, delta, **given).value
    expected = auc_margin_loss(pos, neg, rho) + 4 * reach / sqrt(min(k_neg, k_pos))
    expected += sqrt((k_neg + k_pos) * log(1 / delta) / (2 * k_neg * k_pos))
    assert found == pytest.approx(expected)


def test_pairs_are_theorem_1():
    rng = np.random.default_rng(3)
    m, r, norm_, rho, delta = 400, 1.0, 2.0, 0.5, 0.1
    lower, upper = rng.uniform(-0.5, 1.5, m), rng.uniform(-0.5, 1.5, m)
    loss = (margin_loss(lower, rho) + margin_loss(upper, rho)) / 2
    given = {"radius": r, "norm": norm_, "rho": rho, "fixed": True, "design": "pairs"}
    first = accuracy_at_top_margin_bound(lower, upper, delta, **given)
    rademacher, width = r * norm_ / sqrt(m), r * norm_
    expected = loss + (2 * rademacher + 2 * width / sqrt(m)) / rho
    assert first.value == pytest.approx(expected + sqrt(log(1 / delta) / (2 * m)))
    assert first.theorem == "Boyd et al. (2012), Theorem 1"
    assert first.conditioned_on == ""
    second = accuracy_at_top_margin_bound(lower, upper, delta, squares=(1.0, 1.0), **given)
    assert second.value == pytest.approx(expected + 3 * sqrt(log(2 / delta) / (2 * m)))
    # Two samples know more than pairs of them.
    given["design"] = "bipartite"
    assert accuracy_at_top_margin_bound(lower, upper, delta, **given).value < first.value


def test_grid():
    """Each step has its share of delta; a margin that was given is rounded down to the grid."""
    rng = np.random.default_rng(4)
    pos, neg = rng.uniform(-0.5, 3, 4000), rng.uniform(-3, 0.5, 4000)
    delta, reach = 0.05, 3.0
    shares = [1 / ((j + 1) * (j + 2)) for j in range(10**5)]
    assert sum(shares) == pytest.approx(1, abs=1e-4)

    def step(j):
        fixed = auc_margin_bound(
            pos, neg, delta * shares[j], radius=1, norm=reach, rho=reach / GRID**j, fixed=True
        )
        return fixed.value

    for j in (0, 1, 7, 30):
        for inside in (1.0, 1.05):
            rho = reach / GRID**j * inside
            found = auc_margin_bound(pos, neg, delta, radius=1, norm=reach, rho=rho).value
            assert found == pytest.approx(step(j))
    best = auc_margin_bound(pos, neg, delta, radius=1, norm=reach).value
    assert best == pytest.approx(min(step(j) for j in range(80)))
    # Margins beyond the largest score are those of the first step.
    beyond = auc_margin_bound(pos, neg, delta, radius=1, norm=reach, rho=99.0).value
    assert beyond == pytest.approx(step(0))


# ------------------------------------------------------------------------------------- guarantees

RADIUS, SHIFT = 1.0, 0.3


def draw(rng, n, shift):
    """Points of the unit disc, their first coordinate moved towards the shift's side."""
    angle = rng.vonmises(0 if shift > 0 else np.pi, 1.0, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.slow
def test_the_whole_bound_after_fitting():
    """Fitted by the sample that is bounded, margin and norm chosen by it too."""
    rng = np.random.default_rng(8)
    missed, values = 0, []
    for _ in range(60):
        pos, neg = draw(rng, 3000, 1), draw(rng, 3000, -1)
        w = pos.mean(axis=0) - neg.mean(axis=0)
        t = float(np.mean([pos.mean(axis=0) @ w, neg.mean(axis=0) @ w]))
        bound = accuracy_at_top_margin_bound(
            t - neg @ w, pos @ w - t, 0.2, radius=1, norm=float(np.linalg.norm(w))
        )
        new_pos, new_neg = draw(rng, 5000, 1) @ w, draw(rng, 5000, -1) @ w
        risk = (np.mean(new_neg > t) + np.mean(new_pos < t)) / 2
        missed += risk > bound.value
        values.append(bound.value)
    assert missed <= binom.ppf(0.999, 60, 0.2)
    assert 0.2 < np.mean(values) < 1


def test_never_below_an_exact_value():
    """One feature, all scores at +-1 or wrong: the risk is known, and no margin loss is less."""
    for wrong, n, delta in product((0.0, 0.1, 0.4), (10, 1000), (0.5, 0.01)):
        hits = np.arange(n + 1)
        law = binom.pmf(hits, n, 1 - wrong)
        missed = 0.0
        for hit, mass in zip(hits, law, strict=True):
            margins = np.repeat([0.5, -0.5], [hit, n - hit])
            if mass > 1e-12:
                found = accuracy_at_top_margin_bound(
                    np.full(50, 0.5), margins, delta, radius=1.0, norm=1.0, rho=0.5
                )
                missed += mass * (wrong / 2 > found.value)
        assert missed <= delta


def test_normal_scores_at_realistic_sizes():
    """Nothing for hundreds of rows, where 1/2 is what no ranking has; something for many."""
    rng = np.random.default_rng(9)
    risk = norm.cdf(-2.0)
    for n, most in ((300, 9.0), (100_000, 0.45)):
        margins = np.clip(rng.normal(2.0, 1.0, n), -6, 6) / 6
        found = accuracy_at_top_margin_bound(margins, margins, 0.05, radius=1, norm=1).value
        assert risk < found < most
        assert found > 0.5 or n > 1000


# --------------------------------------------------------------------------------------- refusals


@for_each(
    ("change", "message"),
    [
        ({"margins_neg": []}, "margins_neg is empty: pass at least one item"),
        (
            {"margins_pos": [[1.0, 2.0]]},
            r"margins_pos has shape \(1, 2\), but must be one-dimensional",
        ),
        ({"margins_pos": [1.0, nan]}, "margins_pos is NaN at row 1"),
        ({"delta": 0}, "delta=0 must be"),
        ({"radius": 0}, "radius=0 must be .* the largest norm"),
        ({"radius": inf}, "radius=inf must be"),
        ({"norm": 0.0}, "norm=0.0 must be .* the norm of weights"),
        ({"norm": nan}, "norm=nan must be"),
        ({"rho": -1}, "rho=-1 must be .* a margin"),
        ({"design": "lists"}, "design='lists' must be one of"),
        ({"design": "pairs", "margins_pos": [1.0]}, "2 margins_neg, but 1 margins_pos"),
        ({"squares": (0.5, 5.0)}, r"squares\[1\]=5.0 must be .* a mean of"),
        ({"squares": (-0.5, 0.5)}, r"squares\[0\]=-0.5 must be .* a mean of"),
        ({"fixed": True}, "rho is None"),
    ],
)
def test_refused(change, message):
    given = {
        "margins_neg": [0.1, 0.2],
        "margins_pos": [0.3, 0.4],
        "delta": 0.1,
        "radius": 1.0,
        "norm": 1.0,
    } | change
    with pytest.raises(ValueError, match=message):
        accuracy_at_top_margin_bound(**given)


def test_others_refused():
    with pytest.raises(ValueError, match=r"rho=0 must be .* a margin"):
        auc_margin_bound([1.0], [0.0], 0.1, radius=1, norm=1, rho=0)
    with pytest.raises(ValueError, match="score_pos is inf at row 0: it must be finite"):
        auc_margin_bound([inf], [inf], 0.1, radius=1, norm=1)
    with pytest.raises(ValueError, match="score_neg is nan at row 0"):
        auc_margin_bound([1.0], [nan], 0.1, radius=1, norm=1)
    with pytest.raises(ValueError, match="rho is None"):
        auc_margin_bound([1.0], [0.0], 0.1, radius=1, norm=1, fixed=True)
