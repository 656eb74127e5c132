"""Rounds of the top-focused ranker, each weighted by the ranking of the previous one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._sklearn_compat import rows_at
from .._typing import AnyArray, FloatArray
from ..metrics import ScoreGeneratingFunction
from ._fitting import in_parallel
from ._folds import Fold
from ._weighted_base import fit_with_weights, log_odds

__all__ = ["COMBINATIONS", "Combination", "Rounds", "SecondLook", "focus_weights"]

Combination = Literal["pilot", "last", "sum"]
COMBINATIONS: tuple[Combination, ...] = ("pilot", "last", "sum")

# Scores that differ by at most this share of their range count as tied, since rounding separates
# equal rows.
TIED = 1e-10


def focus_weights(
    scores: FloatArray, weight: FloatArray, phi: ScoreGeneratingFunction, floor: float
) -> FloatArray:
    """Compute row weights from places in a ranking. Shape (n,)."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    new = np.r_[True, -np.diff(ordered) > TIED * (ordered[0] - ordered[-1])]
    starts = np.flatnonzero(new)
    mass = np.add.reduceat(weight[order], starts)
    below = (weight.sum() - np.cumsum(mass) + mass / 2.0) / weight.sum()
    rate = np.asarray(phi.derivative(np.clip(below, 0.0, 1.0)), dtype=np.float64)
    if not np.all(np.isfinite(rate) & (rate >= 0.0)) or rate.max() <= 0.0:
        raise ValueError(
            f"The derivative of focus={phi!r} must be finite and non-negative at the places of "
            "all rows, and positive for at least one: pass another function, such as "
            "Cauchy(0.25)."
        )
    focused = np.empty(len(scores))
    focused[order] = np.repeat(
        np.maximum(floor, rate / rate.max()), np.diff(starts, append=len(scores))
    )
    focused *= weight
    return focused * (weight.sum() / focused.sum())


@dataclass(frozen=True, eq=False)
class Rounds:
    """The fits, first to last."""

    models: list[Any]  # Fitted classifiers, the pilot first
    positive: Any  # The class that belongs on top
    spreads: tuple[float, float]
    held_out: tuple[FloatArray, FloatArray] | None = None

    def scores(
        self,
        X: Any,
        combination: Combination,
        score: Callable[[Any, Any, Any], FloatArray] = log_odds,
    ) -> FloatArray:
        """Score rows. Scores by which the positives are on top. Shape (n,)."""
        parts = [
            score(model, X, self.positive) if share else 0.0
            for model, share in zip(
                (self.models[0], self.models[-1]), self.shares(combination), strict=True
            )
        ]
        return self.combined(parts, combination)

    def shares(self, combination: Combination) -> FloatArray:
        """Shares of the pilot and of the last round in a combination."""
        if combination != "sum":
            return np.array([1.0, 0.0] if combination == "pilot" else [0.0, 1.0])
        # Scores without spread order nothing, and have no share.
        shares = np.array([1.0 / spread if spread > 0.0 else 0.0 for spread in self.spreads])
        return shares / shares.sum() if shares.any() else np.array([0.0, 1.0])

    def combined(self, parts: Any, combination: Combination) -> FloatArray:
        """Combine scores, coefficients or importances of the pilot and of the last round."""
        shares = self.shares(combination)
        return shares[0] * parts[0] + shares[1] * parts[1]


@dataclass(frozen=True, eq=False)
class SecondLook:
    """How to fit in rounds."""

    estimator: Any  # Classifier that takes weights
    phi: ScoreGeneratingFunction  # What places count
    floor: float  # Least weight, as a share of the largest
    n_rounds: int  # Fits after the first
    folds: Callable[[Any, Any, AnyArray, Any], Sequence[Fold] | None]
    n_jobs: int | None  # Number of threads or processes over the folds
    fit_params: dict[str, Any]  # Further arguments of each fit

    def fit(
        self,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        *,
        positive: Any,
        groups: Any = None,
        on_round: Callable[[], None] = lambda: None,
        held_out: Callable[[Any], Sequence[Fold] | None] = lambda pilot: None,
    ) -> Rounds:
        """Fit, weigh the rows by their places, fit again."""
        models = [self._fit(X, y, weight)]
        on_round()
        folds = self.folds(models[0], X, y, groups)
        current, of_pilot = weight, None
        for _ in range(self.n_rounds):
            if folds is None:
                scores = log_odds(models[-1], X, positive)
            else:
                scores = self._held_out_scores(X, y, current, positive, folds)
                of_pilot = scores if of_pilot is None else of_pilot
            current = focus_weights(scores, weight, self.phi, self.floor)
            models.append(self._fit(X, y, current))
            on_round()
        spreads = [
            _spread(log_odds(model, X, positive), weight) for model in (models[0], models[-1])
        ]
        scored, parts = None, held_out(models[0])
        if parts is not None:
            if of_pilot is None:
                of_pilot = self._held_out_scores(X, y, weight, positive, parts)
            scored = of_pilot, self._held_out_scores(X, y, current, positive, parts)
        return Rounds(models, positive, (spreads[0], spreads[1]), scored)

    def _fit(self, X: Any, y: AnyArray, weight: FloatArray) -> Any:
        return fit_with_weights(self.estimator, X, y, weight, **self.fit_params)

    def _score_held_out(
        self, X: Any, y: AnyArray, weight: FloatArray, positive: Any, fold: Fold
    ) -> FloatArray:
        train, test = fold
        model = self._fit(rows_at(X, train), y[train], weight[train])
        return log_odds(model, rows_at(X, test), positive)

    def _held_out_scores(
        self, X: Any, y: AnyArray, weight: FloatArray, positive: Any, folds: Sequence[Fold]
    ) -> FloatArray:
        """Score each row by a fit to the other folds."""
        calls = ((X, y, weight, positive, fold) for fold in folds)
        parts = in_parallel(self.n_jobs, self._score_held_out, calls)
        scores = np.empty(len(y))
        for (_, test), part in zip(folds, parts, strict=True):
            scores[test] = part
        return scores


def _spread(scores: FloatArray, weight: FloatArray) -> float:
    """Weighted standard deviation; 0 where the scores differ by rounding only."""
    centred = scores - np.average(scores, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, weights=weight)))
    return spread if spread > TIED * float(np.abs(scores).max()) else 0.0
