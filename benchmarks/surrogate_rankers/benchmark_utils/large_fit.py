"""A million rows in ten thousand queries: time and memory of one fit."""

import os
import time

import numpy as np
from measuring import HERE, release_memory, resident_memory, run_worker, serve

from sklearn_rank import OrderPreservingRanker, RankSVM

N_QUERIES, LENGTH, N_FEATURES = 10_000, 100, 136
FITS = ("pairwise_logistic", "softmax", "pairwise_squared", "pointwise_logistic", "squared_hinge")
COLUMNS = [
    ("fit", "fit", ""),
    ("threads", "threads", "d"),
    ("seconds", "seconds", ".1f"),
    ("cpu_seconds", "CPU seconds", ".1f"),
    ("n_iter", "steps", "d"),
    ("products", "products with X", "d"),
    ("limit", "CPU seconds in them", ".1f"),
    ("memory_ratio", "memory / data", ".2f"),
    ("converged", "converged", ""),
]


def run(quick=False):
    """Yield the table; each fit in a process of its own."""
    rows, path = [], os.pathsep.join([str(HERE), str(HERE / "surrogate_rankers")])
    for name in FITS[:1] if quick else FITS:
        request = {"fit": name, "n_queries": N_QUERIES // (20 if quick else 1)}
        reports, problem = run_worker(__file__, request, PYTHONPATH=path)
        rows += reports
        if problem:
            print(f"{name}: {problem}")
    size = f"{N_QUERIES:,} queries of {LENGTH} rows, {N_FEATURES} features"
    yield "surrogate_large", f"{size}, float64", rows, COLUMNS


def work(request):
    """Fit once, with one thread, and count its products."""
    from benchmark_utils.fit_times import counted_products

    rng = np.random.default_rng(0)
    n = request["n_queries"] * LENGTH
    X = rng.standard_normal((n, N_FEATURES))
    qid = np.repeat(np.arange(request["n_queries"]), LENGTH)
    hidden = X[:, :20].sum(axis=1) / np.sqrt(20) + rng.standard_normal(n)
    y = np.digitize(hidden, [0.7, 1.5, 2.2, 3.0]).astype(float)
    if request["fit"] == "squared_hinge":
        ranker = RankSVM("squared_hinge", alpha=1.0)
    else:
        ranker = OrderPreservingRanker(request["fit"], measure="ndcg@10", alpha=0.01)
    ranker.fit(X[:1000], y[:1000], qid=qid[:1000])  # compiles
    release_memory()
    before, busy, start = resident_memory("VmRSS"), time.process_time(), time.perf_counter()
    products, spent = counted_products(lambda: ranker.fit(X, y, qid=qid))
    yield {
        "fit": request["fit"],
        "threads": 1,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - busy,
        "n_iter": int(ranker.n_iter_),
        "products": products,
        "limit": spent,
        "memory_ratio": (resident_memory("VmHWM") - before) / X.nbytes,
        "converged": "yes" if ranker.converged_ else "no",
    }


if __name__ == "__main__":
    serve(work)
