"""CPU seconds of a search: AccuracyAtTopRankerCV beside GridSearchCV over the same settings.

    python benchmarks/accuracy_at_top/search.py [--data DIRECTORY] [--quick] [--output CSV]

Five values of C, five folds, one thread; the selections and shares of each row are searched over
in either way, and the scores of all settings must be the same. Every search runs in a process of
its own, after one small fit that loads the compiled loops.
"""

import argparse
import gzip
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    data_directory,
    describe_machine,
    format_table,
    run_worker,
    serve,
    write_table,
)

COLUMNS = [
    ("name", "data", "s"),
    ("n", "rows", "d"),
    ("selections", "selections", "d"),
    ("taus", "shares", "d"),
    ("cv", "CV s", ".2f"),
    ("grid", "grid s", ".2f"),
    ("ratio", "ratio", ".1f"),
    ("costs_only", "grid of C alone s", ".2f"),
    ("same", "largest difference", ".1e"),
]

COSTS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
ALL = ("average", "closest", "objective", "refine")
TAUS = (0.025, 0.05, 0.1)
FEW, MANY, REFINED = (ALL[:2], TAUS[1:2]), (ALL[:3], TAUS), (ALL, TAUS)
# Name, most rows, selections and shares; "refine" takes minutes.
DATA = [
    ("ionosphere", None, (FEW, MANY, REFINED)),
    ("pima_diabetes", None, (FEW, MANY)),
    ("spambase", 500, (FEW, MANY)),
]
QUICK = {"ionosphere"}
TAU = 0.05


def load(name, n_rows, directory):
    from sklearn.preprocessing import StandardScaler

    with gzip.open(Path(directory, f"{name}.csv.gz"), "rt") as lines:
        table = np.genfromtxt(lines, delimiter=",", skip_header=1)
    chosen = np.sort(np.random.default_rng(0).permutation(len(table))[:n_rows])
    return StandardScaler().fit_transform(table[chosen, :-1]), table[chosen, -1]


def work(request):
    from sklearn.model_selection import GridSearchCV

    from sklearn_rank import AccuracyAtTopRanker, AccuracyAtTopRankerCV
    from sklearn_rank.metrics import get_scorer

    # At another share than is trained for, on purpose; and settings that miss their quantile.
    warnings.simplefilter("ignore")
    X, y = load(request["name"], request["n_rows"], request["directory"])
    AccuracyAtTopRanker(selection="refine").fit(X[:60], np.arange(60) % 2)
    if request["by"] == "cv":
        search = AccuracyAtTopRankerCV(
            TAU, Cs=request["Cs"], selections=request["selections"], taus=request["taus"]
        )
    else:
        grid = {"C": request["Cs"], "selection": request["selections"], "tau": request["taus"]}
        scorer = get_scorer(f"smoothed_precision@top{TAU}")
        search = GridSearchCV(AccuracyAtTopRanker(TAU), grid, scoring=scorer, error_score="raise")
    start = time.process_time()
    search.fit(X, y)
    seconds = time.process_time() - start
    yield {
        "seconds": seconds,
        "n": len(X),
        "scores": json.dumps(search.cv_results_["mean_test_score"].tolist()),
    }


def measured(request):
    reports, problem = run_worker(__file__, request)
    if problem:
        raise RuntimeError(f"{request}: {problem}")
    return reports[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=str(data_directory()), help="directory of the data sets")
    parser.add_argument("--quick", action="store_true", help="the smallest data set only")
    parser.add_argument("--output", help="CSV file of the results")
    options = parser.parse_args()
    print(describe_machine())
    rows = []
    for name, n_rows, settings_of in DATA:
        if options.quick and name not in QUICK:
            continue
        data = {"name": name, "n_rows": n_rows, "Cs": COSTS, "directory": options.data}
        alone = measured({**data, "by": "grid", "selections": ["average"], "taus": [TAU]})
        for selections, taus in settings_of:
            settings = {**data, "selections": selections, "taus": taus}
            cv, grid = (measured({**settings, "by": by}) for by in ("cv", "grid"))
            difference = np.subtract(json.loads(cv["scores"]), json.loads(grid["scores"]))
            rows.append(
                {
                    "name": name,
                    "n": cv["n"],
                    "selections": len(selections),
                    "taus": len(taus),
                    "cv": cv["seconds"],
                    "grid": grid["seconds"],
                    "ratio": grid["seconds"] / cv["seconds"],
                    "costs_only": alone["seconds"],
                    "same": float(np.abs(difference).max()),
                }
            )
    print(format_table(rows, COLUMNS))
    if options.output:
        write_table(options.output, rows, COLUMNS)


if __name__ == "__main__" and not serve(work):
    main()
