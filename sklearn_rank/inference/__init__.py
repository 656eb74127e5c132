"""Confidence intervals, significance tests and sample sizes for ranking measures."""

from ._accumulator_interval import accumulator_interval
from ._auc import auc_interval
from ._calibration_at_top import CalibrationAtTop, calibration_at_top
from ._compare import compare
from ._confidence_sequence import ConfidenceSequence
from ._holm import holm_adjust
from ._influence import linear_rank_influence
from ._linear_rank import linear_rank_interval
from ._metric_interval import metric_interval
from ._net_benefit import NetBenefitCurve, net_benefit_curve
from ._paired import paired_rank_test, unpaired_rank_test
from ._partial_auc import partial_auc_influence, partial_auc_interval
from ._plan_results import SampleSizeCurve, SampleSizePlan
from ._queries import paired_query_test
from ._rank_results import RankInterval
from ._results import Comparison, Interval
from ._roc_band import RocBand, roc_band
from ._sample_size import sample_size
from ._swap import paired_swap_test
from ._top import precision_at_top_interval
from ._two_sample import two_sample_rank_test

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
