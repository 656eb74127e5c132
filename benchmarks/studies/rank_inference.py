"""Coverage of intervals and size and power of tests for rank statistics.

    python benchmarks/studies/rank_inference.py [--quick] [--only coverage,tests]

Scores are normal with unit variance, and those of the positives are shifted. Targets are integrals
of the distributions. Each cell has its own seed, so parts of the tables can be repeated.
"""

import argparse
import functools
import itertools
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy.stats import norm
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table

from sklearn_rank.inference import compare, metric_interval, two_sample_rank_test
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    TopDCG,
    VanDerWaerden,
    Wilcoxon,
    get_measure,
    linear_rank_score,
    partial_auc_score,
)

LEVEL = 0.95
PHIS = {
    "u": Wilcoxon(),
    "u^3": Power(3),
    "exp 5": Exponential(5.0),
    "exp 20": Exponential(20.0),
    "local .8": LocalAUC(0.8),
    "local .95": LocalAUC(0.95),
    "normal": VanDerWaerden(),
    "callable": lambda u: u * (u >= 0.8),
}
CLASSES = ((10, 90), (10, 10), (30, 300), (50, 50), (100, 900), (500, 4500))
AUCS = (0.6, 0.8, 0.95)


def seeded(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def shift_of(auc):
    return norm.ppf(auc) * 2**0.5


def draw(rng, n_pos, n_neg, shift):
    y_true = np.arange(n_pos + n_neg) < n_pos
    return y_true, rng.normal(size=len(y_true)) + shift * y_true


def functional(phi, share, shift):
    x = np.linspace(-9, 9 + shift, 200_001)
    cdf = share * norm.cdf(x - shift) + (1 - share) * norm.cdf(x)
    return np.trapezoid(phi(np.clip(cdf, 1e-12, 1 - 1e-12)) * norm.pdf(x - shift), x)


def covered(make, target, replications):
    """Coverage, misses on either side and mean width."""
    found = [make() for _ in range(replications)]
    low = np.mean([target < interval.low for interval in found])
    high = np.mean([target > interval.high for interval in found])
    width = np.mean([interval.width for interval in found])
    bias = [getattr(interval, "bias", None) for interval in found]
    deviation = np.std([interval.estimate for interval in found])
    offset = (np.mean([interval.estimate for interval in found]) - target) / deviation
    estimated = "" if None in bias else f"{np.mean(bias) / deviation:+.2f}"
    return {
        "covers": f"{1 - low - high:.3f}",
        "low > target": f"{low:.3f}",
        "high < target": f"{high:.3f}",
        "width": f"{width:.3f}",
        "bias/sd": f"{offset:+.2f}",
        "estimated": estimated,
    }


def linear_rank_rows(replications, classes):
    methods = (("influence", True), ("influence", False), ("dkw", True), ("dkw", False))
    cells = itertools.product(PHIS, classes, AUCS, methods)
    return [
        linear_rank_row(replications, name, *counts, auc, *method)
        for name, counts, auc, method in cells
        if (name, method[0]) != ("normal", "dkw")
    ]


def linear_rank_row(replications, name, n_pos, n_neg, auc, method, conditional):
    rng = seeded(name, n_pos, n_neg, auc, method, conditional)
    shift, n = shift_of(auc), n_pos + n_neg

    def make():
        k = n_pos if conditional else int(np.clip(rng.binomial(n, n_pos / n), 1, n - 1))
        return metric_interval(
            get_measure(linear_rank_score, phi=PHIS[name], normalize="mean"),
            *draw(rng, k, n - k, shift),
            method=method,
            conditional=conditional,
        )

    return {
        "phi": name,
        "n_pos": n_pos,
        "n_neg": n_neg,
        "AUC": auc,
        "method": method,
        "labels": "fixed" if conditional else "random",
        **covered(make, functional(PHIS[name], n_pos / n, shift), replications),
    }


def bootstrap_rows(replications):
    cells = itertools.product((("DCG@20", TopDCG(20)), ("exp 5", Exponential(5.0))), (30, 100))
    return [bootstrap_row(replications, *phi, n_pos) for phi, n_pos in cells]


def bootstrap_row(replications, name, phi, n_pos):
    rng, shift, n_neg = seeded("bootstrap", name, n_pos), shift_of(0.8), 4 * n_pos
    values = [
        linear_rank_score(*draw(rng, n_pos, n_neg, shift), phi=phi, normalize="mean")
        for _ in range(20_000)
    ]

    def make():
        return metric_interval(
            get_measure(linear_rank_score, phi=phi, normalize="mean"),
            *draw(rng, n_pos, n_neg, shift),
            method="bootstrap",
            n_resamples=199,
            random_state=rng,
        )

    row = {"phi": name, "n_pos": n_pos, "n_neg": n_neg}
    return {**row, **covered(make, np.mean(values), replications)}


def partial_rows(replications, classes):
    cells = itertools.product(((0.1, 0.0), (0.3, 0.0), (0.5, 0.5)), classes, AUCS)
    return [partial_row(replications, *part, *counts, auc) for part, counts, auc in cells]


def partial_row(replications, max_fpr, min_tpr, n_pos, n_neg, auc):
    rng, shift = seeded("partial", max_fpr, min_tpr, n_pos, n_neg, auc), shift_of(auc)
    fpr = np.linspace(0, max_fpr, 200_001)
    tpr = norm.sf(norm.isf(np.clip(fpr, 1e-15, 1.0)) - shift)
    target = np.trapezoid(np.maximum(tpr - min_tpr, 0.0), fpr)

    def make():
        return metric_interval(
            get_measure(partial_auc_score, max_fpr=max_fpr, min_tpr=min_tpr),
            *draw(rng, n_pos, n_neg, shift),
        )

    row = {"max_fpr": max_fpr, "min_tpr": min_tpr, "n_pos": n_pos, "n_neg": n_neg, "AUC": auc}
    return {**row, **covered(make, target, replications)}


def precision_rows(replications):
    lists = ((50, 0.1, 0.1), (100, 0.05, 0.1), (100, 0.1, 0.1), (200, 0.05, 0.3))
    lists += ((200, 0.1, 0.3), (1000, 0.05, 0.1), (1000, 0.3, 0.3), (5000, 0.05, 0.1))
    cells = itertools.product(lists, AUCS, ("influence", "exact"))
    return [precision_row(replications, *one, auc, method) for one, auc, method in cells]


def precision_row(replications, n, tau, share, auc, method):
    rng, shift = seeded("precision", n, tau, auc, method), shift_of(auc)
    grid = np.linspace(-6, 9, 300_001)
    above = share * norm.sf(grid - shift) + (1 - share) * norm.sf(grid)
    target = share * norm.sf(grid[np.argmax(above <= tau)] - shift) / tau

    def make():
        k = int(np.clip(rng.binomial(n, share), 1, n - 1))
        return metric_interval(f"precision@top{tau}", *draw(rng, k, n - k, shift), method=method)

    row = {"n": n, "tau": tau, "positives": share, "AUC": auc, "method": method}
    return {**row, "target": f"{target:.3f}", **covered(make, target, replications)}


def test_rows(replications):
    cells = itertools.product(
        ("u", "u^3", "exp 20", "local .8", "normal"), ((10, 90), (30, 300), (100, 900))
    )
    return [row for name, counts in cells for row in rows_of_tests(replications, name, *counts)]


def rows_of_tests(replications, name, n_pos, n_neg):
    rng, phi = seeded("tests", name, n_pos), PHIS[name]
    measure = get_measure(linear_rank_score, phi=phi, normalize="minmax")

    def scorers(better):
        y_true, common = draw(rng, n_pos, n_neg, 0.0)
        scores = common + rng.normal(size=(3, len(y_true))) + 1.5 * y_true
        scores[0] += better * y_true
        return y_true, scores

    def paired(better):
        y_true, scores = scorers(better)
        return compare(measure, y_true, {"a": scores[0], "b": scores[1]})

    def unpaired(better):
        (y_a, a), (y_b, b) = scorers(better), scorers(0.0)
        return compare(measure, {"a": y_a, "b": y_b}, {"a": a[0], "b": b[1]})

    def joint(better):
        y_true, scores = scorers(better)
        return compare(measure, y_true, dict(zip("abc", scores, strict=True)), random_state=0)

    def two_sample(better, method):
        y_true, score = draw(rng, n_pos, n_neg, better)
        return two_sample_rank_test(
            score[y_true],
            score[~y_true],
            phi=phi,
            method=method,
            n_resamples=199,
            random_state=rng,
        )

    tests = {"paired": paired, "unpaired": unpaired, "three rankers": joint}
    if n_pos == 10 and name in ("u", "local .8"):
        tests["two-sample exact"] = functools.partial(two_sample, method="exact")
    for method in ("permutation", "normal"):
        tests[f"two-sample {method}"] = functools.partial(two_sample, method=method)
    rows = []
    for label, test in tests.items():
        some = min(replications, 200) if label == "three rankers" else replications
        row = {"phi": name, "n_pos": n_pos, "n_neg": n_neg, "test": label}
        for column, better in (("size", 0.0), ("power", 0.7)):
            row[column] = f"{np.mean([test(better).pvalue <= 0.05 for _ in range(some)]):.3f}"
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer cells and replications")
    parser.add_argument("--only", default="coverage,tests", help="parts, separated by commas")
    parser.add_argument("--replications", type=int, default=None)
    arguments = parser.parse_args()
    replications = arguments.replications or (200 if arguments.quick else 2000)
    classes = CLASSES[:3] if arguments.quick else CLASSES
    parts = arguments.only.split(",")
    print(describe_machine())
    print(f"{replications} replications, intervals at {LEVEL:.0%}, tests at 5 %")
    tables = {
        "coverage": (
            ("linear rank statistics", lambda: linear_rank_rows(replications, classes)),
            ("method='bootstrap'", lambda: bootstrap_rows(max(replications // 4, 100))),
            ("partial AUC", lambda: partial_rows(replications, classes)),
            ("precision at the top", lambda: precision_rows(replications)),
        ),
        "tests": (("rejections", lambda: test_rows(replications)),),
    }
    for part in parts:
        for title, rows in tables[part]:
            print(f"\n{part}: {title}\n")
            found = rows()
            print(format_table(found, [(key, key, "") for key in found[0]]), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
