"""Learning to rank with the scikit-learn API: rankers, ranking metrics and their uncertainty.

:func:`doctor` says what can be asked of a table of predictions. Import estimators from
``sklearn_rank`` and functions from its modules:

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

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import (  # noqa: I001
        bounds as bounds,
        calibration as calibration,
        clicks as clicks,
        datasets as datasets,
        exceptions as exceptions,
        inference as inference,
        losses as losses,
        metrics as metrics,
        model_selection as model_selection,
        plotting as plotting,
        preprocessing as preprocessing,
        rankers as rankers,
    )
    from ._command._frame import doctor as doctor
    from .rankers import *  # noqa: F403

_MODULES = [
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
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name == "doctor":
        return import_module("._command._frame", __name__).doctor
    if name == "__all__":
        return sorted(
            ["__version__", "doctor", *_MODULES, *import_module(".rankers", __name__).__all__]
        )
    hint = ""
    for part in () if name.startswith("_") else ("rankers", *_MODULES):
        module = import_module(f".{part}", __name__)
        if name in module.__all__ and part == "rankers":
            return getattr(module, name)
        if name in module.__all__:
            hint = f"; write from {module.__name__} import {name}"
            break
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
