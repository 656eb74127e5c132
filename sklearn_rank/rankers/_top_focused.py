"""Refitting of a classifier with more weight on its top-scored rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import (
    BlockProgress,
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    rows_at,
    with_callbacks,
)
from .._typing import AnyArray, FloatArray
from .._validation import ravelled
from ..metrics import Cauchy, ScoreGeneratingFunction, get_measure
from ..metrics._shared import own_pos_label
from ._base import check_columns, forget, in_parallel, restored_on_error
from ._boosting import refuse_unknown_parameters
from ._two_classes import (
    BipartiteRanker,
    Fold,
    TwoClasses,
    fit_with_weights,
    is_flexible,
    log_odds,
    log_odds_of_probabilities,
    mass_of_top,
    of_taken_rows,
    share_threshold,
    values_of_taken_rows,
    weight_argument,
)

Combination = Literal["pilot", "last", "sum"]
COMBINATIONS: tuple[Combination, ...] = ("pilot", "last", "sum")

# Scores that differ by at most this share of their range count as tied, since rounding separates
# equal rows.
TIED = 1e-10


def focus_weights(
    scores: FloatArray, weight: FloatArray, phi: ScoreGeneratingFunction, floor: float
) -> FloatArray:
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    gap = -np.diff(ordered) > TIED * (ordered[0] - ordered[-1])
    starts = np.flatnonzero(np.r_[True, gap])
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
        parts = [
            score(model, X, self.positive) if share else 0.0
            for model, share in zip(
                (self.models[0], self.models[-1]), self.shares(combination), strict=True
            )
        ]
        return self.combined(parts, combination)

    def shares(self, combination: Combination) -> FloatArray:
        if combination != "sum":
            return np.array([1.0, 0.0] if combination == "pilot" else [0.0, 1.0])
        # Scores without spread order nothing, and have no share.
        shares = np.array([1.0 / spread if spread > 0.0 else 0.0 for spread in self.spreads])
        return shares / shares.sum() if shares.any() else np.array([0.0, 1.0])

    def combined(self, parts: Any, combination: Combination) -> FloatArray:
        shares = self.shares(combination)
        return shares[0] * parts[0] + shares[1] * parts[1]


def _score_fold(
    fit: Callable[..., Any], X: Any, y: AnyArray, weight: FloatArray, positive: Any, fold: Fold
) -> FloatArray:
    train, test = fold
    model = fit(rows_at(X, train), y[train], weight[train])
    return log_odds(model, rows_at(X, test), positive)


def _spread(scores: FloatArray, weight: FloatArray) -> float:
    """Weighted standard deviation; 0 where the scores differ by rounding only."""
    centred = scores - np.average(scores, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, weights=weight)))
    return spread if spread > TIED * float(np.abs(scores).max()) else 0.0


# Minimum default focus, for small tops. A narrower focus improves on some data sets; on others it
# ignores the bulk, whose rows then rise to the top.
LEAST_FOCUS = 0.25

# Rows of a class below which none are held out for the threshold.
FEWEST_OF_A_CLASS = 10


class TopFocusedRanker(CallbackSupportMixin, BipartiteRanker):
    r"""Refit any classifier with more weight on its top-scored rows, for precision at the top.

    The pilot is a fit to the unweighted rows. Each further round weights a row by its place in the
    ranking of the previous round,

    .. math:: \max\Bigl(\text{floor}, \frac{1}{1 + (v / \text{focus})^2}\Bigr),

    where v is the share of the list above it, and refits the classifier. By default, the score is
    the sum of the standardised scores of the pilot and the last round. The weights depend only on
    the features of a row, through its score. If the model of the classifier is correctly
    specified, all rounds estimate the same parameters; if not, the last round fits best near the
    top.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Classifier whose ``fit`` takes ``sample_weight``, or a pipeline or search that ends in one.
        None is ``LogisticRegression(max_iter=1000)``.
    tau : float, default=0.05
        Share of the rows that make the top, in (0, 1): It sets the default of ``focus``, the
        criterion of ``combine="choose"``, and ``top_threshold_``.
    pos_label : int, float, bool, str or None, default=None
        The positive class: its rows are to be ranked at the top. None takes the ``pos_label`` of
        the estimator if it has one, else 1 if the labels are 0 and 1 or -1 and 1, and otherwise
        the greater label, with a warning.
    focus : float, ScoreGeneratingFunction or None, default=None
        Share of the list at which the weight is one half, positive. A smaller value concentrates
        on the top and learns from fewer rows. None is ``max(4 * tau, 0.25)``. Alternatively, a
        function phi of :mod:`sklearn_rank.metrics` with a derivative, which gives the weights
        :math:`\phi'(1 - v) / \max \phi'`. A number f is equivalent to :class:`Cauchy(f)
        <sklearn_rank.metrics.Cauchy>`.
    floor : float, default=0.02
        Minimum weight, in (0, 1]. A smaller value ignores more of the rest of the list; with 1,
        all rows have equal weight.
    n_rounds : int, default=2
        Number of fits after the pilot, at least 1.
    combine : {"sum", "last", "choose"}, default="sum"
        How the scores are combined: "sum" adds the standardised scores of pilot and last round,
        "last" uses the last round only, "choose" takes the candidate with the best cross-validated
        :func:`smoothed precision <sklearn_rank.metrics.smoothed_precision_at_top_score>` at
        ``tau`` among the pilot, the last round and the sum; ties go to the first of these.
    pilot_ranks : {"auto", "training", "out_of_fold"}, default="auto"
        Scores that rank the rows: "training" uses a fit to all rows, "out_of_fold" uses fits to
        the other folds, which is needed if the classifier fits its training rows closely. "auto"
        is "training" for linear models (with ``coef_``), else "out_of_fold".
    cv : int, splitter, iterable or None, default=None
        Folds of "out_of_fold" and "choose", as in scikit-learn. Each row must be in exactly one
        test part. None is five stratified folds.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel. None is 1, -1 uses all cores. The result does not
        depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive class.
    pilot_ : estimator
        The fit to the unweighted rows.
    rounds_ : list of estimator
        The fits of the further rounds.
    focus_ : ScoreGeneratingFunction
        The function phi whose derivative gives the weights.
    combine_ : {"sum", "last", "pilot"}
        Scores that are used.
    scores_ : dict of ndarray of shape (n_folds,)
        Criterion of each candidate on each fold. Only for ``combine="choose"``.
    spreads_ : ndarray of shape (2,)
        Standard deviations of the training scores of pilot and last round, by which the sum
        divides the scores.
    top_threshold_ : float
        Decision value beyond which the top ``tau`` of new rows lie, the greater values if
        ``classes_[1]`` is the positive class, and the smaller ones if ``classes_[0]`` is. It is a
        quantile of the training scores of linear models with at least 10 rows a feature, and of
        out-of-fold scores of all others.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the decision values, if the classifier has such.
    intercept_ : ndarray of shape (1,)
        Their constant.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the features for the scores that are used, if the classifier has such:
        weighted like the scores in a sum.
    n_features_in_ : int
        Number of features, if the rows have features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    AccuracyAtTopRanker : Linear ranker for one share of the top, with certificates.
    sklearn_rank.metrics.smoothed_precision_at_top_score : Measure for choosing parameters.

    Notes
    -----
    ``decision_function`` is a weighted mean of the decision values of the two fits (of their
    log-odds, if the classifier has no decision values), which gives the same order as the sum of
    standardised scores. ``predict_proba`` pools their probabilities in the same way. The
    thresholds 0 and 1/2 separate the classes, as in the classifier itself.

    With weights on the positives alone, each round increases a lower bound of the linear rank
    statistic :func:`W_phi <sklearn_rank.metrics.linear_rank_score>`; see the theory pages. The
    weights of the negatives, and the sum of scores, are heuristics supported by a study over many
    data sets; see the documentation.

    The cost is ``n_rounds + 1`` fits, or ``(n_rounds + 1)(n_folds + 1)`` with "out_of_fold"; for
    linear models with fewer than 10 rows a feature ``2 n_folds`` more than the first.
    "choose" takes the same on each fold in addition.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21: the statistic.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import TopFocusedRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> base = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    >>> ranker = TopFocusedRanker(base).fit(X[::2], y[::2])
    >>> scores = ranker.decision_function(X[1::2])
    >>> precision_at_top_score(y[1::2], scores, tau=0.1).__round__(2)
    0.83
    """

    _parameter_constraints = {
        "estimator": "no_validation",
        "focus": [Interval(Real, 0, None, closed="neither"), ScoreGeneratingFunction, None],
        "floor": [Interval(Real, 0, 1, closed="right")],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "combine": [StrOptions({"sum", "last", "choose"})],
        "pilot_ranks": [StrOptions({"auto", "training", "out_of_fold"})],
    }

    def __init__(
        self,
        estimator=None,
        *,
        tau=0.05,
        pos_label=None,
        focus=None,
        floor=0.02,
        n_rounds=2,
        combine="sum",
        pilot_ranks="auto",
        cv=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.tau = tau
        self.pos_label = pos_label
        self.focus = focus
        self.floor = floor
        self.n_rounds = n_rounds
        self.combine = combine
        self.pilot_ranks = pilot_ranks
        self.cv = cv
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_base = get_tags(self._base())
        tags.input_tags = of_base.input_tags
        tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags

    def _base(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> TopFocusedRanker:
        """Fit the pilot and the weighted rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type; ``pos_label`` is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are ignored.
        groups : array-like of shape (n_samples,), default=None
            Groups for ``cv``.
        **fit_params : dict
            Further arguments of each fit of the classifier, such as ``eval_X=X_val,
            eval_y=y_val`` for early stopping of LightGBM. Do not pass arrays of one value per row
            of X, because folds are fitted, too.

        Returns
        -------
        TopFocusedRanker
            The estimator itself.

        Raises
        ------
        TypeError
            If the estimator is not a classifier or takes no ``sample_weight``.
        ValueError
            If ``y`` does not have exactly two classes, ``pos_label`` is not one of them, or the
            test parts of ``cv`` are not a partition of the rows.

        Warns
        -----
        PositiveClassWarning
            If neither this ranker nor the estimator sets ``pos_label``, and the labels are neither
            0 and 1 nor -1 and 1.
        SmallTopWarning
            If ``tau`` times the number of rows rounds to less than one row.
        """
        with restored_on_error(self):
            base = self._base()
            weight_argument(base)
            refuse_unknown_parameters(base)
            check_columns(self, X, y, reset=True)
            X, _ = indexable(X, y)
            labels = column_or_1d(y, warn=True)
            assert_all_finite(labels, input_name="y")
            weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), X)
            rows = self._two_classes(labels, weight, own_pos_label(base))
            self.classes_, self.pos_label_ = rows.classes, rows.pos_label
            taken = rows.taken
            if groups is not None:
                groups = values_of_taken_rows("groups", groups, taken, len(weight))
            X = X if len(taken) == len(weight) else rows_at(X, taken)
            cv = of_taken_rows(self.cv, taken, len(weight))
            self._fit(X, labels[taken], rows, groups, cv, fit_params)
        return self

    def _fit(
        self,
        X: Any,
        y: AnyArray,
        rows: TwoClasses,
        groups: Any,
        cv: Any,
        fit_params: dict[str, Any],
    ) -> None:
        mass_of_top(rows.weight, self.tau)  # warns of less than one row
        progress = BlockProgress(self, self.n_rounds + 1, X, y)
        self.focus_ = self._focus()
        fit_rounds = partial(self._fit_rounds, cv, fit_params)
        self.combine_ = self.combine
        forget(self, "scores_")
        if self.combine == "choose":
            self.scores_ = self._cross_validated(fit_rounds, cv, X, y, rows, groups)
            self.combine_ = max(COMBINATIONS, key=lambda name: self.scores_[name].mean())
        rounds = fit_rounds(X, y, rows, groups, on_round=progress.block_done, for_threshold=True)
        self.pilot_, *self.rounds_ = rounds.models
        self.spreads_ = np.array(rounds.spreads)
        scores = rounds.scores(X, self.combine_)
        if rounds.held_out is not None:
            scores = rounds.combined(rounds.held_out, self.combine_)
        self.top_threshold_ = rows.direction * share_threshold(
            scores, np.zeros(len(scores)), rows.weight, self.tau
        )
        progress.fit_done()

    def _focus(self) -> ScoreGeneratingFunction:
        phi = self.focus
        if phi is None:
            phi = Cauchy(max(4.0 * self.tau, LEAST_FOCUS))
        elif not isinstance(phi, ScoreGeneratingFunction):
            phi = Cauchy(phi)
        if not phi.has_derivative:
            raise ValueError(
                f"focus={phi!r} has no derivative, which defines the weights of the rows: pass a "
                "share of the list, or a function such as Exponential(20.0)."
            )
        return phi

    def _fit_rounds(
        self,
        cv: Any,
        fit_params: dict[str, Any],
        X: Any,
        y: AnyArray,
        rows: TwoClasses,
        groups: Any,
        *,
        on_round: Callable[[], None] = lambda: None,
        for_threshold: bool = False,
    ) -> Rounds:
        """Fit, weigh the rows by their places, fit again; with held-out scores for a threshold."""
        weight, positive = rows.weight, rows.pos_label
        fit: Callable[..., Any] = partial(fit_with_weights, self._base(), **fit_params)

        def score_held_out(weight: FloatArray, folds: Sequence[Fold]) -> FloatArray:
            calls = ((fit, X, y, weight, positive, fold) for fold in folds)
            parts = in_parallel(self.n_jobs, _score_fold, calls)
            scores = np.empty(len(y))
            for (_, test), part in zip(folds, parts, strict=True):
                scores[test] = part
            return scores

        models = [fit(X, y, weight)]
        on_round()
        folds = self._pilot_folds(cv, models[0], X, y, groups)
        current, pilot_scores = weight, None
        for _ in range(self.n_rounds):
            if folds is None:
                scores = log_odds(models[-1], X, positive)
            else:
                scores = score_held_out(current, folds)
                pilot_scores = scores if pilot_scores is None else pilot_scores
            current = focus_weights(scores, weight, self.focus_, self.floor)
            models.append(fit(X, y, current))
            on_round()
        pilot_spread, last_spread = (
            _spread(log_odds(model, X, positive), weight) for model in (models[0], models[-1])
        )
        held_out = None
        if for_threshold:
            folds = self._threshold_folds(cv, models[0], X, y, rows, groups)
            if folds is not None:
                if pilot_scores is None:
                    pilot_scores = score_held_out(weight, folds)
                held_out = pilot_scores, score_held_out(current, folds)
        return Rounds(models, positive, (pilot_spread, last_spread), held_out)

    def _pilot_folds(
        self, cv: Any, pilot: Any, X: Any, y: AnyArray, groups: Any
    ) -> list[Fold] | None:
        """Folds by whose fits the rows are ranked; None where the fit to all of them does."""
        ranks = self.pilot_ranks
        if ranks == "auto":
            ranks = "training" if _linear_part(pilot) is not None else "out_of_fold"
        return None if ranks == "training" else self._folds(cv, X, y, groups)

    def _threshold_folds(
        self, cv: Any, pilot: Any, X: Any, y: AnyArray, rows: TwoClasses, groups: Any
    ) -> list[Fold] | None:
        """Folds for the threshold; None for linear models of many rows and for a few rows."""
        linear = _linear_part(pilot)
        if linear is not None and not is_flexible(rows, np.shape(linear.coef_)[-1]):
            return None
        if min(np.sum(rows.positive), np.sum(~rows.positive)) < FEWEST_OF_A_CLASS:
            return None
        return self._folds(cv, X, y, groups)

    def _folds(self, cv: Any, X: Any, y: AnyArray, groups: Any) -> list[Fold]:
        """Folds of which each row is in one test part, and both classes in each training part."""
        folds = list(check_cv(cv, y, classifier=True).split(X, y, groups))
        if not folds:
            raise ValueError(f"cv={self.cv!r} yields no folds: pass an int or a splitter.")
        if max(int(test.max(initial=0)) for _, test in folds) >= len(y):
            raise ValueError(
                "cv is a list of splits of all rows, but combine='choose' must also split its "
                "training parts: pass a splitter, such as StratifiedKFold(5), or "
                "pilot_ranks='training'."
            )
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
        if np.any(times != 1):
            row = int(np.flatnonzero(times != 1)[0])
            raise ValueError(
                f"The test parts of cv={self.cv!r} are not a partition of the rows: row {row} is "
                f"in {times[row]} of them; pass folds, such as StratifiedKFold(5)."
            )
        for number, (train, _) in enumerate(folds):
            if len(np.unique(y[train])) < 2:
                raise ValueError(
                    f"The training part of fold {number} of cv={self.cv!r} has one class only: "
                    "use fewer or stratified folds, or pilot_ranks='training' with a combine "
                    "other than 'choose'."
                )
        return folds

    def _cross_validated(
        self,
        fit_rounds: Callable[..., Rounds],
        cv: Any,
        X: Any,
        y: AnyArray,
        rows: TwoClasses,
        groups: Any,
    ) -> dict[str, FloatArray]:
        measure = get_measure(f"smoothed_precision@top{self.tau!r}")
        values: dict[str, list[float]] = {name: [] for name in COMBINATIONS}
        for train, test in self._folds(cv, X, y, groups):
            groups_train = None if groups is None else rows_at(groups, train)
            rounds = fit_rounds(rows_at(X, train), y[train], rows.part(train), groups_train)
            held_out = rows_at(X, test)
            for name in COMBINATIONS:
                scores = rounds.scores(held_out, name)
                values[name].append(
                    measure(rows.positive[test], scores, sample_weight=rows.weight[test])
                )
        return {name: np.array(column) for name, column in values.items()}

    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values, on the scale of those of the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values, greater for ``classes_[1]``. 0 separates the classes, and
            ``top_threshold_`` cuts off the top.
        """
        check_is_fitted(self)
        check_columns(self, X, reset=False)
        return self._scores(X, log_odds)

    def _of_fits(self, name: str) -> FloatArray:
        """Combine an attribute of pilot and last round as the scores are combined."""
        if not hasattr(self, "pilot_"):
            raise AttributeError(f"{name} needs a fit: call fit first.")
        parts = [np.asarray(getattr(fit, name)) for fit in (self.pilot_, self.rounds_[-1])]
        if name == "feature_importances_":
            parts = [part / (part.sum() or 1.0) for part in parts]
        return self._rounds().combined(parts, self.combine_)

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the decision values: a sum of linear fits is linear."""
        return self._of_fits("coef_")

    @property
    def intercept_(self) -> FloatArray:
        """Constant of the decision values."""
        return self._of_fits("intercept_")

    @property
    def feature_importances_(self) -> FloatArray:
        """Importances of pilot and last round, each of sum 1, weighted like their scores."""
        return self._of_fits("feature_importances_")

    @available_if(lambda self: hasattr(getattr(self, "pilot_", self._base()), "predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class, by the last round or pooled over pilot and last round.

        The logarithms of the odds are pooled as ``decision_function`` pools decision values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        check_columns(self, X, reset=False)
        odds = self._scores(X, log_odds_of_probabilities)
        return expit(np.column_stack((-odds, odds)))

    def _scores(self, X: Any, score: Any) -> FloatArray:
        return self._towards_positive(self._rounds().scores(X, self.combine_, score))

    def _rounds(self) -> Rounds:
        return Rounds([self.pilot_, *self.rounds_], self.pos_label_, tuple(self.spreads_))


def _linear_part(estimator: Any) -> Any:
    """What has coefficients: a fitted estimator, or what a pipeline or search ends in; or None."""
    while True:
        if hasattr(estimator, "coef_"):
            return estimator
        steps = getattr(estimator, "steps", None)
        inner = steps[-1][1] if steps else getattr(estimator, "best_estimator_", None)
        if inner is None:
            return None
        estimator = inner
