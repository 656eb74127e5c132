"""Plots of rankings, measures and confidence intervals. Matplotlib is imported on first use."""

from ._curves import (
    CumulativeGainDisplay,
    DecisionCurveDisplay,
    RocBandDisplay,
    TopCalibrationDisplay,
    TopOfListDisplay,
)
from ._intervals import IntervalsDisplay, QueryDifferenceDisplay, QueryScoresDisplay

__all__ = [
    "CumulativeGainDisplay",
    "DecisionCurveDisplay",
    "IntervalsDisplay",
    "QueryDifferenceDisplay",
    "QueryScoresDisplay",
    "RocBandDisplay",
    "TopCalibrationDisplay",
    "TopOfListDisplay",
]
