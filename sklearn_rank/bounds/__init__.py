"""What is guaranteed: numbers in, bounds with their theorems out."""

from ._bound import Bound
from ._finite_class import (
    auc_finite_class_bound,
    auc_finite_class_deviation_bound,
    auc_finite_class_sample_size_bound,
    auc_fold_mean_bound,
)
from ._margin import (
    accuracy_at_top_margin_bound,
    auc_margin_bound,
    auc_margin_loss,
    margin_loss,
)
from ._rank_statistics import (
    linear_rank_bound,
    linear_rank_sandwich_bound,
    linear_rank_selection_bound,
    plug_in_rank_bound,
    pooled_distribution_bound,
)
from ._shatter import (
    log_rank_shatter_coefficient,
    log_shatter_coefficient,
    rank_matrix_count,
)
from ._test_set import (
    auc_deviation_bound,
    auc_sample_size_bound,
    auc_test_bound,
    auc_variance_bound,
    error_rate_sample_size_bound,
    error_rate_test_bound,
)
from ._uniform import (
    auc_uniform_bound,
    auc_uniform_deviation_bound,
    auc_uniform_sample_size_bound,
)

__all__ = [
    "Bound",
    "accuracy_at_top_margin_bound",
    "auc_deviation_bound",
    "auc_finite_class_bound",
    "auc_finite_class_deviation_bound",
    "auc_finite_class_sample_size_bound",
    "auc_fold_mean_bound",
    "auc_margin_bound",
    "auc_margin_loss",
    "auc_sample_size_bound",
    "auc_test_bound",
    "auc_uniform_bound",
    "auc_uniform_deviation_bound",
    "auc_uniform_sample_size_bound",
    "auc_variance_bound",
    "error_rate_sample_size_bound",
    "error_rate_test_bound",
    "linear_rank_bound",
    "linear_rank_sandwich_bound",
    "linear_rank_selection_bound",
    "log_rank_shatter_coefficient",
    "log_shatter_coefficient",
    "margin_loss",
    "plug_in_rank_bound",
    "pooled_distribution_bound",
    "rank_matrix_count",
]
