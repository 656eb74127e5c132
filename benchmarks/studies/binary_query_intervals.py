"""Coverage of intervals for proportions of queries, and for measures of few values.

The study prints four tables: least and mean coverage and mean width of 95 % intervals over the
rates .02 to .98, by sums over the binomial distribution; the same for differences of two systems,
by sums over the trinomial distribution; groups of dependent queries, by simulation; and Student's
t for the reciprocal rank and precision at 5, by simulation.

    python benchmarks/studies/binary_query_intervals.py
    python benchmarks/studies/binary_query_intervals.py --write
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table

from sklearn_rank.inference._evidence import Groups
from sklearn_rank.inference._queries import QueryValues, sample_interval, sample_test

RESULTS = Path(__file__).resolve().parents[1] / "results" / "binary_query_intervals.csv"
SIZES = (20, 30, 50, 100, 200)
RATES = np.linspace(0.02, 0.98, 961)
PAIR_RATES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
LEVEL = 0.95
COLUMNS = [
    ("table", "of", ""),
    ("n", "queries", "d"),
    ("method", "method", ""),
    ("population", "values", ""),
    ("least_coverage", "least", ".3f"),
    ("mean_coverage", "mean", ".3f"),
    ("mean_width", "width", ".3f"),
]


def interval_of(values, method, groups=None, low=0.0):
    """Limits of a sample, which may be constant."""
    sample = QueryValues(values, np.arange(len(values)), "measure", (low, 1.0), groups)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if low == 0.0:
            found = sample_interval(sample, LEVEL, method, 9999, rng)
        elif method == "t" and np.ptp(values) == 0.0:
            found = sample_interval(sample, LEVEL, "t")
        else:
            found = sample_test(sample, method, "two-sided", LEVEL, 9999, rng)[-1]
    return found.low, found.high


def row(table, n, method, population, coverage, width):
    """A row of the tables and of the file."""
    return {
        "table": table,
        "n": n,
        "method": method,
        "population": population,
        "least_coverage": round(float(np.min(coverage)), 3),
        "mean_coverage": round(float(np.mean(coverage)), 3),
        "mean_width": round(float(np.mean(width)), 3),
    }


def shares():
    """Coverage of shares, exactly."""
    for n in SIZES:
        chance = binom.pmf(np.arange(n + 1)[:, None], n, RATES)
        for method in ("auto", "t"):
            samples = (np.repeat([1.0, 0.0], [x, n - x]) for x in range(n + 1))
            low, high = np.array([interval_of(v, method) for v in samples]).T[:, :, None]
            coverage = (chance * ((low <= RATES) & (high >= RATES))).sum(axis=0)
            yield row("share", n, method, "0 or 1", coverage, (chance * (high - low)).sum(axis=0))


def differences():
    """Coverage of differences of shares, exactly."""
    for n in (20, 30, 50):
        up, down = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
        up, down = up[up + down <= n], down[up + down <= n]
        many = gammaln(n + 1) - gammaln(up + 1) - gammaln(down + 1) - gammaln(n - up - down + 1)
        samples = (
            np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c]) for b, c in zip(up, down, strict=True)
        )
        low, high = np.array([interval_of(v, "t", low=-1.0) for v in samples]).T
        coverage, width = [], []
        for p in PAIR_RATES:
            for r in PAIR_RATES:
                if not 0 < p + r < 0.98:
                    continue
                with np.errstate(divide="ignore", invalid="ignore"):
                    logs = np.where(up > 0, up * np.log(p), 0.0)
                    logs = logs + np.where(down > 0, down * np.log(r), 0.0)
                chance = np.exp(many + logs + (n - up - down) * np.log1p(-p - r))
                inside = (low <= p - r + 1e-12) & (p - r - 1e-12 <= high)
                coverage.append((chance * inside).sum())
                width.append((chance * (high - low)).sum())
        yield row("difference", n, "t", "-1, 0 or 1", coverage, width)


def groups(repetitions):
    """Coverage of shares of queries in groups whose rates differ, by simulation."""
    rng = np.random.default_rng(0)
    for n_groups, size in ((20, 5), (50, 4)):
        codes = Groups(np.repeat(np.arange(n_groups), size), n_groups)
        for rate in (0.05, 0.2, 0.5, 0.9):
            draws = rng.beta(2 * rate, 2 * (1 - rate), (repetitions, n_groups))
            values = (rng.random((repetitions, n_groups, size)) < draws[:, :, None]) * 1.0
            for method in ("auto", "t"):
                found = [interval_of(v.ravel(), method, codes) for v in values]
                low, high = np.array(found).T
                population = f"rate {rate} in groups of {size}"
                covered = np.mean((low <= rate) & (rate <= high))
                yield row("groups", n_groups * size, method, population, covered, high - low)


def nearly(repetitions):
    """Coverage of Student's t for measures of few values, by simulation."""
    rng = np.random.default_rng(1)
    hits = {
        f"precision@5, {p}": (p, lambda s, p=p: rng.binomial(5, rng.beta(p, 1 - p, s)) / 5)
        for p in (0.05, 0.1, 0.3, 0.9)
    }
    ranks = {
        f"1 / rank, {p}": (-p * np.log(p) / (1 - p), lambda s, p=p: 1 / rng.geometric(p, s))
        for p in (0.05, 0.35, 0.9, 0.97)
    }
    for n in SIZES:
        for name, (mean, draw) in {**hits, **ranks}.items():
            samples = draw((repetitions, n))
            low, high = np.array([interval_of(v, "t") for v in samples]).T
            yield row(
                "few values", n, "t", name, np.mean((low <= mean) & (mean <= high)), high - low
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    print(describe_machine())
    found = []
    for table in (
        shares(),
        differences(),
        groups(options.repetitions),
        nearly(options.repetitions),
    ):
        rows = list(table)
        found += rows
        print(format_table(rows, COLUMNS), flush=True)
    if options.write:
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
