"""Calibration of losses for measures: utilities, regret bounds, search for counterexamples."""

from ._calibration import (
    CalibrationCheck,
    check_calibration,
    discount_norm,
    list_regret_bound,
    regret_bound,
    utility,
)

__all__ = [
    "CalibrationCheck",
    "check_calibration",
    "discount_norm",
    "list_regret_bound",
    "regret_bound",
    "utility",
]
