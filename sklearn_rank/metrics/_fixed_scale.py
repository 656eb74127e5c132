"""Check for measures whose scale depends on the highest grade of the data."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray
from ._measure import Measure


def check_fixed_scale(measure: Measure, labels: AnyArray) -> None:
    """Raise an error if each part of the data would be scored on a scale of its own."""
    if not measure.scaled_by_labels or labels.dtype.kind not in "iuf":
        return
    if np.count_nonzero(labels == 0) + np.count_nonzero(labels == 1) < labels.size:
        raise ValueError(
            f"{measure.name} has no max_grade, so its scale depends on the highest grade of the"
            f" rows that are scored ({labels.max():g} here), and folds are not comparable: pass"
            " max_grade=, the highest grade of the scale, to get_scorer or get_measure."
        )
