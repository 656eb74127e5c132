"""Confidence intervals, significance tests and sample sizes for ranking measures."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._compare import compare
from ._curve import curve
from ._intervals import Intervals
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
    from .._labels_in_part import LabelDesign, LabelPlan, plan_labels
    from .._planning import ConfidenceSequence, SampleSizePlan, sample_size
    from .._promises import BatchLimits, RecallCertificate, batch_limits, recall_certificate

__all__ = [
    "BatchLimits",
    "CalibrationAtTop",
    "Comparison",
    "ConfidenceSequence",
    "Interval",
    "Intervals",
    "LabelDesign",
    "LabelPlan",
    "NetBenefitCurve",
    "RecallCertificate",
    "RocBand",
    "SampleSizePlan",
    "batch_limits",
    "calibration_at_top",
    "compare",
    "curve",
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
        "_labels_in_part": ["LabelDesign", "LabelPlan", "plan_labels"],
        "_planning": ["ConfidenceSequence", "SampleSizePlan", "sample_size"],
        "_promises": ["BatchLimits", "RecallCertificate", "batch_limits", "recall_certificate"],
    },
)
