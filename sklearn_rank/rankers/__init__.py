"""Rankers: estimators that follow scikit-learn's fit, predict and score."""

from ._accuracy_at_top import AccuracyAtTopRanker
from ._accuracy_at_top_cv import AccuracyAtTopRankerCV
from ._boosted_order_preserving import BoostedOrderPreservingRanker
from ._boosted_top import BoostedTopRanker
from ._group_adapter import GroupRankerAdapter
from ._label_ranker import LabelRanker
from ._order_preserving import OrderPreservingRanker
from ._order_preserving_cv import OrderPreservingRankerCV
from ._order_preserving_labels import OrderPreservingLabelRanker
from ._pushes import PNormPushRanker, TopPushRanker
from ._rank_boost import RankBoostRanker
from ._rank_ensemble import RankEnsemble
from ._rank_statistic import RankStatisticRanker
from ._structural import StructuralRanker
from ._top_focused import TopFocusedRanker
from ._uncalibrated import RankSVM

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
