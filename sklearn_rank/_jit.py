"""The one place that compiles: numba with the options that every kernel of the package shares.

Importing this module imports numba, so only kernel modules do it, and those are imported by the
first fit that needs them, in the parent process, before any worker starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["compiled"]


def compiled(signature: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function to machine code that releases the GIL.

    Parameters
    ----------
    signature : str or None, default=None
        Numba signature to compile for at once. None compiles on the first call from another
        kernel, for the types that it passes.

    Returns
    -------
    callable
        Decorator. The machine code is kept on disk where numba finds a writable directory
        (beside the installed package, else in the user's cache), otherwise in memory only.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        arguments = () if signature is None else (signature,)
        # Division by zero gives what IEEE arithmetic says, without a test at each division.
        options = {"nogil": True, "error_model": "numpy"}
        try:
            return numba.njit(*arguments, **options, cache=True)(function)
        except RuntimeError:  # numba: no locator available, i.e. nowhere to keep the cache
            return numba.njit(*arguments, **options)(function)

    return decorate
