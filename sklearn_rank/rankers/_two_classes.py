"""Rankers of two classes: rows and thresholds, the base class, linear and kernel scores."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import logit
from sklearn import config_context
from sklearn.base import ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, column_or_1d, indexable
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from .._order import merge_rounded, top_mass, top_threshold
from .._partitions import is_collection, parts, refuse_collections
from .._sklearn_compat import (
    CallbackSupportMixin,
    StrOptions,
    fit_context,
    is_search,
    rows_at,
    threads_for,
    with_callbacks,
)
from .._solvers import (
    LARGEST_COPY,
    DenseDesign,
    Design,
    SolverResult,
    as_design,
    check_definite,
    column_scales,
    factorise_kernel,
    factorise_kernel_matrix,
    view_design,
)
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from .._validation import (
    are_usual_labels,
    check_qid,
    check_sample_weight,
    check_whole,
    class_among,
    distinct_codes,
    labels_of_fit,
    ravelled,
    refuse_marks,
    refuse_misread,
    shown,
)
from .._warn import collected, warn, warned_once
from ..exceptions import PositiveClassWarning, SmallTopWarning, ThresholdWarning
from ..metrics import average_precision_score, rank_positions
from ..metrics._shared import ranking_scores, response_method
from ._base import (
    Criterion,
    FitProgress,
    Ranker,
    check_columns,
    feature_keys,
    forget,
    refuse_blocked,
    restored_on_error,
    store_certificate,
    summed,
    warn_of_scales,
)
from ._blocked_rows import blocked_classes, scores_by_parts


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
        taken = np.flatnonzero(weight > 0)
        return cls(np.asarray(classes), pos_label, taken, positive[taken], weight[taken])

    def part(self, numbers: IntArray) -> TwoClasses:
        positive, weight = self.positive[numbers], self.weight[numbers]
        return replace(self, taken=np.arange(len(numbers)), positive=positive, weight=weight)

    @property
    def direction(self) -> float:
        """+1 if the second class is positive, else -1: from scores to decision values."""
        return 1.0 if self.pos_label == self.classes[1] else -1.0

    @property
    def sign(self) -> FloatArray:
        return np.where(self.positive, 1.0, -1.0)

    @property
    def masses(self) -> tuple[float, float]:
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


Fold = tuple[IntArray, IntArray]


def of_taken_rows(cv: Any, taken: IntArray, n_samples: int) -> Any:
    """Renumber parts that are given by row numbers, without the rows of weight 0."""
    if not isinstance(cv, Iterable) or hasattr(cv, "split"):
        return cv
    number = np.full(n_samples, -1)
    number[taken] = np.arange(len(taken))
    parts = [(number[train], number[test]) for train, test in cv]
    return [(train[train >= 0], test[test >= 0]) for train, test in parts]


def values_of_taken_rows(name: str, values: Any, taken: IntArray, n_samples: int) -> Any:
    (values,) = indexable(ravelled(values, name))
    if len(values) != n_samples:
        raise ValueError(
            f"{name} has {len(values)} values for {n_samples} rows: pass one value per row."
        )
    return rows_at(values, taken)


def folds_of_all_rows(cv: Any, X: Any, y: AnyArray, groups: Any) -> list[Fold]:
    """Folds of which each row is in one test part, and both classes in each training part."""
    folds = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    if not folds:
        raise ValueError(f"cv={cv!r} yields no folds: pass an int or a splitter.")
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if np.any(times != 1):
        row = int(np.flatnonzero(times != 1)[0])
        raise ValueError(
            f"The test parts of cv={cv!r} are not a partition of the rows: row {row} is in "
            f"{times[row]} of them; pass folds, such as StratifiedKFold(5)."
        )
    for number, (train, _) in enumerate(folds):
        if len(np.unique(y[train])) < 2:
            raise ValueError(
                f"The training part of fold {number} of cv={cv!r} has one class only: pass fewer "
                "or stratified folds."
            )
    return folds


N_FOLDS = 5

# Held-out rows above the threshold, and below it, from which on no more folds are fitted: the
# share of new rows is then met to some 15 %.
ENOUGH = 50


class TooFewRows(ValueError):
    """A parameter takes all rows, as it may take those of a fold and not those of a list."""


def is_flexible(rows: TwoClasses, n_features: int) -> bool:
    """Whether a linear fit has so few rows that it separates its training rows too well."""
    return bool(rows.weight.sum() < 10 * n_features)


def share_threshold(
    scores: FloatArray, rounding: FloatArray, weight: FloatArray, share: float
) -> float:
    """Threshold below the top ``share`` of the weight; rows tied at its end are above it."""
    return top_threshold(scores, weight, top_mass(weight, share)[0], rounding)[1]


def _out_of_fold_scores(
    ranker: Any, X: Any, rows: TwoClasses, fitted: FloatArray, share: float, parameters: Any
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Held-out rows, their scores by fits to the others, and their weights.

    Folds are fitted until enough rows lie on both sides of ``share``. The scores of a fold are
    brought to the scale of ``fitted``, the scores of the fit to all rows, which are returned where
    the rows are too few to leave some out.
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
        except TooFewRows:
            return in_sample
        except Exception as error:
            error.add_note("In a fit to a part of the rows, for the threshold between classes.")
            raise
        scores = _match_quantiles(
            fold._scores_in_memory(ranker._rows_at(X, test, train), "fit"),
            fold._scores_in_memory(ranker._rows_at(X, train), "fit"),
            fitted[train],
            weight[train],
        )
        parts.append((test, scores, held_out[test]))
    if not parts:
        return in_sample
    index, scores, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return index, scores, weight


def _rounding_of_means(scores: FloatArray) -> float:
    """Difference of two means of some of the scores that rounding or the order of rows leaves."""
    return max(1e-12, 1e-15 * len(scores)) * float(np.abs(scores).max())


def _match_quantiles(
    scores: FloatArray, reference: FloatArray, target: FloatArray, weight: FloatArray
) -> FloatArray:
    """Bring scores from the scale of ``reference`` to that of ``target``, at equal quantiles."""
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

    Equal rows are in one fold, since a weight means as many copies; where many equal rows are of
    both classes, new rows will equal them too, and copies are distributed over the folds.
    """
    value = np.unique(feature_keys(X), return_inverse=True)[1]
    total = np.bincount(value, rows.weight)
    positive = np.bincount(value, rows.weight * rows.positive)
    # Weighted or oversampled rows, the copies of which would leak, have one class each.
    in_both = total.sum(where=(positive > 0) & (positive < total))
    values_recur = in_both > 0.01 * total.sum()
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


