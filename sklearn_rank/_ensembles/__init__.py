"""Adapter and ensembles: rankers made of the estimators of other libraries."""

from ._ensemble import RankEnsemble
from ._ensemble_classifier import RankEnsembleClassifier
from ._group_adapter import GroupRankerAdapter
