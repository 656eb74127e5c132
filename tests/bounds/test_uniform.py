"""Bounds for learned functions: guarantees by exact laws and by simulation, and refusals."""

from itertools import product
from math import comb, exp, inf, log, sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

from sklearn_rank.bounds import (
    FunctionClass,
    auc_bound,
    auc_deviation_bound,
    auc_fold_mean_bound,
    auc_sample_size_bound,
)
from tests.naming import for_each

METHODS = ["averaging", "strict", "central", "paper", "freund"]
PLANE = FunctionClass("linear", n_features=2)
CURVES = FunctionClass("polynomial", n_features=2, degree=2)


def linear(m, n, delta, d, method="averaging", **kwargs):
    functions = FunctionClass("linear", d)
    return auc_bound(m, n, delta, function_class=functions, method=method, **kwargs).value


def patterns(k, d):
    return 2 * sum(comb(k - 1, i) for i in range(min(d, k)))


# --------------------------------------------------------------------------------- uniform: values


@pytest.mark.parametrize(("m", "n", "d"), [(200, 200, 20), (7, 50, 3), (4, 4, 9), (30, 2000, 1)])
def test_averaging_is_its_formula(m, n, d):
    k, delta = min(m, n), 0.01
    for side, each in (("both", log(2 / delta)), ("lower", log(1 / delta))):
        entropy = log(patterns(k, d))
        at_once = sqrt(2 * (entropy + each) / k)
        about_mean = sqrt(2 * entropy / k) + sqrt((m + n) * each / (2 * m * n))
        assert linear(m, n, delta, d, side=side) == pytest.approx(min(at_once, about_mean))


def test_averaging_in_numbers():
    # At 200 and 200 items with 20 features the paper's bound is 4.19; about the mean ours is .94.
    assert linear(200, 200, 0.01, 20, "paper") == pytest.approx(4.19, abs=0.005)
    entropy = log(patterns(200, 20))
    assert sqrt(2 * entropy / 200) + sqrt(log(200) / 200) == pytest.approx(0.94, abs=0.005)
    assert linear(200, 200, 0.01, 20) == pytest.approx(0.815, abs=0.001)
    assert linear(20_000, 20_000, 0.01, 20, "paper") == pytest.approx(0.57, abs=0.005)
    assert linear(20_000, 20_000, 0.01, 20) == pytest.approx(0.124, abs=0.001)


def test_order_of_the_methods():
    for (m, n), d in product([(50, 50), (40, 360), (3000, 900)], [1, 3, 20, 100]):
        averaging, strict, central, paper, _ = (linear(m, n, 0.05, d, name) for name in METHODS)
        assert averaging < strict < central <= paper


@pytest.mark.parametrize("method", METHODS)
def test_deviation_and_probability_are_inverse(method):
    for delta in (0.9, 0.05, 1e-9):
        epsilon = linear(10_000, 30_000, delta, 2, method)
        found = auc_deviation_bound(epsilon, 10_000, 30_000, function_class=PLANE, method=method)
        assert found.value == pytest.approx(delta, rel=1e-6)
    assert found.value <= 1
    none = auc_deviation_bound(0.01, 10, 10, function_class=PLANE, method=method)
    assert none.value == 1
    tiny = auc_deviation_bound(0.9, 10**7, 10**7, function_class=PLANE, method=method)
    assert 0 < tiny.value < 1e-300


@pytest.mark.parametrize("method", METHODS)
def test_sample_size_suffices_and_is_needed(method):
    for share in (0.5, 0.1):
        functions = FunctionClass("linear", 3)
        n = auc_sample_size_bound(0.2, 0.05, share, function_class=functions, method=method)
        n = int(n.value)
        for size, enough in ((n, True), (n + 50, True), (n - 50, False)):
            m = round(share * size)
            assert (linear(m, size - m, 0.05, 3, method) <= 0.2) is enough


def test_sample_size_beyond_what_is_counted():
    found = auc_sample_size_bound(1e-9, 0.05, 0.5, function_class=PLANE)
    assert found.value == inf


