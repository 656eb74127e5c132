"""Confidence intervals, significance tests and sample sizes for ranking measures."""

from ._compare import compare, paired_rank_test, paired_swap_test, unpaired_rank_test
from ._confidence_sequence import ConfidenceSequence
from ._limits import holm_adjust
from ._linear_rank import (
    RankInterval,
    linear_rank_influence,
    linear_rank_interval,
    two_sample_rank_test,
)
from ._list_intervals import precision_at_top_interval
from ._metric_interval import accumulator_interval, metric_interval
from ._probabilities import (
    CalibrationAtTop,
    NetBenefitCurve,
    calibration_at_top,
    net_benefit_curve,
)
from ._queries import paired_query_test
from ._results import Comparison, Interval
from ._roc import RocBand, auc_interval, partial_auc_influence, partial_auc_interval, roc_band
from ._sample_size import SampleSizeCurve, SampleSizePlan, sample_size

__all__ = [
    "CalibrationAtTop",
    "Comparison",
    "ConfidenceSequence",
    "Interval",
    "NetBenefitCurve",
    "RankInterval",
    "RocBand",
    "SampleSizeCurve",
    "SampleSizePlan",
    "accumulator_interval",
    "auc_interval",
    "calibration_at_top",
    "compare",
    "holm_adjust",
    "linear_rank_influence",
    "linear_rank_interval",
    "metric_interval",
    "net_benefit_curve",
    "paired_query_test",
    "paired_rank_test",
    "paired_swap_test",
    "partial_auc_influence",
    "partial_auc_interval",
    "precision_at_top_interval",
    "roc_band",
    "sample_size",
    "two_sample_rank_test",
    "unpaired_rank_test",
]
