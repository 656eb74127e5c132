"""What other rooms may import of this one, beside what is public."""

from ._base import BipartiteRanker, Ranker
from ._fitting import restored_on_error

__all__ = ["BipartiteRanker", "Ranker", "restored_on_error"]
