"""Distributed and binned rules of others beside the exact value, on scores where they differ.

    python benchmarks/scale/rules.py [--only fraud dates] [--rows 1e6] [--write]

Rows are the rules, "value" what they give and "difference" that less our exact value of the same
scores; a star marks a difference of .0005 or more, which moves the third decimal. What is not
installed is left out and said so; ``--peer-python`` names an interpreter with pyspark and h2o.

- XGBoost, two processes: ``Booster.eval`` of "auc" under its collective, each with one half of the
  rows and the scores as ``base_margin``. Its rule: the areas of the workers added, over the sum of
  their products of positives and negatives. A pair of rows on two workers is never compared.
- mean over partitions: the plain mean of the AUC of each half, what a metric per worker gives.
- Spark: ``BinaryClassificationEvaluator`` with its default of 1,000 bins, and with 0 (no bins).
- H2O: ``h2o.make_metrics``, whose curve has at most 400 bins.
- thresholds: the curve at 200 thresholds evenly spaced in [0, 1] and trapezoids between them, by
  the published rule: the default of Keras' ``AUC``, and torchmetrics' ``thresholds=200``.

"average precision" has no one definition of the area; what Spark gives without bins is the one to
hold its bins against. The data, all made with a seed:

- plain: two normal classes, 10 % positives, as probabilities; rows in random order.
- fraud: .1 % positives, AUC .95; the scores are the true probabilities, most of them near 0.
- rare: .02 % positives, AUC .998; the true probabilities.
- dates: rows in order of time; positives rise from 1 to 10 % and all scores by 1.5 standard
  deviations over the period, so that halves of the rows are halves of the time.
- sorted: the rows of "plain" in the order of the score, as from an index or a sorted table.
"""

import argparse
import itertools
import multiprocessing
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    run_worker,
    serve,
    store_results,
    versions_of,
)

THIRD_DECIMAL = 5e-4
COLUMNS = [
    ("data", "data", ""),
    ("measure", "measure", ""),
    ("rule", "rule", ""),
    ("run", "how", ""),
    ("value", "value", ".6f"),
    ("difference", "difference", "+.6f"),
    ("star", "", ""),
]


