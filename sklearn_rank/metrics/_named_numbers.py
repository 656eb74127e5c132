"""Numbers in the names of measures, such as 10 in "ndcg@10"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class NamedNumber:
    """The parameter that a name sets by a number; None if the number sets several."""

    parameter: str | None
    read: Callable[[str], Any]  # A ValueError means that the text is not such a number
    example: str
    optional: bool = False

    def settings(self, text: str) -> dict[str, Any]:
        """Parameters that the number sets, by name."""
        value = self.read(text)
        return value if self.parameter is None else {self.parameter: value}


def position(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise ValueError(text)
    return int(text)


def number(text: str) -> float:
    # float() alone also reads "nan", " 0.1" and "1_0".
    if not re.fullmatch(r"[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", text):
        raise ValueError(text)
    value = float(text)
    if not 0 < value < inf:
        raise ValueError(text)
    return value


def share(text: str) -> float:
    value = number(text)
    if value >= 1:
        raise ValueError(text)
    return value


def exponent(text: str) -> float:
    return inf if text == "inf" else number(text)


def small_rate(text: str) -> float:
    return 0.0 if text == "0" else share(text)


def large_rate(text: str) -> float:
    return 1.0 if text == "1" else share(text)


def limits(text: str) -> dict[str, float]:
    """Limits of the partial AUC: fpr0.1, tpr0.8, or both in this order."""
    found = re.fullmatch(r"(?:fpr([0-9.e+-]+))?(?:tpr([0-9.e+-]+))?", text)
    if found is None or not text:
        raise ValueError(text)
    limits = zip(("max_fpr", "min_tpr"), found.groups(), strict=True)
    return {name: share(said) for name, said in limits if said is not None}
