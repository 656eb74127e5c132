"""Warnings whose ``stacklevel`` points at the line of the user."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Text and category of a warning.
Message = tuple[str, type[Warning]]

_collecting: ContextVar[list[Message] | None] = ContextVar("collected warnings", default=None)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside this package, scikit-learn and joblib, once a call there.

    A search calls a scorer for each fold and candidate: of messages that differ in their numbers
    only, the first is given. Python's own registry forgets them, since scikit-learn sets the
    filters anew for each fit. In a worker the call is a batch of tasks.
    """
    messages = _collecting.get()
    if messages is not None:
        messages.append((message, category))
        return
    level, warned = _find_caller()
    # Messages of the folds of a search differ in their numbers and quotations.
    kind = (category, re.sub(r"'[^']*'|[-+]?\d[\d,.]*(?:e[-+]?\d+)?", "", message))
    if kind not in warned:
        warnings.warn(message, category, stacklevel=level)
        # An error, where the filters make it one, is not a warning that was given.
        warned.add(kind)


def _find_caller() -> tuple[int, set[Any]]:
    """Level of the line that called this package, scikit-learn or joblib, and its warnings.

    A fit may be called through decorators, searches and worker pools of other packages. The user's
    call is the outermost function of this package, scikit-learn or a batch of joblib; a local
    variable of it has its warnings, which lives as long as the call does.
    """
    pools = ("concurrent", "contextlib", "dask", "distributed", "joblib", "multiprocessing")
    passed_through = {"sklearn", "sklearn_rank", "threading", *pools}
    frame, level = sys._getframe(1), 1
    call = None
    while (package := _name(frame).partition(".")[0]) in passed_through:
        if package in ("sklearn", "sklearn_rank") or _name(frame) == "joblib.parallel":
            call = frame
        if frame.f_back is None:
            # In a worker no line of the user is on the stack.
            level = 2
            break
        frame, level = frame.f_back, level + 1
    return level, set() if call is None else call.f_locals.setdefault(
        "__sklearn_rank_warned__", set()
    )


def is_called_by(*modules: str) -> bool:
    """Whether a function of some modules is on the stack, here or in a worker."""
    frame: Any = sys._getframe(1)
    while frame is not None and not _name(frame).startswith(modules):
        frame = frame.f_back
    return frame is not None


def _name(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", ""))


@contextmanager
def collected() -> Iterator[list[Message]]:
    """Collect warnings of the package in this thread, to be given where the user sees them."""
    messages: list[Message] = []
    token = _collecting.set(messages)
    try:
        yield messages
    finally:
        _collecting.reset(token)


@contextmanager
def warned_once() -> Iterator[None]:
    """Give the warnings of all packages as :func:`warn` does: once, for one of many fits."""
    with collected() as messages, warnings.catch_warnings(record=True) as caught:
        yield
    messages += [(str(record.message), record.category) for record in caught]
    for message, category in messages:
        warn(message, category)
