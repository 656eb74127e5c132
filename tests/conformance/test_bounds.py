"""All bounds: counts of any integer type, arguments at the ends of their range, what is refused.

What a new bound needs here is a call; that none is missing is a test too.
"""

import inspect
import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isnan, log
from typing import Any

import numpy as np
import pytest

from sklearn_rank import bounds, inference
from sklearn_rank.bounds import Bound, FunctionClass
from tests.naming import for_each

INTEGERS = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64)
FLOATS = (np.float16, np.float32, np.longdouble, Fraction)
PLANE = FunctionClass("linear", n_features=2)


def phi(u):
    return u


@dataclass(frozen=True)
class Call:
    """A function with arguments, and which of them are counts, shares and numbers."""

    function: Any
    given: dict
    counts: tuple = ()
    shares: tuple = ("delta",)
    numbers: tuple = ()
    others: dict = field(default_factory=dict)

    def __call__(self, **changed):
        found = self.function(**{**self.given, **self.others, **changed})
        if isinstance(found, Bound):
            return found.value
        return found.width if hasattr(found, "width") else log(found.n_weights)

    def __str__(self):
        shown = [self.function.__name__, *(str(value) for value in self.others.values())]
        return "-".join(shown)


SIZES = {"n_pos": 120, "n_neg": 100}
CALLS = [
    *(
        Call(
            bounds.auc_bound, {**SIZES, "delta": 0.05}, ("n_pos", "n_neg"), others={"method": name}
        )
        for name in ("tightest", "mcdiarmid", "hoeffding", "chebyshev")
    ),
    Call(
        bounds.auc_bound,
        {**SIZES, "delta": 0.05, "auc": 0.75, "function_class": 100},
        ("n_pos", "n_neg", "function_class"),
        numbers=("auc",),
        others={"method": "kl"},
    ),
    *(
        Call(
            bounds.auc_bound,
            {**SIZES, "delta": 0.05, "function_class": PLANE},
            ("n_pos", "n_neg"),
            others={"method": name},
        )
        for name in ("averaging", "paper", "central", "strict", "freund")
    ),
    *(
        Call(
            bounds.auc_deviation_bound,
            {**SIZES, "epsilon": 0.125, "function_class": 100},
            ("n_pos", "n_neg", "function_class"),
            ("epsilon",),
            others={"method": name},
        )
        for name in ("tightest", "mcdiarmid", "hoeffding", "chebyshev")
    ),
    Call(
        bounds.auc_deviation_bound,
        {**SIZES, "epsilon": 0.125, "expected_auc": 0.75, "variance": 0.001953125},
        ("n_pos", "n_neg"),
        ("epsilon",),
        ("expected_auc", "variance"),
    ),
    Call(
        bounds.auc_deviation_bound,
        {**SIZES, "epsilon": 0.5, "function_class": PLANE},
        ("n_pos", "n_neg"),
        ("epsilon",),
    ),
    *(
        Call(
            bounds.auc_sample_size_bound,
            {"epsilon": 0.125, "delta": 0.0625, "prevalence": 0.25, "function_class": 100},
            ("function_class",),
            ("epsilon", "delta", "prevalence"),
            others={"method": name},
        )
        for name in ("mcdiarmid", "hoeffding", "chebyshev")
    ),
    Call(
        bounds.auc_sample_size_bound,
        {"epsilon": 0.5, "delta": 0.5, "prevalence": 0.5, "function_class": PLANE},
        (),
        ("epsilon", "delta", "prevalence"),
    ),
    Call(
        bounds.auc_variance_bound,
        {**SIZES, "expected_auc": 0.75},
        ("n_pos", "n_neg"),
        (),
        ("expected_auc",),
    ),
    Call(
        bounds.auc_fold_mean_bound,
        {"n_pos": [120] * 3, "n_neg": [100] * 3, "delta": 0.05, "n_functions": 100},
        ("n_pos", "n_neg", "n_functions"),
    ),
    Call(
        bounds.pooled_distribution_bound,
        {"n": 120, "delta": 0.05},
        ("n",),
    ),
    Call(
        bounds.linear_rank_bound,
        {"n": 120, "n_pos": 100, "delta": 0.05, "lipschitz": 1.0, "height": 1.0},
        ("n", "n_pos"),
        numbers=("lipschitz", "height"),
    ),
    Call(
        bounds.linear_rank_selection_bound,
        {"n": 120, "n_pos": 100, "delta": 0.05, "vc_dimension": 3, "lipschitz": 1.0},
        ("n", "n_pos", "vc_dimension"),
        numbers=("lipschitz",),
    ),
    Call(
        bounds.linear_rank_sandwich_bound,
        {"rank_pos": [3, 50, 120], "n": 120, "delta": 0.05, "phi": phi},
        ("rank_pos", "n"),
    ),
    Call(
        bounds.precision_at_top_bound,
        {"rank_pos": [3, 50, 120], "n": 120, "delta": 0.05, "tau": 0.25},
        ("rank_pos",),  # n ranks are laid out
        ("delta", "tau"),
    ),
    Call(
        bounds.plug_in_rank_bound,
        {"error": 0.0625, "prevalence": 0.25, "height": 1.0},
        (),
        ("prevalence",),
        ("error", "height"),
    ),
    Call(
        bounds.auc_margin_bound,
        {
            "score_pos": [120, 90],
            "score_neg": [100, 80],
            "delta": 0.05,
            "radius": 10.0,
            "norm": 20.0,
            "rho": 8.0,
        },
        ("score_pos", "score_neg"),
        numbers=("radius", "norm", "rho"),
    ),
    Call(
        bounds.accuracy_at_top_margin_bound,
        {
            "margins_neg": [120, 90],
            "margins_pos": [100, 80],
            "delta": 0.05,
            "radius": 10.0,
            "norm": 25.0,
            "squares": (4.0, 9.0),
        },
        ("margins_neg", "margins_pos"),
        numbers=("radius", "norm"),
    ),
    Call(FunctionClass, {"kind": "linear", "n_features": 120}, ("n_features",), ()),
    Call(
        FunctionClass,
        {"kind": "polynomial", "n_features": 120, "degree": 3},
        ("n_features", "degree"),
        (),
    ),
    Call(
        inference.sample_size,
        {"measure": "auc", "prevalence": 0.25, "level": 0.9375, "n": 120},
        ("n",),
        ("prevalence", "level"),
        others={"expected": 0.75},
    ),
]
# One call of each function is enough where the arguments are checked, not used.
ONCE = list({call.function: call for call in reversed(CALLS)}.values())


