"""If the best linear rules differ, does each ranker find the rule that its criterion requires?

Rows have two features, from mixtures of normal distributions. The directions of the largest AUC,
P@5 % and TPR at FPR 1 %, and that of logistic regression, are four different ones. Along a
direction the groups are normal distributions on a line, so all values and directions of the
population are computed from the distribution functions, without a test sample. In "clear top" some
positives are separated along another feature than most. "outliers" also has a few positives far on
the wrong side, so that the criteria differ more.

Every method learns from the same 2,000 rows. It has its default parameters, except for the
parameter that sets its target, and C = 100 if the loss is a mean, so that the penalty has little
effect. Standard errors are over draws. The 50,000 rows are one draw and show the limit of a method
as rows grow. "to own limit" is the angle to that direction, the estimation error; the rest of the
angle to an optimum is due to the criterion.

    python benchmarks/studies/synthetic_rules.py            # print the tables, two minutes
    python benchmarks/studies/synthetic_rules.py --write    # also store them in results/
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import THREAD_VARIABLES, describe_machine, format_table, store_results

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression

from sklearn_rank import (
    AccuracyAtTopRanker,
    PNormPushRanker,
    RankBoostRanker,
    RankStatisticRanker,
    TopPushRanker,
)
from sklearn_rank.exceptions import ZeroSolutionWarning

TAU, FPR = 0.05, 0.01
N_TRAIN, N_LIMIT = 2000, 50_000

# Label, share of the rows, mean, and standard deviations of the two features.
POPULATIONS = {
    "clear top": [
        (1, 0.14, (2.0, 0.0), (1.0, 1.0)),  # most positives: ahead along the first feature
        (1, 0.06, (-1.0, 6.0), (1.0, 0.7)),  # clear ones, along the second
        (0, 0.76, (0.0, 0.0), (1.0, 1.0)),  # most negatives
        (0, 0.04, (4.0, 0.0), (1.0, 1.0)),  # those that top the list along the first feature
    ],
    "outliers": [
        (1, 0.13, (2.0, 0.0), (1.0, 1.0)),
        (1, 0.06, (0.5, 3.5), (1.0, 0.6)),
        (1, 0.01, (0.0, -12.0), (1.0, 1.0)),  # far away on the other side
        (0, 0.77, (0.0, 0.0), (1.0, 1.0)),
        (0, 0.03, (4.0, 0.0), (1.0, 1.0)),
    ],
}

MEASURES = ("auc", "precision", "tpr")
HEADS = {"auc": "AUC", "precision": "P@5 %", "tpr": "TPR@1 %", "logistic": "logistic"}

METHODS = {
    "logistic regression": LogisticRegression(C=100.0),
    "TopPush, top=0.05": TopPushRanker(tau=0.05, C=100.0),
    "TopPush, top=0.3": TopPushRanker(tau=0.3, C=100.0),
    "AccuracyAtTop, tau=0.05": AccuracyAtTopRanker(tau=TAU, C=100.0 / N_TRAIN),
    "PNormPush, p=1": PNormPushRanker(p=1, C=100.0),
    "PNormPush, p=16": PNormPushRanker(p=16, C=100.0),
    "RankStatistic, auc": RankStatisticRanker("auc", n_folds=None),
    "RankStatistic, local_auc@0.8": RankStatisticRanker(n_folds=None),
    "RankStatistic, local_auc@0.95": RankStatisticRanker("local_auc@0.95", n_folds=None),
    "RankStatistic, local_auc@0.95, b=0.25, anchor=0": RankStatisticRanker(
        "local_auc@0.95", bandwidth=0.25, anchor=0.0, n_folds=None
    ),
    "RankBoost, linear": RankBoostRanker(weak_ranker="linear"),
}
BASE = next(iter(METHODS))
NOT_OF_MANY = "AccuracyAtTop, tau=0.05"  # one problem for every distinct row


class Population:
    """Values of directions, exact: a direction makes each group a normal distribution."""

    def __init__(self, groups):
        self.y = np.array([group[0] for group in groups])
        self.share = np.array([group[1] for group in groups])
        self.share = self.share / self.share.sum()
        self.mean = np.array([group[2] for group in groups])
        self.sd = np.array([group[3] for group in groups])
        self.of_positives = self.share * (self.y == 1) / self.share[self.y == 1].sum()
        self.of_negatives = self.share * (self.y == 0) / self.share[self.y == 0].sum()

    def draw(self, n, rng):
        """Rows and labels."""
        group = rng.choice(len(self.y), size=n, p=self.share)
        return self.mean[group] + self.sd[group] * rng.normal(size=(n, 2)), self.y[group]

    def along(self, direction):
        """Mean and standard deviation of each group's scores."""
        return self.mean @ direction, np.hypot(*(self.sd * direction).T)

    def above(self, threshold, law, share):
        """Probability of a score above a threshold in a mixture."""
        mean, sd = law
        return share @ ndtr((mean - threshold) / sd)

    def quantile(self, top, law, share):
        """The threshold above which the top of a mixture is."""
        mean, sd = law
        low, high = (mean - 9 * sd).min(), (mean + 9 * sd).max()
        return brentq(lambda t: self.above(t, law, share) - top, low, high, xtol=1e-12)

    def values(self, direction):
        """AUC, P@5 % and TPR at FPR 1 %; of no direction those of a random order."""
        if not np.any(direction):
            return np.array([0.5, self.share[self.y == 1].sum(), FPR])
        mean, sd = law = self.along(direction / np.hypot(*direction))
        ahead = (mean[:, None] - mean) / np.hypot(sd[:, None], sd)
        auc = self.of_positives @ ndtr(ahead) @ self.of_negatives
        top = self.above(self.quantile(TAU, law, self.share), law, self.share * self.y) / TAU
        tpr = self.above(self.quantile(FPR, law, self.of_negatives), law, self.of_positives)
        return np.array([auc, top, tpr])

    def best(self, measure):
        """Direction of the largest value, in degrees."""
        degrees = np.arange(-180.0, 180.0)
        table = [self.values(unit(angle))[measure] for angle in degrees]
        start = degrees[np.argmax(table)]
        found = minimize_scalar(
            lambda angle: -self.values(unit(angle))[measure],
            bounds=(start - 1, start + 1),
            method="bounded",
            options={"xatol": 1e-6},
        )
        return found.x

    def logistic(self):
        """Direction of the least expected logistic loss, with an intercept, in degrees."""
        z = np.linspace(-8, 8, 2001)
        weight = np.exp(-(z**2) / 2)
        weight /= weight.sum()
        sign = np.where(self.y == 1, 1.0, -1.0)

        def loss(coef):
            mean, sd = self.along(coef[:2])
            score = (mean + coef[2])[:, None] + sd[:, None] * z
            return self.share @ (np.logaddexp(0, -sign[:, None] * score) @ weight)

        return degrees_of(minimize(loss, np.array([0.1, 0.1, 0.0]), tol=1e-9).x[:2])


