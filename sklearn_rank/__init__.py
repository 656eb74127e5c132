"""Train for the top of the list, score a ranking correctly, know how far to trust the score.

The estimators are here; everything else is one room further: :mod:`sklearn_rank.metrics` to
score a ranking, :mod:`sklearn_rank.losses` and :mod:`sklearn_rank.calibration` for what a ranker
minimises and what follows from it, :mod:`sklearn_rank.clicks` for what users saw,
:mod:`sklearn_rank.inference` and :mod:`sklearn_rank.bounds` for how far to trust a score,
:mod:`sklearn_rank.model_selection` to choose a model by that, :mod:`sklearn_rank.preprocessing`
for features per query, :mod:`sklearn_rank.datasets` to have
something to rank and :mod:`sklearn_rank.plotting` to see the top of the list.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import (
        bounds,
        calibration,
        clicks,
        datasets,
        exceptions,
        inference,
        losses,
        metrics,
        model_selection,
        plotting,
        preprocessing,
        rankers,
    )
    from .rankers import (
        AccuracyAtTopRanker,
        AccuracyAtTopRankerCV,
        BoostedOrderPreservingRanker,
        BoostedTopRanker,
        GroupRankerAdapter,
        LabelRanker,
        OrderPreservingLabelRanker,
        OrderPreservingRanker,
        OrderPreservingRankerCV,
        PNormPushRanker,
        RankBoostRanker,
        RankEnsemble,
        RankStatisticRanker,
        RankSVM,
        StructuralRanker,
        TopFocusedRanker,
        TopPushRanker,
    )

__all__ = [
    "AccuracyAtTopRanker",
    "AccuracyAtTopRankerCV",
    "BoostedOrderPreservingRanker",
    "BoostedTopRanker",
    "GroupRankerAdapter",
    "LabelRanker",
    "OrderPreservingLabelRanker",
    "OrderPreservingRanker",
    "OrderPreservingRankerCV",
    "PNormPushRanker",
    "RankBoostRanker",
    "RankEnsemble",
    "RankSVM",
    "RankStatisticRanker",
    "StructuralRanker",
    "TopFocusedRanker",
    "TopPushRanker",
    "__version__",
    "bounds",
    "calibration",
    "clicks",
    "datasets",
    "exceptions",
    "inference",
    "losses",
    "metrics",
    "model_selection",
    "plotting",
    "preprocessing",
    "rankers",
]


def __getattr__(name: str) -> Any:
    # Rooms are imported when they are first used: all of them take as long as scikit-learn.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
    if name[0].isupper():
        return getattr(import_module(".rankers", __name__), name)
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
