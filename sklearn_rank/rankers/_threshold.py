"""Threshold that cuts a share of new rows, from training or out-of-fold scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._top import top_mass, top_threshold
from .._typing import FloatArray
from .._warn import collected
from ._folds import Fold
from ._row_keys import row_keys
from ._two_classes import TwoClasses

__all__ = ["is_flexible", "out_of_fold_scores", "share_threshold"]

# With fewer rows for each coefficient, a linear fit separates its training rows too well.
ROWS_PER_FEATURE = 10

N_FOLDS = 5

# Held-out rows above the threshold, and below it, from which on no more folds are fitted: the
# share of new rows is then met to some 15 %.
ENOUGH = 50

# Spread of the scores of a fold, as a share of that of all rows, that is rounding.
LEAST_SPREAD = 1e-9


def is_flexible(rows: TwoClasses, n_features: int) -> bool:
    """Whether training scores of a linear fit are unlike those of new rows."""
    return bool(rows.weight.sum() < ROWS_PER_FEATURE * n_features)


def share_threshold(
    scores: FloatArray, rounding: FloatArray, weight: FloatArray, share: float
) -> float:
    """Threshold below the top ``share`` of the weight; rows tied at its end are above it."""
    return top_threshold(scores, weight, top_mass(weight, share)[0], rounding)[1]


def out_of_fold_scores(
    ranker: Any,
    X: Any,
    rows: TwoClasses,
    fitted: FloatArray,
    share: float,
    parameters: dict[str, Any],
) -> FloatArray:
    """Score rows by fits with the parameters of ``ranker`` to the other folds; NaN is not scored.

    Folds are fitted until enough rows lie on both sides of ``share``. Origin and unit of scores
    are arbitrary, so those of a fold are brought to the median and the spread of ``fitted``, the
    scores of the fit to all rows, on the rows that both were fitted to. Where the rows are too few
    to leave some out, ``fitted`` is returned.
    """
    scores = np.full(len(rows.weight), np.nan)
    own = ranker.get_params(deep=False) | parameters | {"pos_label": rows.pos_label}
    if "random_state" in own:
        own["random_state"] = 0
    labels = rows.classes[(rows.positive == (rows.direction > 0)).astype(int)]
    needed = ENOUGH / min(share, 1.0 - share)
    folds = _folds(X, rows)
    for train, test in folds:
        if np.sum(rows.weight, where=~np.isnan(scores)) >= needed:
            break
        fold = type(ranker)(**own)
        fold._is_of_fold = True
        try:
            with collected():
                fold.fit(ranker._rows_at(X, train), labels[train], rows.weight[train])
        except ValueError:  # such as a number of rows that the fold does not have
            return fitted
        of_fold, weight = _scores(fold, ranker._rows_at(X, train)), rows.weight[train]
        middle, spread = _middle_and_spread(fitted[train], weight)
        fold_middle, fold_spread = _middle_and_spread(of_fold, weight)
        held_out = _scores(fold, ranker._rows_at(X, test, train)) - fold_middle
        # Scores that differ by rounding alone are one.
        ratio = spread / fold_spread if fold_spread > LEAST_SPREAD * spread else 0.0
        scores[test] = middle + held_out * ratio
    return scores if folds else fitted


def _scores(ranker: Any, X: Any) -> FloatArray:
    return np.asarray(ranker._towards_positive(ranker.decision_function(X)))


def _middle_and_spread(scores: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Weighted median and mean distance from it, which a few far scores do not move."""
    middle = np.quantile(scores, 0.5, weights=weight, method="inverted_cdf")
    return float(middle), float(np.average(np.abs(scores - middle), weights=weight))


def _folds(X: Any, rows: TwoClasses) -> list[Fold]:
    """Stratified folds by the values of the rows: equal rows are in one fold, in any order."""
    keys = row_keys(X, rows.positive.astype(np.float64))
    fold = np.empty(len(keys), dtype=np.intp)
    for kind in (False, True):
        members = rows.positive == kind
        distinct, place = np.unique(keys[members], return_inverse=True)
        if len(distinct) < 2:
            return []
        fold[members] = place % N_FOLDS
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(N_FOLDS)]
    return [part for part in parts if len(part[1])]
