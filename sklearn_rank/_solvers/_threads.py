"""BLAS held to one thread while problems are shared among threads of our own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread within a context.

    Returns
    -------
    context manager
        The context.
    """
    limited: AbstractContextManager[Any] = _pools().limit(limits=1, user_api="blas")
    return limited


@cache
def _pools() -> ThreadpoolController:
    """Find the thread pools of the process, which takes longer than a small fit."""
    return ThreadpoolController()
