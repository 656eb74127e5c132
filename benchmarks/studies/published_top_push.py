"""Top Push beside published tables of methods that rank positives above the top of the negatives.

    python benchmarks/studies/published_top_push.py            # half an hour
    python benchmarks/studies/published_top_push.py --tables   # stored results

"top" is Table 2 of Li, Jin & Zhou (2014): the share of the positives above the highest negative.
"rates" is Zhang et al. (2018) on w8a: the largest true positive rate with a false positive rate of
at most tau. Splits are stratified: two thirds train, or half for "rates". C, and the tau of "tau
chosen", are of the largest mean of the measure over inner folds. A fit whose solution is 0 ties
all rows. See published/README.md. ``results/published_top_push.csv`` stores the value of every
split; stored values are not computed again.
"""

import argparse
import gzip
import os
import sys
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    THREAD_VARIABLES,
    data_directory,
    describe_machine,
    format_table,
    stored_results,
    update_results,
)

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler
from top_of_list.compare import paired_test

from sklearn_rank import TopPushRanker
from sklearn_rank.exceptions import ZeroSolutionWarning
from sklearn_rank.metrics import positives_at_top_score, tpr_at_fpr_score

NAME = "published_top_push"
KEYS = ("part", "data", "method", "measure", "split")
RATES = (1e-4, 1e-3, 1e-2, 1e-1)
AT_RATES = {f"TPR@{rate:g}": partial(tpr_at_fpr_score, max_fpr=rate) for rate in RATES}
MEASURES = {"top": {"pos@top": partial(positives_at_top_score, normalize=True)}, "rates": AT_RATES}
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
# Part, data, splits, inner folds, tops of the negatives, and C of the push.
JOBS = [
    ("top", "diabetes", 30, 5, (1, 0.3), (0.1, 1.0, 10.0, 100.0)),
    ("top", "spambase", 30, 5, (1, 0.01, 0.1), (0.1, 1.0, 10.0, 100.0)),
    ("top", "w8a", 5, 2, (1, 0.001), (0.1, 1.0, 10.0)),
    ("rates", "w8a", 3, 2, (1, *RATES), (0.3, 3.0, 30.0)),
]
FILES = {"diabetes": "pima_diabetes", "w8a": "w8a_train"}
COLUMNS = [(key, key, "") for key in KEYS[:-1]]
COLUMNS += [("splits", "splits", "d"), ("value", "value", ".3f"), ("sd", "sd", ".3f")]
COLUMNS += [("difference", "less logistic", "+.3f"), ("error", "+-", ".3f"), ("p", "p", ".2g")]


@cache
def loaded(data):
    with gzip.open(data_directory() / f"{FILES.get(data, data)}.csv.gz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1)
    X, y = table[:, :-1], table[:, -1] > 0
    return (sparse.csr_array(X) if data == "w8a" else X), y


def fitted(model, X, y, X_test):
    """Scores of test rows, all 0 where the solution is."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score = model.fit(X, y).decision_function(X_test)
    is_zero = any(one.category is ZeroSolutionWarning for one in caught)
    return np.zeros(X_test.shape[0]) if is_zero else score


def run_split(part, data, number, n_folds, tops, costs):
    """Value of each method by each measure."""
    X, y = loaded(data)
    share = 1 / 2 if part == "rates" else 2 / 3
    splits = StratifiedShuffleSplit(1, train_size=share, random_state=number)
    train, test = next(splits.split(np.zeros((len(y), 1)), y))
    Z, Z_test = X[train], X[test]
    if not sparse.issparse(X):
        scaler = MinMaxScaler().fit(Z)
        Z, Z_test = scaler.transform(Z), scaler.transform(Z_test)
    y_train = y[train]
    models = {
        ("logistic", None, C): LogisticRegression(C=C, max_iter=1000)
        for C in (COSTS[:-1] if part == "rates" else COSTS)
    }
    models |= {("mean", tau, C): TopPushRanker(tau, C=C) for tau, C in product(tops, costs)}
    measures = MEASURES[part]
    inner = {key: np.zeros(len(measures)) for key in models}
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=number)
    for fit, held in folds.split(np.zeros((len(y_train), 1)), y_train):
        for key, model in models.items():
            score = fitted(model, Z[fit], y_train[fit], Z[held])
            inner[key] += [value(y_train[held], score) for value in measures.values()]
    scores = {}
    for j, (measure, value) in enumerate(measures.items()):
        groups = {"logistic": [key for key in models if key[0] == "logistic"]}
        groups["mean, top chosen"] = [key for key in models if key[0] == "mean"]
        for tau in tops if part == "top" else (1,):
            groups[f"mean, top={tau:g}"] = [key for key in models if key[1] == tau]
        for method, keys in groups.items():
            best = max(keys, key=lambda key: inner[key][j].round(12))
            if best not in scores:
                scores[best] = fitted(models[best], Z, y_train, Z_test)
            yield {
                "part": part,
                "data": data,
                "method": method,
                "measure": measure,
                "split": number,
                "value": float(value(y[test], scores[best])),
                "n_train": len(train),
                "n_test": len(test),
                "share": (len(train) + len(test)) / len(y),
            }


def summary():
    """Means over splits, and paired differences from logistic regression."""
    groups = {}
    for row in stored_results(NAME):
        key = row["part"], row["data"], row["measure"], row["method"]
        groups.setdefault(key, {})[row["split"]] = row
    for (part, data, measure, method), splits in groups.items():
        values = np.array([float(row["value"]) for row in splits.values()])
        line = {"part": part, "data": data, "measure": measure, "method": method}
        line |= {"splits": len(values), "value": values.mean(), "sd": values.std(ddof=1)}
        base = groups[part, data, measure, "logistic"]
        if method != "logistic":
            pairs = [float(splits[s]["value"]) - float(base[s]["value"]) for s in splits]
            sizes = [float(splits["0"][key]) for key in ("n_train", "n_test", "share")]
            line["difference"], line["error"], line["p"] = paired_test(pairs, *sizes)
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", action="store_true", help="only print stored results")
    options = parser.parse_args()
    print(describe_machine())
    there = {(row["part"], row["data"], row["split"]) for row in stored_results(NAME)}
    for part, data, n_splits, n_folds, tops, costs in JOBS:
        for number in range(0 if options.tables else n_splits):
            if (part, data, str(number)) not in there:
                rows = list(run_split(part, data, number, n_folds, tops, costs))
                update_results(NAME, rows, KEYS)
                print(part, data, number, flush=True)
    print(format_table(list(summary()), COLUMNS))


if __name__ == "__main__":
    main()
