"""Held-out precision at the top of accuracy at the top and of common alternatives.

Each of 20 stratified splits trains on 30 % of the rows (the share of Boyd et al., Section 5.3),
selects C by 3-fold cross-validated precision at the same top, and scores the other 70 %. The study
prints the mean over the splits and its standard error. Splits overlap, so the differences between
rows of one column are more precise than the standard errors suggest.

    python benchmarks/studies/held_out_precision.py
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import HERE, describe_machine

from sklearn_rank import AccuracyAtTopRanker
from sklearn_rank.exceptions import QuantileDistanceWarning, SmallTopWarning
from sklearn_rank.metrics import get_scorer, precision_at_top_score

sys.path.insert(0, str(HERE / "accuracy_at_top"))
from benchmark_utils.data import read_csv

TAUS = (0.01, 0.05, 0.095, 0.14, 0.19)


def peers(tau):
    return {
        **{
            f"AccuracyAtTopRanker, {selection}": (
                AccuracyAtTopRanker(tau, selection=selection),
                np.logspace(-4, 0, 5),
            )
            for selection in ("average", "closest", "objective")
        },
        "LogisticRegression": (
            LogisticRegression(class_weight="balanced", max_iter=1000),
            np.logspace(-3, 1, 5),
        ),
        "LinearSVC": (LinearSVC(class_weight="balanced"), np.logspace(-4, 0, 5)),
    }


def held_out(X, y, tau, n_splits):
    splits = StratifiedShuffleSplit(n_splits, train_size=0.3, random_state=0)
    values = {}
    for train, test in splits.split(X, y):
        for name, (model, grid) in peers(tau).items():
            search = GridSearchCV(
                make_pipeline(StandardScaler(), model),
                {f"{type(model).__name__.lower()}__C": grid},
                scoring=get_scorer(precision_at_top_score, tau=tau),
                cv=StratifiedKFold(3),
                error_score="raise",
            ).fit(X[train], y[train])
            value = precision_at_top_score(y[test], search.decision_function(X[test]), tau=tau)
            values.setdefault(name, []).append(value)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=20)
    arguments = parser.parse_args()
    for category in (QuantileDistanceWarning, SmallTopWarning):
        warnings.simplefilter("ignore", category)
    print(describe_machine())
    for data in ("ionosphere", "pima_diabetes"):
        X, y = read_csv(f"{data}.csv.gz")
        table = {}
        for tau in TAUS:
            for name, values in held_out(X, y, tau, arguments.splits).items():
                error = np.std(values, ddof=1) / np.sqrt(len(values))
                table.setdefault(name, []).append(f"{np.mean(values):.3f} ± {error:.3f}")
        print(f"\n{data}: P@tau of {arguments.splits} held-out parts, mean ± standard error")
        print(f"{'tau':32}" + "".join(f"{tau:>16.1%}" for tau in TAUS))
        for name, cells in table.items():
            print(f"{name:32}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
