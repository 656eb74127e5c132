"""Selection by bounds beside selection by the largest mean, on small imbalanced data.

Positives and negatives are normal in five dimensions. In "linear" their means differ; in
"quadratic" the standard deviations of two features differ too. Candidates are logistic regressions
in polynomials of degree 1 to 3 with four values of C each, in this order of simplicity. Each rule
chooses one candidate, which is fitted to all rows and measured on 20,000 new ones. A choice is
*good* if its AUC there is within .01 of the best of the twelve.

    python benchmarks/studies/selection_by_bound.py            # print the table, eight minutes
    python benchmarks/studies/selection_by_bound.py --write    # also store it in results/
"""

import argparse
import sys
import warnings
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, write_table

from sklearn_rank.metrics import roc_auc_score
from sklearn_rank.model_selection import BoundSearchCV

GRID = {"C": [0.01, 0.1, 1.0, 10.0], "degree": [1, 2, 3]}
CLOSE = 0.01
N_NEW = 10_000
STORED = RESULTS / "selection_by_bound.csv"


def complexity_of(params):
    """Position in the order from simple to complex: by the degree, then by C."""
    return GRID["degree"].index(params["degree"]) * 4 + GRID["C"].index(params["C"])


def draw(truth, n_pos, n_neg, rng):
    X = rng.normal(size=(n_pos + n_neg, 5))
    X[:n_pos, :3] += 0.5
    if truth == "quadratic":
        X[:n_pos, 3:] *= 1.8
    return X, np.repeat([1, 0], [n_pos, n_neg])


class Remembered(ClassifierMixin, BaseEstimator):
    """A candidate for rows given by their numbers, fitted once to the same rows.

    Parameters
    ----------
    fitted : callable
        Model by degree, C and rows.
    rows : ndarray
        The features of all rows.
    degree : int
        Of the polynomials.
    C : float
        Inverse penalty.
    """

    def __init__(self, fitted=None, rows=None, degree=1, C=1.0):
        self.fitted = fitted
        self.rows = rows
        self.degree = degree
        self.C = C

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model_ = self.fitted(self.degree, self.C, tuple(X[:, 0]))
        return self

    def decision_function(self, X):
        return self.model_.decision_function(self.rows[X[:, 0]])


def searches(estimator, seed):
    """A search for each rule."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    half = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed)

    def search(**arguments):
        return BoundSearchCV(
            estimator, GRID, complexity=complexity_of, random_state=seed, refit=False, **arguments
        )

    def occam(params):
        return 2.0 ** -complexity_of(params)

    return {
        "largest mean, 5 folds": search(cv=folds),
        "largest mean, a third": search(cv=half),
        "bound with prior 2^-complexity, 5 folds": search(cv=folds, prior=occam),
        "KL bound with prior 2^-complexity, a third": search(cv=half, prior=occam),
        "max-t limit, 5 folds": search(cv=folds, method="max-t"),
        "max-t limit, a third": search(cv=half, method="max-t"),
        "within noise, 5 folds": search(cv=folds, rule="within_noise"),
        "within noise at delta .5, 5 folds": search(cv=folds, rule="within_noise", level=0.5),
        "within noise, a third": search(cv=half, rule="within_noise"),
    }


def one_standard_error(table):
    """The simplest within one standard error (over the folds) of the largest mean: the custom."""
    mean = table["mean_test_score"]
    best = int(np.argmax(mean))
    n_folds = sum(name.startswith("split") for name in table)
    # The column is the population's; a standard error is of the sample's.
    close = mean >= mean[best] - table["std_test_score"][best] / np.sqrt(n_folds - 1)
    return min(np.flatnonzero(close), key=lambda c: complexity_of(table["params"][c]))


def replicate(truth, n_pos, n_neg, seed):
    """For each rule: loss against the best candidate, complexity, and lower limit if any."""
    rng = np.random.default_rng(seed)
    X, y = draw(truth, n_pos, n_neg, rng)
    X_new, y_new = draw(truth, N_NEW, N_NEW, rng)

    @cache
    def fitted(degree, C, rows):
        model = make_pipeline(
            StandardScaler(),
            PolynomialFeatures(degree, include_bias=False),
            StandardScaler(),
            LogisticRegression(C=C, max_iter=2000),
        )
        return model.fit(X[list(rows)], y[list(rows)])

    everything = tuple(range(len(y)))
    truth_of = {
        complexity_of({"C": C, "degree": degree}): roc_auc_score(
            y_new, fitted(degree, C, everything).decision_function(X_new)
        )
        for C, degree in product(*GRID.values())
    }
    best, numbers = max(truth_of.values()), np.arange(len(y))[:, None]
    found = {}
    for name, search in searches(Remembered(fitted, X), seed).items():
        search.fit(numbers, y)
        chosen = complexity_of(search.best_params_)
        found[name] = (best - truth_of[chosen], chosen, search.best_bound_)
        if name == "largest mean, 5 folds":
            simplest = one_standard_error(search.cv_results_)
            chosen = complexity_of(search.cv_results_["params"][simplest])
            found["one standard error, 5 folds"] = (best - truth_of[chosen], chosen, np.nan)
    return found


def summary(truth, n_pos, n_neg, n_replicates):
    results = [replicate(truth, n_pos, n_neg, seed) for seed in range(n_replicates)]
    rows = []
    for name in results[0]:
        loss, chosen, limit = np.array([one[name] for one in results]).T
        plain = "largest mean, a third" if name.endswith("third") else "largest mean, 5 folds"
        plain_chosen = np.array([one[plain][1] for one in results])
        rows.append(
            {
                "truth": truth,
                "counts": f"{n_pos}/{n_neg}",
                "rule": name,
                "loss": loss.mean(),
                "loss_se": loss.std(ddof=1) / np.sqrt(len(loss)),
                "worst": np.quantile(loss, 0.95),
                "good": np.mean(loss <= CLOSE),
                "simpler": np.mean(chosen < plain_chosen),
                "good_and_simpler": np.mean((loss <= CLOSE) & (chosen < plain_chosen)),
                "complexity": chosen.mean(),
                "limit": limit.mean(),
            }
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="store the table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(describe_machine())
    columns = [
        ("rule", "rule", ""),
        ("loss", "loss", ".4f"),
        ("loss_se", "±", ".4f"),
        ("worst", "its 95 %", ".3f"),
        ("good", "good", ".2f"),
        ("simpler", "simpler", ".2f"),
        ("good_and_simpler", "both", ".2f"),
        ("complexity", "complexity", ".1f"),
        ("limit", "limit", ".3f"),
    ]
    rows = []
    for truth, (n_pos, n_neg) in product(("linear", "quadratic"), ((20, 180), (60, 540))):
        found = summary(truth, n_pos, n_neg, arguments.replicates)
        print(f"\n{truth}, {n_pos}/{n_neg}, {arguments.replicates} replicates")
        print(format_table(found, columns), flush=True)
        rows += found
    if arguments.write:
        write_table(STORED, rows, columns)


if __name__ == "__main__":
    main()
