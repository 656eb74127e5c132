"""Base classes of all rankers, and what every fit does: restore, report, warn."""

from __future__ import annotations

import sys
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction, signature
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._partitions import is_collection
from .._row_batches import RowBatches
from .._sklearn_compat import BlockProgress, Interval, RealNotInt
from .._solvers import Certificate
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import are_usual_labels, class_among, hint_of_mark, validate_data
from .._version import __version__
from .._warn import Message, collected, warn
from ..exceptions import FeatureScaleWarning, LongFitWarning, PositiveClassWarning, VersionWarning
from ..metrics import average_precision_score, rank_positions
from ._two_classes import TwoClasses, held_out_threshold, share_threshold

Criterion: TypeAlias = Literal["relative_gap", "gradient_norm", "statistic"]

# Names of certificates in messages.
CRITERIA = {
    "relative_gap": "relative duality gap",
    "gradient_norm": "gradient norm relative to that at 0",
    "statistic": "best statistic",
}

# Ratio of the scales of two features from which on a penalty hardly sees one of them.
UNEQUAL = 1e6

# Seconds of observed steps before a forecast, and forecast seconds that give a warning.
OBSERVED, LONG = 2.0, 600.0


@contextmanager
def restored_on_error(estimator: Any) -> Iterator[None]:
    """Restore the fitted attributes of the estimator if the body raises.

    ``validate_data`` sets ``n_features_in_`` before all checks are done.
    """
    before = {name: value for name, value in vars(estimator).items() if not name.startswith("_")}
    try:
        yield
    except BaseException:
        for name in [name for name in vars(estimator) if not name.startswith("_")]:
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def forget(estimator: Any, *names: str) -> None:
    """Delete fitted attributes that an earlier fit left and this one may not have."""
    for name in names:
        vars(estimator).pop(name, None)


def in_parallel(
    n_jobs: int | None, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> list[Any]:
    """Call a function with each of some arguments, in workers, and give its warnings here."""
    results = Parallel(n_jobs=n_jobs)(delayed(_with_warnings)(function, call) for call in calls)
    for _, warnings in results:
        for message, category in warnings:
            warn(message, category)
    return [value for value, _ in results]


def _with_warnings(
    function: Callable[..., Any], call: tuple[Any, ...]
) -> tuple[Any, list[Message]]:
    with collected() as warnings:
        return function(*call), warnings


class FitProgress:
    """Report the steps of a fit to callbacks and, with ``verbose``, to the user."""

    def __init__(
        self,
        estimator: Any,
        n_steps: int,
        X: Any,
        y: Any,
        *,
        criterion: Criterion = "relative_gap",
        instead: str = "",
    ) -> None:
        self._n_steps, self._n_done = n_steps, 0
        self._instead = instead
        self._first_done, self._has_forecast = 0.0, False
        self._blocks = BlockProgress(estimator, n_steps, X, y)
        self._verbose = bool(estimator.verbose)
        self._criterion = CRITERIA[criterion]

    def step(self) -> None:
        self._blocks.block_done()
        self._n_done += 1
        if self._instead:
            self._forecast()

    def iteration(self, n_iter: int, objective: float, certificate: float) -> None:
        self.step()
        if self._verbose:
            sys.stderr.write(
                f"iteration {n_iter}: objective {objective:.10g},"
                f" {self._criterion} {certificate:.2e}\n"
            )

    def done(self) -> None:
        self._blocks.fit_done()

    def _forecast(self) -> None:
        """Warn once if the rest will take long; the first step can include preparations."""
        now, n_done = perf_counter(), self._n_done
        if n_done == 1:
            self._first_done = now
            return
        elapsed = now - self._first_done
        left = elapsed / (n_done - 1) * (self._n_steps - n_done)
        if self._verbose and n_done & (n_done - 1) == 0:
            sys.stderr.write(f"block {n_done} of {self._n_steps}: {_duration(left)} left\n")
        if elapsed >= OBSERVED and not self._has_forecast:
            self._has_forecast = True
            if left > LONG:
                warn(f"The remaining fit takes {_duration(left)}: {self._instead}", LongFitWarning)


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds:.0f} seconds"


