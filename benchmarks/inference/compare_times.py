"""Time of the comparison of many rankers: on one list, with ties, and over queries.

    python benchmarks/inference/compare_times.py            # a minute and a half
    python benchmarks/inference/compare_times.py --write    # and results/compare_times.csv

All pairs of rankers of a list, a tenth of whose rows are positive, by the AUC and by average
precision; or of values of queries of ten items by NDCG@5. Each row is a process of its own with
one thread: wall seconds of the first and of the last of ten calls (three for the largest), the
least CPU seconds of a call, and how many processes the machine ran in the last minute.
"""

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    RESULTS,
    describe_machine,
    format_table,
    run_worker,
    serve,
    write_table,
)

STORED = RESULTS / "compare_times.csv"
COLUMNS = [
    ("measure", "measure", ""),
    ("shape", "rows", ""),
    ("rankers", "rankers", "d"),
    ("n", "n", "d"),
    ("first", "first call, s", "s"),
    ("last", "last call, s", "s"),
    ("cpu", "least CPU, s", "s"),
    ("load", "load", "s"),
]
CALLS = 10
FEWER_CALLS, MANY = 3, 5_000_000


def cases():
    """Measure, shape of the rows, rankers and rows or queries."""
    sizes = [(k, n) for k in (2, 5, 50, 200) for n in (1000, 10_000, 100_000)]
    yield from (("auc", "float64", k, n) for k, n in (*sizes, (5, 1_000_000)))
    for shape in ("float32", "two digits", "string labels"):
        yield "auc", shape, 50, 100_000
    yield "ap", "float64", 50, 100_000
    yield "ndcg@5", "queries", 50, 10_000


def call_of(measure, shape, k, n):
    import numpy as np

    from sklearn_rank.inference import compare

    rng = np.random.default_rng(0)
    options = {"random_state": 0}
    if shape == "queries":
        qid = np.repeat(np.arange(n), 10)
        y, options["qid"] = rng.integers(0, 3, size=len(qid)), qid
    else:
        y = rng.random(n) < 0.1
    signal = rng.normal(size=len(y)) + y
    scores = {f"r{i}": signal + rng.normal(size=len(y)) for i in range(k)}
    if shape == "float32":
        scores = {name: score.astype(np.float32) for name, score in scores.items()}
    elif shape == "two digits":
        scores = {name: score.round(2) for name, score in scores.items()}
    elif shape == "string labels":
        y, options["pos_label"] = np.where(y, "yes", "no"), "yes"
    return lambda: compare(measure, y, scores, **options)


def measured(case):
    """Time the calls of a case in this process."""
    call, found = call_of(*case), []
    for _ in range(CALLS if case[2] * case[3] <= MANY else FEWER_CALLS):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    yield {
        **dict(zip(("measure", "shape", "rankers", "n"), case, strict=True)),
        "first": f"{found[0][0]:.3f}",
        "last": f"{found[-1][0]:.3f}",
        "cpu": f"{min(cpu for _, cpu in found):.3f}",
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    print(describe_machine())
    found = []
    for case in cases():
        reports, problem = run_worker(__file__, case)
        if problem:
            sys.exit(f"{case}: {problem}")
        found += reports
    print(format_table(found, COLUMNS))
    if arguments.write:
        write_table(STORED, found, COLUMNS)


if __name__ == "__main__" and not serve(measured):
    main()
