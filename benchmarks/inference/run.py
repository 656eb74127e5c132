"""Times of intervals and tests beside their peers: one list, many scores, many queries.

    python benchmarks/inference/run.py [--only auc ranks queries]

"auc" is one interval of 100,000 scores by each method; "ranks" intervals and tests of rank
statistics of 10 thousand to a million scores, and exact tests; "queries" 10,000 resamples of the
values of 1,000 queries. One thread, the best of several calls. Peers are scipy, and statsmodels
and ranx where they are installed. Whether intervals and tests hold what they say is asked by
``studies/auc_coverage.py``, ``rank_inference.py`` and ``query_inference.py``.
"""

import argparse
import functools
import importlib.util
import sys
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.stats import mannwhitneyu
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import best_time, describe_machine, format_table

from sklearn_rank.inference import compare, metric_interval, two_sample_rank_test
from sklearn_rank.inference._limits import flipped_subsets, resampled_means
from sklearn_rank.inference._queries import (
    QueryValues,
    sample_interval,
    sample_test,
)
from sklearn_rank.inference._roc import METHODS
from sklearn_rank.metrics import Exponential, LocalAUC, Wilcoxon

LEVEL = 0.95


def best_milliseconds(call, repeats=5):
    return 1e3 * best_time(call, repeats=repeats, budget=5)[0]


def auc_rows():
    """One interval by each method, and what others offer."""
    rows = []
    rng = np.random.default_rng(0)
    for share in (0.1, 0.5):
        y = rng.random(100_000) < share
        score = rng.normal(size=100_000) + y
        rows += [
            {"call": name, "positives": share, "ms": best_milliseconds(call, repeats=15)}
            for name, call in auc_calls(y, score).items()
        ]
    return rows


def auc_calls(y, score):
    named = {}
    for method in METHODS:
        named[f"metric_interval, auc, {method}"] = lambda m=method: metric_interval(
            "auc", y, score, method=m
        )
    named["np.argsort"] = lambda: np.argsort(score)
    named["scipy mannwhitneyu"] = lambda: mannwhitneyu(score[y], score[~y])
    if importlib.util.find_spec("statsmodels"):
        from statsmodels.stats.nonparametric import rank_compare_2indep

        named["statsmodels rank_compare_2indep"] = lambda: rank_compare_2indep(
            score[y], score[~y], use_t=False
        ).conf_int()
    return named


def rank_rows():
    rows = []
    rng = np.random.default_rng(0)
    for n in (10_000, 100_000, 1_000_000):
        y_true = np.arange(n) < n // 10
        a = rng.normal(size=n) + y_true
        calls = rank_calls(y_true, a, a + rng.normal(size=n))
        rows += [
            {"call": name, "n": n, "ms": best_milliseconds(call)} for name, call in calls.items()
        ]
    for size in (10, 25, 50, 100):
        pair = rng.normal(size=(2, size))
        ours = functools.partial(two_sample_rank_test, *pair, method="exact")
        # The peer remembers the distribution of a size: only the first call is work.
        peer = functools.partial(mannwhitneyu, *pair, method="exact")
        for name, call, repeats in (
            ("two_sample_rank_test", ours, 3),
            ("scipy mannwhitneyu", peer, 1),
        ):
            row = {"call": f"{name}, exact", "n": 2 * size}
            rows.append({**row, "ms": best_milliseconds(call, repeats)})
    return rows


def rank_calls(y_true, a, b):
    partial, classes = functools.partial, (a[y_true], a[~y_true])
    calls = {
        "metric_interval, u": partial(metric_interval, Wilcoxon(), y_true, a),
        "metric_interval, exp 20": partial(metric_interval, Exponential(20.0), y_true, a),
        "metric_interval, partial AUC": partial(metric_interval, "partial_auc@fpr0.1", y_true, a),
        "metric_interval, top": partial(metric_interval, "precision@top0.05", y_true, a),
        "compare, u": partial(compare, "auc", y_true, a, b),
        "compare, local .8": partial(compare, LocalAUC(0.8), y_true, a, b),
        "two_sample_rank_test, normal": partial(two_sample_rank_test, *classes, method="normal"),
        "scipy mannwhitneyu, asymptotic": partial(mannwhitneyu, *classes, method="asymptotic"),
    }
    if importlib.util.find_spec("statsmodels") and len(a) <= 100_000:
        from statsmodels.stats.nonparametric import rank_compare_2indep

        calls["statsmodels rank_compare_2indep"] = partial(
            rank_compare_2indep, *classes, use_t=False
        )
    return calls


def query_rows(n_queries=1000, n_resamples=10_000):
    rng = np.random.default_rng(0)
    values = rng.normal(0.02, 0.3, size=n_queries)
    calls = query_calls(values, n_resamples, rng) | query_peers(values, n_resamples, rng)
    rows = []
    for name, call in calls.items():
        call()  # the first call imports and compiles
        rows.append({"call": name, "ms": best_milliseconds(call, repeats=10)})
    return rows


def query_calls(values, n_resamples, rng):
    def sample(limits):
        return QueryValues(values, np.arange(len(values)), "measure", limits)

    def interval(method):
        return sample_interval(sample((-np.inf, np.inf)), LEVEL, method, n_resamples, rng)

    def comparison(method):
        return sample_test(sample((-1.0, 1.0)), method, "two-sided", LEVEL, n_resamples, rng)

    return {
        "sign flips": lambda: flipped_subsets(values, n_resamples, rng),
        "randomization test with its interval": lambda: comparison("randomization"),
        "t-test with its interval": lambda: comparison("t"),
        "wilcoxon with the t-interval": lambda: comparison("wilcoxon"),
        "resampled means": lambda: resampled_means(values, n_resamples, rng),
        "bootstrap interval": lambda: interval("bootstrap"),
        "bca interval": lambda: interval("bca"),
    }


def query_peers(values, n_resamples, rng):
    zero = np.zeros(len(values))

    def mean_difference(a, b, axis):
        return np.mean(a - b, axis=axis)

    def flips():
        return stats.permutation_test(
            (values, zero),
            mean_difference,
            permutation_type="samples",
            vectorized=True,
            n_resamples=n_resamples,
            batch=250,
            rng=rng,
        )

    def bootstrap(method):
        return stats.bootstrap(
            (values,), np.mean, n_resamples=n_resamples, method=method, batch=250, rng=rng
        )

    peers = {
        "scipy permutation_test (no interval)": flips,
        "scipy bootstrap, percentile": lambda: bootstrap("percentile"),
        "scipy bootstrap, BCa": lambda: bootstrap("BCa"),
    }
    if importlib.util.find_spec("ranx"):
        from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

        peers["ranx fisher_randomization_test"] = lambda: fisher_randomization_test(
            values, zero, n_permutations=n_resamples
        )
    return peers


CALL, MILLISECONDS = ("call", "call", ""), ("ms", "best ms", ".2f")
PARTS = {
    "auc": ("One interval of 100,000 scores", auc_rows, [("positives", "positives", ".0%")]),
    "ranks": ("Rank statistics", rank_rows, [("n", "n", "d")]),
    "queries": ("1,000 queries, 10,000 resamples", query_rows, []),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    print(describe_machine("statsmodels", "ranx"))
    for part in options.only:
        title, rows, columns = PARTS[part]
        print(f"\n{title}\n")
        print(format_table(rows(), [CALL, *columns, MILLISECONDS]), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
