"""CPU times of fits of one thread, and how much of them products with X take.

"/ limit" is the time of a fit over that of the products with X in it.
"""

import importlib
import time
import warnings
from itertools import pairwise
from unittest import mock

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmark_utils.data import read
from benchmark_utils.letor import first_rows
from sklearn_rank import OrderPreservingRanker, RankSVM
from sklearn_rank._solvers._design import DenseDesign
from sklearn_rank.datasets import make_subset_ranking
from sklearn_rank.losses import get_loss_names

# Strength per pair of different grades, as of liblinear's C.
STRENGTH = 1e-3
MOST_PAIRS = 500_000
REPEATS, BUDGET = 3, 30.0
COLUMNS = [
    ("data", "data", ""),
    ("fit", "fit", ""),
    ("seconds", "CPU seconds", ".3f"),
    ("n_iter", "steps", "d"),
    ("products", "products with X", "d"),
    ("product_seconds", "seconds in them", ".3f"),
    ("per_limit", "/ limit", ".1f"),
    ("objective", "objective", ".8g"),
    ("note", "note", ""),
]


def run(quick=False):
    """Yield the table of times."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for data, (X, y, qid) in data_sets(quick):
        X = StandardScaler().fit_transform(X)
        for loss in get_loss_names(order_preserving=True):
            ranker = OrderPreservingRanker(loss, measure="ndcg@10", alpha=STRENGTH)
            rows.append(row_of(data, loss, ranker, X, y, qid))
        pairs = explicit_pairs(X, y, qid)
        n_pairs = count_pairs(y, qid)
        for loss in ("hinge", "squared_hinge"):
            rows += comparison(data, loss, X, y, qid, pairs, n_pairs)
        rows += boosted(data, X, y, qid)
        for row in rows:
            if row["data"] == data:
                print(f"  {data}: {row['fit']}: {row['seconds']:.3f} s", flush=True)
    yield "surrogate_times", "One fit, one thread, least of up to three", rows, COLUMNS


def data_sets(quick):
    """Yield names and rows."""
    yield "mq2008_S1 2,933 x 46", read(["mq2008_S1"], 46)
    yield "lightgbm_train 3,005 x 300", read(["lightgbm_rank_train"], 300)
    if quick:
        return
    yield "mslr_sample 5,000 x 136", read(["mslr5k_train"], 136)
    yield "ohsumed 16,140 x 25", read([f"ohsumed_S{part}" for part in range(1, 6)], 25)
    made = make_subset_ranking(1000, 100, 136, random_state=0)
    yield "simulated 100,000 x 136", (made.data, made.target, made.qid)


def row_of(data, name, ranker, X, y, qid):
    """Time a fit of ours, then once more with its products with X counted."""
    seconds, fitted = cpu_time(lambda: ranker.fit(X, y, qid=qid))
    products, spent = counted_products(lambda: ranker.fit(X, y, qid=qid))
    return {
        "data": data,
        "fit": name,
        "seconds": seconds,
        "n_iter": fitted.n_iter_,
        "products": products,
        "product_seconds": spent,
        "per_limit": seconds / spent,
        "objective": fitted.objective_,
        "note": "" if fitted.converged_ else "tolerance not reached",
    }


def cpu_time(function):
    """Least CPU seconds of up to three calls, and what the last one returned."""
    best, spent, value = float("inf"), 0.0, None
    for _ in range(REPEATS):
        start = time.process_time()
        value = function()
        seconds = time.process_time() - start
        best, spent = min(best, seconds), spent + seconds
        if spent > BUDGET:
            break
    return best, value


def counted_products(function):
    """Call a function; the number of products with X in it, and the seconds that they took."""
    found = [0, 0.0]

    def timed(method):
        def call(*arguments):
            start = time.process_time()
            value = method(*arguments)
            found[0] += 1
            found[1] += time.process_time() - start
            return value

        return call

    with (
        mock.patch.object(DenseDesign, "scores", timed(DenseDesign.scores)),
        mock.patch.object(DenseDesign, "pull_back", timed(DenseDesign.pull_back)),
    ):
        function()
    return tuple(found)


def count_pairs(y, qid):
    """Count pairs of rows of a query with different grades."""
    offsets, total = first_rows(qid), 0
    for a, b in pairwise(offsets):
        counts = np.unique(y[a:b], return_counts=True)[1]
        total += ((b - a) ** 2 - (counts**2).sum()) // 2
    return int(total)


def explicit_pairs(X, y, qid):
    """Differences of the rows of all such pairs, or None if they are too many."""
    if count_pairs(y, qid) > MOST_PAIRS:
        return None
    offsets, blocks = first_rows(qid), []
    for a, b in pairwise(offsets):
        better, worse = np.nonzero(y[a:b, None] > y[a:b])
        blocks.append(X[a:b][better] - X[a:b][worse])
    return np.vstack(blocks)


def comparison(data, loss, X, y, qid, pairs, n_pairs):
    """Yield rows of RankSVM and of liblinear, which solve the same problem."""
    n_queries = len(first_rows(qid)) - 1
    C = n_queries / (STRENGTH * n_pairs)
    yield row_of(data, f"RankSVM {loss}", RankSVM(loss, C=C), X, y, qid)
    if pairs is None:
        yield {
            "data": data,
            "fit": f"liblinear {loss}",
            "seconds": float("nan"),
            "note": f"not run on {n_pairs:,} pairs",
        }
        return
    # liblinear wants two classes: every other pair is turned around.
    sign = np.where(np.arange(len(pairs)) % 2, -1.0, 1.0)
    svm = LinearSVC(
        loss=loss,
        C=C / n_queries,
        fit_intercept=False,
        dual=loss == "hinge",
        tol=1e-4,
        max_iter=10_000,
        random_state=0,
    )
    signed = pairs * sign[:, None]
    seconds, fitted = cpu_time(lambda: svm.fit(signed, sign))
    coef = fitted.coef_.ravel()
    short = np.maximum(0.0, 1 - pairs @ coef)
    losses = short.sum() if loss == "hinge" else (short**2).sum()
    note = f"{n_pairs:,} pairs made beforehand, {pairs.nbytes / X.nbytes:.0f} times the data"
    if np.max(fitted.n_iter_) >= svm.max_iter:
        note += "; max_iter reached"
    yield {
        "data": data,
        "fit": f"liblinear {loss}",
        "seconds": seconds,
        "n_iter": int(np.max(fitted.n_iter_)),
        "objective": float(0.5 * coef @ coef + C * losses / n_queries),
        "note": note,
    }


def boosted(data, X, y, qid):
    """Yield rows of the boosted trees with their default parameters."""
    lengths = np.diff(first_rows(qid))
    grades, ids = y.astype(int), np.repeat(np.arange(len(lengths)), lengths)
    makers = (
        ("lightgbm", "LGBMRanker", {"verbose": -1}, {"group": lengths}),
        ("xgboost", "XGBRanker", {}, {"qid": ids}),
    )
    for module, name, options, groups in makers:
        try:
            maker = getattr(importlib.import_module(module), name)
        except ImportError:
            yield {"data": data, "fit": name, "seconds": float("nan"), "note": "not installed"}
            continue
        ranker = maker(n_jobs=1, random_state=0, **options)
        seconds, _ = cpu_time(lambda ranker=ranker, g=groups: ranker.fit(X, grades, **g))
        yield {
            "data": data,
            "fit": name,
            "seconds": seconds,
            "n_iter": 100,
            "note": "100 trees",
        }
