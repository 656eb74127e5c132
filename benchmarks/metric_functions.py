"""Measures beside those of other packages: milliseconds of a call, and differences of the values.

    python benchmarks/metric_functions.py [--data 1e6 queries] [--write]

Every peer runs on all data in a fresh process with one thread, each call on copies of the arrays
(peers with objects of their own keep these). "best" and "median" are of five calls or more within
1.2 seconds, "argsort" is one ``np.argsort`` of all scores in the same process, "memory" the rise
of the resident size in one call. "difference" is that of the value from this package's, which the
tests hold to its definition: the mean over all orders of tied items. The peers, but for absent
ones: ``pip install ranx ir-measures pytrec_eval-terrier rapidstats rdkit torch torchmetrics``.
"""

import argparse
import gc
import statistics
import time
import warnings
from functools import partial
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
from measuring import (
    describe_machine,
    format_table,
    release_memory,
    resident_memory,
    run_worker,
    serve,
    store_results,
)
from scipy.special import expit

DATA = ("1e6", "1e6 ties", "1e7", "queries", "queries ties", "queries shuffled")
OURS = "sklearn_rank"
PEERS = {  # and what has to be installed
    OURS: (),
    "scikit-learn": (),
    "scipy rankdata": (),
    "rapidstats": ("rapidstats",),
    "rdkit": ("rdkit",),
    "torchmetrics": ("torch", "torchmetrics"),
    "pytrec_eval": ("pytrec_eval",),
    "ir_measures": ("ir_measures",),
    "ranx": ("ranx",),
}
COLUMNS = [
    ("data", "data", ""),
    ("measure", "measure", ""),
    ("peer", "peer", ""),
    ("best_ms", "best ms", ".1f"),
    ("median_ms", "median", ".1f"),
    ("argsort_ms", "argsort", ".1f"),
    ("per_ours", "/ ours", ".1f"),
    ("memory_mb", "MB", ".0f"),
    ("found", "value", ".9f"),
    ("difference", "difference", ".0e"),
]


def drawn(name):
    """Labels or grades, scores, ids of queries and where each query begins; one list has none."""
    rng = np.random.RandomState(0)
    if not name.startswith("queries"):
        n = int(float(name.split()[0]))
        y = (rng.uniform(size=n) < 0.1).astype(np.int64)
        score, qid, offsets = rng.standard_normal(n) + y, None, None
    else:
        lengths = rng.randint(1, 200, 10_000)
        n = int(lengths.sum())
        y = rng.choice(5, n, p=[0.5, 0.25, 0.15, 0.07, 0.03]).astype(np.int64)
        score = expit(rng.standard_normal(n) + 0.5 * y - 0.5)
        qid = np.repeat(7 + 3 * np.arange(len(lengths)), lengths)
        offsets = np.append(0, np.cumsum(lengths))
    if name.endswith("ties"):
        score = np.round(score, 1)
    if name.endswith("shuffled"):
        rows = rng.permutation(n)
        y, score, qid, offsets = y[rows], score[rows], qid[rows], None
    return y, score, qid, offsets


# ------------------------------------------------------------------------------------------ peers
# Each yields measures and a function of labels, scores and ids. Grades from 2 on are relevant.


def sklearn_rank(y, score, qid, offsets):
    from sklearn_rank import metrics

    if qid is None:
        yield "auc", lambda y, s, q: metrics.roc_auc_score(y, s)
        yield "bedroc", lambda y, s, q: metrics.bedroc_score(y, s, alpha=20.0)
        yield (
            "partial auc",
            lambda y, s, q: metrics.partial_auc_score(y, s, max_fpr=0.1, scale="mcclish"),
        )
        return
    yield (
        "ndcg@10",
        lambda y, s, q: metrics.ndcg_score(y, s, qid=q, k=10, gain="linear", undefined=0.0),
    )
    yield "ap", lambda y, s, q: metrics.average_precision_score(y > 1, s, qid=q, undefined=0.0)
    yield "rr", lambda y, s, q: metrics.reciprocal_rank_score(y > 1, s, qid=q, undefined=0.0)


def scikit_learn(y, score, qid, offsets):
    from sklearn import metrics

    if qid is None:
        yield "auc", lambda y, s, q: metrics.roc_auc_score(y, s)
        yield "partial auc", lambda y, s, q: metrics.roc_auc_score(y, s, max_fpr=0.1)
        return

    def ndcg(y, s):  # which refuses a single row
        return float(y[0] > 0) if len(y) == 1 else metrics.ndcg_score(y[None], s[None], k=10)

    def ap(y, s):
        return metrics.average_precision_score(y > 1, s) if (y > 1).any() else 0.0

    def in_a_loop(function, y, s, q):
        return np.mean([function(y[a:b], s[a:b]) for a, b in pairwise(offsets)])

    yield "ndcg@10", partial(in_a_loop, ndcg)
    yield "ap", partial(in_a_loop, ap)


def scipy_rankdata(y, score, qid, offsets):
    from scipy.stats import rankdata

    def auc(y, s, q):
        n_pos = int(y.sum())
        excess = rankdata(s)[y == 1].sum() - n_pos * (n_pos + 1) / 2
        return excess / (n_pos * (len(y) - n_pos))

    if qid is None:
        yield "auc", auc


def rapidstats(y, score, qid, offsets):
    from rapidstats.metrics import roc_auc

    if qid is None:
        yield "auc", lambda y, s, q: roc_auc(y, s)


def rdkit(y, score, qid, offsets):
    from rdkit.ML.Scoring.Scoring import CalcAUC, CalcBEDROC

    def ranked(y, s):
        return y[np.argsort(-s, kind="stable"), None].tolist()

    if qid is None:
        yield "auc", lambda y, s, q: CalcAUC(ranked(y, s), 0)
        yield "bedroc", lambda y, s, q: CalcBEDROC(ranked(y, s), 0, 20.0)


