"""Level of tests and intervals for rows, and queries, that are dependent in groups.

    python benchmarks/studies/dependence.py             # print the tables, a quarter of an hour
    python benchmarks/studies/dependence.py --write     # also store results/level_*.csv
    python benchmarks/studies/dependence.py --only groups --replications 100

Every hypothesis is true, and every target is known from a large independent sample of the same
distribution. The study prints the proportion of samples in which a test at 5 % rejects, or a 95 %
interval misses its target. No constant of the package was chosen on these designs.
"""

import argparse
import itertools
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, write_table

from sklearn_rank.inference import compare, metric_interval, two_sample_rank_test
from sklearn_rank.metrics import make_measure, roc_auc_score

SIZES = ("equal", "Poisson", "log-normal")
N_GROUPS = (10, 20, 50, 200)
FIRST = make_measure(lambda y, s: s[0], name="first", kind="graded", range=(0.0, 1.0))


def seeded(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


# ----------------------------------------------------------------------------------------- groups


def sizes_of(rng, n_groups, sizes):
    if sizes == "equal":
        return np.full(n_groups, 8)
    if sizes == "Poisson":
        return 1 + rng.poisson(6, n_groups)
    return np.maximum(1, np.round(3 * np.exp(rng.normal(size=n_groups)))).astype(int)


def grouped(rng, n_groups, sizes, classes, tails, k=1, shift=1.0, share=0.3):
    """Labels, scores of k rankers, and groups; a group holds one class, or both at random."""
    draw = rng.standard_cauchy if tails == "Cauchy" else rng.standard_normal
    while True:
        groups = np.repeat(np.arange(n_groups), sizes_of(rng, n_groups, sizes))
        n = len(groups)
        y_true = rng.random(n_groups)[groups] < share
        if classes == "both":
            y_true = rng.random(n) < share
        # Two groups of either class: what any estimate of a spread needs.
        if min(len(np.unique(groups[y_true])), len(np.unique(groups[~y_true]))) > 1:
            break
    scores = [shift * y_true + 0.8 * draw(n_groups)[groups] + 0.6 * draw(n) for _ in range(k)]
    return y_true, np.stack(scores), groups


def targets(tails):
    rng = seeded("population", tails)
    draw = rng.standard_cauchy if tails == "Cauchy" else rng.standard_normal
    y_true = rng.random(1_000_000) < 0.3
    score = y_true + 0.8 * draw(len(y_true)) + 0.6 * draw(len(y_true))
    order = np.sort(score)[::-1]
    return {
        "auc": roc_auc_score(y_true, score),
        "precision": y_true[score >= order[300_000]].mean(),
    }


def group_row(replications, n_groups, sizes, classes, tails, known):
    rng = seeded("groups", n_groups, sizes, classes, tails)
    missed: dict[str, list[bool]] = {}

    def add(name, is_missed):
        missed.setdefault(name, []).append(bool(is_missed))

    for _ in range(replications):
        y, (a, b), groups = grouped(rng, n_groups, sizes, classes, tails, 2)
        y_b, (c,), groups_b = grouped(rng, n_groups, sizes, classes, tails)
        add("paired, rows", compare("auc", y, {"a": a, "b": b}).pvalue <= 0.05)
        add("AUC, rows", known["auc"] not in metric_interval("auc", y, a))
        add("paired", compare("auc", y, {"a": a, "b": b}, groups=groups).pvalue <= 0.05)
        pair = (groups, groups_b + n_groups)
        options = {"groups": dict(zip("ab", pair, strict=True))}
        found = compare("auc", {"a": y, "b": y_b}, {"a": a, "b": c}, **options)
        add("unpaired", found.pvalue <= 0.05)
        add("AUC", known["auc"] not in metric_interval("auc", y, a, groups=groups))
        found = metric_interval("precision@top0.3", y, a, groups=groups)
        add("precision", known["precision"] not in found)
        y, (a,), groups = grouped(rng, n_groups, sizes, classes, tails, shift=0.0)
        pair = (groups[y], groups[~y])
        for method in ("normal", "permutation") if classes == "one" else ("normal",):
            found = two_sample_rank_test(
                a[y], a[~y], method=method, groups=pair, n_resamples=199, random_state=rng
            )
            add(f"two-sample {method}", found.pvalue <= 0.05)
    row = {"groups": n_groups, "sizes": sizes, "classes": classes, "tails": tails}
    row["samples"] = replications
    return row | {name: f"{np.mean(found):.3f}" for name, found in missed.items()}


def group_rows(replications):
    known = {tails: targets(tails) for tails in ("normal", "Cauchy")}
    cells = itertools.product(N_GROUPS, SIZES, ("one", "both"), ("normal", "Cauchy"))
    for n_groups, sizes, classes, tails in cells:
        some = replications if n_groups < 200 else max(replications // 2, 1)
        row = group_row(some, n_groups, sizes, classes, tails, known[tails])
        row.setdefault("two-sample permutation", "")
        yield row


# ------------------------------------------------------------------------------ groups of queries


def query_row(replications, n_groups, sizes, skewed):
    rng = seeded("queries", n_groups, sizes, skewed)
    missed: dict[str, list[bool]] = {}

    def values_of(groups):
        uniform = ndtr(
            0.7 * rng.normal(size=n_groups)[groups] + 0.7 * rng.normal(size=len(groups))
        )
        return uniform**4 if skewed else uniform

    big = ndtr(0.7 * 2**0.5 * rng.normal(size=1_000_000))
    target = float(np.mean(big**4 if skewed else big))
    for _ in range(replications):
        groups = np.repeat(np.arange(n_groups), sizes_of(rng, n_groups, sizes))
        qid, a, b = np.arange(len(groups)), values_of(groups), values_of(groups)
        options = {"qid": qid, "groups": groups, "random_state": rng}
        zeros = np.zeros(len(qid))
        for method in ("t", "bootstrap", "bca"):
            found = metric_interval(FIRST, zeros, a, method=method, n_resamples=499, **options)
            missed.setdefault(f"interval {method}", []).append(target not in found)
        for method in ("t", "randomization", "wilcoxon"):
            test = compare(FIRST, zeros, {"a": a, "b": b}, method=method, **options)
            missed.setdefault(f"test {method}", []).append(test.pvalue <= 0.05)
        test = compare(FIRST, zeros, {"a": a, "b": b}, qid=qid, method="t")
        missed.setdefault("test t, no groups", []).append(test.pvalue <= 0.05)
    row = {"groups": n_groups, "sizes": sizes, "values": "skewed" if skewed else "normal"}
    row["samples"] = replications
    return row | {name: f"{np.mean(found):.3f}" for name, found in missed.items()}


def query_rows(replications):
    for n_groups, sizes, skewed in itertools.product(N_GROUPS[:3], SIZES, (False, True)):
        yield query_row(replications, n_groups, sizes, skewed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="groups,queries", help="parts, separated by commas")
    parser.add_argument("--replications", type=int, default=150)
    parser.add_argument("--write", action="store_true", help="store results/level_*.csv")
    arguments = parser.parse_args()
    parts = {"groups": group_rows, "queries": query_rows}
    print(describe_machine())
    for part in arguments.only.split(","):
        print(f"\n{part}: {arguments.replications} replications (half as many for 200 groups)\n")
        found = list(parts[part](arguments.replications))
        print(format_table(found, [(key, key, "") for key in found[0]]), flush=True)
        if arguments.write:
            write_table(RESULTS / f"level_{part}.csv", found, ())


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
