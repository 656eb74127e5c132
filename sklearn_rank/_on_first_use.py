"""Names that a package offers, from modules that it imports when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_first_use(
    package: str, homes: dict[str, list[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) of a package, of the names of each module."""
    home_of = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}.")
        return getattr(import_module(home_of[name], package), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, names
