"""Precision at the top of held-out rows: defaults of rankers, and tuned boosted trees.

Each ranker has its defaults on standardised features, with at most 500 training rows in four
splits of every set with up to 100 features. The tables have the differences from
``LogisticRegression()``; standard errors are over splits, and over data sets for means. ``C=0.1``
was the best on "dev" sets; the others are its test. Boosted trees are chosen by three folds.

    python benchmarks/studies/defaults_at_the_top.py --run       # missing results
    python benchmarks/studies/defaults_at_the_top.py             # stored results
"""

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, stored_results, update_results
from top_of_list import data_sets

from sklearn_rank import AccuracyAtTopRanker, PNormPushRanker
from sklearn_rank.metrics import precision_at_top_score

NAME, KEYS, N_SPLITS, MOST_FEATURES, TAU = "defaults_at_the_top", ("set", "split"), 4, 100, 0.05
BASE = "LogisticRegression()"
RANKERS = {
    BASE: LogisticRegression(max_iter=10_000),
    "AccuracyAtTopRanker()": AccuracyAtTopRanker(TAU),
    "the same, C=0.1": AccuracyAtTopRanker(TAU, C=0.1),
    "PNormPushRanker()": PNormPushRanker(),
    "boosted trees": GridSearchCV(
        HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 16]},
        scoring="average_precision",
        cv=3,
    ),
}
SETS = [
    *data_sets.SETS,
    data_sets.DataSet("annthyroid", "dev", partial(data_sets._csv, "annthyroid")),
]


def run(done):
    """Compute what is missing, and keep it split by split."""
    for data_set in SETS:
        for number in range(N_SPLITS):
            split = data_sets.split_of(data_set, number)
            if (data_set.name, str(number)) in done or split.X.shape[1] > MOST_FEATURES:
                continue
            scaler = StandardScaler().fit(split.X)
            X, X_test = scaler.transform(split.X), scaler.transform(split.X_test)
            row = {"set": data_set.name, "kind": data_set.kind, "split": number}
            for name, ranker in RANKERS.items():
                scores = ranker.fit(X, split.y).decision_function(X_test)
                row[name] = precision_at_top_score(split.y_test, scores, tau=TAU)
            print(row, flush=True)
            update_results(NAME, [row], KEYS)


def print_tables(rows):
    """Print the mean of the base and the differences from it, by set and by kind of set."""
    found, by_kind = [], {}
    for data_set in SETS:
        of_set = [row for row in rows if row["set"] == data_set.name]
        if not of_set:
            continue
        values = np.array([[float(row[name]) for name in RANKERS] for row in of_set])
        differences = values[:, 1:] - values[:, :1]
        found.append(line(data_set.name, data_set.kind, values[:, 0], differences))
        for kind in (data_set.kind, "all"):
            by_kind.setdefault(kind, []).append(values.mean(axis=0))
    for kind, means in by_kind.items():
        means = np.array(means)
        found.append(line(f"mean of {len(means)}", kind, means[:, 0], means[:, 1:] - means[:, :1]))
    columns = [("set", "set", ""), ("kind", "kind", ""), (BASE, BASE, ".3f")]
    columns += [(name, name, "") for name in list(RANKERS)[1:]]
    print(format_table(found, columns))


def line(name, kind, base, differences):
    """One line of the table."""
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    row = {"set": name, "kind": kind, BASE: float(base.mean())}
    for ranker, mean, error in zip(
        list(RANKERS)[1:], differences.mean(axis=0), errors, strict=True
    ):
        row[ranker] = f"{mean:+.3f} ± {error:.3f}"
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="compute missing results")
    if parser.parse_args().run:
        print(describe_machine())
        warnings.simplefilter("ignore")
        run({(row["set"], row["split"]) for row in stored_results(NAME)})
    print_tables(stored_results(NAME))


if __name__ == "__main__":
    main()