@pytest.mark.parametrize("side", ["both", "lower", "upper"])
@pytest.mark.parametrize(
    "functions", [FunctionClass("linear", 1), FunctionClass("linear", 30), CURVES]
)
def test_default_is_the_smallest(functions, side):
    given = {"function_class": functions, "side": side}
    for (m, n), delta in product([(1, 1), (3, 70), (500, 40), (10**5, 10**5)], [1e-6, 0.05, 0.9]):
        default, *others = (
            auc_bound(m, n, delta, method=method, **given) for method in ("tightest", *METHODS)
        )
        assert default == others[0]
        assert all(default.value < other.value for other in others[1:])
    default, *others = (
        auc_deviation_bound(0.5, 9000, 7000, method=method, **given).value
        for method in ("tightest", *METHODS)
    )
    assert default == min(others) < 1
    default, *others = (
        auc_sample_size_bound(0.3, 0.05, 0.4, function_class=functions, method=method).value
        for method in ("tightest", *METHODS)
    )
    assert default == min(others)


def test_one_side_of_a_probability():
    both = auc_deviation_bound(0.2, 900, 700, function_class=PLANE).value
    one = auc_deviation_bound(0.2, 900, 700, function_class=PLANE, side="lower")
    assert one.value == pytest.approx(both / 2)
    assert one.target == "P(sup (AUC - expected AUC) >= 0.2)"


def test_what_a_bound_says():
    said = {
        (method, functions.kind): auc_bound(
            9,
            9,
            0.1,
            function_class=functions,
            method=method,
            labels="random" if method == "paper" else "fixed",
        )
        for method, functions in product(METHODS, (PLANE, CURVES))
    }
    paper, proofs = "Agarwal et al. (2005)", "sklearn_rank, Proofs of bounds"
    assert said["averaging", "linear"].theorem == f"{proofs}, Theorem 3"
    assert said["paper", "linear"].theorem == f"{paper}, Theorem 19 with Theorem 24"
    assert said["paper", "polynomial"].theorem == f"{paper}, Theorem 19 with Theorem 26"
    assert said["paper", "linear"].conditioned_on == ""
    assert said["central", "linear"].theorem == f"{paper}, Corollary 18, with {proofs}, Theorem 1"
    assert said["strict", "linear"].theorem == f"{paper}, Corollary 18, with {proofs}, Theorem 2"
    assert said["freund", "linear"].theorem == f"{paper}, Theorem 27"
    assert all(bound.delta == 0.1 for bound in said.values())
    assert said["freund", "linear"].target == "sup |AUC - expected AUC|"
    assert auc_bound(9, 9, 0.1, function_class=PLANE, side="upper").target == (
        "sup (expected AUC - AUC)"
    )


def test_values_of_each_method():
    """Recorded values, by class."""
    linear = FunctionClass("linear", n_features=4)
    quadratic = FunctionClass("polynomial", n_features=4, degree=2)
    for method, width, needed in (
        ("averaging", 0.27728934800129595, 2442),
        ("paper", 1.178413651209513, 56676),
        ("central", 1.135018710714662, 42212),
        ("strict", 1.1111344731478427, 40822),
        ("freund", 0.8065651962033038, 27096),
    ):
        given = {"function_class": quadratic, "method": method, "side": "upper"}
        assert auc_bound(3700, 2110, 0.03, **given).value == pytest.approx(width, rel=1e-12)
        found = auc_sample_size_bound(0.25, 0.03, 0.3, function_class=linear, method=method)
        assert found.value == needed
    for method, width in (
        ("mcdiarmid", 0.3258418374998878),
        ("hoeffding", 0.30055380702035944),
        ("kl", 0.28404048753207434),
        ("chebyshev", 0.7715200993281827),
    ):
        auc = 0.83 if method in ("kl", "chebyshev") else None
        found = auc_bound(37, 211, 0.03, function_class=12, method=method, auc=auc)
        assert found.value == pytest.approx(width, rel=1e-12)


# ---------------------------------------------------------------------- uniform: as a guarantee


@pytest.mark.parametrize(("k", "more"), [(5, 9), (40, 40), (200, 1000)])
def test_never_below_an_exact_value(k, more):
    """One feature; each of the fewer items beats all of the others, or none.

    The AUC of x is that of a binomial law, -x has one minus it, and 0 has no deviation: the
    supremum over the class is one deviation, of known law.
    """
    for expected in (0.5, 0.9):
        hits = np.arange(k + 1)
        law = binom.pmf(hits, k, expected)
        for delta, method in product((0.3, 0.01), METHODS):
            width = linear(k, more, delta, 1, method)
            assert law[np.abs(hits / k - expected) >= width].sum() <= delta
            below = linear(k, more, delta, 1, method, side="lower")
            assert law[hits / k - expected >= below].sum() <= delta


