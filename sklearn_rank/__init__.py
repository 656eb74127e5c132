"""Learning to rank with the scikit-learn API: rankers, ranking metrics and their uncertainty.

Import estimators from ``sklearn_rank`` and functions from its modules:

- :mod:`sklearn_rank.metrics`: ranking metrics and scorers,
- :mod:`sklearn_rank.inference`: confidence intervals and tests,
- :mod:`sklearn_rank.bounds`: finite-sample bounds,
- :mod:`sklearn_rank.model_selection`: splitters, searches and comparisons for ranked data,
- :mod:`sklearn_rank.losses` and :mod:`sklearn_rank.calibration`: surrogate losses and their
  regret bounds,
- :mod:`sklearn_rank.preprocessing`: features per query and grades of labels,
- :mod:`sklearn_rank.clicks`: examination propensities from click logs,
- :mod:`sklearn_rank.datasets`: readers and generators of data sets,
- :mod:`sklearn_rank.plotting`: displays.
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
    # Submodules are imported on first use: together they take as long as scikit-learn.
    if name not in __all__:
        modules = [module for module in __all__ if module.islower() and module != "__version__"]
        for module in () if name.startswith("_") else modules:
            if name in import_module(f".{module}", __name__).__all__:
                hint = f"; write from {__name__}.{module} import {name}"
                break
        else:
            hint = ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}.")
    if name[0].isupper():
        return getattr(import_module(".rankers", __name__), name)
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
