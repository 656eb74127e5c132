"""Contrasts between several scorers: which differences are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = ["read_contrasts"]


def read_contrasts(names: tuple[str, ...], contrasts: Any) -> dict[str, FloatArray]:
    """Find the coefficients of each contrast.

    Parameters
    ----------
    names : tuple of str
        Names of the scorers.
    contrasts : str, mapping, sequence or None
        None is all pairs; the name of a scorer compares every other one with it; a mapping gives
        the coefficients of each contrast by name; a sequence holds pairs of names, or
        coefficients without a name.

    Returns
    -------
    dict of str to ndarray of shape (n_scorers,)
        Coefficients, which sum to 0, by the name of the contrast.
    """
    unit = np.eye(len(names))
    if contrasts is None:
        pairs = combinations(range(len(names)), 2)
        return {f"{names[i]} - {names[j]}": unit[i] - unit[j] for i, j in pairs}
    if isinstance(contrasts, str):
        at = _index(contrasts, names, f"contrasts={contrasts!r}")
        others = (i for i in range(len(names)) if i != at)
        return {f"{names[i]} - {contrasts}": unit[i] - unit[at] for i in others}
    if isinstance(contrasts, Mapping):
        rows = {
            str(name): _coefficients(repr(name), row, names) for name, row in contrasts.items()
        }
    elif isinstance(contrasts, list | tuple | np.ndarray):
        listed = [_listed(i, one, names) for i, one in enumerate(contrasts)]
        rows = dict(listed)
        if len(rows) < len(listed):
            raise ValueError("contrasts lists a contrast twice: pass each once.")
    else:
        raise TypeError(
            f"contrasts={contrasts!r} must be None, the name of a scorer, a mapping of names to"
            " coefficients, or a list of pairs of names or of coefficients."
        )
    if not rows:
        raise ValueError("contrasts is empty: pass at least one contrast or None for all pairs.")
    return rows


def _listed(i: int, contrast: Any, names: tuple[str, ...]) -> tuple[str, FloatArray]:
    """Name and coefficients of a contrast that is a pair of names, or coefficients."""
    if isinstance(contrast, str):
        raise ValueError(
            f"contrasts[{i}]={contrast!r} is one name: pass a pair of names, or contrasts="
            f"{contrast!r} alone to compare all others with it."
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
            f"{what} is not among the scorers {list(names)}: pass one of their names."
        )
    return names.index(name)


def _coefficients(name: str, coefficients: Any, names: tuple[str, ...]) -> FloatArray:
    try:
        row = np.asarray(coefficients, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.array(np.nan)
    if row.shape != (len(names),) or not np.isfinite(row).all():
        raise ValueError(
            f"The contrast {name} must be {len(names)} finite numbers, one per scorer."
        )
    if not row.any() or abs(row.sum()) > 1e-9 * np.abs(row).sum():
        raise ValueError(
            f"The contrast {name} sums to {row.sum():g} over {len(names)} scorers: its"
            " coefficients must sum to 0 and not all be 0."
        )
    return row
