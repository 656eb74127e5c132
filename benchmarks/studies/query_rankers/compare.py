"""Means, and paired tests over queries.

The three values of a query, one for each seed, are averaged first, so the queries are the sample.
The tests generalise to other queries of the same population, given the fitted rankers. They do not
cover the variation over training queries, except for the variation over the seeds.
"""

import numpy as np
from scipy import stats

from sklearn_rank.inference._limits import holm_adjust

LEVEL = 0.95
N_RESAMPLES = 10_000


def by_query(store, method, sets, seeds):
    """Values of the queries of each set, averaged over the seeds; None unless all are there."""
    values = [[store.values(name, seed, method) for seed in seeds] for name in sets]
    if any(each is None for of_set in values for each in of_set):
        return None
    return [np.mean(of_set, axis=0) for of_set in values]


def means(store, methods, sets, seeds):
    """Mean of each set, of the sets and of all queries, and CPU seconds for a fold."""
    rows = []
    for method in methods:
        values = by_query(store, method, sets, seeds)
        if values is None:
            continue
        each = [float(one.mean()) for one in values]
        lines = [store.rows[name, seed, method] for name in sets for seed in seeds]
        rows.append(
            {"method": method, **dict(zip(sets, each, strict=True))}
            | {"sets": np.mean(each), "queries": float(np.concatenate(values).mean())}
            | {"seconds": sum(float(line["seconds"]) for line in lines)}
        )
    return rows


def tested(store, pairs, sets, seeds):
    """Differences of pairs of methods, their limits and p-values, Holm's over all pairs."""
    rows = []
    for a, b in pairs:
        of_a, of_b = (by_query(store, method, sets, seeds) for method in (a, b))
        if of_a is None or of_b is None:
            continue
        differences = [x - y for x, y in zip(of_a, of_b, strict=True)]
        row = {"a": a, "b": b} | over_queries(np.concatenate(differences))
        rows.append(row | over_sets(differences))
    if not rows:
        return rows
    for test in ("t", "randomization"):
        for row, p in zip(rows, holm_adjust([row[test] for row in rows]), strict=True):
            row[f"{test}, Holm"] = float(p)
    return rows


def over_queries(difference):
    """Mean difference of all queries, Student's limits, and p-values of two tests."""
    n, mean = len(difference), difference.mean()
    error = difference.std(ddof=1) / np.sqrt(n)
    half = error * stats.t.ppf((1 + LEVEL) / 2, n - 1)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(N_RESAMPLES, n))
    extreme = np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9
    return {
        "difference": float(mean),
        "low": float(mean - half),
        "high": float(mean + half),
        "t": float(2 * stats.t.sf(abs(mean) / error, n - 1)) if error > 0 else 1.0,
        "randomization": float((1 + extreme.sum()) / (1 + N_RESAMPLES)),
    }


def over_sets(differences):
    """Mean of the sets' means, and its limits with Satterthwaite's degrees of freedom."""
    mean = np.mean([one.mean() for one in differences])
    parts = np.array([one.var(ddof=1) / len(one) for one in differences]) / len(differences) ** 2
    freedom = parts.sum() ** 2 / (parts**2 / [len(one) - 1 for one in differences]).sum()
    half = np.sqrt(parts.sum()) * stats.t.ppf((1 + LEVEL) / 2, freedom)
    return {"sets": float(mean), "sets low": float(mean - half), "sets high": float(mean + half)}
