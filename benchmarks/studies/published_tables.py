"""Reproduce Tables 1 and 2 of Boyd, Cortes, Mohri & Radovanovic (2012).

    python benchmarks/studies/published_tables.py [--data DIRECTORY] [--parts table1 table2 ...]
    python benchmarks/studies/published_tables.py --methods "infinite push" --write
    python benchmarks/studies/published_tables.py --parts paired --write

See published/README.md for the protocol. Each of --jobs processes has one thread. Results are
printed. --write stores means in results/published_tables.csv and the precision of every fold in
results/published_tables_folds.csv, as soon as a method has finished a set, and keeps other rows
unchanged. Stored results of as many partitions are neither computed again nor replaced, except
with --again. The part "paired" compares methods over the stored folds.
"""

import argparse
import csv
import gzip
import os
import sys
import warnings
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    PUBLISHED,
    RESULTS,
    data_directory,
    describe_machine,
    format_table,
    store_results,
)
from top_of_list.compare import paired_test

from sklearn_rank import AccuracyAtTopRanker, TopPushRanker
from sklearn_rank._order import top_mass
from sklearn_rank._solvers import (
    PivotProblem,
    factorise_kernel,
    select_solution,
    solve_candidates,
)
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.exceptions import SmallTopWarning, ZeroSolutionWarning
from sklearn_rank.inference._limits import holm_adjust
from sklearn_rank.metrics import (
    average_precision_score,
    dcg_score,
    ndcg_score,
    positives_at_top_score,
    precision_at_top_score,
)

COSTS = 10.0 ** np.arange(-4, 1.5, 0.5)
MEASURES = ("precision", "ap", "dcg", "ndcg", "positives_at_top")
ZERO = len(MEASURES)  # where a table of measures says whether the solution is 0

# Rankers with means as losses have a scale of costs of their own; as many as the others.
MEAN_COSTS = 10.0 ** np.linspace(-2, 2, len(COSTS))
RANKERS = {
    "infinite push": lambda tau: TopPushRanker(tau=1, loss="hinge"),
    "top push": lambda tau: TopPushRanker(tau=1),
    "push, 30 %": lambda tau: TopPushRanker(tau=0.3),
}
PUBLISHED_AS = {
    "infinite push": "InfinitePush",
    "top push": "InfinitePush",
    "push, 30 %": "InfinitePush",
}
METHODS = ["linear", "linear, pairs", "linear, average", "rbf", "logistic", *RANKERS]


def costs_of(method):
    """The costs among which a method chooses."""
    return MEAN_COSTS if method in RANKERS else COSTS


def fit_rankers(X, y, X_test, method, costs, taus):
    """Scores of the test rows and whether the solution is 0, by cost and tau."""
    found = [[None] * len(taus) for _ in costs]
    for j, tau in enumerate(taus):
        ranker = RANKERS[method](tau)
        if j and repr(ranker) == repr(RANKERS[method](taus[0])):
            for row in found:
                row[j] = row[0]
            continue
        for i, C in enumerate(costs):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("error", ConvergenceWarning)
                warnings.simplefilter("always", ZeroSolutionWarning)
                scores = ranker.set_params(C=C).fit(X, y).decision_function(X_test)
            zero = any(issubclass(warning.category, ZeroSolutionWarning) for warning in caught)
            found[i][j] = (np.zeros(len(X_test)) if zero else scores, zero)
    return found


def fit_path(X, y, X_test, method, taus):
    """Scores of the test rows and whether the solution is 0, by cost and tau."""
    costs = costs_of(method)
    if method in RANKERS:
        return fit_rankers(X, y, X_test, method, costs, taus)
    return [[(score, False) for score in fit_all(X, y, X_test, method, C, taus)] for C in costs]