def warn_not_converged(
    criterion: Literal["relative_gap", "gradient_norm"],
    value: float,
    *,
    n_iter: int,
    max_iter: int,
    tol: float,
    regularise: str,
    problems: str = "",
) -> None:
    subject = f"{problems} did not reach tol={tol:g}: the largest" if problems else "The"
    missed = "" if problems else f" and did not reach tol={tol:g}"
    limits = "max_iter or tol" if n_iter >= max_iter else "tol"
    warn(
        f"{subject} {CRITERIA[criterion]} is {value:.1e} after {n_iter} iterations{missed}; raise"
        f" {limits}, {regularise}, or standardise the features.",
        ConvergenceWarning,
    )


def store_certificate(
    estimator: Any,
    certificate: Certificate,
    criterion: Literal["relative_gap", "gradient_norm"],
    *,
    regularise: str,
) -> None:
    """Store what a solver certifies, and warn where that is less than was asked for."""
    forget(estimator, "dual_gap_", "gradient_norm_")
    accuracy = getattr(certificate, criterion)
    setattr(estimator, "dual_gap_" if criterion == "relative_gap" else "gradient_norm_", accuracy)
    for name in ("objective", "lower_bound", "n_iter", "converged"):
        setattr(estimator, f"{name}_", getattr(certificate, name))
    if not certificate.converged:
        warn_not_converged(
            criterion,
            accuracy,
            n_iter=certificate.n_iter,
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            regularise=regularise,
        )


def warn_of_scales(
    estimator: Any, scales: FloatArray, *, sparse: bool = False, within_queries: bool = False
) -> None:
    """Warn where the scales of two features differ by a factor of a million or more."""
    varying = np.flatnonzero((scales > 0) & np.isfinite(scales))
    if not len(varying):
        return
    low, high = varying[np.argmin(scales[varying])], varying[np.argmax(scales[varying])]
    if not scales[high] >= UNEQUAL * scales[low]:
        return
    names = getattr(estimator, "feature_names_in_", range(len(scales)))
    scaler = "StandardScaler(with_mean=False)" if sparse else "StandardScaler()"
    name = type(estimator).__name__
    remedy = f"make_pipeline({scaler}, {name}(...))"
    if within_queries and not sparse and "normalize" in estimator.get_params(deep=False):
        remedy += f' or {name}(normalize="zscore")'
    warn(
        f"The scales of the features {names[high]!r} and {names[low]!r} differ by a factor of "
        f"{scales[high] / scales[low]:.1e}, so that the penalty of {name} all but ignores the one "
        f"and leaves out the other: use {remedy}.",
        FeatureScaleWarning,
    )


