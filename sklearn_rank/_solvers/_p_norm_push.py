"""P-norm push: p-norm over the negatives of their mean loss against the positives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ._design import Design
from ._logistic_sums import LogisticSums
from ._result import SolverResult
from ._ridge_newton import Curvature, ScoreFunction, minimise_with_ridge

__all__ = ["PNormPushProblem", "solve_p_norm_push"]


@dataclass(frozen=True, eq=False)
class _Class:
    """The rows of one class, and their shares of its weight."""

    rows: IntArray
    share: FloatArray


@dataclass(frozen=True, eq=False)
class _Push:
    """Base class of both losses."""

    positives: _Class
    negatives: _Class
    p: float
    C: float

    def _joined(self, of_positives: FloatArray, of_negatives: FloatArray) -> FloatArray:
        joined = np.empty(len(of_positives) + len(of_negatives))
        joined[self.positives.rows] = self.C * of_positives
        joined[self.negatives.rows] = self.C * of_negatives
        return joined


class _ExponentialPush(_Push):
    """``C log R_p`` of the exponential, which is a sum of two logarithms of sums.

    ``log mean exp(-s_i) + (1 / p) log mean exp(p s_j)``, i positives, j negatives.
    """

    @property
    def scale(self) -> float:
        return self.C

    def value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        lifted, on_positives = _soft_maximum(-scores[self.positives.rows], self.positives, 1.0)
        pushed, on_negatives = _soft_maximum(scores[self.negatives.rows], self.negatives, self.p)
        return self.C * (lifted + pushed), self._joined(-on_positives, on_negatives)

    def curvature(self, scores: FloatArray) -> Curvature:
        _, slopes = self.value_and_slopes(scores)
        return _ExponentialCurvature(self, slopes)


class _ExponentialCurvature:
    """Its second derivatives: variances under the two distributions of the slopes."""

    is_exact = True

    def __init__(self, push: _ExponentialPush, slopes: FloatArray) -> None:
        C, p = push.C, push.p
        lifted, pushed = np.zeros_like(slopes), np.zeros_like(slopes)
        lifted[push.positives.rows] = slopes[push.positives.rows]
        pushed[push.negatives.rows] = slopes[push.negatives.rows]
        self.diagonal = p * pushed - lifted
        self.subtracted = [lifted / np.sqrt(C), pushed * np.sqrt(p / C)]

    def product(self, direction: FloatArray) -> FloatArray:
        found = self.diagonal * direction
        for vector in self.subtracted:
            found -= vector * (vector @ direction)
        return found


class _LogisticPush(_Push):
    """``C R_p`` of ``log(1 + exp(u))``: a norm of convex functions that are not negative."""

    @property
    def scale(self) -> float:
        return self.C

    def value_and_slopes(self, scores: FloatArray) -> tuple[float, FloatArray]:
        sums = self._sums(scores)
        heights = sums.at_upper((0, self.positives.share))
        norm, shares = self._norm(heights)
        on_negatives = shares * sums.at_upper((1, self.positives.share))
        on_positives = self.positives.share * sums.at_lower((1, shares))
        return self.C * norm, self._joined(-on_positives, on_negatives)

    def curvature(self, scores: FloatArray) -> Curvature:
        return _LogisticCurvature(self, scores)

    def _sums(self, scores: FloatArray) -> LogisticSums:
        return LogisticSums(scores[self.negatives.rows], scores[self.positives.rows])

    def _norm(self, heights: FloatArray) -> tuple[float, FloatArray]:
        """p-norm of the heights of the negatives, and its derivatives by them."""
        highest = float(heights.max())
        if not highest > 0.0:
            return 0.0, np.zeros_like(heights)
        powers = self.negatives.share * (heights / highest) ** (self.p - 1.0)
        mean = float(powers @ (heights / highest))
        return highest * mean ** (1.0 / self.p), powers * mean ** (1.0 / self.p - 1.0)


class _LogisticCurvature:
    """Its second derivatives, by products."""

    is_exact = False

    def __init__(self, push: _LogisticPush, scores: FloatArray) -> None:
        self._push, self._sums = push, push._sums(scores)
        own, share = self._sums, push.positives.share
        self._heights = np.maximum(own.at_upper((0, share)), np.finfo(np.float64).tiny)
        self._norm, self._shares = push._norm(self._heights)
        self._rises = own.at_upper((1, share))
        self._bend_up = self._shares * own.at_upper((2, share))
        self._bend_down = share * own.at_lower((2, self._shares))
        spread = (push.p - 1.0) * self._shares * self._rises / self._heights * self._rises
        self.diagonal = push._joined(self._bend_down, self._bend_up + spread)
        # About one mean for all, which pairs are not, but a constant adds nothing either way.
        self.subtracted = [
            self.diagonal / np.sqrt(max(self.diagonal.sum(), np.finfo(np.float64).tiny))
        ]

    def product(self, direction: FloatArray) -> FloatArray:
        push, own = self._push, self._sums
        up, down = direction[push.negatives.rows], direction[push.positives.rows]
        weighted = push.positives.share * down
        rise = self._rises * up - own.at_upper((1, weighted))
        rise = self._shares * (rise / self._heights)
        if self._norm > 0.0:
            rise -= self._shares * ((self._heights @ rise) / self._norm)
        rise *= push.p - 1.0
        on_up = (
            self._bend_up * up - self._shares * own.at_upper((2, weighted)) + self._rises * rise
        )
        on_down = self._bend_down * down
        on_down -= push.positives.share * own.at_lower((2, self._shares * up), (1, rise))
        return push._joined(on_down, on_up)


def _soft_maximum(values: FloatArray, members: _Class, p: float) -> tuple[float, FloatArray]:
    """``log(mean exp(p values)) / p`` of a class, and its derivatives by the values."""
    highest = float(values.max())
    terms = members.share * np.exp(p * (values - highest))
    total = float(terms.sum())
    return highest + np.log(total) / p, terms / total


@dataclass(frozen=True, eq=False)
class PNormPushProblem:
    """Minimise ``1 / 2 ||w||**2 + C f(R_p)``, the p-norm push of the scores X w.

    ``R_p = (mean over negatives j of (mean over positives i of l(s_j - s_i))**p)**(1/p)``, the
    means weighted. With the exponential loss l and f the objective has the logarithm of R_p, with
    the logistic loss R_p itself: so each is convex.
    """

    design: Design  # The rows X
    positive: BoolArray  # (n,): Which rows are positive; there are some of each class
    weight: FloatArray  # (n,): Positive weights of the rows
    p: float  # At least 1, finite
    C: float
    loss: Literal["exponential", "logistic"]  # The loss l of a pair

    def function(self) -> ScoreFunction:
        """The objective without the penalty, as a function of scores."""
        made = _ExponentialPush if self.loss == "exponential" else _LogisticPush
        positives, negatives = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        return made(
            _Class(positives, self.weight[positives] / self.weight[positives].sum()),
            _Class(negatives, self.weight[negatives] / self.weight[negatives].sum()),
            self.p,
            self.C,
        )


def solve_p_norm_push(
    problem: PNormPushProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    on_iteration: Callable[[int, float, float], None] | None = None,
) -> SolverResult:
    """Minimise the p-norm push of linear scores by Newton's method."""
    return minimise_with_ridge(
        problem.design,
        problem.function(),
        tol=tol,
        max_iter=max_iter,
        on_iteration=on_iteration,
    )