def fit_all(X, y, X_test, kernel, C, taus):
    """Scores of the test rows for each tau; the convex problems do not depend on it.

    All but "linear, average" select by the paper's rule; "linear, pairs" is its general setting,
    with costs and quantile over all pairs of a positive and a negative row, and C / 100.
    """
    if kernel == "logistic":
        model = LogisticRegression(C=C, class_weight="balanced", max_iter=2000).fit(X, y)
        return [model.decision_function(X_test)] * len(taus)
    points, expand = X, None
    if kernel == "rbf":
        gamma = 1 / X.shape[1]
        K = rbf_kernel(X, gamma=gamma)
        factor = factorise_kernel(lambda i: K[:, i], np.diag(K))
        points = factor.rows

        def expand(coef):
            return rbf_kernel(X_test, X[factor.support], gamma=gamma) @ factor.expansion(coef)

    n, other = len(y), np.where(y == 1, len(y) - y.sum(), y.sum())
    pairs = kernel.endswith("pairs")
    cost, mass = (C / 100 * other, other) if pairs else (C * n / (2 * (n - other)), np.ones(n))
    problem = PivotProblem.from_rows(points, np.where(y == 1, 1.0, -1.0), cost, mass)
    tops = [(problem.mass, top_mass(problem.mass, tau)[0]) for tau in taus]
    solutions = solve_candidates(problem, tops)
    selection = "average" if kernel.endswith("average") else "closest"
    coefs = [select_solution(solutions, selection, top=k).coef for k in range(len(taus))]
    return [X_test @ coef if expand is None else expand(coef) for coef in coefs]


def check_against_the_estimator():
    """The shortcut above is the estimator."""
    X, y = load_ionosphere(return_X_y=True)
    kinds = {
        "linear": {"C": 0.1},
        "rbf": {"C": 0.1, "kernel": "rbf"},
        "linear, pairs": {"C": 0.001, "class_weight": "pairs", "quantile": "pairs"},
        "linear, average": {"C": 0.1, "selection": "average"},
    }
    for kernel, parameters in kinds.items():
        ranker = AccuracyAtTopRanker(**{"tau": 0.1, "selection": "closest", **parameters})
        expected = ranker.fit(X[:100], y[:100]).decision_function(X[100:])
        (found,) = fit_all(X[:100], y[:100], X[100:], kernel, 0.1, [0.1])
        difference = np.ptp(found - expected)
        if not difference < 1e-4:
            raise SystemExit(
                f"kernel={kernel}: scores differ from those of the estimator by {difference}"
            )


def measure(y, score, tau):
    first = max(1, int(tau * len(y) + 0.5))
    return [
        precision_at_top_score(y, score, tau=tau),
        average_precision_score(y, score),
        dcg_score(y, score),
        ndcg_score(y, score, k=first),
        positives_at_top_score(y, score),
    ]


def one_fold(X, y, train, test, kernel, standardise, taus, nested):
    """Measures of every C and tau, of shape (C, tau, measure), or (tau, measure) if nested."""
    # Folds of Housing in file order may hold no positive row at all, and count 0.
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    warnings.simplefilter("ignore", SmallTopWarning)
    Z, Z_test = X[train], X[test]
    if standardise:
        scaler = StandardScaler().fit(Z)
        Z, Z_test = scaler.transform(Z), scaler.transform(Z_test)
    table = np.array(
        [
            [
                [*measure(y[test], score, tau), zero]
                for tau, (score, zero) in zip(taus, of_taus, strict=True)
            ]
            for of_taus in fit_path(Z, y[train], Z_test, kernel, taus)
        ]
    )
    if not nested:
        return table
    inner = np.zeros(table.shape[:2])
    for fit, validation in StratifiedKFold(3, shuffle=True, random_state=0).split(Z, y[train]):
        path = fit_path(Z[fit], y[train][fit], Z[validation], kernel, taus)
        for i, of_taus in enumerate(path):
            for j, (tau, (score, _)) in enumerate(zip(taus, of_taus, strict=True)):
                inner[i, j] += precision_at_top_score(y[train][validation], score, tau=tau)
    return table[inner.argmax(axis=0), np.arange(len(taus))]