def unit(degrees):
    return np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])


def degrees_of(direction):
    return np.rad2deg(np.arctan2(direction[1], direction[0]))


def between(one, other):
    """Angle between two directions, up to 180 degrees."""
    return abs((one - other + 180) % 360 - 180)


def direction_of(ranker, X, y):
    """The coefficients that are learned, and whether they are 0."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coef = ranker.fit(X, y).coef_.ravel()
    zero = any(issubclass(warning.category, ZeroSolutionWarning) for warning in caught)
    return np.zeros(2) if zero else coef


def table_of_optima(name, population):
    """The best directions, in degrees, and a table of their values."""
    optima = {key: population.best(i) for i, key in enumerate(MEASURES)}
    optima["logistic"] = population.logistic()
    rows = []
    for key, angle in optima.items():
        row = {"population": name, "method": f"best: {HEADS[key]}", "angle": angle}
        row |= dict(zip(MEASURES, population.values(unit(angle)), strict=True))
        rows.append(row | {f"to_{other}": between(angle, optima[other]) for other in optima})
    return optima, rows


def fitted(population, optima, n, draws, methods):
    """Values and angles of what each method learns: arrays (draws, columns)."""
    keys = [*MEASURES, *(f"to_{name}" for name in optima), "angle", "zero"]
    table = {method: [] for method in methods}
    for draw in range(draws):
        X, y = population.draw(n, np.random.default_rng([n, draw]))
        for method in methods:
            coef = direction_of(METHODS[method], X, y)
            zero = not np.any(coef)
            angle = np.nan if zero else degrees_of(coef)
            angles = [between(angle, best) for best in optima.values()]
            table[method].append([*population.values(coef), *angles, angle, zero])
    return keys, {method: np.array(values) for method, values in table.items()}


def summary(values):
    """Mean and standard error over the draws that have a value."""
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan, np.nan
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def rows_of(name, n, keys, table, limits):
    """A row for each method: means, standard errors and differences from the base."""
    rows = []
    for method, values in table.items():
        row = {"population": name, "n": n, "method": method}
        for i, key in enumerate(keys):
            row[key], row[f"{key}_se"] = summary(values[:, i])
            if key in MEASURES and method != BASE:
                difference = summary(values[:, i] - table[BASE][:, i])
                row[f"{key}_less_base"], row[f"{key}_less_base_se"] = difference
        row["to_limit"], row["to_limit_se"] = summary(
            between(values[:, keys.index("angle")], limits.get(method, np.nan))
        )
        rows.append(row)
    return rows


METHOD = [("n", "n", "d"), ("method", "method", "s")]
VALUES, ANGLES = list(METHOD), [*METHOD, ("angle", "degrees", ".1f")]
for _key in MEASURES:
    VALUES += [(_key, HEADS[_key], ".4f"), (f"{_key}_se", "+-", ".4f")]
    VALUES += [(f"{_key}_less_base", "minus log.", "+.4f"), (f"{_key}_less_base_se", "+-", ".4f")]
for _key, _head in HEADS.items():
    ANGLES += [(f"to_{_key}", f"to {_head}", ".1f"), (f"to_{_key}_se", "+-", ".1f")]
ANGLES += [("to_limit", "to own limit", ".1f"), ("zero", "w = 0", ".2f")]


def study(name, options):
    """All rows of a population."""
    population = Population(POPULATIONS[name])
    optima, best = table_of_optima(name, population)
    methods = list(dict.fromkeys([BASE, *options.methods]))
    many = [method for method in methods if method != NOT_OF_MANY]
    keys, of_many = fitted(population, optima, N_LIMIT, 1, many)
    limits = {method: values[0, keys.index("angle")] for method, values in of_many.items()}
    _, of_few = fitted(population, optima, N_TRAIN, options.draws, methods)
    rows = best + rows_of(name, N_TRAIN, keys, of_few, limits)
    rows += rows_of(name, N_LIMIT, keys, of_many, {})
    for columns in (VALUES, ANGLES):
        print(f"\n{name}\n{format_table(rows, columns)}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--write", action="store_true", help="store in results/")
    options = parser.parse_args()
    machine = describe_machine()
    print(machine)
    rows = [row for name in POPULATIONS for row in study(name, options)]
    if options.write:
        made_with = f"{machine.replace(chr(10), '; ')}; {options.draws} draws"
        store_results("synthetic_rules", rows, made_with)


if __name__ == "__main__":
    main()
