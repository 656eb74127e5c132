"""Rankers: estimators that follow scikit-learn's fit, predict and score."""

from ._accuracy_at_top import AccuracyAtTopRanker, AccuracyAtTopRankerCV
from ._ensemble import RankEnsemble
from ._ensemble_classifier import RankEnsembleClassifier
from ._group_adapter import GroupRankerAdapter
from ._label_rankers import OrderPreservingLabelRanker
from ._linear_rankers import OrderPreservingRanker
from ._one_problem import PNormPushRanker, RankStatisticRanker, TopPushRanker
from ._reweighted import RankBoostRanker, TopFocusedRanker

__all__ = [
    "AccuracyAtTopRanker",
    "AccuracyAtTopRankerCV",
    "GroupRankerAdapter",
    "OrderPreservingLabelRanker",
    "OrderPreservingRanker",
    "PNormPushRanker",
    "RankBoostRanker",
    "RankEnsemble",
    "RankEnsembleClassifier",
    "RankStatisticRanker",
    "TopFocusedRanker",
    "TopPushRanker",
]