def test_a_class_that_can_do_everything_is_not_promised_anything():
    # n_features >= n_pos + n_neg: any order of the training rows, so an AUC of 1 without any
    # relation of features and labels.
    for m, n in ((5, 5), (20, 300), (100, 100)):
        for method in METHODS:
            assert linear(m, n, 0.5, m + n, method) > 0.5


def supremum(pos, neg, mean):
    """Largest one-sided and two-sided deviation over all directions in the plane.

    Classes are normal with unit covariance at ``mean`` and at 0. Between neighbouring critical
    angles the AUC of the sample does not change; the expected one is tried at their ends.
    """
    steps = (pos[:, None] - neg[None]).reshape(-1, 2)
    critical = np.arctan2(steps[:, 1], steps[:, 0]) + np.pi / 2
    angles = np.sort(np.mod(np.concatenate([critical, critical + np.pi]), 2 * np.pi))
    tiny = 1e-9
    tried = np.concatenate([angles + tiny, angles - tiny])
    direction = np.stack([np.cos(tried), np.sin(tried)])
    observed = np.mean(steps @ direction > 0, axis=0)
    gap = observed - norm.cdf(mean @ direction / sqrt(2))
    return gap.max(), np.abs(gap).max()


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(8, 8), (6, 30)])
def test_averaging_by_simulation_with_two_features(m, n):
    """The bound, and the two inequalities that it is made of."""
    rng = np.random.default_rng(m * n)
    mean, k = np.array([0.7, 0.2]), min(m, n)
    one, two = np.array(
        [
            supremum(rng.normal(size=(m, 2)) + mean, rng.normal(size=(n, 2)), mean)
            for _ in range(2000)
        ]
    ).T
    for delta in (0.5, 0.1):
        missed = np.sum(two >= linear(m, n, delta, 2))
        assert missed <= binom.ppf(0.999, len(two), delta)
        missed = np.sum(one >= linear(m, n, delta, 2, side="lower"))
        assert missed <= binom.ppf(0.999, len(one), delta)
    assert one.mean() <= sqrt(2 * log(patterns(k, 2)) / k)
    for scale in (0.5, 1.0, 2.0):
        moment = np.mean(np.exp(scale * k * one))
        assert moment <= patterns(k, 2) * exp(scale**2 * k / 2)
    # Not so loose that anything would pass.
    assert one.mean() > 0.15 * sqrt(2 * log(patterns(k, 2)) / k)


# ---------------------------------------------------------------------------------- finite classes


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_finite_class_by_the_exact_law(size):
    """Independent functions of all or nothing: all hold at once with a known probability."""
    for method in ("mcdiarmid", "hoeffding", "kl", "chebyshev"):
        k, expected, delta = 60, 0.8, 0.2
        hits = np.arange(k + 1)
        missed = 0.0
        for hit in hits:
            auc = hit / k if method in ("kl", "chebyshev") else None
            width = auc_bound(k, 90, delta, function_class=size, method=method, auc=auc).value
            if abs(hit / k - expected) >= width:
                missed += binom.pmf(hit, k, expected)
        assert 1 - (1 - missed) ** size <= delta