def torchmetrics(y, score, qid, offsets):
    import torch
    from torchmetrics import retrieval
    from torchmetrics.functional.classification import binary_auroc

    torch.set_num_threads(1)
    scores = torch.from_numpy(score).float()
    if qid is None:
        labels = torch.from_numpy(y)
        for name, limit in (("auc", None), ("partial auc", 0.1)):
            call = partial(binary_auroc, scores, labels, max_fpr=limit, validate_args=False)
            yield name, lambda y, s, q, call=call: float(call())
        return
    kinds = {
        "ndcg@10": (partial(retrieval.RetrievalNormalizedDCG, top_k=10), y),
        "ap": (retrieval.RetrievalMAP, y > 1),
        "rr": (retrieval.RetrievalMRR, y > 1),
    }

    def of_queries(kind, labels):
        metric = kind()
        metric.update(scores, labels, indexes=torch.from_numpy(qid))
        return float(metric.compute())

    for name, (kind, labels) in kinds.items():
        labels = torch.from_numpy(labels.astype(np.int64))
        yield name, lambda y, s, q, kind=kind, labels=labels: of_queries(kind, labels)


def in_dictionaries(y, score, offsets):
    """Relevance and score of each document by query; names of documents stand in row order."""
    found = {}, {}
    for query, (a, b) in enumerate(pairwise(offsets.tolist())):
        for values, kept in zip((y, score), found, strict=True):
            names = (f"d{i:03d}" for i in range(b - a))
            kept[f"q{query:06d}"] = dict(zip(names, values[a:b].tolist(), strict=True))
    return found


def pytrec_eval(y, score, qid, offsets):
    import pytrec_eval

    names = {"ndcg@10": "ndcg_cut_10", "ap": "map", "rr": "recip_rank"}
    for measure, name in names.items() if qid is not None else ():
        truth, run = in_dictionaries(y if measure == "ndcg@10" else 1 * (y > 1), score, offsets)
        evaluator = pytrec_eval.RelevanceEvaluator(truth, {name.replace("cut_", "cut.")})

        def mean(y, s, q, evaluator=evaluator, run=run, name=name):
            values = evaluator.evaluate(run).values()
            return sum(value[name] for value in values) / len(values)

        yield measure, mean


def ir_measures(y, score, qid, offsets):
    import ir_measures as peer

    names = {"ndcg@10": peer.nDCG @ 10, "ap": peer.AP, "rr": peer.RR}
    for measure, name in names.items() if qid is not None else ():
        truth, run = in_dictionaries(y if measure == "ndcg@10" else 1 * (y > 1), score, offsets)
        call = partial(peer.calc_aggregate, [name], truth, run)
        yield measure, lambda y, s, q, call=call, name=name: call()[name]


def ranx(y, score, qid, offsets):
    import ranx as peer

    names = {"ndcg@10": "ndcg@10", "ap": "map", "rr": "mrr"}
    for measure, name in names.items() if qid is not None else ():
        truth, run = in_dictionaries(y if measure == "ndcg@10" else 1 * (y > 1), score, offsets)
        call = partial(peer.evaluate, peer.Qrels(truth), peer.Run(run), name, threads=1)
        yield measure, lambda y, s, q, call=call: float(call())


# -------------------------------------------------------------------------------------- the clock


def work(request):
    """Time one peer on all data that it takes."""
    warnings.simplefilter("ignore")
    peer = request["peer"]
    for name in request["data"]:
        if peer != OURS and (name.endswith("shuffled") or (name == "1e7" and peer in ("rdkit",))):
            continue  # the others need rows in order; minutes
        data = drawn(name)
        for measure, call in globals()[peer.replace("-", "_").replace(" ", "_")](*data):
            call(*copies(data))  # imports and compiles
            yield {"data": name, "measure": measure, **timed(call, data)}


def copies(data):
    return [None if values is None else values.copy() for values in data[:3]]


def timed(call, data):
    """Seconds of calls within the budget, one sort of the scores, and the memory of one call."""
    given = copies(data)
    gc.collect()
    before, walls = release_memory(), []
    found = call(*given)
    memory = float("nan") if before is None else resident_memory("VmHWM") - before
    while not walls or (len(walls) < 300 and sum(walls) + min(walls) < 1.2):
        given = copies(data)
        start = time.perf_counter()
        call(*given)
        walls.append(time.perf_counter() - start)
    start = time.perf_counter()
    np.argsort(given[1])
    return {
        "best_ms": 1e3 * min(walls),
        "median_ms": 1e3 * statistics.median(walls),
        "argsort_ms": 1e3 * (time.perf_counter() - start),
        "memory_mb": memory / 1e6,
        "found": float(found),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    options = parser.parse_args()
    machine = describe_machine(*(name for needed in PEERS.values() for name in needed))
    print(machine)
    rows, ours = [], {}
    for peer, needed in PEERS.items():
        if not all(map(find_spec, needed)):
            print(f"{peer} is not installed")
            continue
        reports, problem = run_worker(
            __file__, {"peer": peer, "data": options.data}, POLARS_MAX_THREADS="1"
        )
        if problem:
            print(f"{peer}: {problem}")
        for row in reports:
            first = ours.setdefault((row["data"], row["measure"]), row)
            row["per_ours"] = row["best_ms"] / first["best_ms"]
            row["difference"] = row["found"] - first["found"]
            rows.append({"peer": peer, **row})
    rows.sort(key=lambda row: (DATA.index(row["data"]), row["measure"]))
    print(format_table(rows, COLUMNS))
    if options.write:
        store_results("metric_functions", rows, machine)


if __name__ == "__main__" and not serve(work):
    main()
