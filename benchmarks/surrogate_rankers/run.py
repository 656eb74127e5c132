"""Rankers of queries by their losses: peers, and times.

    python benchmarks/surrogate_rankers/run.py [--data DIRECTORY] [--parts peers times ...]

Parts: "peers" runs every peer on three data sets, with per-query values and paired tests; "times"
measures fits, "lengths" how they grow with the length of a list, and "large" a million rows, in a
process of 3 GB. One thread. --write stores the results in results/.
"""

import argparse
import importlib
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine, format_table, store_results, versions_of

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

PARTS = {
    "peers": "peer_study",
    "times": "fit_times",
    "lengths": "length_times",
    "large": "large_fit",
}


def versions():
    """Return the versions of what is compared, in one line."""
    ours = importlib.import_module("sklearn_rank").__version__
    others = versions_of("numpy", "scipy", "scikit-learn", "lightgbm", "xgboost")
    return f"sklearn-rank {ours}, {others}"


def main():
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="directory of the data sets")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="less of each part")
    parser.add_argument("--write", action="store_true", help="update results/")
    options = parser.parse_args()
    if options.data:
        os.environ["SKLEARN_RANK_DATA"] = str(Path(options.data).resolve())
    print(describe_machine())
    print(versions())
    for part in options.parts:
        print(f"\n{part}", flush=True)
        study = importlib.import_module(f"benchmark_utils.{PARTS[part]}")
        try:
            with warnings.catch_warnings():
                for name, title, rows, columns in study.run(quick=options.quick):
                    if columns:
                        print(f"\n{title}\n{format_table(rows, columns)}", flush=True)
                    if options.write and name and not options.quick:
                        store_results(name, rows, versions())
        except FileNotFoundError as error:
            print(f"Not run. {error}")


if __name__ == "__main__":
    main()
