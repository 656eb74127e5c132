"""Candidates of a search: their fits to training parts, held-out scores, and routing."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    ParameterGrid,
)
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed

from .._lists import LabelType, check_lists
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import hint_of_mark
from .._warn import warn
from ..metrics._shared import ranking_scores
from ..rankers._shared import positive_or_second

FORMS = (
    "pass an estimator, a list of estimators or of (estimator, grid) pairs, or a dict of these by"
    " name"
)


class Base(NamedTuple):
    """An estimator of a search and its grid."""

    name: str  # Empty for a single estimator
    estimator: Any
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
    items = list(estimator.values() if isinstance(estimator, dict) else estimator)
    if not items:
        raise ValueError(f"estimator={estimator!r} contains no estimator: {FORMS}.")
    pairs = []
    for item in items:
        pair = item if isinstance(item, list | tuple) else (item, None)
        if len(pair) != 2:
            raise ValueError(f"{item!r} is not a pair of an estimator and its grid: {FORMS}.")
        model, grid = pair
        if isinstance(model, str):
            raise ValueError(f"{item!r} begins with a name: pass a dict, as {{name: estimator}}.")
        if (
            isinstance(model, type)
            or not hasattr(model, "fit")
            or not hasattr(model, "get_params")
        ):
            raise TypeError(f"{model!r} is not an estimator: {FORMS}.")
        pairs.append((model, {} if grid is None else grid))
    names = [str(name) for name in estimator]
    if not isinstance(estimator, dict):
        names = number_repeated([type(model).__name__.lower() for model, _ in pairs])
    if len({is_classifier(model) for model, _ in pairs}) > 1:
        raise ValueError(
            f"The estimators {names} mix classifiers and other estimators, which do not share a"
            " positive class: search over each kind separately."
        )
    return [Base(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def number_repeated(names: list[str]) -> list[str]:
    """Add a number to each name that occurs several times."""
    return [
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


Split = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class Grid:
    """The candidates, with prior weights and complexity, which do not depend on the data."""

    candidates: list[dict[str, Any]]
    names: list[str]  # Of the estimator of each candidate
    tasks: list[FitTask]  # Of each candidate
    weights: FloatArray  # (n_candidates,): Share of delta that each has
    simplicity: IntArray  # (n_candidates,): Rank of each, 0 the simplest

    @classmethod
    def of(
        cls, bases: Sequence[Base], tasks: Sequence[FitTask], prior: Any, complexity: Any
    ) -> Grid:
        """List the candidates of all estimators."""
        candidates, names, task_of = [], [], []
        for base, task in zip(bases, tasks, strict=True):
            params = list(ParameterGrid(base.grid))
            if not params:
                raise ValueError(
                    f"param_grid={base.grid!r} contains no candidate: pass {{}} for the estimator"
                    " with its own parameters."
                )
            candidates += params
            names += [base.name] * len(params)
            task_of += [task] * len(params)
        # Functions of the parameters distinguish several estimators by name.
        described = [
            {"estimator": name, **params} if name else params
            for name, params in zip(names, candidates, strict=True)
        ]
        weights = prior_weights(prior, described)
        return cls(candidates, names, task_of, weights, _simplicity(complexity, described))

    def describe(self, candidate: int) -> str:
        """Describe a candidate in words."""
        name, params = self.names[candidate], self.candidates[candidate]
        return " ".join([name] * bool(name) + [f"{params}"] * bool(params)) or "as it is"


class Fitted(NamedTuple):
    """One candidate on one split."""

    scores: FloatArray
    failure: str  # Traceback of a failed fit
    fit_time: float
    score_time: float
    model: Any  # The fitted estimator, if the task keeps models


def rows_of(values: Any, rows: IntArray) -> Any:
    """Take rows of a matrix, a frame or a list. Those rows, of the same kind."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


class FitTask(NamedTuple):
    """What is fitted, to which rows, and how."""

    estimator: Any
    X: Any  # (n_samples, n_features)
    y: Any  # (n_samples,)
    fit_params: dict[str, Any]  # Arguments of ``fit``; those with one value per row are divided
    keep_models: bool
    raise_errors: bool  # Whether a failing fit raises
    pos_label: Any = None  # The positive class, of classifiers