def weight_argument(estimator: Any, *, regressors: bool = False) -> str:
    is_learner = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not (is_learner and (is_classifier(estimator) or (regressors and is_regressor(estimator)))):
        kind = "neither a classifier nor a regressor" if regressors else "not a classifier"
        raise TypeError(f"{estimator!r} is {kind}: pass one, such as LogisticRegression().")
    if getattr(estimator, "steps", None):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_argument(last, regressors=regressors)}"
    if is_search(estimator):
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
    with config_context(enable_metadata_routing=False), warned_once(), threads_for(X):
        return clone(estimator).fit(X, y, **weights, **fit_params)


def log_odds(estimator: Any, X: Any, positive: Any) -> FloatArray:
    if response_method(estimator) == "predict_proba":
        return log_odds_of_probabilities(estimator, X, positive)
    return np.asarray(ranking_scores(estimator, X, positive), dtype=np.float64)


def log_odds_of_probabilities(estimator: Any, X: Any, positive: Any) -> FloatArray:
    columns = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    share = columns[:, int(estimator.classes_[1] == positive)]
    # Probabilities of 0 and 1 have no finite log-odds.
    return logit(np.clip(share, 1e-12, 1.0 - 1e-12))


class BipartiteRanker(ClassifierMixin, Ranker, metaclass=ABCMeta):
    """Base class of rankers of two classes, which are scikit-learn classifiers.

    A subclass has a parameter ``pos_label``, sets ``classes_`` and ``pos_label_`` by
    :meth:`_two_classes`, and defines ``_scores`` or ``decision_function``.
    """

    # Whether so few rows lie above the threshold that accuracy is low.
    _poor_score = False
    # Types of rows that a fit takes as they are, the first of them for all others.
    _row_types: Any = np.float64
    # Whether this is a fit to some folds, of which only the scores are needed.
    _is_of_fold = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    def _two_classes(self, y: Any, weight: Any, inner: Any = None) -> TwoClasses:
        """The rows of positive weight; ``inner`` is the ``pos_label`` of an inner estimator."""
        present = y[weight > 0]
        if len(present) == 0:
            raise ValueError(
                f"{type(self).__name__} got no rows of positive weight: pass rows of both classes."
            )
        # Long texts are compared once each.
        coded = distinct_codes(present) if present.dtype.kind == "O" else None
        labels = present if coded is None else coded.distinct
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        if kind != "binary":
            remedy = " Use OneVsRestClassifier(...) of sklearn.multiclass for more classes."
            refuse_marks(labels, "y")
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
                f"{remedy}"
            )
        classes = np.unique(labels)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of two classes with positive sample_weight; "
                f"got one class only, {classes.tolist()[0]!r}: add rows of the other class."
            )
        pos_label = inner if self.pos_label is None else self.pos_label
        positive = positive_or_second(type(self).__name__, classes, pos_label)
        return TwoClasses.of_rows(classes, positive, y == positive, weight)

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, TwoClasses]:
        refuse_misread(X=X, y=y, sample_weight=sample_weight)
        X, y = self._validated(X, y, dtype=self._row_types)
        weight = check_sample_weight(sample_weight, X)
        return X, y, self._two_classes(y, weight)

    def _check_rows_of_members(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, inner: Any = None
    ) -> tuple[Any, AnyArray, TwoClasses, Any, Any]:
        """Rows whose values inner estimators check: of positive weight, as ``cv`` and groups."""
        refuse_misread(X=X, y=y, sample_weight=sample_weight, groups=groups)
        X = check_columns(self, X, y, reset=True)
        X, _ = indexable(X, y)
        y = column_or_1d(labels_of_fit(y), warn=True)
        assert_all_finite(y, input_name="y")
        weight = check_sample_weight(sample_weight, X)
        rows = self._two_classes(y, weight, inner)
        taken = rows.taken
        if groups is not None:
            check_qid(groups, len(weight), name="groups")
            groups = values_of_taken_rows("groups", groups, taken, len(weight))
        cv = of_taken_rows(self.cv, taken, len(weight))
        X = X if len(taken) == len(weight) else rows_at(X, taken)
        return X, y[taken], rows, cv, groups

    def _of_fitted_classes(self, y: Any) -> Any:
        classes = np.unique(y)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has the classes {classes.tolist()}, but fit got {self.classes_.tolist()}: "
                "pass labels of the classes of fit."
            )
        return y == self.pos_label_

    def _rows_at(self, X: Any, rows: Any, others: Any = None) -> Any:
        return X[rows]

    def _threshold_of_share(
        self,
        X: Any,
        rows: TwoClasses,
        fitted: FloatArray,
        rounding: FloatArray,
        *,
        flexible: bool,
        share: float | None = None,
        mass: FloatArray | None = None,
        of_fold: dict[str, Any] | None = None,
    ) -> float:
        """Threshold that cuts a share of new rows; None is that of the positives.

        That of a ``flexible`` fit is of out-of-fold scores, with a warning where it is a guess.
        ``fitted``, ``rounding`` and ``mass`` are the scores of the fit to all rows, bounds of
        their rounding, and what counts towards the share.
        """
        if self._is_of_fold:
            return 0.0
        if share is None:
            share = rows.masses[1] / rows.weight.sum()
        mass = rows.weight if mass is None else mass
        if not flexible:
            return share_threshold(fitted, rounding, mass, share)
        index, scores, weight = _out_of_fold_scores(self, X, rows, fitted, share, of_fold or {})
        mass = mass[index] * weight / rows.weight[index]
        rounding = np.maximum(rounding[index], _rounding_of_means(fitted))
        threshold = share_threshold(scores, rounding, mass, share)
        if len(scores) < 2 * ENOUGH:
            return threshold
        low = fitted.max(where=fitted < threshold, initial=-np.inf)
        high = fitted.min(where=fitted > threshold, initial=np.inf)
        above = float(np.average(scores > threshold, weights=mass))
        in_gap = float(np.average((low < scores) & (scores < high), weights=mass))
        # A threshold is a guess if half of the held-out rows are in a gap of the training scores,
        # or above it beyond the training rows: in a gap it depends on how far a fit separates.
        if above - max(share, float(np.mean(fitted > threshold))) >= 0.5:
            reason = f"{above:.0%} of held-out rows are above it, since they tie"
        elif np.isfinite(low) and in_gap >= 0.5:
            reason = (
                f"{in_gap:.0%} of held-out rows score between {low:.3g} and {high:.3g}, where no "
                "training row does"
            )
        else:
            return threshold
        warn(
            f"The threshold of {type(self).__name__} is a guess: {reason}, so that predict may "
            "flag far more or fewer new rows than meant: standardise the features, regularize "
            "more, or act on the k rows of top(X, k).",
            ThresholdWarning,
        )
        return threshold

    def _towards_positive(self, decision: Any) -> Any:
        return decision if self.pos_label_ == self.classes_[1] else -decision

    # Scores of validated rows, by which the positives are on top, for decision_function here.
    _scores: Any

    def decision_function(self, X: Any) -> Any:
        """Score of each row minus the threshold between the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values, greater for ``classes_[1]``. The top of the list has the greatest
            values if ``classes_[1]`` is the positive class, and the smallest if ``classes_[0]``
            is.
        """
        check_is_fitted(self)
        refuse_blocked(self, X)
        scores = self._scores(self._validated(X, reset=False))
        return self._towards_positive(scores) - self.threshold_

    @property
    def predict_proba(self) -> Any:
        """Not available: scores are not probabilities. The error shows how to calibrate them."""
        name = type(self).__name__
        raise AttributeError(
            f"{name} computes scores, not probabilities, and has no predict_proba: use "
            f'CalibratedClassifierCV({name}(...), method="sigmoid") of sklearn.calibration, '
            "which calibrates the scores on held-out folds."
        )

    def predict(self, X: Any) -> Any:
        """Predict the positive class for rows whose score is above ``threshold_``.

        The threshold cuts a share of new rows like the training rows: ``tau``, of rankers that
        have this parameter, else the share of positives of the training rows.
        :class:`TopFocusedRanker` predicts as the probabilities of its classifier do instead. To
        act on a number of rows, use :meth:`top`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in any form that ``decision_function`` takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            The positive class if the row scores above the threshold, else the other class.
        """
        check_is_fitted(self)
        return self._labels(self.decision_function(X))

    def _labels(self, decision: Any) -> Any:
        towards = 1.0 if self.pos_label_ == self.classes_[1] else -1.0
        classes, dtype = self.classes_, self.classes_.dtype

        def classes_of_part(columns: dict[str, Any]) -> AnyArray:
            # A row at the threshold is not above it, whichever class is above.
            above = towards * columns["decision"] > 0
            found: AnyArray = classes[(above == (towards > 0)).astype(int)]
            return found

        return parts(decision=decision).map(classes_of_part).array(dtype)

    def _scores_in_memory(self, X: Any, caller: str) -> FloatArray:
        check_is_fitted(self)
        refuse_collections(f"{caller} needs the scores of all rows at once", X=X)
        return np.asarray(self._towards_positive(self.decision_function(X)))

    def rank(self, X: Any) -> FloatArray:
        """Rank the rows in the list that X makes up, 1 at the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in any form that ``decision_function`` takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions from 1, the row that is most likely of the positive class, whichever class
            that is. Tied rows get the mean of their positions.

        See Also
        --------
        top : The rows at the first positions.
        """
        return rank_positions(self._scores_in_memory(X, "rank"))

    def top(self, X: Any, k: int) -> IntArray:
        """Find the k rows at the top of the list that X makes up.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in any form that ``decision_function`` takes.
        k : int
            Number of rows, from 1 to n_samples.

        Returns
        -------
        ndarray of int of shape (k,)
            Their indices in X, the row that is most likely of the positive class first. Of tied
            rows the earlier ones in X are taken first.

        Raises
        ------
        TypeError
            If ``k`` is not an int.
        ValueError
            If ``k`` is not between 1 and the number of rows.
        """
        scores = self._scores_in_memory(X, "top")
        return np.argsort(-scores, kind="stable")[: check_whole("k", k, 1, len(scores))]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the positive class, averaged over all orders of tied rows.

        All rankers of two classes use this measure, so that a search can compare them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts, whole numbers. For other weights search with
            ``scoring=get_scorer("ap", convention="sklearn")`` of :mod:`sklearn_rank.metrics`.

        Returns
        -------
        float
            Average precision in [0, 1]; greater is better.

        See Also
        --------
        sklearn_rank.metrics.average_precision_score : The measure.
        """
        return average_precision_score(
            y,
            self._towards_positive(self.decision_function(X)),
            pos_label=self.pos_label_,
            sample_weight=sample_weight,
        )


def positive_or_second(name: str, classes: Any, pos_label: Any) -> Any:
    if pos_label is not None:
        whose = "classes of y"
        if isinstance(pos_label, str) and np.array_equal(classes, [0, 1]):
            whose += " (BaggingClassifier, VotingClassifier and others number sorted classes)"
        return class_among(classes, pos_label, whose)
    if not are_usual_labels(classes):
        low, high = map(shown, classes.tolist())
        warn(
            f"{name} treats {high} as the positive class, the greater of the labels {low} "
            f"and {high}, because pos_label is None: pass pos_label={high}, or "
            f"pos_label={low} if that is the class to rank at the top.",
            PositiveClassWarning,
        )
    return classes[1]


class KernelMap:
    def __init__(self, estimator: Any) -> None:
        self.kernel = estimator.kernel
        self.params: dict[str, Any] = dict(estimator.kernel_params or {})

    @property
    def is_precomputed(self) -> bool:
        return bool(self.kernel == "precomputed")

    def values(self, X: Any, Y: Any) -> FloatArray:
        """Values of the kernel between two sets of points. Shape (n, m)."""
        # Scikit-learn takes squares of stored entries.
        X, Y = (summed(rows) if sp.issparse(rows) else rows for rows in (X, Y))
        return np.asarray(pairwise_kernels(X, Y, metric=self.kernel, **self.params))

    def design(self, X: Any) -> Design:
        """Coordinates of points, whose inner products are the values of the kernel."""
        return DenseDesign(self.coordinates(X, np.arange(X.shape[0])))

    def coordinates(self, X: Any, taken: IntArray) -> FloatArray:
        """Coordinates of some points, as :meth:`design` has them of all. Shape (m, rank)."""
        matrix: FloatArray | None = None
        if self.is_precomputed:
            matrix = X[np.ix_(taken, taken)]
            if np.abs(matrix - matrix.T).max() > 1e-8 * np.abs(matrix).max():
                raise ValueError(
                    "The precomputed kernel matrix is not symmetric: pass K(X, X) to fit, and"
                    " K(X_test, X) to decision_function."
                )
        else:
            points = X[taken]
            if callable(self.kernel) or 8 * len(taken) ** 2 <= LARGEST_COPY:
                matrix = self.values(points, points)
        if matrix is not None:
            factor = factorise_kernel_matrix(matrix)
        else:
            factor = factorise_kernel(
                lambda i: self.values(points, points[i : i + 1])[:, 0], self.diagonal(points)
            )
        if self.kernel != "rbf":
            check_definite(
                factor,
                lambda part: (
                    matrix[part] if matrix is not None else self.values(points[part], points)
                ),
            )
        self._factor, self._taken = factor, taken
        return factor.rows

    def expansion(self, coef: FloatArray) -> tuple[IntArray, FloatArray]:
        return self._taken[self._factor.support], self._factor.expansion(coef)

    def diagonal(self, X: Any) -> FloatArray:
        """Kernel of each point with itself, the squared norm of its image. Shape (n,)."""
        if self.is_precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"X of shape {X.shape} is not the kernel matrix of the training rows, whose "
                    "diagonal holds their squared norms: pass the matrix that was passed to fit."
                )
            return np.diag(X)
        if callable(self.kernel):
            points = (X[i : i + 1] for i in range(X.shape[0]))
            return np.array([self.values(point, point)[0, 0] for point in points])
        if self.kernel == "rbf":
            return np.ones(X.shape[0])
        gamma = self.params.get("gamma") or 1.0 / X.shape[1]
        inner = gamma * as_design(X).squared_norms() + self.params.get("coef0", 1.0)
        return np.asarray(inner ** self.params.get("degree", 3))


def kernel_of(estimator: Any) -> KernelMap | None:
    return None if estimator.kernel == "linear" else KernelMap(estimator)


def rounding_of_sums(terms: FloatArray, n_terms: int) -> FloatArray:
    return np.asarray(terms * n_terms * np.finfo(np.float64).eps)


class LinearScores:
    def __init__(self, coef: FloatArray) -> None:
        self.coef = coef

    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        """Fitted attributes of ``direction`` times the scores, learned from the rows ``taken``."""
        return {"coef_": direction * self.coef[np.newaxis]}

    def scores(self, X: Any) -> FloatArray:
        return view_design(X).scores(self.coef)

    def scores_of_fitted(self, X: Any) -> ArrayPair:
        """Scores of the rows that this was learned from, and bounds of their rounding."""
        scores, terms = view_design(X).scores_with_terms(self.coef)
        return scores, rounding_of_sums(terms, len(self.coef))

    def weight_norm(self, X: Any) -> float:
        """Norm of the weight vector; only a precomputed kernel needs X, the fitted matrix."""
        return float(np.sqrt(self.coef @ self.coef))

    def squared_norms(self, X: Any) -> FloatArray:
        return as_design(X).squared_norms()


class KernelScores:
    """Scores of rows: their kernel values with support rows times coefficients."""

    def __init__(
        self, kernel: KernelMap, dual_coef: FloatArray, support: IntArray, support_rows: Any
    ) -> None:
        self.kernel, self.dual_coef = kernel, dual_coef
        self.support, self.support_rows = support, support_rows

    def attributes(self, taken: IntArray, direction: float) -> dict[str, Any]:
        attributes = {
            "dual_coef_": direction * self.dual_coef[np.newaxis],
            "support_": taken[self.support],
        }
        if not self.kernel.is_precomputed:
            attributes["X_fit_"] = self.support_rows
        return attributes

    def _values(self, X: Any) -> FloatArray:
        if self.kernel.is_precomputed:
            return np.asarray(X[:, self.support])
        return self.kernel.values(X, self.support_rows)

    def scores(self, X: Any) -> FloatArray:
        return np.asarray(self._values(X) @ self.dual_coef)

    def scores_of_fitted(self, X: Any) -> ArrayPair:
        values = self._values(X)
        terms = np.abs(values) @ np.abs(self.dual_coef)
        return values @ self.dual_coef, rounding_of_sums(terms, len(self.dual_coef))

    def weight_norm(self, X: Any) -> float:
        if self.kernel.is_precomputed:
            values = X[np.ix_(self.support, self.support)]
        else:
            values = self.kernel.values(self.support_rows, self.support_rows)
        return float(np.sqrt(max(self.dual_coef @ values @ self.dual_coef, 0.0)))

    def squared_norms(self, X: Any) -> FloatArray:
        return self.kernel.diagonal(X)


ScoreFunction: TypeAlias = LinearScores | KernelScores


def learned_scores(kernel: KernelMap | None, coef: FloatArray, X: Any) -> ScoreFunction:
    if kernel is None:
        return LinearScores(coef)
    support, dual_coef = kernel.expansion(coef)
    return KernelScores(kernel, dual_coef, support, None if kernel.is_precomputed else X[support])


def store_scores(estimator: Any, function: ScoreFunction, rows: TwoClasses) -> None:
    """Give an estimator its classes and its score function, and nothing of an earlier fit."""
    forget(estimator, "coef_", "dual_coef_", "support_", "X_fit_")
    estimator.classes_, estimator.pos_label_ = rows.classes, rows.pos_label
    estimator._kernel = kernel_of(estimator)
    vars(estimator).update(function.attributes(rows.taken, rows.direction))


def fitted_scores(estimator: Any) -> ScoreFunction:
    """Score function of an estimator, from its fitted attributes."""
    kernel = estimator._kernel
    if kernel is None:
        return LinearScores(estimator.coef_[0])
    rows = None if kernel.is_precomputed else estimator.X_fit_
    return KernelScores(kernel, estimator.dual_coef_[0], estimator.support_, rows)


class KernelRanker(CallbackSupportMixin, BipartiteRanker):
    """Base class of rankers with a linear or kernel score: input checks and decision values."""

    _parameter_constraints = {
        "kernel": [StrOptions({"linear", "rbf", "poly", "precomputed"}), callable]
    }

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, TwoClasses]:
        refuse_blocked(
            self,
            X,
            instead=", or fit TopPushRanker, PNormPushRanker or RankStatisticRanker, which read "
            "rows in blocks",
        )
        X, y, rows = super()._check_rows(X, y, sample_weight)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square matrix, got {X.shape}: pass K(X, X)."
            )
        return X, y, rows

    def _rows_at(self, X: Any, rows: Any, others: Any = None) -> Any:
        """Some rows; of a precomputed kernel with themselves, or with others."""
        if self.kernel != "precomputed":
            return X[rows]
        return X[np.ix_(rows, rows if others is None else others)]

    def decision_function(self, X: Any) -> Any:
        """Score of each row minus the threshold between the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array or dataframe} of shape \
                (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values ``X @ coef_[0] - threshold_``, greater for ``classes_[1]``. The top of
            the list has the greatest values if ``classes_[1]`` is the positive class, and the
            smallest if ``classes_[0]`` is. For dask collections, a lazy dask array.
        """
        check_is_fitted(self)
        function, threshold = fitted_scores(self), self.threshold_
        if is_collection(X):
            return scores_by_parts(self, X, lambda rows: function.scores(rows) - threshold)
        row_types = self._row_types if self._kernel is None else np.float64
        X = self._validated(X, dtype=row_types, reset=False)
        return function.scores(X) - threshold

    def _parameters_of_folds(self) -> dict[str, Any]:
        """A threshold needs no accurate minimum."""
        return {"verbose": 0, "tol": max(self.tol, 1e-2)}


class OneProblemRanker(KernelRanker):
    """Base class of rankers that solve one problem, on rows in memory or in blocks."""

    kernel: Any = "linear"  # Of rankers without this parameter
    _criterion: Criterion = "relative_gap"  # Of the convergence of the solver

    @property
    def _row_types(self) -> Any:
        return (np.float64, np.float32) if self.kernel == "linear" else np.float64

    @abstractmethod
    def _solve(self, design: Design, rows: TwoClasses, progress: FitProgress) -> SolverResult:
        """Solve the problem on rows, and report each iteration."""

    def _near_origin(self, design: Any) -> Design:
        """Warn of unequal scales; move dense rows if their mean costs digits of their spread."""
        scales = column_scales(design.matrix)
        warn_of_scales(self, scales, sparse=not design.is_dense)
        if not design.is_dense:
            return design
        mean = design.pull_back(np.full(design.shape[0], 1.0 / design.shape[0]))
        return design.move(mean) if np.any(np.abs(mean) > 1e3 * scales) else design

    def _settings(self, progress: FitProgress) -> dict[str, Any]:
        limits = {"tol": self.tol, "max_iter": self.max_iter}
        return limits | {"on_iteration": progress.iteration}

    def _check_parameters(self, *, blocked: bool) -> None:
        """Refuse parameters before rows are looked at; ``blocked`` is whether in blocks."""
        if blocked and self.kernel != "linear":
            raise ValueError(
                f"kernel={self.kernel!r} needs all pairs of rows, but X is read in blocks: use "
                "kernel='linear', or pass rows in memory."
            )

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the score function from rows of two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array or dataframe} of shape \
                (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR. With ``kernel="linear"``, X can be a
            dask collection, whose chunks stay with their workers. Memory is then some vectors of 8
            bytes per row, and copies of at most 1 GiB of rows.
        y : array-like or dask collection of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like or dask collection of shape (n_samples,), default=None
            Non-negative weights. A row of weight 2 counts as two rows, a row of weight 0 is
            ignored.

        Returns
        -------
        object
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, or X, y
            or sample_weight is not finite.

        Warns
        -----
        ConvergenceWarning
            If the problem does not reach ``tol`` within ``max_iter`` iterations.
        PositiveClassWarning
            If ``pos_label`` is None and the labels are neither 0 and 1 nor -1 and 1.
        """
        with restored_on_error(self):
            blocked = is_collection(X)
            self._check_parameters(blocked=blocked)
            if blocked:
                y, weight, design_of = blocked_classes(self, X, y, sample_weight)
                rows = self._two_classes(y, weight)
                design = design_of(None if len(rows.taken) == len(y) else rows.taken)
                kernel, fitted = None, design
            else:
                X, y, rows = self._check_rows(X, y, sample_weight)
                fitted = X if len(rows.taken) == X.shape[0] else self._rows_at(X, rows.taken)
                kernel = kernel_of(self)
                design = (
                    self._near_origin(view_design(fitted))
                    if kernel is None
                    else kernel.design(fitted)
                )
            progress = FitProgress(self, self.max_iter, X, y, criterion=self._criterion)
            result = self._solve(design, rows, progress)
            function = learned_scores(kernel, result.coef, fitted)
            store_scores(self, function, rows)
            scores, rounding = function.scores_of_fitted(fitted)
            threshold = self._threshold_of_share(
                fitted,
                rows,
                scores,
                rounding,
                # Rows that are read in blocks are many.
                flexible=not blocked
                and (kernel is not None or is_flexible(rows, design.shape[1])),
                of_fold=self._parameters_of_folds(),
            )
            self.threshold_ = rows.direction * threshold
            self.intercept_ = np.array([-self.threshold_])
            self._store_certificate(result)
            progress.fit_done()
        return self

    def _store_certificate(self, result: SolverResult) -> None:
        store_certificate(self, result.certificate, "relative_gap", regularise="lower C")
