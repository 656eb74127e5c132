"""What rooms above need of the rankers beside what users do."""

from ._base import BipartiteRanker, Ranker
from ._fitting import restored_on_error

__all__ = ["BipartiteRanker", "Ranker", "restored_on_error"]
