"""Reproduce published tables of methods that rank positives above the top of the negatives.

- "top": Table 2 of Li, Jin & Zhou (2014): the share of the positives above the highest negative
- "rates": Zhang et al. (2018): the largest TPR with FPR at most tau, at two numbers of rows
- "recall": Table 5 of Kumar et al. (2021): mean precision where recall is .95 to 1

The positives of "diabetes" are the 268 patients, those of "healthy" the 500 others.
``results/published_top_push.csv`` stores the values of every split. Stored values are not computed
again, so an interrupted run resumes. See published/README.md for the protocol.

    python benchmarks/studies/published_top_push.py
    python benchmarks/studies/published_top_push.py --only top spambase logistic
    python benchmarks/studies/published_top_push.py --tables
"""

import argparse
import csv
import gzip
import os
import sys
import time
import warnings
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    PUBLISHED,
    RESULTS,
    THREAD_VARIABLES,
    data_directory,
    describe_machine,
    format_table,
    store_results,
)

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from top_of_list.compare import paired_test

from sklearn_rank import AccuracyAtTopRanker, PNormPushRanker, TopPushRanker
from sklearn_rank.exceptions import ZeroSolutionWarning
from sklearn_rank.metrics import positives_at_top_score, tpr_at_fpr_score

NAME = "published_top_push"
RATES = (1e-4, 1e-3, 1e-2, 1e-1)
LEAST_RECALL = 0.95
BASE = "logistic"


class AcceleratedTopPush:
    """Top Push by accelerated gradients of the dual from 0, ended where it nearly stands still.

    The dual of ``1/2 |w|^2 + C/k sum_i (1 + max_j s_j - s_i)_+^2`` is minimised in the form
    ``C/(2k) |X_P'a - X_N'b|^2 - sum a + sum a^2 / 4`` over a, b >= 0 of equal sums;
    ``w = C/k (X_P'a - X_N'b)``. As the program of the paper does, it ends after ten steps or more
    when the objective changes by less than a share ``tol``.

    Parameters
    ----------
    C : float
        Factor of the mean loss.
    tol : float
        Relative change that ends the fit.
    max_iter : int
        Most steps.
    """

    def __init__(self, C, tol=1e-4, max_iter=10_000):
        self.C, self.tol, self.max_iter = C, tol, max_iter

    def fit(self, X, y):
        """Learn ``coef_``."""
        positive = np.flatnonzero(y)
        k, sign = len(positive), np.where(y, 1.0, -1.0)
        rate, curved = self.C / k, np.where(y, 1.0, 0.0)

        def value_and_pull(point):
            pull = X.T @ (sign * point)
            on = curved * point
            return rate / 2 * (pull @ pull) - on.sum() + on @ on / 4, pull

        point, before = np.zeros(len(y)), np.zeros(len(y))
        bound, step, value = 1.0 / k, 1.0, 0.0
        for n_iter in range(1, self.max_iter + 1):
            following = (1 + np.sqrt(1 + 4 * step**2)) / 2
            search = point + (step - 1) / following * (point - before)
            at_search, pull = value_and_pull(search)
            gradient = rate * sign * (X @ pull) + curved * (search / 2 - 1)
            while True:
                candidate = equal_sums(search - gradient / bound, y)
                move = candidate - search
                new_value, new_pull = value_and_pull(candidate)
                if new_value <= at_search + gradient @ move + bound / 2 * (move @ move) + 1e-12:
                    break
                bound *= 2
            point, before, step = candidate, point, following
            change, value = abs(new_value - value), new_value
            self.coef_ = rate * new_pull
            if n_iter >= 10 and change <= self.tol * abs(value):
                break
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return X @ self.coef_


