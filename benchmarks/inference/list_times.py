"""Time of the interval of each measure of one list beside that of the measure itself.

    python benchmarks/inference/list_times.py            # a million rows, about five minutes
    python benchmarks/inference/list_times.py --write    # and results/interval_times.csv

One list of two classes, a tenth of the rows positive, as scores of float64 and float32, rounded
ones that tie, labels that are strings, and labels of the first 500 rows and of 500 others. One
thread, processor time, the best of three calls.
"""

import argparse
import functools
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, write_table

from sklearn_rank.inference import LabelDesign, metric_interval
from sklearn_rank.metrics import get_measure, get_measure_names

STORED = RESULTS / "interval_times.csv"
COLUMNS = [
    ("measure", "measure", ""),
    ("rows", "rows", ""),
    ("measure_ms", "measure, ms", "s"),
    ("interval_ms", "interval, ms", "s"),
    ("ratio", "ratio", "s"),
]


def best_milliseconds(call, repeats=3):
    call()  # the first call imports and compiles
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def samples(n):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    score = rng.normal(size=n) + y
    order, in_part = np.argsort(-score), np.full(n, np.nan)
    known = np.append(order[:500], rng.choice(order[500:], 500, replace=False))
    in_part[known] = y[known]
    design = LabelDesign(review_top=500, audit=500, scores=score)
    return {
        "float64": (y, score, {}),
        "float32": (y, score.astype(np.float32), {}),
        "two digits": (y, score.round(2), {}),
        "string labels": (np.where(y == 1, "yes", "no"), score, {"pos_label": "yes"}),
        "labels in part": (in_part, score + 0.5 * rng.normal(size=n), {"design": design}),
    }


def timed(names, n):
    for rows, (y, score, options) in samples(n).items():
        for name in names:
            measure = get_measure(name)
            of_measure, n_first = options, 1000
            if "design" in options:
                y_alone, of_measure, n_first = np.nan_to_num(y).astype(int), {}, n
            else:
                y_alone = y
            try:
                metric_interval(measure, y[:n_first], score[:n_first], **options)
            except ValueError:
                continue  # of queries alone
            alone = best_milliseconds(functools.partial(measure, y_alone, score, **of_measure))
            whole = best_milliseconds(
                functools.partial(metric_interval, measure, y, score, **options)
            )
            yield {
                "measure": name,
                "rows": rows,
                "measure_ms": f"{alone:.1f}",
                "interval_ms": f"{whole:.1f}",
                "ratio": f"{whole / alone:.2f}",
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", default=None, help="measures")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    print(describe_machine())
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(timed(arguments.only or get_measure_names(), arguments.n))
    print(format_table(found, COLUMNS))
    if arguments.write:
        write_table(STORED, found, COLUMNS)


if __name__ == "__main__":
    main()
