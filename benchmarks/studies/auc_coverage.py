"""Coverage and length of the intervals for the AUC, over sizes, AUCs and shapes of distributions.

Every cell draws samples whose expected AUC is known and counts how often the interval of each
method contains it. If a method refuses a sample (for example, without spread at an AUC of 1), the
sample counts as not covered. A cell is called discrete if more than 5 % of its samples have an AUC
of exactly 1. Few values are then possible and no method can have close to nominal coverage, so
compare the lengths in such cells.

    python benchmarks/studies/auc_coverage.py              # print the tables, about ten minutes
    python benchmarks/studies/auc_coverage.py --write      # also store results/auc_coverage.csv
"""

import argparse
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, write_table

from sklearn_rank.inference import metric_interval
from sklearn_rank.inference._roc import AUCMoments

SIZES = [(3, 10), (10, 10), (10, 90), (10, 1000), (90, 10), (20, 200), (30, 30), (30, 300)]
SIZES += [(50, 1000), (100, 100), (100, 1000), (500, 5000)]
AUCS = (0.5, 0.7, 0.85, 0.95, 0.98, 0.995)
METHODS = ("wilson", "logit-delong", "delong", "chebyshev", "kl", "mcdiarmid")
DISCRETE = 0.05
STORED = RESULTS / "auc_coverage.csv"
GRID = (np.arange(100_000) + 0.5) / 100_000


class Samples(NamedTuple):
    """The AUC of many samples, and the spread of their placements."""

    auc: np.ndarray
    var_pos: np.ndarray
    var_neg: np.ndarray
    tied: np.ndarray
    n_pos: int
    n_neg: int

    def limits(self, method, level):
        """Limits of each sample, NaN where the method refuses it; shape (n_samples, 2)."""
        sizes = self.n_pos, self.n_neg
        limits = np.full((len(self.auc), 2), np.nan)
        columns = zip(*(x.tolist() for x in self[:4]), strict=True)
        for row, (auc, var_pos, var_neg, tied) in zip(limits, columns, strict=True):
            with suppress(ValueError):
                moments = AUCMoments.of(auc, sizes, (var_pos, var_neg), tied=tied, method=method)
                row[:] = moments.limits(level)
        return limits


@dataclass(frozen=True)
class Shape:
    """Distributions of the scores of both classes, by a parameter that moves the AUC.

    Parameters
    ----------
    name : str
        Shown in the tables.
    pair : callable
        Parameter to the distributions of positives and negatives.
    sign : int, default=1
        -1 turns all scores round: ``pair`` then gives what is subtracted from 0.
    step : float, default=0
        Scores are rounded down to multiples of it, so that they tie; 0 rounds nothing.
    """

    name: str
    pair: object
    sign: int = 1
    step: float = 0.0

    def levels(self, parameter):
        """Probability of each rounded score, ascending, in either class."""
        pos, neg = self.pair(parameter)
        edges = np.arange(-40.0, 80.0, self.step)
        return tuple(np.diff(np.r_[0.0, side.cdf(edges), 1.0]) for side in (pos, neg))

    def auc(self, parameter):
        if self.step:
            of_pos, of_neg = self.levels(parameter)
            return float(of_pos @ (np.cumsum(of_neg) - of_neg / 2))
        pos, neg = self.pair(parameter)
        below = neg.cdf if self.sign > 0 else neg.sf
        return float(below(pos.ppf(GRID)).mean())

    def parameter(self, auc):
        return brentq(lambda p: self.auc(p) - auc, -3.0, 12.0, xtol=1e-9)

    def moments(self, parameter, n_pos, n_neg, n_samples, rng):
        if self.step:
            of_pos, of_neg = self.levels(parameter)
            return of_counts(
                rng.multinomial(n_pos, of_pos, n_samples),
                rng.multinomial(n_neg, of_neg, n_samples),
            )
        pos, neg = self.pair(parameter)
        return of_scores(
            self.sign * pos.rvs((n_samples, n_pos), rng),
            self.sign * neg.rvs((n_samples, n_neg), rng),
        )


@dataclass(frozen=True)
class AllOrNothing:
    """Positives lie above all negatives or below all: the largest variance, without ties."""

    name: str = "all or nothing"

    def parameter(self, auc):
        return auc

    def moments(self, parameter, n_pos, n_neg, n_samples, rng):
        auc = rng.binomial(n_pos, parameter, n_samples) / n_pos
        variance = auc * (1 - auc) * n_pos / (n_pos - 1)
        return Samples(auc, variance, 0.0 * auc, 0.0 * auc, n_pos, n_neg)


