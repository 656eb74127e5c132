"""Preprocessing for rankers: scaling of features within queries, orders of labels."""

from ._label_grades import label_grades
from ._query_normalizer import QueryNormalizer

__all__ = ["QueryNormalizer", "label_grades"]
