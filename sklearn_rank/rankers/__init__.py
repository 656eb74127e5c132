"""Rankers: estimators that follow scikit-learn's fit, predict and score."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._accuracy_at_top import AccuracyAtTopRanker, AccuracyAtTopRankerCV
from ._linear_rankers import OrderPreservingRanker
from ._one_problem import PNormPushRanker, RankStatisticRanker, TopPushRanker
from ._reweighted import RankBoostRanker, TopFocusedRanker

if TYPE_CHECKING:
    from .._ensembles._ensemble import RankEnsemble
    from .._ensembles._ensemble_classifier import RankEnsembleClassifier
    from .._ensembles._group_adapter import GroupRankerAdapter
    from .._label_rankings._label_rankers import OrderPreservingLabelRanker

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
        ".._ensembles._ensemble": ["RankEnsemble"],
        ".._ensembles._ensemble_classifier": ["RankEnsembleClassifier"],
        ".._ensembles._group_adapter": ["GroupRankerAdapter"],
        ".._label_rankings._label_rankers": ["OrderPreservingLabelRanker"],
    },
)
