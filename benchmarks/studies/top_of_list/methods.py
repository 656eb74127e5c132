"""The methods, grouped in families that share their fits.

A family is called with a split and the values of tau, and returns for each of its methods the
test scores and the chosen cost for each tau. Methods with a cost C choose it by the mean of
P@{tau/2, tau, 2 tau, 4 tau} over inner folds; one fit of each C is enough for every tau.
"""

import numpy as np
from lightgbm import LGBMClassifier
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from sklearn_rank import TopFocusedRanker
from sklearn_rank._order import quantile_at_mass, top_mass
from sklearn_rank._solvers import PivotProblem, solve_pivots_newton
from sklearn_rank.metrics import Cauchy, smoothed_precision_at_top_score
from sklearn_rank.rankers._reweighted import focus_weights

LOGISTIC_GRID = np.logspace(-3, 2, 6)
TOP_GRID = np.logspace(-4, 1, 6)
MANY_FEATURES = 100  # accuracy at the top takes minutes for large C where there are more


def smoothed_precisions(y, score, taus):
    """Mean of P@{tau/2, tau, 2 tau, 4 tau} for each tau."""
    return np.array([smoothed_precision_at_top_score(y, score, tau=tau) for tau in taus])


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


def with_chosen_cost(fit, grid, split, folds, taus, criteria=smoothed_precisions):
    """Choose C for each method and tau, and score the test rows.

    ``fit(X, y, C, X_new)`` returns for each method the scores of new rows: one array for every
    tau, or a list with an array for each. ``criteria(y, score, taus)`` are the values that each
    tau chooses by.

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
                found[c] += _criterion(split.y[held], scores, taus, criteria) / len(folds)
    chosen = {method: found.argmax(axis=0) for method, found in criterion.items()}
    scaler = StandardScaler().fit(split.X)
    X, X_test = scaler.transform(split.X), scaler.transform(split.X_test)
    fits = {
        c: fit(X, split.y, grid[c], X_test) for c in np.unique(np.concatenate([*chosen.values()]))
    }
    return {
        method: (
            [_at(fits[c][method], t) for t, c in enumerate(best)],
            [grid[c] for c in best],
            criterion[method].max(axis=0),
        )
        for method, best in chosen.items()
    }


def _at(scores, t):
    return scores[t] if isinstance(scores, list) else scores


def _criterion(y, scores, taus, criteria):
    if isinstance(scores, list):
        pairs = zip(scores, taus, strict=True)
        return np.array([criteria(y, s, [tau])[0] for s, tau in pairs])
    return criteria(y, scores, taus)


def best_of(results, methods):
    """For each tau the one of several methods that the criterion prefers; ties go to the first."""
    taken = [results[method] for method in methods]
    reached = np.array([criterion for _, _, criterion in taken])
    best = reached.argmax(axis=0)
    return (
        [taken[m][0][t] for t, m in enumerate(best)],
        [taken[m][1][t] for t, m in enumerate(best)],
        reached.max(axis=0),
    )


# ---------------------------------------------------------------------------------- second look


FLOOR, N_ROUNDS = 0.02, 2  # least weight, and fits after the first, of ``TopFocusedRanker``


def width(tau):
    """Its focus for a tau."""
    return max(4.0 * tau, 0.25)


def newton_logistic(X, sign, cost, start):
    """Weights and intercept of logistic regression by Newton's method from a start.

    The same minimum as ``LogisticRegression``, where the rounds, the values of C and the values
    of tau, which differ little, start from each other.
    """
    ridge = np.r_[np.ones(X.shape[1] - 1), 0.0]

    def value(w):
        return 0.5 * ridge @ w**2 + cost @ np.logaddexp(0.0, -sign * (X @ w))

    w, reached = start, value(start)
    for _ in range(100):
        chance = expit(-sign * (X @ w))
        gradient = ridge * w - X.T @ (cost * sign * chance)
        if np.abs(gradient).max() <= 1e-9 * cost.sum():
            break
        curvature = X.T @ ((cost * chance * (1.0 - chance))[:, np.newaxis] * X)
        curvature[np.diag_indices_from(curvature)] += ridge + 1e-10 * cost.sum()
        step = cho_solve(cho_factor(curvature), gradient)
        length, slope = 1.0, gradient @ step
        while (new := value(w - length * step)) > reached - 1e-4 * length * slope:
            length /= 2.0
            if length < 1e-8:
                return w
        w, reached = w - length * step, new
    return w


class LogisticLooks:
    """Logistic regression and second looks, for every tau; fits start from those before."""

    def __init__(self, taus):
        self.taus = taus
        self.rows, self.pilot = None, None

    def __call__(self, X, y, C, X_new):
        if X is not self.rows:
            self.rows, self.pilot = X, np.zeros(X.shape[1] + 1)
        X, X_new = (np.column_stack((part, np.ones(len(part)))) for part in (X, X_new))
        sign = 2.0 * y - 1.0
        pilot = newton_logistic(X, sign, np.full(len(y), C), self.pilot)
        self.pilot, fits = pilot, {}
        found = {"logistic": [X_new @ pilot] * len(self.taus)}
        for tau in self.taus:
            if width(tau) not in fits:
                fits[width(tau)] = self.last_round(X, sign, C, pilot, width(tau))
            last = fits[width(tau)]
            shares = [1.0 / max((X @ w).std(), 1e-300) for w in (pilot, last)]
            both = shares[0] * pilot + shares[1] * last
            found.setdefault("logistic, last", []).append(X_new @ last)
            found.setdefault("logistic, sum", []).append(X_new @ both)
        return found

    @staticmethod
    def last_round(X, sign, C, pilot, focus):
        """Weights of the last round."""
        last = pilot
        for _ in range(N_ROUNDS):
            weight = focus_weights(X @ last, np.ones(len(sign)), Cauchy(focus), FLOOR)
            last = newton_logistic(X, sign, C * weight, last)
        return last


def check_logistic(split, taus):
    """Hold what is fast here against the package's estimator."""
    X = StandardScaler().fit_transform(split.X)
    fast = LogisticLooks(taus)(X, split.y, 1.0, X)
    for t, tau in enumerate(taus):
        model = LogisticRegression(solver="newton-cholesky", tol=1e-10)
        ranker = TopFocusedRanker(model, tau=tau).fit(X, split.y)
        ours, theirs = fast["logistic, sum"][t], ranker.decision_function(X)
        np.testing.assert_allclose(
            (ours - ours.mean()) / ours.std(), (theirs - theirs.mean()) / theirs.std(), atol=1e-4
        )


