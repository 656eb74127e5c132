"""The base class of all rankers, what every fit does, and hashes of rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from hashlib import blake2b
from inspect import isfunction, signature
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from .._partitions import is_collection
from .._sklearn_compat import BlockProgress, Interval, RealNotInt
from .._solvers import COPIED_ROWS, Certificate
from .._typing import AnyArray, FloatArray
from .._validation import coded_column, distinct_codes, is_missing, validate_data
from .._version import __version__
from .._warn import Message, collected, warn
from ..exceptions import FeatureScaleWarning, LongFitWarning, VersionWarning

Criterion: TypeAlias = Literal["relative_gap", "gradient_norm", "statistic"]

# Names of certificates in messages.
CRITERIA = {
    "relative_gap": "relative duality gap",
    "gradient_norm": "gradient norm relative to that at 0",
    "statistic": "best statistic",
}


@contextmanager
def restored_on_error(estimator: Any) -> Iterator[None]:
    """Restore the fitted attributes of the estimator if the body raises."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        # Callbacks take down what they set up.
        for name in [name for name in vars(estimator) if not name.startswith("_")]:
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def store_parameters(arguments: dict[str, Any]) -> None:
    """Make attributes of the arguments of ``__init__``, given as its ``locals()``."""
    estimator = arguments.pop("self")
    vars(estimator).update(arguments)


def forget(estimator: Any, *names: str) -> None:
    for name in names:
        vars(estimator).pop(name, None)


def in_parallel(
    n_jobs: int | None, function: Callable[..., Any], calls: Iterable[Any], verbose: int = 0
) -> list[Any]:
    """Call a function with each of some arguments, in workers, and give its warnings here."""
    results = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_with_warnings)(function, call) for call in calls
    )
    for _, warnings in results:
        for message, category in warnings:
            warn(message, category)
    return [value for value, _ in results]


def _with_warnings(function: Callable[..., Any], call: Any) -> tuple[Any, list[Message]]:
    with collected() as warnings:
        return function(*call), warnings


class FitProgress(BlockProgress):
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
        super().__init__(estimator, n_steps, X, y)
        self._verbose = bool(estimator.verbose)
        self._criterion = CRITERIA[criterion]

    def block_done(self) -> None:
        super().block_done()
        self._n_done += 1
        if self._instead:
            self._forecast()

    def iteration(self, n_iter: int, objective: float, certificate: float) -> None:
        self.block_done()
        if self._verbose:
            sys.stderr.write(
                f"iteration {n_iter}: objective {objective:.10g},"
                f" {self._criterion} {certificate:.2e}\n"
            )

    def _forecast(self) -> None:
        """Warn once, after 2 seconds, if the rest will take more than 10 minutes.

        The first step can include preparations.
        """
        now, n_done = perf_counter(), self._n_done
        if n_done == 1:
            self._first_done = now
            return
        elapsed = now - self._first_done
        left = elapsed / (n_done - 1) * (self._n_steps - n_done)
        if self._verbose and n_done & (n_done - 1) == 0:
            sys.stderr.write(f"block {n_done} of {self._n_steps}: {_duration(left)} left\n")
        if elapsed >= 2.0 and not self._has_forecast:
            self._has_forecast = True
            if left > 600.0:
                warn(f"The remaining fit takes {_duration(left)}: {self._instead}", LongFitWarning)


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds:.0f} seconds"


def warn_not_converged(
    estimator: Any, what: Criterion, value: float, n_iter: int, regularise: str, problems: str = ""
) -> None:
    tol = estimator.tol
    subject = f"{problems} did not reach tol={tol:g}: the largest" if problems else "The"
    missed = "" if problems else f" and did not reach tol={tol:g}"
    limits = "max_iter or tol" if n_iter >= estimator.max_iter else "tol"
    warn(
        f"{subject} {CRITERIA[what]} is {value:.1e} after {n_iter} iterations{missed}; raise"
        f" {limits}, {regularise}, or standardise the features.",
        ConvergenceWarning,
    )


