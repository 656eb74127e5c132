"""Names that other subpackages import from this one, besides the public names."""

from ._compare import joint_comparison
from ._contrasts import comparison_of_limits
from ._discordant import Pairs
from ._evidence import (
    LEAST_DRAWS,
    WeightMeaning,
    accumulated_list,
    check_groups,
    check_joined_groups,
    check_lists,
    check_weight_meaning,
    influence_of,
    named_scores,
    read_list,
    read_rows,
    refuse_fractions,
    refuse_one_class,
    refuse_unknown,
    whole_weights,
)
from ._joint import (
    Joint,
    Single,
    joint_influence,
    least_variance,
    mean_influences,
    never_certain_covariance,
)
from ._level import covariance_root, normal_draws
from ._limits import (
    BLOCK,
    MOST_STEPS,
    ROUNDED_STEP,
    Limits,
    LimitsAt,
    log_binomial,
    two_sided_quantile,
)
from ._linear_rank import dkw_lower_limits
from ._list_intervals import THRESHOLD_SHARE, extreme_hits, top_moments
from ._methods import (
    influence_moments,
    interval_of,
    method_of,
    refuse_no_variance,
    single,
    with_rank_bias,
)
from ._moments import Moments, TopMoments
from ._over_time import tables_over_time
from ._queries import (
    QueryValues,
    groups_of_queries,
    joint_means,
    on_same_queries,
    query_values_of,
    refuse_several_groups,
    sample_interval,
)
from ._results import Question
from ._roc import AUCMoments, auc_parts, expected_area
from ._simultaneous import joint_of_rankers, read_rankers, simultaneous_table
