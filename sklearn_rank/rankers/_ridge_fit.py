"""What linear rankers with a ridge penalty share: the problem solved, its certificate stored."""

from __future__ import annotations

from typing import Any

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


def ridge_solution(
    estimator: Any,
    problem: LinearProblem | BlockProblem | LabelProblem,
    start: FloatArray | None,
    data: tuple[Any, Any],
) -> LinearSolution:
    """Solve the problem of an estimator, and store its intercepts and certificate there.

    Parameters
    ----------
    estimator : estimator
        With the parameters ``solver``, ``tol`` and ``max_iter``; its fit runs under callbacks.
    problem : LinearProblem, BlockProblem or LabelProblem
        The problem.
    start : ndarray or None
        Parameters to start from; None is 0.
    data : tuple of (X, y)
        Training data, handed to the callbacks.

    Returns
    -------
    LinearSolution
        The solution, whose coefficients are for the caller to store.
    """
    progress = FitProgress(estimator, estimator.max_iter, *data, criterion="gradient_norm")
    solution = solve_linear(
        problem,
        method=estimator.solver,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        start=start,
        on_iteration=progress.iteration,
    )
    certificate = solution.certificate
    if not certificate.converged:
        warn_not_converged(
            "gradient_norm",
            certificate.gradient_norm,
            n_iter=certificate.n_iter,
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