def converted(value, kind):
    if isinstance(value, list):
        return np.array(value, dtype=kind)
    return kind(value)


def test_every_bound_has_a_call():
    called = {call.function for call in CALLS}
    public = {getattr(bounds, name) for name in bounds.__all__} - {Bound}
    assert public <= called
    for call in ONCE:
        names = set(inspect.signature(call.function).parameters)
        assert {*call.counts, *call.shares, *call.numbers} <= names


@for_each("call", CALLS)
def test_counts_and_numbers_of_any_type(call):
    expected = call()
    for kind in INTEGERS:
        changed = {name: converted(call.given[name], kind) for name in call.counts}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call(**changed) == expected
    for kind in FLOATS:
        # What float16 holds of .05 is another number, of which the value is meant.
        changed = {name: kind(call.given[name]) for name in (*call.shares, *call.numbers)}
        assert call(**changed) == call(**{name: float(value) for name, value in changed.items()})


LEAST, MOST = np.finfo(float).smallest_subnormal, 1.0 - 2.0**-53
SHARES = (LEAST, 1e-300, 1e-17, MOST)
BEYOND = (Fraction(1, 10**400), 1 - Fraction(1, 10**400), 10**400, -(10**5000), "0.1", True)


@for_each("call", CALLS)
def test_numbers_at_the_ends_of_their_range(call):
    for name in call.shares:
        for value in SHARES:
            found = call(**{name: value})
            assert found >= 0.0
            assert not isnan(found)
        for value in BEYOND:
            if value == BEYOND[1] and name == "epsilon":
                continue
            with pytest.raises(ValueError, match=f"{name}=.* must be a number in"):
                call(**{name: value})
    # Huge counts are exact or refused.
    for name in call.counts:
        listed = isinstance(call.given[name], list)
        if listed and name != "n_pos" and name != "n_neg":
            continue
        for huge in (2**53, 2**64, 2**1100, 10**400, 10**5000):
            # Counts with which the others are in range.
            larger = {"n": 2**53} if name == "n_pos" and "n" in call.given else {}
            value = [huge] * len(call.given[name]) if listed else huge
            changed = {**larger, name: value}
            if huge == 2**53 or name in ("function_class", "n_functions"):
                found = call(**changed)
                assert found >= 0.0
                assert not isnan(found)
                continue
            with pytest.raises(
                ValueError, match=r"at most 9007199254740992|positives cannot be"
            ) as refusal:
                call(**changed)
            assert len(str(refusal.value)) < 300
    for name in call.counts:
        with pytest.raises((TypeError, ValueError), match=name):
            call(**{name: "120"})


