"""Do the metric functions have cliffs? The same call on data of many shapes; prints a table.

    python benchmarks/metric_functions/shapes.py [--rows 1000000] [--only auc ndcg@10] [--write]

A million rows of which only one thing differs from the plain shape: prevalence, type, ties,
weights, what the classes are called, how the rows are divided into queries, and what the ids of
shuffled queries are. Each time stands beside one ``np.sort`` of the
same scores, the same call on the plain shape, and scikit-learn's function where it has one. A time
of more than three times the plain one is marked. One thread, process time, the best of several.
"""

import argparse
import sys
import time
import uuid
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import metrics as peers

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, run_worker, serve, store_results

from sklearn_rank import inference, metrics

PLAIN = {
    "prevalence": 0.1,
    "dtype": "float64",
    "ties": "none",
    "weights": "none",
    "labels": "numbers",
    "lists": "one",
    "ids": "ascending",
}
SHAPES = [
    {},
    *({"prevalence": share} for share in (0.01, 0.5, 0.9)),
    *({"dtype": name} for name in ("float32", "int64", "uint8")),
    *({"ties": name} for name in ("10 scores", "1 decimal", "blocks of 1000", "pairs")),
    *({"weights": name} for name in ("whole", "real")),
    *({"labels": name} for name in ("strings", "objects", "categories")),
    *({"lists": name} for name in ("ragged", "threes", "hundreds", "hundreds, tied", "one giant")),
    *(
        {"lists": "hundreds", "ids": name}
        for name in ("numbers", "strings", "objects", "categories", "polars", "uuid")
    ),
    {"lists": "threes", "ids": "strings"},
]
CLIFF = 3.0
CALLS = {
    "auc": metrics.roc_auc_score,
    "bedroc": metrics.bedroc_score,
    "pnorm@4": lambda *rows, **more: metrics.p_norm_push_score(*rows, p=4, **more),
    "partial auc": lambda *rows, **more: metrics.partial_auc_score(*rows, max_fpr=0.1, **more),
    "partial auc, two sides": lambda *rows, **more: metrics.partial_auc_score(
        *rows, max_fpr=0.7, min_tpr=0.4, **more
    ),
    "ap": metrics.average_precision_score,
    "rr": metrics.reciprocal_rank_score,
    "precision@10": lambda *rows, **more: metrics.precision_at_k_score(*rows, k=10, **more),
    "precision@top": metrics.precision_at_top_score,
    "pos@top": metrics.positives_at_top_score,
    "accuracy_loss@top": metrics.accuracy_at_top_loss,
    "ndcg": metrics.ndcg_score,
    "ndcg@10": lambda *rows, **more: metrics.ndcg_score(*rows, k=10, **more),
    "err": metrics.expected_reciprocal_rank_score,
    "err, rare": lambda *rows, **more: metrics.expected_reciprocal_rank_score(
        *rows, max_grade=16, **more
    ),
    "interval of auc": lambda *rows, **more: inference.metric_interval("auc", *rows, **more),
}
GRADED = ("ndcg", "ndcg@10", "err", "err, rare")
UNWEIGHTED = ("rr", "err", "err, rare")
WHOLE = ("ap", "precision@10", "interval of auc")
ONE_LIST = ("interval of auc",)
PEERS = {"auc": peers.roc_auc_score, "ap": peers.average_precision_score}
COLUMNS = [
    ("shape", "shape", ""),
    ("call", "call", ""),
    ("ms", "ms", ".2f"),
    ("per_sort", "/ np.sort", ".2f"),
    ("per_plain", "/ plain", ".2f"),
    ("sklearn_ms", "scikit-learn", ".1f"),
    ("cliff", "", ""),
]


