"""Plots of rankings, measures and confidence intervals. Matplotlib is imported on first use."""

from ._cumulative_gain import CumulativeGainDisplay
from ._decision_curve import DecisionCurveDisplay
from ._intervals import IntervalsDisplay
from ._query_difference import QueryDifferenceDisplay
from ._query_scores import QueryScoresDisplay
from ._roc_band import RocBandDisplay
from ._top_calibration import TopCalibrationDisplay
from ._top_of_list import TopOfListDisplay

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
