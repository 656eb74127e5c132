"""Effect of stratified folds of whole queries on the variance between the means of the folds.

    python benchmarks/studies/query_folds.py [--write]

For each set and measure, a ridge regression on the grades scores all queries out of fold. The
queries are then divided into five folds a hundred times. "variance" is that between the means of
the folds relative to folds that are not stratified, "rows" the relative spread of their rows.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, store_results
from query_sets import read

from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import QueryKFold

SETS = {
    "MQ2008": (("mq2008_S1", "mq2008_S4"), 46),
    "OHSUMED": (tuple(f"ohsumed_S{i}" for i in range(1, 6)), 25),
    "LightGBM's example": (("lightgbm_rank_train",), 300),
}
MEASURES = ("ndcg@10", "ap(rel>=1)", "precision@5(rel>=1)", "dcg@10")
STRATA = {"none": None, "length": "length", "relevance": "relevance"}
STRATA["length and relevance"] = ("length", "relevance")
COLUMNS = [(name, name, "") for name in ("set", "measure", "stratify")]
COLUMNS += [("variance", "variance", ".2f"), ("rows", "rows", ".3f")]


def spread(values, y, qid, stratify):
    """Mean variance between the folds of a measure, and relative spread of their rows."""
    variance, rows = [], []
    for seed in range(100):
        splitter = QueryKFold(5, stratify=stratify, random_state=seed)
        folds = [test for _, test in splitter.split(qid, y, qid)]
        variance.append(np.var([values[np.unique(qid[test])].mean() for test in folds], ddof=1))
        sizes = [len(test) for test in folds]
        rows.append(np.std(sizes) / np.mean(sizes))
    return np.mean(variance), np.mean(rows)


def rows_of(name):
    """Out-of-fold scores of a set."""
    files, n_features = SETS[name]
    parts = [read(file, n_features) for file in files]
    X, y = (np.concatenate([part[i] for part in parts]) for i in range(2))
    qid = np.concatenate([part[2].astype(int) + i * 10**7 for i, part in enumerate(parts)])
    qid, score = np.unique(qid, return_inverse=True)[1], np.empty(len(y))
    for train, test in GroupKFold(5).split(X, y, qid):
        score[test] = Ridge(10.0).fit(X[train], y[train]).predict(X[test])
    for measure in MEASURES:
        values = np.nan_to_num(get_measure(measure)(y, score, qid=qid, average=None))
        found = {kind: spread(values, y, qid, stratify) for kind, stratify in STRATA.items()}
        for kind, (variance, rows) in found.items():
            ratio = variance / found["none"][0]
            row = {"set": name, "measure": measure, "stratify": kind}
            yield row | {"variance": round(ratio, 2), "rows": round(rows, 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    options = parser.parse_args()
    print(describe_machine())
    warnings.simplefilter("ignore")
    found = [row for name in SETS for row in rows_of(name)]
    print(format_table(found, COLUMNS))
    if options.write:
        store_results("query_folds", found)


if __name__ == "__main__":
    main()
