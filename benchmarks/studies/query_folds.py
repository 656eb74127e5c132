"""Effect of stratified folds of whole queries on the variance between the means of the folds.

For each set and measure, a ridge regression on the grades scores all queries out of fold. The
queries are then divided into five folds a hundred times. The study prints the variance between the
means of the folds, relative to that without stratification, and the relative spread of their
numbers of rows.

    python benchmarks/studies/query_folds.py --data FOLDER
    python benchmarks/studies/query_folds.py --data FOLDER --write
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table

from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import QueryKFold

RESULTS = Path(__file__).resolve().parents[1] / "results" / "query_folds.csv"
SETS = {
    "MQ2008": (["mq2008_S1", "mq2008_S4"], 46),
    "OHSUMED": ([f"ohsumed_S{i}" for i in range(1, 6)], 25),
    "LightGBM's example": (["lightgbm_rank_train"], 300),
}
MEASURES = ("ndcg@10", "ap(rel>=1)", "precision@5(rel>=1)", "dcg@10")
STRATA = (None, "length", "relevance", ("length", "relevance"))
REPEATS = 100
COLUMNS = [
    ("set", "set", ""),
    ("measure", "measure", ""),
    ("stratify", "stratify", ""),
    ("variance", "variance", ".2f"),
    ("rows", "rows", ".3f"),
]


def load(folder, names, n_features):
    """Rows, grades and ids of the parts of a set."""
    parts = [
        load_svmlight_file(
            str(folder / f"{name}.svm.gz"),
            n_features=n_features,
            query_id=True,
            zero_based=False,
        )
        for name in names
    ]
    X = np.concatenate([part[0].toarray() for part in parts])
    y = np.concatenate([part[1] for part in parts])
    qid = np.concatenate([part[2] + place * 10**7 for place, part in enumerate(parts)])
    return X, y, np.unique(qid, return_inverse=True)[1]


def spread(values, y, qid, stratify):
    """Mean variance between the folds of a measure, and relative spread of their rows."""
    variance, rows = [], []
    for seed in range(REPEATS):
        splitter = QueryKFold(5, stratify=stratify, random_state=seed)
        folds = [test for _, test in splitter.split(qid, y, qid)]
        variance.append(np.var([values[np.unique(qid[test])].mean() for test in folds], ddof=1))
        sizes = [len(test) for test in folds]
        rows.append(np.std(sizes) / np.mean(sizes))
    return np.mean(variance), np.mean(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the .svm.gz files")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    print(describe_machine())
    found = []
    for name, (parts, n_features) in SETS.items():
        X, y, qid = load(options.data, parts, n_features)
        score = np.empty(len(y))
        for train, test in GroupKFold(5).split(X, y, qid):
            score[test] = Ridge(10.0).fit(X[train], y[train]).predict(X[test])
        for measure in MEASURES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values = np.nan_to_num(get_measure(measure)(y, score, qid=qid, average=None))
            base = None
            for stratify in STRATA:
                variance, rows = spread(values, y, qid, stratify)
                base = variance if base is None else base
                kind = (
                    stratify if isinstance(stratify, str) else " and ".join(stratify or ["none"])
                )
                found.append(
                    {
                        "set": name,
                        "measure": measure,
                        "stratify": kind,
                        "variance": round(variance / base, 2),
                        "rows": round(rows, 3),
                    }
                )
    print(format_table(found, COLUMNS))
    if options.write:
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