def ten_sets(order, n_train):
    """Ten sets of an order; n_train consecutive ones train, around the end."""
    sets = np.array_split(order, 10)
    for first in range(10):
        chosen = {(first + i) % 10 for i in range(n_train)}
        yield (
            np.concatenate([sets[i] for i in range(10) if i in chosen]),
            np.concatenate([sets[i] for i in range(10) if i not in chosen]),
        )


def run(name, X, y, partitions, taus, kernel, standardise, nested, jobs, published):
    """Rows of a table, means over the folds of every partition, and the precision of folds."""
    tables = []
    for folds in partitions:
        results = Parallel(n_jobs=jobs)(
            delayed(one_fold)(X, y, train, test, kernel, standardise, taus, nested)
            for train, test in folds
        )
        tables.append(np.array(results))
    rows, of_all_folds = [], []
    for j, tau in enumerate(taus):
        if nested:
            of_folds = [table[:, j] for table in tables]
        else:
            of_folds = [table[:, table[:, :, j, 0].mean(axis=0).argmax(), j] for table in tables]
        means = np.array([folds.mean(axis=0) for folds in of_folds])
        deviation = np.mean([folds.std(axis=0, ddof=1) for folds in of_folds], axis=0)
        head = key_of(name, kernel, standardise, nested) | {"tau_percent": 100 * tau}
        row = dict(head)
        for i, key in enumerate(MEASURES):
            row[key], row[f"{key}_sd"] = means[:, i].mean(), deviation[i]
        # Over partitions where there are several; folds of one partition share training rows.
        count = len(means)
        row["half_width"] = (
            1.96 * means[:, 0].std(ddof=1) / np.sqrt(count) if count > 1 else float("nan")
        )
        of_paper = published.get(PUBLISHED_AS.get(kernel, "AATP"), {})
        row["paper"] = of_paper.get(round(100 * tau, 4), float("nan"))
        row["reached"] = "yes" if row["precision"] >= row["paper"] - 0.005 else "no"
        if np.isnan(row["paper"]):
            row["reached"] = ""
        row["zero"], row["partitions"] = means[:, ZERO].mean(), count
        rows.append(row)
        for number, (folds, values) in enumerate(zip(partitions, of_folds, strict=True)):
            train, test = folds[0]
            more = {"partition": number, "test_to_train": len(test) / len(train)}
            more["precision"] = " ".join(f"{value:.5g}" for value in values[:, 0])
            of_all_folds.append(head | more | {"zero": values[:, ZERO].mean()})
    print(format_table(rows, COLUMNS), flush=True)
    return rows, of_all_folds


KEYS = ("data", "kernel", "features", "C")
MEANS, FOLDS = "published_tables", "published_tables_folds"


def key_of(name, kernel, standardise, nested):
    values = (name, kernel, "scaled" if standardise else "raw", "nested" if nested else "by mean")
    return dict(zip(KEYS, values, strict=True))


def stored(name):
    """Stored rows by the set, method, features and choice of C that they are of."""
    found = defaultdict(list)
    if (RESULTS / f"{name}.csv").is_file():
        with open(RESULTS / f"{name}.csv", newline="") as lines:
            for row in csv.DictReader(lines):
                row.pop("versions", None)
                found[tuple(row[key] for key in KEYS)].append(row)
    return found


def store(name, rows, made_with=""):
    """Put rows in the place of those of the same key."""
    found = stored(name)
    found[tuple(rows[0][key] for key in KEYS)] = rows
    store_results(name, [row for of_key in found.values() for row in of_key], made_with)


