"""The command line, ``sklearn-rank`` or ``python -m sklearn_rank``."""

from ._main import main

__all__ = ["main"]
