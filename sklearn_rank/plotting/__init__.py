"""Plots of rankings, measures and confidence intervals. Matplotlib is imported on first use."""

from ._intervals import IntervalsDisplay, QueryDifferenceDisplay, QueryScoresDisplay
from ._list_curves import CumulativeGainDisplay, TopCalibrationDisplay, TopOfListDisplay
from ._threshold_curves import DecisionCurveDisplay, RocBandDisplay

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
