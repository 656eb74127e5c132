"""Accuracy at the top from a few of its candidates, and the data on which it was tried.

A study's method and no part of the package: the user guide, "Many rows", says why.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_rank._solvers import PivotProblem, solve_pivots_newton

# Share of the list at which a focused cost is one half, and the least cost.
FOCUS, FLOOR = 0.25, 0.02
COSTS = ("balanced", "matched", "matched, focused")


def simulate(kind, n, d=50, seed=0):
    """Rows and labels: ``well`` and ``tails`` of a logistic model, of normal rows and of t ones
    of 2.5 degrees of freedom; ``noise`` with labels by chance below the top; ``top`` whose top
    follows another direction than the rest."""
    rng = np.random.default_rng(seed)
    first, second = np.linalg.qr(np.random.default_rng(77).normal(size=(d, 2)))[0].T
    X = rng.standard_t(2.5, size=(n, d)) if kind == "tails" else rng.normal(size=(n, d))
    score = X @ first
    if kind == "well":
        share = expit(1.5 * score - 2)
    elif kind == "tails":
        share = expit(score - 2)
    elif kind == "noise":
        share = np.where(score > 1.6, expit(4 * (score - 2)), 0.15)
    else:
        above = expit(3 * ((score + X @ second) / np.sqrt(2) - 1.5))
        share = np.where(score > 1, above, expit(0.8 * score - 2))
    return X, (rng.random(n) < share).astype(int)


@dataclass
class FewCandidates:
    """The mean of the unit-norm solutions of the candidates nearest to a pilot's quantile."""

    tau: float
    total_cost: float
    costs: str = "balanced"
    n_candidates: int = 24
    tol: float = 1e-3
    n_jobs: int = 2

    def fit(self, X, y, pilot=None):
        """Fit to rows; ``above_`` is the median share of rows above the pivot of a solution."""
        pilot = pilot or LogisticRegression(max_iter=1000).fit(X, y)
        n = len(y)
        scores = pilot.decision_function(X)
        quantile = np.partition(scores, -round(self.tau * n))[-round(self.tau * n)]
        cost = self._cost(y, scores, quantile)
        problem = PivotProblem.from_rows(
            X, np.where(y == 1, 1.0, -1.0), self.total_cost * cost / cost.sum(), np.ones(n)
        )
        nearest = np.argsort(np.abs(scores[problem.candidate_indices] - quantile), kind="stable")
        pivots = problem.pivots[nearest[: self.n_candidates]]
        parts = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(solve_pivots_newton)(problem, part, tol=self.tol)
            for part in np.array_split(pivots, 4)
        )
        coef = np.concatenate([part.coef for part in parts])
        of_rows = problem.scores(coef)
        of_pivots = of_rows[np.arange(len(pivots)), pivots]
        self.above_ = float(np.median(np.mean(of_rows > of_pivots[:, None], axis=1)))
        coef /= np.linalg.norm(coef, axis=1, keepdims=True)
        self.coef_ = coef.mean(axis=0)
        return self

    def decision_function(self, X):
        return X @ self.coef_

    def _cost(self, y, scores, quantile):
        """Equal totals of the classes, or such that the quantile is where they balance."""
        if self.costs == "balanced":
            return np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
        cost = np.where(y == 1, 1.0, np.exp(np.clip(quantile, -7, 7)))
        if self.costs == "matched, focused":
            above = np.empty(len(y))
            above[np.argsort(-scores, kind="stable")] = (np.arange(len(y)) + 0.5) / len(y)
            cost *= np.maximum(FLOOR, 1 / (1 + (above / FOCUS) ** 2))
        return cost
