"""Rankers of queries by their losses: OHSUMED by its official protocol, peers, and times.

    python benchmarks/run_surrogate_rankers.py [--data DIRECTORY] [--parts ohsumed peers ...]

Parts: "judge" holds the judge against LETOR's published values of single features; "ohsumed" sets
the order-preserving losses beside LETOR's published tables; "peers" runs every peer on three data
sets, with per-query values and paired tests; "times" measures fits, "lengths" how they grow with
the length of a list, and "large" a million rows, in a process of 3 GB. One thread. --write stores
the results in published/.
"""

import argparse
import csv
import importlib
import os
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from measuring import HERE, THREAD_VARIABLES, describe_machine, format_table

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
sys.path[:0] = [str(HERE / "surrogate_rankers"), str(HERE.parent)]

PARTS = {
    "judge": "judge_check",
    "ohsumed": "ohsumed_study",
    "peers": "peer_study",
    "times": "fit_times",
    "lengths": "length_times",
    "large": "large_fit",
}


def versions():
    """Return the versions of what was compared, in one line."""
    found = [f"sklearn-rank {importlib.import_module('sklearn_rank').__version__}"]
    for name in ("numpy", "scipy", "scikit-learn", "lightgbm", "xgboost"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def write(name, rows):
    """Store rows in published/, with the versions in a last column of the first row."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    with open(HERE / "published" / f"{name}.csv", "w", newline="") as lines:
        writer = csv.DictWriter(lines, [*keys, "versions"], lineterminator="\n")
        writer.writeheader()
        for row, made_with in zip(rows, [versions()] + [""] * (len(rows) - 1), strict=True):
            values = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow({**values, "versions": made_with})


def main():
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="directory of the data sets")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="less of each part")
    parser.add_argument("--write", action="store_true", help="update published/")
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
                        write(name, rows)
        except FileNotFoundError as error:
            print(f"Not run. {error}")


if __name__ == "__main__":
    main()
