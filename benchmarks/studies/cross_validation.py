"""Coverage of intervals for cross-validation, beside the usual intervals over folds.

    python benchmarks/studies/cross_validation.py            # print the tables, ten minutes
    python benchmarks/studies/cross_validation.py --write    # also store them
    python benchmarks/studies/cross_validation.py --only folds --measures auc --repetitions 50

Each cell draws samples with five features, one of which separates the classes, and counts how
often 95 % intervals contain their target. The target of folds is the mean over the fold models of
the measure in the population at the share of positives of the fold, and for the first k the
expected one of a list as long as the fold. The target of a bootstrap
is that of the model fitted to all rows. The target of a comparison is the difference of two such
means; "too high" is then how often a test at 2.5 % puts it above a margin that equals it. The
targets are computed from 6,000 further rows or queries (120 lists of rows if the length of the
list matters). The study compares the functions of the package with the mean plus or minus 1.96
standard deviations over sqrt(K), the corrected resampled t of Nadeau & Bengio (2003), the scores
of all folds as one list, and the t-test of K differences.
"""

import argparse
import sys
import warnings
import zlib
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import t as student
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, store_results, update_results

from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import QueryKFold, cross_val_compare, cross_val_interval

STORED = "cross_validation"
POPULATION = 6_000
N_LISTS = 120
N_FEATURES = 5
RESAMPLES = 40
SIZES = ((5, 95), (10, 90), (20, 180), (50, 50))
QUERY_LENGTH = 10
CELL = ("design", "measure", "estimator", "size", "tails", "folds", "method")


class Ridge(BaseEstimator):
    """Ridge regression with a free intercept, in closed form."""

    def __init__(self, alpha=1e-3):
        self.alpha = alpha

    def fit(self, X, y):
        self.center_, self.level_ = X.mean(axis=0), y.mean()
        centred = X - self.center_
        gram = centred.T @ centred + self.alpha * np.eye(X.shape[1])
        self.coef_ = np.linalg.solve(gram, centred.T @ (y - self.level_))
        return self

    def predict(self, X):
        return self.level_ + (X - self.center_) @ self.coef_


class Logistic(Ridge):
    """Logistic regression by ten steps of Newton's method."""

    def fit(self, X, y):
        rows = np.c_[np.ones(len(X)), X / np.abs(X).max(axis=0)]
        penalty = self.alpha * np.eye(rows.shape[1])
        weight = np.zeros(rows.shape[1])
        for _ in range(10):
            p = expit(rows @ weight)
            slope = rows.T @ (y - p) - penalty @ weight
            weight += np.linalg.solve((rows.T * (p * (1 - p) + 1e-4)) @ rows + penalty, slope)
        self.center_, self.level_ = np.zeros(X.shape[1]), weight[0]
        self.coef_ = weight[1:] / np.abs(X).max(axis=0)
        return self


ESTIMATORS = {
    "logistic": Logistic(0.1),
    "strong ridge": Ridge(1e6),
    "forest": RandomForestClassifier(5, max_depth=4, random_state=0),
}


def draw(rng, n_pos, n_neg, tails, copies=1):
    """Rows of two classes; copies of a row share half of their noise."""
    y = np.repeat([1, 0], [n_pos, n_neg])
    draws = {
        "normal": rng.standard_normal,
        "cauchy": rng.standard_cauchy,
        "lognormal": lambda size: np.exp(rng.standard_normal(size)),
    }[tails]
    X = draws((len(y), N_FEATURES))
    if copies > 1:
        y, X = np.repeat(y, copies), np.repeat(X, copies, axis=0)
        X = (X + draws(X.shape)) / np.sqrt(2.0)
    X[:, 0] += 1.5 * y
    return X, y


def draw_queries(rng, n, tails):
    """Queries of grades; each has an effect of its own on what the features say."""
    X, _ = draw(rng, 0, n * QUERY_LENGTH, tails)
    effect = np.repeat(1.0 + rng.normal(size=n), QUERY_LENGTH)
    y = rng.binomial(2, expit(effect * X[:, 0] - 1.0))
    return X, y, np.repeat(np.arange(n), QUERY_LENGTH)


