"""Helpers of linear rankers with a ridge penalty: solving the problem, storing the certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._checkpoint import Checkpoints
from .._solvers import (
    BlockProblem,
    LabelProblem,
    LinearProblem,
    LinearSolution,
    solve_linear,
)
from .._typing import FloatArray
from ._fitting import FitProgress, warn_not_converged

__all__ = ["ridge_solution"]

# Name of the parameters in a checkpoint.
ITERATE = "iterate"
# Digits that evaluations of one problem share, in whatever order sums are taken.
SHARED_DIGITS = 8


def ridge_solution(
    estimator: Any,
    problem: LinearProblem | BlockProblem | LabelProblem,
    start: FloatArray | None,
    data: tuple[Any, Any],
    checkpoints: Checkpoints | None = None,
) -> LinearSolution:
    """Solve the problem of an estimator, and store its intercepts and certificate there."""
    progress = FitProgress(estimator, estimator.max_iter, *data, criterion="gradient_norm")
    done, keep = 0, None
    if checkpoints is not None:
        checkpoint = checkpoints.of(*_marks(problem))
        like = {"parameters": ("f", (problem.n_parameters,)), "n_iter": ("i", ())}
        saved = checkpoint.load(ITERATE, like=like)
        if saved is not None:
            start, done = saved["parameters"], int(saved["n_iter"])

        def keep(n_iter: int, parameters: FloatArray) -> None:
            checkpoint.save(ITERATE, parameters=parameters, n_iter=done + n_iter)

    solution = solve_linear(
        problem,
        method=estimator.solver,
        tol=estimator.tol,
        max_iter=max(1, estimator.max_iter - done),
        start=start,
        on_iteration=lambda n_iter, *found: progress.iteration(done + n_iter, *found),
        keep=keep,
    )
    certificate = replace(solution.certificate, n_iter=done + solution.certificate.n_iter)
    if not certificate.converged:
        warn_not_converged(
            "gradient_norm",
            certificate.gradient_norm,
            n_iter=certificate.n_iter,
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            regularise="raise alpha",
        )
    estimator.intercept_ = solution.intercept
    estimator.objective_ = certificate.objective
    estimator.lower_bound_ = certificate.lower_bound
    estimator.gradient_norm_ = certificate.gradient_norm
    estimator.converged_ = certificate.converged
    estimator.n_iter_ = certificate.n_iter
    progress.done()
    return solution


def _marks(problem: LinearProblem | BlockProblem | LabelProblem) -> tuple[Any, ...]:
    """Numbers by which a problem is known again: its value and gradient at 0, and its penalty.

    They need no copy of the data, which may be anywhere. Parameters of another problem would cost
    iterations, but lead to the same minimum.
    """
    value, gradient = problem.value_and_gradient(np.zeros(problem.n_parameters))
    size = float(np.linalg.norm(gradient)) or 1.0
    numbers = [f"{one:.{SHARED_DIGITS}e}" for one in (value, size, problem.alpha)]
    return *numbers, np.round(gradient / size, SHARED_DIGITS) + 0.0
