"""Coverage and width of means of graded measures by a judge's grades and a few human ones.

    python benchmarks/studies/graded_in_part.py                  # print, about three hours
    python benchmarks/studies/graded_in_part.py --write          # also store the results
    python benchmarks/studies/graded_in_part.py --only 0 5       # some of the designs, by number
    python benchmarks/studies/graded_in_part.py --judges 0.9     # some of the judges

Protocol, written before the first run. A population is 4,000 queries of 50 or 30 documents with
grades 0 to 3. The signal of a document has a Laplace distribution, the deviation of its query
Student's with 4 degrees of freedom times .6; the grade is how many of 1.2, 2.2 and 3.4 the sum of
both and of normal noise of .7 exceeds. System a knows the signal up to normal noise of 1, system b
up to 1.4. A judge knows the sum of all up to noise that is Student's with 3 degrees of freedom,
and gives grades in the frequencies of the true ones; the size of the noise makes the AUC of these
for grades above 0 be .7, .8 or .9. Another judge, of AUC .8, adds to that .6 times the error of
system a: it favours a.

60 or 300 queries are drawn with replacement, and 10, 20 or 30 documents of each at random get
human labels, the same for all judges: `LabelDesign(strata="qid", proxy=judge)`. The targets are
NDCG@10 and DCG@10 of system a, and the difference of a and b, over the population with all labels;
limits are those of `metric_interval` and `compare`, of values that are computed once for both.
"none" are human labels alone, the same code without `proxy`; "all" are all labels.

A cell is a measure, a design, a judge and one of the two targets: how often limits of 95 % cover,
how often the target is below and above them, their mean width over that of human labels alone, and
over 3.92 standard deviations of the estimates. 400 samples tell a coverage of .95 to .011. Aims:
cover at least .93 in each cell, either side missed in at most .035; width at most .8 of human
labels alone at AUC .9, and never more than 1.05. With 20 of 30 or 30 of 50 labels, "all" says how
little there is to gain.

The form of the limits was chosen on normal signals, logistic noise and normal deviations of
queries with other thresholds, 60 queries of 50 and 30 documents. These populations were not looked
at before.
"""

import argparse
import sys
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank._labels_in_part._judged_queries import JudgedQueries
from sklearn_rank.inference import LabelDesign
from sklearn_rank.inference._compare import joint_comparison
from sklearn_rank.inference._queries import joint_means, query_values_of, sample_interval
from sklearn_rank.inference._results import Question
from sklearn_rank.metrics import get_measure

# Measure, queries, documents and human labels of each.
DESIGNS = [
    (name, n_queries, n, m)
    for n_queries in (60, 300)
    for n, m in ((50, 10), (30, 10), (50, 20), (50, 30), (30, 20))
    for name in ("ndcg@10", "dcg@10")
]
N_QUERIES = 4000
JUDGES = {"0.7": 0.0, "0.8": 0.0, "0.9": 0.0, "0.8, favours a": 0.6}


@cache
def population(n):
    """Grades, scores of two systems and the grades of the judges, query by query."""
    rng = seeded("graded in part", n)
    shape = N_QUERIES, n
    signal, query = rng.laplace(size=shape), 0.6 * rng.standard_t(4, (N_QUERIES, 1))
    latent = signal + query + 0.7 * rng.normal(size=shape)
    y = sum((latent > cut).astype(float) for cut in (1.2, 2.2, 3.4))
    a, b = (signal + size * rng.normal(size=shape) for size in (1.0, 1.4))
    noise, judges = rng.standard_t(3, shape), {}
    shares = [np.mean(y < grade) for grade in (1, 2, 3)]
    for name, favour in JUDGES.items():
        target, low, high = float(name[:3]), 0.0, 20.0
        for _ in range(20):
            size = (low + high) / 2.0
            seen = latent + favour * (a - signal) + size * noise
            grades = sum((seen > cut).astype(float) for cut in np.quantile(seen, shares))
            better = roc_auc_score((y > 0).ravel(), grades.ravel()) > target
            low, high = (size, high) if better else (low, size)
        judges[name] = grades
    return y, a, b, judges


def intervals(measure, labels, scores, qid, design):
    """Estimates and limits of the value of the first system, and of the difference."""
    if design is None:
        samples = query_values_of(measure, labels, scores, qid=qid)
    else:
        samples = JudgedQueries.of(measure, labels, scores, qid=qid, design=design).values()
    question = Question.of(measure, tuple(scores), None, None, None, 0.95)
    of_both = joint_means(list(samples.values()))
    found = sample_interval(samples["a"], 0.95), joint_comparison(of_both, question, None, "")
    return [(x.estimate, x.low, x.high) for x in (found[0], found[1].interval)]


def cells(designs, judges_asked, repetitions):
    for name, n_queries, n, n_labels in designs:
        y, a, b, judges = population(n)
        judges = {judge: judges[judge] for judge in judges_asked}
        of_all, measure = np.repeat(np.arange(N_QUERIES), n), get_measure(name)
        values = [measure(y.ravel(), s.ravel(), qid=of_all) for s in (a, b)]
        truth = np.array([values[0], values[0] - values[1]])
        rng, qid = seeded("graded in part", name, n_queries, n, n_labels), of_all[: n_queries * n]
        found = {judge: [] for judge in ("none", *judges, "all")}
        for _ in range(repetitions):
            drawn = rng.integers(N_QUERIES, size=n_queries)
            scores = {"a": a[drawn].ravel(), "b": b[drawn].ravel()}
            labelled = rng.random((n_queries, n)).argsort(axis=1) < n_labels
            in_part = np.where(labelled, y[drawn], np.nan).ravel()
            for judge, of_judge in found.items():
                proxy = judges[judge][drawn].ravel() if judge in judges else None
                design = LabelDesign(strata="qid", proxy=proxy) if judge != "all" else None
                labels = y[drawn].ravel() if design is None else in_part
                of_judge.append(intervals(measure, labels, scores, qid, design))
        alone = np.array(found["none"])
        for judge, of_judge in found.items():
            for i, target in enumerate(("value", "difference")):
                estimates, low, high = np.array(of_judge)[:, i].T
                width = np.mean(high - low)
                yield {
                    "measure": name,
                    "queries": n_queries,
                    "documents": n,
                    "labels": n_labels,
                    "judge": judge,
                    "target": target,
                    "truth": f"{truth[i]:.4f}",
                    "bias": f"{estimates.mean() - truth[i]:.4f}",
                    "cover": f"{np.mean((low <= truth[i]) & (truth[i] <= high)):.4f}",
                    "below": f"{np.mean(truth[i] < low):.4f}",
                    "above": f"{np.mean(truth[i] > high):.4f}",
                    "width": f"{width:.4f}",
                    "to alone": f"{width / np.mean(alone[:, i, 2] - alone[:, i, 1]):.3f}",
                    "to spread": f"{width / (3.92 * estimates.std()):.3f}",
                    "repetitions": repetitions,
                }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--only", nargs="+", type=int, default=list(range(len(DESIGNS))))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--judges", nargs="+", default=list(JUDGES))
    arguments = parser.parse_args()
    print(describe_machine())
    keys = ("measure", "queries", "documents", "labels", "judge", "target")
    asked = cells([DESIGNS[i] for i in arguments.only], arguments.judges, arguments.repetitions)
    run_cells(asked, "graded_in_part", keys, arguments.write)