def _refusing_groups(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that takes query ids say so where they come as ``groups``."""

    @wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "groups" in kwargs:
            raise TypeError(
                f"{type(self).__name__}.{method.__name__} takes query ids as qid=, not as groups=:"
                " write qid=. Pipelines and searches route groups= to qid after"
                " sklearn.set_config(enable_metadata_routing=True)."
            )
        return method(self, *args, **kwargs)

    return checked


def is_blocked(X: Any) -> bool:
    """Whether rows are read in blocks. True for ``RowBatches`` and dask collections."""
    return isinstance(X, RowBatches) or is_collection(X)


def refuse_blocked(estimator: Any, X: Any, instead: str = "") -> None:
    if is_blocked(X):
        raise TypeError(
            f"{type(estimator).__name__} needs X in memory, but X is of type {type(X).__name__}: "
            "pass an array of rows that fit into memory, such as X.compute() of a dask "
            f"collection{instead}."
        )


def check_columns(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool) -> None:
    """Check number and names of the features of rows whose values an inner estimator checks."""
    refuse_blocked(estimator, X)
    if len(getattr(X, "shape", (0, 0))) == 1:
        raise ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if"
            " it is one feature, X.reshape(1, -1) if it is one row."
        )
    validate_data(estimator, X, y, reset=reset, skip_check_array=True)


# What parameters of these names may be, in all rankers that do not say otherwise.
COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "C": [Interval(Real, 0, None, closed="neither")],
    "alpha": [Interval(Real, 0, None, closed="left"), str],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "cv": ["cv_object"],
    "degree": [Interval(Real, 1, None, closed="left")],
    "early_stopping": ["boolean"],
    "eta": [Interval(Real, 0, None, closed="neither"), None],
    "fit_intercept": ["boolean"],
    "gamma": [Interval(Real, 0, None, closed="neither"), None],
    "kernel_params": [dict, None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "n_jobs": [Integral, None],
    "pos_label": [Real, str, "boolean", None],
    "random_state": ["random_state"],
    "tau": [Interval(Real, 0, 1, closed="neither")],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "validation_fraction": [
        Interval(RealNotInt, 0, 1, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
    ],
    "warm_start": ["boolean"],
}


class Ranker(BaseEstimator):
    """Base class of all rankers: version check after unpickling, link to the documentation."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_parameter_constraints" in vars(cls):
            # In the order of the parameters: a set has another one each time.
            names = filter(COMMON_CONSTRAINTS.get, signature(cls.__init__).parameters)
            common = {name: COMMON_CONSTRAINTS[name] for name in names}
            cls._parameter_constraints = common | cls._parameter_constraints
        for name, method in list(vars(cls).items()):
            public = isfunction(method) and not name.startswith("_")
            if public and "qid" in signature(method).parameters:
                setattr(cls, name, _refusing_groups(method))

    _doc_link_module = "sklearn_rank"
    _doc_link_template = "https://sklearn-rank.readthedocs.io/en/stable/api/generated/sklearn_rank.{estimator_name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_sklearn_rank_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_sklearn_rank_version", None)
        if version != __version__:
            warn(
                f"This {type(self).__name__} was pickled with sklearn_rank "
                f"{version or '(unknown)'} and loaded with {__version__}: its predictions may be "
                "wrong. Refit it with this version.",
                VersionWarning,
            )
        super().__setstate__(state)


