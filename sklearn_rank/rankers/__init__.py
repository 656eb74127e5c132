"""Rankers: estimators that follow scikit-learn's fit, predict and score."""

from ._accuracy_at_top import AccuracyAtTopRanker

__all__ = ["AccuracyAtTopRanker"]
