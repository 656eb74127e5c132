"""Candidates of a search: their fits to training parts, held-out scores, and routing."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    ParameterGrid,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._arguments import is_whole
from .._lists import LabelType, check_lists
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_qid, hint_of_mark, ravelled
from .._warn import warn
from ..metrics import Measure, get_scorer
from ..metrics._shared import ranking_scores
from ..rankers._shared import positive_or_second

FORMS = (
    "pass an estimator, a list of estimators or of (estimator, grid) pairs, or a dict of these by"
    " name"
)


@dataclass(frozen=True, eq=False)
class Base:
    """An estimator of a search and its grid."""

    name: str  # What it is called among several; empty for a single one
    estimator: Any  # What is cloned
    grid: Any  # Values by parameter name; {} is the estimator as it is


def bases_of(estimator: Any, param_grid: Any) -> list[Base]:
    """Read the estimators of a search."""
    if not isinstance(estimator, list | tuple | dict):
        return [Base("", estimator, {} if param_grid is None else param_grid)]
    if param_grid is not None:
        raise ValueError(
            f"param_grid={param_grid!r} is for a single estimator, but several were passed: leave"
            " param_grid out and pass pairs, as [(estimator, grid), ...]."
        )
    named = isinstance(estimator, dict)
    given = list(estimator.values()) if isinstance(estimator, dict) else list(estimator)
    if not given:
        raise ValueError(f"estimator={estimator!r} contains no estimator: {FORMS}.")
    pairs = [_pair(one) for one in given]
    names = [str(name) for name in estimator] if named else _names([one for one, _ in pairs])
    kinds = {is_classifier(one) for one, _ in pairs}
    if len(kinds) > 1:
        raise ValueError(
            f"The estimators {names} mix classifiers and other estimators, which do not share a"
            " positive class: search over each kind separately."
        )
    return [Base(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def _pair(given: Any) -> tuple[Any, Any]:
    """An estimator and its grid."""
    one, grid = given, {}
    if isinstance(given, list | tuple):
        if len(given) != 2:
            raise ValueError(f"{given!r} is not a pair of an estimator and its grid: {FORMS}.")
        one, grid = given
    if isinstance(one, str):
        raise ValueError(f"{given!r} begins with a name: pass a dict, as {{name: estimator}}.")
    if isinstance(one, type) or not hasattr(one, "fit") or not hasattr(one, "get_params"):
        raise TypeError(f"{one!r} is not an estimator: {FORMS}.")
    return one, {} if grid is None else grid


def _names(estimators: list[Any]) -> list[str]:
    """Class names in lower case, numbered if a class occurs several times."""
    plain = [type(one).__name__.lower() for one in estimators]
    return [
        name if plain.count(name) == 1 else f"{name}-{plain[: place + 1].count(name)}"
        for place, name in enumerate(plain)
    ]


Split = tuple[IntArray, IntArray]

# Number of decimals to which means are compared, because of rounding.
DIGITS = 12


@dataclass(frozen=True, eq=False)
class Grid:
    """The candidates, with prior weights and complexity, which do not depend on the data."""

    candidates: list[dict[str, Any]]
    bases: list[Base]
    weights: FloatArray  # (n_candidates,): Share of delta that each has
    simplicity: IntArray  # (n_candidates,): Rank of each, 0 the simplest

    @classmethod
    def of(cls, bases: Sequence[Base], prior: Any, complexity: Any) -> Grid:
        """List the candidates of all estimators."""
        candidates, owners = [], []
        for base in bases:
            found = list(ParameterGrid(base.grid))
            if not found:
                raise ValueError(
                    f"param_grid={base.grid!r} contains no candidate: pass {{}} for the estimator"
                    " with its own parameters."
                )
            candidates += found
            owners += [base] * len(found)
        # Functions of the parameters distinguish several estimators by name.
        shown = [
            {"estimator": base.name, **params} if base.name else params
            for base, params in zip(owners, candidates, strict=True)
        ]
        weights = prior_weights(prior, shown)
        return cls(candidates, owners, weights, simplicity(complexity, shown))

    def shown(self, candidate: int) -> str:
        """Describe a candidate in words."""
        name, params = self.bases[candidate].name, self.candidates[candidate]
        return " ".join([name] * bool(name) + [f"{params}"] * bool(params)) or "as it is"


@dataclass(frozen=True, eq=False)
class Fitted:
    """One candidate on one split."""

    scores: FloatArray
    failure: str  # The traceback, if so
    fit_time: float
    score_time: float
    model: Any  # The fitted estimator, if it was to be kept


def rows_of(values: Any, rows: IntArray) -> Any:
    """Take rows of a matrix, a frame or a list. Those rows, of the same kind."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