def paired():
    """Differences of precision between methods, over the stored folds.

    ``se_partitions`` is the standard error of the mean over random partitions of these rows: the
    luck of dividing them. ``se`` is that of a mean over splits which overlap, after Nadeau and
    Bengio: what another sample of rows would change.
    """
    values, ratios = defaultdict(dict), {}
    for (data, method, features, choice), rows in stored(FOLDS).items():
        for row in rows:
            of_folds = [float(value) for value in row["precision"].split()]
            table, tau = (data, choice), float(row["tau_percent"])
            ratios[table] = float(row["test_to_train"])
            of_tau = values[table].setdefault(tau, {})
            of_tau.setdefault((method, features), []).append(of_folds)
    compared = []
    for (data, choice), of_taus in values.items():
        ratio = ratios[data, choice]
        for base in BASES:
            rows = []
            for tau, of_methods in of_taus.items():
                for (method, features), folds in of_methods.items():
                    other = of_methods.get(base)
                    if (method, features) == base or other is None or len(other) != len(folds):
                        continue
                    difference = np.array(folds) - np.array(other)
                    mean, error, p = paired_test(difference.ravel(), 1.0, ratio, 1.0)
                    row = {"data": data, "C": choice, "tau_percent": tau, "base": base[0]}
                    row |= {"kernel": method, "features": features, "difference": mean}
                    row["se_partitions"] = (
                        difference.mean(axis=1).std(ddof=1) / np.sqrt(len(difference))
                        if len(difference) > 1
                        else float("nan")
                    )
                    rows.append(row | {"se": error, "p": p})
            for row, p_holm in zip(rows, holm_adjust([r["p"] for r in rows]), strict=True):
                row["p_holm"] = p_holm
            compared += rows
    return compared


BASES = (("linear", "scaled"), ("logistic", "scaled"))
PAIRED_COLUMNS = [
    ("data", "data", "s"),
    ("C", "C", "s"),
    ("base", "base", "s"),
    ("kernel", "kernel", "s"),
    ("features", "features", "s"),
    ("tau_percent", "tau %", "g"),
    ("difference", "difference", "+.3f"),
    ("se_partitions", "se part.", ".3f"),
    ("se", "se", ".3f"),
    ("p", "p", ".3f"),
    ("p_holm", "Holm", ".3f"),
]


COLUMNS = [
    ("data", "data", "s"),
    ("kernel", "kernel", "s"),
    ("features", "features", "s"),
    ("C", "C", "s"),
    ("tau_percent", "tau %", "g"),
    ("precision", "P@tau", ".3f"),
    ("half_width", "+-", ".3f"),
    ("precision_sd", "sd folds", ".2f"),
    ("paper", "paper", ".2f"),
    ("reached", "reached", "s"),
    ("ap", "AP", ".2f"),
    ("dcg", "DCG", ".2f"),
    ("ndcg", "NDCG", ".2f"),
    ("positives_at_top", "pos@top", ".1f"),
    ("zero", "w = 0", ".2f"),
]


def load(directory, name):
    with gzip.open(Path(directory, f"{name}.csv.gz"), "rt") as lines:
        table = np.genfromtxt(lines, delimiter=",", skip_header=1)
    return table[:, :-1], table[:, -1]


def published(name):
    found = defaultdict(dict)
    with open(PUBLISHED / name) as lines:
        for row in csv.DictReader(lines):
            found[row["method"]][float(row["tau_percent"])] = float(row["precision"])
    return found


def thinned(X, y, rng):
    """500 rows to train on and 1,000 to test on, 1 % of each positive."""
    positive, negative = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    train = np.concatenate((positive[:5], negative[:495]))
    test = np.concatenate((positive[5:15], negative[495:1485]))
    return rng.permutation(train), rng.permutation(test)


def table1(options):
    X, y = load_ionosphere(return_X_y=True)
    n, taus, paper = len(y), (0.19, 0.14, 0.095, 0.05, 0.01), published("boyd2012_table1.csv")
    file_order = [list(ten_sets(np.arange(n), 3))]
    random = [
        list(ten_sets(np.random.default_rng(seed).permutation(n), 3))
        for seed in range(options.partitions)
    ]
    for kernel, standardise, nested in (
        ("linear", True, False),
        ("linear, pairs", True, False),
        ("linear, average", True, False),
        ("linear", False, False),
        ("rbf", True, False),
        ("rbf", False, False),
        ("logistic", True, False),
        *((method, True, False) for method in RANKERS),
        ("infinite push", False, False),
        ("linear", True, True),
        ("linear, pairs", True, True),
        ("linear, average", True, True),
        ("rbf", True, True),
        ("logistic", True, True),
        *((method, True, True) for method in RANKERS),
    ):
        for order, partitions in (("file order", file_order), ("random", random)):
            name = f"Ionosphere, {order}"
            yield name, X, y, partitions, taus, kernel, standardise, nested, options.jobs, paper


