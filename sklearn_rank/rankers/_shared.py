"""Private names that other subpackages may import."""

from ._base import BipartiteRanker, Ranker, positive_or_second, restored_on_error
