"""Confidence intervals, significance tests and sample sizes for ranking measures."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._compare import compare
from ._linear_rank import two_sample_rank_test
from ._metric_interval import metric_interval
from ._probabilities import (
    CalibrationAtTop,
    NetBenefitCurve,
    calibration_at_top,
    net_benefit_curve,
)
from ._results import Comparison, Interval
from ._roc import RocBand, roc_band

if TYPE_CHECKING:
    from .._labels_in_part._label_design import LabelDesign
    from .._labels_in_part._label_plan import LabelPlan, plan_labels
    from .._planning._confidence_sequence import ConfidenceSequence
    from .._planning._sample_size import SampleSizePlan, sample_size
    from .._promises._batch_limits import BatchLimits, batch_limits
    from .._promises._recall_certificate import RecallCertificate, recall_certificate

__all__ = [
    "BatchLimits",
    "CalibrationAtTop",
    "Comparison",
    "ConfidenceSequence",
    "Interval",
    "LabelDesign",
    "LabelPlan",
    "NetBenefitCurve",
    "RecallCertificate",
    "RocBand",
    "SampleSizePlan",
    "batch_limits",
    "calibration_at_top",
    "compare",
    "metric_interval",
    "net_benefit_curve",
    "plan_labels",
    "recall_certificate",
    "roc_band",
    "sample_size",
    "two_sample_rank_test",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        ".._labels_in_part._label_design": ["LabelDesign"],
        ".._labels_in_part._label_plan": ["LabelPlan", "plan_labels"],
        ".._planning._confidence_sequence": ["ConfidenceSequence"],
        ".._planning._sample_size": ["SampleSizePlan", "sample_size"],
        ".._promises._batch_limits": ["BatchLimits", "batch_limits"],
        ".._promises._recall_certificate": ["RecallCertificate", "recall_certificate"],
    },
)
