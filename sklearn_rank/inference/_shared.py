"""Names that other subpackages import from this one, besides the public names."""

from ._auc_limits import design_effect
from ._auc_moments import AUCMoments, sample_moments
from ._auc_score_limits import auc_score_limits, unseen_effect
from ._comparison import Question, joint_comparison
from ._exact_limits import midp_limits, safe_limits
from ._groups import Groups, check_groups
from ._joint import (
    JointEstimate,
    joint_influence,
    joint_query_means,
    least_variance,
    never_certain_covariance,
)
from ._list_interval import list_interval
from ._max_t import correlation_root, covariance_root, normal_draws
from ._normal_test import two_sided_quantile
from ._query_samples import ComparisonOptions, IntervalOptions, compared_samples, sample_interval
from ._query_values import QueryValues, query_differences, query_values_of
from ._rank_dkw import dkw_lower_limits
from ._systems import named_scores
from ._top_limits import share_at_threshold, top_limits
from ._two_classes import check_two_classes

__all__ = [
    "AUCMoments",
    "ComparisonOptions",
    "Groups",
    "IntervalOptions",
    "Question",
    "JointEstimate",
    "QueryValues",
    "auc_score_limits",
    "check_groups",
    "check_two_classes",
    "compared_samples",
    "correlation_root",
    "covariance_root",
    "design_effect",
    "dkw_lower_limits",
    "joint_comparison",
    "joint_influence",
    "joint_query_means",
    "least_variance",
    "list_interval",
    "midp_limits",
    "named_scores",
    "never_certain_covariance",
    "normal_draws",
    "query_differences",
    "query_values_of",
    "safe_limits",
    "sample_interval",
    "sample_moments",
    "share_at_threshold",
    "top_limits",
    "two_sided_quantile",
    "unseen_effect",
]