def test_probabilities_in_logarithms():
    # As many functions as float64 cannot count, each with a share of delta that is none.
    found = bounds.auc_bound(10**6, 10**6, 1e-300, function_class=2**1100).value
    exact = np.sqrt((1101 * np.log(2) + 300 * np.log(10)) / 2e6)
    assert found == pytest.approx(exact, rel=1e-12)
    found = bounds.auc_deviation_bound(0.03, 10**6, 10**6, function_class=2**1100).value
    assert found == pytest.approx(np.exp(1101 * np.log(2) - 1800), rel=1e-9)
    found = bounds.auc_fold_mean_bound([10**6], [10**6], LEAST, n_functions=10**400).value
    exact = np.sqrt((np.log(2) - np.log(LEAST) + 400 * np.log(10)) / 2e6)
    assert found == pytest.approx(exact, rel=1e-12)
    found = bounds.auc_sample_size_bound(0.1, LEAST, 0.5, function_class=10**400).value
    exact = (np.log(2) - np.log(LEAST) + 400 * np.log(10)) / 0.01
    assert found == pytest.approx(exact, abs=1.0)
    assert bounds.auc_sample_size_bound(1e-200, 0.1, 0.5).value == inf
    # A small AUC: KL(p || q) = -ln(1 - q) + O(p ln(p / q)).
    found = bounds.auc_bound(2**53, 2**53, 0.5, auc=1e-300, method="kl", side="upper").value
    assert found == pytest.approx(np.log(2) / 2**53, rel=1e-2)


def test_classes_of_more_weights_than_can_be_added_up():
    sizes = [(10**5, 10**4), (10**7, 10**6), (10**7, 10**6 + 1), (10**9, 10**8), (10**15, 10**14)]
    for method in ("averaging", "central", "strict", "freund"):
        widths = [
            bounds.auc_bound(
                *(n, n, 0.05), function_class=FunctionClass("linear", d), method=method
            ).value
            for n, d in sizes
        ]
        # The bound of a sum takes over from the sum at a million terms.
        assert widths[1] < widths[2] < widths[1] * (1 + 1e-5)
        if method == "averaging":
            # A tenth as many weights as items, whatever their number.
            np.testing.assert_allclose(widths, widths[2], rtol=1e-2)
    found = bounds.linear_rank_selection_bound(
        *(2**53, 2**53, 0.05), vc_dimension=2**53, lipschitz=1.0
    )
    assert found.value == pytest.approx(4 * np.sqrt(2 * np.log(2)))
    with pytest.raises(ValueError, match="exceed 1000 both"):
        FunctionClass("polynomial", n_features=10**6, degree=10**6)


# ------------------------------------------------------------------------ arguments without a part


