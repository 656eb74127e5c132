"""Linear scores that minimise a hinge of pairs with a ridge penalty, with a duality gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ._linear import LossOfScores, solve_linear

__all__ = ["HingeSolution", "solve_linear_hinge"]

# By which factor the curved part of the hinge shrinks from one problem to the next.
SHRINKAGE = 0.25


@dataclass(frozen=True, eq=False)
class HingeSolution:
    """Minimum of ``sum(hinge(X w)) + alpha / 2 ||w||**2``.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        The minimiser w.
    objective : float
        Value of the objective.
    dual_gap : float
        The objective less the best lower bound, relative to the objective.
    n_iter : int
        Number of Newton steps.
    converged : bool
        Whether the gap is at most ``tol``.

    Examples
    --------
    >>> from sklearn_rank._solvers import HingeSolution
    >>> HingeSolution([1.0], 0.5, 1e-7, 12, True).converged
    True
    """

    coef: FloatArray
    objective: float
    dual_gap: float
    n_iter: int
    converged: bool


class _SmoothedHinge:
    """Hinge whose kink is a parabola of a width: a difference of two squared hinges."""

    def __init__(self, outer: LossOfScores, inner: LossOfScores, width: float) -> None:
        self.outer = outer
        self.inner = inner
        self.factor = 1 / (2 * width)

    def value_and_gradient(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, gradient = self.outer.value_and_gradient(score)
        inner_values, inner_gradient = self.inner.value_and_gradient(score)
        return self.factor * (values - inner_values), self.factor * (gradient - inner_gradient)

    def hessian_product(self, score: FloatArray, direction: FloatArray) -> FloatArray:
        outer = self.outer.hessian_product(score, direction)
        return self.factor * (outer - self.inner.hessian_product(score, direction))

    def curvature(self, score: FloatArray) -> FloatArray:
        return self.factor * (self.outer.curvature(score) - self.inner.curvature(score))


def solve_linear_hinge(
    X: Any,
    hinge: Callable[[float], LossOfScores],
    squared_hinge: Callable[[float], LossOfScores],
    *,
    alpha: float,
    margin: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: FloatArray | None = None,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> HingeSolution:
    """Minimise ``sum over pairs of max(0, margin - d) + alpha / 2 ||w||**2``.

    Here d is the difference of the scores X w of a pair.

    The kink is rounded off to a parabola that is made ever narrower; each rounded problem is
    solved by Newton's method from the solution of the last. Its slopes at the pairs are a point of
    the dual problem, which gives a lower bound of the minimum.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, n_features)
        Rows.
    hinge : callable
        The hinge of the pairs, as a loss of scores, at a margin.
    squared_hinge : callable
        The squared hinge of the same pairs at a margin.
    alpha : float
        Penalty, greater than 0.
    margin : float, default=1.0
        Margin of the hinge, greater than 0.
    tol : float, default=1e-4
        Largest duality gap, relative to the objective.
    max_iter : int, default=1000
        Largest number of Newton steps in all.
    start : ndarray of shape (n_features,) or None, default=None
        Where to start; None is 0.
    on_iteration : callable or None, default=None
        Called after each rounded problem with the number of steps so far, the objective and the
        gap.

    Returns
    -------
    HingeSolution
        The solution and its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import ComparisonHinge, ComparisonSquaredHinge
    >>> from sklearn_rank._solvers import solve_linear_hinge
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), [0, 1, 2]
    >>> found = solve_linear_hinge(
    ...     X,
    ...     lambda margin: ComparisonHinge(margin).on(y),
    ...     lambda margin: ComparisonSquaredHinge(margin).on(y),
    ...     alpha=0.1,
    ... )
    >>> found.coef.round(2), found.converged
    (array([1.]), True)
    """
    w = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=np.float64)
    exact, outer = hinge(margin), squared_hinge(margin)
    width = margin / 2
    best_w, best, bound = w, np.inf, 0.0
    n_iter = 0
    gap = np.inf
    while n_iter < max_iter and width > 1e-9 * margin:
        loss = _SmoothedHinge(outer, squared_hinge(margin - width), width)
        # A problem needs no better solution than its rounding is worth.
        solution = solve_linear(
            X,
            loss,
            alpha=alpha,
            tol=max(1e-9, 1e-3 * np.sqrt(width / margin)),
            max_iter=max_iter - n_iter,
            start=w,
        )
        n_iter += max(1, solution.n_iter)
        w = solution.coef
        scores = np.asarray(X @ w)
        values = exact.value_and_gradient(scores)[0].sum()
        objective = float(values + 0.5 * alpha * w @ w)
        if objective < best:
            best_w, best = w, objective
        pulled = X.T @ loss.value_and_gradient(scores)[1]
        inner = hinge(margin - width).value_and_gradient(scores)[0].sum()
        slopes = (values - inner) / width
        bound = max(bound, float(margin * slopes - pulled @ pulled / (2 * alpha)))
        gap = (best - bound) / best if best > 0 else 0.0
        if on_iteration is not None:
            on_iteration(n_iter, best, gap)
        if gap <= tol:
            break
        width *= SHRINKAGE
    return HingeSolution(
        coef=best_w, objective=best, dual_gap=gap, n_iter=n_iter, converged=bool(gap <= tol)
    )
