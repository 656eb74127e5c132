"""Private names that other subpackages may import."""

from ._query_normalizer import METHODS

__all__ = ["METHODS"]
