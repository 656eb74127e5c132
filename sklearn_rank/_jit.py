"""The one place that compiles: numba with the options that every kernel of the package shares.

Importing this module imports numba, so only kernel modules do it, and those are imported by the
first call that needs them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numba

__all__ = ["Kernel", "compiled"]

# Seconds of compiling after which the user is told, once.
PATIENCE = 2.0

_told = threading.Event()

# Threads that call a kernel for the first time wait for one of them to compile it.
_compiling = threading.RLock()


def compiled(signature: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function to machine code that releases the GIL.

    Parameters
    ----------
    signature : str or None, default=None
        Numba signature of a kernel that Python calls, which is compiled for it when it is first
        called. None is for a function that kernels call, compiled with them for the types that
        they pass.

    Returns
    -------
    callable
        Decorator. The machine code is kept on disk where numba finds a writable directory
        (beside the installed package, else in the user's cache), otherwise in memory only.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return _jit(function) if signature is None else Kernel(function, signature)

    return decorate


class Kernel:
    """A function that is compiled when it is first called.

    A file of kernels would otherwise compile all of them, where a fit needs one.

    Parameters
    ----------
    function : callable
        The function.
    signature : str
        Numba signature.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        update_wrapper(self, function)
        self._function, self._signature = function, signature
        self._machine_code: Callable[..., Any] | None = None

    def compile(self) -> Callable[..., Any]:
        """Compile the function, or load it from numba's cache, unless that is done.

        Returns
        -------
        callable
            The compiled function.
        """
        with _compiling:
            if self._machine_code is None:
                timer = threading.Timer(PATIENCE, _tell)
                timer.daemon = True
                timer.start()
                try:
                    self._machine_code = _jit(self._function, self._signature)
                finally:
                    timer.cancel()
            return self._machine_code

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        return (self._machine_code or self.compile())(*args)


def _jit(function: Callable[..., Any], *signature: str) -> Any:
    # Division by zero gives what IEEE arithmetic says, without a test at each division.
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(*signature, **options, cache=True)(function)
    except RuntimeError:  # numba: no locator available, i.e. nowhere to keep the cache
        return numba.njit(*signature, **options)(function)


def _tell() -> None:
    if not _told.is_set():
        _told.set()
        sys.stderr.write(
            "sklearn_rank compiles a solver for this machine, which takes some seconds; later"
            " calls find it ready.\n"
        )
