"""Warning if an estimator was trained for another share of the top than that of the measure."""

from __future__ import annotations

from math import isclose
from typing import Any

from .._arguments import is_number
from .._warn import warn
from ..exceptions import OtherTopWarning
from ._measure import Measure, short
from ._positive_class import estimators_within


def warn_of_other_top(measure: Measure, estimator: Any) -> None:
    """Warn if the share of the top differs between a measure and the training of an estimator."""
    if measure.in_name is None or measure.in_name.parameter != "tau":
        return
    share = measure.tau  # type: ignore[attr-defined] # the parameter in the name
    for one in estimators_within(estimator):
        # Beside pos_label it is a share of the top; elsewhere tau may be anything.
        trained: Any = getattr(one, "tau", None) if hasattr(one, "pos_label") else None
        if not is_number(trained):
            continue
        if not isclose(trained, share):
            warn(
                f"{type(one).__name__} was trained for the top {short(trained)} of the list"
                f" (tau={short(trained)}) and is scored by {measure.name}, at the top"
                f" {short(share)}: make the two shares equal, or filter OtherTopWarning if they"
                " differ on purpose.",
                OtherTopWarning,
            )
        return
