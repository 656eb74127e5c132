"""Interval for the AUC: its variance pair by pair, its edges, its symmetries, its coverage."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_rank.bounds import auc_bound
from sklearn_rank.bounds._bound import score_limits
from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._evidence import check_lists
from sklearn_rank.inference._roc import auc_score_limits, sample_moments
from sklearn_rank.metrics import get_measure
from tests.naming import for_each
from tests.oracles import auc_variance as oracle
from tests.oracles.groups import robust_variance

WITH_GROUPS = ("wilson", "logit-delong", "delong")
METHODS = (*WITH_GROUPS, "chebyshev", "kl", "mcdiarmid")
GOLDEN = Path(__file__).parents[1] / "golden" / "rank_compare_2indep.json"
ESTIMATED = ("delong", "logit-delong", "chebyshev")
SAFE = tuple(method for method in METHODS if method not in ESTIMATED)
GUARANTEED = ("mcdiarmid", "kl")
Z = norm.ppf(0.975)


def samples(n_samples=40, seed=0):
    """Small samples of few values, with at least two items of each class."""
    rng = np.random.default_rng(seed)
    for _ in range(n_samples):
        n_pos, n_neg = rng.integers(2, 8, 2)
        levels = int(rng.integers(2, 9))
        yield rng.integers(0, levels, n_pos) + rng.integers(0, 3), rng.integers(0, levels, n_neg)


def joined(pos, neg):
    return np.repeat([1, 0], [len(pos), len(neg)]), np.concatenate([pos, neg])


def interval(pos, neg, **arguments):
    return metric_interval("auc", *joined(pos, neg), **arguments)


# --------------------------------------------------------------------------------- the variance


@pytest.mark.parametrize("seed", range(3))
def test_moments(seed):
    for pos, neg in samples(seed=seed):
        y, score = joined(pos, neg)
        (evidence,) = check_lists(get_measure("auc"), y, [score])
        found = sample_moments(evidence.data)
        of_pos, of_neg = oracle.placements(pos, neg)
        assert found.auc == pytest.approx(oracle.auc(pos, neg))
        assert found.variances[0] == pytest.approx(oracle.sample_variance(of_pos))
        assert found.variances[1] == pytest.approx(oracle.sample_variance(of_neg))
        assert found.tied == pytest.approx(oracle.tied(pos, neg))
        assert found.variance == pytest.approx(oracle.delong(pos, neg))
        assert found.unbiased_variance() == pytest.approx(oracle.unbiased(pos, neg), abs=1e-14)


def test_against_statsmodels():
    for case in json.loads(GOLDEN.read_text())["cases"]:
        found = interval(case["pos"], case["neg"], method="delong")
        assert found.estimate == pytest.approx(case["auc"])
        assert found.standard_error == pytest.approx(case["standard_error"])
        assert found.low == pytest.approx(max(case["low"], 0))
        assert found.high == pytest.approx(min(case["high"], 1))


# ----------------------------------------------------------------------------------- the limits


def test_limits_by_definition():
    for pos, neg in samples():
        value, variance = oracle.auc(pos, neg), oracle.delong(pos, neg)
        n = len(pos) + len(neg)
        lehmann = oracle.unbiased(pos, neg)
        if not 0 < value < 1 or min(variance, lehmann) <= 1e-12:
            continue
        reaches = {
            "delong": Z * np.sqrt(variance),
            "chebyshev": np.sqrt(lehmann / 0.05),
            "mcdiarmid": np.sqrt(np.log(40) * n / (2 * len(pos) * len(neg))),
        }
        for method, reach in reaches.items():
            found = interval(pos, neg, method=method)
            assert found.low == pytest.approx(max(value - reach, 0.0), abs=1e-14)
            assert found.high == pytest.approx(min(value + reach, 1.0), abs=1e-14)


@pytest.mark.parametrize("method", GUARANTEED)
def test_the_bounds_from_counts_agree(method):
    for pos, neg in samples(20, seed=9):
        found = interval(pos, neg, level=0.9, method=method)
        known = {"auc": found.estimate} if method == "kl" else {}
        bound = auc_bound(len(pos), len(neg), 0.1, method=method, **known).value
        farther = max(found.estimate - found.low, found.high - found.estimate)
        if found.low > 0 or found.high < 1:
            assert farther == pytest.approx(min(bound, max(found.estimate, 1 - found.estimate)))


def test_default_by_definition():
    for pos, neg in samples(seed=3):
        value, share = oracle.auc(pos, neg), 0.0
        for placed in oracle.placements(pos, neg):
            n = len(placed)
            seen = sum((v - value) ** 2 for v in placed)
            largest = (n - 1) * value * (1 - value)
            share += (seen + (1 + 1 / n) / 8) / (largest + 1 / 4) / n
        found, unseen = interval(pos, neg), 1 / (4 * min(len(pos), len(neg)))
        expected = oracle.score_limits(value, share, unseen, Z)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("effect", "unseen"), [(1e-9, 1e-4), (0.3, 0.0), (0.3, 0.25), (1.0, 1e-4)]
)
def test_score_limits_solve_their_equation(effect, unseen):
    for auc in (0.0, 1e-9, 0.5, 0.7, 1.0):
        low, high = map(float, auc_score_limits(auc, effect, unseen, Z))
        expected = oracle.score_limits(auc, effect, unseen, Z)
        assert (low, high) == pytest.approx(expected, abs=1e-12)
        assert (low == 0.0) == (auc == 0.0)
        assert (high == 1.0) == (auc == 1.0)
        # Mirrored, and without a step where the AUC passes 1/2.
        mirrored = np.array(auc_score_limits(1 - auc, effect, unseen, Z))
        assert mirrored == pytest.approx(np.array([1 - high, 1 - low]))
        near = np.array(auc_score_limits(min(auc + 1e-12, 1.0), effect, unseen, Z))
        assert near == pytest.approx(np.array([low, high]), abs=1e-5)


def test_without_unseen_items_the_limits_are_wilsons():
    for auc, effect in product((0.0, 0.2, 0.5, 0.95, 1.0), (0.01, 0.4)):
        found, expected = auc_score_limits(auc, effect, 0.0, Z), score_limits(auc, Z**2 * effect)
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_logit_is_symmetric_on_its_scale():
    found = interval([3, 5, 2], [1, 4, 0, 2], method="logit-delong")
    logit = [np.log(v / (1 - v)) for v in (found.low, found.estimate, found.high)]
    assert logit[1] - logit[0] == pytest.approx(logit[2] - logit[1])
    slope = 1 / (found.estimate * (1 - found.estimate))
    assert logit[1] - logit[0] == pytest.approx(Z * found.standard_error * slope)


# ---------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("method", SAFE)
def test_safe_everywhere(method):
    """Width, no NaN, inside [0, 1], around the AUC: one item of a class, perfect, all tied."""
    edges = [([1], [0]), ([0], [1]), ([1], [1]), ([5], [1, 2, 3]), ([2], [1, 2, 3])]
    edges += [([4, 5, 6], [1, 2, 3]), ([1, 1, 1], [1, 1]), ([9] * 50, [1]), (range(90), [200])]
    for pos, neg in [*edges, *samples(20, seed=7)]:
        for level in (0.5, 0.95, 0.9999):
            found = interval(pos, neg, level=level, method=method)
            assert 0 <= found.low <= found.estimate <= found.high <= 1
            assert found.width > 0
            assert found.high == 1 or found.estimate < 1


# -------------------------------------------------------------------------------------- groups


def grouped(rng, n_groups=8):
    sizes = rng.integers(1, 6, n_groups)
    groups = np.repeat(np.arange(n_groups), sizes)
    y = rng.integers(0, 2, len(groups))
    y[:2], y[-2:] = [0, 1], [0, 1]
    return y, rng.integers(0, 6, len(y)) + y, groups


@pytest.mark.parametrize("seed", range(4))
def test_groups_by_definition(seed):
    y, score, groups = grouped(np.random.default_rng(seed))
    placements = np.empty(len(y))
    for of_class, values in zip(
        (1, 0), oracle.placements(score[y == 1], score[y == 0]), strict=True
    ):
        placements[y == of_class] = values
    expected = robust_variance(placements, y, groups)
    names = np.array(["p", "q", "b", "a", "z", "k", "c", "x"])[groups]
    found = metric_interval("auc", y, score, groups=names, method="delong")
    assert found.standard_error**2 == pytest.approx(expected)


def test_one_group_of_a_class():
    # All positives depend on each other: one draw, and what one draw may lack.
    y, score, groups = [1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], [0, 0, 0, 1, 2, 3]
    found = metric_interval("auc", y, score, groups=groups)
    assert found.low == pytest.approx(1 / (1 + 1.25 * Z**2))
    assert (found.low, found.high) == pytest.approx(oracle.score_limits(1.0, 1.0, 0.25, Z))
    with pytest.raises(ValueError, match="one group with items of a class: choose"):
        metric_interval("auc", y, score, groups=groups, method="delong")


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("method", ESTIMATED)
def test_no_certainty_from_no_spread(method):
    with pytest.raises(ValueError, match="variance of 0 at an AUC of 1, so the interval"):
        interval([4, 5, 6], [1, 2, 3], method=method)
    with pytest.raises(ValueError, match="there is only one item of a class"):
        interval([4], [1, 5, 3], method=method)


@for_each(
    ("arguments", "message"),
    [
        ({"level": 1.0}, r"level=1\.0 must be a number in \(0, 1\)\."),
        ({"method": "bootstrap"}, "method='bootstrap' does not support auc of one list"),
        ({"sample_weight": [1, 2, 1, 1]}, "pass weights='frequency' if each row"),
        ({"weights": "frequency"}, "sample_weight is None: pass sample_weight"),
        (
            {"sample_weight": [1, 0.5, 1, 1], "weights": "frequency"},
            "sample_weight is 0.5 at row 1, but weights='frequency'",
        ),
        (
            {"sample_weight": [1, 1, 1, 1], "weights": "sampling", "method": "kl"},
            "does not support weights='sampling'",
        ),
        ({"groups": [1, 1, 1, 1]}, "groups has one group only"),
        ({"groups": [2, 2]}, "groups has 2 entries for 4 rows.*pass groups=np.repeat"),
        ({"groups": [1, None, 2, 3]}, "groups is missing at row 1"),
        ({"pos_label": 3}, "pos_label=3 is not among"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        metric_interval("auc", [0, 1, 0, 1], [1, 2, 3, 4], **arguments)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_knows_nothing(label):
    with pytest.warns(UndefinedMetricWarning, match="items of one class only"):
        found = metric_interval("auc", [label, label], [1, 2])
    assert np.isnan(found.estimate)
    assert (found.low, found.high) == (0, 1)


# ------------------------------------------------------------------------------------ coverage


def draws(shape, n_pos, n_neg, auc, rng):
    if shape == "exponential":
        return rng.exponential(auc / (1 - auc), n_pos), rng.exponential(1.0, n_neg)
    spread = {"normal": 1.0, "wide": 2.0}[shape]
    shift = np.sqrt(1 + spread**2) * norm.ppf(auc)
    return shift + spread * rng.normal(size=n_pos), rng.normal(size=n_neg)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "wide", "exponential"])
def test_coverage(shape):
    """The default within 1.5 % below nominal, the guarantees above it, DeLong seen to fail."""
    rng = np.random.default_rng([6, len(shape)])
    n_samples = 200
    every = list(product([(10, 90), (40, 40), (100, 500)], (0.7, 0.95)))
    for (n_pos, n_neg), auc in every if shape == "normal" else every[1::2]:
        covered = dict.fromkeys(("wilson", *GUARANTEED), 0)
        for _ in range(n_samples):
            pos, neg = draws(shape, n_pos, n_neg, auc, rng)
            for method in covered:
                covered[method] += auc in interval(pos, neg, method=method)
        error = np.sqrt(0.05 / n_samples)
        for method, count in covered.items():
            least = 0.935 if method == "wilson" else 0.95
            assert count / n_samples >= least - 3 * error, (method, n_pos, n_neg, auc)
        if shape == "normal" and n_pos > 10:
            assert covered["wilson"] / n_samples <= 0.975 + 3 * error