def store_certificate(
    estimator: Any, certificate: Certificate, criterion: Criterion, *, regularise: str
) -> None:
    forget(estimator, "dual_gap_", "gradient_norm_")
    accuracy = getattr(certificate, criterion)
    setattr(estimator, "dual_gap_" if criterion == "relative_gap" else "gradient_norm_", accuracy)
    for name in ("objective", "lower_bound", "n_iter", "converged"):
        setattr(estimator, f"{name}_", getattr(certificate, name))
    if not certificate.converged:
        warn_not_converged(estimator, criterion, accuracy, certificate.n_iter, regularise)


def warn_of_scales(
    estimator: Any, scales: FloatArray, *, sparse: bool = False, within_queries: bool = False
) -> None:
    varying = np.flatnonzero((scales > 0) & np.isfinite(scales))
    if not len(varying):
        return
    low, high = varying[np.argmin(scales[varying])], varying[np.argmax(scales[varying])]
    if not scales[high] >= 1e6 * scales[low]:
        return
    names = getattr(estimator, "feature_names_in_", range(len(scales)))
    scaler = "StandardScaler(with_mean=False)" if sparse else "StandardScaler()"
    name = type(estimator).__name__
    remedy = f"make_pipeline({scaler}, {name}(...))"
    if within_queries and not sparse and "normalize" in estimator.get_params(deep=False):
        remedy += f' or {name}(normalize="zscore")'
    if within_queries and "alpha" in estimator.get_params(deep=False):
        remedy += f' or {name}(alpha="scale")'
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


def refuse_blocked(estimator: Any, X: Any, instead: str = "") -> None:
    if is_collection(X):
        raise TypeError(
            f"{type(estimator).__name__} needs X in memory, but X is of type {type(X).__name__}: "
            "pass an array of rows that fit into memory, such as X.compute() of a dask "
            f"collection{instead}."
        )


def check_columns(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
    """Rows whose values an inner estimator checks, after checks of their features' names.

    Columns of numbers are of NumPy, whatever holds them: libraries and encoders take objects,
    decimals and types of pyarrow for words, or end the process at them.
    """
    refuse_blocked(estimator, X)
    if len(getattr(X, "shape", (0, 0))) == 1:
        raise ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if"
            " it is one feature, X.reshape(1, -1) if it is one row."
        )
    if is_frame(X):
        # A table of pyarrow, or a new frame of the same columns.
        X = X.to_pandas() if hasattr(X, "column_names") else X[:]
        for j in range(X.shape[1]):
            column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
            numbers = _numbers_held(column)
            if numbers is not None and hasattr(X, "iloc"):
                X.isetitem(j, numbers)
            elif numbers is not None:
                X.replace_column(j, type(column)(column.name, numbers))
    validate_data(estimator, X, y, reset=reset, skip_check_array=True)
    return X


def _numbers_held(column: Any) -> AnyArray | None:
    """The numbers of a column of another type than NumPy's; None if it holds others."""
    dtype = str(column.dtype).lower()
    if not (dtype.startswith(("object", "decimal")) or dtype.endswith("[pyarrow]")):
        return None
    values = [np.nan if is_missing(value) else value for value in column.to_list()]
    if any(isinstance(value, str | bytes) for value in values):
        return None
    try:
        numbers = np.array(values)
        if numbers.ndim > 1 or numbers.dtype.kind not in "biufO":
            return None
        return numbers if numbers.dtype.kind in "biu" else numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError):  # such as dates, and lists of different lengths
        return None


class Ranker(BaseEstimator):
    """Base class of all rankers: check of rows, and of the version after unpickling; link."""

    # What parameters of these names may be, in all rankers that do not say otherwise.
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left"), str],
        "cv": ["cv_object"],
        "early_stopping": ["boolean"],
        "eta": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
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
    # Value of scikit-learn's validation parameter for finite X.
    _finite: Any = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            # Those of the base classes too, in the order of the parameters.
            known: dict[str, Any] = {}
            for base in reversed(cls.__mro__):
                known |= vars(base).get("_parameter_constraints", {})
            names = signature(cls.__init__).parameters
            cls._parameter_constraints = {name: known[name] for name in names if name in known}
        for name, method in list(vars(cls).items()):
            public = isfunction(method) and not name.startswith("_")
            if public and "qid" in signature(method).parameters:
                setattr(cls, name, _refusing_groups(method))

    _doc_link_module = "sklearn_rank"
    _doc_link_template = "https://sklearn-rank.readthedocs.io/en/stable/api/generated/sklearn_rank.{estimator_name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        room, name = type(self).__module__.split(".")[1], type(self).__name__
        # Rankers are documented under the package, those of outer folders too.
        of_package = room == "rankers" or room.startswith("_")
        return {"estimator_name": name if of_package else f"{room}.{name}"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "kernel", "linear") == "precomputed"
        tags.input_tags.sparse = self._sparse is not False
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    @property
    def _sparse(self) -> Any:
        """Format of sparse matrices that X may be; False is none."""
        return False if getattr(self, "kernel", "linear") == "precomputed" else "csr"

    def _validated(
        self, X: Any, y: Any = "no_validation", *, dtype: Any = np.float64, **checks: Any
    ) -> Any:
        checks |= {"accept_sparse": self._sparse, "ensure_all_finite": self._finite}
        return validate_data(self, X, y, dtype=dtype, **checks)

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


