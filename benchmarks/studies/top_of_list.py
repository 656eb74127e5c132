"""Does training for the top of the list pay? Every method on every set, beside its base.

The measures are P@tau of held-out rows at tau = 1, 5, 10 and 19 %, and TPR at FPR .1, 1 and 5 %.
Inner folds choose the cost C of the methods that have one. The parts:

- "main": 500 training rows, half of a small set, of each of 26 sets; 3 to 10 splits
- "family": the rankers of the package for two classes, on the sets of "main", with measures of the
  whole order
- "tables": tables of stored results

``results/top_of_list*.csv`` stores the values of every split. Stored values are not computed
again, so an interrupted run resumes.

    python benchmarks/studies/top_of_list.py
    python benchmarks/studies/top_of_list.py --parts main --families logistic --splits 10
    python benchmarks/studies/top_of_list.py --parts tables --by-set "logistic, sum"
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

from top_of_list import compare
from top_of_list.data_sets import SETS, split_of
from top_of_list.family import FAMILY
from top_of_list.methods import FAMILIES, MANY_FEATURES, check_logistic
from top_of_list.store import FAMILY_GOALS, TAUS, FamilyStore, Store

STORES = {"main": (Store, "top_of_list"), "family": (FamilyStore, "top_of_list_family")}


def store_of(part):
    """The values that are stored of a part."""
    kind, name = STORES[part]
    return kind(name)


def run_main(options):
    """500 training rows of every set."""
    store = store_of("main")
    for base, (fit, few, many) in FAMILIES.items():
        for data_set in wanted(SETS, base, options):
            split = split_of(data_set, 0)
            n_features = split.X.shape[1]
            if base == "logistic":
                check_logistic(split, TAUS)
            n_splits = many if n_features >= MANY_FEATURES else few
            run_splits(store, data_set, base, fit, min(n_splits, options.splits))


def run_family(options):
    """The rankers for two classes, 500 training rows of every set."""
    store = store_of("family")
    for base, (fit, few, many) in FAMILY.items():
        for data_set in wanted(SETS, base, options):
            n_splits = many if split_of(data_set, 0).X.shape[1] >= MANY_FEATURES else few
            n_splits = min(n_splits, options.splits)
            run_splits(store, data_set, base, fit, n_splits, goals=FAMILY_GOALS)


def wanted(data_sets, base, options):
    """The sets that are asked for and there."""
    if options.families and base not in options.families:
        return
    for data_set in data_sets:
        if options.sets and data_set.name not in options.sets:
            continue
        try:
            if data_set.kind != "made":
                split_of(data_set, 0)
        except FileNotFoundError as problem:
            print(f"{data_set.name} is skipped: {problem}")
            continue
        yield data_set


def run_splits(store, data_set, base, fit, n_splits, goals=TAUS):
    """Compute the missing splits."""
    first = time.process_time()
    for number in range(n_splits):
        if store.has(data_set, number, base):
            continue
        start = time.process_time()
        split = split_of(data_set, number)
        results = fit(split, goals)
        store.add(data_set, number, split, results, time.process_time() - start)
    print(f"{base:15} {data_set.name:32} {time.process_time() - first:7.1f} s", flush=True)


def print_tables(options):
    """Print the tables of the stored results."""
    for part, (kind, _) in STORES.items():
        store = store_of(part)
        tests = compare.compared(store)
        print(f"\n{part}: difference from the base, mean ± standard error over sets (won / lost)")
        print(compare.summary(tests))
        if kind is FamilyStore:
            print(f"\n{part}: fits, those with the solution 0, and those that did not converge\n")
            print(compare.fits(store))
        for method in options.by_set:
            print(
                f"\n{part}, {method}: value of the base, and difference; * significant by Holm\n"
            )
            print(compare.by_set(tests, method))


PARTS = {"main": run_main, "family": run_family, "tables": print_tables}


def main():
    names = [data_set.name for data_set in SETS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--families", nargs="+", choices=[*FAMILIES, *FAMILY])
    parser.add_argument("--sets", nargs="+", choices=names)
    parser.add_argument(
        "--splits", type=int, default=20, help="largest number of splits of each set"
    )
    parser.add_argument("--by-set", nargs="*", default=[], help="methods to show set by set")
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
