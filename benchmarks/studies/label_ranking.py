"""Compare rankers of labels: linear, and common regressions and forests.

    python benchmarks/studies/label_ranking.py --run       # missing results; half an hour
    python benchmarks/studies/label_ranking.py             # stored results

The value is Kendall's tau-b of held-out rows in six sets of KEBI, all labels of the test rows
known: ten folds, and with 60 % of the labels of the training rows hidden, each by itself but for
two of each row. "per pair, votes" is a random forest for each pair of labels; "extra trees" are of
the share of the known labels below each label. Limits are of paired differences from "linear" over
the folds; the variance of the mean of J differences is their sample variance times 1/J + 1/9,
since folds share training rows (Nadeau and Bengio 2003). ``results/label_ranking.csv`` stores
taus of folds in units of 1e-5.
"""

import argparse
import os
import sys
import warnings
from functools import cache
from itertools import combinations
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
import pandas as pd
from scipy.stats import kendalltau, rankdata, t
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingLabelRanker

NAME, KEYS = "label_ranking", ("set", "hidden", "method")
SETS = ("bodyfat", "glass", "housing", "iris", "vowel", "wine")
N_FOLDS, HIDDEN = 10, 0.6


@cache
def rows_of(name):
    """Features and positions of labels, 1 is the top."""
    table = pd.read_csv(data_directory() / "label_ranking" / f"lr_{name}.csv.gz")
    ranks = table.columns.str.startswith("rank")
    return table.loc[:, ~ranks].to_numpy(float), table.loc[:, ranks].to_numpy(float)


def hidden(positions, seed):
    """Hide a share of the labels at random; two or more of each row stay."""
    order = np.random.default_rng(seed).random(positions.shape)
    lost = order < HIDDEN
    np.put_along_axis(lost, np.argsort(order, axis=1)[:, -2:], False, axis=1)
    return np.where(lost, np.nan, positions)


def of_positions(model):
    return lambda X, positions, X_test: -model().fit(X, positions).predict(X_test)


def linear(X, positions, X_test):
    ranker = OrderPreservingLabelRanker(target_type="positions")
    return make_pipeline(StandardScaler(), ranker).fit(X, positions).predict(X_test)


def per_pair(X, positions, X_test):
    scores = np.zeros((len(X_test), positions.shape[1]))
    for i, j in combinations(range(scores.shape[1]), 2):
        above = positions[:, i] < positions[:, j]
        share = np.full(len(X_test), float(above[0]))
        if above.any() and not above.all():
            forest = RandomForestClassifier(100, random_state=0).fit(X, above)
            share = (forest.predict_proba(X_test)[:, 1] > 0.5).astype(float)
        scores[:, i] += share
        scores[:, j] += 1 - share
    return scores


def of_shares(model):
    """A regression of the share of known labels below, of each label on the rows that have it."""

    def scores(X, positions, X_test):
        known = ~np.isnan(positions)
        n_labels = known.sum(axis=1, keepdims=True)
        ranks = rankdata(positions, axis=1, nan_policy="omit")
        shares = (n_labels - ranks) / (n_labels - 1)
        if known.all():
            return model().fit(X, shares).predict(X_test)
        return np.column_stack(
            [
                model().fit(X[rows], share[rows]).predict(X_test)
                for rows, share in zip(known.T, shares.T, strict=True)
            ]
        )

    return scores


def complete(method):
    """A method on the rows of which every label is known; ties where there are fewer than two."""

    def scores(X, positions, X_test):
        kept = ~np.isnan(positions).any(axis=1)
        if kept.sum() < 2:
            return np.zeros((len(X_test), positions.shape[1]))
        return method(X[kept], positions[kept], X_test)

    return scores


def trees(**parameters):
    return lambda: ExtraTreesRegressor(100, random_state=0, **parameters)


METHODS = {
    0.0: {
        "linear": linear,
        "linear regression": of_positions(LinearRegression),
        "forest of all labels": of_positions(lambda: RandomForestRegressor(100, random_state=0)),
        "forest per pair, votes": per_pair,
        "extra trees": of_shares(trees()),
        "constant order": of_shares(DummyRegressor),
    },
    HIDDEN: {
        "linear": linear,
        "extra trees, 3 rows a leaf": of_shares(trees(min_samples_leaf=3)),
        "extra trees, complete rows": complete(of_shares(trees())),
    },
}


def taus_of(name, share, method):
    """Mean tau of each fold; 0 where all scores of a row are equal."""
    X, positions = rows_of(name)
    folds = RepeatedKFold(n_splits=N_FOLDS, n_repeats=5, random_state=42)
    for number, (train, test) in enumerate(list(folds.split(X))[:N_FOLDS]):
        known = hidden(positions[train], number) if share else positions[train]
        scores = METHODS[share][method](X[train], known, X[test])
        yield np.mean(
            [
                kendalltau(-p, s).statistic if np.ptp(s) > 0 else 0.0
                for p, s in zip(positions[test], scores, strict=True)
            ]
        )


def tables():
    stored = {
        tuple(row[key] for key in KEYS): np.array(row["folds"].split(), float) / 1e5
        for row in stored_results(NAME)
    }
    columns = [("method", "method", "")] + [(name, name, ".3f") for name in (*SETS, "mean")]
    columns += [("less linear", "less linear, 95 %", "")]
    for share, methods in METHODS.items():
        rows = []
        for method in methods:
            taus = np.array([stored[name, str(share), method] for name in SETS])
            base = np.array([stored[name, str(share), "linear"] for name in SETS])
            row = {"method": method, "mean": taus.mean()}
            row |= dict(zip(SETS, taus.mean(axis=1), strict=True))
            variance = np.var(taus - base, axis=1, ddof=1) * (1 / N_FOLDS + 1 / (N_FOLDS - 1))
            half = t.ppf(0.975, N_FOLDS - 1) * np.sqrt(variance.sum()) / len(SETS)
            row["less linear"] = f"{(taus - base).mean():+.3f} ± {half:.3f}"
            rows.append(row)
        print(f"\n{share:.0%} of the labels hidden\n{format_table(rows, columns)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="compute missing results")
    options = parser.parse_args()
    print(describe_machine())
    warnings.simplefilter("ignore", UserWarning)
    there = {tuple(row[key] for key in KEYS) for row in stored_results(NAME)}
    for share, methods in METHODS.items() if options.run else ():
        for name in SETS:
            for method in methods:
                if (name, str(share), method) not in there:
                    taus = list(taus_of(name, share, method))
                    folds = " ".join(f"{tau * 1e5:.0f}" for tau in taus)
                    row = {"set": name, "hidden": share, "method": method, "folds": folds}
                    update_results(NAME, [row], KEYS)
                    print(name, share, method, f"{np.mean(taus):.4f}", flush=True)
    tables()


if __name__ == "__main__":
    main()
