"""Time to the first fit, with nothing compiled and with numba's cache filled.

    python benchmarks/accuracy_at_top/compiling.py

Each line is a fresh process; the first starts with an empty cache directory of its own.
"""

import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, run_worker, serve

COLUMNS = [
    ("cache", "numba's cache", ""),
    ("imported", "import s", ".2f"),
    ("first", "first fit s", ".2f"),
    ("second", "second fit s", ".4f"),
    ("compiled", "compiling or loading s", ".2f"),
]


def work(request):
    """Import, fit twice."""
    # What any program that uses scikit-learn has paid for already.
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:200]
    clock = [time.perf_counter()]
    from sklearn_rank import AccuracyAtTopRanker

    clock.append(time.perf_counter())
    for _ in range(2):
        AccuracyAtTopRanker(tau=0.1, C=0.1).fit(X, y[:200])
        clock.append(time.perf_counter())
    imported, first, second = (late - early for early, late in pairwise(clock))
    yield {"imported": imported, "first": first, "second": second, "compiled": first - second}


def main():
    """Run with an empty cache, then twice with the cache that this leaves."""
    print(describe_machine())
    print("AccuracyAtTopRanker on 200 x 30, after scikit-learn has been imported\n", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name in ("empty", "filled", "filled"):
            reports, problem = run_worker(__file__, {}, NUMBA_CACHE_DIR=cache)
            if problem:
                sys.exit(problem)
            rows.append({"cache": name, **reports[0]})
    print(format_table(rows, COLUMNS))


if __name__ == "__main__" and not serve(work):
    main()
