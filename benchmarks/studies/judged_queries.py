"""Coverage and width of the limits of means over queries with unjudged documents.

    python benchmarks/studies/judged_queries.py            # print, about half an hour
    python benchmarks/studies/judged_queries.py --write    # also store the results
    python benchmarks/studies/judged_queries.py --only OHSUMED --repetitions 50

Protocol. A population is a set of queries with the scores of a champion and of a challenger; the
truth is the mean over it. 60 queries are drawn with replacement, and of these labels:

- `pool 5 + 3`: the champion's first 5 documents of each query and 3 random others;
- `pool 10 + 10 %`: its first 10, and every other with a probability of 10 %;
- `random 20 %`: each document with a probability of 20 %.

A cell is a population, a design and a measure of the challenger, or a difference to the champion:
coverage of the 95 % limits, their mean width over 3.92 standard deviations of the estimates, and
over that of the limits from all labels. The aim is a coverage of at least .935, which 40 samples
tell to .03 in a cell. The form of the limits was chosen on logistic queries of equal lengths with
normal deviations; the populations here were not looked at before.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from labels_in_part import run
from measuring import RESULTS, data_directory, seeded

from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure

STORED = RESULTS / "judged_queries.csv"
MEASURES = ("ndcg@10", "ap", "precision@5", "recall@10", "auc")
COMPARED = ("ndcg@10", "ap", "precision@5")
DESIGNS = {"pool 5 + 3": (5, 3), "pool 10 + 10 %": (10, 0.1), "random 20 %": (0, 0.2)}
N_QUERIES = 60


def simulated(deviation):
    """Queries of 20 to 150 documents, whose logits deviate by Student's distribution."""
    rng = seeded("judged queries", deviation)
    sizes = rng.integers(20, 150, size=600)
    qid = np.repeat(np.arange(600), sizes)
    signal, other = rng.laplace(size=(2, len(qid)))
    logits = -3.5 + (deviation * rng.standard_t(4, 600))[qid] + signal + 0.6 * other
    y = rng.random(len(qid)) < 1.0 / (1.0 + np.exp(-logits))
    return y, signal + rng.normal(size=len(qid)), signal + 0.4 * other, qid


def read(names, grade):
    X, y, qid = [], [], []
    for i, name in enumerate(names):
        path = str(data_directory() / f"{name}.svm.gz")
        features, grades, ids = load_svmlight_file(path, query_id=True, zero_based=False)
        X.append(features.toarray())
        y.append(grades >= grade)
        qid.append(ids + 1_000_000 * i)
    return (
        np.concatenate(X),
        np.concatenate(y),
        np.unique(np.concatenate(qid), return_inverse=True)[1],
    )


def learned(names, grade, column, n_train):
    """A feature as the champion, and a challenger that was fitted to the first queries."""
    X, y, qid = read(names, grade)
    train = qid < n_train
    scaler = StandardScaler().fit(X[train])
    model = LogisticRegression(C=0.01, max_iter=500).fit(scaler.transform(X[train]), y[train])
    rest = ~train
    challenger = model.decision_function(scaler.transform(X[rest]))
    return y[rest], X[rest, column], challenger, qid[rest] - n_train


OHSUMED = [f"ohsumed_S{i}" for i in range(1, 6)]
POPULATIONS = {
    "alike": lambda: simulated(0.0),
    "unlike": lambda: simulated(0.8),
    "OHSUMED": lambda: learned(OHSUMED, 1, 10, 30),
    "OHSUMED, rare": lambda: learned(OHSUMED, 2, 10, 30),
    "MQ2008": lambda: learned(["mq2008_S1", "mq2008_S4"], 1, 24, 100),
    "MSLR": lambda: learned(["mslr5k_train"], 2, 109, 10),
}


def judged(rng, y, champion, qid, n_top, audit):
    """Labels with NaN where they are not known, and their design."""
    order = np.lexsort((-champion, qid))
    starts = np.flatnonzero(np.r_[True, np.diff(qid[order]) > 0])
    labels, probability = np.full(len(y), np.nan), np.ones(len(y))
    for documents in np.split(order, starts[1:]):
        others = documents[n_top:]
        size = min(audit, len(others)) if audit >= 1 else 0
        drawn = rng.choice(others, size, replace=False)
        if audit < 1:
            drawn, probability[others] = others[rng.random(len(others)) < audit], audit
        elif len(others):
            probability[others] = size / len(others)
        for rows in (documents[:n_top], drawn):
            labels[rows] = y[rows]
    return labels, LabelDesign(probability)


def cells(population, repetitions):
    y, champion, challenger, qid = POPULATIONS[population]()
    rows_of = np.split(np.arange(len(y)), np.flatnonzero(np.diff(qid)) + 1)
    truth, found = {}, {}
    for name in MEASURES:
        scores = (champion, challenger)
        measure = get_measure(name)
        truth[name] = [measure(y.astype(int), score, qid=qid) for score in scores]
    for design, (n_top, audit) in DESIGNS.items():
        rng = seeded("judged queries", population, design)
        for _ in range(repetitions):
            drawn = [rows_of[i] for i in rng.integers(len(rows_of), size=N_QUERIES)]
            rows, ids = (
                np.concatenate(drawn),
                np.repeat(np.arange(N_QUERIES), list(map(len, drawn))),
            )
            a, b = champion[rows], challenger[rows]
            labels, how = judged(rng, y[rows], a, ids, n_top, audit)
            for name in MEASURES:
                found.setdefault((design, name), []).append(
                    [
                        (interval.estimate, interval.low, interval.high)
                        for interval in (
                            metric_interval(name, labels, b, qid=ids, design=how),
                            metric_interval(name, y[rows], b, qid=ids),
                        )
                    ]
                )
            for name in COMPARED:
                found.setdefault((design, f"{name}, difference"), []).append(
                    [
                        (test.differences[0], test.low[0], test.high[0])
                        for test in (
                            compare(name, labels, {"a": b, "b": a}, qid=ids, design=how),
                            compare(name, y[rows], {"a": b, "b": a}, qid=ids),
                        )
                    ]
                )
    for (design, title), values in found.items():
        name, _, of_two = title.partition(",")
        target = truth[name][1] - (truth[name][0] if of_two else 0.0)
        in_part, whole = np.moveaxis(np.array(values), 0, 2)
        estimates, low, high = in_part
        yield {
            "population": population,
            "design": design,
            "measure": title,
            "truth": f"{target:.4f}",
            "cover": f"{np.mean((low <= target) & (target <= high)):.4f}",
            "below": f"{np.mean(target < low):.4f}",
            "above": f"{np.mean(target > high):.4f}",
            "all labels": f"{np.mean((whole[1] <= target) & (target <= whole[2])):.4f}",
            "width": f"{np.mean(high - low) / (3.92 * estimates.std()):.3f}",
            "to all labels": f"{np.mean(high - low) / np.mean(whole[2] - whole[1]):.3f}",
            "repetitions": repetitions,
        }


if __name__ == "__main__":
    run(__doc__, POPULATIONS, cells, STORED, 40)
