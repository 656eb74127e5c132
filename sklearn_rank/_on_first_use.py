"""Names that a module offers, from outer rings that it imports when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_first_use(
    module: str, homes: dict[str, list[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) of a module, for names and where they are."""
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}.")
        home = f"sklearn_rank.{home_of[name]}"
        try:
            return getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            if error.name != home:
                raise
            raise ImportError(
                f"{name} is in {home}, which this installation lacks: install all of sklearn-rank."
            ) from error

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *home_of})

    return find, names
