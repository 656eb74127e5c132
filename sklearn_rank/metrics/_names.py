"""One grammar of measure names, parsed in one place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ._cascade import average_precision_score
from ._positional import dcg_score, ndcg_score
from ._top import accuracy_at_top_loss, positives_at_top_score, precision_at_top_score

__all__ = ["Measure", "measure_names", "parse_measure"]


@dataclass(frozen=True)
class Measure:
    """A measure and its parameters, as a name says them.

    Parameters
    ----------
    function : callable
        Metric of ``(y_true, y_score)``.
    parameters : dict
        Its keyword arguments.
    greater_is_better : bool
        Whether it is a score; False for a loss.
    """

    function: Callable[..., float]
    parameters: dict[str, Any]
    greater_is_better: bool


def _position(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise ValueError(text)
    return int(text)


def _share(text: str) -> float:
    # float() alone also reads "nan", " 0.1" and "1_0".
    if not re.fullmatch(r"[0-9]*\.?[0-9]+(e-[0-9]+)?", text) or not 0 < float(text) < 1:
        raise ValueError(text)
    return float(text)


@dataclass(frozen=True)
class _Entry:
    """How a name reads: ``stem``, then a number for ``parameter`` where it has one."""

    function: Callable[..., float]
    parameter: str | None = None
    read: Callable[[str], Any] = _share
    optional: bool = False
    example: str = ""


_GRAMMAR: dict[str, _Entry] = {
    "accuracy@top": _Entry(accuracy_at_top_loss, "tau", example="0.05"),
    "ap": _Entry(average_precision_score),
    "dcg": _Entry(dcg_score, "k", _position, optional=True, example="@10"),
    "ndcg": _Entry(ndcg_score, "k", _position, optional=True, example="@10"),
    "pos@top": _Entry(positives_at_top_score),
    "precision@top": _Entry(precision_at_top_score, "tau", example="0.05"),
}


def measure_names() -> list[str]:
    """Names of all measures, with an example of the number where one is needed.

    Returns
    -------
    list of str
        Sorted names, each of which :func:`parse_measure` takes.
    """
    names = []
    for stem, entry in _GRAMMAR.items():
        if entry.parameter is None or entry.optional:
            names.append(stem)
        if entry.parameter is not None:
            names.append(stem + entry.example)
    return sorted(names)


def parse_measure(name: str) -> Measure:
    """Read the name of a measure.

    Parameters
    ----------
    name : str
        ``"ap"``, ``"pos@top"``, ``"precision@top0.05"``, ``"accuracy@top0.05"``, ``"dcg"``,
        ``"dcg@10"``, ``"ndcg"`` or ``"ndcg@10"``, with any share in (0, 1) or position for the one
        shown.

    Returns
    -------
    Measure
        The function, its parameters, and whether more is better.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"The name of a measure must be a str, got {name!r}: for a function use"
            " make_ranking_scorer."
        )
    for stem, entry in _GRAMMAR.items():
        if name == stem and (entry.parameter is None or entry.optional):
            return _measure(entry, {})
        separator = "@" if entry.optional else ""
        prefix = stem + separator
        if entry.parameter is not None and name.startswith(prefix):
            try:
                value = entry.read(name[len(prefix) :])
            except ValueError:
                continue
            return _measure(entry, {entry.parameter: value})
    close = get_close_matches(name, measure_names(), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(
        f"{name!r} is not the name of a measure: {hint}Names are {measure_names()},"
        " with a share in (0, 1) or a position for the number shown."
    )


def _measure(entry: _Entry, parameters: dict[str, Any]) -> Measure:
    return Measure(
        function=entry.function,
        parameters=parameters,
        greater_is_better=not entry.function.__name__.endswith("_loss"),
    )