@for_each(
    ("call", "name"),
    [
        (lambda: bounds.auc_bound(9, 9, 0.1, auc=0.9, method="hoeffding"), "auc"),
        (lambda: bounds.auc_bound(9, 9, 0.1, auc=0.9, method="mcdiarmid"), "auc"),
        (lambda: bounds.auc_bound(9, 9, 0.1, auc=0.9, function_class=PLANE), "auc"),
        (
            lambda: bounds.auc_deviation_bound(0.1, 9, 9, expected_auc=0.9, method="hoeffding"),
            "expected_auc",
        ),
        (
            lambda: bounds.auc_deviation_bound(
                0.1, 9, 9, expected_auc=0.9, variance=0.1, method="chebyshev"
            ),
            "expected_auc",
        ),
        (
            lambda: bounds.auc_deviation_bound(
                0.1, 9, 9, expected_auc=0.9, variance=0.1, method="kl"
            ),
            "variance",
        ),
        (
            lambda: bounds.auc_deviation_bound(0.1, 9, 9, variance=0.1, method="mcdiarmid"),
            "variance",
        ),
    ],
)
def test_an_argument_that_the_method_ignores_is_refused(call, name):
    with pytest.raises(ValueError, match=f"{name}=.* is not used by method='"):
        call()


# ----------------------------------------------------------------------------- scores of functions

NO_SCORES = [
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([1 + 2j]),
    [1 + 2j],
    np.ma.masked_array([1.0], mask=[True]),
    ["1.0"],
    [None],
    [[1.0, 2.0]],
]


@for_each(
    "call",
    [
        lambda values: bounds.auc_margin_bound(values, [0.5], 0.1, radius=1, norm=1),
        lambda values: bounds.auc_margin_bound([0.5], values, 0.1, radius=1, norm=1),
        lambda values: bounds.accuracy_at_top_margin_bound(values, [0.5], 0.1, radius=1, norm=1),
        lambda values: bounds.accuracy_at_top_margin_bound([0.5], values, 0.1, radius=1, norm=1),
        lambda values: bounds.linear_rank_sandwich_bound(values, 5, 0.1, phi),
    ],
)
def test_what_is_no_list_of_numbers(call):
    for values in NO_SCORES:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=r"score_|margins_|rank_pos"):
                call(values)


def test_scores_that_radius_and_norm_make_impossible():
    # Two rows of norm 3 are at most 2 * 3 * .5 apart for weights of norm .5.
    for scale in (1.0, 1e-150, 1e150):
        reach = {"radius": 3.0 * scale, "norm": 0.5}
        ends = np.array([-1.5, 1.5]) * scale
        low, high = ends
        for shift in (0.0, 5.0 * scale):
            assert bounds.auc_margin_bound([high + shift], [low + shift], 0.1, **reach).value > 0
        assert bounds.accuracy_at_top_margin_bound([-low], [high], 0.1, **reach).value > 0
        with pytest.raises(ValueError, match="functions of this norm have a range of at most"):
            bounds.auc_margin_bound([high * 1.001], [low], 0.1, **reach)
        with pytest.raises(ValueError, match="functions of this norm have a range of at most"):
            bounds.auc_margin_bound([high, low], [2 * high, 0.0], 0.1, **reach)
        with pytest.raises(ValueError, match="functions of this norm have a range of at most"):
            bounds.accuracy_at_top_margin_bound([-low * 1.001], [high], 0.1, **reach)


def test_products_that_float64_does_not_hold():
    for radius, norm in ((1e200, 1e200), (1e-200, 1e-200)):
        with pytest.raises(ValueError, match="in floating-point numbers: scale the features"):
            bounds.auc_margin_bound([0.0], [0.0], 0.1, radius=radius, norm=norm)
    for fixed in (False, True):
        with pytest.raises(ValueError, match="the bound is infinite"):
            bounds.auc_margin_bound([0.0], [0.0], 0.1, radius=1, norm=1, rho=LEAST, fixed=fixed)
    for squares in (0.5, "ab", (0.5,), (0.1, 0.2, 0.3)):
        with pytest.raises(ValueError, match="squares"):
            bounds.accuracy_at_top_margin_bound(
                [0.1], [0.1], 0.1, radius=1, norm=1, squares=squares
            )
