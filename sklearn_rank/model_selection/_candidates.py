"""Fit candidates to training parts and score the rows that were held out."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from .._typing import FloatArray, IntArray
from .._warn import warn
from ..metrics._shared import ranking_scores
from ._estimators import Base

__all__ = [
    "DIGITS",
    "FitTask",
    "Fitted",
    "Grid",
    "Split",
    "candidate_table",
    "fit_candidates",
    "is_per_row",
    "prior_weights",
    "rank_descending",
    "rows_of",
    "simplicity",
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
