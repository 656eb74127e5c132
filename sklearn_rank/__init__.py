"""Train for the top of the list, score a ranking correctly, know how far to trust the score.

The estimators are here; everything else is one room further: :mod:`sklearn_rank.metrics` to
score a ranking, :mod:`sklearn_rank.datasets` to have something to rank and
:mod:`sklearn_rank.plotting` to see the top of the list.
"""

from . import datasets, exceptions, metrics, plotting, rankers, solvers
from ._version import __version__
from .rankers import AccuracyAtTopRanker

__all__ = [
    "AccuracyAtTopRanker",
    "__version__",
    "datasets",
    "exceptions",
    "metrics",
    "plotting",
    "rankers",
    "solvers",
]
