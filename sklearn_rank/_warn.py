"""Warnings whose ``stacklevel`` points at the line of the user."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Told", "collected", "warn"]

# Text and category of a warning.
Told = tuple[str, type[Warning]]

_COLLECTED: ContextVar[list[Told] | None] = ContextVar("collected warnings", default=None)

# A fit may be called through decorators, searches and worker pools of these packages.
PASSED_THROUGH = frozenset(
    {
        "concurrent",
        "contextlib",
        "dask",
        "distributed",
        "joblib",
        "multiprocessing",
        "sklearn",
        "sklearn_rank",
        "threading",
    }
)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside this package, scikit-learn and joblib.

    Parameters
    ----------
    message : str
        What is wrong, where, and what to do.
    category : type
        Category of the warning.
    """
    told = _COLLECTED.get()
    if told is not None:
        told.append((message, category))
        return
    frame, level = sys._getframe(1), 2
    while _package(frame.f_globals) in PASSED_THROUGH:
        if frame.f_back is None:
            # In a worker no line of the user is on the stack.
            level = 2
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected() -> Iterator[list[Told]]:
    """Collect the warnings of this package instead of giving them, in this thread.

    A task on another machine returns them, so that they are given where the user sees them.

    Yields
    ------
    list of (str, type)
        Text and category of each.
    """
    told: list[Told] = []
    token = _COLLECTED.set(told)
    try:
        yield told
    finally:
        _COLLECTED.reset(token)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
