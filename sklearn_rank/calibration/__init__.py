"""Calibration of losses for measures: utilities, regret bounds, search for counterexamples."""

from ._regret import discount_norm, list_regret_bound, regret_bound, utility
from ._search import CalibrationCheck, check_calibration

__all__ = [
    "CalibrationCheck",
    "check_calibration",
    "discount_norm",
    "list_regret_bound",
    "regret_bound",
    "utility",
]
