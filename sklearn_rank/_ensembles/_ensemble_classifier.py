"""An ensemble for one list: log-odds of classifiers, weighted by scores of held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils import assert_all_finite, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import StrOptions, fit_context, num_samples, rows_at, threads_for
from .._typing import AnyArray, FloatArray, IntArray
from ..inference import Comparison, compare
from ..inference._shared import whole_weights
from ..metrics import get_measure
from ..rankers._shared import (
    BipartiteRanker,
    Fold,
    TwoClasses,
    check_columns,
    fit_with_weights,
    folds_of_all_rows,
    log_odds,
    mass_of_top,
    restored_on_error,
    share_threshold,
    store_parameters,
)
from ._members import (
    NamedMembers,
    boosted_trees,
    categorical_columns,
    fitted_weights,
    imputer,
    refuse_empty_columns,
    with_indicators,
    with_ordinal_codes,
)

# Minimum slope of the calibration, so that scores without information keep their order.
MIN_SLOPE = 0.01


class Stack:
    """Weighted sum of standardised log-odds, on the scale of log-odds.

    ``value`` is the measure of scores that weights are fitted to; with ``weights`` they are fixed.
    """

    def __init__(
        self,
        odds: FloatArray,
        rows: TwoClasses,
        value: Callable[..., float],
        weights: FloatArray | None = None,
    ) -> None:
        self.center = np.average(odds, axis=0, weights=rows.weight)
        spread = np.sqrt(np.average((odds - self.center) ** 2, axis=0, weights=rows.weight))
        self.spread = np.where(spread > 0.0, spread, 1.0)
        standardised = (odds - self.center) / self.spread
        if weights is None:
            metadata = {}
            if np.ptp(rows.weight) > 0.0:
                # Measures that count positions take whole weights.
                metadata["sample_weight"] = whole_weights(rows.weight / rows.weight.min())
            weights = fitted_weights(
                standardised, lambda scores: value(rows.positive, scores, **metadata)
            )
        self.weights = weights
        # The penalty keeps it finite where the classes are separated.
        calibration = LogisticRegression(C=100.0).fit(
            standardised @ weights[:, np.newaxis], rows.positive, rows.weight
        )
        self.slope = max(float(calibration.coef_[0, 0]), MIN_SLOPE)
        self.constant = float(calibration.intercept_[0])

    def values(self, odds: FloatArray) -> FloatArray:
        """Log-odds of the ensemble. Shape (n_samples,)."""
        score = (odds - self.center) / self.spread @ self.weights
        return self.slope * score + self.constant


def default_classifiers(X: Any, random_state: Any) -> tuple[list[str], list[Any]]:
    """Names and classifiers for rows of this kind and number."""
    n, categories = num_samples(X), categorical_columns(X)
    trees_seed, boosted_seed = (
        int(seed) for seed in check_random_state(random_state).randint(2**31 - 1, size=2)
    )
    trees = ExtraTreesClassifier(
        300,
        # 25,000 leaves at most, as the memory of full trees grows with the rows.
        min_samples_leaf=max(2, n // 25_000),
        max_features=0.5,
        random_state=trees_seed,
    )
    linear = LogisticRegression(C=0.01, max_iter=1000)
    if sp.issparse(X):
        return ["extra trees", "linear"], [trees, make_pipeline(MaxAbsScaler(), linear)]
    boosted = boosted_trees(HistGradientBoostingClassifier, n, categories, boosted_seed)
    splines = make_pipeline(
        imputer(),
        QuantileTransformer(
            n_quantiles=min(100, n // 2), output_distribution="normal", random_state=0
        ),
        SplineTransformer(4, extrapolation="linear"),
        StandardScaler(),
    )
    return ["boosted", "extra trees", "splines"], [
        with_ordinal_codes(boosted, categories),
        with_ordinal_codes(trees, categories),
        with_indicators(splines, linear, categories),
    ]


class RankEnsembleClassifier(NamedMembers, BipartiteRanker):
    """The ensemble for one list of two classes: log-odds of several classifiers, weighted.

    Boosted trees, extremely randomised trees and logistic regression on splines err in different
    places, and their weighted sum is often better than each. The weights come from scores of
    held-out rows. No parameter needs tuning, and the result is as good as tuned boosted trees.

    Parameters
    ----------
    estimators : list of (str, classifier) or None, default=None
        Names and classifiers. None is :class:`~sklearn.ensemble.HistGradientBoostingClassifier`,
        :class:`~sklearn.ensemble.ExtraTreesClassifier` and logistic regression on splines of each
        column, for arrays and data frames with missing values and with columns of strings or
        categories; for sparse rows extremely randomised trees and logistic regression.
    weights : {"fitted", "equal"} or array-like of shape (n_members,), default="fitted"
        Weights of the members' standardised log-odds: fitted to the measure on held-out rows and
        drawn to each other, equal, or given numbers of at least 0.
    measure : str, Measure or callable, default="ap"
        Measure of one list that weights are fitted to, and by which ``comparison_`` compares.
    tau : float, default=0.05
        Share of new rows, in (0, 1), that ``top_threshold_`` cuts off.
    cv : int, splitter or iterable, default=5
        Folds, each row in one of their test parts, as in scikit-learn; a number of stratified ones
        keeps ``groups`` whole.
    n_jobs : int or None, default=None
        Number of fits in parallel. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the default members; those of ``estimators`` have their own.
    verbose : int, default=0
        Verbosity level of joblib; a greater value prints more.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means 1 for labels in {0, 1} or {-1, 1}; for other labels
        it is the greater label, with a warning.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members, fitted to all rows.
    named_estimators_ : Bunch
        The same, by name.
    weights_ : ndarray of shape (n_members,)
        Weights of the standardised log-odds, of sum 1. Members of weight 0 are not asked for
        scores.
    comparison_ : Comparison
        Values of the measure on held-out rows, of each member and of the ensemble, and the
        differences ``member - ensemble`` with simultaneous intervals: the ensemble is better than
        the best member, whichever that is, if all upper limits are below 0.
    held_out_scores_ : ndarray of shape (n_samples, n_members)
        Log-odds of the rows of positive weight, from fits without them.
    fit_times_ : ndarray of shape (n_members,)
        Seconds of all fits of each member.
    classes_ : ndarray of shape (2,)
        Class labels.
    pos_label_ : label
        The positive class.
    top_threshold_ : float
        Decision values beyond this are those of the top ``tau`` of new rows, by held-out scores.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    RankEnsemble : The ensemble for queries.
    TopFocusedRanker : A second look of one classifier at its top.
    sklearn.ensemble.StackingClassifier : Stacking with any final classifier.
    sklearn_rank.model_selection.TopThresholdClassifier : A cut-off with a promise.
    sklearn_rank.plotting.IntervalsDisplay : Draws ``comparison_``.

    Notes
    -----
    A class of its own, beside :class:`RankEnsemble`: here members are classifiers with labels of
    any type and a positive class, and the result is one, with probabilities; rankers of queries
    have grades, ids of queries, and scores that are comparable within a query only.

    Weights are fitted by steps of half of an equal share, from one member to another, while the
    measure of the held-out scores rises, and are the mean of the result and of equal ones; a
    member that the steps leave out, and without which the measure is greater, has weight 0. A
    logistic regression of the labels on the weighted sum makes it a log-odds. The values of
    ``comparison_`` are of weights that were fitted without the fold of a row. Its intervals treat
    the fold models as given.

    The cost is that of ``cv + 1`` fits of each member.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_rank import RankEnsembleClassifier
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> ensemble = RankEnsembleClassifier(
    ...     [("linear", LogisticRegression()), ("neighbours", KNeighborsClassifier(15))]
    ... ).fit(X, y)
    >>> print(ensemble.comparison_)
    ap on 351 items, 225 positive
    hypothesis: equal ap; two-sided; max-t; level 95 %; adjusted for 2 contrasts
    best: ensemble, 0.9411 [0.8770, 0.9629], counting the choice among 3
    <BLANKLINE>
    ranker       value  standard error  95 % interval, all together
    ensemble    0.9411          0.0131             [0.8770, 0.9665]
    linear      0.8765          0.0272             [0.7942, 0.9266]
    neighbours  0.9095          0.0165             [0.8462, 0.9414]
    <BLANKLINE>
    contrast               difference       95 % interval        p  conclusion
    linear - ensemble         -0.0646  [-0.1287, -0.0004]   0.0484  ensemble better
    neighbours - ensemble     -0.0316  [-0.0553, -0.0080]  0.00671  ensemble better
    """

    measure: Any
    _parameter_constraints = {
        "estimators": [list, None],
        "weights": [StrOptions({"fitted", "equal"}), "array-like"],
        "measure": "no_validation",
    }
    _example = '[("linear", LogisticRegression()), ("trees", ExtraTreesClassifier())]'

    def __init__(
        self,
        estimators=None,
        *,
        weights="fitted",
        measure="ap",
        tau=0.05,
        cv=5,
        n_jobs=None,
        random_state=None,
        verbose=0,
        pos_label=None,
    ):
        store_parameters(locals())

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the members to folds and to all rows, and the weights to held-out scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as the members take them.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type, at least two rows of each.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are ignored. A mean below 1 is raised to 1. The
            intervals of ``comparison_`` take them for sampling weights.
        groups : array-like of shape (n_samples,), default=None
            Groups for ``cv``, and for the intervals of ``comparison_``.

        Returns
        -------
        RankEnsembleClassifier
            The estimator itself.

        Raises
        ------
        TypeError
            If a member is not a classifier, or takes no weights where some are given.
        ValueError
            If ``y`` does not have two classes with two rows each, or the test parts of ``cv`` are
            not a partition of the rows.

        Warns
        -----
        PositiveClassWarning
            If the labels are neither 0 and 1 nor -1 and 1, and there is no ``pos_label``.
        SmallTopWarning
            If ``tau`` times the number of rows rounds to less than one row.
        """
        with restored_on_error(self):
            X, y, rows, cv, groups = self._check_rows_of_members(X, y, sample_weight, groups)
            # Members and calibration would learn little from weights that sum to 1.
            factor = max(1.0, len(rows.weight) / rows.weight.sum())
            rows = replace(rows, weight=rows.weight * factor)
            mass_of_top(rows.weight, self.tau)  # warns of less than one row
            if self.estimators is None:
                names, members = default_classifiers(X, self.random_state)
            else:
                names, members = self._checked_members()
                for name, member in zip(names, members, strict=True):
                    if not is_classifier(member):
                        raise TypeError(
                            f"The member {name!r} is not a classifier, got {member!r}: pass a"
                            " classifier, such as LogisticRegression()."
                        )
            get_measure(self.measure)
            self._fixed_weights(len(names))
            folds = self._folds(cv, X, y, rows, groups)
            if self.estimators is None and not sp.issparse(X):
                refuse_empty_columns(X, folds)
            member_weight = None if np.ptp(rows.weight) == 0.0 else rows.weight
            fit = partial(_fitted, X, y, member_weight)
            score = partial(_log_odds_of_rows, X, rows.pos_label)
            self.held_out_scores_ = self._fit_members(names, members, folds, len(y), fit, score)
            self.classes_, self.pos_label_ = rows.classes, rows.pos_label
            self._held_out = rows, folds, groups
            self._fit_weights()
        return self

    def _fit_weights(self) -> None:
        """Set weights and threshold from the scores of held-out rows."""
        self._measure = measure = get_measure(self.measure)
        weights = self._fixed_weights(len(self.estimators_))
        (rows, folds, _), odds = self._held_out, self.held_out_scores_
        self._stack = Stack(odds, rows, measure, weights)
        self.weights_ = self._stack.weights
        held_out = np.empty(len(odds))
        for train, test in folds:
            part = Stack(odds[train], rows.part(train), measure, weights)
            held_out[test] = part.values(odds[test])
        threshold = share_threshold(held_out, np.zeros(len(odds)), rows.weight, self.tau)
        self.top_threshold_ = rows.direction * threshold
        self._held_out_ensemble = held_out

    def _compare(self, members: dict[str, FloatArray]) -> Comparison:
        rows, _, groups = self._held_out
        options = {"baseline": "ensemble", "groups": groups, "random_state": 0}
        if np.ptp(rows.weight) > 0.0:
            options |= {"sample_weight": rows.weight, "weights": "sampling"}
        systems = {"ensemble": self._held_out_ensemble} | members
        return compare(self._measure, rows.positive, systems, **options)

    def _folds(self, cv: Any, X: Any, y: AnyArray, rows: TwoClasses, groups: Any) -> list[Fold]:
        """Folds of which each row is in one test part; a number of them keeps groups whole."""
        if isinstance(cv, Integral):
            n_minority = min(np.count_nonzero(rows.positive), np.count_nonzero(~rows.positive))
            if n_minority < 2:
                raise ValueError(
                    f"{type(self).__name__} holds rows of both classes out, but one class has one"
                    " row only: pass at least two rows of each."
                )
            n_folds = min(int(cv), n_minority)
            cv = StratifiedKFold(n_folds) if groups is None else StratifiedGroupKFold(n_folds)
        return folds_of_all_rows(cv, X, y, groups)

    def decision_function(self, X: Any) -> FloatArray:
        """Compute the log-odds of the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds of ``classes_[1]``. 0 separates the classes, and ``top_threshold_`` cuts off
            the top.
        """
        check_is_fitted(self)
        X = check_columns(self, X, reset=False)
        if not hasattr(X, "columns") and not get_tags(self).input_tags.allow_nan:
            # A member that is not asked cannot refuse missing values.
            assert_all_finite(X.tocsr() if sp.issparse(X) else X, input_name="X")
        odds = np.zeros((num_samples(X), len(self.weights_)))
        for i in np.flatnonzero(self.weights_):
            odds[:, i] = log_odds(self.estimators_[i], X, self.pos_label_)
        return self._towards_positive(self._stack.values(self._named(odds)))

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute probabilities of the classes, calibrated on held-out rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of ``classes_``.
        """
        odds = self.decision_function(X)
        return expit(np.column_stack((-odds, odds)))


def _fitted(X: Any, y: AnyArray, weight: FloatArray | None, member: Any, rows: IntArray) -> Any:
    part = None if weight is None else weight[rows]
    return fit_with_weights(member, rows_at(X, rows), y[rows], part)


def _log_odds_of_rows(X: Any, positive: Any, model: Any, rows: IntArray) -> FloatArray:
    with threads_for(X):
        return log_odds(model, rows_at(X, rows), positive)
