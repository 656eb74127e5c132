"""The AUC of scores in files beside other engines, by batches, and by approximate rules.

    python benchmarks/scale.py engines|batches|rules [--rows 1e6 1e7] [--write]

"engines": one Parquet file (labels of one byte, two normal classes 1.5 apart, 1 or 50 % positive,
"rounded" to four decimals so that most scores tie), read by each engine. DuckDB and Spark have two
cores, the others one; Spark needs a Java runtime. "batches": the same scores in mapped files, in
memory and by ``Accumulator``, which reads a million rows at a time. "rules": the values of other
rules on the same scores. "thresholds" are 200 even ones with trapezoids between them, the default
of Keras and of torchmetrics' ``thresholds=200``; XGBoost's AUC on two workers never compares a
positive and a negative of different workers. Rows of "dates" are in order of time, with more
positives and greater scores as time goes on; "sorted" are those of "plain" by score.

Every figure is of a fresh process. "CPU s" is of the process and all below it, "MB" the sum of
their peaks (of batches the additional memory that is no mapped file), and "load" the load average:
where it exceeds the cores in use, CPU seconds count. ``--write`` updates ``results/scale_*.csv``.
"""

import argparse
import multiprocessing
import os
import tempfile
import threading
import time
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from measuring import (
    describe_machine,
    format_table,
    release_memory,
    run_worker,
    serve,
    tree_memory,
    tree_seconds,
    update_results,
    versions_of,
)

BLOCK = 1_000_000  # rows made, written and read at once, each block from a seed of its own
KEYS = {
    "engines": ("rows", "prevalence", "kind", "peer"),
    "batches": ("way", "rows"),
    "rules": ("data", "rule"),
}
STORED = {"engines": "scale_references", "batches": "scale_metrics", "rules": "scale_rules"}
FIGURES = [
    ("value", "value", ".6f"),
    ("difference", "difference", ".0e"),
    ("seconds", "sec", ".2f"),
    ("cpu", "CPU s", ".2f"),
    ("mb", "MB", ",.0f"),
    ("load", "load", ".1f"),
    ("note", "note", ""),
]


def blocks(n, prevalence, kind):
    """Labels and scores, block by block."""
    for number, start in enumerate(range(0, n, BLOCK)):
        rng, rows = np.random.default_rng([2026, number]), min(BLOCK, n - start)
        y = (rng.random(rows) < prevalence).astype(np.int8)
        score = rng.standard_normal(rows) + 1.5 * y
        yield y, np.round(score, 4) if kind == "rounded" else score


def cost_of(call, key="VmHWM"):
    """Value, seconds and the peak of memory of a call, sampled every 10 ms."""
    release_memory()
    before = tree_memory(key) if key == "RssAnon" else 0
    ended, peaks = threading.Event(), [before]

    def sample():
        while not ended.wait(0.01):
            peaks.append(tree_memory(key))

    sampling = threading.Thread(target=sample, daemon=True)
    sampling.start()
    busy, start = tree_seconds(), time.perf_counter()
    value = float(call())
    found = {"value": value, "seconds": time.perf_counter() - start, "cpu": tree_seconds() - busy}
    ended.set()
    sampling.join()
    return found | {"mb": (max(peaks) - before) / 1e6, "load": os.getloadavg()[0]}


# ---------------------------------------------------------------------------------------- engines

# Equal scores are one group; a running sum of the negatives below them. Exact with ties.
GROUPS = """
with groups as (
    select s, sum(y)::double as pos, (count(*) - sum(y))::double as neg from '{path}' group by s
), below as (
    select pos, neg, sum(neg) over (order by s rows unbounded preceding) - neg / 2 as less
    from groups
)
select sum(pos * less) / (sum(pos) * sum(neg)) from below
"""
# Mean ranks: the frame of a count ordered by s ends with the last row of the same score.
RANKS = """
with ranks as (
    select y, rank() over (order by s) as first, count(*) over (order by s) as last from '{path}'
)
select (sum(case when y = 1 then (first + last) / 2.0::double end) - sum(y) * (sum(y) + 1) / 2.0)
    / (sum(y) * sum(1.0::double - y)) from ranks
"""
# Only the positives are grouped and summed; each negative looks up the last one at or below it.
NEAREST = """
with positives as (
    select s, count(*) as here from '{path}' where y = 1 group by s
), summed as (
    select s, here, sum(here) over (order by s) as upto from positives
), total as (
    select sum(here)::double as all_pos from positives
), found as (
    select coalesce(upto, 0) as upto, case when summed.s = row.s then here else 0 end as tied
    from '{path}' row asof left join summed on row.s >= summed.s where row.y = 0
)
select sum(all_pos - upto + tied / 2.0::double) / (count(*) * any_value(all_pos))
from found, total
"""


