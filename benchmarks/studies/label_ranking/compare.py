"""Means over the folds, and paired tests that allow for folds which share training rows."""

import numpy as np
from scipy import stats

from sklearn_rank.inference._limits import holm_adjust

from .data_sets import FOLDS, REPEATS, SETS

LEVEL = 0.95


def error_of(values):
    """Standard error of the mean over folds.

    It is the sample variance times ``1/J + n_test/n_train`` for J folds (Nadeau and Bengio 2003):
    the second term is what folds have in common by their training rows.
    """
    return values.std(ddof=1) * np.sqrt(1 / len(values) + 1 / (FOLDS - 1))


def means(store, methods, share):
    """Mean and its standard error for each set, and CPU seconds of a fold in all sets."""
    rows = []
    for method in methods:
        values = {name: store.folds(name, share, method, REPEATS) for name in SETS}
        if any(one is None for one in values.values()):
            continue
        n = min(map(len, values.values()))
        values = {name: one[:n] for name, one in values.items()}
        row = {"method": method, "folds": n}
        row |= {name: float(one.mean()) for name, one in values.items()}
        row |= {f"{name} error": float(error_of(one)) for name, one in values.items()}
        row["sets"] = float(np.mean([row[name] for name in SETS]))
        row["seconds"] = sum(store.seconds(name, share, method, REPEATS) for name in SETS)
        rows.append(row)
    return rows


def tested(store, pairs, share):
    """Differences a - b of each set and of their mean; Holm's p-values over all lines.

    Parameters
    ----------
    store : Store
        The values.
    pairs : list of (str, str, str or tuple of str)
        Name of b; methods a and b, of which b may be several: the best of them in each set.
    share : float
        Share of the labels that are hidden.
    """
    rows = []
    for name, a, b in pairs:
        methods = [a, b] if isinstance(b, str) else [a, *b]
        taus = {s: [store.folds(s, share, one, REPEATS) for one in methods] for s in SETS}
        if any(one is None for of_set in taus.values() for one in of_set):
            continue
        n = min(len(one) for of_set in taus.values() for one in of_set)
        differences = {}
        for data_set, (of_a, *of_b) in taus.items():
            differences[data_set] = of_a[:n] - max((one[:n] for one in of_b), key=np.mean)
        for data_set, one in differences.items():
            rows.append(
                {"a": a, "b": name, "set": data_set} | limits(one.mean(), error_of(one), n)
            )
        errors = np.array([error_of(one) for one in differences.values()])
        mean = np.mean([one.mean() for one in differences.values()])
        error = np.sqrt(np.sum(errors**2)) / len(errors)
        rows.append({"a": a, "b": name, "set": "mean of sets"} | limits(mean, error, n))
    if rows:
        for row, p in zip(rows, holm_adjust([row["p"] for row in rows]), strict=True):
            row["Holm"] = float(p)
    return rows


def limits(mean, error, n):
    """Difference, Student's limits and two-sided p-value with n - 1 degrees of freedom."""
    half = error * stats.t.ppf((1 + LEVEL) / 2, n - 1)
    p = 2 * stats.t.sf(abs(mean) / error, n - 1) if error > 0 else 1.0
    return {
        "difference": float(mean),
        "low": float(mean - half),
        "high": float(mean + half),
        "p": float(p),
    }
