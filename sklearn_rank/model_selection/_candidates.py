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
    """The candidates, with prior weights and complexity, which do not depend on the data.

    Parameters
    ----------
    candidates : list of dict
        Parameters.
    bases : list of Base
        The estimator of each.
    weights : ndarray of shape (n_candidates,)
        Share of delta that each has.
    simplicity : ndarray of int of shape (n_candidates,)
        Rank of each, 0 the simplest.
    """

    candidates: list[dict[str, Any]]
    bases: list[Base]
    weights: FloatArray
    simplicity: IntArray

    @classmethod
    def of(cls, bases: Sequence[Base], prior: Any, complexity: Any) -> Grid:
        """List the candidates of all estimators.

        Parameters
        ----------
        bases : sequence of Base
            The estimators and their grids.
        prior : array-like, callable or None
            As for :func:`prior_weights`.
        complexity : str, callable or None
            As for :func:`simplicity`.

        Returns
        -------
        Grid
            The candidates.
        """
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
        """Describe a candidate in words.

        Parameters
        ----------
        candidate : int
            The candidate.

        Returns
        -------
        str
            The name of its estimator, if there are several, and its parameters.
        """
        name, params = self.bases[candidate].name, self.candidates[candidate]
        return " ".join([name] * bool(name) + [f"{params}"] * bool(params)) or "as it is"


@dataclass(frozen=True, eq=False)
class Fitted:
    """One candidate on one split.

    Parameters
    ----------
    scores : ndarray of shape (n_test,)
        Scores of the held-out rows; empty if the fit or the scoring failed.
    failure : str
        The traceback, if so.
    fit_time : float
        Seconds to fit.
    score_time : float
        Seconds to score.
    model : object or None
        The fitted estimator, if it was to be kept.
    """

    scores: FloatArray
    failure: str
    fit_time: float
    score_time: float
    model: Any


def rows_of(values: Any, rows: IntArray) -> Any:
    """Take rows of a matrix, a frame or a list.

    Parameters
    ----------
    values : {array-like, sparse matrix} of shape (n_samples, ...)
        The values.
    rows : ndarray of int
        Which ones.

    Returns
    -------
    {array-like, sparse matrix}
        Those rows, of the same kind.
    """
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


@dataclass(frozen=True, eq=False)
class FitTask:
    """What is fitted, to which rows, and how.

    Parameters
    ----------
    estimator : estimator
        What the parameters are of; it is cloned.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Labels.
    fit_params : dict
        Arguments of ``fit``; those with one value per row are divided.
    keep_models : bool
        Whether to keep the models.
    raise_errors : bool
        Whether a failing fit raises.
    pos_label : object, default=None
        The positive class, of classifiers.
    """

    estimator: Any
    X: Any
    y: Any
    fit_params: dict[str, Any]
    keep_models: bool
    raise_errors: bool
    pos_label: Any = None


def fit_candidates(
    tasks: Sequence[FitTask],
    candidates: Sequence[dict[str, Any]],
    splits: Sequence[Split],
    *,
    n_jobs: int | None,
    verbose: int,
) -> list[list[Fitted]]:
    """Fit every candidate on every split.

    Parameters
    ----------
    tasks : sequence of FitTask
        What is fitted, for each candidate.
    candidates : sequence of dict
        Parameters.
    splits : sequence of (ndarray, ndarray)
        Rows to train on and rows to score.
    n_jobs : int or None
        As for joblib.
    verbose : int
        As for joblib.

    Returns
    -------
    list of list of Fitted
        For each candidate, for each split.
    """
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
    """Whether an argument of ``fit`` has one value per row.

    Parameters
    ----------
    value : object
        The argument.
    n : int
        Number of rows.

    Returns
    -------
    bool
        Whether it has.
    """
    if value is None or isinstance(value, str | bytes | dict):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(value, "__len__") and len(value) == n


def prior_weights(prior: Any, candidates: Sequence[dict[str, Any]]) -> FloatArray:
    """Share of delta that each candidate has.

    Parameters
    ----------
    prior : array-like, callable or None
        Weights, a function of the parameters, or None for equal ones.
    candidates : sequence of dict
        Parameters.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Positive weights of sum 1.
    """
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
    """Order candidates from the simplest to the most complex.

    Parameters
    ----------
    complexity : str, callable or None
        Name of a parameter, a function of the parameters, or None for the order of the grid.
    candidates : sequence of dict
        Parameters.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Rank of each candidate, 0 the simplest; equal ones in the order of the grid.
    """
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
    """Rank values, 1 the largest; ties, up to rounding, share the smallest and NaN is last.

    Parameters
    ----------
    values : ndarray
        The values.

    Returns
    -------
    ndarray of int
        Ranks.
    """
    rounded = np.round(values, DIGITS)
    return rankdata(-np.nan_to_num(rounded, nan=-np.inf), method="min").astype(np.int32)


def candidate_table(
    candidates: Sequence[dict[str, Any]], fits: Sequence[Sequence[Fitted]]
) -> dict[str, Any]:
    """Times and parameters, as in the ``cv_results_`` of scikit-learn.

    Parameters
    ----------
    candidates : sequence of dict
        Parameters.
    fits : sequence of sequence of Fitted
        For each candidate, for each split.

    Returns
    -------
    dict
        Columns by name.
    """
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
