"""Compilation of kernels by numba, with the same options for all kernels of the package.

Importing this module imports numba, so only kernel modules do it, and those are imported by the
first call for which compiling pays.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from ._optional import import_optional
from ._warn import warn

# Imported before forks are prepared below: of such preparations the last one runs first.
numba = import_optional("numba", "A compiled kernel")

# Seconds of compiling after which the user gets one warning.
PATIENCE = 2.0

_reported = threading.Event()

# Functions whose machine code is kept on disk, and whether that has failed.
_cached: list[Any] = []
_cache_failed = threading.Event()

# Threads that call a kernel for the first time wait for one of them to compile it.
_compiling = threading.RLock()

if hasattr(os, "register_at_fork"):
    # A fork while another thread compiles would leave numba locked in the child for ever.
    os.register_at_fork(
        before=_compiling.acquire,
        after_in_parent=_compiling.release,
        after_in_child=_compiling.release,
    )


def compiled(signature: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function to machine code that releases the GIL."""

    def decorate(function: Callable[..., Any]) -> Any:
        return _jit(function) if signature is None else Kernel(function, signature)

    return decorate


class Kernel:
    """A function that is compiled when it is first called, since a fit needs one of many."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        update_wrapper(self, function)
        self._function, self._signature = function, signature
        self._machine_code: Callable[..., Any] | None = None

    def compile(self) -> Callable[..., Any]:
        """Compile the function, or load it from numba's cache, unless that is done."""
        with _compiling:
            if self._machine_code is None:
                timer = threading.Timer(PATIENCE, _report)
                timer.daemon = True
                timer.start()
                try:
                    self._machine_code = _jit(self._function, self._signature)
                finally:
                    timer.cancel()
            return self._machine_code

    def __call__(self, *args: Any) -> Any:
        call = self._machine_code or self.compile()
        try:
            return call(*args)
        except TypeError:
            # Arrays of other processes may be read-only, or begin at any address; it is not
            # compiled for these types, and gets copies.
            usable = (
                arg.copy() if isinstance(arg, np.ndarray) and not arg.flags.behaved else arg
                for arg in args
            )
            return call(*usable)


def _jit(function: Callable[..., Any], *signature: str) -> Any:
    """Compile with the cache on disk, or without it where that fails in any way."""
    # Division by zero gives what IEEE arithmetic says, without a test at each division.
    jit = numba.njit(nogil=True, error_model="numpy")
    kernel = jit(function)
    try:
        kernel.enable_caching()
    except RuntimeError:  # numba: no locator available, i.e. nowhere to keep the cache
        pass
    else:
        _cached.append(kernel)
    try:
        return _compile(kernel, signature)
    except Exception as error:
        # Damaged files, a full disk: what else can fail fails again in memory.
        folder = getattr(kernel.stats, "cache_path", None)
        for cached in _cached:
            cached._cache = numba.core.caching.NullCache()
        kernel = _compile(jit(function), signature)
        if not _cache_failed.is_set():
            _cache_failed.set()
            warn(
                f"The compiled code in {folder!r} cannot be read or written"
                f" ({type(error).__name__}: {error}), so that solvers are compiled in memory:"
                " delete this folder, or set the environment variable NUMBA_CACHE_DIR to another.",
                RuntimeWarning,
            )
        return kernel


def _compile(kernel: Any, signature: tuple[str, ...]) -> Any:
    for types_of_arguments in signature:
        kernel.compile(types_of_arguments)
        kernel.disable_compile()
    return kernel


def _report() -> None:
    if not _reported.is_set():
        _reported.set()
        sys.stderr.write(
            "sklearn_rank compiles a solver for this machine, which takes some seconds; later"
            " calls find it ready.\n"
        )
