"""Choosing a model by what can be guaranteed: bounds as scores, searches, nested classes."""

from ._bound_scorer import BoundScorer, make_bound_scorer
from ._bound_search import BoundSearchCV
from ._report import SelectionReport
from ._structural import StructuralRankSelection

__all__ = [
    "BoundScorer",
    "BoundSearchCV",
    "SelectionReport",
    "StructuralRankSelection",
    "make_bound_scorer",
]
