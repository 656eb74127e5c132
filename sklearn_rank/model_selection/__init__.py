"""Model selection for ranking: intervals, searches and splitters that keep queries whole."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._back_test import BackTest, back_test
from ._bound_search import BoundSearchCV, make_bound_scorer
from ._candidates import SelectionReport
from ._cross_val import CrossValInterval, cross_val_compare, cross_val_interval
from ._period_split import PeriodSplit
from ._query_splitters import QueryKFold, query_train_test_split

if TYPE_CHECKING:
    from .._promises import ThresholdReport, TopThresholdClassifier

__all__ = [
    "BackTest",
    "BoundSearchCV",
    "CrossValInterval",
    "PeriodSplit",
    "QueryKFold",
    "SelectionReport",
    "ThresholdReport",
    "TopThresholdClassifier",
    "back_test",
    "cross_val_compare",
    "cross_val_interval",
    "make_bound_scorer",
    "query_train_test_split",
]

__getattr__, __dir__ = on_first_use(
    __name__, {"_promises": ["ThresholdReport", "TopThresholdClassifier"]}
)
