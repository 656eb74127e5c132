"""Confidence intervals, significance tests and sample sizes for ranking measures."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._by_query import QueryDifferences
from ._compare import compare
from ._curve import curve
from ._intervals import Intervals
from ._linear_rank import two_sample_rank_test
from ._metric_interval import metric_interval
from ._results import Comparison, Interval

if TYPE_CHECKING:
    from .._labels_in_part import LabelDesign, LabelPlan, plan_labels
    from .._planning import ConfidenceSequence, SampleSizePlan, sample_size
    from .._promises import BatchLimits, RecallCertificate, batch_limits, recall_certificate

__all__ = [
    "BatchLimits",
    "Comparison",
    "ConfidenceSequence",
    "Interval",
    "Intervals",
    "LabelDesign",
    "LabelPlan",
    "QueryDifferences",
    "RecallCertificate",
    "SampleSizePlan",
    "batch_limits",
    "compare",
    "curve",
    "metric_interval",
    "plan_labels",
    "recall_certificate",
    "sample_size",
    "two_sample_rank_test",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "_labels_in_part": ["LabelDesign", "LabelPlan", "plan_labels"],
        "_planning": ["ConfidenceSequence", "SampleSizePlan", "sample_size"],
        "_promises": ["BatchLimits", "RecallCertificate", "batch_limits", "recall_certificate"],
    },
)