@dataclass(frozen=True, eq=False)
class FitTask:
    """What is fitted, to which rows, and how."""

    estimator: Any  # What the parameters are of; it is cloned
    X: Any  # (n_samples, n_features)
    y: Any  # (n_samples,)
    fit_params: dict[str, Any]  # Arguments of ``fit``; those with one value per row are divided
    keep_models: bool
    raise_errors: bool  # Whether a failing fit raises
    pos_label: Any = None  # The positive class, of classifiers


def fit_candidates(
    tasks: Sequence[FitTask],
    candidates: Sequence[dict[str, Any]],
    splits: Sequence[Split],
    *,
    n_jobs: int | None,
    verbose: int,
) -> list[list[Fitted]]:
    """Fit every candidate on every split."""
    found = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fit_one)(task, params, split)
        for (task, params), split in product(zip(tasks, candidates, strict=True), splits)
    )
    failures = [one.failure for one in found if one.failure]
    if len(failures) == len(found):
        raise ValueError(
            f"All {len(found)} fits failed: check that the estimator can be fitted to X and y. The"
            f" first failure was:\n{failures[0]}"
        )
    if failures:
        warn(
            f"{len(failures)} of {len(found)} fits failed; their candidates cannot be chosen, but"
            f" count as candidates in the guarantee. The first failure was:\n{failures[0]}",
            FitFailedWarning,
        )
    n = len(splits)
    return [list(found[start : start + n]) for start in range(0, len(found), n)]


def _fit_one(task: FitTask, params: dict[str, Any], split: Split) -> Fitted:
    train, test = split
    estimator = clone(task.estimator)
    X_train, X_test = rows_of(task.X, train), rows_of(task.X, test)
    if get_tags(estimator).input_tags.pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    divided = {
        name: rows_of(value, train) if is_per_row(value, len(task.y)) else value
        for name, value in task.fit_params.items()
    }
    begun = fitted = time.perf_counter()
    try:
        estimator.set_params(**clone(params, safe=False))
        estimator.fit(X_train, task.y[train], **divided)
        fitted = time.perf_counter()
        scores = np.asarray(ranking_scores(estimator, X_test, task.pos_label), dtype=np.float64)
        if scores.shape != (len(test),) or np.isnan(scores).any():
            raise ValueError(
                f"{type(estimator).__name__} returned {np.count_nonzero(np.isnan(scores))} NaN in"
                f" scores of shape {scores.shape} for {len(test)} rows: it must return one number"
                " for each row."
            )
    except Exception:
        if task.raise_errors:
            raise
        return Fitted(np.empty(0), traceback.format_exc(), fitted - begun, np.nan, None)
    scored = time.perf_counter()
    model = estimator if task.keep_models else None
    return Fitted(scores, "", fitted - begun, scored - fitted, model)


def is_per_row(value: Any, n: int) -> bool:
    """Whether an argument of ``fit`` has one value per row."""
    if value is None or isinstance(value, str | bytes | dict):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(value, "__len__") and len(value) == n


