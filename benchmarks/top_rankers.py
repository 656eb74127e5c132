"""Seconds of fits for the top of the list, up to a million rows, beside logistic regression.

    python benchmarks/top_rankers.py [--quick] [--only KIND] [--write]

Each fit runs in a fresh process with one thread, after one of 2,000 rows that compiles what has
to be compiled. "normal": 50 independent normal features, of which the log-odds are linear, with
10 % positives and an AUC of .93; "apart": the same with an AUC of .999, where the top of one row
has a solution that is not 0. "gap" is the relative duality gap that was reached, "CPU s" the time
of the processor, "above" what the fit added to the memory.
``--write`` stores ``results/top_rankers.csv``.
"""

import argparse
import resource
import time
import warnings

import numpy as np
from measuring import describe_machine, format_table, run_worker, serve, store_results
from sklearn.linear_model import LogisticRegression

from sklearn_rank import PNormPushRanker, TopPushRanker
from sklearn_rank.exceptions import ZeroSolutionWarning

RANKERS = {
    "TopPushRanker(1)": lambda: TopPushRanker(1),
    "TopPushRanker(.3)": lambda: TopPushRanker(0.3),
    "PNormPushRanker(4)": lambda: PNormPushRanker(4),
    "LogisticRegression": LogisticRegression,
}

SIZES = (10_000, 100_000, 1_000_000)
MANY = [(kind, n) for kind in ("apart", "normal") for n in SIZES]


def rows_of(kind, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    score = X @ rng.normal(size=50)
    score = (30 if kind == "apart" else 3) * score / score.std()
    y = score + rng.logistic(size=n) > np.quantile(score, 0.9) * 1.1
    return X, y.astype(int)


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(request):
    """Fit one ranker in this process."""
    warnings.simplefilter("ignore", ZeroSolutionWarning)
    make = RANKERS[request["ranker"]]
    X, y = rows_of(request["data"], 2_000)
    make().fit(X[:2_000], y[:2_000])
    X, y = rows_of(request["data"], request["rows"])
    before = resident()
    start, busy = time.perf_counter(), time.process_time()
    model = make().fit(X, y)
    yield {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - busy,
        "iterations": int(np.max(model.n_iter_)),
        "gap": getattr(model, "dual_gap_", float("nan")),
        "zero": bool(np.ptp(model.decision_function(X[:1000])) < 1e-4),
        "positives": float(y.mean()),
        "above": resident() - before,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 rows only")
    parser.add_argument("--only", help="one kind of data")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    machine = describe_machine()
    print(machine)
    asked = [(kind, n, name) for kind, n in MANY for name in RANKERS]
    if arguments.only:
        asked = [one for one in asked if one[0] == arguments.only]
    if arguments.quick:
        asked = [one for one in asked if one[1] <= 10_000]
    rows = []
    for kind, n, name in asked:
        request = {"data": kind, "rows": n, "ranker": name}
        reports, problem = run_worker(__file__, request, timeout=600)
        rows.append({**request, **(reports[0] if reports else {"note": problem})})
        print(rows[-1], flush=True)
    columns = [("data", "data", ""), ("rows", "rows", ",d"), ("ranker", "ranker", "")]
    columns += [("seconds", "seconds", ".2f"), ("cpu", "CPU s", ".2f")]
    columns += [("iterations", "steps", "d"), ("gap", "gap", ".0e"), ("zero", "w = 0", "")]
    columns += [("above", "MB above", ".0f"), ("note", "note", "")]
    print(format_table(rows, columns))
    if arguments.write:
        store_results("top_rankers", rows, machine.replace("\n", "; "))


if __name__ == "__main__" and not serve(measure):
    main()