class BipartiteRanker(ClassifierMixin, Ranker, metaclass=ABCMeta):
    """Base class of rankers of two classes, which are scikit-learn classifiers.

    A subclass has a parameter ``pos_label``, the class to rank at the top; sets ``classes_`` and
    ``pos_label_`` by :meth:`_two_classes`; and defines ``decision_function``, the score minus the
    threshold between the classes, greater for the second class, whichever is positive.
    """

    # Whether this is a fit to some folds, of which only the scores are needed.
    _is_of_fold = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _two_classes(self, y: Any, weight: Any, inner: Any = None) -> TwoClasses:
        """Check labels; return the rows of positive weight with their classes.

        ``inner`` is the ``pos_label`` of an inner estimator, used if ``pos_label`` is None.
        """
        present = y[weight > 0]
        if len(present) == 0:
            raise ValueError(
                f"{type(self).__name__} got no rows of positive weight: pass rows of both classes."
            )
        check_classification_targets(present)
        kind = type_of_target(present, input_name="y", raise_unknown=True)
        if kind != "binary":
            remedy = " Use OneVsRestClassifier(...) of sklearn.multiclass for more classes."
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
                f"{hint_of_mark(np.unique(present)) or remedy}"
            )
        classes = np.unique(present)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of two classes with positive sample_weight; "
                f"got one class only, {classes.tolist()[0]!r}: add rows of the other class."
            )
        pos_label = inner if self.pos_label is None else self.pos_label
        positive = positive_or_second(type(self).__name__, classes, pos_label)
        return TwoClasses.of_rows(classes, positive, y == positive, weight)

    def _of_fitted_classes(self, y: Any) -> Any:
        """Check that labels are of the classes of ``fit``; return which are positive."""
        classes = np.unique(y)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has the classes {classes.tolist()}, but fit got {self.classes_.tolist()}: "
                "pass labels of the classes of fit."
            )
        return y == self.pos_label_

    def _rows_at(self, X: Any, rows: Any, others: Any = None) -> Any:
        """Some rows of validated X; a precomputed kernel takes them with others, too."""
        return X[rows]

    def _threshold_of_share(
        self,
        X: Any,
        rows: TwoClasses,
        scores: FloatArray,
        rounding: FloatArray,
        *,
        flexible: bool,
        share: float | None = None,
        mass: FloatArray | None = None,
        of_fold: dict[str, Any] | None = None,
    ) -> float:
        """Threshold that cuts a share of new rows; None is that of the positives.

        A ``flexible`` fit is repeated on folds, with the parameters ``of_fold``, since it
        separates its training rows better than others.
        """
        if self._is_of_fold:
            return 0.0
        if share is None:
            share = rows.masses[1] / rows.weight.sum()
        mass = rows.weight if mass is None else mass
        if not flexible:
            return share_threshold(scores, rounding, mass, share)
        return held_out_threshold(self, X, rows, scores, rounding, mass, share, of_fold or {})

    def _towards_positive(self, decision: Any) -> Any:
        """Decision values as scores by which the positive class is on top."""
        return decision if self.pos_label_ == self.classes_[1] else -decision

    @abstractmethod
    def decision_function(self, X: Any) -> Any:
        """Return the score of each row minus the threshold between the classes."""

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
        if is_collection(decision):
            dtype = self.classes_.dtype
            return decision.map_blocks(_classes_of, self.classes_, towards, dtype=dtype)
        return _classes_of(decision, self.classes_, towards)

    def _scores_in_memory(self, X: Any, what: str) -> FloatArray:
        """Scores by which the positives are on top; refuses lazy ones."""
        check_is_fitted(self)
        scores = self._towards_positive(self.decision_function(X))
        if is_collection(scores):
            raise TypeError(
                f"{what} needs the scores of all rows at once, but X is a dask collection: pass"
                " X.compute()."
            )
        return np.asarray(scores)

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
        if isinstance(k, bool | np.bool_) or not isinstance(k, Integral):
            raise TypeError(f"k={k!r} must be a number of rows: pass an int, such as k=100.")
        scores = self._scores_in_memory(X, "top")
        if not 1 <= k <= len(scores):
            raise ValueError(
                f"k={k} must be between 1 and {len(scores)}, the number of rows: pass a smaller k"
                " or more rows."
                if k > 0
                else f"k={k} must be at least 1: pass the number of rows to act on."
            )
        return np.argsort(-scores, kind="stable")[:k]

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


def _classes_of(decision: FloatArray, classes: AnyArray, towards: float) -> AnyArray:
    """Classes by the sign of decision values; ``towards`` times these the positives are on top."""
    # A row at the threshold is not above it, whichever class is above.
    above = towards * decision > 0
    return classes[(above == (towards > 0)).astype(int)]


def positive_or_second(name: str, classes: Any, pos_label: Any) -> Any:
    """Find the positive class; without ``pos_label`` it is the greater label, with a warning."""
    if pos_label is not None:
        whose = "classes of y"
        if isinstance(pos_label, str) and np.array_equal(classes, [0, 1]):
            whose += " (BaggingClassifier, VotingClassifier and others number sorted classes)"
        return class_among(classes, pos_label, whose)
    if not are_usual_labels(classes):
        low, high = classes.tolist()
        warn(
            f"{name} treats {high!r} as the positive class, the greater of the labels {low!r} "
            f"and {high!r}, because pos_label is None: pass pos_label={high!r}, or "
            f"pos_label={low!r} if that is the class to rank at the top.",
            PositiveClassWarning,
        )
    return classes[1]
