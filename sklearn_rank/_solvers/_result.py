"""Results of solvers with certificates, methods that losses permit, and numbers of threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from .._typing import FloatArray


def relative_gap(objective: Any, lower_bound: Any) -> FloatArray:
    """Share of objectives by which they may exceed their minima. Shape (...)."""
    gap = np.maximum(np.asarray(objective) - lower_bound, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(gap == 0, 0.0, gap / np.abs(objective)))


@dataclass(frozen=True)
class Certificate:
    """How good a solution is, in the terms that all solvers share."""

    objective: float  # Value of the objective at the solution
    lower_bound: float = float("nan")
    gradient_norm: float = float("nan")
    n_iter: int = 0  # Number of iterations
    converged: bool = True
    gap: float = float("nan")

    def __post_init__(self) -> None:
        # No criterion holds where the objective is no number.
        object.__setattr__(self, "converged", self.converged and bool(np.isfinite(self.objective)))

    @property
    def relative_gap(self) -> float:
        if not np.isnan(self.gap):
            return self.gap
        return float(relative_gap(self.objective, self.lower_bound))


@dataclass(frozen=True, eq=False)
class SolverResult:
    """A solution with its certificate, the base of the results of all solvers."""

    coef: FloatArray  # (n_features,): Weights of the features
    certificate: Certificate  # How good they are
    intercept: Any = 0.0  # (n_labels,) of a problem of labels
    parameters: Any = None  # (n_parameters,): Of a linear problem, which has both in one vector


def choose_method(loss: Any, method: str = "auto", *, also: str = "") -> str:
    """Choose a method of :func:`solve_linear` that a loss permits, or refuse the loss."""
    if not loss.is_convex:
        raise ValueError(
            f"loss={loss!r} is not convex in the scores, so that a minimum cannot be certified: "
            "use a convex loss. A Bregman divergence is convex if its link is the inverse of "
            "psi_gradient."
        )
    # Rankers have the method as their parameter ``solver``.
    user = also or ("solver='newton-cg'" if method == "newton-cg" else "")
    if user and not loss.has_hessian_product:
        raise ValueError(
            f"{user} needs Hessian products, which {loss!r} does not provide: use fit with "
            "solver='lbfgs', or define the second derivative of the loss."
        )
    if method == "lbfgs" or not loss.has_hessian_product:
        return "lbfgs"
    return "newton-cg"


_entering = threading.Lock()
_n_holders = 0
_limit: Any = None
# Finding the thread pools of the process takes longer than a small fit.
_pools = cache(ThreadpoolController)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; of contexts that overlap the first sets it and the last ends it."""
    global _n_holders, _limit
    with _entering:
        if _n_holders == 0:
            _limit = _pools().limit(limits=1, user_api="blas")
        _n_holders += 1
    try:
        yield
    finally:
        with _entering:
            _n_holders -= 1
            if _n_holders == 0:
                _limit.restore_original_limits()


def count_threads(n_jobs: int | None) -> int:
    """Count the threads that a fit may use within this process."""
    configured = get_active_backend()[1] if n_jobs is None else n_jobs
    backend, _ = get_active_backend(require="sharedmem")
    return int(backend.effective_n_jobs(1 if configured is None else configured))
