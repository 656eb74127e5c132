"""Results whose printed form is what a session and a notebook show."""

from __future__ import annotations

from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

__all__ = ["Printed"]


class Printed:
    """Mixin of frozen dataclasses, made with ``repr=False``: what ``str`` says is what is shown.

    Numbers of NumPy in its fields become Python's, in tuples and dicts too.
    """

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]
            given = getattr(self, one.name)
            if (plain := _plain(given)) is not given:
                object.__setattr__(self, one.name, plain)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _plain(value: Any) -> Any:
    """Python's number for one of NumPy; other values as they are."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is tuple and any(isinstance(one, np.generic | tuple) for one in value):
        return tuple(_plain(one) for one in value)
    if type(value) is dict and any(isinstance(one, np.generic | tuple) for one in value.values()):
        return {name: _plain(one) for name, one in value.items()}
    return value
