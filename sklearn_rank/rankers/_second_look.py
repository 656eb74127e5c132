"""Rounds of the top-focused ranker, each weighted by the ranking of the previous one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed

from .._sklearn_compat import rows_at
from .._typing import AnyArray, FloatArray, IntArray
from ..metrics import ScoreGeneratingFunction
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
    """Compute row weights from places in a ranking.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores; more is nearer to the top.
    weight : ndarray of shape (n,)
        How many times each row stands there, positive.
    phi : ScoreGeneratingFunction
        What places count; its derivative is what a row gains by a place.
    floor : float
        Least weight, as a share of the largest.

    Returns
    -------
    ndarray of shape (n,)
        Weights times ``max(floor, phi'(u) / max phi')``, u the mean place of a block of tied
        rows as a share of the list, 1 at the top; scaled to the sum of ``weight``.
    """
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
    """The fits, first to last.

    Parameters
    ----------
    models : list of estimator
        Fitted classifiers, the pilot first.
    positive : object
        The class that belongs on top.
    spreads : tuple of (float, float)
        Standard deviation of the scores of the training rows by the pilot and by the last.
    """

    models: list[Any]
    positive: Any
    spreads: tuple[float, float]

    def scores(
        self,
        X: Any,
        combination: Combination,
        score: Callable[[Any, Any, Any], FloatArray] = log_odds,
    ) -> FloatArray:
        """Score rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        combination : {"pilot", "last", "sum"}
            Whose scores; the sum is that of standard scores, as a mean on the models' scale.
        score : callable, default=log_odds
            Scores of an estimator, given rows and the positive class.

        Returns
        -------
        ndarray of shape (n,)
            Scores by which the positives are on top.
        """
        if combination == "pilot":
            return score(self.models[0], X, self.positive)
        last = score(self.models[-1], X, self.positive)
        if combination == "last":
            return last
        # Scores without spread order nothing, and have no share.
        shares = np.array([1.0 / spread if spread > 0.0 else 0.0 for spread in self.spreads])
        if not shares.any():
            return last
        shares /= shares.sum()
        return shares[0] * score(self.models[0], X, self.positive) + shares[1] * last


@dataclass(frozen=True, eq=False)
class SecondLook:
    """How to fit in rounds.

    Parameters
    ----------
    estimator : estimator
        Classifier that takes weights.
    phi : ScoreGeneratingFunction
        What places count.
    floor : float
        Least weight, as a share of the largest.
    n_rounds : int
        Fits after the first.
    folds : callable
        Given rows, labels and groups, returns the folds by whose fits the rows are ranked, or
        None where they are ranked by the fit to all of them; asked with the fitted pilot first.
    n_jobs : int or None
        Number of threads or processes over the folds.
    """

    estimator: Any
    phi: ScoreGeneratingFunction
    floor: float
    n_rounds: int
    folds: Callable[[Any, Any, AnyArray, Any], Sequence[Fold] | None]
    n_jobs: int | None

    def fit(
        self,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        *,
        positive: Any,
        groups: Any = None,
        on_round: Callable[[], None] = lambda: None,
    ) -> Rounds:
        """Fit, weigh the rows by their places, fit again.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        y : ndarray of shape (n,)
            Labels.
        weight : ndarray of shape (n,)
            Positive weights.
        positive : object
            The class that belongs on top.
        groups : array-like of shape (n,) or None, default=None
            Groups for the folds.
        on_round : callable
            Called when a round is done.

        Returns
        -------
        Rounds
            The fits.
        """
        models = [fit_with_weights(self.estimator, X, y, weight)]
        on_round()
        folds = self.folds(models[0], X, y, groups)
        current = weight
        for _ in range(self.n_rounds):
            if folds is None:
                scores = log_odds(models[-1], X, positive)
            else:
                scores = self._held_out_scores(X, y, current, positive, folds)
            current = focus_weights(scores, weight, self.phi, self.floor)
            models.append(fit_with_weights(self.estimator, X, y, current))
            on_round()
        spreads = [
            _spread(log_odds(model, X, positive), weight) for model in (models[0], models[-1])
        ]
        return Rounds(models, positive, (spreads[0], spreads[1]))

    def _held_out_scores(
        self, X: Any, y: AnyArray, weight: FloatArray, positive: Any, folds: Sequence[Fold]
    ) -> FloatArray:
        """Score each row by a fit to the other folds."""
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_score_held_out)(self.estimator, X, y, weight, positive, train, test)
            for train, test in folds
        )
        scores = np.empty(len(y))
        for (_, test), part in zip(folds, parts, strict=True):
            scores[test] = part
        return scores


def _score_held_out(
    estimator: Any,
    X: Any,
    y: AnyArray,
    weight: FloatArray,
    positive: Any,
    train: IntArray,
    test: IntArray,
) -> FloatArray:
    model = fit_with_weights(estimator, rows_at(X, train), y[train], weight[train])
    return log_odds(model, rows_at(X, test), positive)


def _spread(scores: FloatArray, weight: FloatArray) -> float:
    """Weighted standard deviation; 0 where the scores differ by rounding only."""
    centred = scores - np.average(scores, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, weights=weight)))
    return spread if spread > TIED * float(np.abs(scores).max()) else 0.0
