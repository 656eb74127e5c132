"""Bounds for linear rank statistics: guarantees by simulation, widths, and refusals."""

from itertools import cycle, product
from math import comb, inf, log, nan, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom, norm

from sklearn_rank.bounds import (
    linear_rank_bound,
    linear_rank_sandwich_bound,
    linear_rank_selection_bound,
    plug_in_rank_bound,
    pooled_distribution_bound,
)
from sklearn_rank.metrics import Exponential, LocalAUC, Power, Wilcoxon, linear_rank_score
from tests.naming import shown
from tests.oracles import auc_variance as oracle

PHIS = [Wilcoxon(), Power(4), Exponential(20), LocalAUC(0.8), lambda u: (u >= 0.9) * 1.0]
SHARE = 0.3


# ---------------------------------------------------------------------------------------- formulas


def test_formulas():
    for n, k, delta in product((10, 4000), (3, 9), (0.4, 0.01)):
        for labels, more in (("random", 0), ("fixed", 1)):
            eps = sqrt((log(2 / delta) + more) / (2 * n))
            assert pooled_distribution_bound(n, delta, labels=labels).value == pytest.approx(
                min(eps, 1)
            )
            eps = sqrt((log(4 / delta) + more) / (2 * n))
            expected = 2.5 * (1 / (n + 1) + eps) + 0.5 * sqrt(log(4 / delta) / (2 * k))
            found = linear_rank_bound(n, k, delta, lipschitz=2.5, height=0.5, labels=labels)
            assert found.value == pytest.approx(min(expected, 0.5))
        sets = [sum(comb(size, i) for i in range(min(4, size) + 1)) for size in (n, k)]
        spread = [
            sqrt(2 * (log(s) + log(4 / delta)) / size)
            for s, size in zip(sets, (n, k), strict=True)
        ]
        expected = 2 * (2.5 * (1 / (n + 1) + spread[0]) + 0.5 * spread[1])
        found = linear_rank_selection_bound(n, k, delta, vc_dimension=4, lipschitz=2.5, height=0.5)
        assert found.value == pytest.approx(expected)