# Scores that differ by at most this share of the largest are tied: rounding separates equal rows.
TIED = 2.0**-30


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "shape")


def summed(X: Any) -> Any:
    """Add the entries of the same place of rows in CSR format, which libraries would not do."""
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_keys(X: Any, labels: FloatArray, *columns: AnyArray) -> AnyArray:
    keys = feature_keys(X) + mixed_bits(labels)
    for column in columns:
        # Mixed anew, so that two columns with each other's values have other keys.
        keys = _mixed(keys) + mixed_bits(column)
    return keys


def mixed_bits(values: AnyArray) -> AnyArray:
    return _mixed(_bits(values))


def feature_keys(X: Any) -> AnyArray:
    """Hash the features of each row. As :func:`row_keys`, without labels. Shape (n,)."""
    if sp.issparse(X):
        X = summed(X.tocsr())
        # A value of 0 adds nothing.
        terms = np.append(np.uint64(0), _mixed(_bits(X.data), _factors(X.shape[1])[X.indices]))
        totals = np.cumsum(terms, dtype=np.uint64)
        return totals[X.indptr[1:]] - totals[X.indptr[:-1]]
    if is_frame(X):
        # By place, since two columns may have the same name.
        frame = X.iloc if hasattr(X, "iloc") else X
        return _keys_of_columns([frame[:, j] for j in range(X.shape[1])], len(X))
    if X.dtype.kind not in "biuf":
        return _keys_of_columns(X.T, len(X))
    keys = np.empty(len(X), dtype=np.uint64)
    factors = _factors(X.shape[1])
    for start in range(0, len(X), COPIED_ROWS):
        terms = _mixed(_bits(X[start : start + COPIED_ROWS]), factors)
        keys[start : start + COPIED_ROWS] = terms.sum(axis=1, dtype=np.uint64)
    return keys


def _keys_of_columns(columns: Sequence[Any], n: int) -> AnyArray:
    keys = np.zeros(n, dtype=np.uint64)
    for column, factor in zip(columns, _factors(len(columns)), strict=True):
        keys += _mixed(_bits_of_column(column), factor)
    return keys


def _bits_of_column(column: Any) -> AnyArray:
    coded = coded_column(column)
    if coded is None:
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            return _bits(values)
        try:
            coded = distinct_codes(values)
        except TypeError:  # values that cannot be hashed, such as lists
            coded = distinct_codes(np.array([repr(value) for value in values], dtype=object))
    texts = map(str, coded.distinct.tolist())
    digests = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, "<u8").astype(np.uint64)[coded.codes]


def _bits(values: AnyArray) -> AnyArray:
    """Bits of numbers as float64; 0.0 and -0.0 have the same, and so have all NaN."""
    numbers: FloatArray = np.add(values, 0.0, dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        numbers[missing] = np.nan
    return np.ascontiguousarray(numbers).view(np.uint64)


def _factors(n_columns: int) -> AnyArray:
    """A random odd number for each column."""
    places = np.arange(1, n_columns + 1, dtype=np.uint64)
    return _mixed(places * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)


def _mixed(bits: AnyArray, factor: Any = 0x94D049BB133111EB) -> AnyArray:
    """Let every bit change all others, in place, as SplitMix64 does; 0 stays 0."""
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(29)
    bits *= factor
    bits ^= bits >> np.uint64(32)
    return bits
