"""Data: bundled real sets with their origin and licence, loaders, and generators."""

from ._ionosphere import load_ionosphere
from ._letor import load_letor
from ._subset_ranking import make_subset_ranking

__all__ = ["load_ionosphere", "load_letor", "make_subset_ranking"]
