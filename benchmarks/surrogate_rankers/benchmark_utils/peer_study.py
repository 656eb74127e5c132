"""Every peer on three data sets: means, and paired tests on their queries."""

import importlib.util
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

from benchmark_utils.data import REPOSITORY
from sklearn_rank.inference import compare

BENCHMARK = REPOSITORY / "benchmarks" / "surrogate_rankers"
DATA = {
    "mq2008": (1, 2),
    "mslr_sample": (1, 2, 3, 4, 5),
    "lightgbm_sample": (None,),
}
# The ones that others are tested against: the default loss, and the loss chosen by validation.
OURS = ("OrderPreservingRanker pairwise_logistic", "OrderPreservingRanker chosen")
SOLVERS = {
    "order_preserving": "loss",
    "rank_svm": "loss",
    "ridge": "target",
    "lightgbm_ranker": None,
    "xgboost_ranker": None,
}
COLUMNS = [
    ("data", "data", ""),
    ("queries", "queries", "d"),
    ("peer", "peer", ""),
    ("parameters", "parameters", ""),
    ("ndcg10", "NDCG@10", ".4f"),
    ("letor_ndcg10", "LETOR's", ".4f"),
    ("map", "MAP", ".4f"),
    ("seconds", "seconds", ".1f"),
    ("unfinished", "unfinished fits", "d"),
]
TESTS = [
    ("data", "data", ""),
    ("parameters", "parameters", ""),
    ("ours", "a", ""),
    ("peer", "b", ""),
    ("difference", "a - b", "+.4f"),
    ("low", "from", "+.4f"),
    ("high", "to", "+.4f"),
    ("t", "p (t)", ".3f"),
    ("randomization", "p (randomization)", ".3f"),
]


def load_class(folder, file, name):
    """Load one class of the benchmark without importing the peers that it does not need."""
    path = BENCHMARK / folder / f"{file}.py"
    spec = importlib.util.spec_from_file_location(f"{folder}_{file}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def peers(quick):
    """Yield the name and the instance of each peer, and say which are absent."""
    for file, key in SOLVERS.items():
        try:
            solver = load_class("solvers", file, "Solver")
        except ImportError as error:
            print(f"Not run: {file} ({error})")
            continue
        for choice in solver.parameters[key] if key else (None,):
            for tuned in (False,) if quick else (False, True):
                name = f"{solver.name} {choice}" if key else solver.name
                if choice != "chosen" or tuned:
                    parameters = {"tuned": tuned} | ({key: choice} if key else {})
                    yield name, tuned, lambda solver=solver, p=parameters: solver.get_instance(**p)


def run(quick=False):
    """Yield the table of means, that of the tests, and the values of the queries."""
    # A query without a relevant row counts 0, as LETOR's does.
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    means, tests, each = [], [], []
    judge_class = load_class(".", "objective", "Objective")
    for data, folds in DATA.items() if not quick else [("lightgbm_sample", (None,))]:
        dataset = load_class("datasets", data, "Dataset")
        judges = []
        for fold in folds:
            instance = dataset.get_instance(**({} if fold is None else {"fold": fold}))
            judges.append(judge_class.get_instance())
            judges[-1].set_data(**instance.get_data())
        y, qid, queries = pooled(judges)
        scores, values = {}, {}
        for name, tuned, make in peers(quick):
            row, scored, per_query = measured(make, judges)
            label = "tuned" if tuned else "default"
            scores[name, label], values[name, label] = scored, per_query
            row = {"data": data, "queries": len(queries), "peer": name, "parameters": label} | row
            means.append(row)
            print(
                f"  {data}: {name}, {label}: {row['ndcg10']:.4f} ({row['seconds']:.0f} s)",
                flush=True,
            )
        tests += tested(data, y, qid, scores)
        for i, query in enumerate(queries):
            each.append(
                {"data": data, "query": query}
                | {f"{name}, {label}": float(v[i]) for (name, label), v in values.items()}
            )
    yield "surrogate_peers", "NDCG@10 on test queries, ties at their expectation", means, COLUMNS
    yield "surrogate_tests", "Paired tests, p-values not adjusted", tests, TESTS
    yield "surrogate_per_query", "", each, None


def pooled(judges):
    """Grades, ids and names of the queries of all folds, an id for each query of each fold."""
    grades, ids, names = [], [], []
    for fold, judge in enumerate(judges):
        own, index = np.unique(judge.qid_test, return_inverse=True)
        ids.append(index + len(names))
        names += [f"{fold + 1}:{query}" for query in own]
        grades.append(judge.y_test)
    return np.concatenate(grades), np.concatenate(ids), names


def measured(make, judges):
    """Run a peer on the folds; its means over their queries, its scores, and each query."""
    scores, values, sizes, each, chosen = [], [], [], [], []
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", ConvergenceWarning)
        for judge in judges:
            peer = make()
            peer.set_objective(**judge.get_objective())
            peer.run(None)
            scores.append(peer.get_result()["score"])
            chosen.append(peer.chosen)
    seconds = time.perf_counter() - start
    for judge, score in zip(judges, scores, strict=True):
        values.append(judge.evaluate_result(score))
        each.append(judge.each_query(score))
        sizes.append(len(each[-1]))
    row = {
        key: float(np.average([value[key] for value in values], weights=sizes))
        for key in ("ndcg10", "letor_ndcg10", "map")
    }
    row["seconds"] = seconds
    row["unfinished"] = sum(issubclass(one.category, ConvergenceWarning) for one in raised)
    row["chosen"] = "; ".join(
        ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in one.items())
        for one in chosen
    )
    return row, np.concatenate(scores), np.concatenate(each)


def tested(data, y, qid, scores):
    """Paired tests of ours against every other peer with parameters found the same way."""
    rows = []
    for (name, label), score in scores.items():
        for ours in OURS:
            if (ours, label) not in scores or name.startswith("OrderPreservingRanker"):
                continue
            pair = scores[ours, label], score
            results = {
                method: compare("ndcg@10", y, *pair, qid=qid, method=method, random_state=0)
                for method in ("t", "randomization")
            }
            row = {"data": data, "parameters": label, "ours": ours, "peer": name}
            row["difference"] = results["t"].estimate
            row |= {"low": results["t"].interval.low, "high": results["t"].interval.high}
            rows.append(row | {method: result.pvalue for method, result in results.items()})
    return rows
