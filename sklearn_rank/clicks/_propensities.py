"""Propensities of positions, and checks of click logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._printed import Printed, Table
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_vector


def check_clicks(clicks: Any, n: int | None = None, *, name: str = "clicks") -> BoolArray:
    """Check that values are 0 and 1. Whether each row was clicked. Shape (n,)."""
    values = check_vector(name, clicks, n)
    other = (values != 0) & (values != 1)
    if other.any():
        first = int(np.argmax(other))
        raise ValueError(
            f"{name} is {values[first]:g} in row {first}, but must be 0 or 1: convert counts by "
            "(y > 0), and pass one row for each time that an item was shown."
        )
    return values == 1


def check_positions(position: Any, n: int, *, name: str = "position") -> IntArray:
    """Check positions, whole numbers from 1. Shape (n,)."""
    values = check_vector(name, position, n)
    wrong = (values < 1) | (values != np.floor(values))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"{name} is {values[first]:g} in row {first}, but must be a whole number of at least "
            "1, with 1 at the top: add 1 to positions that start at 0."
        )
    return values.astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Propensities(Printed):
    """Examination propensities of positions, relative to a reference position.

    Parameters
    ----------
    position : ndarray of shape (n_positions,)
        Positions, ascending.
    value : ndarray of shape (n_positions,)
        Propensities of the positions, divided by that of the reference.
    standard_error : ndarray of shape (n_positions,) or None
        Standard errors of the values, 0 at the reference, NaN where the clicks do not show how a
        value varies; None if the method provides none.
    reference : int
        Position whose propensity is set to 1.
    method : str
        Name of the estimation method.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.clicks import Propensities
    >>> found = Propensities(np.array([1, 2]), np.array([1.0, 0.4]), None, 1, "by hand")
    >>> found.of([2, 1, 1])
    array([0.4, 1. , 1. ])
    >>> print(found)
    Chance to be looked at by position, that of position 1 being 1 (by hand): 1: 1, 2: 0.4.
    """

    position: IntArray
    value: FloatArray
    standard_error: FloatArray | None
    reference: int
    method: str

    def of(self, position: Any) -> FloatArray:
        """Get the propensity of each row, for the parameter ``propensity`` of ``fit``.

        Parameters
        ----------
        position : array-like of shape (n_samples,)
            Position at which each row was shown.

        Returns
        -------
        ndarray of shape (n_samples,)
            Propensities in (0, 1]. If a value exceeds 1, all are divided by the greatest; a common
            factor only rescales the penalty of a ranker.

        Raises
        ------
        ValueError
            If the propensity of a position is missing or 0.
        """
        wanted = check_positions(position, len(position))
        at = np.minimum(np.searchsorted(self.position, wanted), len(self.position) - 1)
        found = np.where(self.position[at] == wanted, self.value[at], 0.0)
        if not found.min() > 0:
            first = int(np.argmax(~(found > 0)))
            raise ValueError(
                f"Position {wanted[first]} of row {first} has no propensity, because it has no "
                "clicks: remove rows at this position, or estimate the propensities from more "
                "sessions."
            )
        return found / max(1.0, float(self.value.max()))

    def __str__(self) -> str:
        shown = ", ".join(
            f"{place}: {value:.3g}{self._error_of(row)}"
            for row, (place, value) in enumerate(zip(self.position, self.value, strict=True))
        )
        return (
            f"Chance to be looked at by position, that of position {self.reference} being 1"
            f" ({self.method}): {shown}."
        )

    def _error_of(self, row: int) -> str:
        """Standard error of a position in words, or what is missing for one."""
        if self.standard_error is None or self.position[row] == self.reference:
            return ""
        if np.isnan(self.standard_error[row]):
            lacking = "no clicks" if self.value[row] == 0 else "too few or equal sessions"
            return f" (standard error unknown: {lacking})"
        return f" ± {self.standard_error[row]:.2g}"

    def _table(self) -> Table:
        title = f"Propensities by position ({self.method})"
        columns: list[list[Any]] = [[str(place) for place in self.position], self.value.tolist()]
        if self.standard_error is None:
            return title, ("position", "propensity"), zip(*columns, strict=True)
        errors = self.standard_error.tolist()
        columns.append(["unknown" if np.isnan(error) else error for error in errors])
        return title, ("position", "propensity", "standard error"), zip(*columns, strict=True)


@dataclass(frozen=True, eq=False, repr=False)
class EMPropensities(Propensities):
    """Examination propensities and relevance model fitted by expectation-maximisation.

    Parameters
    ----------
    position : ndarray of shape (n_positions,)
        Positions, ascending.
    value : ndarray of shape (n_positions,)
        Propensities of the positions, divided by that of the reference.
    standard_error : ndarray of shape (n_positions,) or None
        None.
    reference : int
        Position whose propensity is set to 1.
    method : str
        Name of the estimation method.
    relevance : classifier
        Fitted model of the probability of a click given examination.
    log_likelihood : ndarray of shape (n_iter + 1,)
        Mean log likelihood of the clicks, before each iteration and after the last one.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the propensities changed by less than the tolerance in the last iteration.

    See Also
    --------
    em_propensities : Estimates them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.clicks import em_propensities
    >>> rng = np.random.default_rng(0)
    >>> X, position = rng.normal(size=(2000, 1)), rng.integers(1, 3, 2000)
    >>> relevant = rng.random(2000) < 1 / (1 + np.exp(-X[:, 0]))
    >>> clicks = relevant & (rng.random(2000) < 1 / position)
    >>> found = em_propensities(X, clicks, position, LogisticRegression())
    >>> found.converged, bool(np.all(np.diff(found.log_likelihood) > -1e-9))
    (True, True)
    """

    relevance: Any
    log_likelihood: FloatArray
    n_iter: int
    converged: bool
