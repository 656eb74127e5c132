"""Splits of any splitter, checked to keep queries whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import get_routing_for_object

from .._arguments import is_whole
from .._typing import IntArray
from ._query_ids import Queries
from ._query_splitters import QueryKFold

__all__ = ["splitter_of", "whole_splits"]


def splitter_of(cv: Any, estimator: Any) -> Any:
    """Read the argument ``cv``, where a number is one of folds of whole queries."""
    if cv is None or is_whole(cv):
        return QueryKFold(5 if cv is None else cv, shuffle=False)
    return check_cv(cv, classifier=is_classifier(estimator))


def whole_splits(
    splitter: Any, X: Any, y: Any, groups: Any, queries: Queries
) -> Iterator[tuple[IntArray, IntArray]]:
    """Split, and raise an error for splits that do not keep queries whole."""
    # Splitters of scikit-learn that do not ask for groups warn of them.
    asks = "groups" in get_routing_for_object(splitter).consumes("split", ["groups"])
    ids = groups if asks or not hasattr(splitter, "get_metadata_routing") else None
    for train, test in splitter.split(X, y, ids):
        cut = np.flatnonzero(queries.has(train) & queries.has(test))
        if len(cut):
            raise ValueError(
                f"cv={splitter!r} splits {len(cut)} queries, such as"
                f" {queries.ids.tolist()[cut[0]]!r}, between training and test part: pass"
                " cv=QueryKFold(random_state=0)."
            )
        yield train, test