def two_normals(n, prevalence, shift, seed):
    """Labels and the true probability of a positive, given a normal score."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(np.int8)
    score = rng.standard_normal(n) + shift * y
    log_odds = shift * score - shift**2 / 2 + np.log(prevalence / (1 - prevalence))
    return y, 1 / (1 + np.exp(-log_odds))


def dates(n):
    """Rows in order of time, with more positives and greater scores as time goes on."""
    rng = np.random.default_rng(4)
    time = np.linspace(0.0, 1.0, n)
    y = (rng.random(n) < 0.01 + 0.09 * time).astype(np.int8)
    score = rng.standard_normal(n) + 1.5 * y + 1.5 * time - 3.0
    return y, 1 / (1 + np.exp(-score))


def in_order(n):
    """The rows of "plain", the least score first."""
    y, score = DATA["plain"](n)
    order = np.argsort(score, kind="stable")
    return y[order], score[order]


DATA = {
    "plain": lambda n: two_normals(n, 0.1, 1.5, 1),
    "fraud": lambda n: two_normals(n, 0.001, 2.5, 2),
    "rare": lambda n: two_normals(n, 0.0002, 4.0, 3),
    "dates": dates,
    "sorted": in_order,
}


def exact(y, score):
    """Our values of the single-precision scores that all rules see."""
    from sklearn_rank.metrics import average_precision_score, roc_auc_score

    yield "AUC", "sklearn_rank", "run", roc_auc_score(y, score)
    yield "average precision", "sklearn_rank", "run", average_precision_score(y, score)


def thresholds(y, score, count=200):
    """Area under the points of the curve at even thresholds."""
    edges = np.linspace(0.0, 1.0, count)
    reached = np.searchsorted(edges, score, side="right")  # thresholds at or below the score
    rates = []
    for kind in (0, 1):
        counts = np.bincount(reached[y == kind], minlength=count + 1)
        at_least = counts[::-1].cumsum()[::-1]  # entry i: rows that reach i thresholds or more
        rates.append(np.append(at_least[1:], 0) / at_least[0])
    area = -np.trapezoid(rates[1], rates[0])
    yield "AUC", f"thresholds, {count} even", "by its rule", area


def halves(n):
    """The rows of each of two partitions."""
    return itertools.pairwise((0, n // 2, n))


def per_partition(y, score):
    """Plain mean of the values of both halves."""
    from sklearn_rank.metrics import roc_auc_score

    values = [roc_auc_score(y[a:b], score[a:b]) for a, b in halves(len(y))]
    yield "AUC", "mean over 2 partitions", "run", np.mean(values)


def xgboost_half(arguments, y, score, answers):
    """One of the processes: a booster without trees, so that its scores are the base margin."""
    import xgboost

    with xgboost.collective.CommunicatorContext(**arguments):
        rows = xgboost.DMatrix(np.zeros((len(y), 1)), label=y, base_margin=score)
        asked = {"objective": "binary:logitraw", "eval_metric": "auc", "nthread": 1}
        booster = xgboost.Booster({**asked, "base_score": 0.0, "verbosity": 0}, [rows])
        answers.put(float(booster.eval(rows).split(":")[1]))


def xgboost_collective(y, score):
    """AUC as two workers of XGBoost agree on it."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1")
    tracker.start()
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    workers = [
        context.Process(
            target=xgboost_half, args=(tracker.worker_args(), y[a:b], score[a:b], answers)
        )
        for a, b in halves(len(y))
    ]
    for worker in workers:
        worker.start()
    first, second = (answers.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    if first != second:
        raise RuntimeError(f"The workers disagree: {first} and {second}.")
    yield "AUC", "XGBoost, 2 processes", "run", first


def spark(paths):
    """Spark's evaluator with and without bins."""
    from peers import spark_session
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    session = spark_session(paths[0], 4)
    for path in paths:
        frame = session.read.parquet(path)
        frame = frame.select(frame.y.cast("double"), frame.s.cast("double")).cache()
        for bins, rule in ((1000, "Spark, default 1,000 bins"), (0, "Spark, no bins")):
            evaluator = BinaryClassificationEvaluator(
                rawPredictionCol="s", labelCol="y", numBins=bins
            )
            evaluator._transfer_params_to_java()
            curves = evaluator._java_obj.getMetrics(frame._jdf)  # both areas of one sort
            yield path, "AUC", rule, curves.areaUnderROC()
            yield path, "average precision", rule, curves.areaUnderPR()
        frame.unpersist()


def h2o(paths):
    """H2O's metrics of given predictions."""
    import h2o
    import pyarrow.parquet as pq

    h2o.init(nthreads=2, max_mem_size="2G", port=54399, verbose=False)
    h2o.no_progress()
    try:
        for path in paths:
            text = Path(path).with_suffix(".csv")
            table = pq.read_table(path).to_pandas()
            table.to_csv(text, index=False, float_format="%.9g")  # nine digits are one float32
            frame = h2o.import_file(str(text), col_types={"y": "enum"})
            found = h2o.make_metrics(frame["s"], frame["y"])
            yield path, "AUC", "H2O, 400 bins", found.auc()
            yield path, "average precision", "H2O, 400 bins", found.aucpr()
    finally:
        h2o.cluster().shutdown()


ELSEWHERE = {"pyspark": spark, "h2o": h2o}


def work(request):
    """Run the rules that live in an environment of their own."""
    yield versions_of(request["package"])
    for path, *found in ELSEWHERE[request["package"]](request["paths"]):
        yield [Path(path).stem, *found]


def elsewhere(sets, python):
    """Values of these packages by set, and their versions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    values, versions = {name: [] for name in sets}, []
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{name}.parquet")) for name in sets]
        for path, (y, score) in zip(paths, sets.values(), strict=True):
            pq.write_table(pa.table({"y": y, "s": score}), path)
        for package in ELSEWHERE:
            request = {"package": package, "paths": paths}
            found, problem = run_worker(__file__, request, python=python)
            if problem:
                print(f"Not run to the end: {package} ({problem})", file=sys.stderr)
            versions += found[:1]
            for name, measure, rule, value in found[1:]:
                values[name].append((measure, rule, "run", value))
    return values, ", ".join(versions)


def compare(name, y, score, of_others):
    """All rules on one set."""
    found = [
        *exact(y, score),
        *xgboost_collective(y, score),
        *per_partition(y, score),
        *thresholds(y, score),
        *of_others,
    ]
    truth = {}
    for measure, rule, run, value in found:
        difference = value - truth.setdefault(measure, value)
        yield {
            "data": name,
            "rows": len(y),
            "positives": int(y.sum()),
            "measure": measure,
            "rule": rule,
            "run": run,
            "value": float(value),
            "difference": float(difference),
            "star": "*" if abs(difference) >= THIRD_DECIMAL else "",
        }


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=DATA, default=list(DATA), metavar="DATA")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--write", action="store_true", help="results/scale_rules.csv")
    options = parser.parse_args()
    sets = {}
    for name in options.only:
        y, score = DATA[name](int(options.rows))
        sets[name] = y, score.astype(np.float32)  # XGBoost's precision: all see the same scores
    of_others, versions = elsewhere(sets, options.peer_python)
    machine = f"{describe_machine('xgboost')}, {versions}"
    print(machine)
    rows = [row for name in sets for row in compare(name, *sets[name], of_others[name])]
    print(format_table(rows, COLUMNS))
    if options.write:
        store_results("scale_rules", rows, machine.replace("\n", "; "))


if __name__ == "__main__" and not serve(work):
    main()
