"""Coverage and width of the limits of lists that are labelled in part.

    python benchmarks/studies/labels_in_part.py            # print, an hour
    python benchmarks/studies/labels_in_part.py --write    # also store the results
    python benchmarks/studies/labels_in_part.py --only tails --repetitions 50

Protocol. A population is one list: labels, and scores of a champion and of a challenger. Labels
are drawn again and again; the truth is the value that the list has with all of them. Designs:

- `top 50`, `top 200`, `top 1000`: the champion's first 5 % and so many random others;
- `strata`: 200 labels, equally many in six bands of the champion's ranks (2, 5, 12, 30, 60 %);
- `weighted`: about 200 independent labels, with a probability of 20 % of the mean and the rest as
  one over the rank.

Measures are those of the challenger, and differences to the champion; k is 2 % of the list, at
least 10. A cell is a population, a design and a measure: coverage of the 95 % limits, how often
the truth is below and above them, and their mean width over the distance of the 2.5 % and 97.5 %
quantiles of the estimates. The aim is a coverage of at least .935, and from 20 positives in the
sample on a width of at most 1.15.

The form of the limits was chosen on other populations: normal scores with 20 and 300 of 3,000,
100 of AUC .95, 40 of 4,000 rounded, positives that the champion does not see, and on Pima, Boston,
annthyroid and Spambase with logistic regression and gradient boosting. The populations here were
not looked at before a first run, in which 96 % of the cells reached .935. It showed two faults:
ends that nothing excludes were missed by 1e-6 (NDCG), and the start did not know the probability
of a label of each row (AP and recall in `strata` and `weighted`). A run of 100 samples then showed
NDCG at .58 where a top holds almost no positive. These were mended before the run that is stored,
of 1,000 samples; nothing else was changed.
"""

import argparse
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    RESULTS,
    data_directory,
    describe_machine,
    format_table,
    seeded,
    stored_results,
    write_table,
)

from sklearn_rank._labels_in_part._score_path import score_path_of
from sklearn_rank.metrics import get_measure
from sklearn_rank.metrics._shared import PartialLabels

STORED = RESULTS / "labels_in_part.csv"
MEASURES = ("auc", "ap", "precision@{k}", "precision@top0.02", "recall@{k}", "ndcg@{k}")
COMPARED = ("auc", "ap", "precision@{k}")
DESIGNS = ("top 50", "top 200", "top 1000", "strata", "weighted")
BANDS = (0.0, 0.02, 0.05, 0.12, 0.3, 0.6, 1.0)


def simulated(tails, n, n_pos, shift):
    rng = seeded("labels in part", tails)
    y = np.arange(n) < n_pos
    draw = {
        "tails": lambda: rng.standard_t(3, n),
        "lognormal": lambda: rng.lognormal(size=n),
        "Laplace": lambda: rng.laplace(size=n),
        "normal": lambda: rng.normal(size=n),
    }[tails.partition(",")[0]]
    common = shift * y + draw()
    champion, challenger = common + draw(), common + 0.5 * draw()
    if "grades" in tails:
        champion, challenger = (np.clip(np.round(s), -2, 4) for s in (champion, challenger))
    return y.astype(int), champion, challenger


def table(name):
    frame = pd.read_csv(data_directory() / f"{name}.csv.gz").drop_duplicates()
    X, y = frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy(int)
    order = seeded("labels in part", name).permutation(len(y))
    return X[order], y[order]


def learned(name, n_train, n):
    """A naive Bayes champion and a challenger that is a tree, whose scores are tied."""
    X, y = table(name)
    train, rows = slice(n_train), slice(n_train, n_train + n)
    champion = GaussianNB(var_smoothing=1e-3).fit(X[train], y[train])
    challenger = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    challenger.fit(X[train], y[train])
    scores = (model.predict_proba(X[rows])[:, 1] for model in (champion, challenger))
    return (y[rows], *scores)


def markers(name, columns):
    """Two features, each by itself a score."""
    X, y = table(name)
    return (y, *(sign * X[:, column] for column, sign in columns))


def judged(name, columns):
    X, grade = load_svmlight_file(str(data_directory() / f"{name}.svm.gz"), zero_based=False)
    X = X.toarray()
    return (np.asarray(grade > 1).astype(int), *(X[:, column] for column in columns))


