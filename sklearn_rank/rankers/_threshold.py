"""Threshold that cuts a share of new rows, from training or out-of-fold scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._top import merge_rounded, top_mass, top_threshold
from .._typing import FloatArray, IntArray
from .._warn import collected, warn
from ..exceptions import ThresholdWarning
from ._row_keys import feature_keys
from ._two_classes import TwoClasses

__all__ = ["held_out_threshold", "is_flexible", "share_threshold"]

# With fewer rows for each coefficient, a linear fit separates its training rows too well.
ROWS_PER_FEATURE = 10

N_FOLDS = 5

# Held-out rows above the threshold, and below it, from which on no more folds are fitted: the
# share of new rows is then met to some 15 %.
ENOUGH = 50

# Share of the weight on values that rows of both classes have, beyond which rows are few values
# that come again and again. Weighted or oversampled rows, whose copies would leak, have none.
MOST_IN_BOTH = 0.01

# Share of held-out rows in the gap of training scores around a threshold, or above it beyond that
# of training rows, from which on it is a guess: in a gap it depends on how far a fit separates.
MOST_UNKNOWN = 0.5

# Relative difference of scores that fits to the same rows in another order leave, and rounding
# of a difference of neighbouring sums, for each of their terms.
ROUNDING, ROUNDING_OF_TERM = 1e-12, 1e-15


def is_flexible(rows: TwoClasses, n_features: int) -> bool:
    """Whether training scores of a linear fit are unlike those of new rows."""
    return bool(rows.weight.sum() < ROWS_PER_FEATURE * n_features)


def share_threshold(
    scores: FloatArray, rounding: FloatArray, weight: FloatArray, share: float
) -> float:
    """Threshold below the top ``share`` of the weight; rows tied at its end are above it."""
    return top_threshold(scores, weight, top_mass(weight, share)[0], rounding)[1]


def held_out_threshold(
    ranker: Any,
    X: Any,
    rows: TwoClasses,
    fitted: FloatArray,
    rounding: FloatArray,
    mass: FloatArray,
    share: float,
    parameters: dict[str, Any],
) -> float:
    """Threshold below the top ``share`` of out-of-fold scores; warns where it is a guess.

    ``fitted``, ``rounding`` and ``mass`` are the scores of the fit to all rows, bounds of their
    rounding, and what counts towards the share.
    """
    index, scores, weight = _out_of_fold_scores(ranker, X, rows, fitted, share, parameters)
    mass = mass[index] * weight / rows.weight[index]
    rounding = np.maximum(rounding[index], _rounding_of_means(fitted))
    threshold = share_threshold(scores, rounding, mass, share)
    if len(scores) >= 2 * ENOUGH:
        _warn_of_guess(type(ranker).__name__, threshold, fitted, scores, mass, share)
    return threshold


def _warn_of_guess(
    name: str,
    threshold: float,
    fitted: FloatArray,
    scores: FloatArray,
    mass: FloatArray,
    share: float,
) -> None:
    """Warn if most held-out rows tie, or score between the training scores at the threshold."""
    low = fitted.max(where=fitted < threshold, initial=-np.inf)
    high = fitted.min(where=fitted > threshold, initial=np.inf)
    above = float(np.average(scores > threshold, weights=mass))
    in_gap = float(np.average((low < scores) & (scores < high), weights=mass))
    # Where training rows tie too, or all score above it, it takes all rows, and is no guess.
    if above - max(share, float(np.mean(fitted > threshold))) >= MOST_UNKNOWN:
        why = f"{above:.0%} of held-out rows are above it, since they tie"
    elif np.isfinite(low) and in_gap >= MOST_UNKNOWN:
        why = (
            f"{in_gap:.0%} of held-out rows score between {low:.3g} and {high:.3g}, where no "
            "training row does"
        )
    else:
        return
    warn(
        f"The threshold of {name} is a guess: {why}, so that predict may flag far more or fewer "
        "new rows than meant: standardise the features, regularize more, or act on the k rows of "
        "top(X, k).",
        ThresholdWarning,
    )


def _out_of_fold_scores(
    ranker: Any,
    X: Any,
    rows: TwoClasses,
    fitted: FloatArray,
    share: float,
    parameters: dict[str, Any],
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Score held-out rows by fits with the parameters of ``ranker`` to the others.

    Returns which rows, their scores and weights. Folds are fitted until enough rows lie on both
    sides of ``share``. The scale of scores is arbitrary, so those of a fold are brought to that of
    ``fitted``, the scores of the fit to all rows, by the quantiles of the rows that both were
    fitted to. Where the rows are too few to leave some out, these are ``fitted``.
    """
    own = ranker.get_params(deep=False) | parameters | {"pos_label": rows.pos_label}
    if "random_state" in own:
        own["random_state"] = 0
    labels = rows.classes[(rows.positive == (rows.direction > 0)).astype(int)]
    needed = ENOUGH / min(share, 1.0 - share)
    in_sample = np.arange(len(fitted)), fitted, rows.weight
    parts: list[tuple[IntArray, FloatArray, FloatArray]] = []
    for held_out in _folds(X, rows):
        if sum(weight.sum() for _, _, weight in parts) >= needed:
            break
        weight = rows.weight - held_out
        train, test = np.flatnonzero(weight), np.flatnonzero(held_out)
        fold = type(ranker)(**own)
        fold._is_of_fold = True
        try:
            with collected():
                fold.fit(ranker._rows_at(X, train), labels[train], weight[train])
        except ValueError:  # such as a number of rows that the fold does not have
            return in_sample
        scores = _matched(
            _scores(fold, ranker._rows_at(X, test, train)),
            _scores(fold, ranker._rows_at(X, train)),
            fitted[train],
            weight[train],
        )
        parts.append((test, scores, held_out[test]))
    if not parts:
        return in_sample
    index, scores, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return index, scores, weight


