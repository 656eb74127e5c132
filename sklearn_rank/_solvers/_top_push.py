"""Active-set method for positives above the top of other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray, FloatArray
from ._result import Certificate, SolverResult
from ._top_functionals import TopMean
from ._top_mean import minimise_top_mean
from ._top_part import Judge, TopPart, TopPushProblem, not_worse, share_left
from ._top_quantile import minimise_top_quantile

__all__ = ["TopPushSolution", "sampled", "solve_top_push"]

# Rows beside those that count which the first set and each larger one have.
SPARE_ROWS = 500

# Entries of X up to which steps beyond the tolerance cost nothing that a user would notice.
SMALL = 1_000_000

# Relative gap of the solutions from which the rows that count are guessed.
ROUGH = 1e-2

# Rows that T is of in the sample from which a large problem's first set is guessed, at least.
SAMPLED_ROWS = 20_000

# Positives in the sample, at least, where there are as many.
SAMPLED_POSITIVES = 2_000


@dataclass(frozen=True, eq=False)
class TopPushSolution(SolverResult):
    """A solution, and T at its scores."""

    top: float  # T(X coef)


def solve_top_push(
    problem: TopPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    stop: Callable[[float, float], bool] | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> TopPushSolution:
    """Put positives above a functional of the top of other rows, with a certificate.

    T is taken of the rows that score high so far, and rows that turn out to count are added. The
    mean of the top is minimised by a primal-dual interior point method, a surrogate of the
    quantile by Newton's method.
    """
    n_rows, n_features = problem.design.shape
    # No solution is worse than 0, which is the best one more often than one would think.
    coef, lower = np.zeros(n_features), -np.inf
    best, top = problem.change(coef, np.zeros(n_rows))

    def near(change: float, bound: float) -> bool:
        return problem.is_solved_by_zero(bound) or (stop is not None and stop(change, bound))

    n_iter, wanted, kept = 0, 0.5 * tol, np.ones(len(problem.reference), dtype=bool)
    if len(kept) > 4 * SPARE_ROWS:
        first = _first_guess(problem, max_iter)
        kept = _with_spare(problem, problem.design.scores(first)[problem.reference])
        wanted = max(wanted, ROUGH)
    part = TopPart(problem, kept)
    small = n_rows * n_features <= SMALL
    while True:
        judge = Judge(wanted, near, max_iter - n_iter, rounding=problem.rounding, polish=small)
        if isinstance(problem.top, TopMean):
            minimise_top_mean(part, judge)
        else:
            minimise_top_quantile(part, judge, coef)
        n_iter += judge.n_iter
        lower = max(lower, judge.lower_bound)
        scores = problem.design.scores(judge.coef)
        change, value = problem.change(judge.coef, scores)
        if not_worse(change, best, problem.rounding):
            coef, best, top = judge.coef, change, value
        gap = share_left(best, lower, problem.rounding)
        if on_iteration is not None:
            on_iteration(n_iter, problem.at_zero + best, gap)
        converged = gap <= tol or near(best, lower)
        missing = problem.top.counting(scores[problem.reference]) & ~part.kept
        if converged or n_iter >= max_iter or (judge.exhausted and not missing.any()):
            break
        wanted = 0.5 * tol
        if missing.any():
            part.keep(part.kept | _with_spare(problem, scores[problem.reference]))
    at_zero = problem.at_zero
    if problem.is_solved_by_zero(lower):
        coef, best, gap = np.zeros(n_features), 0.0, -lower / at_zero if at_zero else 0.0
    certificate = Certificate(
        at_zero + best, at_zero + lower, n_iter=n_iter, converged=converged, gap=gap
    )
    return TopPushSolution(coef, certificate, top)


def _first_guess(problem: TopPushProblem, max_iter: int) -> FloatArray:
    """Solve the problem of a sample of the rows roughly, or take the difference of the means."""
    sample = sampled(problem)
    if sample is not None:
        return solve_top_push(sample, tol=ROUGH, max_iter=max_iter).coef
    by_row = np.zeros(problem.design.shape[0])
    by_row[problem.reference] = -1.0 / len(problem.reference)
    by_row[problem.positive] += problem.cost / problem.cost.sum()
    return problem.design.pull_back(by_row)


def sampled(problem: TopPushProblem) -> TopPushProblem | None:
    """Keep one row in so many of a large problem, and its costs in proportion."""
    stride = len(problem.reference) // SAMPLED_ROWS
    if stride < 2:
        return None
    of_positives = max(1, min(stride, len(problem.positive) // SAMPLED_POSITIVES))
    positive, reference = problem.positive[::of_positives], problem.reference[::stride]
    needed = np.union1d(positive, reference)
    return replace(
        problem,
        design=problem.design.rows(needed),
        positive=np.searchsorted(needed, positive),
        cost=of_positives * problem.cost[::of_positives],
        reference=np.searchsorted(needed, reference),
        top=problem.top.sample(stride),
    )


def _with_spare(problem: TopPushProblem, scores: FloatArray) -> BoolArray:
    """Rows that T depends on, and some that score less."""
    counting = problem.top.counting(scores)
    n_kept = int(1.5 * np.count_nonzero(counting)) + SPARE_ROWS
    if n_kept >= len(scores):
        return np.ones(len(scores), dtype=bool)
    level = np.partition(scores, len(scores) - n_kept)[len(scores) - n_kept]
    return np.asarray(counting | (scores >= level))
