"""Train for the top of the list, score a ranking correctly, know how far to trust the score.

The estimators are here; everything else is one room further: :mod:`sklearn_rank.metrics` to
score a ranking, :mod:`sklearn_rank.losses` and :mod:`sklearn_rank.calibration` for what a ranker
minimises and what follows from it, :mod:`sklearn_rank.inference` and :mod:`sklearn_rank.bounds`
for how far to trust a score, :mod:`sklearn_rank.model_selection` to choose a model by that,
:mod:`sklearn_rank.datasets` to have something to rank and :mod:`sklearn_rank.plotting` to see the
top of the list.
"""

from . import (
    bounds,
    calibration,
    datasets,
    exceptions,
    inference,
    losses,
    metrics,
    model_selection,
    plotting,
    rankers,
)
from ._version import __version__
from .rankers import AccuracyAtTopRanker, OrderPreservingRanker, RankSVM

__all__ = [
    "AccuracyAtTopRanker",
    "OrderPreservingRanker",
    "RankSVM",
    "__version__",
    "bounds",
    "calibration",
    "datasets",
    "exceptions",
    "inference",
    "losses",
    "metrics",
    "model_selection",
    "plotting",
    "rankers",
]
