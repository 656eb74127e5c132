"""Finite-sample bounds for ranking measures, each with its theorem and assumptions."""

from ._auc import (
    FunctionClass,
    auc_bound,
    auc_deviation_bound,
    auc_fold_mean_bound,
    auc_sample_size_bound,
    auc_variance_bound,
)
from ._bound import Bound
from ._rank_statistics import (
    accuracy_at_top_margin_bound,
    auc_margin_bound,
    linear_rank_bound,
    linear_rank_sandwich_bound,
    linear_rank_selection_bound,
    plug_in_rank_bound,
    pooled_distribution_bound,
    precision_at_top_bound,
)

__all__ = [
    "Bound",
    "FunctionClass",
    "accuracy_at_top_margin_bound",
    "auc_bound",
    "auc_deviation_bound",
    "auc_fold_mean_bound",
    "auc_margin_bound",
    "auc_sample_size_bound",
    "auc_variance_bound",
    "linear_rank_bound",
    "linear_rank_sandwich_bound",
    "linear_rank_selection_bound",
    "plug_in_rank_bound",
    "pooled_distribution_bound",
    "precision_at_top_bound",
]
