"""Accuracy at the top with only a few candidates, as many rows require.

Each split divides the rows into training and test parts (60 and 40 %, at most 30,000 for
training). Models are fitted to two thirds of the training part at three total costs, the other
third chooses among them by the smoothed precision at the top 1 %, and the test part gives the
precision at the top. The 24 candidates are those nearest to the top 1 % quantile of logistic
regression, on all rows, and their solutions are averaged. "matched" costs weight the negatives by
the odds at that quantile, and "focused" costs also weight all rows by their rank. The study prints
P@1 % of logistic regression, the differences from it with their standard errors over the splits,
and the share of the list above the pivot in the median solution (1 % in the pilot).

    python benchmarks/studies/few_candidates.py [--splits 5] [names of data sets]
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import HERE, data_directory, describe_machine

from sklearn_rank import TopFocusedRanker
from sklearn_rank.metrics import precision_at_top_score, smoothed_precision_at_top_score

sys.path.insert(0, str(HERE / "accuracy_at_top"))
from benchmark_utils.data import read_csv
from benchmark_utils.few_candidates import COSTS, FewCandidates, simulate

TAU = 0.01
TOTAL_COSTS = (30.0, 300.0, 3000.0)
MOST_ROWS = 30_000
LETOR = {
    "ohsumed": ([f"ohsumed_S{i}" for i in range(1, 6)], 25),
    "mq2008": (["mq2008_S1", "mq2008_S4"], 46),
    "lightgbm": (["lightgbm_rank_train", "lightgbm_rank_test"], 300),
}
NAMES = ("spambase", "a9a_train", *LETOR, "well", "tails", "noise", "top")


def load(name):
    """Distinct rows, and whether they are positive or, in the sets of queries, relevant."""
    if name in ("well", "tails", "noise", "top"):
        return simulate(name, 2 * MOST_ROWS)
    if name in LETOR:
        files, d = LETOR[name]
        parts = [
            load_svmlight_file(
                str(data_directory() / f"{file}.svm.gz"), zero_based=False, n_features=d
            )
            for file in files
        ]
        X = np.vstack([X.toarray() for X, _ in parts])
        y = np.concatenate([y for _, y in parts]) >= (2 if name == "lightgbm" else 1)
    else:
        X, y = read_csv(f"{name}.csv.gz")
    rows = np.unique(np.c_[X, y], axis=0)
    return rows[:, :-1], rows[:, -1].astype(int)


def models(total_cost, n):
    """Fitted to n rows."""
    logistic = LogisticRegression(C=total_cost / n, max_iter=1000)
    yield "LogisticRegression", logistic
    yield "TopFocusedRanker", TopFocusedRanker(logistic, tau=TAU)
    for costs in COSTS:
        yield f"few candidates, {costs}", FewCandidates(TAU, total_cost, costs)


def held_out(X, y, n_splits):
    """Precision of each method on each split, and the share above the pivots."""
    share = min(0.6, MOST_ROWS / len(y))
    values, above = {}, {}
    for train, test in ShuffleSplit(
        n_splits, train_size=share, test_size=0.4, random_state=0
    ).split(X):
        fitted, chooses = train_test_split(train, test_size=1 / 3, random_state=0)
        scaler = StandardScaler().fit(X[fitted])
        A, B, T = (scaler.transform(X[rows]) for rows in (fitted, chooses, test))
        best = {}
        for total_cost in TOTAL_COSTS:
            for name, model in models(total_cost, len(fitted)):
                model.fit(A, y[fitted])
                criterion = smoothed_precision_at_top_score(
                    y[chooses], model.decision_function(B), tau=TAU
                )
                if criterion > best.get(name, (-1.0,))[0]:
                    best[name] = criterion, model
        for name, (_, model) in best.items():
            scores = model.decision_function(T)
            values.setdefault(name, []).append(precision_at_top_score(y[test], scores, tau=TAU))
            above.setdefault(name, []).append(getattr(model, "above_", np.nan))
    return values, above


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    print(describe_machine())
    for name in arguments.names:
        start = time.perf_counter()
        X, y = load(name)
        values, above = held_out(X, y, arguments.splits)
        seconds = time.perf_counter() - start
        print(f"\n{name}, {X.shape[0]} x {X.shape[1]}, {y.mean():.1%} positive, {seconds:.0f} s")
        reference = np.array(values.pop("LogisticRegression"))
        print(f"{'LogisticRegression, P@1 %':36}{reference.mean():.3f}")
        for method, precision in values.items():
            less = np.array(precision) - reference
            error = np.std(less, ddof=1) / np.sqrt(len(less))
            line = f"{method:36}{less.mean():+.3f} ± {error:.3f}"
            if "few" in method:
                line += f"   {np.mean(above[method]):.0%} of the list above the pivot"
            print(line, flush=True)


if __name__ == "__main__":
    main()
