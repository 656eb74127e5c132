"""Compare targets for the top of one list with the usual targets of boosted trees.

The measures are precision of held-out rows at the top 1 and 5 %, TPR at FPR .1, .5 and 1 %, and
average precision, on sets with many positives. All methods are LightGBM's trees with one thread
and learning rate .1. A fifth of the training rows of each class is held out. Smoothed precision at
the top 1 % of these rows stops each fit and chooses the open parameters:

- part "free": 4 or 31 leaves, up to 150 trees, patience 30; a warm-up of 50 trees for the targets
- part "few": 30 trees of 4 leaves, none held out; a warm-up of 15 trees

LightGBM refuses queries of more than 10,000 rows, so its lambdarank gets random lists of 1,000.
``TopFocusedRanker`` wraps the chosen binary classifier. "warm-up only" is the ranker whose trees
all minimise the logistic loss. It differs from LightGBM's classifier by keeping features that
few rows have (``feature_pre_filter=False``).

``results/boosted_top_*.csv`` stores the values of every split; stored values are not computed
again. A full run takes about 15 minutes on one core.

    python benchmarks/studies/boosted_top.py
    python benchmarks/studies/boosted_top.py --sets spambase --splits 2 --tables
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import lightgbm
import numpy as np
from sklearn.model_selection import train_test_split
from top_of_list import compare, generators
from top_of_list.data_sets import BY_NAME, DataSet, full_split
from top_of_list.store import Store

from sklearn_rank import BoostedTopRanker, TopFocusedRanker
from sklearn_rank.metrics import (
    average_precision_score,
    precision_at_top_score,
    roc_auc_score,
    smoothed_precision_at_top_score,
    tpr_at_fpr_score,
)

TAU = 0.01
TARGETS = ("top_push", "p_norm_push", "accuracy_at_top", "w_phi", "pairwise_logistic")
LEAVES = (4, 31)
TREES, PATIENCE, WARMUP = 150, 30, 50
FEW_TREES, FEW_LEAVES = 30, 4
CONTROL = "lightgbm, warm-up only"
LIST = 1000  # rows of a list of lambdarank
FLAGS = {"learning_rate": 0.1, "num_threads": 1, "verbosity": -1, "seed": 0}
MADE_ROWS = 50_000


def _made(kind):
    def load(n, rng):
        return *generators.draw(n, rng, **generators.KINDS[kind], share=0.02), None

    return load


SETS = [
    *(BY_NAME[name] for name in ("spambase", "a9a", "w8a")),
    *(
        DataSet(f"made_{kind}, 2 %", "made", _made(kind), MADE_ROWS)
        for kind in ("linear", "other_top")
    ),
]


def values_of(y, scores):
    """The measures of test scores."""
    found = {f"P@{tau:.0%}": precision_at_top_score(y, scores, tau=tau) for tau in (0.01, 0.05)}
    for rate in (0.001, 0.005, 0.01):
        found[f"TPR@{rate:g}"] = tpr_at_fpr_score(y, scores, max_fpr=rate)
    return found | {"AP": average_precision_score(y, scores)}


class BoostedStore(Store):
    """Values by set, split and method, and the number of trees."""

    measures = ["P@1%", "P@5%", "TPR@0.001", "TPR@0.005", "TPR@0.01", "AP"]
    costs = ["leaves"]
    more = ["n_features", "positives", "trees", "fit_seconds"]
    values_of = staticmethod(values_of)


def criterion(y, scores):
    """What chooses: ties are broken by the AUC, as the ranker does."""
    ties = 1e-6 * roc_auc_score(y, scores)
    return smoothed_precision_at_top_score(y, scores, tau=TAU) + ties


def grown(params, X, y, held, n_trees, *, list_size=None):
    """LightGBM's own: trees, number of them and value of the held-out rows."""
    sizes = None
    if list_size:
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
        sizes = np.diff(np.append(np.arange(0, len(y), list_size), len(y)))
    data = lightgbm.Dataset(X, y, group=sizes)
    if held is None:
        return lightgbm.train(FLAGS | params, data, n_trees), n_trees, 0.0
    X_held, y_held = held

    def judged(scores, _):
        return "top", criterion(y_held, scores), True

    watched = lightgbm.Dataset(
        X_held, y_held, reference=data, group=[len(y_held)] if list_size else None
    )
    model = lightgbm.train(
        FLAGS | params | {"metric": "none"},
        data,
        n_trees,
        valid_sets=[watched],
        feval=judged,
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return model, model.best_iteration, model.best_score["valid_0"]["top"]


def peer(params, X, y, held, leaves, n_trees, warmup, **how):
    """A fit of LightGBM's own."""
    model, n, value = grown(params | {"num_leaves": leaves}, X, y, held, n_trees, **how)
    return partial(model.predict, raw_score=True), n, value


def ours(target, X, y, held, leaves, n_trees, warmup):
    """A fit of the ranker."""
    n_warmup = {None: n_trees, "pairwise_logistic": 0}.get(target, warmup)
    ranker = BoostedTopRanker(
        target or "top_push",
        tau=TAU,
        n_warmup=n_warmup,
        n_estimators=n_trees,
        max_leaf_nodes=leaves,
        early_stopping=held is not None,
        n_iter_no_change=PATIENCE,
        random_state=0,
    )
    X_held, y_held = (None, None) if held is None else held
    ranker.fit(X, y, X_val=X_held, y_val=y_held)
    value = 0.0 if held is None else ranker.validation_scores_.max()
    return ranker.decision_function, ranker.best_iteration_, value


METHODS = {
    "lightgbm": partial(peer, {"objective": "binary"}),
    "lightgbm, scale_pos_weight": partial(peer, {"objective": "binary", "is_unbalance": True}),
    "lightgbm, lambdarank": partial(peer, {"objective": "lambdarank"}, list_size=LIST),
    CONTROL: partial(ours, None),
    **{f"lightgbm, {target}": partial(ours, target) for target in TARGETS},
}


def focused(X, y, leaves, n_trees):
    """A second look around the binary classifier that was chosen."""
    base = lightgbm.LGBMClassifier(
        n_estimators=n_trees, num_leaves=leaves, n_jobs=1, verbosity=-1, random_state=0
    )
    ranker = TopFocusedRanker(base, tau=TAU, cv=2)
    return ranker.fit(X, y).decision_function


def run_free(split, missing):
    """Leaves and trees chosen on held-out rows."""
    X, X_held, y, y_held = train_test_split(
        split.X, split.y, test_size=0.2, stratify=split.y, random_state=0
    )
    results = {}
    for name in missing:
        fit = METHODS[name]
        start = time.process_time()
        fits = [(*fit(X, y, (X_held, y_held), n, TREES, WARMUP), n) for n in LEAVES]
        scores, trees, _, leaves = max(fits, key=lambda found: found[2])
        results[name] = _result(scores(split.X_test), leaves, trees, start)
        if name == "lightgbm":
            start = time.process_time()
            second = focused(X, y, leaves, max(trees, 1))
            results["lightgbm, second look"] = _result(second(split.X_test), leaves, trees, start)
    return results


def run_few(split, missing):
    """Few trees of few leaves."""
    results = {}
    for name in missing:
        fit = METHODS[name]
        start = time.process_time()
        scores, trees, _ = fit(split.X, split.y, None, FEW_LEAVES, FEW_TREES, FEW_TREES // 2)
        results[name] = _result(scores(split.X_test), FEW_LEAVES, trees, start)
        if name != "lightgbm":
            continue
        start = time.process_time()
        second = focused(split.X, split.y, FEW_LEAVES, FEW_TREES)
        results["lightgbm, second look"] = _result(
            second(split.X_test), FEW_LEAVES, FEW_TREES, start
        )
    return results


def _result(scores, leaves, trees, start):
    counts = {"trees": trees, "fit_seconds": time.process_time() - start}
    return scores, [leaves], None, counts


PARTS = {"few": run_few, "free": run_free}


class Against:
    """What is stored, one of the methods being the one that the others are compared with."""

    def __init__(self, store, base):
        self.measures, self.more = store.measures, store.more
        names = {"lightgbm": "lightgbm, binary", base: "lightgbm"}
        self.rows = {
            key: row | {"method": names.get(row["method"], row["method"])}
            for key, row in store.rows.items()
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--sets", nargs="+", choices=[data_set.name for data_set in SETS])
    parser.add_argument("--splits", type=int, default=4, help="number of splits of each set")
    parser.add_argument("--tables", action="store_true", help="only print stored results")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(describe_machine("lightgbm"))
    stores = {part: BoostedStore(f"boosted_top_{part}") for part in options.parts}
    for number in range(0 if options.tables else options.splits):
        for data_set in SETS:
            if options.sets and data_set.name not in options.sets:
                continue
            for part, store in stores.items():
                missing = [name for name in METHODS if not store.has(data_set, number, name)]
                if not missing:
                    continue
                start = time.process_time()
                split = full_split(data_set, number)
                store.add(
                    data_set,
                    number,
                    split,
                    PARTS[part](split, missing),
                    time.process_time() - start,
                )
                seconds = time.process_time() - start
                print(f"{part:5} {data_set.name:22} {number} {seconds:7.1f} s", flush=True)
    for part, store in stores.items():
        for base in ("lightgbm", CONTROL):
            tests = compare.compared(Against(store, base))
            print(f"\n{part}: minus {base!r}, mean ± standard error over sets (won / lost)")
            print(compare.summary(tests, {"all": lambda test: True}))
        for method in dict.fromkeys(test["method"] for test in tests):
            print(f"\n{part}, {method}: {CONTROL!r}, and difference; * significant by Holm\n")
            print(compare.by_set(tests, method))


if __name__ == "__main__":
    main()
