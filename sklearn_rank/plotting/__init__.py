"""Plots of results: curves, intervals and differences. Matplotlib is imported on first use."""

from ._curves import CurveDisplay
from ._intervals import IntervalsDisplay, QueryDifferenceDisplay

__all__ = ["CurveDisplay", "IntervalsDisplay", "QueryDifferenceDisplay"]
