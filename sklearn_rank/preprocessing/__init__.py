"""Features of the rows of queries, put on one scale within each query."""

from ._query_normalizer import QueryNormalizer

__all__ = ["QueryNormalizer"]
