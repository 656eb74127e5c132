"""Category columns of pandas frames, as codes for libraries of trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["category_codes", "with_categories"]


def category_codes(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """Replace the category columns of a frame by their codes."""
    is_pandas = hasattr(X, "iloc") and hasattr(X, "columns")
    found = {}
    if is_pandas:
        types = enumerate(X.dtypes)
        found = {j: kind.categories for j, kind in types if hasattr(kind, "categories")}
    if reset:
        estimator.categories_ = found
    categories = estimator.categories_
    if categories and not is_pandas:
        raise ValueError(
            f"Columns {list(categories)} of the X of fit are categories: pass X as a pandas "
            "DataFrame with the same columns."
        )
    more = [X.columns[j] for j in found if j not in categories]
    if more:
        raise ValueError(
            f"The column {more[0]!r} is of categories, but was not in fit: pass "
            f"X.astype({{{more[0]!r}: ...}}) with the dtype of the X of fit."
        )
    if not categories or X.shape[1] <= max(categories):  # validate_data refuses the latter
        return X
    X = X.copy(deep=False)
    for j, values in categories.items():
        codes = values.get_indexer(X.iloc[:, j])
        X.isetitem(j, np.where(codes < 0, np.nan, codes))
    return X


def with_categories(estimator: Any) -> Mapping[str, Any]:
    """Parameters of the backend, with the columns of ``categories_`` as categorical."""
    params = estimator.backend_params or {}
    if not estimator.categories_:
        return params
    chosen = np.atleast_1d(params.get("categorical_feature", [])).tolist()
    return {**params, "categorical_feature": [*chosen, *estimator.categories_]}
