"""Arguments that intervals and tests share, checked."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

__all__ = ["check_choice", "check_level", "check_resamples"]


def check_level(level: Any) -> float:
    """Check the nominal probability of an interval.

    Parameters
    ----------
    level : float
        Probability, in (0, 1).

    Returns
    -------
    float
        The same.
    """
    is_number = isinstance(level, Real) and not isinstance(level, bool)
    if not is_number or not 0 < level < 1:
        raise ValueError(f"level={level!r} must be a number between 0 and 1, both excluded.")
    return float(level)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Check an argument that is one of a few words.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : str
        Its value.
    choices : tuple of str
        The words.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")


def check_resamples(n_resamples: Any) -> int:
    """Check a number of resamples.

    Parameters
    ----------
    n_resamples : int
        At least 99.

    Returns
    -------
    int
        The same.
    """
    whole = isinstance(n_resamples, Integral) and not isinstance(n_resamples, bool)
    if not whole or n_resamples < 99:
        raise ValueError(f"n_resamples={n_resamples!r} must be a whole number, at least 99.")
    return int(n_resamples)
