"""Compare rankers of labels: linear, with trees, and common baselines.

The measure is Kendall's tau of held-out rows in six sets (ten folds, five times), with all labels
and with 30 and 60 % of the labels of the training rows hidden.

    python benchmarks/studies/label_ranking.py --run                       # missing results
    python benchmarks/studies/label_ranking.py --run --hidden 0.3 --sets iris
    python benchmarks/studies/label_ranking.py --tables                    # stored results

``results/label_ranking.csv`` stores the value of every fold. Stored values are not computed again.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine, format_table

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
from label_ranking import compare
from label_ranking.data_sets import FOLDS, REPEATS, SETS, fold_of, mean_tau
from label_ranking.methods import METHODS, PAIRS
from label_ranking.store import Store

MEANS = [
    ("method", "method", ""),
    ("folds", "folds", "d"),
    *[column for name in SETS for column in ((name, name, ".3f"), (f"{name} error", "se", ".3f"))],
    ("sets", "mean", ".3f"),
    ("seconds", "CPU s a fold", ".1f"),
]
TESTS = [
    ("a", "a", ""),
    ("b", "b", ""),
    ("set", "set", ""),
    ("difference", "a - b", "+.4f"),
    ("low", "from", "+.4f"),
    ("high", "to", "+.4f"),
    ("p", "p", ".4f"),
    ("Holm", "Holm", ".4f"),
]
SHARES = (0.0, 0.3, 0.6)


def run(store, options):
    """Compute what is missing."""
    for share in options.hidden:
        for repeat in range(1 if share else options.repeats):
            for name, method in METHODS[share > 0].items():
                for data_set in options.sets:
                    key = data_set, share, repeat, name
                    if (not options.methods or name in options.methods) and not store.has(*key):
                        add(store, key, method)


def add(store, key, method):
    """Test one method on the folds of one repeat."""
    data_set, share, repeat, name = key
    start, taus, chosen = time.process_time(), [], []
    for number in range(FOLDS):
        fold, positions = fold_of(data_set, share, repeat, number)
        scores, parameters = method(fold)
        taus.append(mean_tau(positions, scores))
        chosen.append(parameters)
    seconds = time.process_time() - start
    store.add(key, taus, chosen, seconds)
    mean = sum(taus) / FOLDS
    print(f"{data_set:8} {share:3} {repeat} {name:32} {mean:.4f} {seconds:7.1f} s", flush=True)


def print_tables(store):
    """Print means and tests of the stored results."""
    for share in SHARES:
        hidden = f", {share:.0%} of the labels hidden" if share else ""
        rows = compare.means(store, METHODS[share > 0], share)
        if rows:
            print(f"\nKendall's tau: mean over the folds and its standard error{hidden}")
            print(format_table(rows, MEANS))
        for question, pairs in PAIRS[share > 0].items():
            rows = compare.tested(store, pairs, share)
            if rows:
                print(f"\n{question}: paired by fold, 95 % limits{hidden}")
                print(format_table(rows, TESTS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="compute missing results")
    parser.add_argument("--tables", action="store_true", help="print stored results")
    parser.add_argument("--methods", nargs="+", help="only these methods")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=[*SETS])
    parser.add_argument("--hidden", nargs="+", type=float, choices=SHARES, default=[*SHARES])
    parser.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        help="at most (default: %(default)s); 1 with hidden labels",
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    store = Store()
    if options.run:
        print(describe_machine("lightgbm"))
    if options.run:
        run(store, options)
    if options.tables or not options.run:
        print_tables(store)


if __name__ == "__main__":
    main()
