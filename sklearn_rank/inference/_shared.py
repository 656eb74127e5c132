"""Names that other subpackages import from this one, besides the public names."""

from .._labels_in_part._label_design import (
    Design,
    check_fitted_proxy,
    check_labels_in_part,
    check_partial_labels,
)
from .._labels_in_part._score_path import limits_of_population, score_path_of_parts
from ._compare import covariance_root, joint_comparison, normal_draws
from ._evidence import check_groups, refuse_one_class, whole_weights
from ._joint import (
    Joint,
    joint_influence,
    least_variance,
    mean_influences,
    never_certain_covariance,
)
from ._limits import midp_limits, two_sided_quantile
from ._linear_rank import dkw_lower_limits
from ._list_intervals import list_interval, top_limits
from ._queries import QueryValues, query_values_of, sample_interval
from ._results import Question
from ._roc import AUCMoments, auc_score_limits, design_effect, sample_moments, unseen_effect