def prior_weights(prior: Any, candidates: Sequence[dict[str, Any]]) -> FloatArray:
    """Share of delta that each candidate has. Positive weights of sum 1. Shape (n_candidates,)."""
    n = len(candidates)
    if prior is None:
        return np.full(n, 1.0 / n)
    if callable(prior):
        prior = [prior(params) for params in candidates]
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(
            f"prior has shape {weights.shape}, but there are {n} candidates: pass one weight for"
            " each, in the order of ParameterGrid, or a function of the parameters."
        )
    wrong = ~((weights > 0) & np.isfinite(weights))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"prior is {weights[first]:g} for the candidate {candidates[first]}, but weights must"
            " be positive and finite: remove the candidate from the grid instead."
        )
    return weights / weights.sum()


def simplicity(complexity: Any, candidates: Sequence[dict[str, Any]]) -> IntArray:
    """Order candidates from the simplest to the most complex. Shape (n_candidates,)."""
    if complexity is None:
        return np.arange(len(candidates))
    key: Callable[[dict[str, Any]], Any]
    if callable(complexity):
        key = complexity
    else:
        for params in candidates:
            if complexity not in params:
                raise ValueError(
                    f"complexity={complexity!r} is not a parameter of the candidate {params}: pass"
                    " the name of a parameter that all candidates have, or a function of the"
                    " parameters."
                )

        def key(params: dict[str, Any]) -> Any:
            return params[complexity]

    keys = [key(params) for params in candidates]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return np.argsort(order)


def rank_descending(values: FloatArray) -> IntArray:
    """Rank values, 1 the largest; ties, up to rounding, share the smallest and NaN is last."""
    rounded = np.round(values, DIGITS)
    return rankdata(-np.nan_to_num(rounded, nan=-np.inf), method="min").astype(np.int32)


def candidate_table(
    candidates: Sequence[dict[str, Any]], fits: Sequence[Sequence[Fitted]]
) -> dict[str, Any]:
    """Times and parameters, as in the ``cv_results_`` of scikit-learn. Columns by name."""
    table: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = np.array([[getattr(one, name) for one in of_candidate] for of_candidate in fits])
        table[f"mean_{name}"], table[f"std_{name}"] = times.mean(axis=1), times.std(axis=1)
    for name in sorted({name for params in candidates for name in params}):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for index, params in enumerate(candidates):
            if name in params:
                column[index] = params[name]
        table[f"param_{name}"] = column
    table["params"] = list(candidates)
    return table


HELD_OUT = 1 / 3


def splitter_of(
    cv: Any, y: AnyArray | None, *, per_query: bool, classifier: bool, seed: int
) -> Any:
    """Find the splitter that an argument names."""
    if cv is None:
        kind = GroupShuffleSplit if per_query else StratifiedShuffleSplit
        return kind(1, test_size=HELD_OUT, random_state=seed)
    if per_query and is_whole(cv):
        return GroupKFold(cv)
    return check_cv(cv, y, classifier=classifier)


def positive_rows(
    y: AnyArray, pos_label: Any, searched: str | None, *, rel: float | None = None
) -> tuple[Any, BoolArray]:
    """Find the positive class and its rows."""
    assert_all_finite(y, input_name="y")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes = np.unique(y)
    if rel is None and kind != "binary" and len(classes) != 1:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
            f"{hint_of_mark(classes)}"
        )
    if searched is not None and len(classes) == 2:
        pos_label = positive_or_second(searched, classes, pos_label)
    elif searched is not None:
        pos_label = classes[0]
    positive = check_lists(y, LabelType("binary", pos_label, name="y", rel=rel)).positive
    if positive.all() or not positive.any():
        lacking = "negative" if positive.all() else "positive"
        raise ValueError(
            f"y holds items of one class only, with no {lacking} among {len(positive)}: pass items"
            " of both classes."
        )
    return pos_label, positive


def check_splits(
    splits: list[Split], positive: BoolArray | None, wholes: dict[str, AnyArray]
) -> None:
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
        if positive is not None:
            _check_both_classes(part, positive[test])
    for name, ids in wholes.items():
        _check_whole_ids(name, ids, splits)


