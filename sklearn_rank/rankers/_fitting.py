"""Helpers of every fit: restoring attributes after an error, callbacks, convergence warnings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from .._sklearn_compat import BlockProgress
from .._typing import FloatArray
from .._warn import Told, collected, warn
from ..exceptions import FeatureScaleWarning, LongFitWarning

__all__ = [
    "CRITERIA",
    "Criterion",
    "FitProgress",
    "forget",
    "in_parallel",
    "restored_on_error",
    "warn_not_converged",
    "warn_of_scales",
]

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
    found = Parallel(n_jobs=n_jobs)(delayed(_with_warnings)(function, call) for call in calls)
    for _, told in found:
        for message, category in told:
            warn(message, category)
    return [value for value, _ in found]


def _with_warnings(function: Callable[..., Any], call: tuple[Any, ...]) -> tuple[Any, list[Told]]:
    with collected() as told:
        return function(*call), told


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
        self._first_done, self._judged = 0.0, False
        self._blocks = BlockProgress(estimator, n_steps, X, y)
        self._verbose = bool(estimator.verbose)
        self._criterion = CRITERIA[criterion]

    def step(self, found: bool = False) -> None:
        """Report one more step; steps that were found done do not count for the forecast."""
        self._blocks.block_done()
        if found:
            self._n_steps -= 1
            return
        self._n_done += 1
        if self._instead:
            self._forecast()

    def iteration(self, n_iter: int, objective: float, certificate: float) -> None:
        """Report one more step and its objective; a line on the standard error."""
        self.step()
        if self._verbose:
            sys.stderr.write(
                f"iteration {n_iter}: objective {objective:.10g},"
                f" {self._criterion} {certificate:.2e}\n"
            )

    def done(self) -> None:
        """Report the end of the fit."""
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
        if elapsed >= OBSERVED and not self._judged:
            self._judged = True
            if left > LONG:
                warn(f"The remaining fit takes {_duration(left)}: {self._instead}", LongFitWarning)


def _duration(seconds: float) -> str:
    """Format a duration as text."""
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
    """Warn that a certificate does not reach the tolerance."""
    which = f"{problems} did not reach tol={tol:g}: the largest" if problems else "The"
    missed = "" if problems else f" and did not reach tol={tol:g}"
    larger = "max_iter or tol" if n_iter >= max_iter else "tol"
    warn(
        f"{which} {CRITERIA[criterion]} is {value:.1e} after {n_iter} iterations{missed}; raise"
        f" {larger}, {regularise}, or standardise the features.",
        ConvergenceWarning,
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
    mended = f"make_pipeline({scaler}, {name}(...))"
    if within_queries and not sparse and "normalize" in estimator.get_params(deep=False):
        mended += f' or {name}(normalize="zscore")'
    warn(
        f"The scales of the features {names[high]!r} and {names[low]!r} differ by a factor of "
        f"{scales[high] / scales[low]:.1e}, so that the penalty of {name} all but ignores the one "
        f"and leaves out the other: use {mended}.",
        FeatureScaleWarning,
    )
