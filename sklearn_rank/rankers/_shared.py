"""Private names that other subpackages may import."""

from ._base import (
    TIED,
    Ranker,
    check_columns,
    forget,
    in_parallel,
    is_frame,
    mixed_bits,
    refuse_blocked,
    restored_on_error,
    row_keys,
    store_parameters,
    summed,
    warn_of_scales,
)
from ._linear_base import as_normalizer, list_curvatures, relative_alpha, ridge_solution
from ._list_base import (
    ListRanker,
    QueryRanker,
    calibrated_loss,
    check_gains,
    check_held_out_weights,
    checked_labels,
    held_out_value,
    weights_of,
    with_query_weight,
)
from ._two_classes import (
    BipartiteRanker,
    Fold,
    TwoClasses,
    fit_with_weights,
    folds_of_all_rows,
    log_odds,
    mass_of_top,
    of_taken_rows,
    positive_or_second,
    share_threshold,
)
