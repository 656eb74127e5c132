"""Access to private names of scikit-learn."""

from __future__ import annotations

from math import prod
from numbers import Integral, Number
from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.metrics._scorer import _cached_call as cached_call
from sklearn.utils import _safe_indexing as rows_at
from sklearn.utils._param_validation import HasMethods, RealNotInt, StrOptions
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_monotonic_cst as check_monotonic_cst
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import check_array, check_non_negative
from threadpoolctl import threadpool_limits

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Estimator without callbacks."""

        def _init_callback_context(self, **_: Any) -> Any:
            return _NoCallbacks()

    class _NoCallbacks:
        def call_on_fit_task_begin(self, **_: Any) -> None: ...

        call_on_fit_task_end = call_on_fit_task_begin

        def subcontext(self, **_: Any) -> Any:
            return self

    def with_callbacks(method: Any) -> Any:
        return method


# Of so many values boosted trees make a model in a second on one thread.
MANY_VALUES = 1_000_000


def threads_for(X: Any) -> threadpool_limits:
    """Context with one OpenMP thread if X is small: on shared cores several would wait."""
    n_values = prod(getattr(X, "shape", ()))  # Lists are small
    return threadpool_limits(1 if n_values < MANY_VALUES else None, user_api="openmp")


def any_response(method_caller: Any, estimator: Any, method: Any, X: Any, **options: Any) -> Any:
    """Call a method; before 1.9, method callers refuse estimators that are no classifiers."""
    if hasattr(CallbackSupportMixin, "set_callbacks") or is_classifier(estimator):
        return method_caller(estimator, method, X, **options)
    return getattr(estimator, method)(X)


class Interval(_Interval):
    """Interval of numbers of 64 bits whose squares do not overflow.

    Scikit-learn's takes booleans, fails on fractions, and has no ends where solvers overflow.
    """

    def __init__(self, type: Any, left: Any, right: Any, *, closed: str) -> None:
        if right is None and closed in ("left", "neither"):
            right = 2**63 if type is Integral else 1e50
        if left == 0 and type is not Integral and closed in ("right", "neither"):
            left = 1e-300
        super().__init__(type, left, right, closed=closed)

    def is_satisfied_by(self, val: Any) -> bool:
        if isinstance(val, bool) or not isinstance(val, int | float | np.integer | np.floating):
            return False
        try:
            float(val)
        except OverflowError:
            return False
        return bool(super().is_satisfied_by(val))


class BlockProgress:
    """Report a fit that works through blocks to the estimator's callbacks."""

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
        self.context.call_on_fit_task_end(**self.data, reconstruction_attributes={})


def is_search(estimator: Any) -> bool:
    """Whether an estimator searches over the parameters of another."""
    from sklearn.model_selection._search import BaseSearchCV  # which measures do without

    return isinstance(estimator, BaseSearchCV)
