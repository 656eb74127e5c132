"""What is guaranteed: numbers in, bounds with their theorems out."""

from ._bound import Bound
from ._test_set import (
    auc_deviation_bound,
    auc_sample_size_bound,
    auc_test_bound,
    auc_variance_bound,
    error_rate_sample_size_bound,
    error_rate_test_bound,
)

__all__ = [
    "Bound",
    "auc_deviation_bound",
    "auc_sample_size_bound",
    "auc_test_bound",
    "auc_variance_bound",
    "error_rate_sample_size_bound",
    "error_rate_test_bound",
]