def _check_whole_ids(name: str, ids: AnyArray, splits: list[Split]) -> None:
    """Raise an error for splits with an id in the training and the test part."""
    known, codes = np.unique(ids, return_inverse=True)
    for part, (train, test) in enumerate(splits):
        trained = np.zeros(len(known), dtype=bool)
        trained[codes[train]] = True
        cut = trained[codes[test]]
        if cut.any():
            first = codes[test][np.argmax(cut)]
            keeping = f"GroupKFold({len(splits)})" if len(splits) > 1 else "GroupShuffleSplit(1)"
            raise ValueError(
                f"The {name} {known[[first]].tolist()[0]!r} has rows in the training and the test"
                f" part of split {part}: pass cv={keeping}, which keeps it whole."
            )


def sizes_of_disjoint(splits: list[Split], n: int) -> list[int] | None:
    """Put held-out parts into classes of parts that share no row, each into the first it fits."""
    taken: list[BoolArray] = []
    classes: list[int] = []
    for _, test in splits:
        free = (c for c, rows in enumerate(taken) if not rows[test].any())
        chosen = next(free, len(taken))
        if chosen == len(taken):
            taken.append(np.zeros(n, dtype=bool))
        taken[chosen][test] = True
        classes.append(chosen)
    sizes = np.bincount(classes)
    return None if len(sizes) == 1 else sizes[classes].tolist()


def _check_both_classes(part: int, positive: BoolArray) -> None:
    n_pos = int(np.count_nonzero(positive))
    if n_pos in (0, len(positive)):
        kind = "positive" if n_pos == 0 else "negative"
        raise ValueError(
            f"Split {part} holds out {len(positive)} rows without a {kind}: pass"
            " stratified folds, or fewer folds."
        )


@dataclass(frozen=True, eq=False)
class Metadata:
    """Parameters passed to the ``fit`` of a search, by their receiver."""

    fit_params: list[dict[str, Any]]  # Arguments of the fits of each estimator
    groups: Any  # Groups for the splitter
    qid: AnyArray | None  # (n_samples,): Ids of the queries, for a mean over queries
    wholes: dict[str, AnyArray]


def metadata_of(search: Any, params: dict[str, Any], measure: Measure, n: int) -> Metadata:
    """Divide the parameters passed to ``fit`` by their receiver. Whom it is for."""
    if sklearn.get_config()["enable_metadata_routing"]:
        routed = process_routing(search, "fit", **params)
        fit_params = [
            dict(routed[name].fit) for name in estimator_names(len(search._estimators()))
        ]
        groups = dict(routed.splitter.split).get("groups")
        qid = dict(routed.scorer.score).get("qid")
    else:
        of_fit = {name: value for name, value in params.items() if name != "groups"}
        fit_params = [of_fit] * len(search._estimators())
        groups = params.get("groups")
        if groups is None and measure.per_query:
            groups = params.get("qid")
        qid = groups
    groups, qid = ravelled(groups, "groups"), ravelled(qid, "groups")
    # Without ids, all rows are one list where that has limits.
    if not measure.per_query or (qid is None and measure.has_influence):
        wholes = {}
        if groups is not None:
            wholes["group"] = np.asarray(check_qid(groups, n, name="groups"))
            if len(np.unique(wholes["group"])) < n:
                _check_groups_of_rows(search.cv)
        for one in fit_params:
            if one.get("qid") is not None:
                wholes["query"] = np.asarray(check_qid(one["qid"], n))
        return Metadata(fit_params, groups, None, wholes)
    if qid is None:
        raise ValueError(
            f"{measure.name!r} is a mean over queries, but fit got no ids: pass groups=, one id"
            " per row. (It has no limits for one list.)"
        )
    qid = np.asarray(check_qid(qid, n))
    return Metadata(fit_params, groups, qid, {"query": qid})


def _check_groups_of_rows(cv: Any) -> None:
    """Raise an error or warn if groups are passed to limits for independent rows."""
    if cv is None:
        raise ValueError(
            "groups was passed, but cv=None holds out rows, not groups: pass"
            " cv=GroupShuffleSplit(1), or leave groups out."
        )
    warn(
        "Several rows share a group and may depend on each other, but the guarantees and the"
        " intervals assume independent rows.",
        UserWarning,
    )


