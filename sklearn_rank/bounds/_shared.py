"""Names of this package that other packages of the library import, besides the public ones."""

from ._bound import kl_limits, score_limits, wilson_score_limits
from ._precision_at_top import TIES_IN_RANDOM_ORDER, TOP_THEOREM, top_precision_limits
from ._rank_statistics import SAME_TIES, SANDWICH_THEOREM

__all__ = [
    "SAME_TIES",
    "SANDWICH_THEOREM",
    "TIES_IN_RANDOM_ORDER",
    "TOP_THEOREM",
    "kl_limits",
    "score_limits",
    "top_precision_limits",
    "wilson_score_limits",
]
