"""Labels in part: designs and plans of labels, intervals from labels known of some rows."""

from ._judged_queries import BOUNDED, JudgedQueries, limits_of_bounds
from ._label_bounds import bounds_interval, is_bounded, label_bounds, target_in_part
from ._label_design import (
    Design,
    LabelDesign,
    check_fitted_proxy,
    check_labels_in_part,
    check_partial_labels,
    random_rows,
    rows_at_random,
)
from ._label_plan import LabelPlan, plan_labels
from ._score_path import limits_of_population, score_interval, score_limits, score_path_of_parts