def estimator_names(n: int) -> list[str]:
    """Name the estimators of a search for metadata routing."""
    return ["estimator"] if n == 1 else [f"estimator_{place}" for place in range(n)]


def router_of(search: Any, measure: Measure, splitter: Any) -> MetadataRouter:
    """Return the metadata router of a search."""
    scorer = get_scorer(measure)
    if sklearn.get_config()["enable_metadata_routing"]:
        # Weights may be for the fits; in the limits each row and query counts once.
        known = get_routing_for_object(scorer).score.requests
        weights = [name for name in ("sample_weight", "query_weight") if name in known]
        scorer.set_score_request(**dict.fromkeys(weights, False))
    router = MetadataRouter(owner=search)
    estimators = search._estimators()
    for name, one in zip(estimator_names(len(estimators)), estimators, strict=True):
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router.add(method_mapping=mapping, **{name: one})
    router.add(
        scorer=scorer,
        method_mapping=MethodMapping()
        .add(caller="fit", callee="score")
        .add(caller="score", callee="score"),
    )
    router.add(
        splitter=splitter,
        method_mapping=MethodMapping().add(caller="fit", callee="split"),
    )
    return router


def _of_best(name: str) -> Any:
    """Let a method exist where the estimator has it."""

    def check(search: Any) -> bool:
        # The AttributeError names what is missing.
        best = getattr(search, "best_estimator_", None)
        for one in search._estimators() if best is None else [best]:
            getattr(one, name)
        return True

    return available_if(check)


class BestEstimatorMixin:
    """Methods and attributes of ``best_estimator_``, as far as it has them."""

    estimator: Any
    best_estimator_: Any
    n_splits_: int
    scorer_: Any

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score the predictions of ``best_estimator_`` by the measure.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or grades.
        **params : dict
            ``groups``, the query id of each row, for a mean over queries.

        Returns
        -------
        float
            The value of the measure; a greater value is better.
        """
        self._check_has_best()
        if sklearn.get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).scorer.score
        return self.scorer_(self.best_estimator_, X, y, **params)

    @_of_best("predict")
    def predict(self, X: Any) -> AnyArray:
        """Predict with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions of ``best_estimator_``.
        """
        self._check_has_best()
        return self.best_estimator_.predict(X)

    @_of_best("predict_proba")
    def predict_proba(self, X: Any) -> AnyArray:
        """Predict class probabilities with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probability of each class.
        """
        self._check_has_best()
        return self.best_estimator_.predict_proba(X)

    @_of_best("predict_log_proba")
    def predict_log_proba(self, X: Any) -> AnyArray:
        """Predict logarithms of class probabilities with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Logarithm of the probability of each class.
        """
        self._check_has_best()
        return self.best_estimator_.predict_log_proba(X)

    @_of_best("decision_function")
    def decision_function(self, X: Any) -> AnyArray:
        """Compute decision values with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values; a higher value ranks a row nearer to the top.
        """
        self._check_has_best()
        return self.best_estimator_.decision_function(X)

    @_of_best("rank")
    def rank(self, X: Any, qid: Any = None) -> AnyArray:
        """Compute the rank of each row within its query with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row, in any order. None means one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks from 1, the top.
        """
        self._check_has_best()
        return self.best_estimator_.rank(X, qid=qid)

    def _check_has_best(self) -> None:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} has no best_estimator_: with refit=False and"
                f" {self.n_splits_} held-out parts there is one model per part, in"
                " fold_estimators_."
            )

    @property
    def classes_(self) -> AnyArray:
        """Class labels, if the estimator is a classifier."""
        return self._of_fitted("classes_")

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the estimator provides it."""
        return self._of_fitted("n_features_in_")

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the features, if the estimator was fitted to a data frame."""
        return self._of_fitted("feature_names_in_")

    def _of_fitted(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__} has no {name} without a fitted best_estimator_."
            )
        return getattr(self.best_estimator_, name)
