"""Contrasts between several rankers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray

__all__ = ["Contrasts", "read_contrasts"]


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Contrasts between scorers."""

    names: tuple[str, ...]
    matrix: FloatArray  # (n_contrasts, n_scorers): Their coefficients, which sum to 0

    def pairs(self, scorers: tuple[str, ...]) -> list[tuple[str, str]] | None:
        """Find the two scorers of each contrast."""
        plain = np.count_nonzero(self.matrix, axis=1) == 2
        plain &= np.abs(self.matrix).max(axis=1) == 1.0
        if not plain.all():
            return None
        ends = zip(self.matrix.argmax(axis=1), self.matrix.argmin(axis=1), strict=True)
        return [(scorers[i], scorers[j]) for i, j in ends]


def read_contrasts(names: tuple[str, ...], contrasts: Any) -> Contrasts:
    """Find the coefficients of each contrast. Their names and coefficients."""
    if contrasts is None:
        return _of_pairs(names, *np.triu_indices(len(names), 1))
    if isinstance(contrasts, str):
        at = _index(contrasts, names, f"contrasts={contrasts!r}")
        others = np.delete(np.arange(len(names)), at)
        return _of_pairs(names, others, np.full(len(others), at))
    if isinstance(contrasts, Mapping):
        rows = {
            str(name): _coefficients(repr(name), row, names) for name, row in contrasts.items()
        }
    elif isinstance(contrasts, list | tuple | np.ndarray):
        listed = [_listed(i, one, names) for i, one in enumerate(contrasts)]
        rows = dict(listed)
        if len(rows) < len(listed):
            raise ValueError("contrasts contains a contrast twice: pass each contrast once.")
    else:
        raise TypeError(
            f"contrasts={contrasts!r} must be None, the name of a ranker, a mapping of names to"
            " coefficients, or a list of pairs of names or of coefficients."
        )
    if not rows:
        raise ValueError("contrasts is empty: pass at least one contrast or None for all pairs.")
    return Contrasts(tuple(rows), np.stack(list(rows.values())))


def _of_pairs(names: tuple[str, ...], first: IntArray, second: IntArray) -> Contrasts:
    """Differences of two scorers each."""
    matrix = np.zeros((len(first), len(names)))
    each = np.arange(len(first))
    matrix[each, first], matrix[each, second] = 1.0, -1.0
    ends = zip(first.tolist(), second.tolist(), strict=True)
    return Contrasts(tuple(f"{names[i]} - {names[j]}" for i, j in ends), matrix)


def _listed(i: int, contrast: Any, names: tuple[str, ...]) -> tuple[str, FloatArray]:
    """Name and coefficients of a contrast that is a pair of names, or coefficients."""
    if isinstance(contrast, str):
        raise ValueError(
            f"contrasts[{i}]={contrast!r} is a single name: pass a pair of names, or"
            f" contrasts={contrast!r} to compare all others with it."
        )
    if isinstance(contrast, list | tuple) and any(isinstance(one, str) for one in contrast):
        at = [_index(one, names, f"contrasts[{i}] names {one!r}, which") for one in contrast]
        if len(at) != 2 or at[0] == at[1]:
            raise ValueError(
                f"contrasts[{i}]={contrast!r} must be two different names, or {len(names)}"
                " coefficients."
            )
        row = np.zeros(len(names))
        row[at] = (1.0, -1.0)
    else:
        row = _coefficients(f"contrasts[{i}]", contrast, names)
    return _title(row, names), row


def _title(row: FloatArray, names: tuple[str, ...]) -> str:
    """Name a contrast by its coefficients, the positive ones first."""
    text = ""
    for sign, word in ((1.0, " + "), (-1.0, " - ")):
        for value, name in zip(row, names, strict=True):
            if value * sign > 0.0:
                size = "" if abs(value) == 1.0 else f"{abs(value):g} "
                text += f"{word if text else ''}{size}{name}"
    return text


def _index(name: Any, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise ValueError(
            f"{what} is not among the rankers {list(names)}: pass one of these names."
        )
    return names.index(name)


def _coefficients(name: str, coefficients: Any, names: tuple[str, ...]) -> FloatArray:
    try:
        row = np.asarray(coefficients, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.array(np.nan)
    if row.shape != (len(names),) or not np.isfinite(row).all():
        raise ValueError(
            f"The contrast {name} must be {len(names)} finite numbers, one per ranker."
        )
    if not row.any() or abs(row.sum()) > 1e-9 * np.abs(row).sum():
        raise ValueError(
            f"The contrast {name} sums to {row.sum():g} over {len(names)} rankers: its"
            " coefficients must sum to 0 and must not all be 0."
        )
    return row
