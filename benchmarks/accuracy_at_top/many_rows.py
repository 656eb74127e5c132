"""Ten thousand to a million rows of 50 features: seconds, memory and precision at the top.

    python benchmarks/accuracy_at_top/many_rows.py [--rows 1e4 1e5 1e6] [--data top] [--output CSV]

Simulated rows whose top follows another direction than the rest ("top"), with labels by chance
below the top ("noise"), or of a logistic model ("well", "tails"); as many again, at least 100,000,
to hold out. Every fit runs in a process of its own on two threads; the memory is the largest that
the process ever held, imports and data included. A fit of all candidates of more than 20,000 rows
that would take over ten minutes ends with its own forecast. "24 candidates" is no part of the
package: see ``benchmarks/studies/few_candidates.py``.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    peak_memory,
    run_worker,
    serve,
    write_table,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))

COLUMNS = [
    ("n", "n", "d"),
    ("name", "method", "s"),
    ("seconds", "s", ".1f"),
    ("cpu_seconds", "CPU s", ".1f"),
    ("memory_mb", "MB", ".0f"),
    ("precision", "P@1 %", ".4f"),
    ("gap", "largest gap", ".0e"),
    ("note", "", "s"),
]
TAU, TOTAL_COST, FITTED = 0.01, 300.0, 20_000
METHODS = (
    "LogisticRegression",
    "TopFocusedRanker",
    "24 candidates, balanced",
    "24 candidates, matched, focused",
    "AccuracyAtTopRanker",
)


def model(name, n):
    from benchmark_utils.few_candidates import FewCandidates
    from sklearn.linear_model import LogisticRegression

    from sklearn_rank import AccuracyAtTopRanker, TopFocusedRanker

    logistic = LogisticRegression(C=TOTAL_COST / n, max_iter=1000)
    if name == "LogisticRegression":
        return logistic
    if name == "TopFocusedRanker":
        return TopFocusedRanker(logistic, tau=TAU)
    if name == "AccuracyAtTopRanker":
        return AccuracyAtTopRanker(TAU, C=TOTAL_COST / n, n_jobs=2)
    return FewCandidates(TAU, TOTAL_COST, name.partition(", ")[2])


def work(request):
    from benchmark_utils.few_candidates import simulate

    from sklearn_rank.exceptions import LongFitWarning
    from sklearn_rank.metrics import precision_at_top_score

    n, name = request["n"], request["name"]
    X, y = simulate(request["data"], n)
    if name == "AccuracyAtTopRanker" or "candidates" in name:
        model("AccuracyAtTopRanker", 40).set_params(tau=0.1).fit(X[:40], y[:40])
    ranker = model(name, n)
    warnings.simplefilter("error" if n > FITTED else "ignore", LongFitWarning)
    start, busy = time.perf_counter(), time.process_time()
    try:
        ranker.fit(X, y)
    except LongFitWarning as warning:
        note = f"forecast {str(warning).partition(' will take ')[2].partition(' more')[0]}"
        yield {"n": n, "name": name, "memory_mb": peak_memory(), "note": note}
        return
    report = {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - busy,
        "memory_mb": peak_memory(),
    }
    del X
    test, labels = simulate(request["data"], max(n, 100_000), seed=1)
    precision = precision_at_top_score(labels, ranker.decision_function(test), tau=TAU)
    gap = getattr(ranker, "dual_gap_", float("nan"))
    yield {"n": n, "name": name, **report, "precision": precision, "gap": gap, "note": ""}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="*", type=float, default=(1e4, 1e5, 1e6))
    parser.add_argument("--data", default="top", choices=("top", "noise", "well", "tails"))
    parser.add_argument("--output", help="CSV file of the results")
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    rows = []
    for n in map(int, options.rows):
        for name in METHODS:
            reports, problem = run_worker(
                __file__, {"n": n, "name": name, "data": options.data}, OPENBLAS_NUM_THREADS="2"
            )
            print(problem or format_table(reports, COLUMNS), flush=True)
            rows += reports
    print(format_table(rows, COLUMNS))
    if options.output:
        write_table(options.output, rows, COLUMNS)


if __name__ == "__main__" and not serve(work):
    main()
