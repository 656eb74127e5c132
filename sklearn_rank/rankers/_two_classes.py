"""Rows of two classes: costs, keys of equal rows, weighted fits, and thresholds for new rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from inspect import Parameter, signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logit
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import indexable
from sklearn.utils.class_weight import compute_class_weight

from .._order import merge_rounded, top_mass, top_threshold
from .._sklearn_compat import BaseSearchCV, rows_at
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import coded_column, distinct_codes, ravelled
from .._warn import collected, told_once, warn
from ..exceptions import SmallTopWarning, ThresholdWarning
from ..metrics._shared import ranking_scores, response_method


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """The rows of positive weight, with their classes."""

    classes: AnyArray  # (2,)
    pos_label: Any  # The positive class
    taken: IntArray  # (n,): The rows that have positive weight, of those given
    positive: BoolArray  # (n,): Whether they are of the positive class
    weight: FloatArray  # (n,): Their weights

    @classmethod
    def of_rows(
        cls, classes: Any, pos_label: Any, positive: BoolArray, weight: FloatArray
    ) -> TwoClasses:
        """Leave out rows of weight 0."""
        taken = np.flatnonzero(weight > 0)
        return cls(np.asarray(classes), pos_label, taken, positive[taken], weight[taken])

    def part(self, numbers: IntArray) -> TwoClasses:
        """Take some of the rows, numbered from 0."""
        return TwoClasses(
            self.classes,
            self.pos_label,
            np.arange(len(numbers)),
            self.positive[numbers],
            self.weight[numbers],
        )

    @property
    def direction(self) -> float:
        """+1 if the second class is positive, -1 if the first is.

        The factor from scores by which the positives are on top to decision values, which in all
        of scikit-learn are greater for the second class.
        """
        return 1.0 if self.pos_label == self.classes[1] else -1.0

    @property
    def sign(self) -> FloatArray:
        return np.where(self.positive, 1.0, -1.0)

    @property
    def masses(self) -> tuple[float, float]:
        """Weight of the negative rows and of the positive ones."""
        return self.weight[~self.positive].sum(), self.weight[self.positive].sum()

    def costs(self, C: float, class_weight: Any) -> FloatArray:
        """Cost of each row in a loss: C times weight times factor of the class. Shape (n,)."""
        negative, positive = self._factors(class_weight)
        return C * self.weight * np.where(self.positive, positive, negative)

    def pair_mass(self) -> FloatArray:
        """Number of pairs of a negative and a positive row that contain each row."""
        mass_neg, mass_pos = self.masses
        return self.weight * np.where(self.positive, mass_neg, mass_pos)

    def _factors(self, class_weight: Any) -> tuple[float, float]:
        mass_neg, mass_pos = self.masses
        if isinstance(class_weight, str) and class_weight == "pairs":
            return mass_pos, mass_neg
        if isinstance(class_weight, str) and class_weight == "balanced":
            total = mass_neg + mass_pos
            return total / (2 * mass_neg), total / (2 * mass_pos)
        factors = compute_class_weight(class_weight, classes=self.classes, y=self.classes)
        if not np.all((factors > 0) & np.isfinite(factors)):
            raise ValueError(
                "class_weight must give each class a positive, finite factor, got "
                f"{class_weight!r}: both classes are needed for a ranking."
            )
        return (factors[0], factors[1]) if self.direction > 0 else (factors[1], factors[0])


# Values at a time, so that they stay in the processor's cache.
BLOCK = 1 << 15

# Odd factors of the mixing function, and the step from one column's factor to the next.
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


def is_frame(X: Any) -> bool:
    """Whether rows are a data frame, of columns that need not be numbers."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def summed(X: Any) -> Any:
    """Add the entries of the same place of rows in CSR format, which libraries would not do.

    SciPy keeps what it finds out about the entries on the new matrix, not on ``X``.
    """
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_keys(X: Any, labels: FloatArray) -> AnyArray:
    """Hash the values of each row. Shape (n,)."""
    return feature_keys(X) + mixed_bits(labels)


def mixed_bits(values: AnyArray) -> AnyArray:
    return _mixed(_bits(values), SECOND)


def feature_keys(X: Any) -> AnyArray:
    """Hash the features of each row. As :func:`row_keys`, without labels. Shape (n,)."""
    if sp.issparse(X):
        X = summed(X.tocsr())
        # A value of 0 adds nothing.
        terms = np.append(np.uint64(0), _mixed(_bits(X.data), _factors(X.shape[1])[X.indices]))
        totals = np.cumsum(terms, dtype=np.uint64)
        return totals[X.indptr[1:]] - totals[X.indptr[:-1]]
    if is_frame(X):
        # By place, since two columns may have the same name.
        frame = X.iloc if hasattr(X, "iloc") else X
        return _keys_of_columns([frame[:, j] for j in range(X.shape[1])], len(X))
    if X.dtype.kind not in "biuf":
        return _keys_of_columns(X.T, len(X))
    keys = np.empty(len(X), dtype=np.uint64)
    factors = _factors(X.shape[1])
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        terms = _mixed(_bits(X[start : start + step]), factors)
        keys[start : start + step] = terms.sum(axis=1, dtype=np.uint64)
    return keys


