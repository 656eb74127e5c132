"""Names of this package that other packages of the library import, besides the public ones."""

from ._auc import n_terms
from ._bound import (
    NEGLIGIBLE,
    OURS,
    TINY,
    bisect,
    kl_limits,
    last_of,
    least_size,
    mean_limits,
    wilson_score_limits,
)
from ._cutoffs import (
    chance_of_amounts,
    chance_of_hits,
    precision_cutoffs,
    sums_of_earlier,
)
from ._rank_statistics import SAME_TIES, TIES_IN_RANDOM_ORDER, top_precision_limits
