"""Number of threads, and restriction of BLAS to one thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread", "threads_here"]

_entering = threading.Lock()
_holders = 0
_limited: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread within a context.

    The limit is one of the process: of threads that overlap, the first sets it and the last ends
    it.
    """
    global _holders, _limited
    with _entering:
        if _holders == 0:
            _limited = _pools().limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _entering:
            _holders -= 1
            if _holders == 0:
                _limited.restore_original_limits()


@cache
def _pools() -> ThreadpoolController:
    """Find the thread pools of the process, which takes longer than a small fit."""
    return ThreadpoolController()


def threads_here(n_jobs: int | None) -> int:
    """Count the threads that a fit may use within this process."""
    configured = get_active_backend()[1] if n_jobs is None else n_jobs
    backend, _ = get_active_backend(require="sharedmem")
    return int(backend.effective_n_jobs(1 if configured is None else configured))
