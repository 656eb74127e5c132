"""The methods, grouped in families that share their fits.

A family is called with a split and the values of tau, and returns for each of its methods the
test scores and the chosen cost for each tau. What has a cost C chooses it by the mean of
P@{tau/2, tau, 2 tau, 4 tau} over inner folds, which a single fit of each C serves for every tau.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from lightgbm import LGBMClassifier
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_rank._solvers import PivotProblem, refine_top, solve_pivots_newton
from sklearn_rank._top import quantile_at_mass, top_mass
from sklearn_rank.metrics import precision_at_top_curve

LOGISTIC_GRID = np.logspace(-3, 2, 6)
TOP_GRID = np.logspace(-4, 1, 6)
MANY_FEATURES = 100  # accuracy at the top takes minutes for large C where there are more


def smoothed_precisions(y, score, taus):
    """Mean of P@{tau/2, tau, 2 tau, 4 tau} for each tau."""
    _, precision = precision_at_top_curve(y, score)
    shares = np.outer(taus, (0.5, 1.0, 2.0, 4.0))
    positions = np.maximum(1, np.floor(shares * len(y) + 0.5).astype(int))
    return precision[positions - 1].mean(axis=1)


def inner_folds(split, n_folds):
    """Stratified folds of the training rows; queries stay together."""
    if split.queries is None:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    else:
        folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    return [
        (train, held)
        for train, held in folds.split(split.X, split.y, split.queries)
        if 0 < split.y[train].sum() < len(train)
    ]


def with_chosen_cost(fit, grid, split, folds, taus):
    """Choose C for each method and tau, and score the test rows.

    ``fit(X, y, C, X_new)`` returns for each method the scores of new rows: one array for every
    tau, or a list with an array for each.

    Returns
    -------
    dict
        By method: the test scores for each tau, the C for each tau, and the mean of the criterion
        that each tau reached.
    """
    criterion = {}
    for train, held in folds:
        scaler = StandardScaler().fit(split.X[train])
        X, X_held = scaler.transform(split.X[train]), scaler.transform(split.X[held])
        for c, C in enumerate(grid):
            for method, scores in fit(X, split.y[train], C, X_held).items():
                found = criterion.setdefault(method, np.zeros((len(grid), len(taus))))
                found[c] += _criterion(split.y[held], scores, taus) / len(folds)
    chosen = {method: found.argmax(axis=0) for method, found in criterion.items()}
    scaler = StandardScaler().fit(split.X)
    X, X_test = scaler.transform(split.X), scaler.transform(split.X_test)
    fits = {
        c: fit(X, split.y, grid[c], X_test) for c in np.unique(np.concatenate([*chosen.values()]))
    }
    return {
        method: (
            [_at(fits[c][method], t) for t, c in enumerate(best)],
            grid[best],
            criterion[method].max(axis=0),
        )
        for method, best in chosen.items()
    }


def _at(scores, t):
    return scores[t] if isinstance(scores, list) else scores


def _criterion(y, scores, taus):
    if isinstance(scores, list):
        pairs = zip(scores, taus, strict=True)
        return np.array([smoothed_precisions(y, s, [tau])[0] for s, tau in pairs])
    return smoothed_precisions(y, scores, taus)


def best_of(results, methods):
    """For each tau the one of several methods that the criterion prefers; ties go to the last."""
    taken = [results[method] for method in methods]
    reached = np.array([criterion for _, _, criterion in taken])[::-1]
    best = len(taken) - 1 - reached.argmax(axis=0)
    return (
        [taken[m][0][t] for t, m in enumerate(best)],
        [taken[m][1][t] for t, m in enumerate(best)],
        reached.max(axis=0),
    )


# ---------------------------------------------------------------------------------- logistic


@dataclass(frozen=True)
class Focus:
    """Constants of the second look at the top.

    Parameters
    ----------
    width : float
        Share of the rows that are near the top.
    floor : float
        Least weight.
    n_rounds : int
        Fits after the first.
    by_count : bool
        Whether the classes are balanced by the number of their rows, rather than by the sum of
        their weights, as scikit-learn's ``class_weight="balanced"`` does.
    """

    width: float = 0.25
    floor: float = 0.02
    n_rounds: int = 2
    by_count: bool = False

    def weights(self, score):
        """Weight of each row by its rank, 0 on top, among the scores."""
        rank = rankdata(-score) - 1.0
        return np.maximum(self.floor, 1.0 / (1.0 + (rank / (self.width * len(score))) ** 2))


FOCUS = Focus()
# What the constants were chosen among, on the development sets.
ALTERNATIVES = {
    "width .1": Focus(width=0.1),
    "width .5": Focus(width=0.5),
    "floor .1": Focus(floor=0.1),
    "one round": Focus(n_rounds=1),
    "four rounds": Focus(n_rounds=4),
    "by count": Focus(by_count=True),
    "width .1, by count": Focus(width=0.1, by_count=True),
}


def standardised(score, of_training):
    return (score - of_training.mean()) / max(of_training.std(), 1e-300)


def logistic_model(C):
    return LogisticRegression(C=C, class_weight="balanced", solver="newton-cholesky")


def fit_focused(X, y, C, X_new, pilot, pilot_new, focus):
    """Scores of new rows by the last round, and by its sum with the first fit."""
    model, last, balance = logistic_model(C), pilot, 1.0
    if focus.by_count:
        model.set_params(class_weight=None)
        balance = compute_sample_weight("balanced", y)
    for _ in range(focus.n_rounds):
        last = model.fit(X, y, balance * focus.weights(last)).decision_function(X)
    last_new = model.decision_function(X_new)
    return last_new, standardised(pilot_new, pilot) + standardised(last_new, last)


def fit_logistic(X, y, C, X_new, focuses):
    """Logistic regression, and each of several second looks."""
    model = logistic_model(C).fit(X, y)
    pilot, pilot_new = model.decision_function(X), model.decision_function(X_new)
    found = {"logistic": pilot_new}
    for name, focus in focuses.items():
        last, both = fit_focused(X, y, C, X_new, pilot, pilot_new, focus)
        found |= {f"logistic, last{name}": last, f"logistic, sum{name}": both}
    return found


def logistic(split, taus, n_folds=5, used=None):
    """Logistic regression and its focused forms; ``used`` is how many of the folds choose C."""
    fit, folds = partial(fit_logistic, focuses={"": FOCUS}), inner_folds(split, n_folds)[:used]
    results = with_chosen_cost(fit, LOGISTIC_GRID, split, folds, taus)
    results["logistic, choose"] = best_of(results, tuple(results))
    return results


def alternatives(split, taus):
    """Other constants of the second look; the base is that of the other family."""
    named = {f" ({name})": focus for name, focus in ALTERNATIVES.items()}
    fit = partial(fit_logistic, focuses=named)
    results = with_chosen_cost(fit, LOGISTIC_GRID, split, inner_folds(split, 5), taus)
    for name in named:
        forms = ("logistic", f"logistic, last{name}", f"logistic, sum{name}")
        results[f"logistic, choose{name}"] = best_of(results, forms)
    return results


# --------------------------------------------------------------------------- accuracy at the top


class TopFit:
    """All candidates of accuracy at the top at one C, for every tau and rule.

    Parameters
    ----------
    taus : sequence of float
        Shares that make the top.
    """

    def __init__(self, taus):
        self.taus = taus

    def problem(self, X, y, C):
        """The problem with balanced costs, and the masses of rows in all pairs."""
        share = np.where(y == 1, y.mean(), 1 - y.mean())
        of_pairs = np.where(y == 1, (y == 0).sum(), (y == 1).sum()).astype(float)
        sign = 2.0 * y - 1.0
        problem = PivotProblem.from_rows(X, sign, C / (2 * share), np.ones(len(y)))
        return problem, PivotProblem.from_rows(X, sign, C / (2 * share), of_pairs)

    def __call__(self, X, y, C, X_new):
        problem, by_pairs = self.problem(X, y, C)
        solved = [solve_pivots_newton(problem, pivots) for pivots in problem.blocks()]
        coef = np.concatenate([block.coef for block in solved])
        value = np.concatenate([block.objective for block in solved])
        scores = problem.scores(coef)
        scores_new = {}
        for name, of in (("", problem), (", pairs", by_pairs)):
            for tau in self.taus:
                for rule, vector in self.rules(of, coef, value, scores, tau).items():
                    scores_new.setdefault(f"top, {rule}{name}", []).append(X_new @ vector)
        return scores_new

    def rules(self, problem, coef, value, scores, tau):
        """The weights that each rule makes of the candidates."""
        quantile = quantile_at_mass(scores, problem.mass, top_mass(problem.mass, tau)[0])
        distance = np.abs(scores[np.arange(len(coef)), problem.pivots] - quantile)
        tied = np.flatnonzero(distance <= distance.min() + 1e-6)
        near = np.argsort(distance, kind="stable")[: max(1, round(len(coef) / 10))]
        norm = np.linalg.norm(coef[near], axis=1, keepdims=True)
        return {
            "closest": coef[tied[np.argmin(value[tied])]],
            "objective": coef[np.argmin(problem.objective(coef, scores, quantile))],
            "average": (coef[near] / np.maximum(norm, 1e-300)).mean(axis=0),
        }


def accuracy_at_top(split, taus, n_folds=3):
    """Accuracy at the top by each rule, with the quantile of the rows and of all pairs."""
    grid = TOP_GRID if split.X.shape[1] < MANY_FEATURES else TOP_GRID[:4]
    results = with_chosen_cost(TopFit(taus), grid, split, inner_folds(split, n_folds), taus)
    del results["top, objective, pairs"]
    return results


def refined(split, taus, n_folds=3):
    """Refinement at the C that is chosen for the smallest value."""
    fit = TopFit(taus)
    folds = inner_folds(split, n_folds)
    objective = with_chosen_cost(fit, TOP_GRID, split, folds, taus)["top, objective"]
    scaler = StandardScaler().fit(split.X)
    X, X_test = scaler.transform(split.X), scaler.transform(split.X_test)
    scores = []
    for tau, C in zip(taus, objective[1], strict=True):
        problem, _ = fit.problem(X, split.y, C)
        solved = [solve_pivots_newton(problem, pivots) for pivots in problem.blocks()]
        mass = top_mass(problem.mass, tau)[0]
        coef = np.concatenate([block.coef for block in solved])
        scores.append(X_test @ refine_top(problem, coef, mass).coef)
    return {"top, refine": (scores, *objective[1:])}


# --------------------------------------------------------------------------------------- boosting


def _focused_boosting(name, model, split, taus, n_folds):
    """A boosted base and its focused forms; ranks and the choice from scores out of fold."""
    y, folds = split.y, inner_folds(split, n_folds)

    def fitted(rows, weight):
        return clone(model).fit(split.X[rows], y[rows], weight[rows])

    def out_of_fold(weight):
        score = np.full(len(y), np.nan)
        for train, held in folds:
            score[held] = raw_score(fitted(train, weight), split.X[held])
        return np.where(np.isnan(score), np.nanmin(score), score)

    everything, weight = np.arange(len(y)), np.ones(len(y))
    pilot = out_of_fold(weight)
    pilot_new = raw_score(fitted(everything, weight), split.X_test)
    last = pilot
    for _ in range(FOCUS.n_rounds):
        weight = FOCUS.weights(last)
        last = out_of_fold(weight)
    last_new = raw_score(fitted(everything, weight), split.X_test)
    both, both_new = (
        standardised(a, pilot) + standardised(b, last)
        for a, b in ((pilot, last), (pilot_new, last_new))
    )
    none = np.full(len(taus), np.nan)
    results = {
        form: ([test] * len(taus), none, smoothed_precisions(y, score, taus))
        for form, test, score in (
            (name, pilot_new, pilot),
            (f"{name}, last", last_new, last),
            (f"{name}, sum", both_new, both),
        )
    }
    results[f"{name}, choose"] = best_of(results, tuple(results))
    return results


def raw_score(model, X):
    """Log-odds of the second class."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X, raw_score=True)


def hist_boosting(split, taus):
    """scikit-learn's boosted trees and their focused forms."""
    return _focused_boosting(
        "hist boosting", HistGradientBoostingClassifier(random_state=0), split, taus, 3
    )


def lightgbm(split, taus, n_folds=5):
    """LightGBM and its focused forms."""
    model = LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
    return _focused_boosting("lightgbm", model, split, taus, n_folds)


# By the method that shows that the family is there: what it is, the most features, the splits
# with fewer than MANY_FEATURES and with more.
FAMILIES = {
    "logistic": (logistic, None, 20, 20),
    "top, closest": (accuracy_at_top, None, 10, 3),
    "lightgbm": (lightgbm, None, 6, 6),
    "hist boosting": (hist_boosting, None, 4, 0),
    "top, refine": (refined, 20, 4, 0),
}
# The same for whole sets: one fold chooses C, two folds give ranks out of fold.
FULL_FAMILIES = {"logistic": partial(logistic, used=1), "lightgbm": partial(lightgbm, n_folds=2)}
