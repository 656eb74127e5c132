"""Coverage of resampled intervals of a measure of one's own, and of fold models on some labels.

    python benchmarks/studies/own_measures.py    # two minutes

Protocol. "own": F1 of the first tenth of 600 rows, of which 15 % are positive, a measure without
an influence function; 95 % intervals of metric_interval and compare by 300 resampled lists, in 200
lists; the truth is the mean of 3,000 lists. "folds": cross_val_interval of logistic regression on
1,500 rows, of which the first 150 of a champion and 150 of the others have labels, in 200 samples;
the truth is the mean over the five fold models of the measure on 100,000 rows.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine

from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure, make_measure
from sklearn_rank.model_selection import cross_val_interval

RUNS = 200


def f1_of_top(y_true, y_score):
    k = len(y_true) // 10
    hits = y_true[np.argsort(-y_score, kind="stable")[:k]].sum()
    return 2 * hits / (k + y_true.sum())


def two_rankers(rng):
    y = (rng.random(600) < 0.15).astype(int)
    common = rng.normal(size=600) + 1.5 * y
    return y, common + 0.3 * rng.normal(size=600), common + rng.normal(size=600)


def own():
    rng, covered = np.random.default_rng(0), np.zeros(2)
    lists = [two_rankers(rng) for _ in range(3000)]
    a, b = np.mean([(f1_of_top(y, a), f1_of_top(y, b)) for y, a, b in lists], axis=0)
    measure = make_measure(f1_of_top, name="F1 of the top", per_query=False, range=(0, 1))
    for run in range(RUNS):
        y, *scores = two_rankers(rng)
        options = {"method": "bootstrap"}
        options["random_state"] = run
        more = {"conditional": False, "n_resamples": 300}
        single = metric_interval(measure, y, scores[0], **options, **more)
        both = compare(measure, y, dict(zip("ab", scores, strict=True)), **options)
        covered += [single.low <= a <= single.high, both.low[0] <= a - b <= both.high[0]]
    print("own: interval {:.3f}, difference {:.3f}".format(*covered / RUNS))


def rows(rng, n):
    X = rng.normal(size=(n, 3))
    return X, (rng.random(n) < expit(X[:, 0] + X[:, 1] - 3.0)).astype(float)


def folds(name):
    X_new, y_new = rows(np.random.default_rng(99), 100_000)
    measure, covered = get_measure(name), 0
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        X, y = rows(rng, 1500)
        champion = X[:, 0] + 0.5 * rng.normal(size=1500)
        order = np.argsort(-champion)
        known = np.zeros(1500, dtype=bool)
        known[order[:150]] = known[rng.choice(order[150:], 150, replace=False)] = True
        labels = np.where(known, y, np.nan)
        design = LabelDesign(review_top=150, audit=150, scores=champion)
        weight = design.sample_weight(labels)
        # Folds with known and unknown labels of either class.
        strata = np.where(known, y, -1)
        parts = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, strata))
        options = {"design": design, "params": {"sample_weight": weight}, "cv": parts}
        interval = cross_val_interval(LogisticRegression(), X, labels, measure=name, **options)
        values = []
        for train, _ in parts:
            fitted = train[known[train]]
            model = LogisticRegression().fit(X[fitted], y[fitted], weight[fitted])
            values.append(measure(y_new, model.decision_function(X_new)))
        covered += interval.low <= np.mean(values) <= interval.high
    print(f"folds: {name} {covered / RUNS:.3f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(describe_machine())
    own()
    for name in ("auc", "ap", "precision@top0.1"):
        folds(name)