def draw(n, shape):
    """Labels, grades, scores and further arguments of one shape."""
    rng = np.random.default_rng(0)
    positive = (rng.random(n) < shape["prevalence"]).astype(np.int64)
    grade = rng.choice(5, n, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    score = rng.standard_normal(n) + positive
    if shape["ties"] == "10 scores":
        score = np.clip(np.round(2.0 * score), -4, 5)
    elif shape["ties"] == "1 decimal":
        score = np.round(score, 1)
    elif shape["ties"] in ("blocks of 1000", "pairs"):
        size = 1000 if shape["ties"] == "blocks of 1000" else 2
        score = rng.permutation(np.arange(n) // size).astype(np.float64)
    if shape["dtype"] == "uint8":
        score = np.clip(np.round(30.0 * score + 128.0), 0, 255)
    elif shape["dtype"] == "int64":
        score = np.round(1e6 * score)
    more = {}
    if shape["weights"] != "none":
        whole = shape["weights"] == "whole"
        more["sample_weight"] = rng.integers(1, 4, n) if whole else rng.random(n) + 0.5
    if shape["lists"] != "one":
        more["qid"] = queries(n, shape["lists"], rng)
        if shape["lists"] == "hundreds, tied":
            score = rng.integers(0, 4, n).astype(np.float64)
    if shape["ids"] != "ascending":
        more["qid"] = held_as(rng.permutation(more["qid"]), "query ", shape["ids"])
    if shape["labels"] != "numbers":
        positive, more["pos_label"] = held_as(positive, "class ", shape["labels"]), "class 1"
    return positive, grade, score.astype(shape["dtype"]), more


def held_as(codes, stem, kind):
    """Numbers as what users have in their place."""
    if kind == "numbers":
        return codes
    if kind == "uuid":
        ids = [uuid.UUID(int=(int(code) + 1) << 90) for code in range(codes.max() + 1)]
        return np.array([ids[code] for code in codes], dtype=object)
    words = np.char.add(stem, codes.astype("U7"))
    if kind == "polars":
        import polars

        return polars.Series(words.tolist())
    return {
        "strings": lambda: words,
        "objects": lambda: words.astype(object),
        "categories": lambda: pd.Categorical(words),
    }[kind]()


def queries(n, layout, rng):
    """Ascending ids of the rows."""
    if layout == "ragged":
        lengths = rng.integers(1, 200, n // 100 + n // 500)
    elif layout == "threes":
        lengths = np.full(n // 3 + 1, 3)
    elif layout.startswith("hundreds"):
        lengths = np.full(n // 100, 100)
    else:
        lengths = np.append(n // 2, np.full(n // 6 + 1, 3))
    return np.repeat(np.arange(len(lengths)), lengths)[:n]


def can(call, shape):
    """Whether the function takes data of this shape."""
    weights = shape["weights"]
    if weights != "none" and (call in UNWEIGHTED or (weights == "real" and call in WHOLE)):
        return False
    if shape["labels"] != "numbers" and call in GRADED:
        return False
    return shape["lists"] == "one" or call not in ONE_LIST


def milliseconds(function, budget=1.5):
    """Process time of the quickest of several calls, after one that does not count."""
    function()
    best, spent, calls = float("inf"), 0.0, 0
    while calls < 3 or (spent < budget / 5 and calls < 20):
        start = time.process_time()
        function()
        took = time.process_time() - start
        best, spent, calls = min(best, took), spent + took, calls + 1
        if spent > budget:
            break
    return 1e3 * best


def work(request):
    """Measure the calls on one shape."""
    warnings.simplefilter("ignore")
    shape = {**PLAIN, **request["shape"]}
    positive, grade, score, more = draw(request["rows"], shape)
    sort = milliseconds(lambda: np.sort(score))
    for call in request["calls"]:
        if not can(call, shape):
            continue
        y = grade if call in GRADED else positive
        report = {"call": call, "ms": milliseconds(lambda: CALLS[call](y, score, **more))}  # noqa: B023
        report["per_sort"] = report["ms"] / sort
        if call in PEERS and "qid" not in more and "pos_label" not in more:
            report["sklearn_ms"] = milliseconds(lambda: PEERS[call](y, score, **more))  # noqa: B023
        yield report


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=CALLS, default=list(CALLS), metavar="CALL")
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    options = parser.parse_args()
    machine = describe_machine()
    print(machine)
    rows, plain = [], {}
    for shape in SHAPES:
        name = ", ".join(f"{key} {value}" for key, value in shape.items()) or "plain"
        request = {"shape": shape, "rows": options.rows, "calls": options.only}
        found, problem = run_worker(__file__, request)
        if problem:
            sys.exit(f"{name}: {problem}")
        for row in found:
            plain.setdefault(row["call"], row["ms"])
            row["per_plain"] = row["ms"] / plain[row["call"]]
            row["cliff"] = "CLIFF" if row["per_plain"] > CLIFF else ""
            rows.append({"rows": options.rows, "shape": name, **row})
    print(format_table(rows, COLUMNS))
    if options.write:
        store_results("metric_shapes", rows, machine)


if __name__ == "__main__" and not serve(work):
    main()
