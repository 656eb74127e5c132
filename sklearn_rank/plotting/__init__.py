"""Plots of rankings, measures and confidence intervals. Matplotlib is imported on first use."""

from ._curves import (
    CumulativeGainDisplay,
    DecisionCurveDisplay,
    RocBandDisplay,
    TopCalibrationDisplay,
    TopOfListDisplay,
)
from ._guarantee import GuaranteeDisplay
from ._intervals import IntervalsDisplay, QueryDifferenceDisplay, QueryScoresDisplay

__all__ = [
    "CumulativeGainDisplay",
    "DecisionCurveDisplay",
    "GuaranteeDisplay",
    "IntervalsDisplay",
    "QueryDifferenceDisplay",
    "QueryScoresDisplay",
    "RocBandDisplay",
    "TopCalibrationDisplay",
    "TopOfListDisplay",
]