POPULATIONS = {
    "tails": lambda: simulated("tails", 3000, 150, 2.0),
    "lognormal": lambda: simulated("lognormal", 3000, 60, 3.0),
    "Laplace": lambda: simulated("Laplace", 5000, 25, 3.0),
    "normal": lambda: simulated("normal", 4000, 400, 1.0),
    "normal, grades": lambda: simulated("normal, grades", 3000, 200, 2.0),
    "tails, grades": lambda: simulated("tails, grades", 2000, 30, 2.5),
    "Adult": lambda: learned("a9a_train", 1000, 4000),
    "w8a": lambda: learned("w8a_train", 4000, 4000),
    "Ionosphere": lambda: learned("ionosphere", 100, 251),
    "thyroid markers": lambda: markers("annthyroid", ((1, 1), (5, -1))),
    "Spambase words": lambda: markers("spambase", ((6, 1), (52, 1))),
    "MQ2008 features": lambda: judged("mq2008_S1", (39, 24)),
}


def drawn(rng, design, champion):
    """Which rows have labels, and the probabilities."""
    n = len(champion)
    order = np.argsort(-champion, kind="stable")
    known, probability = np.zeros(n, dtype=bool), np.ones(n)
    if design == "weighted":
        size = np.empty(n)
        size[order] = 1.0 / (np.arange(n) + 0.02 * n)
        probability = np.minimum(40.0 / n + 160.0 * size / size.sum(), 1.0)
        return rng.random(n) < probability, probability
    if design == "strata":
        ends = (np.array(BANDS) * n).astype(int)
        bands, sizes = np.split(order, ends[1:-1]), [200 // 6] * 6
    else:
        n_top = int(0.05 * n)
        bands, sizes = (order[:n_top], order[n_top:]), (n_top, int(design.split()[1]))
    for band, size in zip(bands, sizes, strict=True):
        rows = rng.choice(band, min(size, len(band)), replace=False)
        known[rows], probability[band] = True, len(rows) / len(band)
    return known, probability


def cells(population, repetitions):
    y, champion, challenger = POPULATIONS[population]()
    k = max(int(0.02 * len(y)), 10)
    questions = {}
    for name, scores, contrast in (
        *((name, (challenger,), (1.0,)) for name in MEASURES),
        *((name, (challenger, champion), (1.0, -1.0)) for name in COMPARED),
    ):
        measure = get_measure(name.format(k=k))
        evidences = [measure.evidence(measure.lists(y, score)) for score in scores]
        truth = sum(c * e.value for c, e in zip(contrast, evidences, strict=True))
        title = name.partition("{")[0].strip("@") + (", difference" if len(scores) == 2 else "")
        questions[title] = (evidences, contrast, truth)
    for design in DESIGNS:
        if design == "top 1000" and len(y) < 2000:
            continue
        rng = seeded("labels in part", population, design)
        n_pos, found = [], {title: [] for title in questions}
        for _ in range(repetitions):
            known, probability = drawn(rng, design, champion)
            partial = PartialLabels(known, probability)
            n_pos.append(y[known & (probability < 1.0)].sum())
            for title, (evidences, contrast, _) in questions.items():
                in_part = [replace(evidence, partial=partial) for evidence in evidences]
                path = score_path_of(in_part, contrast)
                found[title].append((path.estimate.value, *path.limits(0.95)))
        for title, (_, _, truth) in questions.items():
            estimates, low, high = np.array(found[title]).T
            spread = np.subtract(*np.quantile(estimates, [0.975, 0.025], method="normal_unbiased"))
            yield {
                "population": population,
                "design": design,
                "measure": title,
                "positives": f"{np.mean(n_pos):.1f}",
                "truth": f"{truth:.4f}",
                "cover": f"{np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high)):.4f}",
                "below": f"{np.mean(truth < low - 1e-9):.4f}",
                "above": f"{np.mean(truth > high + 1e-9):.4f}",
                "length": f"{np.mean(high - low):.4f}",
                "width": f"{np.mean(high - low) / spread:.3f}" if spread > 1e-9 else "",
                "repetitions": repetitions,
            }


def run(description, populations, cells, stored, repetitions):
    """Print the cells of the populations that the command line names, and store them if asked."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--only", nargs="+", choices=populations, default=list(populations))
    parser.add_argument("--write", action="store_true", help=f"store results/{stored.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe_machine())
    rows = []
    with threadpool_limits(1):
        for population in arguments.only:
            start = time.perf_counter()
            rows += cells(population, arguments.repetitions)
            print(f"{population}: {time.perf_counter() - start:.0f} s", flush=True)
    print(format_table(rows, [(key, key, "") for key in rows[0]]))
    covers = np.array([float(row["cover"]) for row in rows])
    print(f"{np.mean(covers >= 0.935):.1%} of {len(covers)} cells cover in .935 or more")
    if arguments.write:
        stored_rows = stored_results(stored.stem)
        others = [x for x in stored_rows if next(iter(x.values())) not in arguments.only]
        write_table(stored, others + rows, ())


if __name__ == "__main__":
    run(__doc__, POPULATIONS, cells, STORED, 1000)
