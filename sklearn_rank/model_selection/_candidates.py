"""Candidates of a search: their fits to training parts, and the choice among them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed

from .._lists import LabelType, check_lists
from .._printed import Printed, fixed
from .._sklearn_compat import rows_at, threads_for
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from .._validation import check_numbers, labels_of_fit, refuse_marks
from .._warn import warn
from ..bounds import Bound
from ..inference import Interval
from ..inference._shared import (
    covariance_root,
    least_variance,
    never_certain_covariance,
    normal_draws,
    refuse_one_class,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import (
    RESPONSE_METHODS,
    amounts_of,
    check_fixed_scale,
    own_pos_label,
    ranking_scores,
    refuse_level,
)
from ..rankers._shared import positive_or_second
from ._guarantees import bound_of, margins
from ._held_out import HeldOut


def named_grids(estimator: Any, param_grid: Any) -> list[tuple[str, Any, Any]]:
    """Name, estimator and grid of each estimator of a search; a single one has the name ""."""
    if not isinstance(estimator, list | tuple | dict):
        return [("", estimator, {} if param_grid is None else param_grid)]
    if param_grid is not None:
        raise ValueError(
            f"param_grid={param_grid!r} is for a single estimator, but several were passed: leave"
            " param_grid out and pass pairs, as [(estimator, grid), ...]."
        )
    forms = (
        "pass an estimator, a list of estimators or of (estimator, grid) pairs, or a dict of these"
        " by name"
    )
    items = list(estimator.values() if isinstance(estimator, dict) else estimator)
    if not items:
        raise ValueError(f"estimator={estimator!r} contains no estimator: {forms}.")
    pairs = []
    for item in items:
        pair = item if isinstance(item, list | tuple) else (item, None)
        if len(pair) != 2:
            raise ValueError(f"{item!r} is not a pair of an estimator and its grid: {forms}.")
        model, grid = pair
        if isinstance(model, str):
            raise ValueError(f"{item!r} begins with a name: pass a dict, as {{name: estimator}}.")
        if isinstance(model, type) or not all(hasattr(model, x) for x in ("fit", "get_params")):
            raise TypeError(f"{model!r} is not an estimator: {forms}.")
        pairs.append((model, {} if grid is None else grid))
    names = [str(name) for name in estimator]
    if not isinstance(estimator, dict):
        names = number_repeated([type(model).__name__.lower() for model, _ in pairs])
    if len({is_classifier(model) for model, _ in pairs}) > 1:
        raise ValueError(
            f"The estimators {names} mix classifiers and other estimators, which do not share a"
            " positive class: search over each kind separately."
        )
    return [(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def number_repeated(names: list[str]) -> list[str]:
    """Add a number to each name that occurs several times."""
    return [
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


# Rows to fit to, and rows to score.
Split = tuple[IntArray, IntArray]


class FitPlan(NamedTuple):
    """Estimator, rows, labels and metadata of the fits of a candidate."""

    estimator: Any
    X: Any  # (n_samples, n_features)
    y: AnyArray  # (n_samples,)
    params: dict[str, Any]  # Arguments of ``fit``; those with one value per row are divided
    pos_label: Any  # The positive class, of classifiers
    ids: AnyArray | None = None  # (n_samples,)
    ids_as: tuple[str, ...] = ()  # Arguments of ``fit`` that are the ids
    methods: tuple[str, ...] = RESPONSE_METHODS  # Of the estimator, that give the scores
    routed: bool = False  # Whether ``fit`` runs with metadata routing enabled
    # What a search tells candidates by, which does not depend on the data.
    name: str = ""  # Of the estimator, if there are several
    setting: Mapping[str, Any] = MappingProxyType({})  # Parameters of the estimator
    weight: float = 1.0  # Share of the error
    complexity: Any = 0

    def __str__(self) -> str:
        shown = (self.name, f"{self.setting}" if self.setting else "")
        return " ".join(filter(None, shown)) or "as it is"


def candidates_of(
    bases: Sequence[tuple[FitPlan, Any]], prior: Any, complexity: Any
) -> list[FitPlan]:
    """Candidates of estimators with grids."""
    found: list[FitPlan] = []
    for plan, grid in bases:
        settings = list(ParameterGrid(grid))
        if not settings:
            raise ValueError(
                f"param_grid={grid!r} contains no candidate: pass {{}} for its own parameters."
            )
        found += [plan._replace(setting=setting) for setting in settings]
    # Functions of the parameters distinguish several estimators by name.
    described = [({"estimator": x.name} if x.name else {}) | {**x.setting} for x in found]
    of_each = prior_weights(prior, described).tolist(), _complexities(complexity, described)
    terms = zip(found, *of_each, strict=True)
    return [x._replace(weight=weight, complexity=key) for x, weight, key in terms]


class Fitted(NamedTuple):
    """Scores of one candidate on one split."""

    scores: FloatArray
    failure: str  # Traceback of a failed fit
    fit_time: float
    score_time: float
    model: Any  # The fitted estimator, if models are kept


def fit_parts(
    plans: Sequence[FitPlan],
    parts: Sequence[Split],
    n_jobs: int | None,
    copies: Any = None,
    **options: Any,
) -> list[list[Fitted]]:
    """Fit each plan to each part and score its other rows.

    ``copies`` are numbers of the copy of its query that each training row is in.
    """
    n, copies = len(parts), copies or [None] * len(parts)
    fits = Parallel(n_jobs)(
        delayed(fit_part)(plan, number, *part, copies=copies[number], **options)
        for plan, (number, part) in product(plans, enumerate(parts))
    )
    return [list(fits[start : start + n]) for start in range(0, len(fits), n)]


def fit_candidates(
    candidates: Sequence[FitPlan], splits: Sequence[Split], search: Any
) -> list[list[Fitted]]:
    options = {"keep_model": not search.refit, "raise_errors": search.error_score == "raise"}
    found = fit_parts(candidates, splits, search.n_jobs, **options)
    fits = [fit for of_one in found for fit in of_one]
    failures = [fit.failure for fit in fits if fit.failure]
    if len(failures) == len(fits):
        raise ValueError(
            f"All {len(fits)} fits failed: check that the estimator can be fitted to X and y. The"
            f" first failure was:\n{failures[0]}"
        )
    if failures:
        warn(
            f"{len(failures)} of {len(fits)} fits failed; their candidates cannot be chosen, but"
            f" count as candidates in the guarantee. The first failure was:\n{failures[0]}",
            FitFailedWarning,
        )
    return found


def fit_part(
    plan: FitPlan,
    number: int,
    train: IntArray,
    test: IntArray,
    *,
    copies: IntArray | None = None,
    keep_model: bool = False,
    raise_errors: bool = True,
) -> Fitted:
    """Fit to the training rows of a split, and score its other rows."""
    estimator = clone(plan.estimator)
    X_train, X_test = rows_at(plan.X, train), rows_at(plan.X, test)
    if get_tags(estimator).input_tags.pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    fit_params = {
        name: rows_at(value, train) if _is_per_row(value, len(plan.y)) else value
        for name, value in plan.params.items()
    }
    if plan.ids is not None:
        ids_of_fit = plan.ids[train]
        if copies is not None:
            # Copies of a query are queries of their own.
            known, codes = np.unique(plan.ids, return_inverse=True)
            ids_of_fit = codes[train] + len(known) * copies
        fit_params |= dict.fromkeys(plan.ids_as, ids_of_fit)
    begun = fitted = time.perf_counter()
    try:
        estimator.set_params(**clone({**plan.setting}, safe=False))
        routing = plan.routed or sklearn.get_config()["enable_metadata_routing"]
        ids = None if plan.ids is None else plan.ids[test]
        how: Any = {"qid": ids, "methods": plan.methods}
        with threads_for(X_train):
            with sklearn.config_context(enable_metadata_routing=routing):
                estimator.fit(X_train, plan.y[train], **fit_params)
            fitted = time.perf_counter()
            scores = ranking_scores(estimator, X_test, plan.pos_label, **how)
        scores = check_scores(scores, estimator, len(test))
    except Exception as error:
        if raise_errors:
            error.add_note(f"In split {number} of the cross-validation.")
            raise
        return Fitted(np.empty(0), traceback.format_exc(), fitted - begun, np.nan, None)
    scored = time.perf_counter()
    model = estimator if keep_model else None
    return Fitted(scores, "", fitted - begun, scored - fitted, model)


def check_scores(scores: Any, estimator: Any, n: int) -> FloatArray:
    """Raise an error unless there is one number for each of n rows; their type stays."""
    scores = np.asarray(scores)
    if scores.dtype not in (np.float16, np.float32):
        scores = scores.astype(np.float64, copy=False)
    if scores.shape != (n,) or np.isnan(scores).any():
        raise ValueError(
            f"{type(estimator).__name__} returned {np.count_nonzero(np.isnan(scores))} NaN in"
            f" scores of shape {scores.shape} for {n} rows: it must return one number per row."
        )
    return scores


def _is_per_row(value: Any, n: int) -> bool:
    if hasattr(value, "shape"):
        return value.shape[:1] == (n,)
    is_array = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict)
    return is_array and len(value) == n


def prior_weights(prior: Any, candidates: Sequence[dict[str, Any]]) -> FloatArray:
    """Positive weights of the candidates, of sum 1."""
    n = len(candidates)
    if prior is None:
        return np.full(n, 1.0 / n)
    if callable(prior):
        prior = [prior(params) for params in candidates]
    weights = np.asarray(check_numbers("prior", prior))
    if weights.shape != (n,):
        raise ValueError(
            f"prior has shape {weights.shape}, but there are {n} candidates: pass one weight for"
            " each, in the order of ParameterGrid, or a function of the parameters."
        )
    wrong = ~((weights > 0) & np.isfinite(weights))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(
            f"prior is {weights[index]:g} for the candidate {candidates[index]}, but weights must"
            " be positive and finite: remove the candidate from the grid instead."
        )
    return weights / weights.sum()


def _complexities(complexity: Any, candidates: Sequence[dict[str, Any]]) -> list[Any]:
    if complexity is None:
        return [*range(len(candidates))]
    keys = []
    for params in candidates:
        is_name = isinstance(complexity, str) and complexity in params
        if not callable(complexity) and not is_name:
            raise ValueError(
                f"complexity={complexity!r} is not a parameter of the candidate {params}: pass the"
                " name of one that all candidates have, or a function of the parameters."
            )
        keys.append(complexity(params) if callable(complexity) else params[complexity])
    return keys


def labelled_rows(X: Any, y: Any) -> tuple[Any, AnyArray]:
    X, y = indexable(X, labels_of_fit(y))
    if not len(y):
        raise ValueError("X and y have 0 samples: pass at least one row.")
    return X, column_or_1d(y, warn=True)


def positive_rows(
    estimators: Sequence[Any], y: AnyArray, measure: Measure, pos_label: Any, of_queries: bool
) -> tuple[Any, BoolArray | None]:
    """Positive class of estimators of one kind, and its rows; both None for grades."""
    if pos_label is None:
        labels = {own_pos_label(estimator) for estimator in estimators}
        if len(labels) > 1:
            raise ValueError(
                f"The estimators have different positive classes, {sorted(labels, key=repr)}:"
                " pass pos_label."
            )
        pos_label = labels.pop()
    classifier = is_classifier(estimators[0])
    for estimator in estimators if classifier else ():
        refuse_level(measure, estimator)
    if (of_queries or measure.kind == "graded") and not classifier and pos_label is None:
        check_fixed_scale(measure, y)
        return None, None
    assert_all_finite(y, input_name="y")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes = np.unique(y)
    if measure.rel is None and kind != "binary" and len(classes) != 1:
        refuse_marks(classes, "y")
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    if classifier and len(classes) == 2:
        pos_label = positive_or_second(type(estimators[0]).__name__, classes, pos_label)
    elif classifier:
        pos_label = classes[0]
    label_type = LabelType("binary", pos_label, name="y", rel=measure.rel)
    data = check_lists(y, label_type)
    refuse_one_class(data, "y")
    return pos_label, data.positive


def labels_read(
    measure: Measure, y: AnyArray, positive: BoolArray | None, value: Any = None
) -> tuple[AnyArray, Measure]:
    """Labels in the form that the measure reads: grades, 0 and 1, or amounts."""
    if positive is None:
        return y, measure
    labels = positive.astype(np.int64)
    if measure.of_amounts:
        if value is None:
            raise ValueError(
                f"{measure.name} needs the amounts of rows, but y has classes: pass value, the"
                " amount of each row if it is positive and if it is not."
            )
        return amounts_of(labels, value), measure
    return labels, get_measure(measure, rel=None) if measure.kind == "binary" else measure


def read_splits(splitter: Any, X: Any, y: AnyArray, ids: Any) -> list[Split]:
    """Row numbers of the parts of each split, which may be masks."""

    def numbers(rows: Any) -> AnyArray:
        rows = np.asarray(rows)
        return np.flatnonzero(rows) if rows.dtype == bool and len(rows) == len(y) else rows

    return [(numbers(train), numbers(test)) for train, test in splitter.split(X, y, ids)]


def check_splits(splits: list[Split], positive: BoolArray | None, wholes: dict[str, Any]) -> None:
    """Raise an error for splits on which limits for held-out rows are not valid."""
    if not splits:
        raise ValueError("cv yielded no split: pass a splitter that holds out some rows.")
    for part, (train, test) in enumerate(splits):
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                f"Row {both[0]} is in the training and the test part of split {part}: pass a cv"
                " with disjoint parts."
            )
        if len(np.unique(test)) < len(test):
            raise ValueError(
                f"Split {part} holds out a row twice: pass a cv whose test parts have unique rows."
            )
        if positive is not None and len(np.unique(positive[test])) < 2:
            lacking = "negative" if positive[test].any() else "positive"
            raise ValueError(
                f"Split {part} holds out {len(test)} rows without a {lacking}: pass stratified"
                " folds, or fewer folds."
            )
    for name, ids in wholes.items():
        codes = np.unique(ids, return_inverse=True)[1]
        for part, (train, test) in enumerate(splits):
            shared = np.isin(codes[test], codes[train])
            if shared.any():
                keep = f"GroupKFold({len(splits)})" if len(splits) > 1 else "GroupShuffleSplit(1)"
                raise ValueError(
                    f"The {name} {ids[test][shared].tolist()[0]!r} has rows in the training and"
                    f" the test part of split {part}: pass cv={keep}, which keeps it whole."
                )


def refuse_repeated(splits: Sequence[Split]) -> None:
    """Raise an error for held-out parts that share rows."""
    held_out = np.concatenate([test for _, test in splits])
    if len(np.unique(held_out)) < len(held_out):
        raise ValueError("cv holds out rows several times: pass folds without repetition.")


@dataclass(frozen=True, repr=False)
class SelectionReport(Printed):
    """Report of a search by bounds: the choice, its guarantee and the target of the guarantee.

    Parameters
    ----------
    measure : str
        Name of the measure.
    n_candidates : int
        Number of candidates; the guarantee covers all of them.
    counts : str
        Description of the number of items in the held-out parts.
    value : float
        Mean of the measure of the chosen candidate over the held-out parts.
    lower : float
        Lower limit for ``target``, for all candidates together; of a loss the upper one.
    target : str
        The quantity to which the limit applies.
    bound : Bound or None
        The theorem behind the limit; None if it is asymptotic.
    interval : Interval
        Asymptotic interval for the same quantity, simultaneous over the candidates.
    may_be_best : tuple of int
        Candidates that a simultaneous paired test, which is asymptotic, does not distinguish from
        the best.
    covers_best_estimator : bool
        Whether ``target`` is a quantity of ``best_estimator_``.
    text : str
        What is printed.

    See Also
    --------
    BoundSearchCV : Search that returns the report.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import BoundSearchCV
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> search = BoundSearchCV(
    ...     LogisticRegression(max_iter=1000),
    ...     {"C": [0.01, 1.0]},
    ...     refit=False,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.report_.covers_best_estimator
    True
    """

    measure: str
    n_candidates: int
    counts: str
    value: float
    lower: float
    target: str
    bound: Bound | None
    interval: Interval
    may_be_best: tuple[int, ...]
    covers_best_estimator: bool
    text: str

    def __str__(self) -> str:
        return self.text


# Number of normal draws from which quantiles of an extreme variable are estimated.
N_DRAWS = 2**15


def simultaneous_tails(
    evidence: HeldOut, delta: float, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Probabilities that limits for single candidates may have to hold together.

    With correlated normal variables ``Z_c`` and tails in proportion to the weights, ``P(Z_c is
    within its tail for some c) = delta``.
    """
    if len(weights) == 1:
        return np.array([delta])
    covariance = evidence.joint.regularized
    errors = np.sqrt(np.diag(covariance))
    root = covariance_root(covariance / np.outer(errors, errors))
    # Among candidates of equal weight the smallest value has the smallest tail.
    distinct, starts = np.unique(np.sort(weights), return_index=True)
    order = np.argsort(weights, kind="stable")
    smallest = [
        (ndtr(np.minimum.reduceat(drawn[:, order], starts, axis=1)) / distinct).min(axis=1)
        for drawn in normal_draws(root, N_DRAWS, rng)
    ]
    # Bonferroni's share is always enough, and delta / max(weights) is never exceeded.
    quantile = np.quantile(np.concatenate(smallest), delta, method="lower")
    return np.clip(quantile, delta, delta / weights.max()) * weights


def may_be_best(evidence: HeldOut, delta: float, rng: np.random.Generator) -> BoolArray:
    """Find the candidates that a simultaneous paired test does not distinguish from the best.

    A candidate stays unless some other one is better than it by more than ``q`` standard errors of
    their difference, q being the quantile of the largest of its standardised differences to all
    others. So the one whose expected mean is the largest stays with probability ``1 - delta``, in
    the limit, although it is unknown which one that is.
    """
    n = len(evidence.means)
    if n == 1:
        return np.ones(1, dtype=bool)
    ahead = evidence.means[:, None] - evidence.means
    covariance = evidence.joint.covariance
    length, n_effective = evidence.range[1] - evidence.range[0], evidence.joint.n_effective
    least = least_variance(ahead, length, n_effective)
    # A difference without variance gets the variance with the added items, as in paired tests.
    certain = ~(_variances_of_differences(covariance) > least)
    equal = certain & (ahead == 0.0) & ~np.isnan(covariance).any()
    if not np.array_equal(certain, equal):
        regularized = evidence.joint.regularized
        covariance = never_certain_covariance(evidence.means, regularized, n_effective)
        equal = np.eye(n, dtype=bool)
    errors = np.sqrt(np.where(equal, 1.0, _variances_of_differences(covariance)))
    largest = np.where(equal, 0.0, ahead / errors).max(axis=0)
    # One comparison, and Bonferroni's correction for all, decide most candidates.
    stays = largest <= max(-float(ndtri(delta)), 0.0)
    undecided = np.flatnonzero(~stays & (largest <= -float(ndtri(delta / (n - 1)))))
    if len(undecided):
        leads = np.where(equal, np.inf, largest[:, None] * errors)[undecided]
        draws = normal_draws(covariance_root(covariance), N_DRAWS, rng)
        # A lead is at most the quantile of the draws if this many of them are at least the lead:
        # those from the upper one of the two draws on that enclose the quantile.
        enough = N_DRAWS - ceil((N_DRAWS - 1) * (1.0 - delta))
        counts, n_left = np.zeros(len(undecided), dtype=np.int64), N_DRAWS
        for drawn in draws:
            pending = np.flatnonzero((counts < enough) & (counts + n_left >= enough))
            counts[pending] += _count_overtaken(drawn, undecided[pending], leads[pending])
            n_left -= len(drawn)
        stays[undecided] = counts >= enough
    return stays


def _count_overtaken(drawn: FloatArray, candidates: IntArray, leads: FloatArray) -> IntArray:
    """Count the draws in which another candidate is ahead of a candidate by its lead or more."""
    pairs = zip(candidates, leads, strict=True)
    ahead = [(drawn - lead).max(axis=1) >= drawn[:, candidate] for candidate, lead in pairs]
    return np.count_nonzero(np.reshape(ahead, (len(candidates), len(drawn))), axis=1)


def _variances_of_differences(covariance: FloatArray) -> FloatArray:
    variances = np.diag(covariance)
    return variances[:, None] + variances - 2.0 * covariance


def _rank_descending(values: FloatArray) -> IntArray:
    """Rank values, 1 the largest; ties, up to rounding, share the smallest and NaN is last."""
    rounded = np.round(values, 12)
    return rankdata(-np.nan_to_num(rounded, nan=-np.inf), method="min").astype(np.int32)


def lower_limits(
    evidence: HeldOut, method: str, delta: float, weights: FloatArray, rng: np.random.Generator
) -> ArrayPair:
    """Probabilities that limits of single candidates fail, and the limits, which hold together."""
    if method == "max-t":
        deltas = simultaneous_tails(evidence, delta, weights / weights.sum(), rng)
        return deltas, evidence.asymptotic_limits(deltas)[0]
    deltas = delta * weights
    return deltas, evidence.means - margins(evidence, method, deltas)


@dataclass
class Choice:
    """The chosen candidate, its value and lower limit, and the results of all candidates."""

    candidates: Sequence[FitPlan]
    scored: IntArray  # Those without failed fits, which evidence and limits are about
    evidence: HeldOut
    method: str
    level: float
    rule: str
    rng: np.random.Generator

    def __post_init__(self) -> None:
        evidence, delta = self.evidence, 1.0 - self.level
        of_scored = [self.candidates[index] for index in self.scored]
        self.weights = np.array([x.weight for x in of_scored])
        of_limits = evidence, self.method, delta, self.weights, self.rng
        self.deltas, self.unclipped = lower_limits(*of_limits)
        self.lower = self.unclipped
        if self.method != "max-t":
            self.lower = np.maximum(self.lower, evidence.range[0])
        self.stays = may_be_best(evidence, delta, self.rng)
        if self.rule == "within_noise":
            eligible = np.flatnonzero(self.stays)
        else:
            eligible = np.flatnonzero(_rank_descending(self.unclipped) == 1)
            # Limits that exclude nothing are equal where the values differ.
            eligible = eligible[_rank_descending(evidence.means[eligible]) == 1]
        self.best = min(eligible.tolist(), key=lambda place: of_scored[place].complexity)
        self.value = evidence.sign * float(evidence.means[self.best])
        self.limit = evidence.sign * float(self.lower[self.best])
        self.index = int(self.scored[self.best])

    def _column(self, values: Any, missing: Any = np.nan) -> AnyArray:
        shape = (len(self.candidates), *values.shape[1:])
        column = np.full(shape, missing, dtype=values.dtype)
        column[self.scored] = values
        return column

    def results(self, fits: Sequence[Sequence[Fitted]]) -> dict[str, Any]:
        """Columns of ``cv_results_`` by name, most of them as in scikit-learn."""
        candidates, evidence, column = self.candidates, self.evidence, self._column
        table: dict[str, Any] = {}
        for name in ("fit_time", "score_time"):
            times = np.array([[getattr(fit, name) for fit in parts] for parts in fits])
            table[f"mean_{name}"], table[f"std_{name}"] = times.mean(axis=1), times.std(axis=1)
        settings = [candidate.setting for candidate in candidates]
        for name in sorted({name for setting in settings for name in setting}):
            values = np.ma.masked_all(len(candidates), dtype=object)
            for index, setting in enumerate(settings):
                if name in setting:
                    values[index] = setting[name]
            table[f"param_{name}"] = values
        table["params"] = settings
        for part, values in enumerate(column(evidence.sign * evidence.values).T):
            table[f"split{part}_test_score"] = values
        if candidates[0].name:
            table["estimator"] = np.array([x.name for x in candidates], dtype=object)
        table["mean_test_score"] = column(evidence.sign * evidence.means)
        table["std_test_score"] = column(evidence.values.std(axis=1))
        table["rank_test_score"] = _rank_descending(column(evidence.means))
        side = "lower_bound" if evidence.sign > 0.0 else "upper_bound"
        table[side] = evidence.sign * column(self.lower)
        table["rank_bound"] = _rank_descending(column(self.unclipped))
        table["prior"] = np.array([x.weight for x in candidates])
        table["delta"], table["may_be_best"] = column(self.deltas), column(self.stays, False)
        return table

    def report(self, refit: bool) -> SelectionReport:
        evidence, name = self.evidence, self.evidence.measure.name
        sign, n, one_part = evidence.sign, len(self.candidates), evidence.n_parts == 1
        models = "best_estimator_" if one_part and not refit else evidence.scored_models
        target = f"{'' if one_part else 'mean '}{evidence.of_new_data} {name} of {models}"
        bound = None
        if self.method != "max-t":
            delta = 1.0 - self.level
            bound = bound_of(evidence, self.method, self.best, delta, self.weights, n)
        equal = np.full(len(self.scored), 1.0 / len(self.scored))
        tails = simultaneous_tails(evidence, (1.0 - self.level) / 2.0, equal, self.rng)
        low, high = sorted(sign * float(x[self.best]) for x in evidence.asymptotic_limits(tails))
        return SelectionReport(
            measure=name,
            n_candidates=n,
            counts=evidence.counts(),
            value=self.value,
            lower=self.limit,
            target=target,
            bound=bound,
            interval=Interval(self.value, low, high, self.level, "max-t", target),
            may_be_best=tuple(self.scored[self.stays].tolist()),
            covers_best_estimator=one_part and not refit,
            text="\n".join(self._lines(target, bound, low, high, refit)),
        )

    def _lines(
        self, target: str, bound: Bound | None, low: float, high: float, refit: bool
    ) -> Iterator[str]:
        """What a report says: the choice, the guarantee, the asymptotic limits, the others."""
        evidence, name, n = self.evidence, self.evidence.measure.name, len(self.candidates)
        rises, one_part = evidence.sign > 0.0, evidence.n_parts == 1
        shown, choice = self.candidates[self.index], "choice among them is arbitrary"
        reason = f"its {'lower limit is the largest' if rises else 'upper limit is the smallest'}"
        if self.rule == "within_noise":
            reason = "it is the simplest that does not differ significantly from the best"
            choice = "simplest of them was chosen"
        if n == 1:
            yield f"One candidate: {shown}."
        else:
            yield f"Chosen from {n} candidates: {shown}, because {reason}."
        parts = "one held-out part" if one_part else f"{evidence.n_parts} held-out parts"
        scored = f"mean {name} over queries" if evidence.of_queries else f"{name} of one list"
        yield f"Scored by the {scored} on {parts}: {evidence.counts()}."

        side = "at least" if rises else "at most"
        claim = f"on new data the {target} is {side} {fixed(self.limit)}"
        between = f"between {fixed(low)} and {fixed(high)}"
        limit = evidence.sign * self.limit
        if bound is None:
            units = "queries" if evidence.of_queries else "rows"
            yield f"Guaranteed: nothing; the following limits are asymptotic, for many {units}."
            between = f"{claim} ({fixed(self.value)} observed), and {between}"
        else:
            fewest = evidence.fewest() + ("" if one_part else " in the smallest part")
            seen = (
                f"{fixed(self.value)} observed, {'minus' if rises else 'plus'}"
                f" {fixed(bound.value)} for {n} candidate{'s' * (n > 1)} and {fewest}"
            )
            claim = f"{claim} ({seen})"
            if limit <= evidence.range[0]:
                claim = f"nothing ({seen}, excludes no value)"
            yield f"Guaranteed ({100 * self.level:.4g} %): {claim}."
            yield bound.proof
            between = f"it is {between}"
        if evidence.chance is not None and limit <= evidence.chance:
            chance = evidence.sign * evidence.chance
            yield f"A model that ranks at random ({chance:.3g}) is not ruled out."
        whichever = ", whichever candidate was chosen" if n > 1 else ""
        yield f"Asymptotically ({100 * self.level:.4g} %, max-t): {between}{whichever}."

        n_best = np.count_nonzero(self.stays)
        if n > 1 and not self.stays[self.best]:
            others = f"{n - n_best} of {n} candidates"
            yield f"It is significantly worse than the best, as are {others}."
        elif n > 1 and n_best == 1:
            yield "All other candidates are significantly worse."
        elif n > 1:
            yield (
                f"{n_best} of {n} candidates do not differ significantly from the best; the"
                f" {choice}."
            )
        if refit:
            yield (
                "best_estimator_ is a new model, fitted to all rows: nothing is guaranteed for it."
            )
        elif one_part:
            yield "best_estimator_ is the model that was scored; the limits are for this model."
        else:
            yield "There is no best_estimator_, only the fold models, because refit=False."