def fit_candidates(
    grid: Grid, splits: Sequence[Split], *, n_jobs: int | None, verbose: int
) -> list[list[Fitted]]:
    """Fit every candidate on every split."""
    candidates = zip(grid.tasks, grid.candidates, strict=True)
    fits = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fit_candidate)(task, params, *split)
        for (task, params), split in product(candidates, splits)
    )
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
    n = len(splits)
    return [list(fits[start : start + n]) for start in range(0, len(fits), n)]


def _fit_candidate(
    task: FitTask, params: dict[str, Any], train: IntArray, test: IntArray
) -> Fitted:
    estimator = clone(task.estimator)
    X_train, X_test = divide_rows(estimator, task.X, train, test)
    fit_params = divide_params(task.fit_params, len(task.y), train)
    begun = fitted = time.perf_counter()
    try:
        estimator.set_params(**clone(params, safe=False))
        estimator.fit(X_train, task.y[train], **fit_params)
        fitted = time.perf_counter()
        scores = ranking_scores(estimator, X_test, task.pos_label)
        scores = check_scores(scores, estimator, len(test), f"{len(test)} rows")
    except Exception:
        if task.raise_errors:
            raise
        return Fitted(np.empty(0), traceback.format_exc(), fitted - begun, np.nan, None)
    scored = time.perf_counter()
    model = estimator if task.keep_models else None
    return Fitted(scores, "", fitted - begun, scored - fitted, model)


def divide_rows(estimator: Any, X: Any, train: IntArray, test: IntArray) -> tuple[Any, Any]:
    """Take the rows to fit to and those to score; of a precomputed kernel also the columns."""
    X_train, X_test = rows_of(X, train), rows_of(X, test)
    if get_tags(estimator).input_tags.pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    return X_train, X_test


def divide_params(params: dict[str, Any], n: int, train: IntArray) -> dict[str, Any]:
    """Take the values for training rows of each argument of ``fit`` that has one per row."""
    return {
        name: rows_of(value, train) if _is_per_row(value, n) else value
        for name, value in params.items()
    }


def check_scores(scores: Any, estimator: Any, n: int, rows: str) -> FloatArray:
    """Raise an error unless there is one number for each of n rows."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (n,) or np.isnan(scores).any():
        raise ValueError(
            f"{type(estimator).__name__} returned {np.count_nonzero(np.isnan(scores))} NaN in"
            f" scores of shape {scores.shape} for {rows}: it must return one number for each row."
        )
    return scores


def _is_per_row(value: Any, n: int) -> bool:
    if value is None or isinstance(value, str | bytes | dict):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(value, "__len__") and len(value) == n


def prior_weights(prior: Any, candidates: Sequence[dict[str, Any]]) -> FloatArray:
    """Positive weights of the candidates, of sum 1."""
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
        index = int(np.argmax(wrong))
        raise ValueError(
            f"prior is {weights[index]:g} for the candidate {candidates[index]}, but weights must"
            " be positive and finite: remove the candidate from the grid instead."
        )
    return weights / weights.sum()


def _simplicity(complexity: Any, candidates: Sequence[dict[str, Any]]) -> IntArray:
    """Rank of each candidate, 0 the simplest."""
    if complexity is None:
        return np.arange(len(candidates))
    keys = []
    for params in candidates:
        if not callable(complexity) and complexity not in params:
            raise ValueError(
                f"complexity={complexity!r} is not a parameter of the candidate {params}: pass"
                " the name of a parameter that all candidates have, or a function of the"
                " parameters."
            )
        keys.append(complexity(params) if callable(complexity) else params[complexity])
    return np.argsort(sorted(range(len(keys)), key=keys.__getitem__))


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


def sizes_of_disjoint(splits: list[Split], n: int) -> list[int] | None:
    """Put held-out parts into classes of parts that share no row, each into the first it fits."""
    covered: list[BoolArray] = []  # Rows in the parts of each class
    classes: list[int] = []
    for _, test in splits:
        free = (c for c, rows in enumerate(covered) if not rows[test].any())
        index = next(free, len(covered))
        if index == len(covered):
            covered.append(np.zeros(n, dtype=bool))
        covered[index][test] = True
        classes.append(index)
    sizes = np.bincount(classes)
    return None if len(sizes) == 1 else sizes[classes].tolist()
