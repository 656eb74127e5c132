"""Access to the private and experimental functions of scikit-learn, in one module."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Number
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.metrics._scorer import _cached_call as cached_call
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._search_successive_halving import (
    BaseSuccessiveHalving,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
)
from sklearn.utils import _safe_indexing as rows_at
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_monotonic_cst as check_monotonic_cst
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import check_array, check_non_negative

__all__ = [
    "BaseComposition",
    "BaseScorer",
    "BaseSearchCV",
    "BaseSuccessiveHalving",
    "BlockProgress",
    "CallbackSupportMixin",
    "FitToPart",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "cached_call",
    "check_monotonic_cst",
    "check_sample_weight",
    "fit_context",
    "fits_to_parts",
    "num_samples",
    "rows_at",
    "tool_on_stack",
    "with_callbacks",
]


def check_sample_weight(sample_weight: Any, X: Any, *, name: str = "sample_weight") -> Any:
    """Return non-negative float64 weights, ones for None; refuse all zeros.

    As scikit-learn's private function, which knows weights of no other name.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), number or None
        Weights.
    X : array-like of shape (n_samples, ...)
        Data that they belong to.
    name : str, default="sample_weight"
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights as float64.
    """
    n = num_samples(X)
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n, sample_weight)
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name=name)
    if weight.shape != (n,):
        raise ValueError(
            f"{name}.shape == {weight.shape}, expected {(n,)}: pass one weight for each row."
        )
    check_non_negative(weight, f"`{name}`")
    if not weight.any():
        raise ValueError(f"{name} must contain at least one non-zero number.")
    return weight


class BlockProgress:
    """Report a fit that works through blocks to the estimator's callbacks.

    Parameters
    ----------
    estimator : estimator with CallbackSupportMixin
        The estimator, whose ``fit`` runs under :func:`with_callbacks`.
    n_blocks : int
        Number of blocks.
    X, y : object
        Training data, handed to the callbacks.
    """

    def __init__(self, estimator: Any, n_blocks: int, X: Any, y: Any) -> None:
        self.estimator = estimator
        self.data = {"estimator": estimator, "X": X, "y": y}
        self.context = estimator._init_callback_context(max_subtasks=n_blocks)
        self.context.call_on_fit_task_begin(**self.data)

    def block_done(self) -> None:
        """Tell the callbacks that one more block is done, from the parent process."""
        block = self.context.subcontext(task_name="block")
        block.call_on_fit_task_begin(**self.data)
        block.call_on_fit_task_end(**self.data)

    def fit_done(self) -> None:
        """Tell the callbacks that the fit is done."""
        self.context.call_on_fit_task_end(**self.data, reconstruction_attributes={})


# Rooms of scikit-learn whose functions fit an estimator that they were handed, to parts of the
# data or many times.
ROOMS_OF_TOOLS = (
    "sklearn.calibration",
    "sklearn.ensemble",
    "sklearn.feature_selection",
    "sklearn.model_selection",
)

# Functions that fit an estimator to some rows, and their variable that says which rows.
FITS_TO_PARTS = {
    "_fit_and_predict": "train",
    "_fit_and_score": "train",
    "_incremental_fit_estimator": "partial_train",
    "_parallel_build_estimators": "indices",
    "_permutation_test_score": "train",
    "_rfe_single_fit": "train",
}


@dataclass(frozen=True)
class FitToPart:
    """A tool of scikit-learn that is fitting an estimator to some rows.

    Parameters
    ----------
    tool : str
        Its name, such as ``"cross_validate"``; ``""`` in a worker process, where it is not known.
    rows : ndarray of shape (m,)
        The rows.
    n_rows : int
        Number of rows that the tool was handed.
    parameters : Mapping
        Parameters of ``fit`` as the tool was handed them, those of all rows.
    """

    tool: str
    rows: Any
    n_rows: int
    parameters: Mapping[str, Any]


def fits_to_parts() -> Iterator[FitToPart]:
    """Find the tools of scikit-learn that are fitting what calls this to some of their rows.

    Yields
    ------
    FitToPart
        The tools, from the innermost out, as far as their frames on the stack show them; a worker
        process has those of its own task alone.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _fits_to_part(frame):
            found = _fit_to_part(frame)
            if found is not None:
                yield found
        frame = frame.f_back


def tool_on_stack() -> str | None:
    """Find the tool of scikit-learn, a search or cross-validation, that is fitting the caller.

    Returns
    -------
    str or None
        Name of the innermost one, ``""`` where it is not known; None where there is none.
    """
    frame: FrameType | None = sys._getframe(1)
    tool = None
    while frame is not None and not tool:
        if _is_of_tools(frame):
            tool = _tool_of(frame)
        frame = frame.f_back
    return tool


def _is_of_tools(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(ROOMS_OF_TOOLS)


def _fits_to_part(frame: FrameType) -> bool:
    return frame.f_code.co_name in FITS_TO_PARTS and _is_of_tools(frame)


def _fit_to_part(frame: FrameType) -> FitToPart | None:
    """What a frame that fits to some rows says; None where it does not say which."""
    names = dict(frame.f_locals)
    caller = frame.f_back
    if caller is not None and caller.f_code.co_name == "__call__":
        call = caller.f_locals
        if getattr(call.get("self"), "function", None) is not None:
            # A function that takes a part of its parameters may keep no other: here they are all.
            bound = signature(call["self"].function).bind(*call["args"], **call["kwargs"])
            names |= bound.arguments
    parameters = names.get("fit_params")
    if "routed_params" in names:
        parameters = names["routed_params"].estimator.fit
    rows = names.get(FITS_TO_PARTS[frame.f_code.co_name])
    if rows is None or parameters is None:
        return None
    return FitToPart(_tool_of(frame), np.asarray(rows), num_samples(names["X"]), parameters)


def _tool_of(frame: FrameType) -> str:
    """Name of the function or estimator that a user called, from a frame within it."""
    found, outer = "", frame
    while True:
        name = outer.f_code.co_name
        if _is_of_tools(outer) and "<" not in outer.f_code.co_qualname:
            owner = outer.f_locals.get("self")
            if name in ("fit", "partial_fit") and owner is not None:
                found = type(owner).__name__
            elif owner is None and not name.startswith("_"):
                found = name
        if outer.f_back is None or _fits_to_part(outer.f_back):
            return found
        outer = outer.f_back
        package = str(outer.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("sklearn", "joblib"):
            return found
