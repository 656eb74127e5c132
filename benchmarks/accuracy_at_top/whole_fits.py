"""Seconds and memory of whole fits: all candidates, on two cores, at a relative gap of 1e-6.

    python benchmarks/accuracy_at_top/whole_fits.py [--data DIRECTORY] [--quick] [--output CSV]

Every fit runs in a process of its own, after one small fit that loads the compiled loops; the
memory is the largest that the process ever held, imports included.
"""

import argparse
import gzip
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    data_directory,
    describe_machine,
    format_table,
    peak_memory,
    run_worker,
    serve,
    write_table,
)

COLUMNS = [
    ("name", "fit", "s"),
    ("C", "C", "g"),
    ("n", "n", "d"),
    ("d", "d", "d"),
    ("seconds", "s", ".2f"),
    ("target", "target s", "s"),
    ("memory_mb", "MB", ".0f"),
    ("gap", "largest gap", ".1e"),
    ("n_iter", "most steps", "d"),
]

# Name, what is fitted, parameters, values of C, seconds to reach.
FITS = [
    ("pima", "pima_diabetes", {}, (0.001, 0.01, 0.1, 1.0), 0.3),
    ("spambase", "spambase", {}, (0.001, 0.01, 0.1, 1.0), 6.0),
    ("simulated 10,000 x 30", (10_000, 30), {}, (0.01, 1.0), 60.0),
    ("simulated 10,000 x 44", (10_000, 44), {}, (0.01, 1.0), None),
    ("simulated 50,000 x 44", (50_000, 44), {}, (0.01,), 600.0),
    ("simulated 2,000 x 500", (2_000, 500), {}, (0.01,), 8.0),
    ("rbf, simulated 1,000 x 10", (1000, 10), {"kernel": "rbf"}, (0.1, 1.0, 10.0), 10.0),
    ("rbf, pima", "pima_diabetes", {"kernel": "rbf"}, (0.1, 1.0, 10.0), None),
    ("refine, pima", "pima_diabetes", {"selection": "refine"}, (0.01, 1.0), None),
]
QUICK = {"pima", "rbf, pima"}


def load(what, directory):
    """Rows and labels: two thirds of a data set at random, or simulated ones."""
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    if isinstance(what, str):
        path = Path(directory, f"{what}.csv.gz")
        with gzip.open(path, "rt") as lines:
            table = np.genfromtxt(lines, delimiter=",", skip_header=1)
        chosen = np.sort(rng.permutation(len(table))[: 2 * len(table) // 3])
        X, y = table[chosen, :-1], table[chosen, -1]
    else:
        n, d = what
        X = rng.normal(size=(n, d))
        signal = X[:, : d // 2] @ rng.normal(size=d // 2) / np.sqrt(d)
        y = (signal + rng.normal(size=n) > 1.0).astype(float)
    return StandardScaler().fit_transform(X), y


def work(request):
    from sklearn_rank import AccuracyAtTopRanker

    X, y = load(request["what"], request["directory"])
    parameters = {"tau": 0.05, "n_jobs": 2, **request["parameters"], "C": request["C"]}
    AccuracyAtTopRanker(**parameters).fit(X[:40], np.arange(40) % 2)
    start = time.perf_counter()
    fitted = AccuracyAtTopRanker(**parameters).fit(X, y)
    yield {
        "seconds": time.perf_counter() - start,
        "n": len(X),
        "d": X.shape[1],
        "memory_mb": peak_memory(),
        "gap": fitted.dual_gap_,
        "n_iter": fitted.n_iter_,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=str(data_directory()), help="directory of the data sets")
    parser.add_argument("--only", help="fits whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="the small fits only")
    parser.add_argument("--output", help="CSV file of the results")
    options = parser.parse_args()
    print(describe_machine())
    rows = []
    for name, what, parameters, costs, target in FITS:
        if (options.quick and name not in QUICK) or (options.only or "") not in name:
            continue
        if isinstance(what, str) and not Path(options.data, f"{what}.csv.gz").exists():
            print(f"{name}: not run, {what}.csv.gz is not in {options.data}")
            continue
        for C in costs:
            request = {"what": what, "parameters": parameters, "C": C, "directory": options.data}
            reports, problem = run_worker(__file__, request)
            if problem:
                print(f"{name}, C = {C:g}: {problem}")
            for report in reports:
                shown = "" if target is None else f"{target:g}"
                rows.append({"name": name, "C": C, "target": shown, **report})
    print(format_table(rows, COLUMNS))
    if options.output:
        write_table(options.output, rows, COLUMNS)


if __name__ == "__main__" and not serve(work):
    main()