def equal_sums(point, y):
    """Nearest point without negative coordinates whose sums over both classes are equal."""
    up, down = np.sort(point[y]), np.sort(-point[~y])
    left_up = np.append(np.cumsum(up[::-1])[::-1], 0.0)
    left_down = np.append(0.0, np.cumsum(down))
    breaks = np.sort(np.concatenate((up, down)))

    def excess(shift):
        at_up, at_down = np.searchsorted(up, shift), np.searchsorted(down, shift)
        of_up = left_up[at_up] - (len(up) - at_up) * shift
        return of_up - (at_down * shift - left_down[at_down])

    at_breaks = excess(breaks)  # descending
    last = max(np.searchsorted(-at_breaks, 0.0), 1)
    low, high = breaks[last - 1], breaks[min(last, len(breaks) - 1)]
    first, second = excess(low), excess(high)
    shift = low if first == second else low + (high - low) * first / (first - second)
    return np.maximum(np.where(y, point - shift, point + shift), 0.0)


class Reversed:
    """A ranker of the negatives, read backwards: its top is the bottom of the positives.

    Parameters
    ----------
    ranker : object
        To be fitted with the classes exchanged.
    """

    def __init__(self, ranker):
        self.ranker = ranker

    def fit(self, X, y):
        """Fit the ranker to the other class."""
        self.ranker.fit(X, ~y)
        return self

    def decision_function(self, X):
        """Scores of rows; higher is likelier positive."""
        return -self.ranker.decision_function(X)


def precision_at_high_recall(y, score):
    """Mean precision over recall from .95 to 1; all rows of a tied score are taken at once."""
    order = np.argsort(-score, kind="stable")
    hits, ends = np.cumsum(y[order]), np.append(np.diff(score[order]) != 0, True)
    rows = np.flatnonzero(ends) + 1.0
    recall, precision = hits[ends] / hits[-1], hits[ends] / rows
    width = np.diff(np.concatenate(([LEAST_RECALL], np.maximum(recall, LEAST_RECALL))))
    return float(width @ precision / (1 - LEAST_RECALL))


POSITIVES_AT_TOP = {"pos@top": partial(positives_at_top_score, normalize=True)}
AT_RATES = {f"TPR@{rate:g}": partial(tpr_at_fpr_score, max_fpr=rate) for rate in RATES}
HIGH_RECALL = {"precision": precision_at_high_recall}
RATE_OF = dict(zip(AT_RATES, RATES, strict=True))

MAKERS = {
    "mean": TopPushRanker,
    "accelerated": AcceleratedTopPush,
    "p-norm": PNormPushRanker,
    "accuracy at top": partial(AccuracyAtTopRanker, selection="average"),
    "logistic": partial(LogisticRegression, max_iter=1000),
    "SVM": LinearSVC,
    "low mean": lambda **given: Reversed(TopPushRanker(**given)),
}


@dataclass(frozen=True)
class Job:
    """One kind of ranker on one set: what is fitted, and what is chosen.

    Parameters
    ----------
    part, data, family : str
        What it belongs to; ``family`` is a key of ``MAKERS``.
    candidates : list of dict
        Parameters among which inner folds choose.
    n_splits, n_folds : int
        Outer splits and inner folds.
    measures : dict of str to callable
        A choice is made for each.
    n_rows : int or None
        Training rows, or None for all of the split.
    """

    part: str
    data: str
    family: str
    candidates: list = field(compare=False)
    n_splits: int
    n_folds: int
    measures: dict = field(compare=False)
    n_rows: int | None = None

    def words(self):
        """What ``--only`` may say."""
        return {self.part, self.data, self.family}

    def selections(self, measure):
        """Indices of the candidates by name of the method that chooses among them."""
        tops = dict.fromkeys(given.get("tau") for given in self.candidates)
        everything = range(len(self.candidates))
        if len(tops) == 1:
            return {self.family: list(everything)}
        found = {f"{self.family}, top chosen": list(everything)}
        for top in tops:
            if measure not in RATE_OF or top in (1, RATE_OF[measure]):
                name = f"{self.family}, top=" + (
                    "tau" if RATE_OF.get(measure) == top else f"{top:g}"
                )
                found[name] = [i for i in everything if self.candidates[i]["tau"] == top]
        return found


FILES = {
    "diabetes": "pima_diabetes",
    "healthy": "pima_diabetes",
    "w8a": "w8a_train",
    "a9a": "a9a_train",
}


