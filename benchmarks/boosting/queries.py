"""Boosted trees for queries beside LightGBM's and XGBoost's own rankers: CPU seconds and NDCG@10.

    python benchmarks/boosting/queries.py [--quick] [--write] [--only typical]

100 trees of 31 leaves on 136 features, one thread, all peers of a shape in turns in one process,
since times on a busy machine compare only within minutes. Half as many queries again are held out.
"objective" is the share of the CPU seconds of our fits that the loss takes. ``--write`` stores
``results/boosting_queries.csv``.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, run_worker, serve, store_results

from sklearn_rank import BoostedOrderPreservingRanker
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.rankers import _boosted as _boosted_losses

TREES = 100

# Rows, rows of a query, share of relevant rows, highest grade.
SHAPES = {
    "typical": (100_000, 100, 0.5, 4),
    "short lists": (100_000, 10, 0.5, 4),
    "long lists": (100_000, 1_000, 0.5, 4),
    "few relevant": (100_000, 100, 0.02, 1),
    "string ids, unsorted": (100_000, 100, 0.5, 4),
}


def rows_of(shape, n_rows, n_features=136):
    _, length, share, highest = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, 0] + np.abs(X[:, 1]) + X[:, 2] * X[:, 3] + rng.logistic(size=n_rows)
    cuts = np.quantile(score, 1 - share * np.arange(1, highest + 1)[::-1] / highest)
    y = np.searchsorted(cuts, score).astype(float)
    qid = np.arange(n_rows) // length
    if "unsorted" in shape:
        order = rng.permutation(n_rows)
        X, y, qid = X[order], y[order], np.array([f"query {q:06d}" for q in qid[order]])
    return X, y, qid


def by_query(X, y, qid):
    """What peers need first: rows of a query together, and sizes."""
    order = np.argsort(qid, kind="stable")
    _, sizes = np.unique(qid[order], return_counts=True)
    return X[order], y[order].astype(int), sizes


def light_gbm(X, y, qid):
    from lightgbm import LGBMRanker

    X, y, sizes = by_query(X, y, qid)
    model = LGBMRanker(n_estimators=TREES, n_jobs=1, verbose=-1)
    return model.fit(X, y, group=sizes).predict


def xg_boost(X, y, qid):
    from xgboost import XGBRanker

    X, y, sizes = by_query(X, y, qid)
    model = XGBRanker(
        n_estimators=TREES, n_jobs=1, max_leaves=31, max_depth=0, grow_policy="lossguide",
        learning_rate=0.1,
    )  # fmt: skip
    return model.fit(X, y, group=sizes).predict


def ours(loss, backend):
    def fit(X, y, qid):
        ranker = BoostedOrderPreservingRanker(loss, backend=backend, n_estimators=TREES)
        return ranker.fit(X, y, qid=qid).predict

    return fit


PEERS = {
    "LGBMRanker, lambdarank": light_gbm,
    "ours, pairwise_logistic, LightGBM": ours("pairwise_logistic", "lightgbm"),
    "ours, softmax, LightGBM": ours("softmax", "lightgbm"),
    "XGBRanker, ndcg": xg_boost,
    "ours, pairwise_logistic, XGBoost": ours("pairwise_logistic", "xgboost"),
}


def count_objective():
    """Let the objective count its CPU seconds."""
    spent = [0.0]
    make = _boosted_losses.loss_objective

    def counted(loss):
        call = make(loss)

        def timed(score):
            start = time.process_time()
            found = call(score)
            spent[0] += time.process_time() - start
            return found

        return timed

    _boosted_losses.loss_objective = counted
    return spent


def measure(request):
    """Fit all peers of one shape in this process."""
    warnings.simplefilter("ignore")
    n, shape = request["rows"], request["shape"]
    X, y, qid = rows_of(shape, n)
    spent = count_objective()
    small = slice(0, 2_000)
    for fit in PEERS.values():  # compiling, and what others load when they are first used
        fit(X[small], y[small], np.arange(2_000) // 10)
    held = rows_of(shape, n + n // 2)
    new = np.isin(held[2], np.unique(held[2])[-(len(np.unique(held[2])) // 3) :])
    for peer, fit in PEERS.items():
        spent[0], start = 0.0, time.process_time()
        predict = fit(X, y, qid)
        seconds = time.process_time() - start
        score = predict(held[0][new])
        yield {
            "peer": peer,
            "cpu": seconds,
            "objective": spent[0] / seconds if "ours" in peer else float("nan"),
            "ndcg": ndcg_score(held[1][new], score, k=10, qid=held[2][new]),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    arguments = parser.parse_args()
    machine = describe_machine("lightgbm", "xgboost")
    print(machine)
    rows = []
    for shape in arguments.only:
        n = SHAPES[shape][0] // (10 if arguments.quick else 1)
        request = {"shape": shape, "rows": n}
        reports, problem = run_worker(__file__, request, timeout=1200)
        base = reports[0]["cpu"] if reports else float("nan")
        rows += [{**request, **one, "ratio": one["cpu"] / base} for one in reports]
        if problem:
            rows.append({**request, "note": problem})
    columns = [("shape", "shape", ""), ("rows", "rows", ",d"), ("peer", "peer", "")]
    columns += [("cpu", "CPU s", ".2f"), ("ratio", "to lambdarank", ".2f")]
    columns += [("objective", "objective", ".0%"), ("ndcg", "held-out NDCG@10", ".4f")]
    columns += [("note", "note", "")]
    print(format_table(rows, columns))
    if arguments.write:
        store_results("boosting_queries", rows, machine.replace("\n", "; "))


if __name__ == "__main__" and not serve(measure):
    main()