def _scores(ranker: Any, X: Any) -> FloatArray:
    return np.asarray(ranker._towards_positive(ranker.decision_function(X)))


def _rounding_of_means(scores: FloatArray) -> float:
    """Difference below which two means of some of the scores may be one."""
    return max(ROUNDING, ROUNDING_OF_TERM * len(scores)) * float(np.abs(scores).max())


def _matched(
    scores: FloatArray, reference: FloatArray, target: FloatArray, weight: FloatArray
) -> FloatArray:
    """Bring scores from the scale of ``reference`` to that of ``target``, at equal quantiles.

    Both score the same rows; a tied run takes the mean of the target at its quantiles.
    """
    merged = merge_rounded(reference, np.full(len(reference), _rounding_of_means(reference)))
    knots, run = np.unique(merged, return_inverse=True)
    ends = np.append(0.0, np.cumsum(np.bincount(run, weight)))
    order = np.argsort(target)
    masses = np.append(0.0, np.cumsum(weight[order]))
    sums = np.append(0.0, np.cumsum((weight * target)[order]))
    means = np.diff(np.interp(ends, masses, sums)) / np.diff(ends)
    slope = np.ptp(means) / np.ptp(knots) if len(knots) > 1 else 0.0
    beyond = scores - np.clip(scores, knots[0], knots[-1])
    return np.interp(scores, knots, means) + slope * beyond


def _folds(X: Any, rows: TwoClasses) -> list[FloatArray]:
    """Held-out weight of each row, for each stratified fold, in any order of the rows.

    Equal rows are in one fold, since a weight means as many copies and new rows need not be equal
    to them. Where many equal rows are of both classes, new rows will be equal to them too, and
    copies are distributed over the folds.
    """
    value = np.unique(feature_keys(X), return_inverse=True)[1]
    total = np.bincount(value, rows.weight)
    positive = np.bincount(value, rows.weight * rows.positive)
    in_both = total.sum(where=(positive > 0) & (positive < total))
    values_recur = in_both > MOST_IN_BOTH * total.sum()
    folds = np.zeros((N_FOLDS, len(value)))
    for kind in (False, True):
        members = np.flatnonzero(rows.positive == kind)
        if values_recur:
            members = members[np.argsort(value[members], kind="stable")]
            weight = rows.weight[members]
            ends = np.cumsum(weight)
            for k in range(N_FOLDS):
                dealt = _dealt(ends, k) - _dealt(ends - weight, k)
                # Rounding must not leave a fold a trace of a row, or more than all of it.
                part = np.round(dealt / weight, 9)
                folds[k, members] = np.where(part % 1.0 == 0.0, weight * part, dealt)
        else:
            distinct, place = np.unique(value[members], return_inverse=True)
            if len(distinct) < 2:
                return []
            folds[place % N_FOLDS, members] = rows.weight[members]
    return [fold for fold in folds if fold.any()]


def _dealt(mass: FloatArray, k: int) -> FloatArray:
    """How much of a mass fold ``k`` has, if units of it are dealt to the folds in turn."""
    return np.floor(mass / N_FOLDS) + np.clip(mass % N_FOLDS - k, 0.0, 1.0)
