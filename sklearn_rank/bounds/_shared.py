"""What other rooms need of this one beside its public names."""

from ._kl import kl_limits
from ._score_limits import score_limits

__all__ = ["kl_limits", "score_limits"]
