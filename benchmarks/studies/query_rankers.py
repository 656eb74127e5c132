"""Compare rankers of queries: linear ones, boosted trees, and combinations of both.

The measure is NDCG@10 of held-out queries in four sets (MQ2008, a sample of MSLR-WEB10K, OHSUMED
and LightGBM's example), with three folds of whole queries by each of three seeds. All parameters
are chosen by cross-validation over the training queries, with the same splits for every method.

    python benchmarks/studies/query_rankers.py                       # tables of stored results
    python benchmarks/studies/query_rankers.py --run                 # compute missing results
    python benchmarks/studies/query_rankers.py --run --methods lambdarank --sets OHSUMED

``results/query_rankers.csv`` stores the value of every query. Stored values are not computed
again.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import HERE, THREAD_VARIABLES, describe_machine, format_table

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
sys.path.insert(0, str(HERE / "surrogate_rankers"))
import numpy as np
from query_rankers import compare
from query_rankers.data_sets import FOLDS, SEEDS, SETS, split_of
from query_rankers.methods import METHODS, PAIRS, Fold
from query_rankers.store import Store

MEANS = [
    ("method", "method", ""),
    *[(name, name, ".4f") for name in SETS],
    ("sets", "mean of sets", ".4f"),
    ("queries", "all queries", ".4f"),
    ("seconds", "CPU seconds", ".0f"),
]
TESTS = [
    ("a", "a", ""),
    ("b", "b", ""),
    ("difference", "a - b, queries", "+.4f"),
    ("low", "from", "+.4f"),
    ("high", "to", "+.4f"),
    ("sets", "a - b, sets", "+.4f"),
    ("sets low", "from", "+.4f"),
    ("sets high", "to", "+.4f"),
    ("t", "p (t)", ".4f"),
    ("t, Holm", "Holm", ".4f"),
    ("randomization", "p (random)", ".4f"),
    ("randomization, Holm", "Holm", ".4f"),
]


def run(store, options):
    """Compute what is missing."""
    for name, method in METHODS.items():
        if options.methods and name not in options.methods:
            continue
        for data_set in options.sets:
            for seed in SEEDS:
                if store.chosen(data_set, seed, name) is None:
                    add(store, data_set, seed, name, method)


def add(store, data_set, seed, name, method):
    """Test one method on all queries of a set."""
    start, values, queries, chosen = time.process_time(), [], [], []
    for number in range(FOLDS):
        earlier = {
            other: chosen_by[number]
            for other in METHODS
            if (chosen_by := store.chosen(data_set, seed, other)) is not None
        }
        train, test = split_of(data_set, seed, number)
        score, parameters = method(Fold(train, test, seed, earlier))
        values.append(test.ndcg(score))
        queries.append(test.queries)
        chosen.append(parameters)
    values = np.concatenate(values)[np.argsort(np.concatenate(queries))]
    values = values[~np.isnan(values)]
    seconds = time.process_time() - start
    store.add(data_set, seed, name, values, chosen, seconds)
    print(f"{data_set:9} {seed} {name:32} {values.mean():.4f} {seconds:7.1f} s", flush=True)


def print_tables(store):
    """Print means and tests of the stored results."""
    print("\nNDCG@10, mean of three seeds; CPU seconds of selection and fits, all folds")
    print(format_table(compare.means(store, METHODS, SETS, SEEDS), MEANS))
    for question, pairs in PAIRS.items():
        rows = compare.tested(store, pairs, SETS, SEEDS)
        if rows:
            print(f"\n{question}: paired by query, 95 % limits")
            print(format_table(rows, TESTS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="compute missing results")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="only these methods")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=[*SETS])
    parser.add_argument("--data", help="directory of the data sets")
    options = parser.parse_args()
    if options.data:
        os.environ["SKLEARN_RANK_DATA"] = str(Path(options.data).resolve())
    warnings.simplefilter("ignore", UserWarning)
    store = Store()
    if options.run:
        print(describe_machine("lightgbm"))
        run(store, options)
    print_tables(store)


if __name__ == "__main__":
    main()