@pytest.mark.parametrize("phi", PHIS, ids=shown)
def test_sandwich_by_definition(phi):
    for side in ("both", "lower", "upper"):
        rng = np.random.default_rng(0)
        for n in (20, 300):
            rank = rng.choice(np.arange(1, n + 1), n // 3, replace=False)
            for labels, more in (("random", 0), ("fixed", 1)):
                eps = sqrt((log(4 / 0.2) + more) / (2 * n))
                height = float(phi(np.ones(1))[0] - phi(np.zeros(1))[0])
                spread = height * sqrt(log((4 if side == "both" else 2) / 0.2) / (2 * len(rank)))
                at = [max((r - 1) / n - eps, 0) for r in rank], [min(r / n + eps, 1) for r in rank]
                low, high = (np.mean(phi(np.array(u))) for u in at)
                floor = float(phi(np.zeros(1))[0])
                low, high = max(low - spread, floor), min(high + spread, floor + height)
                value = np.mean(phi(rank / (n + 1)))
                expected = {"lower": value - low, "upper": high - value}
                expected["both"] = max(expected.values())
                found = [
                    linear_rank_sandwich_bound(
                        rank, n, 0.2, phi, method=method, side=side, labels=labels
                    ).value
                    for method in ("hoeffding", "kl")
                ]
                assert found[0] == pytest.approx(expected[side])
                assert found[1] <= found[0] * (1 + 1e-12)


@pytest.mark.parametrize(("side", "parts"), [("lower", 2), ("upper", 2), ("both", 4)])
def test_sandwich_by_relative_entropy(side, parts):
    """At the limit q, the entropy of the shifted mean and q is that of the share of delta."""
    rng = np.random.default_rng(7)
    n, phi, delta = 300, Power(3), 0.2
    rank = rng.choice(np.arange(1, n + 1), n // 3, replace=False)
    eps = sqrt((log(4 / delta) + 1) / (2 * n))
    low, high = (rank - 1) / n - eps, rank / n + eps
    most = log(parts / delta) / len(rank)
    limits = []
    for at, end in ((np.maximum(low, 0), 0.0), (np.minimum(high, 1), 1.0)):
        mean = np.mean(at**3)
        limits.append(
            oracle.farthest(lambda q, m=mean: oracle.binary_entropy(m, q) <= most, mean, end)
        )
    value = np.mean(phi(rank / (n + 1)))
    expected = {"lower": value - limits[0], "upper": limits[1] - value}
    expected["both"] = max(expected.values())
    found = linear_rank_sandwich_bound(rank, n, delta, phi, side=side).value
    assert found == pytest.approx(expected[side], abs=1e-7)


def test_sandwich_is_smaller_where_phi_is_flat():
    # A peaked phi, and one that jumps, at n = 4,000.
    n = 4000
    rng = np.random.default_rng(1)
    y = np.arange(n) < 0.25 * n
    rank = np.argsort(np.argsort(rng.normal(size=n) + y)) + 1.0
    given = {"method": "hoeffding", "labels": "random"}
    found = linear_rank_sandwich_bound(rank[y], n, 0.05, Exponential(20), **given).value
    assert found < 0.12
    wide = linear_rank_bound(n, n // 4, 0.05, lipschitz=20.0, labels="random").value
    assert wide > 0.5
    assert linear_rank_sandwich_bound(rank[y], n, 0.05, LocalAUC(0.8), **given).value < 0.12
    with pytest.raises(ValueError, match="use linear_rank_sandwich_bound"):
        linear_rank_bound(n, n // 4, 0.05, lipschitz=LocalAUC(0.8).lipschitz)


# -------------------------------------------------------------------------------------- guarantees


def functional(phi, share):
    """W_phi of normal scores, the positives higher by 1."""
    points = [norm.ppf(u) for u in (0.05, 0.5)]
    jumps = {id(PHIS[3]): 0.8, id(PHIS[4]): 0.9}
    if id(phi) in jumps:
        points.append(
            brentq(
                lambda x: share * norm.cdf(x - 1) + (1 - share) * norm.cdf(x) - jumps[id(phi)],
                -5,
                6,
            )
        )

    def integrand(x):
        cdf = share * norm.cdf(x - 1) + (1 - share) * norm.cdf(x)
        return float(phi(np.array([cdf]))[0]) * norm.pdf(x - 1)

    return quad(integrand, -7, 9, points=points, limit=200)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("phi", "labels"), list(zip(PHIS, cycle(["fixed", "random"]))), ids=shown)
def test_rank_statistics_by_simulation(phi, labels):
    rng = np.random.default_rng(3)
    n, delta, n_samples = 100, 0.5, 150
    target = functional(phi, SHARE)
    missed = dict.fromkeys(["rank", "hoeffding", "kl", "lower", "upper"], 0)
    for _ in range(n_samples):
        y = rng.random(n) < SHARE if labels == "random" else np.arange(n) < SHARE * n
        score = rng.normal(size=n) + y
        rank = np.argsort(np.argsort(score)) + 1.0
        value = np.mean(phi(rank[y] / (n + 1)))
        if np.isfinite(getattr(phi, "lipschitz", inf)):
            bound = linear_rank_bound(
                n, int(y.sum()), delta, lipschitz=phi.lipschitz, labels=labels
            )
            missed["rank"] += abs(value - target) > bound.value
            assert value == pytest.approx(
                linear_rank_score(y.astype(int), score, phi=phi, normalize="mean")
            )
        for method in ("hoeffding", "kl"):
            width = linear_rank_sandwich_bound(
                rank[y], n, delta, phi, method=method, labels=labels
            ).value
            missed[method] += abs(value - target) > width
        for side, sign in (("lower", 1), ("upper", -1)):
            width = linear_rank_sandwich_bound(
                rank[y], n, delta, phi, side=side, labels=labels
            ).value
            missed[side] += sign * (value - target) > width
    assert max(missed.values()) <= binom.ppf(0.999, n_samples, delta)


@pytest.mark.slow
def test_sandwich_with_ties():
    """Scores of three values: with the largest ranks, and with ranks in random order."""
    rng = np.random.default_rng(4)
    of_pos, of_neg = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])
    cdf = np.cumsum(SHARE * of_pos + (1 - SHARE) * of_neg)
    phi, n, delta = Power(6), 80, 0.5
    below = cdf - np.diff(cdf, prepend=0.0)
    largest = float(of_pos @ cdf**6)
    averaged = float(of_pos @ ((cdf**7 - below**7) / 7 / (cdf - below)))
    missed = [0, 0]
    n_samples = 250
    for _ in range(n_samples):
        y = np.arange(n) < SHARE * n
        score = np.where(y, rng.choice(3, n, p=of_pos), rng.choice(3, n, p=of_neg))
        top = (score <= score[:, None]).sum(axis=1)
        place = np.lexsort((rng.random(n), score))
        broken = np.empty(n)
        broken[place] = np.arange(1, n + 1)
        for i, (rank, target) in enumerate(((top, largest), (broken, averaged))):
            value = np.mean(phi(rank[y] / (n + 1)))
            width = linear_rank_sandwich_bound(rank[y], n, delta, phi).value
            missed[i] += abs(value - target) > width
    assert max(missed) <= binom.ppf(0.999, n_samples, delta)


def test_never_below_an_exact_value():
    """Scores that say all: positives above, so that W_n and W_phi differ by what n is alone."""
    for n, k in ((10, 3), (1000, 100)):
        rank = np.arange(n - k + 1, n + 1.0)
        for phi in PHIS[:3]:
            target = quad(lambda u, f=phi: float(f(np.array([u]))[0]), 1 - k / n, 1)[0] * n / k
            gap = abs(np.mean(phi(rank / (n + 1))) - target)
            assert linear_rank_sandwich_bound(rank, n, 0.9, phi).value >= gap
            assert linear_rank_bound(n, k, 0.9, lipschitz=phi.lipschitz).value >= gap


# ----------------------------------------------------------------------------------------- plug-in


def test_plug_in_against_every_estimate():
    """For phi(u) = u^3, the integral over the ranks that each of four groups shares."""
    rng = np.random.default_rng(6)
    worst = 0.0
    for _ in range(300):
        eta, mass = rng.random(4) ** 3, rng.dirichlet(np.ones(4))
        estimate = np.clip(eta + rng.normal(size=4) * rng.choice([0.05, 0.5]), 0, 1)
        p = float(eta @ mass)

        def value(score, eta=eta, mass=mass, p=p):
            order = np.argsort(score)
            ends = np.cumsum(mass[order])
            starts = ends - mass[order]
            return float(eta[order] @ (ends**4 - starts**4) / 4 / p)

        loss = value(eta) - value(estimate)
        bound = plug_in_rank_bound(min(float(np.abs(estimate - eta) @ mass), 1.0), p).value
        assert loss <= bound + 1e-12
        worst = max(worst, loss / bound if bound else 0)
    assert worst > 0.2


def test_plug_in_as_printed_is_false():
    # eta = 2 p on one half and 0 on the other; the estimate is about p on both, reversed.
    p = 0.1
    lost = (0.75 - 0.25) * 1.0
    assert (1 - p) * p < lost <= plug_in_rank_bound(p, p).value


def test_plug_in_needs_ties_in_random_order():
    # A constant eta, and an estimate as near to it as one likes: with the largest rank for all
    # tied items the constant has W = phi(1), with random orders the mean of phi, as the estimate.
    n, p = 2000, 0.3
    largest = np.mean((np.full(n, n) / n) ** 3)
    untied = np.mean((np.arange(1, n + 1) / n) ** 3)
    bound = plug_in_rank_bound(1e-6, p)
    assert largest - untied > 0.7 > bound.value
    assert "random order" in bound.assumptions[0]


def test_every_bound_of_ranks_says_how_ties_count():
    found = [
        linear_rank_bound(100, 20, 0.1, lipschitz=1.0),
        linear_rank_sandwich_bound([100, 99], 100, 0.1, np.square),
        linear_rank_selection_bound(100, 20, 0.1, vc_dimension=2, lipschitz=1.0),
        plug_in_rank_bound(0.1, 0.5),
    ]
    for bound in found:
        assert any("tied items" in text for text in bound.assumptions), bound


# ---------------------------------------------------------------------------------------- refusals


def test_refused():
    cases = [
        (lambda: pooled_distribution_bound(0, 0.1), "n=0 must be"),
        (lambda: pooled_distribution_bound(5, 1), "delta=1 must be"),
        (lambda: pooled_distribution_bound(5, 0.1, labels="all"), "labels='all'"),
        (lambda: linear_rank_bound(5, 6, 0.1, lipschitz=1), "n_pos=6 positives cannot be among"),
        (lambda: linear_rank_bound(5, 0, 0.1, lipschitz=1), "n_pos=0 must be"),
        (lambda: linear_rank_bound(5, 2, 0.1, lipschitz=inf), "lipschitz=inf must be a finite"),
        (lambda: linear_rank_bound(5, 2, 0.1, lipschitz=nan), "lipschitz=nan must be"),
        (lambda: linear_rank_bound(5, 2, 0.1, lipschitz=1, height=-1), "height=-1 must be"),
        (
            lambda: linear_rank_selection_bound(5, 2, 0.1, vc_dimension=0, lipschitz=1),
            "vc_dimension=0",
        ),
        (lambda: linear_rank_sandwich_bound([0], 5, 0.1, Wilcoxon()), "rank_pos must be ranks"),
        (lambda: linear_rank_sandwich_bound([6], 5, 0.1, Wilcoxon()), "rank_pos must be ranks"),
        (
            lambda: linear_rank_sandwich_bound([nan], 5, 0.1, Wilcoxon()),
            "rank_pos is nan at row 0",
        ),
        (lambda: linear_rank_sandwich_bound([], 5, 0.1, Wilcoxon()), "rank_pos is empty"),
        (
            lambda: linear_rank_sandwich_bound([1, 2, 3], 2, 0.1, Wilcoxon()),
            "rank_pos must be ranks",
        ),
        (
            lambda: linear_rank_sandwich_bound([1, 1, 1], 2, 0.1, Wilcoxon()),
            "n_pos=3 positives cannot",
        ),
        (lambda: linear_rank_sandwich_bound([1], 5, 0.1, norm.ppf), "phi must be finite"),
        (lambda: linear_rank_sandwich_bound([1], 5, 0.1, lambda u: -u), "must not decrease"),
        (
            lambda: linear_rank_sandwich_bound([1], 5, 0.1, Wilcoxon(), method="dkw"),
            "method='dkw'",
        ),
        (lambda: plug_in_rank_bound(2, 0.5), "error=2 must be"),
        (lambda: plug_in_rank_bound(0.1, 0), "prevalence=0 must be"),
        (lambda: plug_in_rank_bound(0.1, 0.5, height=inf), "height=inf must be"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match=r"n=9\.5 must be a whole number"):
        pooled_distribution_bound(9.5, 0.1)


def test_a_constant_phi_has_no_deviation():
    # The mean of equal numbers may be off by a rounding.
    for value in (0.5, 0.1, -1e6 / 3):
        found = linear_rank_sandwich_bound([1, 3, 4], 5, 0.1, lambda u, c=value: 0 * u + c)
        assert found.value == pytest.approx(0, abs=1e-9)


def test_what_bounds_say():
    found = linear_rank_bound(9, 4, 0.1, lipschitz=1.0, labels="random")
    assert found.conditioned_on == ""
    assert found.assumptions[1].startswith("items and labels are drawn together")
    assert pooled_distribution_bound(9, 0.1, labels="random").theorem.startswith("Dvoretzky")
    assert pooled_distribution_bound(9, 0.1).theorem.startswith("Bretagnolle")
    sandwich = linear_rank_sandwich_bound([4], 9, 0.1, Wilcoxon(), side="upper")
    assert sandwich.target == "W_phi - W_n/k"
    assert sandwich.theorem == "sklearn_rank, Proofs of bounds, Theorem 8"
    selected = linear_rank_selection_bound(9, 4, 0.1, vc_dimension=2, lipschitz=1.0)
    assert "Theorem 8, with constants of sklearn_rank, Proofs of bounds, Theorem 9" in (
        selected.theorem
    )