def logistic(split, taus):
    """Logistic regression and its focused forms."""
    folds = inner_folds(split, 5)
    results = with_chosen_cost(LogisticLooks(taus), LOGISTIC_GRID, split, folds, taus)
    forms = ("logistic", "logistic, last", "logistic, sum")
    results["logistic, choose"] = best_of(results, forms)
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
        """The problem; costs of both classes have the same sum."""
        cost = C / (2 * np.where(y == 1, y.mean(), 1 - y.mean()))
        return PivotProblem.from_rows(X, 2.0 * y - 1.0, cost, np.ones(len(y)))

    def __call__(self, X, y, C, X_new):
        problem = self.problem(X, y, C)
        solved = [solve_pivots_newton(problem, pivots) for pivots in problem.blocks()]
        coef = np.concatenate([block.coef for block in solved])
        value = np.concatenate([block.objective for block in solved])
        scores = problem.scores(coef)
        scores_new = {}
        for tau in self.taus:
            for rule, vector in self.rules(problem, coef, value, scores, tau).items():
                scores_new.setdefault(f"top, {rule}", []).append(X_new @ vector)
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


def accuracy_at_top(split, taus):
    """Accuracy at the top by each rule."""
    grid = TOP_GRID if split.X.shape[1] < MANY_FEATURES else TOP_GRID[:4]
    return with_chosen_cost(TopFit(taus), grid, split, inner_folds(split, 3), taus)


# --------------------------------------------------------------------------------------- boosting


def lightgbm(split, taus):
    """LightGBM and its focused forms, with ranks out of fold."""
    model = LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
    folds, rankers, scores = inner_folds(split, 5), {}, {}
    for tau in taus:
        if width(tau) not in rankers:
            ranker = TopFocusedRanker(model, tau=tau, cv=folds).fit(split.X, split.y)
            rankers[width(tau)] = _forms(ranker, split.X_test)
        for form, score in rankers[width(tau)].items():
            scores.setdefault(form, []).append(score)
    none = np.full(len(taus), np.nan)
    return {form: (by_tau, none, none) for form, by_tau in scores.items()}


def _forms(ranker, X_new):
    """Scores of new rows by the pilot of a focused ranker, by the last round, and by both."""
    fits = (ranker.pilot_, ranker.rounds_[-1])
    scores = [model.predict(X_new, raw_score=True) for model in fits]
    spread = np.where(ranker.spreads_ > 0, ranker.spreads_, np.inf)
    return {
        "lightgbm": scores[0],
        "lightgbm, last": scores[1],
        "lightgbm, sum": scores[0] / spread[0] + scores[1] / spread[1],
    }


# By the method that shows that the family is there: what it is, and its splits with fewer than
# MANY_FEATURES and with more.
FAMILIES = {
    "logistic": (logistic, 10, 4),
    "top, closest": (accuracy_at_top, 6, 3),
    "lightgbm": (lightgbm, 4, 3),
}