def score_of(model, X):
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def expected(measure, model, population, n_pos, n_neg, rng):
    """Measure of a model in the population, or expected on lists of given numbers of classes."""
    X, y = population
    score = score_of(model, X)
    if measure.name == "auc" or measure.name.startswith("tpr"):
        return measure(y, score)
    if not measure.depends_on_length:
        # Both classes have as many rows in the population.
        return measure(y, score, sample_weight=np.where(y == 1, n_pos, n_neg))
    positive, negative = score[y == 1], score[y == 0]
    scores = np.concatenate(
        [rng.choice(positive, (N_LISTS, n_pos)), rng.choice(negative, (N_LISTS, n_neg))], axis=1
    )
    labels = np.tile(np.repeat([1, 0], [n_pos, n_neg]), (N_LISTS, 1))
    ids = np.repeat(np.arange(N_LISTS), n_pos + n_neg)
    return float(np.mean(measure(labels.ravel(), scores.ravel(), qid=ids, average=None)))


def rivals(found, splits, pooled):
    """What else is done with the values and scores of folds."""
    values, K = np.array(found.fold_values), len(found.fold_values)
    mean, error = values.mean(), values.std(ddof=1)
    test_to_train = np.mean([len(test) / len(train) for train, test in splits])
    corrected = student.ppf(0.975, K - 1) * error * np.sqrt(1 / K + test_to_train)
    half = 1.96 * error / np.sqrt(K)
    return {
        "naive": (mean - half, mean + half),
        "corrected t": (mean - corrected, mean + corrected),
        "one list": (pooled.low, pooled.high),
    }


