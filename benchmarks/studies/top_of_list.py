"""Does training for the top of the list pay? Every method on every set, beside its base.

Part "main": 500 training rows (half of a small set) of each of 26 sets, by 5 to 20 splits; C
by inner folds; P@tau of the test part at tau = 1, 5, 10 and 19 %, and TPR at FPR .1, 1 and 5 %.
Each value of each split is stored in ``results/top_of_list.csv``; what is there is not computed
again, so that an interrupted run goes on where it was. "tables" prints what is stored.

    python benchmarks/studies/top_of_list.py
    python benchmarks/studies/top_of_list.py --parts main --families logistic --splits 10
    python benchmarks/studies/top_of_list.py --parts tables
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

from top_of_list import compare, simulate
from top_of_list.data_sets import SETS, split_of
from top_of_list.methods import FAMILIES, MANY_FEATURES, alternatives
from top_of_list.store import TAUS, Store


def run_main(options):
    """Compute what is missing, family by family."""
    store = Store("top_of_list.csv")
    for base, (fit, most_features, few, many) in FAMILIES.items():
        if options.families and base not in options.families:
            continue
        for data_set in SETS:
            if options.sets and data_set.name not in options.sets:
                continue
            start = time.process_time()
            try:
                n_features = split_of(data_set, 0).X.shape[1]
            except FileNotFoundError as problem:
                print(f"{data_set.name} is left out: {problem}")
                continue
            n_splits = many if n_features >= MANY_FEATURES else few
            if most_features is not None and n_features > most_features:
                continue
            for number in range(min(n_splits, options.splits)):
                run_split(store, data_set, number, base, fit)
            spent = time.process_time() - start
            print(f"{base:15} {data_set.name:20} {spent:6.1f} s", flush=True)


def run_constants(options):
    """Other constants of the second look, on the development sets only."""
    store = Store("top_of_list_constants.csv")
    for data_set in SETS:
        if data_set.kind == "dev":
            for number in range(min(10, options.splits)):
                run_split(store, data_set, number, "logistic", alternatives)


def run_map(options):
    """The map by simulation."""
    simulate.run([base for base in simulate.BASES if base in (options.families or simulate.BASES)])


def run_split(store, data_set, number, base, fit):
    """Compute one split unless it is there."""
    if store.has(data_set, number, base):
        return
    start = time.process_time()
    split = split_of(data_set, number)
    results = fit(split, TAUS)
    store.add(data_set, number, split, results, time.process_time() - start)


def print_tables(options):
    """Print the tables of what is stored."""
    tests = compare.compared(Store("top_of_list.csv").rows.values())
    print("\nDifference from the base, mean ± standard error over sets (sets won / lost)")
    print(compare.summary(tests))
    for method in options.methods:
        print(f"\n{method}: value of the base, and difference; * sure by Holm over the sets\n")
        print(compare.by_set(tests, method))


PARTS = {"main": run_main, "constants": run_constants, "map": run_map, "tables": print_tables}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--families", nargs="+", choices=FAMILIES)
    parser.add_argument("--sets", nargs="+", choices=[data_set.name for data_set in SETS])
    parser.add_argument("--splits", type=int, default=20, help="at most so many of each set")
    parser.add_argument("--methods", nargs="*", default=["logistic, sum", "logistic, choose"])
    parser.add_argument("--data", help="directory of the data sets")
    options = parser.parse_args()
    if options.data:
        os.environ["SKLEARN_RANK_DATA"] = str(Path(options.data).resolve())
    warnings.simplefilter("ignore", UserWarning)
    print(describe_machine("lightgbm"))
    for part in options.parts:
        PARTS[part](options)


if __name__ == "__main__":
    main()
