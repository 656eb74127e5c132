"""Result of solvers, with certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = ["Certificate", "SolverResult", "relative_gap"]


def relative_gap(objective: Any, lower_bound: Any) -> FloatArray:
    """Share of objectives by which they may exceed their minima.

    Parameters
    ----------
    objective : float or ndarray of shape (...)
        Values of the objective.
    lower_bound : float or ndarray of shape (...)
        Values below which the objective cannot be brought; NaN where none is known.

    Returns
    -------
    ndarray of shape (...)
        ``(objective - lower_bound) / |objective|``: 0 where the two are equal or rounding has
        turned them around, infinite where only the objective is 0, NaN where there is no bound.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank._solvers._result import relative_gap
    >>> relative_gap(np.array([2.0, 0.0, 1.0]), np.array([1.5, 0.0, np.nan]))
    array([0.25, 0.  ,  nan])
    """
    gap = np.maximum(np.asarray(objective) - lower_bound, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(gap == 0, 0.0, gap / np.abs(objective)))


@dataclass(frozen=True)
class Certificate:
    """How good a solution is, in the words that all solvers share.

    Parameters
    ----------
    objective : float
        Value of the objective at the solution.
    lower_bound : float, default=nan
        Certified: no coefficients bring the objective below it; the value of a feasible point of
        the dual problem, or a consequence of strong convexity. NaN where none is known.
    gradient_norm : float, default=nan
        Norm of the gradient at the solution relative to that at 0; NaN where the objective has
        none or the solver does not look at it.
    n_iter : int, default=0
        Number of iterations.
    converged : bool, default=True
        Whether the certificate that the solver goes by, the relative gap or the gradient norm, is
        at most the tolerance that was asked for.
    gap : float, default=nan
        The relative gap of solvers that go by another one than that relative to the objective.

    Examples
    --------
    >>> from sklearn_rank._solvers._result import Certificate
    >>> certificate = Certificate(2.0, lower_bound=1.5, n_iter=7, converged=False)
    >>> certificate.relative_gap, certificate.gradient_norm
    (0.25, nan)
    """

    objective: float
    lower_bound: float = float("nan")
    gradient_norm: float = float("nan")
    n_iter: int = 0
    converged: bool = True
    gap: float = float("nan")

    def __post_init__(self) -> None:
        # No criterion holds where the objective is no number.
        object.__setattr__(self, "converged", self.converged and bool(np.isfinite(self.objective)))

    @property
    def relative_gap(self) -> float:
        """Objective less its lower bound, relative to the objective if not said otherwise."""
        if not np.isnan(self.gap):
            return self.gap
        return float(relative_gap(self.objective, self.lower_bound))


@dataclass(frozen=True, eq=False)
class SolverResult:
    """A solution with its certificate, the base of the results of all solvers.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        Weights of the features.
    certificate : Certificate
        How good they are.
    """

    coef: FloatArray
    certificate: Certificate
