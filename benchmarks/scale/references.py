"""The AUC of one Parquet file by ourselves and by engines of others: value, time, memory.

    python benchmarks/scale/references.py [--rows 1e6 1e7] [--peers duckdb] [--write]

Every peer reads the same file (labels of one byte; two normal classes whose means are 1.5 apart)
in a fresh process, after a file of 10,000 rows that imports and compiles what has to be. "sec" is
wall time from the file to the value; "CPU s" that of the process and all that it started; "MB" the
sum of their peaks of resident memory, interpreters included. DuckDB and Spark use two cores and
are bounded by ``--memory`` (Spark: its heap); we and scikit-learn use one and take what they need.
"error" is the difference from the in-memory value of the package, which comes first. "load" is the
load average of the machine: above 2, wall time says how busy others were, and CPU seconds count.
``--write`` puts rows into ``results/scale_references.csv``, in the place of those alike.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    release_memory,
    run_worker,
    serve,
    stored_results,
    tree_memory,
    tree_seconds,
    update_results,
    versions_of,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from inputs import KINDS, parquet_file
from peers import PREPARED, packages

TRUTH = "sklearn_rank, in memory"
COLUMNS = [
    ("rows", "rows", ""),
    ("prevalence", "positives", ""),
    ("kind", "scores", ""),
    ("peer", "peer", ""),
    ("value", "value", ""),
    ("error", "error", ".0e"),
    ("seconds", "sec", ".2f"),
    ("cpu", "CPU s", ".2f"),
    ("mb", "MB", ",.0f"),
    ("load", "load", ".1f"),
    ("note", "note", ""),
]


def measure(request):
    """Compute one value in this process."""
    prepare = PREPARED[request["peer"]]
    prepare(request["small"], request["memory"])()
    compute = prepare(request["path"], request["memory"])
    release_memory()
    busy, start = tree_seconds(), time.perf_counter()
    value = float(compute())
    yield {
        "value": repr(value),
        "seconds": time.perf_counter() - start,
        "cpu": tree_seconds() - busy,
        "mb": tree_memory("VmHWM") / 1e6,
        "load": os.getloadavg()[0],
        "versions": versions_of(*packages(request["peer"])),
    }


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=float, default=[1e6, 1e7])
    parser.add_argument("--prevalence", nargs="+", type=float, default=[0.01, 0.5])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--peers", nargs="+", default=[""], help="beginnings of their names")
    parser.add_argument("--memory", type=int, default=4, help="GB for DuckDB and for Spark's heap")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each value")
    parser.add_argument("--data", help="folder in which the files stay", type=Path)
    parser.add_argument("--spark-python", default=sys.executable, help="interpreter with pyspark")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(describe_machine())
    with tempfile.TemporaryDirectory() as temporary:
        options.data = options.data or Path(temporary)
        rows = []
        for asked in itertools.product(options.rows, options.prevalence, options.kinds):
            for row in compare(*asked, options):
                rows.append(row)
                print(row, flush=True)
                if options.write:  # at once: the last rows may take long
                    keys = ("rows", "prevalence", "kind", "peer")
                    update_results("scale_references", [row], keys)
    print(format_table(rows, COLUMNS))


def compare(n, prevalence, kind, options):
    """All peers on one file."""
    n = int(n)
    small = parquet_file(options.data, 10_000, 0.5, kind)
    path = parquet_file(options.data, n, prevalence, kind)
    names = [
        name for name in PREPARED if name.lower().startswith(tuple(map(str.lower, options.peers)))
    ]
    data = {"rows": n, "prevalence": prevalence, "kind": kind}
    truth = stored_truth(data)
    for name in names:
        row = {**data, "peer": name}
        request = {**row, "path": str(path), "small": str(small), "memory": options.memory}
        found, problem = run_worker(
            __file__,
            request,
            timeout=options.timeout,
            python=options.spark_python if name.startswith("Spark") else sys.executable,
        )
        row |= found[0] if found else {"note": problem}
        if found and name == TRUTH:
            truth = float(row["value"])
        if found and truth is not None:
            row["error"] = float(row["value"]) - truth
        yield row


def stored_truth(data):
    """The value of an earlier run, for a run of some peers only."""
    for row in stored_results("scale_references"):
        alike = all(row[key] == str(value) for key, value in data.items())
        if alike and row["peer"] == TRUTH and row["value"]:
            return float(row["value"])
    return None


if __name__ == "__main__" and not serve(measure):
    main()
