"""Calibration of losses for measures: utilities, regret bounds, search for counterexamples."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._regret import discount_norm, list_regret_bound, regret_bound, utility

if TYPE_CHECKING:
    from .._counterexamples import CalibrationCheck, check_calibration

__all__ = [
    "CalibrationCheck",
    "check_calibration",
    "discount_norm",
    "list_regret_bound",
    "regret_bound",
    "utility",
]

__getattr__, __dir__ = on_first_use(
    __name__, {"_counterexamples": ["CalibrationCheck", "check_calibration"]}
)
