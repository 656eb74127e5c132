"""Inference over queries: how fast, and does it hold what it says?

Three tables. Times of 10,000 resamples of 1,000 queries beside scipy.stats (and ranx, if it is
installed) in one process with one thread, best of several calls. Coverage of the intervals and
mean width, in units of the width of the interval that knows the standard deviation, over
populations of values that measures have. Size (and power) of the paired tests for differences of
mean 0 (and of 0.3 standard deviations), symmetric and skewed.

    python benchmarks/run_query_inference.py
    python benchmarks/run_query_inference.py --repetitions 300 --only speed
"""

import argparse
import importlib.util
import warnings

import numpy as np
from measuring import best_time, describe_machine, format_table
from scipy import stats
from threadpoolctl import threadpool_limits

from sklearn_rank.inference._query_samples import (
    ComparisonOptions,
    IntervalOptions,
    sample_interval,
    sample_test,
)
from sklearn_rank.inference._query_values import QueryValues
from sklearn_rank.inference._resampling import flipped_subsets, resampled_means

LEVEL = 0.95
INTERVALS = ("t", "bootstrap", "bca")
TESTS = ("randomization", "t", "wilcoxon")
# With ties scipy lists all signs of up to so many differences, in a tenth of a second or more.
SLOW_WILCOXON = 13


def beta(rng, shape):
    """Like NDCG: a bump in the upper half."""
    return rng.beta(4, 2, size=shape)


def precision(rng, shape):
    """Like precision at 5: six values."""
    return rng.binomial(5, rng.beta(1, 2, size=shape)) / 5


def reciprocal(rng, shape):
    """Like the reciprocal rank: 1, 1/2, 1/3, ..."""
    return 1 / rng.geometric(0.35, size=shape)


def rare(rng, shape):
    """Like the recall of a weak ranker: nine tenths are 0."""
    return np.where(rng.random(shape) < 0.1, rng.beta(2, 2, size=shape), 0.0)


POPULATIONS = {
    "beta(4, 2)": (beta, 2 / 3),
    "precision@5": (precision, 1 / 3),
    "1 / rank": (reciprocal, -0.35 * np.log(0.35) / 0.65),
    "nine tenths 0": (rare, 0.05),
}


def normal(rng, shape):
    """Symmetric."""
    return rng.normal(size=shape)


def tied(rng, shape):
    """Symmetric on a grid, half of them 0."""
    return rng.integers(0, 2, size=shape) * rng.choice([-2, -1, 1, 2], size=shape) / 5


def exponential(rng, shape):
    """Many small losses, few large wins."""
    return rng.exponential(size=shape) - 1


def far(rng, shape):
    """One win in twenty, as large as all losses together."""
    return np.where(rng.random(shape) < 0.05, 0.95, -0.05)


DIFFERENCES = {"normal": normal, "tied": tied, "exponential": exponential, "one in twenty": far}


def sample(values, limits=(0.0, 1.0)):
    return QueryValues(values, np.arange(len(values)), "measure", limits)


def speed(n_queries=1000, n_resamples=10_000):
    rng = np.random.default_rng(0)
    values = rng.normal(0.02, 0.3, size=n_queries)
    zero = np.zeros(n_queries)

    def mean_difference(a, b, axis):
        return np.mean(a - b, axis=axis)

    def scipy_flips():
        return stats.permutation_test(
            (values, zero),
            mean_difference,
            permutation_type="samples",
            vectorized=True,
            n_resamples=n_resamples,
            batch=250,
            rng=rng,
        )

    def scipy_bootstrap(method):
        return stats.bootstrap(
            (values,), np.mean, n_resamples=n_resamples, method=method, batch=250, rng=rng
        )

    def interval(method):
        options = IntervalOptions(method, LEVEL, n_resamples)
        return sample_interval(sample(values, (-np.inf, np.inf)), options, rng)

    def comparison(method):
        options = ComparisonOptions(method, "two-sided", LEVEL, n_resamples)
        return sample_test(sample(values, (-1.0, 1.0)), options, rng)

    calls = {
        "sign flips": lambda: flipped_subsets(values, n_resamples, rng),
        "randomization test with its interval": lambda: comparison("randomization"),
        "scipy permutation_test (no interval)": scipy_flips,
        "t-test with its interval": lambda: comparison("t"),
        "wilcoxon with the t-interval": lambda: comparison("wilcoxon"),
        "resampled means": lambda: resampled_means(values, n_resamples, rng),
        "bootstrap interval": lambda: interval("bootstrap"),
        "bca interval": lambda: interval("bca"),
        "scipy bootstrap, percentile": lambda: scipy_bootstrap("percentile"),
        "scipy bootstrap, BCa": lambda: scipy_bootstrap("BCa"),
    }
    if importlib.util.find_spec("ranx"):
        from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

        calls["ranx fisher_randomization_test"] = lambda: fisher_randomization_test(
            values, zero, n_permutations=n_resamples
        )
    rows = []
    for name, call in calls.items():
        call()  # the first call imports and compiles
        seconds, _, n_calls, _ = best_time(call, repeats=10, budget=5)
        rows.append({"call": name, "ms": 1e3 * seconds, "calls": n_calls})
    return rows