def in_memory(path, package):
    import pyarrow.parquet as pq

    if package == "sklearn_rank":
        from sklearn_rank.metrics import roc_auc_score
    else:
        from sklearn.metrics import roc_auc_score
    table = pq.read_table(path, use_threads=False)
    return roc_auc_score(table["y"].to_numpy(), table["s"].to_numpy())


def duckdb(path, sql):
    import duckdb

    database = duckdb.connect()
    database.execute("set threads = 2; set memory_limit = '4GB'")
    database.execute(f"set temp_directory = '{tempfile.mkdtemp(dir=Path(path).parent)}'")
    return database.execute(sql.format(path=path)).fetchone()[0]


def spark(path, bins):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "4g").getOrCreate()
    frame = session.read.parquet(str(path))
    frame = frame.select(frame.y.cast("double"), frame.s.cast("double"))
    return BinaryClassificationEvaluator(
        rawPredictionCol="s", labelCol="y", metricName="areaUnderROC", numBins=bins
    ).evaluate(frame)


ENGINES = {
    "sklearn_rank, in memory": (in_memory, "sklearn_rank"),
    "scikit-learn, in memory": (in_memory, "scikit-learn"),
    "DuckDB, group by score": (duckdb, GROUPS),
    "DuckDB, window of ranks": (duckdb, RANKS),
    "DuckDB, asof join": (duckdb, NEAREST),
    "Spark, exact (numBins=0)": (spark, 0),
}


def engines(request):
    """One engine, after a file of 10,000 rows that imports and compiles."""
    value_of, how = ENGINES[request["peer"]]
    with tempfile.TemporaryDirectory() as folder:
        for n in (10_000, request["rows"]):
            path = Path(folder, f"{n}.parquet")
            write_parquet(path, n, request["prevalence"], request["kind"])
            found = cost_of(lambda path=path: value_of(path, how))
    yield found | {"versions": versions_of("scikit-learn", "pyarrow", "duckdb", "pyspark")}


def write_parquet(path, n, prevalence, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("y", pa.int8()), ("s", pa.float64())])
    with pq.ParquetWriter(path, schema, use_dictionary=["y"]) as writer:
        for y, s in blocks(n, prevalence, kind):
            writer.write_table(pa.table({"y": y, "s": s}, schema), row_group_size=250_000)


# ---------------------------------------------------------------------------------------- batches


def batches(request):
    """The AUC in one way."""
    from sklearn_rank.metrics import Accumulator, roc_auc_score

    n = request["rows"]
    roc_auc_score([0, 1], [0.0, 1.0])
    with tempfile.TemporaryDirectory() as folder:
        kinds = {"y": np.int8, "s": np.float64}
        columns = {
            name: np.lib.format.open_memmap(Path(folder, name), "w+", dtype, (n,))
            for name, dtype in kinds.items()
        }
        for number, (y, s) in enumerate(blocks(n, 0.1, "float64")):
            part = slice(number * BLOCK, number * BLOCK + len(y))
            columns["y"][part], columns["s"][part] = y, s
        y, s = columns.values()

        def read():
            for start in range(0, n, BLOCK):
                yield np.array(y[start : start + BLOCK]), np.array(s[start : start + BLOCK])

        if request["way"] == "in memory":
            y, s = np.array(y), np.array(s)
            found = cost_of(lambda: roc_auc_score(y, s), "RssAnon")
        else:
            accumulate = Accumulator.from_batches
            found = cost_of(lambda: accumulate(read, "auc").result(), "RssAnon")
    yield found | {"per_row": 1e9 * found["cpu"] / n}


# ------------------------------------------------------------------------------------------ rules


