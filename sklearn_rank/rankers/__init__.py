"""Rankers: estimators that follow scikit-learn's fit, predict and score."""

from ._accuracy_at_top import AccuracyAtTopRanker
from ._accuracy_at_top_cv import AccuracyAtTopRankerCV
from ._boosted import BoostedOrderPreservingRanker, BoostedTopRanker
from ._group_adapter import GroupRankerAdapter
from ._label_rankers import LabelRanker, OrderPreservingLabelRanker
from ._meta_rankers import OrderPreservingRankerCV, RankEnsemble
from ._order_preserving import OrderPreservingRanker
from ._pushes import PNormPushRanker, TopPushRanker
from ._rank_boost import RankBoostRanker
from ._rank_statistic import RankStatisticRanker
from ._support_vector import RankSVM, StructuralRanker
from ._top_focused import TopFocusedRanker

__all__ = [
    "AccuracyAtTopRanker",
    "AccuracyAtTopRankerCV",
    "BoostedOrderPreservingRanker",
    "BoostedTopRanker",
    "GroupRankerAdapter",
    "LabelRanker",
    "OrderPreservingLabelRanker",
    "OrderPreservingRanker",
    "OrderPreservingRankerCV",
    "PNormPushRanker",
    "RankBoostRanker",
    "RankEnsemble",
    "RankSVM",
    "RankStatisticRanker",
    "StructuralRanker",
    "TopFocusedRanker",
    "TopPushRanker",
]
