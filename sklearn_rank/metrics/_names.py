"""One grammar of measure names, parsed in one place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from typing import Any

from ._at_k import precision_at_k_score, recall_at_k_score
from ._cascade import (
    average_precision_score,
    expected_reciprocal_rank_score,
    rank_biased_precision_score,
    reciprocal_rank_score,
)
from ._linear_rank import bedroc_score, local_auc_score, p_norm_push_score, roc_auc_score
from ._positional import dcg_score, ndcg_score, positional_score
from ._spearman import spearman_score
from ._top import accuracy_at_top_loss, positives_at_top_score, precision_at_top_score

__all__ = ["Measure", "is_per_query", "measure_names", "parse_measure"]


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
    per_query : bool
        Whether it is a mean over queries; False for a measure of one list of two classes.
    """

    function: Callable[..., float]
    parameters: dict[str, Any]
    greater_is_better: bool
    per_query: bool


def _position(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float:
    # float() alone also reads "nan", " 0.1" and "1_0".
    if not re.fullmatch(r"[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", text):
        raise ValueError(text)
    value = float(text)
    if not 0 < value < inf:
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    value = _number(text)
    if value >= 1:
        raise ValueError(text)
    return value


@dataclass(frozen=True)
class _Entry:
    """How a name reads: ``stem``, then a number for ``parameter`` where it has one."""

    function: Callable[..., float]
    parameter: str | None = None
    read: Callable[[str], Any] = _share
    optional: bool = False
    example: str = ""
    per_query: bool = False


_GRAMMAR: dict[str, _Entry] = {
    "accuracy@top": _Entry(accuracy_at_top_loss, "tau", example="0.05"),
    "ap": _Entry(
        average_precision_score, "k", _position, optional=True, example="@10", per_query=True
    ),
    "auc": _Entry(roc_auc_score),
    "bedroc@": _Entry(bedroc_score, "alpha", _number, example="20"),
    "dcg": _Entry(dcg_score, "k", _position, optional=True, example="@10", per_query=True),
    "err": _Entry(
        expected_reciprocal_rank_score,
        "k",
        _position,
        optional=True,
        example="@10",
        per_query=True,
    ),
    "local_auc@": _Entry(local_auc_score, "u0", example="0.8"),
    "ndcg": _Entry(ndcg_score, "k", _position, optional=True, example="@10", per_query=True),
    "pnorm@": _Entry(p_norm_push_score, "p", _number, example="4"),
    "pos@top": _Entry(positives_at_top_score),
    "precision@": _Entry(precision_at_k_score, "k", _position, example="5", per_query=True),
    "precision@top": _Entry(precision_at_top_score, "tau", example="0.05"),
    "rbp@": _Entry(rank_biased_precision_score, "persistence", example="0.8", per_query=True),
    "recall@": _Entry(recall_at_k_score, "k", _position, example="20", per_query=True),
    "rr": _Entry(
        reciprocal_rank_score, "k", _position, optional=True, example="@10", per_query=True
    ),
    "spearman": _Entry(spearman_score, per_query=True),
}

# The measure of which DCG and precision at k are cases has no name of its own.
_PER_QUERY = [positional_score, *(e.function for e in _GRAMMAR.values() if e.per_query)]


def is_per_query(function: Callable[..., Any]) -> bool:
    """Whether a function is a measure of this package that is a mean over queries.

    Parameters
    ----------
    function : callable
        Any function.

    Returns
    -------
    bool
        False for measures of one list of two classes, and for functions from elsewhere.
    """
    return any(function is known for known in _PER_QUERY)


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
        One of :func:`measure_names`, with any other position, share in (0, 1), or positive
        number (``"bedroc@20"``, ``"pnorm@4"``) for the one shown.

    Returns
    -------
    Measure
        The function, its parameters, whether more is better, and whether it is per query.
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
    close = get_close_matches(name.lower(), measure_names(), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(
        f"{name!r} is not the name of a measure: {hint}Names are {measure_names()},"
        " with another number of the same kind for the one shown: a position from 1 on, a share"
        " in (0, 1), for bedroc and pnorm a positive number."
    )


def _measure(entry: _Entry, parameters: dict[str, Any]) -> Measure:
    return Measure(
        function=entry.function,
        parameters=parameters,
        greater_is_better=not entry.function.__name__.endswith("_loss"),
        per_query=entry.per_query,
    )