def table2(options):
    X, y = load(options.data, "boston_chas")
    taus, paper = (0.06, 0.05, 0.04, 0.03, 0.02, 0.01), published("boyd2012_table2.csv")
    file_order = [list(ten_sets(np.arange(len(y)), 7))]
    splits = StratifiedShuffleSplit(10, train_size=2 / 3, random_state=0)
    random = [list(splits.split(X, y))]
    for kernel, standardise, nested in (
        ("linear", True, False),
        ("rbf", True, False),
        ("logistic", True, False),
        *((method, True, False) for method in RANKERS),
        ("rbf", True, True),
    ):
        for order, partitions in (("file order", file_order), ("random", random)):
            name = f"Housing, {order}"
            yield name, X, y, partitions, taus, kernel, standardise, nested, options.jobs, paper


def spambase(options):
    X, y = distinct(*load(options.data, "spambase"))
    taus = (0.19, 0.14, 0.095, 0.05, 0.01)
    partitions = [list(ten_sets(np.random.default_rng(0).permutation(len(y)), 3))]
    for kernel in ("linear", "logistic"):
        yield "spambase", X, y, partitions, taus, kernel, True, False, options.jobs, {}


def distinct(X, y):
    rows = np.unique(np.column_stack((X, y)), axis=0)
    return rows[:, :-1], rows[:, -1]


def w8a(options):
    X, y = distinct(*load(options.data, "w8a_train"))
    rng = np.random.default_rng(0)
    partitions = [[thinned(X, y, rng) for _ in range(5)]]
    for kernel in ("linear", "logistic"):
        yield "w8a, 1 %", X, y, partitions, (0.01,), kernel, False, False, options.jobs, {}


PARTS = {"table1": table1, "table2": table2, "spambase": spambase, "w8a": w8a}


def wanted(options):
    """What is to be run, by part, method and choice of C."""
    for part in options.parts:
        if part == "paired":
            continue
        try:
            for arguments in PARTS[part](options):
                _, method, features, choice = key_of(arguments[0], *arguments[5:8]).values()
                if (
                    method in options.methods
                    and features in options.features
                    and choice.removeprefix("by ") in options.C
                ):
                    yield arguments
        except FileNotFoundError as error:
            print(f"{part}: not run, {error.filename} does not exist")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=str(data_directory()), help="directory of the data sets")
    parser.add_argument("--parts", nargs="+", choices=[*PARTS, "paired"], default=list(PARTS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument(
        "--features", nargs="+", choices=["scaled", "raw"], default=["scaled", "raw"]
    )
    parser.add_argument("--C", nargs="+", choices=["mean", "nested"], default=["mean", "nested"])
    parser.add_argument("--partitions", type=int, default=20, help="random partitions of Table 1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="repeat stored results too")
    parser.add_argument("--write", action="store_true", help="store in results/")
    options = parser.parse_args()
    machine = describe_machine()
    made_with = machine.splitlines()[1]
    print(machine)
    if options.parts != ["paired"]:
        check_against_the_estimator()
    for arguments in wanted(options):
        name, _, _, partitions, taus, method, standardise, nested = arguments[:8]
        key = tuple(key_of(name, method, standardise, nested).values())
        if not options.again and len(stored(FOLDS)[key]) >= len(partitions) * len(taus):
            continue
        rows, folds = run(*arguments)
        if options.write:
            known = stored(MEANS)[key]
            if options.again or not known or int(known[0]["partitions"]) < len(partitions):
                store(MEANS, rows)
            store(FOLDS, folds, made_with)
    if "paired" in options.parts:
        rows = paired()
        print(format_table(rows, PAIRED_COLUMNS))
        if options.write:
            store_results("published_tables_paired", rows, made_with)


if __name__ == "__main__":
    main()