def _keys_of_columns(columns: Sequence[Any], n: int) -> AnyArray:
    keys = np.zeros(n, dtype=np.uint64)
    for column, factor in zip(columns, _factors(len(columns)), strict=True):
        keys += _mixed(_bits_of_column(column), factor)
    return keys


def _bits_of_column(column: Any) -> AnyArray:
    """Bits of the numbers of a column, or of a hash of its words."""
    coded = coded_column(column)
    if coded is None:
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            return _bits(values)
        try:
            coded = distinct_codes(values)
        except TypeError:  # values that cannot be hashed, such as lists
            coded = distinct_codes(np.array([repr(value) for value in values], dtype=object))
    digests = [
        blake2b(str(value).encode(), digest_size=8).digest() for value in coded.distinct.tolist()
    ]
    return np.array([int.from_bytes(digest, "little") for digest in digests], np.uint64)[
        coded.codes
    ]


def _bits(values: AnyArray) -> AnyArray:
    """Bits of numbers as float64; 0.0 and -0.0 have the same, and so have all NaN."""
    numbers: FloatArray = np.add(values, 0.0, dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        numbers[missing] = np.nan
    return np.ascontiguousarray(numbers).view(np.uint64)


def _factors(n_columns: int) -> AnyArray:
    """A random odd number for each column."""
    places = np.arange(1, n_columns + 1, dtype=np.uint64)
    return _mixed(places * STEP, SECOND) | np.uint64(1)


def _mixed(bits: AnyArray, factor: Any) -> AnyArray:
    """Let every bit change all others, in place; 0 stays 0."""
    bits ^= bits >> np.uint64(32)
    bits *= FIRST
    bits ^= bits >> np.uint64(29)
    bits *= factor
    bits ^= bits >> np.uint64(32)
    return bits


Fold = tuple[IntArray, IntArray]


def of_taken_rows(cv: Any, taken: IntArray, n_samples: int) -> Any:
    """Renumber parts that are given by row numbers, where rows of weight 0 are left out."""
    if not isinstance(cv, Iterable) or hasattr(cv, "split"):
        return cv
    number = np.full(n_samples, -1)
    number[taken] = np.arange(len(taken))
    parts = [(number[train], number[test]) for train, test in cv]
    return [(train[train >= 0], test[test >= 0]) for train, test in parts]


def values_of_taken_rows(name: str, values: Any, taken: IntArray, n_samples: int) -> Any:
    """Values of some rows, such as their groups. Shape (n,)."""
    (values,) = indexable(ravelled(values, name))
    if len(values) != n_samples:
        raise ValueError(
            f"{name} has {len(values)} values for {n_samples} rows: pass one value per row."
        )
    return rows_at(values, taken)


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
    if len(scores) < 2 * ENOUGH:
        return threshold
    low = fitted.max(where=fitted < threshold, initial=-np.inf)
    high = fitted.min(where=fitted > threshold, initial=np.inf)
    above = float(np.average(scores > threshold, weights=mass))
    in_gap = float(np.average((low < scores) & (scores < high), weights=mass))
    # Where training rows tie too, or all score above it, it takes all rows, and is no guess.
    if above - max(share, float(np.mean(fitted > threshold))) >= MOST_UNKNOWN:
        reason = f"{above:.0%} of held-out rows are above it, since they tie"
    elif np.isfinite(low) and in_gap >= MOST_UNKNOWN:
        reason = (
            f"{in_gap:.0%} of held-out rows score between {low:.3g} and {high:.3g}, where no "
            "training row does"
        )
    else:
        return threshold
    warn(
        f"The threshold of {type(ranker).__name__} is a guess: {reason}, so that predict may flag "
        "far more or fewer new rows than meant: standardise the features, regularize more, or act "
        "on the k rows of top(X, k).",
        ThresholdWarning,
    )
    return threshold


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
    parameters = ranker.get_params(deep=False) | parameters | {"pos_label": rows.pos_label}
    if "random_state" in parameters:
        parameters["random_state"] = 0
    labels = rows.classes[(rows.positive == (rows.direction > 0)).astype(int)]
    needed = ENOUGH / min(share, 1.0 - share)
    in_sample = np.arange(len(fitted)), fitted, rows.weight
    parts: list[tuple[IntArray, FloatArray, FloatArray]] = []
    for held_out in _folds(X, rows):
        if sum(weight.sum() for _, _, weight in parts) >= needed:
            break
        weight = rows.weight - held_out
        train, test = np.flatnonzero(weight), np.flatnonzero(held_out)
        fold = type(ranker)(**parameters)
        fold._is_of_fold = True
        try:
            with collected():
                fold.fit(ranker._rows_at(X, train), labels[train], weight[train])
        except ValueError:  # such as a number of rows that the fold does not have
            return in_sample
        scores = _match_quantiles(
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


def _match_quantiles(
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
                held_out = _mass_of_fold(ends, k) - _mass_of_fold(ends - weight, k)
                # Rounding must not leave a fold a trace of a row, or more than all of it.
                part = np.round(held_out / weight, 9)
                folds[k, members] = np.where(part % 1.0 == 0.0, weight * part, held_out)
        else:
            distinct, place = np.unique(value[members], return_inverse=True)
            if len(distinct) < 2:
                return []
            folds[place % N_FOLDS, members] = rows.weight[members]
    return [fold for fold in folds if fold.any()]


def _mass_of_fold(mass: FloatArray, k: int) -> FloatArray:
    """How much of a mass fold ``k`` has, if units of it are dealt to the folds in turn."""
    return np.floor(mass / N_FOLDS) + np.clip(mass % N_FOLDS - k, 0.0, 1.0)


def mass_of_top(mass: FloatArray, tau: float) -> float:
    """Mass of the top ``tau`` of the rows; warns where it is less than one row."""
    top, is_small = top_mass(mass, tau)
    if is_small:
        warn(
            f"tau={tau:g} of {len(mass)} rows is less than one row, so the top is taken as one "
            "row: raise tau or fit to more rows.",
            SmallTopWarning,
        )
    return top


def store_threshold(
    estimator: Any,
    direction: float,
    scores: FloatArray,
    rounding: FloatArray,
    mass: FloatArray,
    top: float,
) -> None:
    """Learn ``quantile_``, ``threshold_`` and ``intercept_`` from the scores of the rows."""
    quantile, threshold = top_threshold(scores, mass, top, rounding)
    estimator.quantile_, estimator.threshold_ = direction * quantile, direction * threshold
    estimator.intercept_ = np.array([-estimator.threshold_])


# Probabilities of 0 and 1 have no logarithm of their odds.
LEAST_PROBABILITY = 1e-12


def weight_argument(estimator: Any, *, regressors: bool = False) -> str:
    """Find the argument of ``fit`` by which an estimator takes weights of rows."""
    is_learner = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not (is_learner and (is_classifier(estimator) or (regressors and is_regressor(estimator)))):
        kind = "neither a classifier nor a regressor" if regressors else "not a classifier"
        raise TypeError(
            f"{estimator!r} is {kind}: pass a classifier, such as LogisticRegression()."
        )
    if getattr(estimator, "steps", None):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_argument(last, regressors=regressors)}"
    if isinstance(estimator, BaseSearchCV):
        return weight_argument(estimator.estimator, regressors=regressors)
    parameters = signature(estimator.fit).parameters
    # Ensembles pass on all arguments.
    if "sample_weight" not in parameters and not any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
    ):
        raise TypeError(
            f"{estimator!r} has no fit(X, y, sample_weight=), which is needed to weight rows: "
            "pass a classifier that takes weights, such as LogisticRegression() or "
            "HistGradientBoostingClassifier()."
        )
    return "sample_weight"


def fit_with_weights(
    estimator: Any, X: Any, y: Any, weight: FloatArray | None, **fit_params: Any
) -> Any:
    weights = {} if weight is None else {weight_argument(estimator, regressors=True): weight}
    # The weights are computed for this estimator, so that no metadata request is needed.
    with config_context(enable_metadata_routing=False), told_once():
        return clone(estimator).fit(X, y, **weights, **fit_params)


def log_odds(estimator: Any, X: Any, positive: Any) -> FloatArray:
    """Scores of rows by a fitted classifier, by which the positives are on top. Shape (n,)."""
    if response_method(estimator) == "predict_proba":
        return log_odds_of_probabilities(estimator, X, positive)
    return np.asarray(ranking_scores(estimator, X, positive), dtype=np.float64)


def log_odds_of_probabilities(estimator: Any, X: Any, positive: Any) -> FloatArray:
    """Logarithms of the odds of rows by the probabilities of a fitted classifier. Shape (n,)."""
    columns = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    share = columns[:, int(estimator.classes_[1] == positive)]
    return logit(np.clip(share, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
