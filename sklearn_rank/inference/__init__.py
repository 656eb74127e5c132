"""Confidence intervals, significance tests and sample sizes for ranking measures."""

from ._batch_limits import BatchLimits, batch_limits
from ._compare import compare
from ._confidence_sequence import ConfidenceSequence
from ._label_design import LabelDesign
from ._label_plan import LabelPlan, plan_labels
from ._linear_rank import two_sample_rank_test
from ._metric_interval import metric_interval
from ._probabilities import (
    CalibrationAtTop,
    NetBenefitCurve,
    calibration_at_top,
    net_benefit_curve,
)
from ._recall_certificate import RecallCertificate, recall_certificate
from ._results import Comparison, Interval
from ._roc import RocBand, roc_band
from ._sample_size import SampleSizePlan, sample_size

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