def rows_of_folds(cell, rng, population):
    """Target and limits of one sample, by folds of rows or of groups."""
    measure, model = get_measure(cell["measure"]), ESTIMATORS[cell["estimator"]]
    copies = 3 if cell["design"] == "groups" else 1
    X, y = draw(rng, *cell["size"], cell["tails"], copies)
    groups = np.repeat(np.arange(len(y) // copies), copies) if copies > 1 else None
    cv = cell["folds"]
    splits = folds(y, groups, cv, rng, repeats=5 if cell["design"] == "repeated" else 1)
    given = {"measure": measure, "groups": groups}
    found = cross_val_interval(model, X, y, cv=splits, **given)
    targets, scores = [], np.zeros(len(y))
    for train, test in splits:
        fitted = type(model)(**model.get_params()).fit(X[train], y[train])
        scores[test] = score_of(fitted, X[test])
        sizes = int(y[test].sum()), int((1 - y[test]).sum())
        targets.append(expected(measure, fitted, population, *sizes, rng))
    limits = {cell["design"]: (found.low, found.high)}
    pooled = metric_interval(measure, y, scores, groups=groups)
    return np.mean(targets), limits | rivals(found, splits, pooled)


def folds(y, groups, n_folds, rng, repeats=1):
    """Folds stratified by class, of whole groups where there are any."""
    seed = int(rng.integers(2**31))
    if groups is None:
        cv = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
        return list(cv.split(y, y))
    first = np.unique(groups, return_index=True)[1]
    of_groups = folds(y[first], None, n_folds, rng)
    return [tuple(np.flatnonzero(np.isin(groups, part)) for part in split) for split in of_groups]


def rows_of_queries(cell, rng, population):
    """Target and limits of one sample of queries."""
    measure = get_measure(cell["measure"])
    X, y, qid = draw_queries(rng, cell["size"][0], cell["tails"])
    model = ESTIMATORS[cell["estimator"]]
    splits = list(QueryKFold(cell["folds"], shuffle=False).split(X, y, qid))
    found = cross_val_interval(model, X, y, measure=measure, qid=qid, cv=splits)
    new_X, new_y, new_qid = population
    targets, scores = [], np.zeros(len(y))
    for train, test in splits:
        fitted = Ridge(model.alpha).fit(X[train], y[train])
        scores[test] = fitted.predict(X[test])
        targets.append(measure(new_y, fitted.predict(new_X), qid=new_qid))
    pooled = metric_interval(measure, y, scores, qid=qid)
    limits = {"queries": (found.low, found.high)}
    return np.mean(targets), limits | rivals(found, splits, pooled)


def rows_of_bootstrap(cell, rng, population):
    """Target and limits of one sample, by bootstraps."""
    measure, model = get_measure(cell["measure"]), ESTIMATORS[cell["estimator"]]
    X, y = draw(rng, *cell["size"], cell["tails"])
    fitted = type(model)(**model.get_params()).fit(X, y)
    target = expected(measure, fitted, population, *cell["size"], rng)
    apparent = metric_interval(measure, y, score_of(fitted, X))
    limits, given = {}, {"measure": measure}
    seed = int(rng.integers(2**31))
    found = cross_val_interval(
        model, X, y, method="632+", cv=RESAMPLES, random_state=seed, **given
    )
    limits["632+"] = (found.low, found.high)
    shift = found.estimate - apparent.estimate
    limits["apparent, shifted by 632+"] = (apparent.low + shift, apparent.high + shift)
    limits["apparent"] = (apparent.low, apparent.high)
    folded = cross_val_interval(model, X, y, random_state=0, **given)
    limits["folds, for all rows"] = (folded.low, folded.high)
    return target, limits


def rows_of_comparison(cell, rng, population):
    """Target and limits of the difference of two estimators, on the same folds."""
    measure = get_measure(cell["measure"])
    models = {name: ESTIMATORS[name] for name in cell["estimator"].split(" - ")}
    X, y = draw(rng, *cell["size"], cell["tails"])
    splits = folds(y, None, cell["folds"], rng)
    given = {"measure": measure}
    found = cross_val_compare(models, X, y, cv=splits, random_state=0, **given)
    targets, values = [], []
    for train, test in splits:
        fitted = [type(m)(**m.get_params()).fit(X[train], y[train]) for m in models.values()]
        sizes = int(y[test].sum()), int((1 - y[test]).sum())
        a, b = (expected(measure, one, population, *sizes, rng) for one in fitted)
        targets.append(a - b)
        a, b = (measure(y[test], score_of(one, X[test])) for one in fitted)
        values.append(a - b)
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    half = student.ppf(0.975, len(values) - 1) * error
    limits = {"compare": (found.low[0], found.high[0]), "paired t": (mean - half, mean + half)}
    return np.mean(targets), limits


def leave_one_out(cell, rng, population):
    """Scores of models that were fitted without the row, as one list."""
    measure, model = get_measure(cell["measure"]), ESTIMATORS[cell["estimator"]]
    X, y = draw(rng, *cell["size"], cell["tails"])
    scores, targets = np.zeros(len(y)), []
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        fitted = type(model)(**model.get_params()).fit(X[kept], y[kept])
        scores[i] = score_of(fitted, X[[i]])[0]
        if i % 10 == 0:
            targets.append(expected(measure, fitted, population, 1, 1, rng))
    pooled = metric_interval(measure, y, scores)
    return np.mean(targets), {"one list": (pooled.low, pooled.high)}


DESIGNS = {
    "folds": rows_of_folds,
    "groups": rows_of_folds,
    "repeated": rows_of_folds,
    "queries": rows_of_queries,
    "bootstrap": rows_of_bootstrap,
    "compare": rows_of_comparison,
    "leave-one-out": leave_one_out,
}


def cells():
    """Every cell: design, measure, estimator, numbers of either class, tails, folds."""

    def cell(*values):
        return dict(zip(CELL[:-1], values, strict=True))

    both = ("normal", "cauchy")
    yield cell("leave-one-out", "auc", "strong ridge", (20, 20), "normal", 40)
    yield cell("leave-one-out", "auc", "logistic", (20, 20), "normal", 40)
    for tails in both:
        yield cell("queries", "ndcg@10", "strong ridge", (20, 0), tails, 5)
        yield cell("queries", "ndcg@10", "strong ridge", (60, 0), tails, 10)
        yield cell("groups", "auc", "logistic", (10, 30), tails, 5)
        yield cell("groups", "ap", "logistic", (10, 30), tails, 5)
        yield cell("repeated", "auc", "logistic", (20, 80), tails, 5)
    for size, tails in product(SIZES, both):
        yield cell("folds", "auc", "logistic", size, tails, 5)
        yield cell("folds", "ap", "logistic", size, tails, 5)
    for size, tails in product(((10, 90), (50, 50)), both):
        yield cell("folds", "auc", "strong ridge", size, tails, 5)
        yield cell("folds", "auc", "logistic", size, tails, 10)
        yield cell("folds", "precision@top0.1", "logistic", size, tails, 5)
    for size in ((10, 90), (50, 50)):
        yield cell("folds", "auc", "logistic", size, "lognormal", 5)
        yield cell("folds", "bedroc@5", "logistic", size, "lognormal", 5)
    for tails in both:
        yield cell("folds", "tpr@fpr0.1", "logistic", (50, 50), tails, 5)
        yield cell("folds", "precision@10", "logistic", (20, 180), tails, 5)
    yield cell("folds", "auc", "logistic", (100, 900), "cauchy", 10)
    yield cell("folds", "auc", "forest", (20, 80), "normal", 5)
    for size, tails in product(((10, 90), (50, 50)), both):
        yield cell("compare", "auc", "logistic - strong ridge", size, tails, 5)
    yield cell("compare", "auc", "logistic - strong ridge", (10, 90), "normal", 10)
    yield cell("compare", "ap", "logistic - strong ridge", (10, 90), "normal", 5)
    yield cell("compare", "precision@top0.1", "logistic - strong ridge", (50, 50), "normal", 5)
    for tails in both:
        yield cell("bootstrap", "auc", "logistic", (10, 90), tails, 0)
    yield cell("bootstrap", "auc", "logistic", (50, 50), "cauchy", 0)
    yield cell("bootstrap", "ap", "logistic", (20, 80), "normal", 0)


def study(cell, repetitions):
    """Coverage and mean width of each method in one cell."""
    rng = np.random.default_rng(zlib.crc32(repr(sorted(cell.items())).encode()))
    if cell["design"] == "queries":
        population = draw_queries(rng, POPULATION, cell["tails"])
    else:
        copies = 3 if cell["design"] == "groups" else 1
        population = draw(rng, *2 * [POPULATION // 2 // copies], cell["tails"], copies)
    found = {}
    for _ in range(repetitions):
        target, limits = DESIGNS[cell["design"]](cell, rng, population)
        for method, (low, high) in limits.items():
            found.setdefault(method, []).append((target < low, target > high, high - low))
    for method, rows in found.items():
        below, above, width = np.mean(rows, axis=0)
        yield {
            **cell,
            "size": "/".join(map(str, cell["size"])),
            "method": method,
            "coverage": 1.0 - below - above,
            "too high": below,
            "too low": above,
            "width": width,
            "repetitions": repetitions,
        }


COLUMNS = [
    *((name, name, "") for name in CELL),
    ("coverage", "coverage", ".3f"),
    ("too high", "too high", ".3f"),
    ("too low", "too low", ".3f"),
    ("width", "width", ".3f"),
    ("repetitions", "repetitions", ""),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=DESIGNS, default=None)
    parser.add_argument("--measures", nargs="+", default=None)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    wanted = [
        cell
        for cell in cells()
        if (options.only is None or cell["design"] in options.only)
        and (options.measures is None or cell["measure"] in options.measures)
    ]
    if options.write and wanted == list(cells()):
        store_results(STORED, [])
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in wanted:
            found = list(study(cell, options.repetitions))
            print(format_table(found, COLUMNS), flush=True)
            if options.write:
                update_results(STORED, found, CELL)
    print(describe_machine())


if __name__ == "__main__":
    main()