@pytest.mark.parametrize("method", ["mcdiarmid", "hoeffding", "chebyshev"])
def test_finite_class_probability_and_sample_size(method):
    given = {"function_class": 30, "method": method}
    sizes = (2000, 3000) if method == "chebyshev" else (200, 300)
    epsilon = auc_bound(*sizes, 0.05, **given).value
    assert auc_deviation_bound(epsilon, *sizes, **given).value == pytest.approx(0.05)
    assert auc_deviation_bound(0.01, 20, 30, **given).value == 1
    n = int(auc_sample_size_bound(0.1, 0.05, 0.25, **given).value)
    n += -n % 4
    assert auc_bound(n // 4, 3 * n // 4, 0.05, **given).value <= 0.1 + 1e-12
    n -= 8
    assert auc_bound(n // 4, 3 * n // 4, 0.05, **given).value > 0.1


def test_fold_mean_is_the_mean_of_the_widths():
    for method, side in product(("mcdiarmid", "hoeffding"), ("both", "lower", "upper")):
        found = auc_fold_mean_bound([10, 11, 12], [50, 50, 49], 0.1, method=method, side=side)
        widths = [
            auc_bound(m, n, 0.1, method=method, side=side).value
            for m, n in ((10, 50), (11, 50), (12, 49))
        ]
        assert found.value == pytest.approx(np.mean(widths))
        # At most that of the smallest fold's counts for all folds.
        assert found.value <= auc_bound(10, 49, 0.1, method=method, side=side).value
    several = auc_fold_mean_bound([10] * 3, [50] * 3, 0.1, n_functions=8).value
    assert several == pytest.approx(auc_bound(10, 50, 0.1 / 8, method="hoeffding").value)


def test_folds_are_not_surer_than_one():
    """Two folds, each turning the other's function so that they err to the same side.

    The deviations are binomial, d_1 and d_2, and the models' are sign(d_2) d_1 and sign(d_1) d_2:
    the size of their mean is the mean of the sizes.
    """
    k = 40
    hits = np.arange(k + 1)
    size = np.abs(hits / k - 0.5)
    law = np.outer(*2 * [binom.pmf(hits, k, 0.5)])
    mean = (size[:, None] + size[None]) / 2
    for delta in (0.5, 0.2, 0.05):
        width = auc_fold_mean_bound([k] * 2, [60] * 2, delta).value
        assert law[mean >= width].sum() <= delta
    # As if the folds were independent, it would be too narrow.
    pooled = auc_bound(2 * k, 120, 0.9, method="hoeffding").value
    fair = law[mean >= pooled].sum()
    independent = law[np.abs(np.add.outer(hits, hits) / (2 * k) - 0.5) >= pooled].sum()
    assert fair > 1.25 * independent


# -------------------------------------------------------------------------------------- refusals


@for_each(
    ("error", "change", "message"),
    [
        (ValueError, {"n_pos": -1}, "n_pos=-1 must be at least 0"),
        (TypeError, {"n_neg": 1.5}, "n_neg=1.5 must be a whole number"),
        (ValueError, {"delta": 0}, "delta=0 must be .* the probability of failure"),
        (ValueError, {"delta": 1.0}, "delta=1.0 must be .* the probability of failure"),
        (
            ValueError,
            {"method": "vc"},
            "method='vc' must be one of 'tightest', 'averaging', 'paper', 'central', 'strict',"
            " 'freund' for function_class=FunctionClass",
        ),
        (ValueError, {"side": "left"}, "side='left' must be one of"),
        (ValueError, {"labels": "drawn"}, "labels='drawn' must be one of"),
        (ValueError, {"auc": -0.1}, "auc=-0.1 must be"),
        (ValueError, {"function_class": 0}, "function_class=0 must be at least 1"),
        (TypeError, {"function_class": 2.0}, "function_class=2.0 must be None .* FunctionClass"),
        (TypeError, {"function_class": True}, "function_class=True must be None"),
        (TypeError, {"function_class": "linear"}, "function_class='linear' must be None"),
    ],
)
def test_bound_refuses(error, change, message):
    given = {"n_pos": 9, "n_neg": 8, "delta": 0.1, "function_class": PLANE} | change
    with pytest.raises(error, match=message):
        auc_bound(**given)


QUESTIONS = {
    "bound": lambda **given: auc_bound(9, 9, 0.1, **given),
    "deviation": lambda **given: auc_deviation_bound(0.1, 9, 9, **given),
    "sample size": lambda **given: auc_sample_size_bound(0.1, 0.1, 0.5, **given),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_methods_of_a_uniform_class_are_refused_for_others(question, method):
    for function_class in (None, 5):
        message = (
            f"method='{method}' must be one of 'tightest', 'mcdiarmid', .* for function_class="
        )
        with pytest.raises(ValueError, match=message):
            QUESTIONS[question](method=method, function_class=function_class)


@pytest.mark.parametrize("question", QUESTIONS)
def test_methods_of_one_function_are_refused_for_a_uniform_class(question):
    for method in ("mcdiarmid", "hoeffding", "kl", "chebyshev"):
        message = (
            f"method='{method}' must be one of 'tightest', 'averaging', .* for function_class="
        )
        with pytest.raises(ValueError, match=message):
            QUESTIONS[question](method=method, function_class=PLANE)


@pytest.mark.parametrize("function_class", [1, 5, PLANE])
def test_what_is_known_of_one_function_is_refused_for_several(function_class):
    for name in ("expected_auc", "variance"):
        with pytest.raises(ValueError, match=f"{name}=0.2 is for one function"):
            auc_deviation_bound(0.1, 9, 9, function_class=function_class, **{name: 0.2})


def test_kl_has_no_probability_for_several_functions():
    with pytest.raises(ValueError, match="'hoeffding', 'chebyshev' for function_class=5"):
        auc_deviation_bound(0.1, 9, 9, function_class=5, method="kl")


@pytest.mark.parametrize(
    ("error", "given", "message"),
    [
        (ValueError, {"kind": "trees", "n_features": 2}, "kind='trees' must be one of"),
        (ValueError, {"kind": "linear", "n_features": 0}, "n_features=0 must be at least 1"),
        (TypeError, {"kind": "linear", "n_features": None}, "n_features=None must be a whole"),
        (
            ValueError,
            {"kind": "linear", "n_features": 2, "degree": 2},
            "degree=2 is not allowed for kind='linear'",
        ),
        (ValueError, {"kind": "polynomial", "n_features": 2}, "kind='polynomial' needs degree"),
        (
            ValueError,
            {"kind": "polynomial", "n_features": 2, "degree": 0},
            "degree=0 must be at least 1",
        ),
    ],
)
def test_function_class_refuses(error, given, message):
    with pytest.raises(error, match=message):
        FunctionClass(**given)


def test_polynomials_are_linear_in_their_monomials():
    for d, q in product((1, 2, 5), (1, 2, 3)):
        dimension = sum(
            comb(d, i) * sum(comb(j - 1, i - 1) for j in range(1, q + 1)) for i in range(1, q + 1)
        )
        functions = FunctionClass("polynomial", n_features=d, degree=q)
        assert functions.n_weights == dimension
        for method in METHODS:
            found = auc_bound(70, 90, 0.1, function_class=functions, method=method).value
            assert found == linear(70, 90, 0.1, dimension, method)


def test_fold_mean_refuses():
    with pytest.raises(ValueError, match="n_pos=20 must list"):
        auc_fold_mean_bound(20, 20, 0.1)
    with pytest.raises(ValueError, match=r"n_neg=\[\] must list"):
        auc_fold_mean_bound([3], [], 0.1)
    with pytest.raises(ValueError, match="n_pos has 2 folds, but n_neg has 1"):
        auc_fold_mean_bound([3, 3], [3], 0.1)
    with pytest.raises(ValueError, match=r"n_pos\[1\]=-3 must be at least 0"):
        auc_fold_mean_bound([3, -3], [3, 3], 0.1)
    with pytest.raises(TypeError, match=r"n_neg\[1\]=2\.5 must be a whole number"):
        auc_fold_mean_bound([3, 3], [3, 2.5], 0.1)
    with pytest.raises(ValueError, match="method='kl' must be one of"):
        auc_fold_mean_bound([3, 3], [3, 3], 0.1, method="kl")
    with pytest.raises(ValueError, match="n_functions=0 must be at least 1"):
        auc_fold_mean_bound([3, 3], [3, 3], 0.1, n_functions=0)


def test_what_finite_class_bounds_say():
    given = {"function_class": 5}
    found = auc_bound(9, 9, 0.1, method="mcdiarmid", labels="random", **given)
    assert found.theorem == "Agarwal et al. (2005), Theorem 13"
    assert found.conditioned_on == ""
    assert found.target == "|AUC of the chosen function - expected AUC|"
    found = auc_bound(9, 9, 0.1, method="hoeffding", side="upper", **given)
    assert found.theorem.startswith("sklearn_rank, Proofs of bounds, Theorem 4, by Hoeffding")
    assert found.target == "expected AUC - AUC of the chosen function"
    found = auc_bound(9, 9, 0.1, method="chebyshev", side="lower", **given)
    assert found.theorem == (
        "Chebyshev's inequality with Agarwal et al. (2005), Equation 14, for all functions"
    )
    assert found.target == "AUC of the chosen function - expected AUC"
    found = auc_deviation_bound(0.1, 9, 9, method="mcdiarmid", **given)
    assert found.theorem == "Agarwal et al. (2005), Theorem 10"
    found = auc_sample_size_bound(0.1, 0.1, 0.5, method="mcdiarmid", **given)
    assert found.theorem == "Agarwal et al. (2005), Corollary 12"
    assert auc_fold_mean_bound([3], [4], 0.1, side="upper").target == (
        "mean expected AUC of their models - mean AUC of the folds"
    )
