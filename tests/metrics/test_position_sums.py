"""Sums over runs of positions: in closed form what they are one by one."""

from functools import partial

import numpy as np
import pytest

from sklearn_rank.metrics._tied_sums import LogarithmicRun, NormalQuantileRun, PowerRun
from tests.naming import for_each
from tests.oracles import position_sums as oracle

N = 100_000
EXPONENTS = (0.01, 0.5, 1.0, 2.5, 4.0, 30.0, 300.0, 6000.0, 1e5, 1e7, 1e300)
# Below the smallest normal number values have fewer digits.
TINY = np.finfo(float).tiny
RUNS = {
    "logarithm": (LogarithmicRun(), oracle.logarithmic, N - 1),
    # Up to the middle of the list.
    "normal quantile": (NormalQuantileRun(), oracle.normal_quantile, N // 2),
    **{f"power {p:g}": (PowerRun(p), partial(oracle.power, p=p), N - 1) for p in EXPONENTS},
}
every_run = pytest.mark.parametrize(("run", "function", "last"), RUNS.values(), ids=RUNS)


def sums(run, before, count, length=N):
    arrays = np.broadcast_arrays(
        *(np.atleast_1d(x).astype(float) for x in (before, count, length))
    )
    return run.sums(*arrays)


def random_runs(last, n, seed):
    """Runs that begin and end anywhere, early ones and short ones as often as others."""
    rng = np.random.default_rng(seed)
    before = np.floor(last ** rng.uniform(0, 1, n)) - 1
    count = np.floor((last - before) ** rng.uniform(0, 1, n))
    return before.astype(int), count.astype(int)


@every_run
def test_sums_are_those_one_by_one(run, function, last):
    before, count = random_runs(last, 12, 0)
    ends = [(0, last), (last - 70, 70), (0, 65), (63, 66), (0, 1)]
    pairs = [*zip(before.tolist(), count.tolist(), strict=True), *ends]
    expected = np.array([oracle.run(function, *pair, N) for pair in pairs])
    found = sums(run, *np.array(pairs).T)
    # The oracle's own power has a relative error of up to p times that of the share.
    digits = 1e-13 if not isinstance(run, PowerRun) else 1e-13 + 3e-16 * min(run.p, 745 * N)
    normal = np.abs(expected) >= TINY
    np.testing.assert_allclose(found[normal], expected[normal], rtol=digits)
    assert np.abs(found[~normal] - expected[~normal]).max(initial=0.0) <= TINY


@every_run
def test_a_run_is_the_sum_of_its_parts(run, function, last):
    before, count = random_runs(last, 300, 1)
    first = np.floor(count * np.random.default_rng(2).uniform(0, 1, 300))
    whole = sums(run, before, count)
    parts = sums(run, before, first) + sums(run, before + first, count - first)
    np.testing.assert_allclose(parts, whole, rtol=2e-13, atol=TINY)
    assert sums(run, before, np.zeros(300)).tolist() == [0.0] * 300


@every_run
def test_later_runs_keep_the_order_of_the_values(run, function, last):
    # Discounts fall, quantiles and powers rise.
    before, count = random_runs(last - 1, 300, 3)
    here, later = sums(run, before, count), sums(run, before + 1, count)
    rise = here - later if isinstance(run, LogarithmicRun) else later - here
    assert (rise >= -2e-14 * np.abs(here)).all()
    if not isinstance(run, NormalQuantileRun):
        # Values are not negative: longer runs have more.
        assert (sums(run, before, count + 1) >= here * (1 - 2e-14)).all()


@for_each("length", [1e8, 1e12, 1e16, 1e40, 1e140])
def test_long_runs_have_their_limits(length):
    zero, rtol = np.zeros(1), 20 / length**0.5 + 1e-12
    n = np.array([length])
    mean = oracle.logarithmic_integral(length)
    assert LogarithmicRun().sums(zero, n, n)[0] == pytest.approx(mean, rel=max(rtol, 1e-8))
    half = NormalQuantileRun().sums(zero, n / 2, n)[0]
    assert half / length == pytest.approx(oracle.lower_normal_mean(0.5), rel=rtol)
    tenth = NormalQuantileRun().sums(zero, np.floor(n / 10), n)[0]
    assert tenth / length == pytest.approx(oracle.lower_normal_mean(0.1), rel=rtol)
    for p in (0.01, 0.5, 1.0, 4.0, 300.0):
        whole = PowerRun(p).sums(zero, n, n)[0]
        assert whole / length == pytest.approx(oracle.power_mean(p), rel=max(rtol, 2 * p / length))


def test_a_power_beyond_the_length_leaves_the_last_position():
    for p in (1e150, 1e300):
        assert sums(PowerRun(p), 0, N) == pytest.approx([1.0])
    assert PowerRun(1e300).sums(np.zeros(1), np.array([1e140]), np.array([1e140])) == (
        pytest.approx([1.0])
    )


def test_sums_of_nothing_but_tiny_values_lose_digits_and_no_more():
    # (27 / 1e5)**300 to (8950 / 1e5)**300: all below 1e-308.
    expected = oracle.run(oracle.power, 27, 8923, N, p=300.0)
    found = sums(PowerRun(300.0), 27, 8923)[0]
    assert 0 < expected < TINY
    assert found == pytest.approx(expected, rel=1e-6, abs=0)
    assert found != pytest.approx(expected, rel=1e-11, abs=0)


# --------------------------------------------------------------------------- parts of positions


@pytest.mark.parametrize("name", ["logarithm", "normal quantile", "power 4"])
def test_parts_of_positions_count_by_their_share(name):
    run, function, _ = RUNS[name]
    rng = np.random.default_rng(4)
    begin = np.r_[0.0, 0.25, 0.25, 3.0, 3.5, rng.uniform(0, 300, 60), 4000.7]
    end = np.r_[0.5, 0.75, 1.0, 3.0, 9.0, begin[5:65] + rng.uniform(0, 90, 60), 4300.2]
    length = np.full(len(end), 10_000.0)
    expected = [oracle.between(function, *pair, 10_000) for pair in zip(begin, end, strict=True)]
    np.testing.assert_allclose(run.sums_between(begin, end, length), expected, rtol=1e-12)


@pytest.mark.parametrize("most", [4096, 10**6])
def test_discounts_of_a_table_are_those_without(most):
    rng = np.random.default_rng(5)
    begin = np.sort(rng.uniform(0, most - 40, 300))
    end = begin + rng.uniform(0, 40, 300)
    end[:2], begin[:2] = (most, most - 0.5), (most - 3, most - 7)
    # Runs of whole positions never see the table.
    whole = LogarithmicRun().sums(np.floor(begin), np.floor(end) - np.floor(begin), end)
    at = LogarithmicRun().at
    first, last = np.floor(begin), np.floor(end)
    expected = whole + (end - last) * at(last + 1, end) - (begin - first) * at(first + 1, end)
    found = LogarithmicRun().sums_between(begin, end, end)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


def test_late_runs_of_a_table_keep_their_digits():
    n = 4096
    begin, end = np.arange(0.0, n, 2.0), np.arange(2.0, n + 2.0, 2.0)
    found = LogarithmicRun().sums_between(begin, end, end)
    expected = [1 / np.log(2 + b) + 1 / np.log(3 + b) for b in begin]
    np.testing.assert_allclose(found, expected, rtol=4e-16)