def coverage(repetitions, n_resamples, sizes):
    rng = np.random.default_rng(1)
    rows = []
    for name, (draw, mean) in POPULATIONS.items():
        sd = draw(rng, 10**6).std()
        for n in sizes:
            values = draw(rng, (repetitions, n))
            row = {"population": name, "queries": n}
            for method in INTERVALS:
                options = IntervalOptions(method, LEVEL, n_resamples)
                found = [sample_interval(sample(v), options, rng) for v in values]
                row[method] = 100 * np.mean([mean in interval for interval in found])
                width = np.mean([interval.width for interval in found])
                row[f"{method} width"] = width / (2 * stats.norm.ppf(0.975) * sd / np.sqrt(n))
            row["constant"] = 100 * np.mean(np.ptp(values, axis=1) == 0)
            rows.append(row)
    return rows


def rejections(repetitions, n_resamples, sizes):
    rng = np.random.default_rng(2)
    rows = []
    for name, draw in DIFFERENCES.items():
        sd = draw(rng, 10**6).std()
        for n in sizes:
            values = draw(rng, (repetitions, n))
            row = {"differences": name, "queries": n}
            for method in TESTS:
                if method == "wilcoxon" and n <= SLOW_WILCOXON:
                    continue
                options = ComparisonOptions(method, "two-sided", LEVEL, n_resamples)
                for shift, what in ((0.0, ""), (0.3 * sd, " power")):
                    pvalues = []
                    for v in values + shift:
                        varied = sample(v, (-np.inf, np.inf))
                        # Equal differences have no t statistic: counted as no rejection.
                        if method == "t" and varied.constant:
                            pvalues.append(1.0)
                        else:
                            pvalues.append(sample_test(varied, options, rng).pvalue)
                    row[method + what] = 100 * np.mean(np.array(pvalues) <= 0.05)
            rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 200])
    parser.add_argument("--only", choices=["speed", "coverage", "size"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(describe_machine())
    if options.only in (None, "speed"):
        print("\nTimes, 1,000 queries, 10,000 resamples, one thread\n")
        print(format_table(speed(), [("call", "call", ""), ("ms", "best ms", ".1f")]))
    sizes = options.repetitions, options.resamples, options.sizes
    if options.only in (None, "coverage"):
        print(f"\nCoverage in % of intervals at 95 %, {options.repetitions} repetitions\n")
        columns = [("population", "population", ""), ("queries", "queries", "d")]
        columns += [(method, method, ".1f") for method in INTERVALS]
        columns += [(f"{method} width", f"{method} width", ".2f") for method in INTERVALS]
        columns += [("constant", "% constant", ".1f")]
        print(format_table(coverage(*sizes), columns))
    if options.only in (None, "size"):
        print("\nRejections in % at 5 %: size, and power at a shift of 0.3 deviations\n")
        columns = [("differences", "differences", ""), ("queries", "queries", "d")]
        columns += [
            (method + what, method + what, ".1f") for what in ("", " power") for method in TESTS
        ]
        print(format_table(rejections(*sizes), columns))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
