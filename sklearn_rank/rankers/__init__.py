"""Rankers: estimators that follow scikit-learn's fit, predict and score."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._accuracy_at_top import AccuracyAtTopRanker, AccuracyAtTopRankerCV
from ._linear_rankers import OrderPreservingRanker
from ._one_problem import PNormPushRanker, RankStatisticRanker, TopPushRanker
from ._reweighted import RankBoostRanker, TopFocusedRanker

if TYPE_CHECKING:
    from .._ensembles import GroupRankerAdapter, RankEnsemble, RankEnsembleClassifier
    from .._label_rankings import OrderPreservingLabelRanker

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

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "_ensembles": ["GroupRankerAdapter", "RankEnsemble", "RankEnsembleClassifier"],
        "_label_rankings": ["OrderPreservingLabelRanker"],
    },
)
