"""Scores of several rankers by name: a mapping, or a data frame with a column for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["named_scores"]


def named_scores(scores: Any, *, name: str, least: int = 2) -> dict[str, Any]:
    """Read the scores of several scorers."""
    if isinstance(scores, Mapping):
        names, columns = list(scores), list(scores.values())
    elif hasattr(scores, "columns") and hasattr(scores, "__getitem__"):
        names = list(scores.columns)
        _refuse_repeated(names, name)
        columns = [scores[one] for one in names]
    else:
        raise TypeError(
            f"{name} is a {type(scores).__name__}, but must be a mapping from names to scores or a"
            " data frame with one column per ranker: pass {'a': scores_a, 'b': scores_b}."
        )
    if len(names) < least:
        raise ValueError(
            f"{name} holds {len(names)} rankers, but at least {least} are needed: pass their"
            " scores by name."
        )
    texts = [str(one) for one in names]
    _refuse_repeated(texts, name)
    return dict(zip(texts, columns, strict=True))


def _refuse_repeated(names: list[Any], name: str) -> None:
    for one in names:
        if names.count(one) > 1:
            raise ValueError(
                f"{name} has the name {one!r} {names.count(one)} times: pass unique names."
            )