def two_normals(n, prevalence, shift, seed):
    """Labels and the true probability of a positive, given a normal score."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(np.int8)
    score = rng.standard_normal(n) + shift * y
    log_odds = shift * score - shift**2 / 2 + np.log(prevalence / (1 - prevalence))
    return y, 1 / (1 + np.exp(-log_odds))


def scores_of(data, n):
    if data == "dates":
        rng, when = np.random.default_rng(4), np.linspace(0.0, 1.0, n)
        y = (rng.random(n) < 0.01 + 0.09 * when).astype(np.int8)
        return y, 1 / (1 + np.exp(-(rng.standard_normal(n) + 1.5 * y + 1.5 * when - 3.0)))
    if data == "fraud":
        return two_normals(n, 0.001, 2.5, 2)
    y, score = two_normals(n, 0.1, 1.5, 1)
    order = np.argsort(score, kind="stable") if data == "sorted" else slice(None)
    return y[order], score[order]


def thresholds(y, score, count=200):
    """Area under the points of the curve at even thresholds."""
    reached = np.searchsorted(np.linspace(0.0, 1.0, count), score, side="right")
    rates = []
    for kind in (0, 1):
        counts = np.bincount(reached[y == kind], minlength=count + 1)
        at_least = counts[::-1].cumsum()[::-1]  # entry i: rows that reach i thresholds or more
        rates.append(np.append(at_least[1:], 0) / at_least[0])
    return -np.trapezoid(rates[1], rates[0])


def xgboost_half(arguments, y, score, answers):
    """One of the workers: a booster without trees, so that its scores are the base margin."""
    import xgboost

    with xgboost.collective.CommunicatorContext(**arguments):
        rows = xgboost.DMatrix(np.zeros((len(y), 1)), label=y, base_margin=score)
        asked = {"objective": "binary:logitraw", "eval_metric": "auc", "nthread": 1}
        booster = xgboost.Booster({**asked, "base_score": 0.0, "verbosity": 0}, [rows])
        answers.put(float(booster.eval(rows).split(":")[1]))


def xgboost(y, score):
    """AUC as two workers, each with one half of the rows, agree on it."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1")
    tracker.start()
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    for a, b in pairwise((0, len(y) // 2, len(y))):
        parts = tracker.worker_args(), y[a:b], score[a:b], answers
        context.Process(target=xgboost_half, args=parts).start()
    first, second = (answers.get(timeout=120) for _ in range(2))
    assert first == second
    return first


def rules(request):
    from sklearn_rank.metrics import roc_auc_score

    y, score = scores_of(request["data"], request["rows"])
    score = score.astype(np.float32)  # XGBoost's precision: all see the same scores
    exact = roc_auc_score(y, score)
    for rule, value_of in {
        "exact": roc_auc_score,
        "thresholds": thresholds,
        "XGBoost": xgboost,
    }.items():
        value = float(value_of(y, score))
        yield {"rule": rule, "value": value, "difference": value - exact}


# ----------------------------------------------------------------------------------- the command

PARTS = {"engines": engines, "batches": batches, "rules": rules}
ROWS = {"engines": (1e6, 1e7), "batches": (1e7,), "rules": (5e5,)}


def requests(part, sizes):
    for n in map(int, sizes or ROWS[part]):
        if part == "engines":
            for prevalence, kind, peer in product((0.01, 0.5), ("float64", "rounded"), ENGINES):
                yield {"rows": n, "prevalence": prevalence, "kind": kind, "peer": peer}
        elif part == "batches":
            for way in ("in memory", "accumulator"):
                yield {"way": way, "rows": n}
        else:
            yield from (
                {"data": data, "rows": n} for data in ("plain", "fraud", "dates", "sorted")
            )


def work(request):
    yield from PARTS[request["part"]](request)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rows", nargs="+", type=float)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(describe_machine("duckdb", "xgboost"))
    rows, exact = [], {}
    for request in requests(options.part, options.rows):
        found, problem = run_worker(__file__, {"part": options.part, **request}, timeout=900)
        for row in [{**request, **report} for report in found or [{"note": problem}]]:
            if options.part == "engines" and "value" in row:  # ours comes first
                same = tuple(row[key] for key in KEYS["engines"][:3])
                row["difference"] = row["value"] - exact.setdefault(same, row["value"])
            rows.append(row)
            print(row, flush=True)
            if options.write:
                update_results(STORED[options.part], [row], KEYS[options.part])
    print(format_table(rows, [(key, key, "") for key in KEYS[options.part]] + FIGURES))


if __name__ == "__main__" and not serve(work):
    main()
