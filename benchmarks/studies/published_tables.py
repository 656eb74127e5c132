"""Reproduce Table 1 of Boyd, Cortes, Mohri & Radovanovic (2012) on Ionosphere.

    python benchmarks/studies/published_tables.py [--methods logistic] [--write]   # two hours

Twenty random divisions of the rows into ten sets; each of ten experiments trains on three
consecutive sets, around the end, and tests on the other seven, with standardised features. C is
the value with the best mean P@tau over the folds, one for each tau, as in the paper, which looks
at the test rows and flatters every method; "nested" chooses it by three folds of the training
rows. "linear" is the paper's rule and "average" the default, "infinite push" the problem of
Agarwal (2011), whose loss is a mean with a scale of C of its own. See published/README.md.
"""

import argparse
import csv
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import PUBLISHED, THREAD_VARIABLES, describe_machine, format_table, update_results

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from sklearn_rank import AccuracyAtTopRanker, TopPushRanker
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import ZeroSolutionWarning
from sklearn_rank.metrics import precision_at_top_score

TAUS = (0.19, 0.14, 0.095, 0.05, 0.01)
COSTS = 10.0 ** np.arange(-4, 1.5, 0.5)
MEAN_COSTS = 10.0 ** np.linspace(-2, 2, len(COSTS))
METHODS = {
    "linear": (AccuracyAtTopRanker, {"selection": "closest"}, COSTS),
    "linear, average": (AccuracyAtTopRanker, {"selection": "average"}, COSTS),
    "logistic": (LogisticRegression, {"class_weight": "balanced", "max_iter": 2000}, COSTS),
    "infinite push": (TopPushRanker, {"tau": 1, "loss": "hinge"}, MEAN_COSTS),
}
PAPER = dict.fromkeys(("linear", "linear, average"), "AATP") | {"infinite push": "InfinitePush"}
KEYS = ("data", "kernel", "C", "tau_percent")
COLUMNS = [(key, key, "") for key in KEYS]
COLUMNS += [("precision", "P@tau", ".3f"), ("half_width", "+-", ".3f"), ("paper", "paper", ".2f")]


def values_of(method, X, y, X_test, y_test):
    """P@tau by C and tau; all rows tie where the solution is 0."""
    make, parameters, costs = METHODS[method]
    found = np.empty((len(costs), len(TAUS)))
    for i, C in enumerate(costs):
        score = None
        for j, tau in enumerate(TAUS):
            if make is AccuracyAtTopRanker:
                score = fitted(make(tau, C=C, **parameters), X, y, X_test)
            elif score is None:
                score = fitted(make(C=C, **parameters), X, y, X_test)
            found[i, j] = precision_at_top_score(y_test, score, tau=tau)
    return found


def fitted(model, X, y, X_test):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score = model.fit(X, y).decision_function(X_test)
    is_zero = any(one.category is ZeroSolutionWarning for one in caught)
    return np.zeros(len(X_test)) if is_zero else score


def one_fold(method, X, y, train, test, nested):
    """P@tau by C and tau, or by tau if nested."""
    warnings.simplefilter("ignore")
    scaler = StandardScaler().fit(X[train])
    Z, Z_test = scaler.transform(X[train]), scaler.transform(X[test])
    found = values_of(method, Z, y[train], Z_test, y[test])
    if not nested:
        return found
    inner = sum(
        values_of(method, Z[fit], y[train][fit], Z[held], y[train][held])
        for fit, held in StratifiedKFold(3, shuffle=True, random_state=0).split(Z, y[train])
    )
    return found[inner.argmax(axis=0), np.arange(len(TAUS))]


def partition(n, seed):
    """Ten sets; three consecutive ones train, around the end."""
    sets = np.array_split(np.random.default_rng(seed).permutation(n), 10)
    for first in range(10):
        chosen = {(first + i) % 10 for i in range(3)}
        yield tuple(
            np.concatenate([sets[i] for i in range(10) if (i in chosen) is trains])
            for trains in (True, False)
        )


def published():
    with open(PUBLISHED / "boyd2012_table1.csv") as lines:
        for row in csv.DictReader(lines):
            yield (row["method"], float(row["tau_percent"])), float(row["precision"])


def run(method, nested, partitions, jobs):
    X, y = load_ionosphere(return_X_y=True)
    found = []
    for seed in range(partitions):
        folds = Parallel(n_jobs=jobs)(
            delayed(one_fold)(method, X, y, train, test, nested)
            for train, test in partition(len(y), seed)
        )
        means = np.mean(folds, axis=0)
        found.append(means if nested else means.max(axis=0))
    paper = dict(published())
    for tau, values in zip(TAUS, np.transpose(found), strict=True):
        percent = round(100 * tau, 4)
        yield {
            "data": "Ionosphere, random",
            "kernel": method,
            "C": "nested" if nested else "by mean",
            "tau_percent": f"{percent:g}",
            "precision": values.mean(),
            "half_width": 1.96 * values.std(ddof=1) / np.sqrt(partitions),
            "partitions": partitions,
            "paper": paper.get((PAPER.get(method), percent), float("nan")),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="store in results/")
    options = parser.parse_args()
    print(describe_machine())
    for method in options.methods:
        for nested in (False, True) if method == "linear" else (False,):
            rows = list(run(method, nested, options.partitions, options.jobs))
            print(format_table(rows, COLUMNS), flush=True)
            if options.write:
                update_results("published_tables", rows, KEYS)


if __name__ == "__main__":
    main()
