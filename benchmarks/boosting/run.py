"""RankBoost beside boosted stumps of others: held-out AUC, seconds, and how it grows.

    python benchmarks/boosting/run.py [--quick] [--write]

200 rounds of stumps each. Two kinds of rows are made: "additive" is linear in ten of 50 features
and curved in one, "pairs" depends on products too, which no stumps have. Half as many rows again
are held out. "seconds" is one fit in a fresh process with one thread, compiling apart, "CPU s"
what it took of the processor, which counts on a busy machine; "predict" the held-out rows.
AdaBoost takes some seconds a round on 100,000 rows: from 2 and 5 rounds its time of 200 is
extrapolated, and its AUC left out; so for a million rows, from 10 and 20. Boosting by bins
(HistGradientBoosting and LightGBM, 255 values of each feature) is another problem, the logistic
loss of rows, and has no exact thresholds; it is run with its own learning rate of .1 and with 1.
``--write`` stores ``results/boosting.csv``.
"""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    peak_memory,
    run_worker,
    serve,
    store_results,
)
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import RankBoostRanker
from sklearn_rank.metrics import roc_auc_score

ROUNDS = 200


def light_gbm(rate):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=ROUNDS, num_leaves=2, learning_rate=rate, n_jobs=1, verbose=-1
    )


def hist_gradient(rate):
    return HistGradientBoostingClassifier(
        max_iter=ROUNDS, max_leaf_nodes=2, learning_rate=rate, early_stopping=False
    )


PEERS = {
    "RankBoostRanker": partial(RankBoostRanker, ROUNDS),
    "RankBoostRanker, n_jobs=2": partial(RankBoostRanker, ROUNDS, n_jobs=2),
    "RankBoostRanker, line search": partial(RankBoostRanker, ROUNDS, step="line_search"),
    "RankBoostRanker, rate .1": partial(RankBoostRanker, ROUNDS, learning_rate=0.1),
    "AdaBoost": partial(AdaBoostClassifier, DecisionTreeClassifier(max_depth=1), random_state=0),
    "HistGradientBoosting, rate .1": partial(hist_gradient, 0.1),
    "HistGradientBoosting, rate 1": partial(hist_gradient, 1.0),
    "LightGBM, rate .1": partial(light_gbm, 0.1),
    "LightGBM, rate 1": partial(light_gbm, 1.0),
}


def rows_of(kind, n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X[:, :10] @ rng.normal(size=10) + np.sin(3 * X[:, 0])
    if kind == "pairs":
        score = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * score
    return X, (score + rng.logistic(size=n) > 1.0).astype(int)


def with_rounds(model, rounds):
    name = "max_iter" if isinstance(model, HistGradientBoostingClassifier) else "n_estimators"
    return model.set_params(**{name: rounds})


def measure(request):
    """Fit one peer in this process."""
    n, d, rounds = request["rows"], request["features"], request["rounds"]
    X, y = rows_of(request["data"], n + n // 2, d)
    make = PEERS[request["peer"]]
    # Compiling, and what others load when they are first used.
    with_rounds(make(), 2).fit(X[:500], y[:500]).predict(X[:10])
    seconds, busy, model = timed_fit(make, rounds, X[:n], y[:n])
    if rounds != ROUNDS:
        # What is done once is not done more often in more rounds.
        less, less_busy, _ = timed_fit(make, rounds // 2, X[:n], y[:n])
        factor = (ROUNDS - rounds) / (rounds - rounds // 2)
        seconds += factor * (seconds - less)
        busy += factor * (busy - less_busy)
    start = time.perf_counter()
    score = model.predict_proba(X[n:])[:, 1] if "GBM" in request["peer"] else None
    score = model.decision_function(X[n:]) if score is None else score
    predicted = time.perf_counter() - start
    yield {
        "seconds": seconds,
        "cpu": busy,
        "predict": predicted if rounds == ROUNDS else float("nan"),
        "auc": roc_auc_score(y[n:], score) if rounds == ROUNDS else float("nan"),
        "memory": peak_memory(),
    }


def timed_fit(make, rounds, X, y):
    """Wall and processor seconds of a fit, and the model."""
    start, busy = time.perf_counter(), time.process_time()
    model = with_rounds(make(), rounds).fit(X, y)
    return time.perf_counter() - start, time.process_time() - busy, model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 rows only")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    machine = describe_machine("lightgbm")
    print(machine)
    asked = [("additive", 10_000, peer) for peer in PEERS]
    if not arguments.quick:
        asked += [("additive", 100_000, peer) for peer in PEERS]
        asked += [("pairs", 100_000, peer) for peer in PEERS if peer != "AdaBoost"]
        asked += [("additive", 1_000_000, "RankBoostRanker, n_jobs=2")]
    rows = []
    for kind, n, peer in asked:
        rounds = 5 if peer == "AdaBoost" and n > 10_000 else 20 if n > 100_000 else ROUNDS
        request = {"data": kind, "rows": n, "features": 50, "rounds": rounds, "peer": peer}
        reports, problem = run_worker(__file__, request, timeout=600)
        rows.append({**request, **(reports[0] if reports else {"note": problem})})
    columns = [("data", "data", ""), ("rows", "rows", ",d"), ("peer", "peer", "")]
    columns += [("seconds", "seconds", ".2f"), ("cpu", "CPU s", ".2f")]
    columns += [("predict", "predict", ".3f")]
    columns += [("auc", "held-out AUC", ".4f"), ("memory", "MB", ".0f"), ("note", "note", "")]
    print(format_table(rows, columns))
    if arguments.write:
        store_results("boosting", rows, machine.replace("\n", "; "))


if __name__ == "__main__" and not serve(measure):
    main()
