"""Fit candidates to training parts and score the rows that were held out."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from .._typing import FloatArray, IntArray
from ..metrics._shared import ranking_scores

__all__ = [
    "DIGITS",
    "Fitted",
    "candidate_table",
    "fit_candidates",
    "prior_weights",
    "rank_descending",
    "rows_of",
    "simplicity",
]

Split = tuple[IntArray, IntArray]

# Means over folds that differ beyond these decimals differ by rounding.
DIGITS = 12


@dataclass(frozen=True, eq=False)
class Fitted:
    """One candidate on one split.

    Parameters
    ----------
    scores : ndarray of shape (n_test,) or None
        Scores of the held-out rows; None if the fit or the scoring failed.
    failure : str
        The traceback, if so.
    fit_time : float
        Seconds to fit.
    score_time : float
        Seconds to score.
    model : object or None
        The fitted estimator, if it was to be kept.
    """

    scores: FloatArray | None
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


def fit_candidates(
    estimator: Any,
    candidates: Sequence[dict[str, Any]],
    splits: Sequence[Split],
    X: Any,
    y: Any,
    fit_params: dict[str, Any],
    *,
    n_jobs: int | None,
    verbose: int,
    keep: bool,
    error_score: Any,
) -> list[list[Fitted]]:
    """Fit every candidate on every split.

    Parameters
    ----------
    estimator : estimator
        What the parameters are of.
    candidates : sequence of dict
        Parameters.
    splits : sequence of (ndarray, ndarray)
        Rows to train on and rows to score.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Labels.
    fit_params : dict
        Arguments of ``fit``; those with one value per row are divided.
    n_jobs : int or None
        As for joblib.
    verbose : int
        As for joblib.
    keep : bool
        Whether to keep the models.
    error_score : "raise" or nan
        What to do about failures.

    Returns
    -------
    list of list of Fitted
        For each candidate, for each split.
    """
    found = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fit_one)(
            clone(estimator), params, split, X, y, fit_params, keep, error_score == "raise"
        )
        for params, split in product(candidates, splits)
    )
    failures = [one.failure for one in found if one.failure]
    if len(failures) == len(found):
        raise ValueError(
            f"All {len(found)} fits failed: see to it that the estimator can be fitted to X and"
            f" y. The first failure was:\n{failures[0]}"
        )
    if failures:
        warnings.warn(
            f"{len(failures)} of {len(found)} fits failed; their candidates are not chosen, but"
            f" count as candidates. The first failure was:\n{failures[0]}",
            FitFailedWarning,
            stacklevel=4,
        )
    n = len(splits)
    return [list(found[start : start + n]) for start in range(0, len(found), n)]


def _fit_one(
    estimator: Any,
    params: dict[str, Any],
    split: Split,
    X: Any,
    y: Any,
    fit_params: dict[str, Any],
    keep: bool,
    strict: bool,
) -> Fitted:
    train, test = split
    pairwise = get_tags(estimator).input_tags.pairwise
    X_train, X_test = rows_of(X, train), rows_of(X, test)
    if pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    divided = {
        name: rows_of(value, train) if _is_per_row(value, len(y)) else value
        for name, value in fit_params.items()
    }
    begun = fitted = time.perf_counter()
    try:
        estimator.set_params(**clone(params, safe=False))
        estimator.fit(X_train, y[train], **divided)
        fitted = time.perf_counter()
        scores = np.asarray(ranking_scores(estimator, X_test), dtype=np.float64)
        if scores.shape != (len(test),) or np.isnan(scores).any():
            raise ValueError(
                f"{type(estimator).__name__} gave {np.count_nonzero(np.isnan(scores))} NaN among"
                f" scores of shape {scores.shape} for {len(test)} rows: it must give each row one"
                " number."
            )
    except Exception:
        if strict:
            raise
        return Fitted(None, traceback.format_exc(), fitted - begun, np.nan, None)
    scored = time.perf_counter()
    return Fitted(scores, "", fitted - begun, scored - fitted, estimator if keep else None)


def _is_per_row(value: Any, n: int) -> bool:
    """Whether an argument of ``fit`` has one value per row."""
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
            f"prior is {weights[first]:g} for the candidate {candidates[first]}: weights must be"
            " positive and finite; leave out of the grid what is not to be chosen."
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
        Place of each candidate, 0 the simplest; equal ones in the order of the grid.
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
                    f"complexity={complexity!r} is no parameter of the candidate {params}: name"
                    " one that all of them have, or pass a function of the parameters."
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
        times = np.array([[getattr(one, name) for one in of_one] for of_one in fits])
        table[f"mean_{name}"], table[f"std_{name}"] = times.mean(axis=1), times.std(axis=1)
    for name in sorted({name for params in candidates for name in params}):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for place, params in enumerate(candidates):
            if name in params:
                column[place] = params[name]
        table[f"param_{name}"] = column
    table["params"] = list(candidates)
    return table
