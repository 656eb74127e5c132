"""What other rooms may import of this one, beside what is public."""

from ._kl import kl_limits
from ._score_limits import score_limits, wilson_score_limits

__all__ = ["kl_limits", "score_limits", "wilson_score_limits"]
