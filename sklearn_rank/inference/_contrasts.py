"""Contrasts between several scorers: which differences are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = ["read_contrasts"]


def read_contrasts(
    names: tuple[str, ...], contrasts: str | Mapping[str, Any] | None
) -> dict[str, FloatArray]:
    """Find the coefficients of each contrast.

    Parameters
    ----------
    names : tuple of str
        Names of the scorers.
    contrasts : str, mapping or None
        None is all pairs; the name of a scorer compares every other one with it; a mapping gives
        the coefficients of each contrast by name.

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
        if contrasts not in names:
            raise ValueError(
                f"contrasts={contrasts!r} is not among the scorers {list(names)}: pass one of"
                " their names."
            )
        at = names.index(contrasts)
        others = (i for i in range(len(names)) if i != at)
        return {f"{names[i]} - {contrasts}": unit[i] - unit[at] for i in others}
    rows = {}
    for name, coefficients in contrasts.items():
        row = np.asarray(coefficients, dtype=np.float64)
        if row.shape != (len(names),) or not np.isfinite(row).all():
            raise ValueError(
                f"The contrast {name!r} must be {len(names)} finite numbers, one per scorer."
            )
        if not row.any() or abs(row.sum()) > 1e-9 * np.abs(row).sum():
            raise ValueError(
                f"The contrast {name!r} sums to {row.sum():g} over {len(names)} scorers: its"
                " coefficients must sum to 0 and not all be 0."
            )
        rows[str(name)] = row
    if not rows:
        raise ValueError("contrasts is empty: pass at least one contrast or None for all pairs.")
    return rows