class Mixture:
    """A share of one distribution and the rest of another."""

    def __init__(self, share, first, second):
        self.share, self.parts = share, (first, second)

    def cdf(self, x):
        return self.share * self.parts[0].cdf(x) + (1 - self.share) * self.parts[1].cdf(x)

    def ppf(self, u):
        points = np.concatenate([part.ppf(GRID[::5]) for part in self.parts])
        weights = np.repeat([self.share, 1 - self.share], len(points) // 2)
        order = np.argsort(points)
        upto = np.cumsum(weights[order])
        return np.interp(u, (upto - weights[order] / 2) / upto[-1], points[order])

    def rvs(self, size, rng):
        first = rng.random(size) < self.share
        return np.where(first, *(part.rvs(size, rng) for part in self.parts))


def normal(p):
    return stats.norm(p), stats.norm()


def wide(p):
    return stats.norm(p, 2), stats.norm()


def exponential(p):
    return stats.expon(scale=np.exp(p)), stats.expon()


def far_down(p):
    """A share of the positives lies below all negatives."""
    return Mixture(expit(-p), stats.norm(-5), stats.norm(5)), stats.norm()


def overlooked(p):
    """A share of the positives looks like negatives, the rest stands out."""
    return Mixture(expit(-p), stats.norm(-0.2), stats.norm(5)), stats.norm()


def screening(p):
    """Most positives stand out, as a few negatives do: the logits of mammograms."""
    positives = Mixture(0.25, stats.norm(p / 3), stats.norm(p))
    return positives, Mixture(0.03, stats.norm(4), stats.norm())


SHAPES = [
    Shape("normal", normal),
    Shape("normal, positives wide", wide),
    Shape("normal, positives narrow", lambda p: (stats.norm(p, 0.5), stats.norm())),
    Shape("exponential", exponential),
    Shape("exponential, mirrored", lambda p: exponential(p)[::-1], sign=-1),
    Shape("beta", lambda p: (stats.beta(np.exp(p), 1), stats.beta(1, np.exp(p)))),
    Shape("beta, one moves", lambda p: (stats.beta(2 * np.exp(p), 2), stats.beta(2, 5))),
    Shape("t3", lambda p: (stats.t(3, np.sinh(p)), stats.t(3))),
    Shape("log-normal", lambda p: (stats.lognorm(1, scale=np.exp(p)), stats.lognorm(0.5))),
    Shape("Laplace", lambda p: (stats.laplace(np.sinh(p)), stats.laplace())),
    AllOrNothing(),
    Shape("normal, tied", normal, step=1.0),
    Shape("normal, positives wide, tied", wide, step=1.0),
    Shape("exponential, tied", exponential, step=1.0),
    Shape("Cauchy", lambda p: (stats.cauchy(np.sinh(p)), stats.cauchy())),
    Shape("few far down", far_down),
    Shape("some overlooked", overlooked),
    Shape("screening", screening),
    Shape("normal, positives very wide", lambda p: (stats.norm(np.sinh(p), 5), stats.norm())),
    Shape("three levels", normal, step=2.5),
    Shape("Cauchy, tied", lambda p: (stats.cauchy(np.sinh(p)), stats.cauchy()), step=1.0),
    Shape("few far down, tied", far_down, step=2.5),
]


def of_scores(pos, neg):
    """Moments of many samples of continuous scores, one a row."""
    n_pos, n_neg = pos.shape[1], neg.shape[1]
    order = np.argsort(np.concatenate([pos, neg], axis=1), axis=1)
    is_positive = order < n_pos
    below = np.where(is_positive, np.cumsum(~is_positive, axis=1), 0) / n_neg
    above = np.where(is_positive, 0, n_pos - np.cumsum(is_positive, axis=1)) / n_pos
    auc = below.sum(axis=1) / n_pos
    var_pos = ((below * below).sum(axis=1) - n_pos * auc**2) / (n_pos - 1)
    var_neg = ((above * above).sum(axis=1) - n_neg * auc**2) / (n_neg - 1)
    variances = (np.maximum(variance, 0.0) for variance in (var_pos, var_neg))
    return Samples(auc, *variances, 0.0 * auc, n_pos, n_neg)


def of_counts(pos, neg):
    """Moments of many samples of few values: counts of each value, one sample a row."""
    n_pos, n_neg = pos[0].sum(), neg[0].sum()
    below = (np.cumsum(neg, axis=1) - neg / 2) / n_neg
    above = 1 - (np.cumsum(pos, axis=1) - pos / 2) / n_pos
    auc = (pos * below).sum(axis=1) / n_pos
    var_pos = (pos * (below - auc[:, np.newaxis]) ** 2).sum(axis=1) / (n_pos - 1)
    var_neg = (neg * (above - auc[:, np.newaxis]) ** 2).sum(axis=1) / (n_neg - 1)
    tied = (pos * neg).sum(axis=1) / (n_pos * n_neg)
    return Samples(auc, var_pos, var_neg, tied, n_pos, n_neg)


def in_parts(shape, parameter, n_pos, n_neg, n_samples, rng):
    """Draw samples a few million scores at a time."""
    part = max(1, min(n_samples, 2_000_000 // (n_pos + n_neg)))
    sizes = [part] * (n_samples // part) + [n_samples % part] * (n_samples % part > 0)
    drawn = [shape.moments(parameter, n_pos, n_neg, size, rng) for size in sizes]
    fields = ("auc", "var_pos", "var_neg", "tied")
    joined = [np.concatenate([getattr(part, name) for part in drawn]) for name in fields]
    return Samples(*joined, n_pos, n_neg)


def check(level):
    """See that the moments of many samples at once give the limits of single calls."""
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(1, 1, (20, 15)), rng.normal(0, 1, (20, 25))
    rounded = np.floor(pos + 9).astype(int), np.floor(neg + 9).astype(int)
    counts = (np.apply_along_axis(np.bincount, 1, scores, minlength=20) for scores in rounded)
    y = np.repeat([1, 0], [15, 25])
    for moments, samples in ((of_scores(pos, neg), (pos, neg)), (of_counts(*counts), rounded)):
        for method in METHODS:
            limits = moments.limits(method, level)
            for row, score in zip(limits, np.concatenate(samples, axis=1), strict=True):
                single = metric_interval("auc", y, score, level=level, method=method)
                np.testing.assert_allclose(row, [single.low, single.high], atol=1e-9)


def simulate(n_samples, level, seed):
    check(level)
    rows = []
    for number, shape in enumerate(SHAPES):
        for auc in AUCS:
            parameter = shape.parameter(auc)
            for n_pos, n_neg in SIZES:
                rng = np.random.default_rng([seed, number, int(1000 * auc), n_pos, n_neg])
                moments = in_parts(shape, parameter, n_pos, n_neg, n_samples, rng)
                row = {"shape": shape.name, "n_pos": n_pos, "n_neg": n_neg, "auc": auc}
                row["perfect"] = round(float(np.mean(moments.auc == 1)), 4)
                for method in METHODS:
                    coverage, length = measure(method, moments, auc, level)
                    row[f"coverage {method}"] = round(coverage, 4)
                    row[f"length {method}"] = round(length, 4)
                rows.append(row)
        print(f"{shape.name}: done", flush=True)
    return rows


def measure(method, moments, auc, level):
    """Share of samples covered, and mean length where there is an interval."""
    low, high = moments.limits(method, level).T
    covered = (low <= auc + 1e-12) & (auc - 1e-12 <= high)
    given = ~np.isnan(low)
    length = float((high - low)[given].mean()) if given.any() else float("nan")
    return float(covered.mean()), length


def summary(rows, level):
    """One row per method over the cells with at least 10 positives that are not discrete."""
    cells = [row for row in rows if row["n_pos"] >= 10 and row["perfect"] <= DISCRETE]
    table = []
    for method in METHODS:
        values = np.array([row[f"coverage {method}"] for row in cells])
        table.append(
            {
                "method": method,
                "least": values.min(),
                "5 %": np.quantile(values, 0.05),
                "median": np.median(values),
                "95 %": np.quantile(values, 0.95),
                "most": values.max(),
                "too low": int(np.sum(values < level - 0.015)),
                "too high": int(np.sum(values > level + 0.025)),
                "cells": len(values),
                "length": np.nanmean([row[f"length {method}"] for row in cells]),
            }
        )
    return table


def by_size(rows, method):
    """Least and largest coverage over the shapes, and mean length, by size and AUC."""
    table = []
    for n_pos, n_neg in SIZES:
        line = {"size": f"{n_pos}/{n_neg}"}
        for auc in AUCS:
            cells = [r for r in rows if (r["n_pos"], r["n_neg"], r["auc"]) == (n_pos, n_neg, auc)]
            smooth = [r[f"coverage {method}"] for r in cells if r["perfect"] <= DISCRETE]
            length = np.mean([r[f"length {method}"] for r in cells])
            range_ = f"{100 * min(smooth):.0f}-{100 * max(smooth):.0f} %" if smooth else "discrete"
            line[f"{auc:g}"] = f"{range_} ({length:.3f})"
        table.append(line)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2000, help="samples per cell")
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {STORED.name}")
    arguments = parser.parse_args()
    print(describe_machine())
    warnings.simplefilter("ignore", RuntimeWarning)
    rows = simulate(arguments.samples, arguments.level, arguments.seed)
    print(
        f"\nCoverage of nominal {arguments.level:.0%} intervals, {arguments.samples} samples per"
        " cell, over the cells with at least 10 positives that are not discrete"
    )
    columns = [("method", "method", "")]
    columns += [(key, key, ".3f") for key in ("least", "5 %", "median", "95 %", "most")]
    columns += [(key, key, "d") for key in ("too low", "too high", "cells")]
    print(format_table(summary(rows, arguments.level), [*columns, ("length", "length", ".3f")]))
    for method in ("wilson", "logit-delong", "delong"):
        print(f"\n{method}: coverage over shapes that are not discrete (mean length over all)")
        table = by_size(rows, method)
        print(format_table(table, [(key, key, "") for key in table[0]]))
    if arguments.write:
        write_table(STORED, rows, [])


if __name__ == "__main__":
    main()
