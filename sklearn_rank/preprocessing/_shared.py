"""What other rooms may import of this one, beside what is public."""

from ._query_normalizer import METHODS

__all__ = ["METHODS"]
