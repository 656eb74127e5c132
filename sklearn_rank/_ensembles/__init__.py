"""Other libraries: an adapter of their estimators, losses for them, and ensembles."""

from ._boosting import boosting_objective
from ._ensemble import RankEnsemble
from ._ensemble_classifier import RankEnsembleClassifier
from ._group_adapter import GroupRankerAdapter
