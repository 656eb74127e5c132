"""The estimators of a search: one with a grid, or several, each with or without a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier

__all__ = ["Base", "bases_of"]

FORMS = (
    "pass an estimator, a list of estimators or of (estimator, grid) pairs, or a dict of these by"
    " name"
)


@dataclass(frozen=True, eq=False)
class Base:
    """An estimator of a search and its grid."""

    name: str  # What it is called among several; empty for a single one
    estimator: Any  # What is cloned
    grid: Any  # Values by parameter name; {} is the estimator as it is


def bases_of(estimator: Any, param_grid: Any) -> list[Base]:
    """Read the estimators of a search."""
    if not isinstance(estimator, list | tuple | dict):
        return [Base("", estimator, {} if param_grid is None else param_grid)]
    if param_grid is not None:
        raise ValueError(
            f"param_grid={param_grid!r} is for a single estimator, but several were passed: leave"
            " param_grid out and pass pairs, as [(estimator, grid), ...]."
        )
    named = isinstance(estimator, dict)
    given = list(estimator.values()) if isinstance(estimator, dict) else list(estimator)
    if not given:
        raise ValueError(f"estimator={estimator!r} contains no estimator: {FORMS}.")
    pairs = [_pair(one) for one in given]
    names = [str(name) for name in estimator] if named else _names([one for one, _ in pairs])
    kinds = {is_classifier(one) for one, _ in pairs}
    if len(kinds) > 1:
        raise ValueError(
            f"The estimators {names} mix classifiers and other estimators, which do not share a"
            " positive class: search over each kind separately."
        )
    return [Base(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def _pair(given: Any) -> tuple[Any, Any]:
    """An estimator and its grid."""
    one, grid = given, {}
    if isinstance(given, list | tuple):
        if len(given) != 2:
            raise ValueError(f"{given!r} is not a pair of an estimator and its grid: {FORMS}.")
        one, grid = given
    if isinstance(one, str):
        raise ValueError(f"{given!r} begins with a name: pass a dict, as {{name: estimator}}.")
    if isinstance(one, type) or not hasattr(one, "fit") or not hasattr(one, "get_params"):
        raise TypeError(f"{one!r} is not an estimator: {FORMS}.")
    return one, {} if grid is None else grid


def _names(estimators: list[Any]) -> list[str]:
    """Class names in lower case, numbered if a class occurs several times."""
    plain = [type(one).__name__.lower() for one in estimators]
    return [
        name if plain.count(name) == 1 else f"{name}-{plain[: place + 1].count(name)}"
        for place, name in enumerate(plain)
    ]
