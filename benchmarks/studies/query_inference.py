"""Coverage of intervals for means over queries, and size and power of paired tests.

The first table has coverage and mean width of the intervals, over populations of values that
measures have; the unit of the width is that of the interval with the known standard deviation. The
second table has the size (and power) of the paired tests for differences of mean 0 (and of 0.3
standard deviations), symmetric and skewed.

    python benchmarks/studies/query_inference.py
    python benchmarks/studies/query_inference.py --repetitions 300 --only size
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table

from sklearn_rank.inference._queries import QueryValues, sample_interval, sample_test

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


def coverage(repetitions, n_resamples, sizes):
    rng = np.random.default_rng(1)
    rows = []
    for name, (draw, mean) in POPULATIONS.items():
        sd = draw(rng, 10**6).std()
        for n in sizes:
            values = draw(rng, (repetitions, n))
            row = {"population": name, "queries": n}
            for method in INTERVALS:
                found = [
                    sample_interval(sample(v), LEVEL, method, n_resamples, rng) for v in values
                ]
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
                options = (method, "two-sided", LEVEL, n_resamples)
                for shift, what in ((0.0, ""), (0.3 * sd, " power")):
                    pvalues = []
                    for v in values + shift:
                        varied = sample(v, (-np.inf, np.inf))
                        # Equal differences have no t statistic: counted as no rejection.
                        if method == "t" and varied.constant:
                            pvalues.append(1.0)
                        else:
                            pvalues.append(sample_test(varied, *options, rng)[1])
                    row[method + what] = 100 * np.mean(np.array(pvalues) <= 0.05)
            rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 200])
    parser.add_argument("--only", choices=["coverage", "size"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(describe_machine())
    sizes = options.repetitions, options.resamples, options.sizes
    if options.only in (None, "coverage"):
        print(f"\nCoverage of 95 % intervals in %, {options.repetitions} repetitions\n")
        columns = [("population", "population", ""), ("queries", "queries", "d")]
        columns += [(method, method, ".1f") for method in INTERVALS]
        columns += [(f"{method} width", f"{method} width", ".2f") for method in INTERVALS]
        columns += [("constant", "% constant", ".1f")]
        print(format_table(coverage(*sizes), columns))
    if options.only in (None, "size"):
        print("\nRejections in % at 5 %: size, and power at a shift of 0.3 standard deviations\n")
        columns = [("differences", "differences", ""), ("queries", "queries", "d")]
        columns += [
            (method + what, method + what, ".1f") for what in ("", " power") for method in TESTS
        ]
        print(format_table(rejections(*sizes), columns))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