@cache
def loaded(data):
    """Rows and target of a set; w8a and a9a are sparse, the positives of "healthy" the 500."""
    with gzip.open(data_directory() / f"{FILES.get(data, data)}.csv.gz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1)
    X, y = table[:, :-1], (table[:, -1] > 0) ^ (data == "healthy")
    return (sparse.csr_array(X) if data in ("w8a", "a9a") else X), y


def split_of(job, number):
    """Rows of a split: two thirds to train on, of "rates" half, or ``n_rows`` of that half."""
    X, y = loaded(job.data)
    share = 1 / 2 if job.part == "rates" else 2 / 3
    splits = StratifiedShuffleSplit(1, train_size=share, random_state=number)
    train, test = next(splits.split(np.zeros((len(y), 1)), y))
    if job.n_rows is not None:
        fewer = StratifiedShuffleSplit(1, train_size=job.n_rows, random_state=number)
        train = train[next(fewer.split(np.zeros((len(train), 1)), y[train]))[0]]
    Z, Z_test = X[train], X[test]
    if not sparse.issparse(X):
        scaler = (StandardScaler if job.part == "recall" else MinMaxScaler)().fit(Z)
        Z, Z_test = scaler.transform(Z), scaler.transform(Z_test)
    return Z, y[train], Z_test, y[test], (len(train) + len(test)) / len(y)


def fitted(job, given, X, y, X_test):
    """Scores of test rows, all 0 where the solution is w = 0, and what the fit was like."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        start = time.process_time()
        ranker = MAKERS[job.family](**given).fit(X, y)
        seconds = time.process_time() - start
    collapsed = any(issubclass(w.category, ZeroSolutionWarning) for w in raised)
    unfinished = any(issubclass(w.category, ConvergenceWarning) for w in raised)
    score = np.zeros(X_test.shape[0]) if collapsed else ranker.decision_function(X_test)
    return score, (collapsed, unfinished, seconds)


def run_split(job, number):
    """Rows of the table: the value of each method by each measure, its choice, and its fits."""
    X, y, X_test, y_test, share = split_of(job, number)
    folds = StratifiedKFold(job.n_folds, shuffle=True, random_state=number)
    inner = np.zeros((len(job.candidates), len(job.measures)))
    facts = [[] for _ in job.candidates]
    if len(job.candidates) > 1:
        for train, validation in folds.split(np.zeros((len(y), 1)), y):
            for i, given in enumerate(job.candidates):
                score, fact = fitted(job, given, X[train], y[train], X[validation])
                facts[i].append(fact)
                for j, measure in enumerate(job.measures.values()):
                    inner[i, j] += measure(y[validation], score)
    scores = {}
    for j, measure in enumerate(job.measures):
        for method, members in job.selections(measure).items():
            best = members[int(inner[members, j].round(12).argmax())]  # the first of equal ones
            if best not in scores:
                scores[best], fact = fitted(job, job.candidates[best], X, y, X_test)
                facts[best].append(fact)
            collapsed, unfinished, seconds = zip(
                *(fact for i in members for fact in facts[i]), strict=True
            )
            yield {
                "part": job.part,
                "data": job.data,
                "rows": len(y) if job.n_rows else "",
                "family": job.family,
                "method": method,
                "measure": measure,
                "split": number,
                "value": job.measures[measure](y_test, scores[best]),
                "chosen": " ".join(f"{key}={v:g}" for key, v in job.candidates[best].items()),
                "zero": facts[best][-1][0] * 1,
                "fits": len(seconds),
                "zero_fits": sum(collapsed),
                "unfinished_fits": sum(unfinished),
                "seconds_per_fit": float(np.mean(seconds)),
                "slowest_fit": max(seconds),
                "n_train": len(y),
                "n_test": len(y_test),
                "share": float(share),
            }


def grid(tops=None, **lists):
    """Dictionaries of all combinations, the later keys changing the fastest."""
    found = [{}]
    if tops is not None:
        lists = {"tau": tops, **lists}
    for key, values in lists.items():
        found = [{**given, key: value} for given in found for value in values]
    return found


def jobs():
    """Every job, the quick ones first."""
    costs, found = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), []

    def add(part, data, n_splits, n_folds, measures, families, n_rows=None):
        for family, candidates in families.items():
            found.append(Job(part, data, family, candidates, n_splits, n_folds, measures, n_rows))

    def top(data, n_splits, n_folds, tops, of_push, more=None):
        families = {
            "logistic": grid(C=costs),
            "accelerated": grid(C=of_push),
            "p-norm": grid(p=(16,), C=of_push),
            "mean": grid(tops, C=of_push),
        }
        add("top", data, n_splits, n_folds, POSITIVES_AT_TOP, families | (more or {}))

    def recall(data, n_splits, n_folds, of_push):
        families = {
            "logistic": grid(C=(*costs, 1e4)),
            "low mean": grid((0.02, 0.05), C=of_push),
        }
        add("recall", data, n_splits, n_folds, HIGH_RECALL, families)

    def rates(data, n_splits, n_folds, of_push, n_rows=None):
        families = {
            "logistic": grid(C=costs[:-1]),
            "SVM": grid(C=(0.001, 0.01, 0.1, 1.0)),
            "mean": grid((1, *RATES), C=of_push),
        }
        add("rates", data, n_splits, n_folds, AT_RATES, families, n_rows)

    of_push = (0.1, 1.0, 10.0, 100.0)
    at_top = {"accuracy at top": grid(tau=(0.05,), C=(0.001, 0.01, 0.1))}
    for data in ("healthy", "diabetes"):
        top(data, 30, 5, (1, 0.3), of_push, at_top)
    top("spambase", 30, 5, (1, 0.01, 0.1), of_push)
    recall("spambase", 10, 3, (10.0, 100.0, 1000.0, 1e4))
    recall("a9a", 3, 2, (1.0, 10.0, 100.0))
    rates("a9a", 5, 3, of_push, 2500)
    rates("w8a", 5, 3, of_push, 2500)
    top("w8a", 5, 2, (1, 0.001), of_push[:3])
    rates("w8a", 3, 2, (0.3, 3.0, 30.0))
    rates("a9a", 3, 2, of_push[1:])
    return found


def stored():
    """Rows that are there, and what made them."""
    path = RESULTS / f"{NAME}.csv"
    if not path.is_file():
        return [], ""
    with open(path, newline="") as lines:
        rows = list(csv.DictReader(lines))
    made_with = rows[0]["versions"]
    for row in rows:
        del row["versions"]
    return rows, made_with


def key_of(row):
    """What a computed split is found by."""
    return row["part"], row["data"], str(row["rows"]), row["family"], int(row["split"])


def run(only, most_splits):
    """Compute what is asked for and not there."""
    rows, made_with = stored()
    made_with = made_with or describe_machine().replace("\n", "; ")
    there = {key_of(row) for row in rows}
    for job in jobs():
        if not set(only) <= job.words():
            continue
        start = time.process_time()
        try:
            for number in range(min(job.n_splits, most_splits)):
                label = str(job.n_rows or "")
                if (job.part, job.data, label, job.family, number) not in there:
                    rows += run_split(job, number)
                    store_results(NAME, rows, made_with)
        except FileNotFoundError as error:
            print(f"{job.part}, {job.data}: not run, {error.filename} does not exist")
        print(
            f"{job.part:7}{job.data:10}{job.n_rows or '':>6} {job.family:16}"
            f"{time.process_time() - start:8.1f} s",
            flush=True,
        )


COLUMNS = [
    ("part", "part", "s"),
    ("data", "data", "s"),
    ("n_train", "rows", "d"),
    ("measure", "measure", "s"),
    ("method", "method", "s"),
    ("splits", "splits", "d"),
    ("value", "value", ".3f"),
    ("sd", "sd", ".3f"),
    ("difference", "less logistic", "+.3f"),
    ("error", "+-", ".3f"),
    ("p", "p", ".2g"),
    ("zero", "zero", ".0%"),
    ("zero_fits", "zero fits", ".0%"),
    ("unfinished_fits", "unfinished", "d"),
    ("fits", "fits", "d"),
    ("seconds_per_fit", "s / fit", ".3f"),
    ("slowest_fit", "slowest", ".2f"),
    ("published", "published", "s"),
]


def published():
    """Published values in text by part, data, measure and method of ours."""
    names = {
        "Top Push": ("mean, top=1", "accelerated"),
        "tau-FPL": ("mean, top=tau",),
        "logistic regression": ("logistic",),
        "cross-entropy": ("logistic",),
        "AATP": ("accuracy at top",),
        "SVM": ("SVM",),
        "ICO": ("low mean, top chosen",),
    }
    data = {"a8a": ("a9a",), "adult": ("a9a",), "diabetes": ("diabetes", "healthy")}
    found = {}
    for part, file, value in (
        ("top", "li2014_table2", "positives_at_top"),
        ("rates", "zhang2018_tau_fpl", "tpr"),
        ("recall", "kumar2021_table5", "pr_auc"),
    ):
        with open(PUBLISHED / f"{file}.csv", newline="") as lines:
            for row in csv.DictReader(lines):
                measure = {"top": "pos@top", "recall": "precision"}.get(part)
                measure = measure or f"TPR@{float(row['max_fpr']):g}"
                for method in names.get(row["method"], ()):
                    for of in data.get(row["data"], (row["data"],)):
                        found[part, of, measure, method] = f"{row[value]} ({row['method']})"
    return found


def summary():
    """Means over splits, and paired differences from logistic regression."""
    groups = {}
    for row in stored()[0]:
        key = row["part"], row["data"], row["n_train"], row["measure"], row["method"]
        groups.setdefault(key, {})[int(row["split"])] = row
    others, table = published(), []
    for (part, data, n_train, measure, method), splits in sorted(groups.items()):
        rows = list(splits.values())
        numbers = {key: [float(row[key]) for row in rows] for key in NUMBERS}
        fits = sum(numbers["fits"])
        line = {"part": part, "data": data, "n_train": int(n_train), "measure": measure}
        line |= {"method": method, "splits": len(rows), "value": np.mean(numbers["value"])}
        line |= {"sd": np.std(numbers["value"], ddof=1) if len(rows) > 1 else np.nan}
        line |= {"zero": np.mean(numbers["zero"]), "zero_fits": sum(numbers["zero_fits"]) / fits}
        line |= {"unfinished_fits": int(sum(numbers["unfinished_fits"])), "fits": int(fits)}
        line |= {"seconds_per_fit": np.dot(numbers["seconds_per_fit"], numbers["fits"]) / fits}
        line |= {"slowest_fit": max(numbers["slowest_fit"])}
        base = groups.get((part, data, n_train, measure, BASE), {})
        common = sorted(base.keys() & splits.keys())
        if method != BASE and len(common) > 1:
            pairs = [float(splits[s]["value"]) - float(base[s]["value"]) for s in common]
            sizes = [float(rows[0][key]) for key in ("n_train", "n_test", "share")]
            line["difference"], line["error"], line["p"] = paired_test(pairs, *sizes)
        line["published"] = others.get((part, data, measure, method), "")
        table.append(line)
    return table


NUMBERS = (
    *("value", "zero", "fits", "zero_fits", "unfinished_fits"),
    *("seconds_per_fit", "slowest_fit"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="parts, sets or families")
    parser.add_argument(
        "--splits", type=int, default=30, help="largest number of splits of each set"
    )
    parser.add_argument("--data", help="directory of the data sets")
    parser.add_argument("--tables", action="store_true", help="only print stored results")
    options = parser.parse_args()
    if options.data:
        os.environ["SKLEARN_RANK_DATA"] = str(Path(options.data).resolve())
    print(describe_machine())
    if not options.tables:
        run(options.only, options.splits)
    print(format_table(summary(), COLUMNS))


if __name__ == "__main__":
    main()
